/* SPDX-License-Identifier: MIT */
#include "himeno/soak/soak.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/document.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/report/report.h"
#include "himeno/result/record.h"
#include "suite/progress.h"

struct soak {
  struct himeno_measurement *m;
  struct soak_known known;
  struct soak_block block;
  struct soak_corruption *gathered; /* on rank 0: corruptions, SOAK_CORRUPTIONS_MAX per rank */
  int *counts;                      /* on rank 0: number of corruptions per rank */
  struct soak_found *found;         /* on rank 0: corruptions of all ranks in this block */
  int n_found;
  int throttled; /* 1: a device was throttled at the block's end; only with --soak-log */
  double begin;
  FILE *log; /* the log on rank 0; NULL without --soak-log */
};

static status_t log_failed(const char *path)
{
  return log_fail(STATUS_ENVIRONMENT, "--soak-log %s: %s", path, strerror(errno));
}

status_t soak_log_open(const char *path, FILE **log)
{
  int has_lines = file_is_plain(path);
  FILE *file = file_open_append(path);
  if (!file) return log_failed(path);
  const int torn = has_lines && fseek(file, -1, SEEK_END) == 0 && fgetc(file) != '\n';
  if (torn && (fseek(file, 0, SEEK_END) != 0 || fputc('\n', file) == EOF)) {
    fclose(file);
    return log_failed(path);
  }
  *log = file;
  return STATUS_OK;
}

status_t soak_log_add(FILE *log, json_t *line, const char *path)
{
  int bad = !line || json_dumpf(line, log, JSON_COMPACT) != 0 || fputc('\n', log) == EOF || fflush(log) != 0;
  json_decref(line);
  if (bad) return log_failed(path);
  /* a pipe or terminal cannot be synchronised, which is no error */
  return fsync(fileno(log)) == 0 || errno == EINVAL || errno == EROFS ? STATUS_OK : log_failed(path);
}

/* Records a corruption and warns at once, because a soak may run for days. */
static void found_add(struct soak *s, enum himeno_data data, const struct soak_corruption *c)
{
  struct soak_result *r = &s->m->result->soak;
  struct soak_found f = {s->m->result->timing.n_samples, s->block.sweep, s->block.first, data, *c};
  char text[256];
  log_warn("block %d, %s data: wrong result after sweep %d on rank %d: %s; %s", f.block,
           himeno_data_names[data], f.sweep, c->rank, soak_corruption_text(c, text, sizeof text),
           f.first ? "the same block was wrong again" : "the same block was right when it was run again");
  r->corruptions++;
  if (r->n < SOAK_FOUND_MAX) r->found[r->n++] = f;
  s->found[s->n_found++] = f;
}

static status_t found_gather(struct soak *s, enum himeno_data data)
{
  enum { BYTES = SOAK_CORRUPTIONS_MAX * sizeof(struct soak_corruption) };
  const struct placement *p = &s->m->choice->placement;
  RETURN_IF_FAILED(watch_gather(p->comm, &s->block.n, s->counts, sizeof s->block.n, "corruptions"));
  RETURN_IF_FAILED(watch_gather(p->comm, s->block.corruption, s->gathered, BYTES, "corruptions"));
  for (int r = 0; p->rank == 0 && r < p->ranks; r++)
    for (int c = 0; c < s->counts[r]; c++) found_add(s, data, &s->gathered[r * SOAK_CORRUPTIONS_MAX + c]);
  return STATUS_OK;
}

static status_t throttled_reduce(struct soak *s)
{
  const int mine = s->m->record->now.throttle > 0;
  return watch_allreduce(s->m->choice->placement.comm, &mine, &s->throttled, 1, MPI_INT, MPI_MAX,
                         "whether a device is throttled");
}

static void line_document(struct doc *d, const struct soak *s, enum himeno_data data)
{
  static const char *const verdicts[] = {"pass", "wrong"};
  const struct soak_block *b = &s->block;
  doc_top(d, "Line of himeno-gpu's soak log", "One block of --soak --soak-log, one line each, appended.");
  doc_time(d);
  doc_whole(d, "block", DOC_POSITIVE, "Of this run; in a log that several runs append to, each begins at 1.",
            s->m->result->timing.n_samples);
  doc_enum(d, "data", 0, DOC_WORDS(himeno_data_names), "", himeno_data_names[data]);
  doc_whole(d, "sweeps", DOC_POSITIVE, "", b->sweeps);
  doc_real(d, "seconds", 0, "s", "Of its sweeps, the slowest rank's.", b->seconds);
  doc_real(d, "gflops", DOC_NULLABLE, "GFLOPS", "",
           b->seconds > 0 ? himeno_gflops(s->m->result->timing.points, b->sweeps, b->seconds) : NAN);
  doc_enum(d, "verdict", 0, DOC_WORDS(verdicts), "", verdicts[b->wrong > 0]);
  doc_flag(d, "throttled", 0, "A device of any rank was, at the end of the block.", s->throttled);
  soak_found_document(d, "corruptions", s->found, s->n_found);
}

void himeno_soak_schema(struct doc *d)
{
  const struct soak none = {.log = NULL};
  line_document(d, &none, HIMENO_DENSE);
}

/* Adds a block to the result. The time of a wrong block, which ends early, is scaled to a whole
 * block, so that it adds no noise. */
static status_t soak_block_add(struct soak *s)
{
  struct himeno_timing *t = &s->m->result->timing;
  struct solver_block block = {.sweeps = s->block.sweeps,
                               .seconds = s->block.seconds,
                               .gosa = s->block.gosa,
                               .checksum = s->block.checksum};
  for (int p = 0; p < HIMENO_PHASES; p++) block.phases[p] = s->block.phase_sums[p] / s->block.sweeps;
  RETURN_IF_FAILED(himeno_block_add(s->m, &block));
  t->samples[t->n_samples - 1] *= 1.0 * s->known.passes * s->known.depth / block.sweeps;
  return STATUS_OK;
}

static status_t soak_block_step(struct soak *s, enum himeno_data data)
{
  const struct himeno_config *config = s->m->choice->config;
  struct soak_result *r = &s->m->result->soak;
  MPI_Comm comm = s->m->choice->placement.comm;
  s->n_found = 0;
  status_t status = soak_block_run(s->m->solver, &s->known, comm, data, (int)config->soak_every, &s->block);
  if (status == STATUS_OK) status = soak_block_add(s);
  if (status == STATUS_OK && s->block.wrong) status = found_gather(s, data);
  if (status == STATUS_OK) {
    r->blocks++;
    r->wrong_blocks += s->block.wrong;
  }
  if (status == STATUS_OK && config->soak_log) status = throttled_reduce(s);
  if (status == STATUS_OK && s->log) {
    struct doc d;
    doc_open(&d, 0);
    line_document(&d, s, data);
    status = soak_log_add(s->log, doc_close(&d), config->soak_log);
  }
  return agree_status(comm, status);
}

static status_t soak_blocks_run(struct soak *s)
{
  struct himeno_measurement *m = s->m;
  for (int up = 0, n = 0; !up; n++) {
    RETURN_IF_FAILED(soak_block_step(s, n % 2 ? HIMENO_STANDARD : HIMENO_DENSE));
    const int more = n + 1 < SOAK_DATA_SETS || n + 1 < m->plan->blocks_min;
    RETURN_IF_FAILED(himeno_time_is_up(m, s->begin, m->choice->config->soak, more, &up));
  }
  m->result->soak.seconds = stats_now() - s->begin;
  return STATUS_OK;
}

static status_t soak_open(struct soak *s, const struct solver_config *config)
{
  const struct himeno_config *c = s->m->choice->config;
  const struct placement *p = &s->m->choice->placement;
  int passes = himeno_block_sweeps(c) / config->kernel->sweeps;
  status_t status = STATUS_OK;
  if (config->kernel->extra_arrays)
    return log_fail(STATUS_USAGE, "--soak: kernel %s keeps copies of its own, which cannot be checked",
                    config->kernel->name);
  if (p->rank == 0) {
    s->gathered = calloc((size_t)p->ranks * SOAK_CORRUPTIONS_MAX, sizeof *s->gathered);
    s->counts = calloc((size_t)p->ranks, sizeof *s->counts);
    s->found = calloc((size_t)p->ranks * SOAK_CORRUPTIONS_MAX, sizeof *s->found);
    if (!s->gathered || !s->counts || !s->found)
      status = log_fail(STATUS_ENVIRONMENT, "out of host memory for the list of corrupted points");
    if (status == STATUS_OK && c->soak_log) status = soak_log_open(c->soak_log, &s->log);
  }
  RETURN_IF_FAILED(agree_status(p->comm, status));
  return soak_known_open(config, passes > 0 ? passes : 1, &s->known);
}

status_t himeno_soak(struct himeno_measurement *m)
{
  struct soak s = {.m = m};
  struct solver_config config = himeno_solver_config(m->choice);
  status_t status = soak_open(&s, &config);
  progress_expect(m->choice->config->soak);
  progress_begin("soaking");
  s.begin = stats_now();
  record_begin(m->record);
  if (status == STATUS_OK) status = soak_blocks_run(&s);
  if (status == STATUS_OK) m->result->verification.source = s.known.reference.source;
  soak_known_close(&s.known);
  if (s.log) fclose(s.log);
  free(s.gathered);
  free(s.counts);
  free(s.found);
  if (status != STATUS_OK || m->result->soak.wrong_blocks == 0) return status;
  return log_fail(STATUS_WRONG, "%d of %d blocks were wrong", m->result->soak.wrong_blocks,
                  m->result->soak.blocks);
}
