/* SPDX-License-Identifier: MIT */
/* A simulated machine with known parameters, and studies of it. */
#ifndef TESTS_UNIT_PREDICT_MACHINE_H
#define TESTS_UNIT_PREDICT_MACHINE_H

#include "tests/unit/unit.h"

#include <math.h>

#include "base/hash.h"
#include "tools/predict/validate.h"
#include "tests/unit/near.h"

static const double PASS = 3e-6, POINT = 1.33e-11, SLAB = 4e-6, NEIGHBOUR = 1e-6, IDLE = 0.4 * 1.33e-11,
                    REDUCE_LOG = 0.5e-6, LATENCY = 25e-6, BANDWIDTH = 12e9, SYNC = 8e-6;

static uint64_t random_state;

static inline double uniform(void)
{
  random_state++;
  return ((double)(hash_mix(random_state) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller. */
static inline double normal(void)
{
  return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

struct machine {
  double cache_points, cache_gain; /* up to cache_points points, each costs less by cache_gain */
  double noise;
  int overlap, at_once; /* at_once: one launch for all messages and slabs */
  /* share of the time per byte that depends on the bytes of the whole host */
  double host_share;
  int sockets; /* memories, shared evenly, of which a rank uses 0.4; 0: a device per rank */
  double tile; /* points of a tile along a row; each point that the last tile lacks costs IDLE */
  int told;    /* 1: runs store their tiles and the device's known number of multiprocessors */
};

static const struct machine plain = {.noise = 0.01, .overlap = 1};

/* Computes a run's time independently of the model. Halos go along i only. */
static inline void machine_time(const struct machine *m, const struct geometry *g, struct study_run *run)
{
  double neighbours = g->ranks == 1 ? 0 : g->ranks == 2 ? 1 : 2;
  double face = (double)(g->global[1] - 2) * (double)(g->global[2] - 2);
  double owned = ceil((double)(g->global[0] - 2) / g->ranks) * face;
  double row = (double)(g->global[2] - 2), idle = m->tile > 0 ? ceil(row / m->tile) * m->tile - row : 0;
  double interior = PASS + POINT * owned -
                    (m->cache_points > 0 ? m->cache_gain * owned * exp(-owned / m->cache_points) : 0) +
                    IDLE * idle * owned / row;
  if (run->sharers > 1) /* four ranks request 1.6 times a memory's bandwidth */
    interior = PASS + (interior - PASS) * pow((1 + pow(0.4 * run->sharers, 4)) / 1.0256, 0.25);
  double messages = m->at_once ? (m->overlap ? SLAB : 0) : neighbours * NEIGHBOUR;
  double all = 2 * (g->ranks - 1); /* messages of the host */
  double bytes = ((1 - m->host_share) * neighbours + m->host_share * all / 2) * 4 * face;
  double exchange = neighbours > 0 ? LATENCY + messages + bytes / BANDWIDTH : 0;
  double rest = REDUCE_LOG * log2(g->ranks) + (neighbours > 0 && !m->at_once ? SYNC : 0);
  run->seconds = (m->overlap ? fmax(interior, exchange) : interior + exchange) + rest;
  run->seconds *= 1 + m->noise * normal();
}

static inline struct study_run run_of(const struct machine *m, const char *size, const int64_t extent[3],
                                      int ranks, int weak)
{
  struct geometry geometry;
  struct study_run run = {.transport = "",
                          .kernel = "stream",
                          .backend = "cuda",
                          .device = "Made up",
                          .procs = {ranks, 1, 1},
                          .ranks = ranks,
                          .hosts = 1,
                          .weak = weak,
                          .overlap = m->overlap,
                          .depth = 1,
                          .sharers = m->sockets ? (ranks + m->sockets - 1) / m->sockets : 0,
                          .memories = m->sockets};
  snprintf(run.size, sizeof run.size, "%s", size);
  snprintf(run.transport, sizeof run.transport, "%s", m->at_once ? "p2p" : "staged");
  for (int d = 0; d < 3; d++) run.global[d] = extent[d];
  if (weak) run.global[0] = (extent[0] - 2) * ranks + 2;
  assert_int_equal(geometry_make(run.global, run.procs, 1, m->overlap, ranks, &geometry), STATUS_OK);
  machine_time(m, &geometry, &run);
  return run;
}

static const struct {
  const char *name;
  int64_t extent[3];
} sizes[] = {
    {"S", {64, 64, 128}}, {"M", {128, 128, 256}}, {"130x130x514", {130, 130, 514}}, {"L", {256, 256, 512}}};

#define SIZES (sizeof sizes / sizeof sizes[0])

/* Strong and weak. */
static inline void study_add(const struct machine *m, size_t size, int ranks, struct study *study)
{
  for (int weak = 0; weak < (ranks > 1 ? 2 : 1); weak++)
    study->runs[study->n++] = run_of(m, sizes[size].name, sizes[size].extent, ranks, weak);
}

/* Makes a study of each size on 1, 2, 4, … up to \a most ranks. */
static inline struct study study_make(const struct machine *m, int most)
{
  struct study study = {.runs = calloc(64, sizeof *study.runs)};
  assert_non_null(study.runs);
  for (size_t s = 0; s < SIZES; s++)
    for (int ranks = 1; ranks <= most; ranks *= 2) study_add(m, s, ranks, &study);
  return study;
}

/* Makes comm-gpu's figures, which are slightly wrong. */
static inline struct study_paths paths_make(void)
{
  static const char *const names[] = {"staged", "p2p"};
  struct study_paths paths = {.n = 2};
  for (int w = 0; w < paths.n; w++) {
    paths.transports[w] = (struct study_transport){
        .known = {1, 0}, .latency = {1.1 * LATENCY}, .bandwidth = {0.92 * BANDWIDTH}};
    snprintf(paths.transports[w].name, sizeof paths.transports[w].name, "%s", names[w]);
  }
  return paths;
}

static inline struct model *fit(const struct study *study)
{
  const struct study_paths paths = paths_make();
  struct model *model = calloc(1, sizeof *model);
  assert_int_equal(model_fit(study, &paths, NULL, 1, model), STATUS_OK);
  return model;
}

static inline struct model *fit_made(const struct machine *m, int most)
{
  struct study study = study_make(m, most);
  struct model *model = fit(&study);
  study_free(&study);
  return model;
}

static inline struct model_time predict(const struct model *model, const struct study_run *run)
{
  static const struct model_scale as_measured = {1, 1};
  struct geometry geometry;
  struct model_time time;
  assert_int_equal(geometry_make(run->global, run->procs, 1, run->overlap, run->ranks, &geometry), STATUS_OK);
  geometry.sharers = run->sharers;
  assert_int_equal(model_predict(model, &geometry, run->transport, &as_measured, &time), STATUS_OK);
  model_interval(model, &geometry, run->transport, &as_measured, run->size, &time);
  return time;
}

/* Returns the worst error of predictions of study_make's runs on \a least to \a most ranks. */
static inline double worst_error(const struct model *model, const struct machine *m, int least, int most)
{
  double worst = 0;
  struct study later = study_make(m, most);
  for (int r = 0; r < later.n; r++)
    if (later.runs[r].ranks >= least)
      worst = fmax(worst, fabs(predict(model, &later.runs[r]).seconds / later.runs[r].seconds - 1));
  study_free(&later);
  return worst;
}

#endif
