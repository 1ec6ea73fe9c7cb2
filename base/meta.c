/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/meta.h"

#include "base/document.h"
#include "base/switches.h"
#include "base/values.h"

#define LINE_MAX_BYTES 512

/** Environment variables that a document records: those that change what is measured or name the
 * job. It also records the variables HIMENO_* (base/switches.h), but no others. */
static const char *const allowed_settings[] = {
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "OMP_WAIT_POLICY",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "ROCR_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "OCL_ICD_VENDORS",
    "POCL_DEVICES",
    "SLURM_JOB_ID",
    "SLURM_JOB_NUM_NODES",
    "SLURM_NTASKS",
    "SLURM_CPUS_PER_TASK",
    "PBS_JOBID",
    "LSB_JOBID",
    "UCX_TLS",
    "UCX_NET_DEVICES",
};

void meta_time(char text[32])
{
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void meta_host(char *text, size_t size)
{
  struct utsname names;
  const char *node = getenv("SLURMD_NODENAME");
  uname(&names);
  if (!node || !node[0]) node = names.nodename[0] ? names.nodename : "unknown";
  snprintf(text, size, "%s", node);
  value_make_printable(text);
}

/** Finds the first line "key<separator>value" of a file and removes quotes around the value.
 * Returns whether there is one. */
static int find_in_file(const char *path, const char *key, char separator, char *value, size_t size)
{
  char line[LINE_MAX_BYTES];
  int found = 0;
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  while (!found && fgets(line, sizeof line, file)) {
    char *text = strchr(line, separator);
    if (strncmp(line, key, strlen(key)) || !text) continue;
    text += 1 + strspn(text + 1, " \t\"");
    text[strcspn(text, "\"\n")] = '\0';
    snprintf(value, size, "%s", text);
    found = value[0] != '\0';
  }
  fclose(file);
  return found;
}

void meta_cpu_model(char *text, size_t size)
{
  static const char *const keys[] = {"model name", "Model", "cpu model", "cpu\t"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (find_in_file("/proc/cpuinfo", keys[i], ':', text, size)) {
      value_make_printable(text);
      return;
    }
  snprintf(text, size, "unknown");
}

/* Writes a field with all unprintable bytes replaced. */
static void text_field(struct doc *d, const char *name, int rules, const char *about, const char *bytes)
{
  char text[LINE_MAX_BYTES];
  snprintf(text, sizeof text, "%s", bytes ? bytes : "");
  value_make_printable(text);
  if (d->schema || bytes) doc_text(d, name, rules, about, text);
}

static void settings_document(struct doc *d)
{
  const struct switch_spec *s;
  if (!doc_map(d, "settings", DOC_OPTIONAL,
               "The part of the environment that was set: the switches of doc/reference/switches.md, and "
               "what else "
               "changes a measurement or names its job."))
    return;
  for (size_t i = 0; doc_each(d, i, sizeof allowed_settings / sizeof *allowed_settings); i++)
    text_field(d, allowed_settings[i], DOC_ANY, "", getenv(allowed_settings[i]));
  for (int n = 0; !d->schema && (s = switch_at(n)); n++)
    text_field(d, s->name, DOC_ANY, "", switch_text(s->name));
  doc_end(d);
}

static const char *compiler(void)
{
#if defined(__clang__)
  return __VERSION__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

void meta_system_document(struct doc *d)
{
  char os[LINE_MAX_BYTES] = "unknown", kernel[LINE_MAX_BYTES], cpu[LINE_MAX_BYTES];
  struct utsname names;
  find_in_file("/etc/os-release", "PRETTY_NAME", '=', os, sizeof os);
  uname(&names);
  snprintf(kernel, sizeof kernel, "%s %s %s", names.sysname, names.release, names.machine);
  meta_cpu_model(cpu, sizeof cpu);
  doc_object(d, "system", 0, "", 1);
  text_field(d, "os", DOC_OPTIONAL, "", os);
  text_field(d, "kernel", DOC_OPTIONAL, "", kernel);
  text_field(d, "cpu", DOC_OPTIONAL, "", cpu);
  text_field(d, "compiler", DOC_OPTIONAL, "", compiler());
  settings_document(d);
  doc_end(d);
}
