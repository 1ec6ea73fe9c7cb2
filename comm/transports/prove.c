/* SPDX-License-Identifier: MIT */
#include "comm/transports/prove.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/cards.h"
#include "comm/ranks/guard.h"
#include "comm/transports/linked.h"
#include "comm/transports/neighbours.h"
#include "gpu/host.h"

#define WORDS     65536 /* number of 32-bit words that are sent */
#define LIMIT     3.0   /* seconds that a kernel waits for a flag */
#define STAGE_TAG 192
#define PCI_TAG   224

const char *const peer_rung_names[PEER_RUNGS + 1] = {"open", "store", "put", "get", "flags", "proven"};

/* A test of two ranks. Each field has one row: the data to send, then the data that arrives. */
struct proof {
  struct halo_context context;
  struct layout layout;
  struct halo_plan plan;
  uint32_t words[2][WORDS]; /* [0]: words to send; [1]: words that arrived */
  size_t arrival;           /* offset of the arriving data in the row, bytes */
  struct linked_exchange *x;
  struct halo_reach reach[HALO_MESSAGES_MAX];
  int rank; /* 0 or 1 */
  uint32_t version;
};

static uint32_t proof_word(const struct proof *p, int rank, uint32_t w)
{
  return (uint32_t)hash_mix((uint64_t)p->version << 32 | (uint64_t)rank << 24 | w);
}

static status_t content_put(struct proof *p)
{
  p->version++;
  for (uint32_t w = 0; w < WORDS; w++) p->words[0][w] = proof_word(p, p->rank, w);
  RETURN_IF_FAILED(gpu_copy_in(p->context.compute, p->context.fields[0], 0, p->words[0], sizeof p->words[0]));
  return gpu_sync(p->context.compute);
}

static status_t content_check(struct proof *p, int field)
{
  char why[GPU_TEXT_MAX];
  uint32_t w = 0;
  RETURN_IF_FAILED(
      gpu_read(p->context.compute, p->words[1], p->context.fields[field], p->arrival, sizeof p->words[1]));
  while (w < WORDS && p->words[1][w] == proof_word(p, 1 - p->rank, w)) w++;
  snprintf(why, sizeof why, "of 256 KiB the word at byte %u arrived changed", 4 * w);
  if (w < WORDS) neighbours_refuse(&p->reach[0], why);
  return STATUS_OK;
}

/* ---- rungs: both ranks act, then each checks what arrived ---- */

static status_t rung_open(struct proof *p)
{
  struct halo_offer offer = {.target = {p->context.fields[0], p->context.fields[1]},
                             .plane = p->layout.plane,
                             .pitch = p->layout.pitch,
                             .first = {p->plan.messages[0].recv.lo[2]}};
  struct halo_exchange *x;
  RETURN_IF_FAILED(linked_setup(&p->context, &offer, p->reach, &x));
  p->x = (struct linked_exchange *)x;
  p->x->link.timeout_ns = (uint64_t)(LIMIT * 1e9);
  return STATUS_OK;
}

/* Performs one step (rung) of the test. A kernel that waits for a flag stops at LIMIT by the
 * device's clock; if the host waits instead, it has the same limit. */
static status_t rung_act(struct proof *p, enum peer_rung rung)
{
  struct linked_exchange *x = p->x;
  struct gpu_queue *queue = p->context.compute;
  struct gpu_mem *fields = p->context.fields;
  if (rung == PEER_GET) {
    RETURN_IF_FAILED(gpu_copy(queue, fields[1], p->arrival, x->peers[0].target[0], 0, sizeof p->words[0]));
    return gpu_sync(queue);
  }
  if (rung != PEER_STORE) RETURN_IF_FAILED(content_put(p));
  x->step++;
  if (rung == PEER_STORE)
    RETURN_IF_FAILED(x->link_ops->raise(queue, &x->link, x->step));
  else if (rung == PEER_PUT)
    RETURN_IF_FAILED(linked_copy(x, queue, fields[0], fields[0]));
  else if (x->link_ops->exchange)
    RETURN_IF_FAILED(x->link_ops->exchange(queue, &x->link, fields[0], 0, x->step));
  else
    RETURN_IF_FAILED(x->link_ops->push(queue, &x->link, fields[0], 0, x->step));
  const double end = stats_now() + LIMIT;
  for (; rung == PEER_FLAGS && !x->link_ops->await && !x->plea->hung && !linked_has_come(x, 0); sched_yield())
    x->plea->hung = stats_now() > end;
  return gpu_sync(queue);
}

static status_t rung_check(struct proof *p, enum peer_rung rung)
{
  uint64_t flag;
  const size_t at = offsetof(struct halo_mailbox, flag) +
                    (size_t)p->plan.messages[0].recv_tag * HALO_FLAG_WORDS * sizeof flag;
  if (rung == PEER_STORE) {
    RETURN_IF_FAILED(gpu_read(p->context.compute, &flag, p->x->mailbox, at, sizeof flag));
    if (flag != HALO_FLAG_UNIT) neighbours_refuse(&p->reach[0], "a kernel's store did not arrive");
    return STATUS_OK;
  }
  if (p->x->plea->hung) neighbours_refuse(&p->reach[0], "a kernel waited 3 s for the other's flag");
  p->x->plea->hung = 0;
  return content_check(p, rung == PEER_GET);
}

static status_t rungs_climb(struct proof *p, int *rung)
{
  RETURN_IF_FAILED(rung_open(p));
  for (*rung = PEER_OPEN; p->reach[0].carried && ++*rung < PEER_RUNGS;) {
    RETURN_IF_FAILED(agree_status(p->context.comm, rung_act(p, (enum peer_rung) * rung)));
    RETURN_IF_FAILED(agree_status(p->context.comm, rung_check(p, (enum peer_rung) * rung)));
    RETURN_IF_FAILED(neighbours_agree(&p->context, p->reach));
  }
  return STATUS_OK;
}

/* Control test: sends the same data through the host, and fails if it arrives changed. */
static status_t stage(struct proof *p)
{
  struct gpu_queue *queue = p->context.compute;
  RETURN_IF_FAILED(gpu_read(queue, p->words[0], p->context.fields[0], 0, sizeof p->words[0]));
  RETURN_IF_FAILED(neighbours_swap(&p->context, STAGE_TAG, p->words[0], p->words[1], sizeof p->words[0]));
  RETURN_IF_FAILED(gpu_copy_in(queue, p->context.fields[0], p->arrival, p->words[1], sizeof p->words[1]));
  RETURN_IF_FAILED(content_check(p, 0));
  return p->reach[0].carried ? STATUS_OK : log_fail(STATUS_WRONG, "through the host, %s", p->reach[0].why);
}

/* Finds the nearest of the bridges above the device \a pci that redirect peer-to-peer requests to
 * an IOMMU. Returns 0 if none does. Bit 2 of the control word of Access Control Services
 * (capability 13) shows a redirection. Only root can read that word; other users get 0. */
static int acs_redirects(const char *pci, char bridge[16])
{
  char path[512], place[4096 + 16];
  unsigned char config[4096];
  snprintf(path, sizeof path, "%s/bus/pci/devices/%s", host_sysfs(), pci);
  if (!pci[0] || !realpath(path, place)) return 0;
  for (char *end; (end = strrchr(place, '/')) && strncmp(end, "/pci", 4) != 0;) {
    strcpy(end, "/config");
    FILE *file = fopen(place, "rb");
    *end = '\0';
    const size_t n = file ? fread(config, 1, sizeof config, file) : 0;
    if (file) fclose(file);
    for (size_t at = 0x100, last = 0; at > last && at + 8 <= n;
         last = at, at = (size_t)(config[at + 2] >> 4 | config[at + 3] << 4))
      if ((config[at] | config[at + 1] << 8) == 13 && config[at + 6] & 4)
        return snprintf(bridge, 16, "%.15s", strrchr(place, '/') + 1) > 0;
  }
  return 0;
}

static status_t reason_write(const struct proof *p, struct peer_proof *proof)
{
  const struct gpu_device_info *info = &p->context.device->info;
  char path[512], iommu[32], bridge[16], other[sizeof info->pci];
  RETURN_IF_FAILED(neighbours_swap(&p->context, PCI_TAG, info->pci, other, sizeof other));
  snprintf(path, sizeof path, "%s/bus/pci/devices/%s/iommu_group/type", host_sysfs(), info->pci);
  if (!host_read_line(path, iommu, sizeof iommu)) snprintf(iommu, sizeof iommu, "none");
  if (!acs_redirects(info->pci, bridge) && !acs_redirects(other, bridge))
    snprintf(bridge, sizeof bridge, "-");
  snprintf(proof->why, sizeof proof->why,
           "%.110s (shared: %s; IOMMU: %s; ACS redirects at: %s; driver %.60s)", p->reach[0].why,
           cards_near_names[cards_near(info->pci, other)], iommu, bridge, info->driver);
  return STATUS_OK;
}

static status_t proof_open(struct proof *p)
{
  struct halo_context *c = &p->context;
  halo_plan_pair(&p->plan, &p->layout, p->rank, WORDS, 0);
  p->arrival = (size_t)p->plan.messages[0].recv.lo[2] * sizeof(float);
  p->reach[0].carried = 1;
  c->layout = &p->layout;
  c->plan = &p->plan;
  RETURN_IF_FAILED(gpu_queue_create(c->device, GPU_NORMAL, &c->compute));
  for (int f = 0; f < 2; f++) {
    RETURN_IF_FAILED(gpu_alloc_shared(c->device, 2 * p->arrival, &c->fields[f]));
    RETURN_IF_FAILED(gpu_clear(c->compute, c->fields[f], 0, c->fields[f].bytes));
  }
  return content_put(p);
}

static status_t pair_prove(MPI_Comm pair, struct gpu_device *device, struct peer_proof *proof)
{
  struct proof *p = calloc(1, sizeof *p);
  status_t status = p ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a proof of peers");
  RETURN_IF_FAILED(agree_status(pair, status));
  p->context = (struct halo_context){.comm = pair, .device = device};
  MPI_Comm_rank(pair, &p->rank);
  TRY(agree_status(pair, proof_open(p)), end);
  TRY(agree_status(pair, stage(p)), end);
  TRY(rungs_climb(p, &proof->rung), end);
  if (proof->rung < PEER_RUNGS) status = reason_write(p, proof);
end:
  if (p->x) linked_teardown((struct halo_exchange *)p->x);
  for (int f = 0; f < 2; f++) gpu_free(device, &p->context.fields[f]);
  gpu_queue_destroy(p->context.compute);
  free(p);
  return status;
}

/* Ranks r and s are partners if r + s = \a round modulo n − 1, where an odd n counts as n + 1. A
 * rank with r = s meets the last rank, or none if n is odd. */
void peers_round(int *partner, int n, int round)
{
  int even = n + n % 2, odd = even - 1;
  for (int r = 0; r < n; r++) partner[r] = -1;
  for (int r = 0; r < odd; r++) {
    int s = (round - r % odd + 2 * odd) % odd;
    if (s == r) s = even - 1;
    if (s < n && r < n) partner[r] = s, partner[s] = r;
  }
}

/* Results of the last peers_prove, for this rank and each other rank of its host. */
static struct {
  MPI_Group all;
  int n;
  struct peer_proof *proofs;
} proven;

const char *peers_refused(MPI_Comm comm, int peer)
{
  MPI_Group group;
  int rank = -1;
  if (!proven.proofs) return NULL;
  MPI_Comm_group(comm, &group);
  MPI_Group_translate_ranks(group, 1, &peer, proven.all, &rank);
  MPI_Group_free(&group);
  for (const struct peer_proof *p = proven.proofs; p < proven.proofs + proven.n; p++)
    if (p->peer == rank && p->rung > PEER_OPEN && p->rung < PEER_RUNGS) return p->why;
  return NULL;
}

/* Tests all pairs of this host's ranks, at the same time as other hosts. Fills mine[r] for each
 * other rank r of the host. */
static status_t host_prove(const struct placement *placement, struct gpu_device *device, MPI_Comm host,
                           struct peer_proof *mine)
{
  const int place = placement->host_rank, n = placement->host_ranks;
  MPI_Group group;
  int partner[n + 1];
  MPI_Comm_group(host, &group);
  for (int round = 0; round < n + n % 2 - 1; round++) {
    MPI_Comm pair;
    status_t status = STATUS_OK;
    peers_round(partner, n, round);
    const int with = partner[place], low = with < place ? with : place;
    RETURN_IF_FAILED(guard_mpi(host, MPI_Comm_split(host, with < 0 ? MPI_UNDEFINED : low, place, &pair),
                               "MPI_Comm_split"));
    if (with >= 0) {
      struct peer_proof *proof = &mine[with];
      MPI_Group_translate_ranks(group, 1, &with, proven.all, &proof->peer);
      MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
      status = pair_prove(pair, device, proof);
      MPI_Comm_free(&pair);
      if (status == STATUS_OK && proof->rung < PEER_RUNGS && with > place)
        log_warn("peer access of ranks %d and %d failed, step %s: %s", placement->rank, proof->peer,
                 peer_rung_names[proof->rung], proof->why);
    }
    RETURN_IF_FAILED(agree_status(host, status));
  }
  MPI_Group_free(&group);
  return STATUS_OK;
}

status_t peers_prove(const struct placement *placement, struct gpu_device *device,
                     const struct peer_proof **proofs, int *most)
{
  MPI_Comm host, comm = placement->comm;
  char reason[GPU_TEXT_MAX];
  if (!linked_available(placement->backend, reason)) return log_fail(STATUS_ENVIRONMENT, "peers: %s", reason);
  RETURN_IF_FAILED(
      watch_allreduce(comm, &placement->host_ranks, most, 1, MPI_INT, MPI_MAX, "ranks per host"));
  const size_t bytes = (size_t)*most * sizeof **proofs;
  struct peer_proof *mine = calloc((size_t)placement->ranks + 1, bytes);
  status_t status = mine ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for proofs of peers");
  RETURN_IF_FAILED(agree_status(comm, status));
  for (int i = 0; i < *most; i++) mine[i].peer = -1;
  MPI_Comm_group(comm, &proven.all);
  RETURN_IF_FAILED(
      guard_mpi(comm, MPI_Comm_split(comm, placement->host_first, placement->rank, &host), "MPI_Comm_split"));
  MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN);
  status = host_prove(placement, device, host, mine);
  MPI_Comm_free(&host);
  RETURN_IF_FAILED(agree_status(comm, status));
  RETURN_IF_FAILED(watch_allgather(comm, mine, mine + *most, bytes, "proofs of peers"));
  proven.n = *most;
  proven.proofs = mine;
  *proofs = mine + *most;
  return STATUS_OK;
}
