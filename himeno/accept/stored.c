/* SPDX-License-Identifier: MIT */
#include "himeno/accept/stored.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/values.h"
#include "himeno/accept/accept.h"
#include "himeno/ranks.h"

#define NUMBER_MAX 1e9

static status_t unfit(status_t status, const char *where, const char *why)
{
  return log_fail(status, "--slow-once %s: %s", where, why);
}

static const char *text_of(const json_t *object, const char *key)
{
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static void text_copy(char *text, size_t size, const json_t *object, const char *key)
{
  snprintf(text, size, "%s", text_of(object, key));
  value_make_printable(text);
}

static double number_at(const json_t *values, size_t at)
{
  const json_t *value = json_array_get(values, at);
  const double number = json_is_number(value) ? json_number_value(value) : TELEMETRY_UNKNOWN;
  return number >= 0 && number < NUMBER_MAX ? number : TELEMETRY_UNKNOWN;
}

/* ---- blocks ---- */

/* Whether there are \a n, all of them numbers. */
static int numbers(const json_t *values, size_t n, double *number)
{
  int all = json_array_size(values) == n;
  for (size_t v = 0; v < n; v++) {
    number[v] = number_at(values, v);
    all &= number[v] >= 0;
  }
  return all;
}

static int times_read(const json_t *series, size_t rank, size_t n, struct record_block *times)
{
  double compute[RECORDS_MAX], exchange[RECORDS_MAX];
  const json_t *computes = json_object_get(series, straggler_of_name(STRAGGLER_COMPUTE)),
               *exchanges = json_object_get(series, straggler_of_name(STRAGGLER_EXCHANGE));
  if (!numbers(json_array_get(computes, rank), n, compute) ||
      !numbers(json_array_get(exchanges, rank), n, exchange))
    return 0;
  for (size_t b = 0; b < n; b++) times[b] = (struct record_block){compute[b], exchange[b], 0};
  return 1;
}

static status_t blocks_read(const json_t *series, const char *where, struct himeno_result *r)
{
  const json_t *ends = json_object_get(series, "ends");
  const size_t n = json_array_size(ends);
  double end[RECORDS_MAX], block[RECORDS_MAX];
  if (n == 0)
    return unfit(STATUS_USAGE, where,
                 "it has no series of blocks, which documents of runs have, not those of earlier builds");
  int whole = r->n_ranks > 0 && n <= RECORDS_MAX && numbers(ends, n, end) &&
              numbers(json_object_get(series, "blocks"), n, block);
  r->times = whole ? calloc((size_t)r->n_ranks * n, sizeof *r->times) : NULL;
  if (whole && !r->times) return log_fail(STATUS_ENVIRONMENT, "out of host memory for times of blocks");
  for (size_t rank = 0; whole && rank < (size_t)r->n_ranks; rank++)
    whole = times_read(series, rank, n, r->times + rank * n);
  if (!whole) return unfit(STATUS_ENVIRONMENT, where, "its series or ranks are damaged");
  for (size_t b = 0; b < n; b++) r->when[b] = (struct record_when){end[b], (int)block[b]};
  r->kept_blocks = (int)n;
  return STATUS_OK;
}

/* ---- ranks, and what their devices told ---- */

static int throttle_of(const char *text)
{
  char name[TELEMETRY_THROTTLE_BYTES];
  int all = 0;
  for (size_t n; *text; text += n, text += strspn(text, ", ")) {
    n = strcspn(text, ",");
    for (int bit = 1; bit < 1 << THROTTLE_BITS; bit <<= 1) {
      telemetry_throttle_text(bit, name, sizeof name);
      if (strlen(name) == n && strncmp(text, name, n) == 0) all |= bit;
    }
  }
  return all;
}

static struct telemetry_sample row_of(const json_t *blocks, size_t row)
{
  double value[TELEMETRY_VALUES];
  const char *throttled = json_string_value(json_array_get(json_object_get(blocks, "throttled"), row));
  for (enum telemetry_value v = 0; v < TELEMETRY_VALUES; v++)
    value[v] = number_at(json_object_get(blocks, telemetry_value_names[v]), row);
  return (struct telemetry_sample){.watts = value[TELEMETRY_WATTS],
                                   .sm_mhz = (int)value[TELEMETRY_SM_MHZ],
                                   .memory_mhz = (int)value[TELEMETRY_MEMORY_MHZ],
                                   .celsius = (int)value[TELEMETRY_CELSIUS],
                                   .throttle = throttled ? throttle_of(throttled) : TELEMETRY_UNKNOWN};
}

static void changes_read(const json_t *changes, struct record_telemetry *t)
{
  size_t n;
  json_t *one;
  json_array_foreach(changes, n, one) for (enum telemetry_fact f = 0;
                                           f < TELEMETRY_FACTS && t->n_changes < RECORD_CHANGES_MAX;
                                           f++) if (strcmp(text_of(one, "of"), telemetry_fact_names[f]) == 0)
      t->changes[t->n_changes++] =
      (struct record_change){.block = (int)json_integer_value(json_object_get(one, "block")), .of = f};
}

static void rank_read(const json_t *from, struct himeno_rank *rank, struct telemetry_sample *rows)
{
  const json_t *telemetry = json_object_get(from, "telemetry"),
               *blocks = json_object_get(telemetry, "blocks");
  struct record_telemetry *t = &rank->telemetry;
  text_copy(rank->row.host, sizeof rank->row.host, from, "host");
  text_copy(rank->row.info.uuid, sizeof rank->row.info.uuid, from, "uuid");
  text_copy(rank->row.info.name, sizeof rank->row.info.name, from, "device");
  t->each = (int)json_integer_value(json_object_get(blocks, "each"));
  t->rows = SERIES_ROWS_MAX;
  for (size_t r = 0; r < SERIES_ROWS_MAX; r++) rows[r] = row_of(blocks, r);
  changes_read(json_object_get(telemetry, "changes"), t);
}

static status_t ranks_read(const json_t *ranks, struct himeno_result *r)
{
  const size_t n = json_array_size(ranks);
  r->n_ranks = (int)n;
  r->ranks = calloc(n + 1, sizeof *r->ranks);
  r->series = malloc((n * SERIES_ROWS_MAX + 1) * sizeof *r->series);
  if (!r->ranks || !r->series) return log_fail(STATUS_ENVIRONMENT, "out of host memory for ranks");
  for (size_t rank = 0; rank < n; rank++)
    rank_read(json_array_get(ranks, rank), &r->ranks[rank], r->series + rank * SERIES_ROWS_MAX);
  return STATUS_OK;
}

static int rank_at(const json_t *object, const char *key, const struct himeno_result *r)
{
  const json_t *number = json_object_get(object, key);
  const json_int_t rank = json_is_integer(number) ? json_integer_value(number) : -1;
  return rank >= 0 && rank < r->n_ranks ? (int)rank : -1;
}

/* Who is whose neighbour; without that no link is suspected. */
static void paths_read(const json_t *paths, struct himeno_result *r)
{
  size_t n;
  json_t *one;
  json_array_foreach(paths, n, one)
  {
    const int rank = rank_at(one, "rank", r), peer = rank_at(one, "peer", r);
    if (rank < 0 || peer < 0 || r->ranks[rank].n_paths == HALO_MESSAGES_MAX) continue;
    struct himeno_path *path = &r->ranks[rank].paths[r->ranks[rank].n_paths++];
    path->peer = peer;
    snprintf(path->face, sizeof path->face, "%s", text_of(one, "face"));
  }
}

/* ---- all of it ---- */

static void result_print(const char *name, const struct himeno_result *r, FILE *out)
{
  const double seconds = r->when[r->kept_blocks - 1].end;
  fprintf(out, "%s: ", name);
  if (r->n_episodes > 0)
    fprintf(out, "slow for a while %d time%s", r->n_episodes, r->n_episodes == 1 ? "" : "s");
  else
    fprintf(out, seconds < EPISODE_SPAN ? "too short to tell" : "never slow for a while");
  fprintf(out, ", %d rank%s, %d block%s in %.1f s\n", r->n_ranks, r->n_ranks == 1 ? "" : "s", r->kept_blocks,
          r->kept_blocks == 1 ? "" : "s", seconds);
  accept_episodes_text(r, out);
}

static status_t document_judge(const json_t *document, const char *name, FILE *out)
{
  struct himeno_result r = {0};
  status_t status = ranks_read(json_object_get(document, "ranks"), &r);
  if (status == STATUS_OK) paths_read(json_object_get(document, "paths"), &r);
  if (status == STATUS_OK) status = blocks_read(json_object_get(document, "series"), name, &r);
  if (status == STATUS_OK) status = himeno_episodes_find(&r);
  if (status == STATUS_OK) result_print(name, &r, out);
  if (status == STATUS_OK && r.n_episodes > 0) status = STATUS_SLOW;
  himeno_result_free(&r);
  return status;
}

/* What follows in the file: a document, or a line of runs.jsonl, which has one with its name. NULL
 * at the end. */
static status_t document_next(FILE *file, const char *path, json_t **document)
{
  json_error_t error;
  int c;
  do c = fgetc(file);
  while (c == ' ' || (c >= '\t' && c <= '\r'));
  *document = NULL;
  if (c == EOF) return ferror(file) ? unfit(STATUS_ENVIRONMENT, path, strerror(errno)) : STATUS_OK;
  ungetc(c, file);
  *document = json_loadf(file, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
  return *document ? STATUS_OK : unfit(STATUS_ENVIRONMENT, path, error.text);
}

/* Lines of other programs are passed over. */
static status_t one_judge(const json_t *one, const char *path, int *judged, FILE *out)
{
  char name[400];
  const json_t *document = json_object_get(one, "document");
  snprintf(name, sizeof name, "%s%s%s", path, document ? " " : "", document ? text_of(one, "name") : "");
  if (document && strcmp(text_of(document, "program"), "himeno-gpu") != 0) return STATUS_OK;
  *judged = 1;
  return document_judge(document ? document : one, name, out);
}

static status_t file_judge(FILE *file, const char *path, FILE *out)
{
  status_t all = STATUS_OK;
  for (int judged = 0;;) {
    json_t *one;
    RETURN_IF_FAILED(document_next(file, path, &one));
    if (!one) return judged ? all : unfit(STATUS_ENVIRONMENT, path, "no run of himeno-gpu is in it");
    const status_t status = one_judge(one, path, &judged, out);
    json_decref(one);
    if (status != STATUS_OK && status != STATUS_SLOW) return status;
    all = status_worst(all, status);
  }
}

status_t accept_stored(const struct make_files *files, FILE *out)
{
  status_t all = STATUS_OK;
  for (int f = 0; f < files->n; f++) {
    FILE *file = file_open_regular(files->name[f]);
    if (!file) return unfit(STATUS_ENVIRONMENT, files->name[f], strerror(errno));
    const status_t status = file_judge(file, files->name[f], out);
    fclose(file);
    if (status != STATUS_OK && status != STATUS_SLOW) return status;
    all = status_worst(all, status);
  }
  return all;
}
