/* SPDX-License-Identifier: MIT */
#include "comm/ranks/same.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/meta.h"
#include "base/switches.h"
#include "comm/ranks/watch.h"

#define WHAT     "the options of all ranks"
#define HOST_MAX 256
#define TEXT_MAX 800

/** Zero-terminated names and values: first program and build, then options and variables. */
struct settings {
  char *at;
  size_t bytes;
  size_t asked; /**< offset of the options and variables */
};

/** Hashes of both parts of the settings, reduced to their maxima over all ranks. The maximum of a
 * complement gives the minimum; if it equals the maximum, all ranks agree. */
struct digest {
  uint64_t build, no_build, asked, no_asked, unparsed;
};

static void digest_add(FILE *out, const char *name, const char *value)
{
  fprintf(out, "%s%c%s%c", name, 0, value, 0);
}

static void add_asked(FILE *out, const struct same_start *start)
{
  const struct option_program *program = start->program;
  const struct switch_spec *s;
  char name[64];
  if (start->request == OPTION_SHOW_HELP) digest_add(out, "--help", "");
  if (start->request == OPTION_SHOW_VERSION) digest_add(out, "--version", "");
  for (size_t i = 0; i < program->n_options; i++) {
    const char *value = option_value_text(&program->options[i]);
    snprintf(name, sizeof name, "--%s", program->options[i].name);
    if (value && !(program->options[i].readers & OPTION_OWN)) digest_add(out, name, value);
  }
  for (int n = 0; (s = switch_at(n)); n++)
    if (s->scope == SWITCH_AGREED && switch_text(s->name)) digest_add(out, s->name, switch_text(s->name));
}

static status_t settings_make(const struct same_start *start, struct settings *settings)
{
  struct settings s = {NULL, 0, 0};
  FILE *out = open_memstream(&s.at, &s.bytes);
  if (out) {
    digest_add(out, "program", start->program->name);
    digest_add(out, "version", meta_version());
    digest_add(out, "build", meta_build());
    s.asked = (size_t)ftell(out);
    add_asked(out, start);
  }
  if (!out || fclose(out) != 0) return log_fail(STATUS_ENVIRONMENT, "out of host memory for " WHAT);
  *settings = s;
  return STATUS_OK;
}

static uint64_t hash(const char *at, const char *end)
{
  uint64_t sum = 0;
  for (; at < end; at++) sum = hash_mix(sum ^ (unsigned char)*at);
  return sum;
}

/** Returns the value of \a name in the pairs from \a at to \a end, or NULL if there is none. */
static const char *same_value(const char *at, const char *end, const char *name)
{
  while (at < end) {
    const char *value = at + strlen(at) + 1;
    if (strcmp(at, name) == 0) return value;
    at = value + strlen(value) + 1;
  }
  return NULL;
}

static int values_equal(const struct option_program *program, const char *name, const char *a, const char *b)
{
  if (a && b && strcmp(a, b) == 0) return 1;
  for (size_t i = 0; i < program->n_options; i++)
    if (strncmp(name, "--", 2) == 0 && strcmp(program->options[i].name, name + 2) == 0)
      return option_same(program, &program->options[i], a, b);
  return 0;
}

static const char *shown(const char *value)
{
  return !value ? "not given" : value[0] ? value : "given";
}

/** One part of the settings of rank 0 and of another rank, and the message about differences. */
struct comparison {
  const struct option_program *program;
  const char *at, *end, *other_at, *other_end;
  const char *host, *other_host;
  int asked; /**< 0: program and build, 1: options and variables */
  int rank;  /**< number of the other rank */
  int n;     /**< number of differences so far */
  char text[TEXT_MAX];
};

/* Adds \a name to the message if its values differ: the first difference with both values, further
 * ones only by name. For program and build, only the first difference is reported, because it
 * causes the others. */
static void same_compare(struct comparison *c, const char *name, const char *mine, const char *other)
{
  const size_t used = strlen(c->text);
  if (values_equal(c->program, name, mine, other) || (c->n > 0 && !c->asked)) return;
  if (c->n++ > 0)
    snprintf(c->text + used, sizeof c->text - used, c->n == 2 ? "; so does %s" : ", %s", name);
  else
    snprintf(c->text, sizeof c->text,
             "%s differs between ranks: %s for rank 0 on host %s, %s for rank %d on host %s", name,
             shown(mine), c->host, shown(other), c->rank, c->other_host);
}

static void compare_all(struct comparison *c)
{
  const char *next, *value;
  for (const char *name = c->at; name < c->end; name = next) {
    value = name + strlen(name) + 1;
    next = value + strlen(value) + 1;
    same_compare(c, name, value, same_value(c->other_at, c->other_end, name));
  }
  for (const char *name = c->other_at; name < c->other_end; name = next) {
    value = name + strlen(name) + 1;
    next = value + strlen(value) + 1;
    if (!same_value(c->at, c->end, name)) same_compare(c, name, NULL, value);
  }
}

/* The header that a rank sends before the text of its settings. */
struct header {
  uint64_t bytes, asked;
  char host[HOST_MAX];
};

/* Compares one part of rank 0's settings with that of \a rank. Returns 1 if they differ. */
static int same_differs(const struct same_start *start, const struct settings *mine, int asked, int rank,
                        const struct header *other, const char *text)
{
  char host[HOST_MAX];
  struct comparison c = {.program = start->program,
                         .at = mine->at + (asked ? mine->asked : 0),
                         .end = mine->at + (asked ? mine->bytes : mine->asked),
                         .other_at = text + (asked ? other->asked : 0),
                         .other_end = text + (asked ? other->bytes : other->asked),
                         .asked = asked,
                         .host = host,
                         .other_host = other->host,
                         .rank = rank};
  meta_host(host, sizeof host);
  compare_all(&c);
  if (c.n > 0) log_fail(STATUS_USAGE, "%s", c.text);
  return c.n > 0;
}

/* Compares the settings of \a rank with those of rank 0. Returns STATUS_USAGE if they differ. Sets
 * *done to 1 on all ranks with the same settings as \a rank. */
static status_t compare_with(const struct same_start *start, const struct settings *mine, int asked, int rank,
                             int *done)
{
  struct header other = {.bytes = mine->bytes, .asked = mine->asked};
  int own, unequal = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  meta_host(other.host, sizeof other.host);
  RETURN_IF_FAILED(watch_bcast(MPI_COMM_WORLD, &other, (int)sizeof other, MPI_BYTE, rank, WHAT));
  char *text = own == rank ? mine->at : malloc(other.bytes);
  if (!text) return log_fail(STATUS_ENVIRONMENT, "out of host memory for " WHAT);
  status_t status = watch_bcast(MPI_COMM_WORLD, text, (int)other.bytes, MPI_BYTE, rank, WHAT);
  if (status == STATUS_OK) {
    *done |= other.bytes == mine->bytes && memcmp(text, mine->at, mine->bytes) == 0;
    unequal = own == 0 && same_differs(start, mine, asked, rank, &other, text);
    status = watch_bcast(MPI_COMM_WORLD, &unequal, 1, MPI_INT, 0, WHAT);
  }
  if (own != rank) free(text);
  return status == STATUS_OK && unequal ? STATUS_USAGE : status;
}

/* Compares all ranks with rank 0. Different spellings of an option's value count as equal. */
static status_t compare_ranks(const struct same_start *start, const struct settings *mine, int asked,
                              uint64_t hash)
{
  uint64_t first = hash;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  RETURN_IF_FAILED(watch_bcast(MPI_COMM_WORLD, &first, 1, MPI_UINT64_T, 0, WHAT));
  for (int done = hash == first;;) {
    int left = done ? ranks : rank, next;
    RETURN_IF_FAILED(watch_allreduce(MPI_COMM_WORLD, &left, &next, 1, MPI_INT, MPI_MIN, WHAT));
    if (next == ranks) return STATUS_OK;
    RETURN_IF_FAILED(compare_with(start, mine, asked, next, &done));
  }
}

static status_t settings_compare(const struct same_start *start, const struct settings *mine)
{
  const uint64_t build = hash(mine->at, mine->at + mine->asked),
                 asked = hash(mine->at + mine->asked, mine->at + mine->bytes);
  struct digest all, own = {build, ~build, asked, ~asked, start->parsed != STATUS_OK};
  RETURN_IF_FAILED(watch_allreduce(MPI_COMM_WORLD, &own, &all, 5, MPI_UINT64_T, MPI_MAX, WHAT));
  if (all.build != ~all.no_build) {
    log_drop(); /* the held error may concern another program's options */
    return compare_ranks(start, mine, 0, build);
  }
  if (all.unparsed || all.asked == ~all.no_asked) return STATUS_OK;
  return compare_ranks(start, mine, 1, asked);
}

status_t same_check(const struct same_start *start)
{
  struct settings mine;
  RETURN_IF_FAILED(settings_make(start, &mine));
  status_t status = settings_compare(start, &mine);
  free(mine.at);
  return status;
}
