/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/soak/soak.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/meta.h"
#include "base/report.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/soak/devices.h"
#include "himeno/soak/report.h"
#include "suite/progress.h"

struct soak {
  struct himeno_measurement *m;
  struct soak_known known;
  struct soak_block block;
  struct soak_corruption *gathered; /* rank 0: SOAK_CORRUPTIONS_MAX a rank */
  int *counts;                      /* rank 0: of each rank */
  struct soak_devices devices;      /* with --soak-log */
  double begin;
  FILE *log; /* rank 0, NULL without --soak-log */
};

/* ---- the log ---- */

static status_t log_failed(const char *path)
{
  return log_fail(STATUS_ENVIRONMENT, "--soak-log %s: %s", path, strerror(errno));
}

/* Whether the file ends in the middle of a line. */
static int is_torn(FILE *log)
{
  return fseek(log, -1, SEEK_END) == 0 && fgetc(log) != '\n';
}

status_t soak_log_open(const char *path, FILE **log)
{
  int has_lines = file_is_plain(path);
  FILE *file = file_open_append(path);
  if (!file) return log_failed(path);
  if (has_lines && is_torn(file) && (fseek(file, 0, SEEK_END) != 0 || fputc('\n', file) == EOF)) {
    fclose(file);
    return log_failed(path);
  }
  *log = file;
  return STATUS_OK;
}

status_t soak_log_add(FILE *log, json_t *line, const char *path)
{
  int bad = report_json_lost() || json_dumpf(line, log, JSON_COMPACT) != 0 || fputc('\n', log) == EOF ||
            fflush(log) != 0;
  json_decref(line);
  if (bad) return log_failed(path);
  /* A pipe or a terminal cannot be synchronised, and need not be. */
  return fsync(fileno(log)) == 0 || errno == EINVAL || errno == EROFS ? STATUS_OK : log_failed(path);
}

/* ---- what was found ---- */

/* Says it at once: a soak may run for days. */
static void found_say(const struct soak_found *f)
{
  char text[256];
  const struct soak_corruption *c = &f->corruption;
  log_warn("block %d, %s data: WRONG after sweep %d on rank %d: %s; %s", f->block, himeno_data_names[f->data],
           f->sweep, c->rank, soak_corruption_text(c, text, sizeof text),
           f->first ? "the same block was wrong again" : "the same block was right when it was run again");
}

static void found_add(struct soak *s, enum himeno_data data, const struct soak_corruption *c, json_t *list)
{
  struct soak_result *r = &s->m->result->soak;
  struct soak_found f = {s->m->result->n_samples, s->block.sweep, s->block.first, data, *c};
  found_say(&f);
  r->corruptions++;
  if (r->n < SOAK_FOUND_MAX) r->found[r->n++] = f;
  json_array_append_new(list, soak_found_json(&f));
}

static status_t found_gather(struct soak *s, enum himeno_data data, json_t *list)
{
  enum { BYTES = SOAK_CORRUPTIONS_MAX * sizeof(struct soak_corruption) };
  const struct placement *p = &s->m->choice->placement;
  RETURN_IF_FAILED(watch_gather(p->comm, &s->block.n, s->counts, sizeof s->block.n, "corruptions"));
  RETURN_IF_FAILED(watch_gather(p->comm, s->block.corruption, s->gathered, BYTES, "corruptions"));
  for (int r = 0; p->rank == 0 && r < p->ranks; r++)
    for (int c = 0; c < s->counts[r]; c++)
      found_add(s, data, &s->gathered[r * SOAK_CORRUPTIONS_MAX + c], list);
  return STATUS_OK;
}

/* ---- blocks ---- */

static json_t *block_line(const struct soak *s, enum himeno_data data, json_t *list)
{
  const struct soak_block *b = &s->block;
  char time[32];
  meta_time(time);
  json_t *o = json_object();
  object_text(o, "time", time);
  object_whole(o, "block", s->m->result->n_samples);
  object_text(o, "data", himeno_data_names[data]);
  object_whole(o, "sweeps", b->sweeps);
  object_real(o, "seconds", b->seconds);
  object_real(o, "gflops", b->seconds > 0 ? himeno_gflops(s->m->result->points, b->sweeps, b->seconds) : NAN);
  object_text(o, "verdict", b->wrong ? "wrong" : "pass");
  object_flag(o, "throttled", soak_devices_throttled(&s->devices));
  object_set(o, "telemetry", soak_devices_json(&s->devices));
  object_set(o, "corruptions", json_incref(list));
  return o;
}

/* A wrong block's time is that of the fewer sweeps that it ran. */
static status_t block_add(struct soak *s)
{
  struct solver_block block = {.sweeps = s->block.sweeps, .seconds = s->block.seconds};
  block.gosa = s->block.gosa;
  block.checksum = s->block.checksum;
  for (int p = 0; p < HIMENO_PHASES; p++) block.phases[p] = s->block.phase_sums[p] / s->block.sweeps;
  return himeno_block_add(s->m, &block);
}

static status_t block_run(struct soak *s, enum himeno_data data)
{
  const struct himeno_config *config = s->m->config;
  struct soak_result *r = &s->m->result->soak;
  MPI_Comm comm = s->m->choice->placement.comm;
  json_t *list = json_array();
  status_t status = soak_block_run(s->m->solver, &s->known, comm, data, (int)config->soak_every, &s->block);
  if (status == STATUS_OK) status = block_add(s);
  if (status == STATUS_OK && s->block.wrong) status = found_gather(s, data, list);
  if (status == STATUS_OK) {
    r->blocks++;
    r->wrong_blocks += s->block.wrong;
  }
  if (status == STATUS_OK && config->soak_log) status = soak_devices_gather(s->m->record, &s->devices);
  if (status == STATUS_OK && s->log)
    status = soak_log_add(s->log, block_line(s, data, list), config->soak_log);
  json_decref(list);
  return agree_status(comm, status);
}

static status_t blocks_run(struct soak *s)
{
  struct himeno_measurement *m = s->m;
  for (int up = 0, n = 0; !up; n++) {
    RETURN_IF_FAILED(block_run(s, n % 2 ? HIMENO_STANDARD : HIMENO_DENSE));
    const int more = n + 1 < SOAK_DATA_SETS || n + 1 < m->plan->blocks_min;
    RETURN_IF_FAILED(himeno_time_is_up(m, s->begin, m->config->soak, more, &up));
  }
  m->result->soak.seconds = himeno_now(m) - s->begin;
  return STATUS_OK;
}

static status_t soak_open(struct soak *s, const struct solver_config *config)
{
  const struct himeno_config *c = s->m->config;
  const struct placement *p = &s->m->choice->placement;
  int passes = himeno_block_sweeps(c) / config->kernel->sweeps;
  status_t status = STATUS_OK;
  if (config->kernel->extra_arrays)
    return log_fail(STATUS_USAGE, "--soak: kernel %s keeps copies of its own, which cannot be checked",
                    config->kernel->name);
  if (p->rank == 0) {
    s->gathered = calloc((size_t)p->ranks * SOAK_CORRUPTIONS_MAX, sizeof *s->gathered);
    s->counts = calloc((size_t)p->ranks, sizeof *s->counts);
    if (!s->gathered || !s->counts)
      status = log_fail(STATUS_ENVIRONMENT, "out of host memory for corruptions");
    if (status == STATUS_OK && c->soak_log) status = soak_log_open(c->soak_log, &s->log);
  }
  RETURN_IF_FAILED(agree_status(p->comm, status));
  if (c->soak_log) RETURN_IF_FAILED(soak_devices_open(p->comm, p->host, s->m->record, &s->devices));
  return soak_known_open(config, passes > 0 ? passes : 1, &s->known);
}

static void soak_close(struct soak *s)
{
  soak_known_close(&s->known);
  soak_devices_close(&s->devices);
  if (s->log) fclose(s->log);
  free(s->gathered);
  free(s->counts);
}

status_t himeno_soak(struct himeno_measurement *m)
{
  struct soak s = {.m = m};
  struct solver_config config = himeno_solver_config(m->config, m->choice);
  status_t status = soak_open(&s, &config);
  progress_begin_timed("soaking", m->config->soak);
  s.begin = himeno_now(m);
  record_begin(m->record);
  if (status == STATUS_OK) status = blocks_run(&s);
  if (status == STATUS_OK) m->result->verified = s.known.reference.source;
  soak_close(&s);
  if (status != STATUS_OK || m->result->soak.wrong_blocks == 0) return status;
  return log_fail(STATUS_WRONG, "%d of %d blocks were wrong", m->result->soak.wrong_blocks,
                  m->result->soak.blocks);
}
