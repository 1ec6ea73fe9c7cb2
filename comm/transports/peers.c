/* SPDX-License-Identifier: MIT */
#include "comm/transports/peers.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/transports/neighbours.h"
#include "comm/transports/prove.h"

/* Offset of the MPI tag of a set-up message from the tag of its halo message. */
#define HELLO_TAG 64

/* The first message between neighbours, which offers this rank's memory. */
struct peers_hello {
  struct gpu_share target[2], mailbox;
  int64_t plane, pitch, first;
};

static int peer_attach(struct gpu_device *device, const struct peers_hello *hello, struct halo_peer *peer,
                       char why[GPU_TEXT_MAX])
{
  *peer = (struct halo_peer){.plane = hello->plane, .pitch = hello->pitch, .first = hello->first};
  snprintf(peer->uuid, sizeof peer->uuid, "%s", hello->mailbox.uuid);
  return gpu_attach(device, &hello->mailbox, &peer->mailbox, why) &&
         gpu_attach(device, &hello->target[0], &peer->target[0], why) &&
         gpu_attach(device, &hello->target[1], &peer->target[1], why);
}

static void peers_attach(const struct halo_context *context, const struct peers_hello *hellos,
                         struct halo_reach reach[HALO_MESSAGES_MAX],
                         struct halo_peer peers[HALO_MESSAGES_MAX])
{
  for (int m = 0; m < context->plan->n; m++) {
    char why[GPU_TEXT_MAX] = "";
    const char *refused = peers_refused(context->comm, context->plan->messages[m].peer);
    if (refused) neighbours_refuse(&reach[m], refused);
    if (reach[m].carried && !peer_attach(context->device, &hellos[m], &peers[m], why))
      neighbours_refuse(&reach[m], why);
  }
}

static status_t peers_hellos_fill(const struct halo_context *context, const struct halo_offer *offer,
                                  struct peers_hello *hellos)
{
  struct peers_hello all = {.plane = offer->plane, .pitch = offer->pitch};
  RETURN_IF_FAILED(gpu_share(context->device, offer->mailbox, &all.mailbox));
  for (int t = 0; t < 2; t++) RETURN_IF_FAILED(gpu_share(context->device, offer->target[t], &all.target[t]));
  for (int m = 0; m < context->plan->n; m++) {
    hellos[m] = all;
    hellos[m].first = offer->first[m];
  }
  return STATUS_OK;
}

static uint64_t mark_of(int rank, int tag)
{
  return hash_mix(((uint64_t)rank << 8 | (uint64_t)tag) + 1);
}

static status_t mail_store(struct gpu_queue *queue, const struct halo_peer *peer, size_t offset,
                           const uint64_t *value)
{
  return gpu_copy_in(queue, peer->mailbox, offset, value, sizeof *value);
}

/* Stores a mark and a zero flag at each neighbour. The flag is set by the rank that will add to it,
 * so that a memory checker, which sees only one process, knows that it is initialised. */
static status_t marks_store(const struct halo_context *context, struct gpu_queue *queue,
                            const struct halo_reach reach[HALO_MESSAGES_MAX],
                            const struct halo_peer peers[HALO_MESSAGES_MAX])
{
  static const uint64_t none = 0;
  int rank;
  uint64_t marks[HALO_MESSAGES_MAX];
  MPI_Comm_rank(context->comm, &rank);
  for (int m = 0; m < context->plan->n; m++) {
    int tag = context->plan->messages[m].send_tag;
    if (!reach[m].carried) continue;
    marks[m] = mark_of(rank, tag);
    size_t flag = offsetof(struct halo_mailbox, flag) + (size_t)tag * HALO_FLAG_WORDS * sizeof none,
           trial = offsetof(struct halo_mailbox, trial) + (size_t)tag * sizeof marks[m];
    RETURN_IF_FAILED(mail_store(queue, &peers[m], flag, &none));
    RETURN_IF_FAILED(mail_store(queue, &peers[m], trial, &marks[m]));
  }
  return gpu_sync(queue);
}

static status_t marks_check(const struct halo_context *context, struct gpu_queue *queue,
                            struct gpu_mem mailbox, struct halo_reach reach[HALO_MESSAGES_MAX])
{
  uint64_t found[HALO_TAGS];
  RETURN_IF_FAILED(gpu_read(queue, found, mailbox, offsetof(struct halo_mailbox, trial), sizeof found));
  for (int m = 0; m < context->plan->n; m++) {
    const struct halo_message *message = &context->plan->messages[m];
    if (found[message->recv_tag] != mark_of(message->peer, message->recv_tag))
      neighbours_refuse(&reach[m], "a trial store did not arrive");
  }
  return STATUS_OK;
}

status_t halo_peers_open(const struct halo_context *context, struct gpu_queue *queue,
                         const struct halo_offer *offer, struct halo_reach reach[HALO_MESSAGES_MAX],
                         struct halo_peer peers[HALO_MESSAGES_MAX])
{
  static struct peers_hello mine[HALO_MESSAGES_MAX], theirs[HALO_MESSAGES_MAX];
  memset(peers, 0, HALO_MESSAGES_MAX * sizeof *peers);
  RETURN_IF_FAILED(agree_status(context->comm, peers_hellos_fill(context, offer, mine)));
  RETURN_IF_FAILED(neighbours_on_host(context, reach));
  RETURN_IF_FAILED(neighbours_swap(context, HELLO_TAG, mine, theirs, sizeof *mine));
  peers_attach(context, theirs, reach, peers);
  RETURN_IF_FAILED(neighbours_agree(context, reach));
  RETURN_IF_FAILED(agree_status(context->comm, marks_store(context, queue, reach, peers)));
  RETURN_IF_FAILED(agree_status(context->comm, marks_check(context, queue, offer->mailbox, reach)));
  return neighbours_agree(context, reach);
}

void halo_peers_close(struct gpu_device *device, struct halo_peer peers[HALO_MESSAGES_MAX])
{
  for (int m = 0; m < HALO_MESSAGES_MAX; m++) {
    gpu_detach(device, &peers[m].target[1]);
    gpu_detach(device, &peers[m].target[0]);
    gpu_detach(device, &peers[m].mailbox);
  }
}
