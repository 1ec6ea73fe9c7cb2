/* SPDX-License-Identifier: MIT */
#include "base/switches.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

extern char **environ;

#define NUMBER(from, to)                                                                                     \
  SWITCH_RANGE,                                                                                              \
  {                                                                                                          \
    .type = VALUE_INT, .min = from, .max = to                                                                \
  }
#define COUNT NUMBER(1, 0x1p63)
#define CHOICE(words)                                                                                        \
  SWITCH_RANGE,                                                                                              \
  {                                                                                                          \
    .type = VALUE_CHOICE, .allowed = words                                                                   \
  }
#define FREE(words)                                                                                          \
  SWITCH_FREE,                                                                                               \
  {                                                                                                          \
    .allowed = words                                                                                         \
  }

static const struct switch_spec switches[] = {
    {"HIMENO_TUNE_CACHE", SWITCH_USER, SWITCH_OWN, FREE("a file"),
     "where tuned choices are kept, instead of `$XDG_CACHE_HOME/himeno-gpu/tune.json`"},
    {"HIMENO_QUIET", SWITCH_USER, SWITCH_OWN, CHOICE("0|1"),
     "1: as `--quiet`, no progress on standard error"},
    {"HIMENO_NCCL", SWITCH_USER, SWITCH_OWN, FREE("a file"),
     "the library that transport `nccl` loads, instead of `libnccl.so.2`"},
    {"HIMENO_MPI_DEVICE", SWITCH_USER, SWITCH_AGREED, CHOICE("0|1"),
     "1: transport `mpi` also tries an MPI library that does not say that it takes device memory"},
    {"HIMENO_QPU", SWITCH_USER, SWITCH_AGREED, CHOICE("pi|emulator"),
     "backend `qpu`: the Raspberry Pi's processors, or the emulator"},
    {"HIMENO_SOURCE", SWITCH_USER, SWITCH_OWN, FREE("a folder"),
     "`scripts/sites/*.sbatch`: the source tree that holds `scripts/`"},
    {"HIMENO_POLICY", SWITCH_USER, SWITCH_OWN, FREE("a policy or a file"),
     "`scripts/sites/accept.sbatch`: its `--policy`, `default` unless set"},
    {"HIMENO_SOAK", SWITCH_USER, SWITCH_OWN, FREE("a time"),
     "`scripts/sites/soak.sbatch`: how long to soak, `8h` unless set"},
    {"HIMENO_ACCEPT_OPTIONS", SWITCH_USER, SWITCH_OWN, FREE("options"),
     "`scripts/sites/accept.sbatch` and `soak.sbatch`: more of `scripts/accept`"},
    {"HIMENO_SCALING_OPTIONS", SWITCH_USER, SWITCH_OWN, FREE("options"),
     "`scripts/sites/scaling.sbatch`: more of `scripts/scaling`"},

    {"HIMENO_CPU_SIMD", SWITCH_TUNING, SWITCH_AGREED, CHOICE("avx512|avx2|sse2|generic"),
     "the instructions of CPU kernels, instead of the widest that the CPU has"},
    {"HIMENO_CPU_FETCH", SWITCH_TUNING, SWITCH_AGREED, CHOICE("0|1"),
     "whether CPU kernels prefetch the next row into the second cache; unset: on all CPUs but Intel's"},
    {"HIMENO_CPU_CACHE", SWITCH_TUNING, SWITCH_AGREED, COUNT,
     "bytes of the second cache by which `wavefront` kernels cut their tiles"},
    {"HIMENO_CUDA_BULK", SWITCH_TUNING, SWITCH_AGREED, CHOICE("0|1"),
     "0: temporal CUDA kernels take the form without the chip's copy engine"},
    {"HIMENO_OPENCL_ATOMICS", SWITCH_TUNING, SWITCH_AGREED, CHOICE("0|1"),
     "0: OpenCL kernels sum gosa in a launch of its own, without atomics"},
    {"HIMENO_OPENCL_FP64", SWITCH_TUNING, SWITCH_AGREED, CHOICE("0|1"),
     "0: OpenCL kernels sum gosa in two floats, as on devices without fp64"},
    {"HIMENO_OPENCL_PERSISTENT", SWITCH_TUNING, SWITCH_AGREED, CHOICE("0|1"),
     "whether an OpenCL launch does many sweeps; unset: on NVIDIA's devices from sm_70 on"},
    {"HIMENO_OPENCL_WIDE", SWITCH_TUNING, SWITCH_AGREED, CHOICE("0|1"),
     "whether temporal OpenCL kernels take groups of up to 1024; unset: on NVIDIA's devices"},

    {"HIMENO_FLIP", SWITCH_TEST, SWITCH_OWN, FREE("`ARRAY[@RANK] I,J,K BIT SWEEP; …`"),
     "himeno-gpu: flips a bit in device memory before a sweep ([acceptance-soak.md](acceptance-soak.md))"},
    {"HIMENO_GEMM_FLIP", SWITCH_TEST, SWITCH_OWN, FREE("`RANK [MATRIX] ROW,COLUMN BIT WHEN`"),
     "gemm-gpu: flips a bit in a matrix on the device ([gemm-verify.md](gemm-verify.md))"},
    {"HIMENO_HALO_CORRUPT",
     SWITCH_TEST,
     SWITCH_OWN,
     SWITCH_PAIR,
     {.allowed = "RANK:NUMBER, as 1:2 is"},
     "flips a bit of what that rank receives in that exchange of halos"},
    {"HIMENO_HOSTS_APART", SWITCH_TEST, SWITCH_AGREED, CHOICE("0|1"),
     "1: ranks of one host treat each other as on other hosts"},
    {"HIMENO_BENCH_CORRUPT", SWITCH_TEST, SWITCH_OWN, COUNT,
     "comm-gpu: each rank damages what arrives in that transfer"},
    {"HIMENO_MEM_CORRUPT", SWITCH_TEST, SWITCH_OWN, COUNT,
     "mem-gpu: flips a bit in what is compared for that time"},
    {"HIMENO_CUDA_TRAP", SWITCH_TEST, SWITCH_OWN, COUNT,
     "that sweep on a CUDA device runs into a failing assertion"},
    {"HIMENO_NULL_FAIL", SWITCH_TEST, SWITCH_OWN, COUNT, "backend `null`: that call fails"},
    {"HIMENO_NULL_HANG", SWITCH_TEST, SWITCH_OWN, COUNT, "backend `null`: that call never returns"},
    {"HIMENO_NULL_RANK", SWITCH_TEST, SWITCH_OWN, NUMBER(0, INT_MAX),
     "backend `null`: only this rank's call fails or hangs"},
    {"HIMENO_NULL_DEVICES", SWITCH_TEST, SWITCH_OWN, NUMBER(0, 64),
     "backend `null`: so many devices, 8 unless set"},
    {"HIMENO_NULL_APART", SWITCH_TEST, SWITCH_OWN, NUMBER(0, INT_MAX),
     "backend `null`: this rank's memory is out of its neighbours' reach"},
    {"HIMENO_NULL_CLOCK", SWITCH_TEST, SWITCH_AGREED, FREE("`seed=N noise=X device=RANK:X link=A-B:X`"),
     "himeno-gpu on backend `null`: times of a simulated machine, with slow devices and links"},
    {"HIMENO_NVML", SWITCH_TEST, SWITCH_OWN, FREE("a file"),
     "a library that stands in for NVML, `libnvidia-ml.so.1`"},
    {"HIMENO_SYSFS", SWITCH_TEST, SWITCH_OWN, FREE("a folder"),
     "stands in for `/sys`, where GPUs, network cards and sensors are listed"},
};

const struct switch_spec *switch_at(int n)
{
  return n < (int)(sizeof switches / sizeof *switches) ? &switches[n] : NULL;
}

static int pair_read(const char *text, long long pair[2])
{
  char rank[24];
  size_t n = strcspn(text, ":");
  if (n >= sizeof rank || !text[n]) return 0;
  snprintf(rank, sizeof rank, "%.*s", (int)n, text);
  return value_read_int(rank, 0, INT_MAX, &pair[0]) == STATUS_OK &&
         value_read_int(text + n + 1, 1, LLONG_MAX, &pair[1]) == STATUS_OK;
}

static status_t check(const struct switch_spec *s, const char *text)
{
  int64_t value;
  long long pair[2];
  if (s->check == SWITCH_RANGE) return value_read(&s->range, s->name, text, &value);
  if (s->check == SWITCH_FREE || pair_read(text, pair)) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s \"%s\": must be %s", s->name, text, s->range.allowed);
}

status_t switches_check(void)
{
  const struct switch_spec *s;
  for (int n = 0; (s = switch_at(n)); n++) {
    const char *text = switch_text(s->name);
    if (text) RETURN_IF_FAILED(check(s, text));
  }
  return STATUS_OK;
}

static int is_declared(const char *name, size_t length)
{
  const struct switch_spec *s;
  for (int n = 0; (s = switch_at(n)); n++)
    if (strlen(s->name) == length && strncmp(s->name, name, length) == 0) return 1;
  return 0;
}

void switches_warn(void)
{
  char names[512] = "";
  for (char **at = environ; at && *at; at++) {
    const size_t length = strcspn(*at, "="), used = strlen(names);
    if (strncmp(*at, "HIMENO_", 7) || (*at)[length] != '=' || !(*at)[length + 1]) continue;
    if (is_declared(*at, length)) continue;
    snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", (int)length, *at);
  }
  if (names[0]) log_warn("%s: nothing reads a variable of that name, see doc/switches.md", names);
}

const char *switch_text(const char *name)
{
  const char *text = is_declared(name, strlen(name)) ? getenv(name) : NULL;
  return text && *text ? text : NULL;
}

long long environment_number(const char *name, long long unset)
{
  const char *text = getenv(name);
  long long value;
  return text && value_read_int(text, LLONG_MIN, LLONG_MAX, &value) == STATUS_OK ? value : unset;
}

long long switch_number(const char *name, long long unset)
{
  return switch_text(name) ? environment_number(name, unset) : unset;
}

int switch_pair(const char *name, long long pair[2])
{
  const char *text = switch_text(name);
  return text && pair_read(text, pair);
}

/* ---- the file of remembered kernels ---- */

int switch_tune_cache(char path[PATH_MAX])
{
  const char *file = switch_text("HIMENO_TUNE_CACHE"), *cache = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  int length = -1;
  if (file)
    length = snprintf(path, PATH_MAX, "%s", file);
  else if (cache && cache[0] == '/')
    length = snprintf(path, PATH_MAX, "%s/himeno-gpu/tune.json", cache);
  else if (home && home[0] == '/')
    length = snprintf(path, PATH_MAX, "%s/.cache/himeno-gpu/tune.json", home);
  return length > 0 && length < PATH_MAX - (int)sizeof SWITCH_TUNE_LOCK;
}
