/* SPDX-License-Identifier: MIT */
#include "comm/halo/chunks.h"

#include <stdlib.h>

#include "base/log.h"

static const struct box *chunk_box(const struct halo_message *message, int receive)
{
  return receive ? &message->recv : &message->send;
}

static int64_t less_of(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* Returns the number of floats in the chunk that begins at float \a at of a box. */
static int64_t chunk_floats(const struct box *box, int64_t at, int64_t most)
{
  int64_t row = box_extent(box, 2), layer = row * box_extent(box, 1), all = box_points(box);
  if (most == 0) return all - at;
  if (layer <= most) return less_of(most / layer * layer, all - at);
  if (row <= most) return less_of(most / row * row, layer - at % layer);
  return less_of(most, row - at % row);
}

static int64_t chunks_count(const struct halo_plan *plan, int receive, const struct halo_cutting *cutting)
{
  int64_t n = 0;
  for (int m = 0; m < plan->n; m++) {
    const struct box *box = chunk_box(&plan->messages[m], receive);
    for (int64_t at = 0, all = box_points(box); at < all; n++) at += chunk_floats(box, at, cutting[m].most);
  }
  return n;
}

/* Appends a chunk. The chunk joins the last piece if it directly follows that piece in the buffer,
 * `alone` is 0 for both messages, and the piece then has at most `most` floats (0: no limit).
 * Otherwise the chunk begins a new piece. */
static void chunk_add(struct halo_chunks *chunks, int message, int64_t begin, int64_t count,
                      const struct halo_cutting *cutting)
{
  int64_t most = cutting[message].most;
  struct halo_piece *last = chunks->pieces > 0 ? &chunks->piece[chunks->pieces - 1] : NULL;
  if (last && (cutting[message].alone || cutting[chunks->chunk[last->first].message].alone)) last = NULL;
  if (!last || last->begin + last->count != begin || (most > 0 && last->count + count > most)) {
    last = &chunks->piece[chunks->pieces++];
    *last = (struct halo_piece){.begin = begin, .first = chunks->n};
  }
  last->count += count;
  last->chunks++;
  chunks->chunk[chunks->n++] = (struct halo_chunk){message, chunks->pieces - 1, begin, count};
}

static void message_cut(struct halo_chunks *chunks, const struct halo_plan *plan, int m, int receive,
                        const struct halo_cutting *cutting)
{
  const struct halo_message *message = &plan->messages[m];
  const struct box *box = chunk_box(message, receive);
  int64_t begin = receive ? message->recv_offset : message->send_offset;
  for (int64_t at = 0, count, all = box_points(box); at < all; at += count) {
    count = chunk_floats(box, at, cutting[m].most);
    chunk_add(chunks, m, begin + at, count, cutting);
  }
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
  for (int alone = 1; alone >= 0; alone--)
    for (int m = 0; m < plan->n; m++)
      if (!cutting[m].alone == !alone) message_cut(&c, plan, m, receive, cutting);
  *chunks = c;
  return STATUS_OK;
}

struct gpu_rows halo_rows(const struct layout *l, const struct box *box, int64_t begin, int64_t count)
{
  int64_t row = box_extent(box, 2), nj = box_extent(box, 1), first = begin / row;
  int64_t rows = count < row ? 1 : count / row, layers = rows > nj ? rows / nj : 1;
  int64_t at = (box->lo[0] + first / nj) * l->plane + (box->lo[1] + first % nj) * l->pitch + box->lo[2];
  return (struct gpu_rows){.offset = (size_t)(at + begin % row) * sizeof(float),
                           .width = (size_t)(count / rows) * sizeof(float),
                           .rows = (size_t)(rows / layers),
                           .pitch = (size_t)l->pitch * sizeof(float),
                           .layers = (size_t)layers,
                           .slice = (size_t)l->plane * sizeof(float)};
}

void halo_chunks_free(struct halo_chunks *chunks)
{
  free(chunks->chunk);
  free(chunks->piece);
  *chunks = (struct halo_chunks){.n = 0};
}
