/* SPDX-License-Identifier: MIT */
#include "comm/halo/route.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/switches.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"

SWITCH("HIMENO_HALO_CORRUPT", TEST, OWN, PAIR("RANK:NUMBER, as 1:2 is"),
       "flips a bit of what that rank receives in that exchange of halos");

/* The messages that one transport carries. */
struct route_part {
  /* transport of these messages; NULL if the part is not open */
  const struct halo_transport *transport;
  struct halo_plan plan;
  struct halo_exchange *exchange;
};

struct halo_route {
  struct halo_context context;
  struct halo_plan plan;
  struct halo_reach reach[HALO_MESSAGES_MAX];
  /* main: messages of the requested transport; rest: messages that `staged` carries instead */
  struct route_part main, rest;
  struct gpu_event *both; /* recorded after the halos of main and of rest have arrived */
  struct gpu_queue *join;
  int unattended; /* 1: the exchanges of all ranks only enqueue work */
  struct gpu_event *idle;
  status_t (*finish)(struct halo_route *route, struct gpu_event **arrived);
  struct {
    long left;            /* number of exchanges until the one to corrupt */
    struct gpu_mem field; /* field of the current exchange */
    /* the fault that HIMENO_HALO_CORRUPT plants; `fault` is NULL in normal runs */
  } planted, *fault;
};

static int has_rest(const struct halo_route *route)
{
  return route->rest.plan.n > 0;
}

/* Finishes main and rest. Sets *arrived to one event after which all halos are valid. */
static status_t route_finish(struct halo_route *route, struct gpu_event **arrived)
{
  struct gpu_event *rest;
  *arrived = NULL;
  RETURN_IF_FAILED(route->main.transport->finish(route->main.exchange, arrived));
  if (!has_rest(route)) return STATUS_OK;
  RETURN_IF_FAILED(route->rest.transport->finish(route->rest.exchange, &rest));
  if (!*arrived) {
    *arrived = rest;
    return STATUS_OK;
  }
  RETURN_IF_FAILED(gpu_wait(route->join, *arrived));
  RETURN_IF_FAILED(gpu_wait(route->join, rest));
  RETURN_IF_FAILED(gpu_record(route->both, route->join));
  *arrived = route->both;
  return STATUS_OK;
}

static status_t route_corrupt(struct halo_route *route, struct gpu_event *arrived)
{
  const struct layout *layout = route->context.layout;
  const struct box *box = &route->plan.messages[0].recv;
  size_t at = (size_t)(box->lo[0] * layout->plane + box->lo[1] * layout->pitch + box->lo[2]) * sizeof(float);
  struct gpu_queue *queue = route->context.compute;
  uint32_t bits;
  if (arrived) RETURN_IF_FAILED(gpu_wait(queue, arrived));
  RETURN_IF_FAILED(gpu_read(queue, &bits, route->fault->field, at, sizeof bits));
  bits ^= 1u << 20;
  RETURN_IF_FAILED(gpu_copy_in(queue, route->fault->field, at, &bits, sizeof bits));
  return gpu_sync(queue);
}

static status_t corrupt_finish(struct halo_route *route, struct gpu_event **arrived)
{
  RETURN_IF_FAILED(route_finish(route, arrived));
  return --route->fault->left == 0 ? route_corrupt(route, *arrived) : STATUS_OK;
}

static void rest_plan(struct halo_route *route)
{
  struct halo_plan *rest = &route->rest.plan;
  *rest = (struct halo_plan){.depth = route->plan.depth};
  for (int m = 0; m < route->plan.n; m++) {
    if (route->reach[m].carried) continue;
    struct halo_message *message = &rest->messages[rest->n++];
    *message = route->plan.messages[m];
    message->send_offset = rest->floats;
    message->recv_offset = rest->recv_floats;
    rest->floats += message->count;
    rest->recv_floats += message->recv_count;
  }
}

static status_t route_part_open(struct halo_route *route, const struct halo_transport *transport,
                                struct route_part *part, struct halo_reach reach[HALO_MESSAGES_MAX])
{
  struct halo_context context = route->context;
  context.plan = &part->plan;
  RETURN_IF_FAILED(transport->setup(&context, reach, &part->exchange));
  part->transport = transport;
  return STATUS_OK;
}

/* Opens `staged` for the messages in rest. Collective, including ranks without such messages. */
static status_t rest_open(struct halo_route *route)
{
  struct halo_reach reach[HALO_MESSAGES_MAX];
  int any;
  rest_plan(route);
  RETURN_IF_FAILED(watch_allreduce(route->context.comm, &route->rest.plan.n, &any, 1, MPI_INT, MPI_MAX,
                                   "agreement on the halos' route"));
  if (any == 0) return STATUS_OK;
  RETURN_IF_FAILED(route_part_open(route, &halo_transport_staged, &route->rest, reach));
  status_t status = gpu_event_create(route->context.device, &route->both);
  if (status == STATUS_OK) status = gpu_queue_create(route->context.device, GPU_URGENT, &route->join);
  return agree_status(route->context.comm, status);
}

/* For tests, HIMENO_HALO_CORRUPT=R:N flips one bit of the data that rank R receives in its Nth
 * exchange. No check of the transport can notice it. */
static void fault_plan(struct halo_route *route)
{
  long long corrupt[2];
  int rank;
  MPI_Comm_rank(route->context.comm, &rank);
  route->finish = route_finish;
  if (!switch_pair("HIMENO_HALO_CORRUPT", corrupt) || corrupt[0] != rank) return;
  route->finish = corrupt_finish;
  route->fault = &route->planted;
  route->fault->left = (long)corrupt[1];
}

/* Sets route->unattended to 1 only if it can be 1 on all ranks. Otherwise all ranks must take part
 * in the collectives of every pass. */
static status_t unattended_agree(struct halo_route *route)
{
  int mine = route->main.transport->unattended && !route->rest.transport && !route->fault;
  return watch_allreduce(route->context.comm, &mine, &route->unattended, 1, MPI_INT, MPI_MIN,
                         "agreement on the halos' route");
}

status_t halo_route_open(const struct halo_transport *transport, const struct halo_context *context,
                         struct halo_route **opened)
{
  status_t status;
  struct halo_route *route = calloc(1, sizeof *route);
  TRY(agree_status(context->comm,
                   route ? STATUS_OK
                         : log_fail(STATUS_ENVIRONMENT, "out of host memory for the halos' route")),
      fail);
  route->context = *context;
  route->plan = route->main.plan = *context->plan;
  fault_plan(route);
  for (int m = 0; m < HALO_MESSAGES_MAX; m++) route->reach[m].carried = 1;
  TRY(route_part_open(route, transport, &route->main, route->reach), fail);
  TRY(rest_open(route), fail);
  TRY(agree_status(context->comm, gpu_event_create(context->device, &route->idle)), fail);
  TRY(unattended_agree(route), fail);
  *opened = route;
  return STATUS_OK;
fail:
  halo_route_close(route);
  return status;
}

static void part_close(struct route_part *part)
{
  if (part->transport) part->transport->teardown(part->exchange);
}

void halo_route_close(struct halo_route *route)
{
  if (!route) return;
  part_close(&route->rest);
  part_close(&route->main);
  gpu_queue_destroy(route->join);
  gpu_event_destroy(route->both);
  gpu_event_destroy(route->idle);
  free(route);
}

status_t halo_route_pass(struct halo_route *route, struct gpu_mem from, struct gpu_mem field,
                         struct gpu_event *computed)
{
  if (route->fault) route->fault->field = field;
  RETURN_IF_FAILED(route->main.transport->start(route->main.exchange, from, field, computed));
  if (!has_rest(route)) return STATUS_OK;
  return route->rest.transport->start(route->rest.exchange, from, field, computed);
}

status_t halo_route_start(struct halo_route *route, struct gpu_mem field, struct gpu_event *computed)
{
  return halo_route_pass(route, field, field, computed);
}

status_t halo_route_progress(struct halo_route *route)
{
  if (route->main.transport->progress)
    RETURN_IF_FAILED(route->main.transport->progress(route->main.exchange));
  return has_rest(route) ? route->rest.transport->progress(route->rest.exchange) : STATUS_OK;
}

status_t halo_route_finish(struct halo_route *route, struct gpu_event **arrived)
{
  return route->finish(route, arrived);
}

static void route_describe(const void *of, struct watch_targets *targets)
{
  const struct halo_route *route = of;
  if (route->main.transport->describe) route->main.transport->describe(route->main.exchange, targets);
}

static status_t route_check(struct halo_route *route, struct watch_wait *wait)
{
  if (!route->main.transport->hung || !route->main.transport->hung(route->main.exchange)) return STATUS_OK;
  return watch_expired(wait);
}

status_t halo_route_await(struct halo_route *route, struct gpu_event *event)
{
  struct watch_wait wait;
  int ready = 0;
  watch_begin(&wait, route->context.comm, NULL, route_describe, route);
  for (;;) {
    RETURN_IF_FAILED(route_check(route, &wait));
    RETURN_IF_FAILED(gpu_ready(event, &ready));
    if (ready) return route_check(route, &wait);
    RETURN_IF_FAILED(watch_serve(&wait));
    sched_yield();
  }
}

status_t halo_route_wait(struct halo_route *route, struct gpu_queue *queue)
{
  RETURN_IF_FAILED(gpu_record(route->idle, queue));
  return halo_route_await(route, route->idle);
}

status_t halo_route_times(struct halo_route *route, struct halo_times *times)
{
  struct halo_times rest = {.exchanges = 0};
  RETURN_IF_FAILED(route->main.transport->times(route->main.exchange, times));
  if (!has_rest(route)) return STATUS_OK;
  RETURN_IF_FAILED(route->rest.transport->times(route->rest.exchange, &rest));
  for (int p = 0; p < HALO_PHASES; p++) times->seconds[p] += rest.seconds[p];
  for (int s = 0; s < HALO_STAGES; s++) times->stages[s] += rest.stages[s];
  return STATUS_OK;
}

int halo_route_unattended(const struct halo_route *route)
{
  return route->unattended;
}

status_t halo_route_lap(struct halo_route *route)
{
  return route->main.transport->lap(route->main.exchange);
}

int halo_route_linked(const struct halo_route *route)
{
  return route->unattended && route->main.transport->link;
}

const struct halo_link *halo_route_link(const struct halo_route *route, uint64_t *step)
{
  return route->main.transport->link(route->main.exchange, step);
}

status_t halo_route_settle(struct halo_route *route)
{
  return route->main.transport->settle(route->main.exchange);
}

void halo_route_path(const struct halo_route *route, int m, struct halo_path *path)
{
  const struct halo_reach *reach = &route->reach[m];
  const struct route_part *part = reach->carried ? &route->main : &route->rest;
  const char *why = "";
  int at = 0;
  for (int e = 0; e < m; e++) at += route->reach[e].carried == reach->carried;
  *path = (struct halo_path){.used = part->transport, .handover = ""};
  snprintf(path->why, sizeof path->why, "%s", reach->carried ? "" : reach->why);
  if (part->transport->handover) path->handover = part->transport->handover(part->exchange, at, &why);
  snprintf(path->handover_why, sizeof path->handover_why, "%s", why);
}
