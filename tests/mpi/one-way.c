/* SPDX-License-Identifier: MIT */
/* Rank 0 sends a halo in each exchange and receives none. Before it receives, rank 1's device has
 * other work, for which its host does not wait. Rank 1 must find the halo of the exchange that it
 * finished, however early rank 0 could send the next. Prints what hands over the halos of `staged`.
 *
 * Usage: mpirun -np 2 one-way BACKEND TRANSPORT [longer|refused-by-0|refused-by-1|reopen|wide]
 * With `longer`, rank 1 expects one point more than rank 0 sends. With `refused-by-R`, rank R's
 * device refuses to lock host memory: rank 0 locks its own, rank 1 its neighbour's.
 * With `reopen`, a route is opened and closed before, and must free what it allocates. With `wide`,
 * rows are just long enough to be copied to the host without packing. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/begin.h"
#include "tests/mpi/pair.h"

#define SECONDS   20.0
#define EXCHANGES 12
#define WORK      ((size_t)64 << 20)
#define WORKS     4

/* Empties the messages from rank 1 to rank 0 on both ranks. */
static void one_way(struct halo_plan *plan, int rank)
{
  for (int m = 0; m < plan->n; m++) {
    struct halo_message *message = &plan->messages[m];
    struct box *empty = rank == 0 ? &message->recv : &message->send;
    empty->hi[0] = empty->lo[0];
    *(rank == 0 ? &message->recv_count : &message->count) = 0;
  }
  *(rank == 0 ? &plan->recv_floats : &plan->floats) = 0;
}

static int lock_refused(struct gpu_device *device, void *host, size_t bytes, char reason[GPU_TEXT_MAX])
{
  (void)device;
  (void)host;
  (void)bytes;
  snprintf(reason, GPU_TEXT_MAX, "no more memory may be locked");
  return 0;
}

static void unlock(struct gpu_device *device, void *host)
{
  (void)device;
  (void)host;
}

static void locks_refuse(struct gpu_device *device)
{
  static struct gpu_backend backend;
  backend = *device->backend;
  backend.pins = (struct gpu_pins){lock_refused, unlock};
  device->backend = &backend;
}

static long allocated; /* blocks that this program's own functions have allocated and not freed */

#define WRAP(result, name, parameters, arguments)                                                            \
  result __real_##name parameters;                                                                           \
  result __wrap_##name parameters;                                                                           \
  result __wrap_##name parameters                                                                            \
  {                                                                                                          \
    allocated++;                                                                                             \
    return __real_##name arguments;                                                                          \
  }
WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t n, size_t bytes), (n, bytes))
WRAP(int, posix_memalign, (void **block, size_t align, size_t bytes), (block, align, bytes))

void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block)
{
  allocated -= block != NULL;
  __real_free(block);
}

static void reopen(const struct halo_transport *transport, const struct halo_context *context)
{
  const long before = allocated;
  struct halo_route *route;
  give_up(halo_route_open(transport, context, &route));
  halo_route_close(route);
  if (allocated != before)
    give_up(log_fail(STATUS_WRONG, "a closed route has left %ld blocks", allocated - before));
}

static size_t first_of(const struct layout *layout, const struct box *box)
{
  return (size_t)(box->lo[0] * layout->plane + box->lo[1] * layout->pitch + box->lo[2]) * sizeof(float);
}

/* Sets each point that rank 0 sends to the number of the exchange. */
static void field_write(const struct halo_context *context, const struct layout *layout, float number)
{
  int64_t floats = layout_floats(layout);
  float *all = malloc((size_t)floats * sizeof *all);
  if (!all) agree_abort(STATUS_ENVIRONMENT);
  for (int64_t n = 0; n < floats; n++) all[n] = number;
  give_up(
      gpu_copy_in(context->compute, context->fields[(int)number % 2], 0, all, (size_t)floats * sizeof *all));
  give_up(gpu_sync(context->compute));
  free(all);
}

/* Enqueues an exchange of rank 1 after work that takes a while. */
static void halo_take(const struct halo_context *context, struct halo_route *route, struct gpu_mem work,
                      int n, float *found)
{
  struct gpu_event *arrived;
  for (int w = 0; w < WORKS; w++) give_up(gpu_clear(context->compute, work, 0, work.bytes));
  give_up(halo_route_start(route, context->fields[n % 2], NULL));
  give_up(halo_route_finish(route, &arrived));
  if (arrived) give_up(gpu_wait(context->compute, arrived));
  give_up(gpu_copy_out(context->compute, found, context->fields[n % 2],
                       first_of(context->layout, &context->plan->messages[0].recv), sizeof *found));
}

static void halo_give(const struct halo_context *context, struct halo_route *route, int n)
{
  struct gpu_event *arrived;
  field_write(context, context->layout, (float)n);
  give_up(halo_route_start(route, context->fields[n % 2], NULL));
  give_up(halo_route_finish(route, &arrived));
  give_up(halo_route_wait(route, context->compute));
}

int main(int argc, char **argv)
{
  int rank;
  struct decomp decomp;
  struct layout layout;
  struct halo_plan plan;
  struct halo_route *route;
  struct gpu_mem work = {.bytes = 0};
  struct halo_path path;
  struct halo_times times = {.exchanges = 0};
  float found[EXCHANGES + 1];
  log_set_program("one-way");
  if (begin_mpi(&argc, &argv, SECONDS, NULL) != STATUS_OK) return STATUS_ENVIRONMENT;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const struct halo_transport *transport = argc >= 3 ? halo_transport_find(argv[2]) : NULL;
  if (!transport) agree_abort(STATUS_USAGE);
  struct halo_context context = {
      .comm = MPI_COMM_WORLD, .device = device_open(argv[1], rank), .layout = &layout, .plan = &plan};
  const char *mode = argc > 3 ? argv[3] : "";
  geometry_init(rank, strcmp(mode, "wide") == 0 ? 66 : 65, &decomp, &layout, &plan);
  one_way(&plan, rank);
  if (strcmp(mode, "longer") == 0 && rank == 1) plan.messages[0].recv_count++;
  if (strcmp(mode, rank == 0 ? "refused-by-0" : "refused-by-1") == 0) locks_refuse(context.device);
  fields_open(&context);
  if (strcmp(mode, "reopen") == 0) reopen(transport, &context);
  give_up(halo_route_open(transport, &context, &route));
  halo_route_path(route, 0, &path);
  if (rank == 1 && path.handover) printf("handed over by %s, %s\n", path.handover, path.handover_why);
  if (rank == 1) give_up(gpu_alloc(context.device, WORK, &work));
  for (int n = 1; n <= EXCHANGES; n++)
    if (rank == 0)
      halo_give(&context, route, n);
    else
      halo_take(&context, route, work, n, &found[n]);
  give_up(halo_route_wait(route, context.compute));
  for (int n = 1; rank == 1 && n <= EXCHANGES; n++)
    if (found[n] != (float)n)
      give_up(log_fail(STATUS_WRONG, "exchange %d brought what was sent in exchange %g", n, found[n]));
  give_up(halo_route_times(route, &times));
  if (rank == 0) printf("%s\n", times.seconds[HALO_PACK] > 0 ? "packed" : "copied by rows");
  halo_route_close(route);
  end_mpi();
  return 0;
}
