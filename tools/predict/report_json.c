/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "gemm/types.h"
#include "tools/predict/predict.h"
#include "tools/predict/workload.h"

const struct predict_beyond predict_beyonds[PREDICT_BEYONDS] = {
    {BEYOND_RANKS, "ranks", "more ranks than any run"},
    {BEYOND_HOSTS, "hosts", "more hosts than any run"},
    {BEYOND_SMALL, "fewer points", "fewer"},
    {BEYOND_LARGE, "points", "more"},
    {BEYOND_BYTES, "bytes", "more bytes in an exchange than any run"},
    {BEYOND_PASS, "sweeps a pass", "another number of sweeps per pass than the runs"},
    {BEYOND_HOST, "one host", "only one host was measured; larger hosts are assumed (--per-host)"}};

static const char *const scaling_words[] = {"strong", "weak"};

static void left_document(struct doc *d, const struct study *study)
{
  doc_list(d, "left_out", DOC_OPTIONAL, "Documents that were not fitted, and why.", 1);
  for (int l = 0; doc_each(d, l, study->n_left); l++) {
    const struct study_left *left = doc_at(d, study->left, l);
    doc_object(d, NULL, 0, "", 1);
    doc_text(d, "file", 0, "", left->file);
    doc_enum(d, "as", 0, DOC_WORDS(study_reason_names), "", study_reason_names[left->reason]);
    doc_text(d, "why", 0, "", left->why);
    doc_end(d);
  }
  doc_end(d);
}

static void predict_config_document(struct doc *d, const struct predict *p)
{
  const struct predict_config *c = &p->config;
  const struct study_run *run = p->study.n > 0 ? &p->study.runs[0] : NULL;
  const int maybe = DOC_NULLABLE | DOC_ANY;
  doc_object(d, "config", 0, "", 1);
  doc_text(d, "study", maybe, "", c->study);
  doc_text(d, "comm", maybe, "", c->comm);
  doc_text(d, "model", maybe, "", c->model);
  doc_enum(d, "program", DOC_OPTIONAL, DOC_WORDS(model_program_names), "Program of the runs.",
           model_program_names[p->model.program]);
  doc_text(d, "kernel", maybe, "", run ? run->kernel : NULL);
  doc_text(d, "backend", maybe, "", run ? run->backend : NULL);
  doc_text(d, "device", maybe, "", run ? run->device : NULL);
  doc_whole(d, "fit_ranks", 0, "Only runs of at most so many ranks were fitted; 0: all.", c->fit_ranks);
  doc_whole(d, "runs", 0, "", p->study.n);
  left_document(d, &p->study);
  doc_whole(d, "per_host", 0, "Ranks per host; 0: all on one host.",
            c->per_host > 0 ? c->per_host : p->model.range.per_host);
  if (doc_object(d, "between", DOC_OPTIONAL | DOC_NULLABLE, "Path between hosts, if --between gave it.",
                 c->between.bandwidth > 0)) {
    doc_real(d, "latency_seconds", DOC_ANY, "s", "", c->between.latency);
    doc_real(d, "bytes_per_second", DOC_ANY, "B/s", "", c->between.bandwidth);
    doc_end(d);
  }
  doc_whole(d, "sweeps_a_pass", DOC_OPTIONAL | DOC_POSITIVE, "",
            c->sweeps_a_pass > 0 ? c->sweeps_a_pass : p->model.terms.depth);
  doc_real(d, "compute_time", 0, "", "What-if factor of computing.", c->scale.compute);
  doc_real(d, "exchange_time", 0, "", "What-if factor of latencies and bytes.", c->scale.exchange);
  doc_end(d);
}

static void model_terms_document(struct doc *d, const struct model *model)
{
  char name[96];
  doc_list(d, "terms", 0, "", 1);
  for (int c = 0; doc_each(d, c, model->terms.columns); c++) {
    doc_object(d, NULL, 0, "", 1);
    doc_text(d, "name", 0, "", model_term_name(&model->terms.paths, c, name));
    doc_real(d, "value", 0, "", "", model->terms.fitted.value[c]);
    doc_real(d, "error", 0, "", "Standard error.", model->errors.error[c]);
    doc_text(d, "unit", 0, "", model_term_text(c)->unit);
    doc_flag(d, "seen", 0, "At least one run depends on it.", model->errors.seen[c]);
    doc_end(d);
  }
  doc_end(d);
}

static void off_document(struct doc *d, const double off[KINDS], const char *about)
{
  doc_object(d, "off", DOC_OPTIONAL, about, 1);
  for (int kind = 0; kind < KINDS; kind++) doc_real(d, model_kind_names[kind], 0, "", "", off[kind]);
  doc_end(d);
}

static void predict_path_document(struct doc *d, const struct study_transport *transport, double spread,
                                  const double off[KINDS])
{
  doc_object(d, NULL, 0, "As comm-gpu fitted it.", 1);
  doc_text(d, "transport", 0, "", transport->name);
  doc_real(d, "spread", DOC_OPTIONAL, "", "Relative error of a run by this transport about the model.",
           spread);
  off_document(d, off, "As the model's, of runs by this transport.");
  doc_text(d, "staging", DOC_OPTIONAL | DOC_NULLABLE,
           "How halos were staged; null if none were, or it is unknown.",
           transport->handover < 0 ? NULL : study_staging(transport->handover));
  for (int where = 0; where < STUDY_WHERES; where++) {
    if (!doc_object(d, study_where_names[where], DOC_NULLABLE, "", transport->known[where])) continue;
    doc_real(d, "latency_seconds", 0, "s", "", transport->latency[where]);
    doc_real(d, "bytes_per_second", DOC_POSITIVE, "B/s", "", transport->bandwidth[where]);
    doc_real(d, "residual", 0, "", "", transport->residual[where]);
    doc_end(d);
  }
  doc_end(d);
}

static void replicates_document(struct doc *d, int columns, const struct model_errors *errors)
{
  doc_list(d, "replicates", DOC_OPTIONAL,
           "The fit repeated with configurations drawn at random and scattered guesses: the values of "
           "the terms in their order, then cache_points, memory_share and hidden_share.",
           1);
  for (int r = 0; doc_each(d, r, errors->n_replicates); r++) {
    doc_list(d, NULL, 0, "", 1);
    for (int c = 0; c < columns; c++) doc_real(d, NULL, 0, "", "", errors->replicate[r].value[c]);
    doc_real(d, NULL, 0, "", "", errors->replicate[r].cache_points);
    doc_real(d, NULL, 0, "", "", errors->replicate[r].share);
    doc_real(d, NULL, 0, "", "", errors->replicate[r].hinder);
    doc_end(d);
  }
  doc_end(d);
}

static void names_document(struct doc *d, const char *key, const struct model_names *names)
{
  doc_list(d, key, DOC_OPTIONAL, "Of the runs.", 1);
  for (int n = 0; doc_each(d, n, names->n); n++) doc_text(d, NULL, 0, "", names->name[n]);
  doc_end(d);
}

/* The document contains the limits of a poor model, so that its readers use the same limits. */
static void held_out_document(struct doc *d, const struct model_coverage *coverage)
{
  const int some = coverage->predicted > 0;
  doc_object(d, "held_out", DOC_OPTIONAL, "Runs that were left out of the fit and predicted.", 1);
  doc_whole(d, "predicted", 0, "", coverage->predicted);
  doc_real(d, "median_error", DOC_NULLABLE, "", "", some ? coverage->median : NAN);
  doc_real(d, "worst_error", DOC_NULLABLE, "", "", some ? coverage->worst : NAN);
  doc_real(d, "median_error_max", 0, "", "Poor: a larger median_error, or spread if none was predicted.",
           MODEL_POOR_MEDIAN);
  doc_real(d, "inside_min", 0, "", "Poor: a smaller share of runs inside their intervals.",
           MODEL_POOR_INSIDE);
  doc_flag(d, "poor", 0, "Do not rely on the predictions: exit status 5.", model_is_poor(coverage));
  doc_list(d, "causes", 0, "Causes of errors that the runs show.", 1);
  for (int c = 0; doc_each(d, c, coverage->n_causes); c++) doc_text(d, NULL, 0, "", coverage->cause[c]);
  doc_end(d);
  doc_end(d);
}

static void covered_document(struct doc *d, const struct model_coverage *coverage)
{
  doc_list(d, "covered", DOC_OPTIONAL,
           "Number of held-out runs that 90% intervals contained: of all, and by what was left out, "
           "transport and hosts.",
           1);
  for (int c = 0; doc_each(d, c, coverage->n); c++) {
    doc_object(d, NULL, 0, "", 1);
    doc_text(d, "of", 0, "", coverage->group[c].of);
    doc_whole(d, "inside", 0, "", coverage->group[c].inside);
    doc_whole(d, "runs", 0, "", coverage->group[c].n);
    doc_end(d);
  }
  doc_end(d);
}

static void predict_product_document(struct doc *d, const struct model *model)
{
  if (!doc_object(d, "product", DOC_OPTIONAL, "Of gemm-gpu alone: how its products are made.",
                  model->program == STUDY_GEMM))
    return;
  doc_text(d, "type", 0, "", gemm_types[model->product.type].name);
  doc_whole(d, "panel", 0, "k of a panel; 0: gemm-gpu's own choice.", model->product.panel);
  doc_flag(d, "on_cpu", 0, "That choice is the one for a CPU.", model->product.on_cpu);
  doc_end(d);
}

static void model_document(struct doc *d, const struct model *model)
{
  doc_object(d, "model", 0, "Optional fields are missing in earlier documents.", 1);
  doc_enum(d, "program", DOC_OPTIONAL, DOC_WORDS(model_program_names),
           "Program of the runs. Of gemm-gpu points are multiply-adds, passes panels, and a sweep is a "
           "product.",
           model_program_names[model->program]);
  predict_product_document(d, model);
  model_terms_document(d, model);
  doc_list(d, "paths", 0, "", 1);
  for (int w = 0; doc_each(d, w, model->terms.paths.n); w++)
    predict_path_document(d, &model->terms.paths.transports[w], model->errors.transport_spread[w],
                          model->errors.transport_off[w]);
  doc_end(d);
  doc_real(d, "cache_points", 0, "", "Points of a rank that stay in its cache; 0: no such regime.",
           model->terms.fitted.cache_points);
  doc_real(d, "tile_points", DOC_OPTIONAL, "",
           "Points of a row that a kernel sweeps in one tile; 0: unknown.", model->terms.tile_points);
  doc_reals(d, "tile", DOC_OPTIONAL, "",
            "Of products: rows and columns of the largest tile of C; 0: unknown.", model->terms.tile[0],
            model->terms.tile[1]);
  doc_whole(d, "multiprocessors", DOC_OPTIONAL, "Of a device, over which tiles go in rounds; 0: unknown.",
            model->terms.units);
  doc_real(d, "hidden_share", DOC_OPTIONAL, "",
           "Of products: seconds that a hidden second of an exchange costs.", model->terms.fitted.hinder);
  replicates_document(d, model->terms.columns, &model->errors);
  doc_real(d, "spread", 0, "", "Relative error of a run about the model.", model->errors.spread);
  doc_real(d, "freedom", 0, "", "Degrees of freedom.", model->errors.freedom);
  off_document(d, model->errors.off,
               "Extra width of the interval beyond what was measured, as a logarithm: per doubling of ranks, "
               "for a size and for a cut that no run had.");
  covered_document(d, &model->coverage);
  held_out_document(d, &model->coverage);
  doc_whole(d, "runs", 0, "", model->range.runs);
  doc_whole(d, "ranks_most", 0, "", model->range.ranks_most);
  doc_whole(d, "hosts_most", 0, "", model->range.hosts_most);
  doc_whole(d, "per_host", 0, "", model->range.per_host);
  doc_whole(d, "T", DOC_POSITIVE, "", model->terms.depth);
  doc_flag(d, "overlap", 0, "", model->terms.overlap);
  doc_flag(d, "slabs_hidden", DOC_OPTIONAL, "Slabs are swept with the interior, not before it.",
           model->terms.slabs_hidden);
  doc_flag(d, "steps_hidden", DOC_OPTIONAL,
           "With several sweeps per pass: interior is the root of the squares of pass and points, and with "
           "transports that a host attends slabs go first.",
           model_steps_hidden(&model->terms));
  names_document(d, "sizes", &model->range.sizes);
  names_document(d, "cuts", &model->range.cuts);
  doc_reals(d, "points", 0, "", "Least and most points of a rank.", model->range.points_least,
            model->range.points_most);
  doc_real(d, "bytes_most", 0, "B", "", model->range.bytes_most);
  doc_real(d, "memory_share", DOC_OPTIONAL, "",
           "Share of a memory's bandwidth that a rank takes; 0: none shared.", model->terms.fitted.share);
  doc_whole(d, "sharers_most", DOC_OPTIONAL, "Most ranks on one memory of a CPU or one device; 0: unknown.",
            model->range.sharers_most);
  doc_whole(d, "memories", DOC_OPTIONAL, "Of a CPU host; 0: devices have their own.", model->range.memories);
  doc_real(d, "device_spread", DOC_OPTIONAL, "", "Relative standard deviation of devices; 0: unknown.",
           model->range.device_spread);
  doc_end(d);
}

static void procs_document(struct doc *d, const int procs[3])
{
  doc_list(d, "procs", DOC_POSITIVE, "Ranks along each dimension: three, of gemm-gpu two.", 1);
  for (int n = 0; doc_each(d, n, procs[2] > 0 ? 3 : 2); n++) doc_whole(d, NULL, DOC_POSITIVE, "", procs[n]);
  doc_end(d);
}

static void terms_document(struct doc *d, const struct model_time *t)
{
  doc_object(d, "terms", 0, "Seconds per sweep.", 1);
  doc_real(d, "interior", 0, "s", "", t->interior);
  doc_real(d, "exchange_latency", 0, "s", "", t->latency);
  doc_real(d, "exchange_bytes", 0, "s", "", t->bytes);
  doc_real(d, "boundary", 0, "s", "", t->boundary);
  doc_real(d, "synchronisation", 0, "s", "", t->synchronisation);
  doc_real(d, "reduction", 0, "s", "", t->reduction);
  doc_real(d, "exposed_exchange", 0, "s", "Part of the exchange that the interior does not hide.",
           t->exposed);
  doc_end(d);
}

static void predict_predicted_document(struct doc *d, const struct predict_point *point,
                                       const struct workload *of)
{
  const struct geometry *g = &point->geometry;
  const struct model_time *t = &point->time;
  const int bound = DOC_NULLABLE | DOC_POSITIVE;
  for (int n = 0; n < 3; n++)
    doc_whole(d, of->extents[n], DOC_POSITIVE, "Extents of all ranks' grid or product.", g->global[n]);
  procs_document(d, g->procs);
  doc_whole(d, "hosts", DOC_POSITIVE, "", g->hosts);
  doc_real(d, "seconds", 0, "s", "Per sweep, or per product.", t->seconds);
  doc_real(d, "low", bound, "s", "90% of runs take between low and high; null without an interval.", t->low);
  doc_real(d, "high", bound, "s", "", t->high);
  doc_real(d, "gflops", 0, "GFLOPS", "", point->gflops);
  doc_real(d, "efficiency", 0, "",
           "Of one rank with the same grid over the ranks; in weak scaling, of one rank with its own part.",
           point->efficiency);
  doc_real(d, "ideal_efficiency", DOC_OPTIONAL, "", "If all devices are alike.", point->ideal);
  doc_real(d, "lateness", DOC_OPTIONAL, "", "Of the slowest device, a share of its computing time.",
           point->late);
  if (doc_object(d, "measured", DOC_OPTIONAL, "The study's runs of this configuration.",
                 point->n_measured > 0)) {
    doc_real(d, "seconds", 0, "s", "Median of the runs.", point->measured);
    doc_whole(d, "runs", DOC_POSITIVE, "", point->n_measured);
    doc_real(d, "efficiency", DOC_NULLABLE, "", "null: it was not measured on one rank.",
             point->measured_efficiency);
    doc_end(d);
  }
  doc_enum(d, "limit", 0, DOC_WORDS(model_limit_names), "The longest term.", model_limit_names[t->limit]);
  terms_document(d, t);
  doc_object(d, "twice_network", 0, "With half the latency and twice the bandwidth.", 1);
  doc_real(d, "seconds", 0, "s", "", point->twice_network);
  doc_real(d, "gain", DOC_ANY, "", "Share by which a sweep would be faster.",
           t->seconds / point->twice_network - 1);
  doc_end(d);
  doc_list(d, "extrapolated", 0,
           "What goes beyond all runs. one host: the study has one, and a host of so many ranks is "
           "imagined.",
           1);
  for (int b = 0; doc_each(d, b, PREDICT_BEYONDS); b++)
    if (d->schema || t->extrapolated & (int)predict_beyonds[b].what)
      doc_enum(d, NULL, 0, DOC_COLUMN(predict_beyonds, name), "", predict_beyonds[b].name);
  doc_end(d);
}

static void predict_point_document(struct doc *d, const struct predict_point *point,
                                   enum study_program program)
{
  doc_object(d, NULL, 0, "One prediction; with why_not it could not be made.", 1);
  doc_text(d, "size", 0, "", point->size.name);
  doc_enum(d, "scaling", 0, DOC_WORDS(scaling_words), "weak: SIZE is of one rank.",
           scaling_words[point->weak]);
  doc_whole(d, "ranks", DOC_POSITIVE, "", point->ranks);
  doc_text(d, "transport", 0, "", point->transport);
  if (doc_case(d, !point->predicted)) doc_text(d, "why_not", 0, "", point->why);
  for (int of = 0; of < STUDY_PROGRAMS; of++)
    if (doc_case(d, point->predicted && of == (int)program))
      predict_predicted_document(d, point, &workloads[of]);
  doc_end(d);
}

static void end_document(struct doc *d, const struct predict_end *end)
{
  doc_object(d, NULL, 0, "Of strong scaling.", 1);
  doc_text(d, "size", 0, "", end->size.name);
  doc_text(d, "transport", 0, "", end->transport);
  doc_whole(d, "fastest_ranks", 0, "With more ranks a sweep takes longer.", end->fastest_ranks);
  doc_real(d, "fastest_seconds", 0, "s", "", end->fastest_seconds);
  doc_whole(d, "half_efficiency_ranks", 0, "The most, of powers of two, with an efficiency of one half.",
            end->efficient_ranks);
  doc_whole(d, "searched_ranks", 0, "The most that could be searched.", end->searched_ranks);
  doc_end(d);
}

static void pair_document(struct doc *d, const struct validate_pair *pair, int left_out)
{
  const struct study_run *run = &pair->run;
  const int bound = DOC_NULLABLE | DOC_POSITIVE;
  doc_object(d, NULL, 0, "", 1);
  doc_text(d, "size", 0, "", run->size);
  doc_enum(d, "scaling", 0, DOC_WORDS(scaling_words), "", scaling_words[run->weak]);
  doc_whole(d, "ranks", DOC_POSITIVE, "", run->ranks);
  procs_document(d, run->procs);
  doc_text(d, "transport", 0, "", run->transport);
  doc_real(d, "measured", 0, "s", "Per sweep, or per product.", run->seconds);
  doc_real(d, "predicted", bound, "s", "null: too few runs are left to fit.",
           pair->predicted ? pair->time.seconds : NAN);
  doc_real(d, "low", bound, "s", "", pair->time.low);
  doc_real(d, "high", bound, "s", "", pair->time.high);
  doc_real(d, "error", DOC_NULLABLE | DOC_ANY, "", "predicted / measured − 1",
           pair->predicted ? pair->error : NAN);
  doc_flag(d, "inside", DOC_NULLABLE, "The measured time lies in the interval.",
           pair->predicted && pair->time.low > 0 ? !validate_is_outside(pair) : -1);
  if (left_out) {
    doc_text(d, "left_out", 0, "", pair->left);
    doc_enum(d, "kind", 0, DOC_WORDS(model_kind_names), "", model_kind_names[pair->kind]);
  }
  doc_end(d);
}

static void table_document(struct doc *d, const struct validate_table *table, int left_out)
{
  double median, worst;
  int predicted;
  validate_summary(table, &median, &worst, &predicted);
  doc_whole(d, "predicted", 0, "", predicted);
  doc_real(d, "median_error", DOC_NULLABLE, "", "", predicted > 0 ? median : NAN);
  doc_real(d, "worst_error", DOC_NULLABLE, "", "", predicted > 0 ? worst : NAN);
  doc_list(d, "pairs", 0, "", 1);
  for (int n = 0; doc_each(d, n, table->n); n++) pair_document(d, doc_at(d, table->pairs, n), left_out);
  doc_end(d);
  doc_end(d);
}

void predict_document(struct doc *d, const struct predict *p)
{
  doc_frame(d, MODEL_SCHEMA, "himeno-predict", "Predictions of himeno-predict",
            "A model of a sweep, fitted to a study, and what it predicts. The model is described in "
            "doc/explanation/prediction.md.");
  doc_flag(d, "poor", DOC_OPTIONAL, "model.held_out.poor.", model_is_poor(&p->model.coverage));
  predict_config_document(d, p);
  model_document(d, &p->model);
  doc_list(d, "predictions", 0, "", 1);
  for (int n = 0; doc_each(d, n, p->n); n++)
    predict_point_document(d, doc_at(d, p->points, n), p->model.program);
  doc_end(d);
  doc_list(d, "scaling_ends", 0, "", 1);
  for (int n = 0; doc_each(d, n, p->n_ends); n++) end_document(d, doc_at(d, p->ends, n));
  doc_end(d);
  doc_object(d, "validation", 0,
             "The most ranks, each size and each cut in turn: left out, fitted without, predicted.", 1);
  table_document(d, &p->validation, 1);
  if (doc_object(d, "against", DOC_OPTIONAL, "The runs of --against.", p->config.against != NULL))
    table_document(d, &p->against, 0);
}
