/* SPDX-License-Identifier: MIT */
/** \file
 * \brief qpu-run: runs a QPU program, one's own or a published one, on the emulator. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/start.h"
#include "gpu/qpu/asm/asm.h"
#include "gpu/qpu/emulator/emu.h"

#define MAX_BUFFERS  16
#define MAX_UNIFORMS 1024

struct config {
  const char *input, *uniforms, *buffers, *load, *save;
  int64_t qpus, threads, tmu_depth, limit;
  int trace, tolerate;
};

#define CONFIG struct config

static const struct option_spec options[] = {
    {"input", 'i', OPTION_ALWAYS, OPTION_INPUT(input, "FILE"),
     "Program: source if it ends in .qasm, else words as 0x numbers in text or binary."},
    {"qpus", 'q', OPTION_ALWAYS, OPTION_INT(qpus, 1, 64, "N"),
     "QPUs, each of which runs the program once (default: 1)."},
    {"uniforms", 'u', OPTION_ALWAYS, OPTION_TEXT(uniforms, "LIST"),
     "Uniforms, separated by commas: whole numbers, numbers with a point, @K for the address of buffer K, % "
     "for the program's number."},
    {"buffers", 'b', OPTION_ALWAYS, OPTION_TEXT(buffers, "LIST"),
     "Sizes of buffers in bytes, separated by commas."},
    {"load", 'l', OPTION_ALWAYS, OPTION_INPUT(load, "FILE"), "What buffer 0 holds at the start."},
    {"save", 's', OPTION_ALWAYS, OPTION_OUTPUT(save, "FILE"), "Where the last buffer goes at the end."},
    {"trace", 't', OPTION_ALWAYS, OPTION_FLAG(trace),
     "Shows every instruction with what it writes, on standard error."},
    {"threads", 0, OPTION_ALWAYS, OPTION_INT(threads, 1, 2, "N"), "Threads a QPU (default: 1)."},
    {"tmu-depth", 0, OPTION_ALWAYS, OPTION_INT(tmu_depth, 1, 8, "N"),
     "Look-ups that a TMU holds (default: 4, what is reliable; the guide says 8)."},
    {"limit", 0, OPTION_ALWAYS, OPTION_INT(limit, 0, 1e15, "N"),
     "Instructions after which the run is given up (default: none)."},
    {"tolerate", 0, OPTION_ALWAYS, OPTION_FLAG(tolerate), "Goes on where a scheduling rule is broken."},
};

static const struct option_program about = {
    .name = "qpu-run",
    .summary = "emulator for VideoCore IV QPU programs",
    .usage = "-i FILE [-q N] [-b SIZES] [-u UNIFORMS] [OPTION]...",
    .epilogue =
        "Counts are of instructions, never of time. Exit codes: 0 done, 2 usage or a mistake in the source, "
        "3 a file cannot be read or written, 6 deadlock, 7 the program did what it must not.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
};

/** What a program is given. */
struct setting {
  struct qpu_emu *emu;
  struct qpu_memory *memory; /* the emulator's */
  uint32_t code, buffers[MAX_BUFFERS];
  size_t buffer_bytes[MAX_BUFFERS];
  int n_buffers;
};

static status_t read_program(const struct config *config, uint64_t **words, size_t *n_words)
{
  const char *dot = strrchr(config->input, '.');
  if (!dot || strcmp(dot, ".qasm") != 0) return qpu_words_read(config->input, words, n_words);
  struct qpu_program program;
  struct qpu_asm_options how = {.unchecked = config->tolerate};
  RETURN_IF_FAILED(qpu_assemble(config->input, NULL, &how, &program));
  *words = program.words;
  *n_words = program.n_words;
  program.words = NULL;
  qpu_program_free(&program);
  return STATUS_OK;
}

static status_t parse_sizes(const char *list, struct setting *setting)
{
  for (const char *p = list; p && *p; setting->n_buffers++) {
    char *end;
    unsigned long long bytes = strtoull(p, &end, 0);
    if (end == p || (*end != ',' && *end != '\0') || bytes == 0 || bytes > UINT32_MAX ||
        setting->n_buffers == MAX_BUFFERS)
      return log_fail(STATUS_USAGE, "--buffers %s: up to %d sizes in bytes, separated by commas", list,
                      MAX_BUFFERS);
    setting->buffer_bytes[setting->n_buffers] = (size_t)bytes;
    p = *end == ',' ? end + 1 : end;
  }
  return STATUS_OK;
}

static status_t parse_uniform(const struct setting *setting, uint32_t program, const char *text,
                              uint32_t *word)
{
  char *end;
  if (strcmp(text, "%") == 0) {
    *word = program;
    return STATUS_OK;
  }
  if (text[0] == '@') {
    unsigned long k = strtoul(text + 1, &end, 10);
    if (end == text + 1 || *end != '\0' || k >= (unsigned long)setting->n_buffers)
      return log_fail(STATUS_USAGE, "--uniforms: there is no buffer '%s'", text);
    *word = setting->buffers[k];
    return STATUS_OK;
  }
  if (strchr(text, '.')) {
    float value = strtof(text, &end);
    memcpy(word, &value, sizeof value);
  } else {
    *word = (uint32_t)strtoll(text, &end, 0);
  }
  return *text != '\0' && *end == '\0' ? STATUS_OK
                                       : log_fail(STATUS_USAGE, "--uniforms: '%s' is no number", text);
}

static status_t write_uniforms(const struct config *config, const struct setting *setting, uint32_t program,
                               uint32_t *words)
{
  char item[64];
  int n = 0;
  for (const char *p = config->uniforms; p && *p; n++) {
    size_t length = strcspn(p, ",");
    if (n == MAX_UNIFORMS || length >= sizeof item)
      return log_fail(STATUS_USAGE, "--uniforms: the list is too long");
    memcpy(item, p, length);
    item[length] = '\0';
    RETURN_IF_FAILED(parse_uniform(setting, program, item, &words[n]));
    p += length + (p[length] == ',');
  }
  return STATUS_OK;
}

static status_t load_buffer(const char *path, const struct setting *setting)
{
  if (setting->n_buffers == 0) return log_fail(STATUS_USAGE, "--load needs --buffers");
  FILE *file = fopen(path, "rb");
  if (!file) return log_fail(STATUS_ENVIRONMENT, "cannot read %s: %s", path, strerror(errno));
  size_t n = fread(qpu_memory_at(setting->memory, setting->buffers[0]), 1, setting->buffer_bytes[0], file);
  int failed = ferror(file), more = n == setting->buffer_bytes[0] && fgetc(file) != EOF;
  fclose(file);
  if (failed) return log_fail(STATUS_ENVIRONMENT, "cannot read %s", path);
  return more ? log_fail(STATUS_USAGE, "%s is larger than buffer 0", path) : STATUS_OK;
}

static status_t save_buffer(const char *path, const struct setting *setting)
{
  if (setting->n_buffers == 0) return log_fail(STATUS_USAGE, "--save needs --buffers");
  int last = setting->n_buffers - 1;
  return file_write(path, qpu_memory_at(setting->memory, setting->buffers[last]),
                    setting->buffer_bytes[last]);
}

static status_t prepare(const struct config *config, const uint64_t *words, size_t n_words,
                        struct setting *setting)
{
  struct qpu_emu_config how = {.n_qpus = (int)config->qpus,
                               .threads_per_qpu = (int)config->threads,
                               .tmu_depth = (int)config->tmu_depth,
                               .tolerate_hazards = config->tolerate,
                               .max_instructions = (uint64_t)config->limit,
                               .trace = config->trace ? stderr : NULL};
  RETURN_IF_FAILED(parse_sizes(config->buffers, setting));
  how.memory_bytes = n_words * 8 + (size_t)config->qpus * 2 * MAX_UNIFORMS * 4 + (size_t)64 * 4096;
  for (int i = 0; i < setting->n_buffers; i++) how.memory_bytes += setting->buffer_bytes[i] + 2 * 4096;
  RETURN_IF_FAILED(qpu_emu_create(&how, &setting->emu));
  setting->memory = qpu_emu_memory(setting->emu);
  RETURN_IF_FAILED(qpu_memory_alloc(setting->memory, n_words * 8, &setting->code));
  memcpy(qpu_memory_at(setting->memory, setting->code), words, n_words * 8);
  for (int i = 0; i < setting->n_buffers; i++)
    RETURN_IF_FAILED(qpu_memory_alloc(setting->memory, setting->buffer_bytes[i], &setting->buffers[i]));
  return config->load ? load_buffer(config->load, setting) : STATUS_OK;
}

static status_t run(const struct config *config, struct setting *setting)
{
  struct qpu_job jobs[2 * QPU_EMU_MAX_QPUS];
  uint32_t uniforms, n = (uint32_t)(config->qpus * config->threads);
  RETURN_IF_FAILED(qpu_memory_alloc(setting->memory, (size_t)n * MAX_UNIFORMS * 4, &uniforms));
  for (uint32_t i = 0; i < n; i++) {
    jobs[i] = (struct qpu_job){setting->code, uniforms + i * MAX_UNIFORMS * 4};
    RETURN_IF_FAILED(write_uniforms(config, setting, i, qpu_memory_at(setting->memory, jobs[i].uniforms)));
  }
  RETURN_IF_FAILED(qpu_emu_run(setting->emu, jobs, n));
  struct qpu_emu_stats stats = qpu_emu_stats(setting->emu);
  qpu_emu_print(&stats, stdout);
  return config->save ? save_buffer(config->save, setting) : STATUS_OK;
}

int main(int argc, char **argv)
{
  struct config config = {.qpus = 1, .threads = 1};
  struct setting setting = {0};
  enum option_request request;
  uint64_t *words = NULL;
  size_t n_words = 0;
  start_program("qpu-run");
  start_signals();
  status_t status = option_parse_all(&about, argc, argv, &config, &request);
  if (status != STATUS_OK) return status;
  if (request == OPTION_SHOW_HELP) option_print_help(&about, stdout);
  if (request == OPTION_SHOW_VERSION) printf("qpu-run %s\n", PACKAGE_VERSION);
  if (request != OPTION_RUN) return file_flush_stdout();
  if (!config.input) return log_fail(STATUS_USAGE, "--input names no file");
  TRY(read_program(&config, &words, &n_words), done);
  if (config.save) TRY(file_check(config.save), done);
  TRY(prepare(&config, words, n_words, &setting), done);
  status = run(&config, &setting);
done:
  qpu_emu_destroy(setting.emu);
  free(words);
  return status_worst(status, file_flush_stdout());
}
