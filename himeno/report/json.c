/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "himeno/report/report.h"
#include "himeno/result/ranks.h"
#include "suite/progress.h"

/* himeno_judge adds the verdicts later. */
static const struct judged unjudged;

void himeno_grid_document(struct doc *d, const struct himeno_choice *choice)
{
  doc_pattern(d, "size", 0, "^(XS|S|M|L|XL|[0-9]+x[0-9]+x[0-9]+)$", "As given; with --weak, of one rank.",
              choice->size.name);
  doc_whole(d, "imax", DOC_POSITIVE, "Extents of the whole grid.", choice->global[0]);
  doc_whole(d, "jmax", DOC_POSITIVE, "", choice->global[1]);
  doc_whole(d, "kmax", DOC_POSITIVE, "", choice->global[2]);
}

static const char *const verify_words[] = {"auto", "full", "off"};

void himeno_kernel_document(struct doc *d, const struct himeno_kernel *kernel)
{
  doc_enum(d, "class", 0, DOC_WORDS(himeno_class_names),
           "Never compare the two: temporal runs T sweeps per pass over memory.",
           himeno_class_names[kernel->class_]);
  doc_whole(d, "T", DOC_POSITIVE, "", kernel->sweeps);
}

static void himeno_config_document(struct doc *d, const struct himeno_choice *choice, int64_t sweeps)
{
  const struct himeno_config *c = choice->config;
  const struct doc_words origins = {&choice_words->name, CHOICE_RULE, sizeof *choice_words};
  doc_object(d, "config", 0, "", 1);
  himeno_grid_document(d, choice);
  doc_flag(d, "weak", 0, "", c->weak);
  doc_enum(d, "data", 0, DOC_WORDS(himeno_data_names), "", himeno_data_names[c->data]);
  doc_enum(d, "backend", 0, DOC_WORDS(gpu_backend_names), "", choice->placement.backend->name);
  doc_text(d, "kernel", 0, "", choice->kernel->name);
  doc_enum(d, "kernel_choice", 0, origins, "", choice_words[choice->kernel_origin].name);
  himeno_kernel_document(d, choice->kernel);
  doc_whole(d, "pad", 0, "", c->pad);
  doc_whole(d, "array_pad", DOC_OPTIONAL, "Bytes, as asked for.", c->array_pad);
  doc_text(d, "transport", 0, "", choice->transport->name);
  doc_wholes(d, "procs", DOC_POSITIVE, "", choice->procs[0], choice->procs[1], choice->procs[2]);
  doc_whole(d, "sweeps", 0, "Timed sweeps, all blocks.", sweeps);
  doc_whole(d, "block", DOC_POSITIVE, "Sweeps per block.", c->sweeps_given ? c->sweeps : c->block);
  doc_flag(d, "overlap", 0, "", !c->no_overlap);
  doc_enum(d, "verify", DOC_OPTIONAL, DOC_WORDS(verify_words), "As asked for.", verify_words[c->verify]);
  doc_real(d, "seconds", DOC_OPTIONAL | DOC_NULLABLE, "s", "Of timed blocks, as asked for; null with -n.",
           c->sweeps_given ? NAN : c->seconds);
  doc_real(d, "soak", DOC_OPTIONAL | DOC_NULLABLE, "s", "With --soak: its duration.",
           c->soak_given ? c->soak : NAN);
  doc_end(d);
}

static void himeno_samples_document(struct doc *d, const struct himeno_timing *t)
{
  doc_list(d, "samples", 0, "Seconds of each block; of a part, scaled to a whole one.", 1);
  for (int s = 0; doc_each(d, s, t->n_samples); s++) doc_real(d, NULL, 0, "s", "", t->samples[s]);
  doc_end(d);
}

static void himeno_throttled_document(struct doc *d, const double *throttled, int n_samples)
{
  doc_list(d, "throttled", DOC_OPTIONAL, "Samples, counted from 0, after which a device was throttled.", 1);
  for (int s = 0; doc_each(d, s, n_samples); s++)
    if (d->schema || throttled[s] > 0) doc_whole(d, NULL, 0, "", s);
  doc_end(d);
}

static void check_points_document(struct doc *d, const struct himeno_verification *v)
{
  doc_list(d, "points", 0, "The first block's values there; the last one is its end.", 1);
  for (int c = 0; doc_each(d, c, v->n_points); c++) {
    const struct solver_check *check = doc_at(d, v->points, c);
    doc_object(d, NULL, 0, "", 1);
    doc_whole(d, "sweeps", DOC_POSITIVE, "", check->sweeps);
    doc_real(d, "gosa", DOC_NULLABLE | DOC_ANY, "", "", check->gosa);
    doc_hex(d, "checksum", 0, 16, "", 1, check->checksum);
    doc_end(d);
  }
  doc_end(d);
}

static void checks_document(struct doc *d, const struct himeno_kernel *kernel,
                            const struct himeno_verification *v)
{
  if (!doc_object(d, "checks", DOC_OPTIONAL | DOC_NULLABLE,
                  "Comparisons within blocks, beyond those at their ends; null if there were none: with "
                  "--verify off, --official and --soak.",
                  v->n_points > 0))
    return;
  doc_whole(d, "every", DOC_POSITIVE, "Sweeps between check points.", solver_check_sweeps(kernel));
  doc_flag(d, "timed", 0, "Timed blocks pause at the check points.", v->pauses);
  doc_whole(d, "untimed", 0, "Untimed blocks that paused at them.", v->check_blocks);
  doc_hex(d, "coefficients", 0, 16, "Sum of the checksums of the twelve constant arrays.", 1,
          v->coefficients);
  check_points_document(d, v);
  doc_end(d);
}

static void himeno_ceilings_document(struct doc *d, int first, const struct himeno_ceiling *c)
{
  const double gbps[2] = {c->all / 1e9, c->other_data / 1e9};
  if (!doc_object(d, "ceilings", DOC_OPTIONAL | DOC_NULLABLE,
                  "Of all devices, by the data in memory; null if not both were measured.",
                  c->all > 0 && c->other_data > 0))
    return;
  for (int data = 0; data < HIMENO_DATA_SETS; data++)
    doc_real(d, himeno_data_names[data], 0, "GB/s", "", gbps[data != first]);
  doc_end(d);
}

static void memory_document(struct doc *d, const struct himeno_choice *choice)
{
  const uint64_t all = choice->placement.info.memory_bytes;
  if (!doc_object(d, "memory", DOC_OPTIONAL | DOC_NULLABLE, "Device memory that the fullest rank takes.",
                  all > 0))
    return;
  doc_whole(d, "bytes", DOC_POSITIVE, "", choice->bytes);
  doc_real(d, "share", 0, "", "Of all memory of the device.", (double)choice->bytes / (double)all);
  doc_end(d);
}

static void wall_document(struct doc *d)
{
  const struct progress_phase *phases;
  const int n = progress_phases(&phases);
  doc_list(d, "wall", DOC_OPTIONAL,
           "Rank 0's phases, in the order in which they first began: together the time from the begin of "
           "main to this document.",
           1);
  for (int f = 0; doc_each(d, f, n); f++) {
    doc_object(d, NULL, 0, "", 1);
    doc_text(d, "phase", 0, "", phases[f].name);
    doc_real(d, "seconds", 0, "s", "", phases[f].seconds);
    doc_end(d);
  }
  doc_end(d);
}

static void himeno_result_document(struct doc *d, const struct himeno_choice *choice,
                                   const struct himeno_result *r)
{
  const struct himeno_config *c = choice->config;
  const struct himeno_timing *t = &r->timing;
  const int emulated = choice->placement.info.emulated, timed = t->sweeps > 0;
  const double gflops = emulated || !timed ? NAN : himeno_timing_gflops(t),
               rate = himeno_bytes_per_second(gflops), ceiling = doc_known(r->ceiling.all);
  const struct worth worth = soak_worth(&r->soak, &r->ranks, t->seconds);
  doc_object(d, "result", 0, "", 1);
  doc_real(d, "seconds", 0, "s", "Of all timed sweeps, by the slowest rank's clock.", t->seconds);
  wall_document(d);
  doc_real(d, "gflops", DOC_NULLABLE, "GFLOPS",
           "null on an emulator, which has no speed, and without a timed block, as is gbps.", gflops);
  doc_real(d, "gbps", DOC_NULLABLE, "GB/s", "Nominal if class is temporal.", rate / 1e9);
  doc_real(d, "ceiling_gbps", DOC_NULLABLE, "GB/s", "Of all devices; one that ranks share counts once.",
           ceiling / 1e9);
  doc_real(d, "ceiling_share", DOC_NULLABLE, "", "Of the whole run, exchanges included.", rate / ceiling);
  himeno_ceilings_document(d, c->data, &r->ceiling);
  memory_document(d, choice);
  doc_real(d, "gosa", DOC_NULLABLE | DOC_ANY, "", "Sum of squared residuals of the last sweep.",
           timed ? t->last.gosa : NAN);
  doc_hex(d, "checksum", DOC_NULLABLE, 16, "Of the last timed block; null if there was none.", timed,
          t->last.checksum);
  doc_whole(d, "blocks", 0, "", t->n_samples);
  doc_enum(d, "verified", 0, DOC_WORDS(verify_source_names), "", verify_source_names[r->verification.source]);
  /* an unfinished run is never "pass" */
  doc_enum(d, "verdict", 0, DOC_COLUMN(status_words, verdict), "",
           status_verdict(status_worst(r->verdict, t->partial ? STATUS_INCOMPLETE : STATUS_OK)));
  himeno_energy_document(d, &r->ranks);
  himeno_samples_document(d, t);
  checks_document(d, choice->kernel, &r->verification);
  himeno_throttled_document(d, r->ranks.throttled, t->n_samples);
  soak_document(d, &r->soak, &worth, c->soak_every);
  judge_accept_document(d, &unjudged);
  himeno_counts_document(d, emulated ? &r->counts : NULL);
  himeno_bound_document(d, d->schema || choice->kernel->toward_zero ? &r->counts : NULL);
  doc_real(d, "score", DOC_OPTIONAL, "", "Only with --official: MFLOPS over 82.84.",
           c->official ? gflops * 1e3 / HIMENO_OFFICIAL_MFLOPS : NAN);
  doc_end(d);
}

static void phases_document(struct doc *d, const struct himeno_ranks *ranks)
{
  const int n = ranks->n;
  double values[n + 1];
  doc_object(d, "phases", 0, "Over ranks, seconds per sweep.", 1);
  for (int p = 0; p < HIMENO_PHASES; p++) {
    for (int r = 0; r < n; r++) values[r] = ranks->rank[r].phases[p];
    doc_spread(d, himeno_phase_names[p], stats_summarise(values, (size_t)n));
  }
  doc_end(d);
}

/* Writes the bytes sent to a neighbour when the path was measured, and the device's count of
 * them. */
static void himeno_sent_document(struct doc *d, const struct himeno_path *p)
{
  if (!doc_object(d, "sent", DOC_OPTIONAL,
                  "With --accept, on devices: what this rank sent in exchanges of 4 MiB, and what its device "
                  "counted meanwhile.",
                  p->probe.sent > 0))
    return;
  doc_real(d, "bytes", 0, "B", "", p->probe.sent);
  doc_whole(d, "nvlink", DOC_NULLABLE, "", p->probe.counted.nvlink);
  doc_whole(d, "pcie", DOC_NULLABLE, "", p->probe.counted.pcie);
  doc_enum(d, "went", DOC_NULLABLE, DOC_WORDS(path_medium_names),
           "Where at least nine tenths of the bytes were counted; null: nowhere, or to another host. \"by "
           "PCIe\" is to the neighbour or through the host, which the counters cannot distinguish; \"in "
           "disguise\" is PCIe although there are NVLinks and the transport bypasses the host.",
           path_medium_names[p->medium]);
  doc_end(d);
}

/* Returns whether a path is the first with its transport; \a had has one bit per transport. */
static int path_is_first(const struct himeno_path *p, unsigned *had)
{
  unsigned bit = 1;
  for (int t = 0; halo_transports[t] && strcmp(halo_transports[t]->name, p->texts->used) != 0; t++) bit <<= 1;
  const int first = !(*had & bit);
  *had |= bit;
  return first;
}

/* Writes the transport, with its memory and mover only for the first path. */
static void path_used_document(struct doc *d, const struct himeno_path *p, unsigned *had)
{
  doc_pattern(d, "face", 0, "^([ijk][-+]){1,3}$", "", p->face);
  doc_whole(d, "bytes", DOC_POSITIVE, "", p->bytes);
  doc_text(d, "used", 0, "", p->texts->used);
  if (d->schema || path_is_first(p, had)) halo_transport_document(d, d->schema ? "" : p->texts->used);
}

static void path_reasons_document(struct doc *d, const char *otherwise, const struct himeno_path *p)
{
  doc_text(d, "why", 0, "", p->texts->why[0] ? p->texts->why : otherwise);
  doc_enum(d, "handover", DOC_OPTIONAL, DOC_WORDS(halo_handovers), "How ranks hand staged halos over.",
           p->texts->handover[0] ? p->texts->handover : NULL);
  doc_text(d, "handover_why", DOC_OPTIONAL, "", p->texts->handover[0] ? p->texts->handover_why : NULL);
}

static void himeno_path_document(struct doc *d, const char *otherwise, int rank, const struct himeno_path *p,
                                 unsigned *had)
{
  doc_object(d, NULL, 0, "", 1);
  doc_whole(d, "rank", 0, "", rank);
  doc_whole(d, "peer", 0, "", p->peer);
  path_used_document(d, p, had);
  doc_real(d, "latency", DOC_OPTIONAL, "s",
           "With --accept: of an exchange of one float between the two, with nothing else running on them.",
           doc_known(p->probe.seconds));
  if (d->schema || p->probe.seconds > 0)
    doc_real(d, "gbps", DOC_OPTIONAL | DOC_NULLABLE, "GB/s",
             "With --accept: each way, of exchanges of 4 MiB both ways at once, beyond the latency.",
             p->probe.bytes_per_second / 1e9);
  himeno_sent_document(d, p);
  path_reasons_document(d, otherwise, p);
  doc_end(d);
}

static void himeno_paths_document(struct doc *d, const char *otherwise, const struct himeno_ranks *ranks)
{
  unsigned had = 0;
  doc_list(d, "paths", 0, "Of more than 256 ranks: see path_groups.", 1);
  for (int r = 0; ranks->n <= DOC_RANKS_FULL && doc_each(d, r, ranks->n); r++) {
    const struct himeno_rank *rank = doc_at(d, ranks->rank, r);
    for (int m = 0; doc_each(d, m, rank->n_paths); m++)
      himeno_path_document(d, otherwise, r, &rank->paths[m], &had);
  }
  doc_end(d);
}

enum path_column { PATH_RANK, PATH_PEER, PATH_LATENCY, PATH_GBPS, PATH_COLUMNS };

static void path_column_document(struct doc *d, const struct himeno_ranks *ranks,
                                 const struct himeno_path *first, enum path_column column)
{
  static const char *const names[] = {"rank", "peer", "latency", "gbps"};
  if (!doc_list(d, names[column], column < PATH_LATENCY ? 0 : DOC_OPTIONAL, "As in paths.",
                column < PATH_LATENCY || first->probe.seconds > 0))
    return;
  for (int r = 0; doc_each(d, r, ranks->n); r++) {
    const struct himeno_rank *rank = doc_at(d, ranks->rank, r);
    for (int m = 0; doc_each(d, m, rank->n_paths); m++) {
      const struct himeno_path *p = &rank->paths[m];
      if (!d->schema && p->first != first) continue;
      if (column < PATH_LATENCY)
        doc_whole(d, NULL, 0, "", column == PATH_RANK ? r : p->peer);
      else
        doc_real(d, NULL, DOC_NULLABLE, "", "",
                 column == PATH_LATENCY ? p->probe.seconds : p->probe.bytes_per_second / 1e9);
    }
  }
  doc_end(d);
}

static void path_groups_document(struct doc *d, const char *otherwise, const struct himeno_ranks *ranks)
{
  unsigned had = 0;
  const struct himeno_path *group = doc_at(d, ranks->groups, 0);
  if (!doc_list(d, "path_groups", DOC_OPTIONAL,
                "Only of more than 256 ranks, instead of paths: those that differ in nothing but rank, peer, "
                "latency and gbps.",
                ranks->n > DOC_RANKS_FULL))
    return;
  for (int g = 0; d->schema ? g < 1 : group != NULL; g++, group = group->next) {
    doc_object(d, NULL, 0, "", 1);
    path_used_document(d, group, &had);
    doc_enum(d, "went", DOC_OPTIONAL, DOC_WORDS(path_medium_names), "As in paths[].sent.",
             path_medium_names[group->medium]);
    path_reasons_document(d, otherwise, group);
    for (enum path_column c = 0; c < PATH_COLUMNS; c++) path_column_document(d, ranks, group, c);
    doc_end(d);
  }
  doc_end(d);
}

/* Returns the rate of the device's own compute time; NAN if nothing was timed. */
static double rank_gflops(const struct himeno_rank *rank)
{
  return doc_known(himeno_gflops((double)rank->points, 1, rank->compute));
}

static void theory_document(struct doc *d, const struct himeno_rank *rank)
{
  const double bytes = doc_known(telemetry_peak_bytes(&rank->telemetry.after)),
               flops = doc_known(telemetry_peak_flops(&rank->telemetry.after));
  if (!doc_object(d, "theory", DOC_OPTIONAL | DOC_NULLABLE,
                  "By the device's highest clocks and its widths; null if it does not report them.",
                  bytes > 0 || flops > 0))
    return;
  doc_real(d, "gbps", DOC_NULLABLE, "GB/s", "Of memory: two words per clock.", bytes / 1e9);
  doc_real(d, "gflops", DOC_NULLABLE, "GFLOPS", "Single precision, two operations per lane and clock.",
           flops / 1e9);
  doc_real(d, "share", DOC_NULLABLE, "", "ceiling_gbps over gbps.", doc_known(rank->ceiling) / bytes);
  doc_end(d);
}

/* Writes the values of a rank that judging needs. */
static void judged_rank_document(struct doc *d, const struct placement *place, const struct himeno_rank *rank,
                                 int timed)
{
  doc_whole(d, "host_first", DOC_OPTIONAL, "Lowest rank of the host.", rank->row.host_first);
  doc_whole(d, "device_sharers", DOC_OPTIONAL, "Other ranks on the device.", rank->row.shared);
  doc_whole(d, "device_numa", DOC_OPTIONAL | DOC_NULLABLE, "NUMA node of the device.", rank->row.info.numa);
  doc_flag(d, "is_cpu", DOC_OPTIONAL, "The device is a CPU.", rank->row.info.is_cpu);
  doc_flag(d, "takes_cores", DOC_OPTIONAL, "The device's own work takes the host's cores.",
           gpu_takes_cores(place->backend->memory, &rank->row.info));
  doc_whole(d, "points", DOC_OPTIONAL, "That the rank owns.", rank->points);
  doc_whole(d, "sweep_bytes", DOC_OPTIONAL, "That its sweeps move.", rank->points * HIMENO_BYTES_PER_POINT);
  doc_whole(d, "cache_bytes", DOC_OPTIONAL, "Of the device's largest cache; 0: unknown.",
            rank->row.info.cache_bytes);
  doc_real(d, "waited", DOC_OPTIONAL | DOC_NULLABLE, "s",
           "Seconds per sweep for neighbours, within phases.interior, at most.", timed ? rank->waited : NAN);
  doc_real(d, "compute_gflops", DOC_OPTIONAL | DOC_NULLABLE, "GFLOPS",
           "Of the device's own compute time in the median block of the series.", rank_gflops(rank));
  doc_real(
      d, "noise", DOC_OPTIONAL | DOC_NULLABLE, "",
      "Of its own compute times in these blocks, relative: an upper bound, at 99%; null for fewer than 3.",
      timed ? rank->noise : NAN);
  doc_whole(d, "cards", DOC_OPTIONAL, "Network cards of its host that are up.", rank->cards);
  doc_real(d, "card_gbps", DOC_OPTIONAL | DOC_NULLABLE, "Gbit/s", "Rate of the slowest of them.",
           doc_known(rank->cards_gbps));
}

static void himeno_rank_document(struct doc *d, const struct placement *place,
                                 const struct himeno_ranks *ranks, int r)
{
  const struct himeno_rank *rank = doc_at(d, ranks->rank, r);
  doc_object(d, NULL, 0, "", 1);
  rank_row_document(d, &rank->row, r, 1);
  doc_object(d, "phases", 0, "", 1);
  for (int p = 0; p < HIMENO_PHASES; p++) doc_real(d, himeno_phase_names[p], 0, "s", "", rank->phases[p]);
  doc_end(d);
  doc_real(d, "ceiling_gbps", DOC_OPTIONAL | DOC_NULLABLE, "GB/s",
           "Of the rank's device alone; ranks that share one take turns.", doc_known(rank->ceiling) / 1e9);
  doc_real(d, "ceiling_share", DOC_OPTIONAL | DOC_NULLABLE, "",
           "The sweep's bytes per second by the device's own compute time in the median block, over "
           "ceiling_gbps; null if ranks share the device.",
           rank->row.shared ? NAN : himeno_bytes_per_second(rank_gflops(rank)) / rank->ceiling);
  theory_document(d, rank);
  himeno_rank_energy_document(d, rank);
  doc_real(d, "starved", DOC_OPTIONAL | DOC_NULLABLE, "",
           "Share of the timed part in which a busy thread of the rank was ready but had no core, or the "
           "hypervisor took a CPU away; null if the kernel does not count it.",
           rank->telemetry.starved);
  judged_rank_document(d, place, rank, ranks->kept_blocks > 0);
  himeno_telemetry_document(d, ranks, r);
  himeno_counted_document(d, &rank->telemetry);
  doc_end(d);
}

void himeno_document(struct doc *d, const struct himeno_choice *choice, const struct himeno_result *result)
{
  const struct himeno_ranks *ranks = &result->ranks;
  doc_frame(
      d, "himeno-gpu/2", "himeno-gpu", "Result of himeno-gpu",
      "One run. Rates count 34 flop and 56 bytes per point and sweep; phases are seconds per sweep and may "
      "overlap. A field that is not required is missing in documents of earlier builds, or its description "
      "says when it is present.");
  himeno_config_document(d, choice, result->timing.sweeps);
  doc_flag(d, "partial", DOC_OPTIONAL,
           "A signal ended the run, or it had not ended: the document has what was "
           "measured.",
           result->timing.partial);
  himeno_result_document(d, choice, result);
  phases_document(d, ranks);
  himeno_paths_document(d, choice_words[choice->transport_origin].of_transport, ranks);
  path_groups_document(d, choice_words[choice->transport_origin].of_transport, ranks);
  if ((d->schema || ranks->n > DOC_RANKS_FULL) &&
      doc_map(d, DOC_COMMON, DOC_OPTIONAL,
              "Only of more than 256 ranks: what each row of ranks has with this value, of objects in part. "
              "Rows lack it in the file: add it before anything else is read from them."))
    doc_end(d);
  doc_list(d, "ranks", 0, "None only in a partial document of a run that had not begun.", 1);
  for (int r = 0; r < ranks->n && ranks->n > DOC_RANKS_FULL; r++) {
    himeno_rank_document(d, &choice->placement, ranks, r);
    doc_row_compare(d, r == 0);
  }
  for (int r = 0; doc_each(d, r, ranks->n); r++) {
    himeno_rank_document(d, &choice->placement, ranks, r);
    if (ranks->n > DOC_RANKS_FULL) doc_row_pack(d);
  }
  doc_end(d);
  judge_found_document(d, &unjudged);
  himeno_series_document(d, ranks);
}
