/* SPDX-License-Identifier: MIT */
/** \file
 * \brief qpu-run: runs a QPU program, one's own or a published one, on the emulator. */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/output.h"
#include "base/start.h"
#include "base/values.h"
#include "gpu/qpu/asm/asm.h"
#include "gpu/qpu/emulator/job_text.h"

struct config {
  const char *input, *uniforms, *buffers, *load, *save, *hazards;
  int64_t qpus, jobs, threads, tmu_depth, limit, estimate;
  int trace, tolerate, sfu;
};

#define CONFIG struct config

static const struct option_spec options[] = {
    {"input", 'i', OPTION_ALWAYS, OPTION_INPUT(input, "FILE"),
     "Program: source if it ends in .qasm, else words as 0x numbers in text or binary."},
    {"qpus", 'q', OPTION_ALWAYS, OPTION_INT(qpus, 1, 64, "N"), "QPUs (default: 1)."},
    {"jobs", 'j', OPTION_ALWAYS, OPTION_INT(jobs, 1, QPU_MAX_JOBS, "N"),
     "How often the program runs: those beyond the QPUs follow where one ends (default: once a QPU and "
     "thread)."},
    {"uniforms", 'u', OPTION_ALWAYS, OPTION_TEXT(uniforms, "LIST"),
     "Uniforms, separated by commas: numbers, those with a point as floats; @K for the address of buffer K; "
     "% for the job's number; sums and products of these, as @1+%*64."},
    {"buffers", 'b', OPTION_ALWAYS, OPTION_TEXT(buffers, "LIST"),
     "Sizes of buffers in bytes, separated by commas."},
    {"load", 'l', OPTION_ALWAYS, OPTION_TEXT(load, "[K=]FILE,..."),
     "What buffer K (default: 0) holds at the start."},
    {"save", 's', OPTION_ALWAYS, OPTION_TEXT(save, "[K=]FILE,..."),
     "Where buffer K (default: the last) goes at the end."},
    {"trace", 't', OPTION_ALWAYS, OPTION_FLAG(trace),
     "Shows every instruction with what it writes, on standard error."},
    {"threads", 0, OPTION_ALWAYS, OPTION_INT(threads, 1, 2, "N"), "Threads a QPU (default: 1)."},
    {"tmu-depth", 0, OPTION_ALWAYS, OPTION_INT(tmu_depth, 1, 8, "N"),
     "Look-ups in a TMU from which on `depth` is broken (default: 4, what is reliable; the guide says 8)."},
    {"sfu", 0, OPTION_ALWAYS, OPTION_CHOICE(sfu, "exact|part"),
     "Results of the special function unit: exact to single precision (default), or cut to 11 bits, about "
     "what "
     "the part has."},
    {"estimate", 0, OPTION_ALWAYS, OPTION_INT(estimate, 100, 1000, "MHZ"),
     "Estimates the time on a part of that clock, 250 or 300 MHz as they are sold, by a model that is no "
     "measurement: doc/qpu-time.md says how far off it is."},
    {"limit", 0, OPTION_ALWAYS, OPTION_INT(limit, 0, 1e15, "N"),
     "Instructions after which the run is given up (default: none)."},
    {"hazards", 0, OPTION_ALWAYS, OPTION_TEXT(hazards, "[KIND=]fault|warn|ignore,..."),
     "What a broken rule of that kind, or of all, does (default: warn, and an operand read too early is the "
     "old "
     "one). Kinds: register uniforms sfu rotation tmurs flow end target access partial setup code outside "
     "pitch blockmode nop depth."},
    {"tolerate", 0, OPTION_ALWAYS, OPTION_FLAG(tolerate), "The old spelling of --hazards ignore."},
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

/* Hazards are the emulator's to find, unless all of them are to end the run. */
static status_t read_program(const struct config *config, const struct qpu_emu_config *how, uint64_t **words,
                             size_t *n_words)
{
  const char *dot = strrchr(config->input, '.');
  if (!dot || strcmp(dot, ".qasm") != 0) return qpu_words_read(config->input, words, n_words);
  struct qpu_program program;
  struct qpu_asm_options options = {0};
  for (int kind = 0; kind < QPU_RULE_PITCH; kind++) options.unchecked |= how->rules[kind] != QPU_FAULT;
  RETURN_IF_FAILED(qpu_assemble(config->input, NULL, &options, &program));
  *words = program.words;
  *n_words = program.n_words;
  program.words = NULL;
  qpu_program_free(&program);
  return STATUS_OK;
}

static status_t load_buffer(const char *path, const struct qpu_setting *setting, int k)
{
  size_t room = setting->buffer_bytes[k];
  FILE *file = file_open_input(path);
  if (!file) return log_fail(STATUS_ENVIRONMENT, "cannot read %s: %s", path, strerror(errno));
  file_is_input(path);
  size_t n = fread(qpu_memory_at(setting->memory, setting->buffers[k]), 1, room, file);
  int failed = ferror(file), more = n == room && fgetc(file) != EOF;
  fclose(file);
  if (failed) return log_fail(STATUS_ENVIRONMENT, "cannot read %s", path);
  return more ? log_fail(STATUS_USAGE, "%s is larger than buffer %d", path, k) : STATUS_OK;
}

static status_t load_all(const struct config *config, const struct qpu_setting *setting)
{
  struct qpu_file_item item;
  for (const char *p = config->load; p && *p;) {
    RETURN_IF_FAILED(qpu_file_item(setting, "--load", 0, &p, &item));
    RETURN_IF_FAILED(load_buffer(item.path, setting, item.buffer));
  }
  return STATUS_OK;
}

/* Writes them, or only looks whether they can be written. */
static status_t save_all(const struct config *config, const struct qpu_setting *setting, int try)
{
  struct qpu_file_item item;
  for (const char *p = config->save; p && *p;) {
    RETURN_IF_FAILED(qpu_file_item(setting, "--save", setting->n_buffers - 1, &p, &item));
    size_t bytes = setting->buffer_bytes[item.buffer];
    const char *from = qpu_memory_at(setting->memory, setting->buffers[item.buffer]);
    RETURN_IF_FAILED(try ? file_check(item.path) : file_write(item.path, from, bytes));
  }
  return STATUS_OK;
}

static const char *path_of(const char *item)
{
  const char *equal = isdigit((unsigned char)item[0]) ? strchr(item, '=') : NULL;
  return equal ? equal + 1 : item;
}

/* Refuses to write what is read; the parser of options knows no lists of files. */
static status_t saves_check(const struct config *c)
{
  char out[PATH_MAX], in[PATH_MAX];
  for (const char *saves = c->save; saves;) {
    saves = value_next(saves, ',', out, sizeof out);
    const char *path = path_of(out), *also = NULL;
    if (file_is_same(path, c->input)) also = "input";
    for (const char *loads = c->load; loads;) {
      loads = value_next(loads, ',', in, sizeof in);
      if (file_is_same(path, path_of(in))) also = "load";
    }
    if (also) return log_fail(STATUS_USAGE, "--save \"%s\": is also the file of --%s", path, also);
  }
  return STATUS_OK;
}

static status_t prepare(const struct config *config, struct qpu_emu_config *how, const uint64_t *words,
                        size_t n_words, struct qpu_setting *setting)
{
  how->n_qpus = (int)config->qpus;
  how->threads_per_qpu = (int)config->threads;
  how->tmu_depth = (int)config->tmu_depth;
  how->max_instructions = (uint64_t)config->limit;
  how->sfu_bits = config->sfu ? QPU_SFU_PART : 0;
  how->trace = config->trace ? stderr : NULL;
  setting->n_jobs = config->jobs ? (uint32_t)config->jobs : (uint32_t)(config->qpus * config->threads);
  RETURN_IF_FAILED(qpu_buffer_sizes(config->buffers, setting));
  how->memory_bytes = n_words * 8 + setting->n_jobs * QPU_MAX_UNIFORMS * 4 + (size_t)64 * 4096;
  for (int i = 0; i < setting->n_buffers; i++) how->memory_bytes += setting->buffer_bytes[i] + 2 * 4096;
  struct qpu_cost_model model = qpu_cost_at((double)config->estimate * 1e6);
  RETURN_IF_FAILED(qpu_emu_create(how, &setting->emu));
  if (config->estimate) RETURN_IF_FAILED(qpu_emu_estimate(setting->emu, &model));
  setting->memory = qpu_emu_memory(setting->emu);
  RETURN_IF_FAILED(qpu_memory_alloc(setting->memory, n_words * 8, &setting->code));
  memcpy(qpu_memory_at(setting->memory, setting->code), words, n_words * 8);
  for (int i = 0; i < setting->n_buffers; i++)
    RETURN_IF_FAILED(qpu_memory_alloc(setting->memory, setting->buffer_bytes[i], &setting->buffers[i]));
  RETURN_IF_FAILED(load_all(config, setting));
  return save_all(config, setting, 1);
}

static status_t run(const struct config *config, struct qpu_setting *setting)
{
  struct qpu_job *jobs = calloc(setting->n_jobs, sizeof *jobs);
  status_t status;
  if (!jobs) return log_fail(STATUS_ENVIRONMENT, "out of memory for %u jobs", setting->n_jobs);
  TRY(qpu_write_uniforms(config->uniforms, setting, jobs), done);
  status = qpu_emu_run(setting->emu, jobs, setting->n_jobs);
  qpu_emu_warn(setting->emu);
  if (status != STATUS_OK) goto done;
  struct qpu_emu_stats stats = qpu_emu_stats(setting->emu);
  qpu_emu_print(&stats, output_stream());
  if (config->estimate)
    fprintf(output_stream(),
            "  estimate      %12.1f us at %d MHz, by a model and not measured: doc/qpu-time.md\n",
            qpu_emu_seconds(setting->emu) * 1e6, (int)config->estimate);
  status = save_all(config, setting, 0);
done:
  free(jobs);
  return status;
}

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  struct config config = {.qpus = 1, .threads = 1};
  struct qpu_setting setting = {0};
  struct qpu_emu_config how = {0};
  enum option_request request;
  uint64_t *words = NULL;
  size_t n_words = 0;
  start_program("qpu-run");
  start_signals();
  status_t status = option_parse_all(&about, argc, argv, &config, &request);
  if (status != STATUS_OK) return status;
  if (request == OPTION_SHOW_HELP) option_print_help(&about, output_stream());
  if (request == OPTION_SHOW_VERSION) fprintf(output_stream(), "qpu-run %s\n", PACKAGE_VERSION);
  if (request != OPTION_RUN) return file_flush_stdout();
  if (!config.input) return log_fail(STATUS_USAGE, "--input names no file");
  RETURN_IF_FAILED(saves_check(&config));
  if (config.tolerate) log_warn("--tolerate is the old spelling of --hazards ignore");
  qpu_emu_set_rules(&how, config.tolerate ? QPU_IGNORE : QPU_WARN);
  TRY(qpu_parse_rules(config.hazards, &how), done);
  TRY(read_program(&config, &how, &words, &n_words), done);
  TRY(prepare(&config, &how, words, n_words, &setting), done);
  status = run(&config, &setting);
done:
  qpu_emu_destroy(setting.emu);
  free(words);
  return status_worst(status, file_flush_stdout());
}
