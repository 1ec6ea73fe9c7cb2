/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "comm/halo/chunks.h"

#include <stdlib.h>

#include "base/log.h"

static int64_t count_of(const struct halo_message *message, int receive)
{
  return receive ? message->recv_count : message->count;
}

static int64_t chunks_count(const struct halo_plan *plan, int receive, const struct halo_cutting *cutting)
{
  int64_t n = 0;
  for (int m = 0; m < plan->n; m++) {
    int64_t count = count_of(&plan->messages[m], receive), most = cutting[m].most;
    n += most > 0 ? (count + most - 1) / most : count > 0;
  }
  return n;
}

/* Small chunks share a piece while they fit. */
static void chunk_add(struct halo_chunks *chunks, int message, int64_t begin, int64_t count,
                      const struct halo_cutting *cutting)
{
  int64_t most = cutting[message].most;
  struct halo_piece *last = chunks->pieces > 0 ? &chunks->piece[chunks->pieces - 1] : NULL;
  if (last && (cutting[message].alone || cutting[chunks->chunk[chunks->n - 1].message].alone)) last = NULL;
  if (!last || (most > 0 && last->count + count > most)) {
    last = &chunks->piece[chunks->pieces++];
    *last = (struct halo_piece){.begin = begin};
  }
  last->count += count;
  last->chunks++;
  chunks->chunk[chunks->n++] = (struct halo_chunk){message, chunks->pieces - 1, begin, count};
}

status_t halo_chunks_create(struct halo_chunks *chunks, const struct halo_plan *plan, int receive,
                            const struct halo_cutting cutting[HALO_MESSAGES_MAX])
{
  int64_t all = chunks_count(plan, receive, cutting);
  struct halo_chunks c = {.n = 0};
  c.chunk = calloc((size_t)all + 1, sizeof *c.chunk);
  c.piece = calloc((size_t)all + 1, sizeof *c.piece);
  if (!c.chunk || !c.piece) {
    halo_chunks_free(&c);
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the chunks of halos");
  }
  for (int m = 0; m < plan->n; m++) {
    const struct halo_message *message = &plan->messages[m];
    int64_t begin = receive ? message->recv_offset : message->send_offset, left = count_of(message, receive);
    int64_t most = cutting[m].most;
    while (left > 0) {
      int64_t count = most > 0 && left > most ? most : left;
      chunk_add(&c, m, begin, count, cutting);
      begin += count;
      left -= count;
    }
  }
  *chunks = c;
  return STATUS_OK;
}

void halo_chunks_free(struct halo_chunks *chunks)
{
  free(chunks->chunk);
  free(chunks->piece);
  *chunks = (struct halo_chunks){.n = 0};
}
