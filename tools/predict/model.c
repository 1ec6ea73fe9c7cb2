/* SPDX-License-Identifier: MIT */
/* The model's terms, and predictions with them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tools/predict/model.h"
#include "tools/predict/workload.h"

/* The distance of a size from the measured range is counted in steps. A step is a factor of
 * POINTS_OF_SIZES in points, or of BYTES_OF_SIZES in bytes. */
#define POINTS_OF_SIZES 8.0
#define BYTES_OF_SIZES  4.0
/* Clusters of gemm-gpu's kernels divide k into at most this many parts. */
#define PARTS_MOST 8

const char *const model_program_names[STUDY_PROGRAMS] = {"himeno-gpu", "gemm-gpu"};
const char *const study_where_names[STUDY_WHERES] = {"same_host", "other_host"};
const char *const model_kind_names[KINDS] = {"ranks", "size", "cut"};
const char *const model_limit_names[MODEL_LIMITS] = {"interior", "exchange latency", "exchange bandwidth",
                                                     "boundary", "synchronisation",  "reduction"};

const struct model_term_text model_term_texts[TERMS + TRANSPORT_TERMS] = {
    {"pass", "s", "interior", 1e6, "us per launch"},
    {"point", "s/point", "interior", 1e12, "ps x V"},
    {"cache", "s/point", "interior", 1e12, "ps per point that is still in the cache"},
    {"idle", "s/point", "interior", 1e12, "ps per idle point of a tile"},
    {"slab_point_i", "s/point", "boundary", 1e12, "ps per point next to a halo across i"},
    {"slab_point_j", "s/point", "boundary", 1e12, "ps per point next to a halo across j"},
    {"slab_point_k", "s/point", "boundary", 1e12, "ps per point next to a halo across k"},
    {"reduction", "s", "reduction", 1e6, "us for the sum over all ranks"},
    {"reduction_log2", "s", "reduction", 1e6, "us x log2(ranks)"},
    {"synchronisation", "s", "synchronisation", 1e6, "us of host and device"},
    {"neighbour", "s/message", "exchange", 1e6, "us per message"},
    {"latency_factor", "1", "exchange", 1, "x latency of the path"},
    {"bytes_factor", "1", "exchange", 1, "x bytes of the rank / bandwidth of the path"},
    {"host_bytes_factor", "1", "exchange", 1, "x bytes of its host's ranks / bandwidth of the path"},
    {"slab", "s/launch", "exchange", 1e6, "us to launch what computes and sends halos"},
    {"root_slab_k", "s/point^0.5", "exchange", 1e9, "ns x sqrt(points next to a halo across k)"}};

const char *model_term_name(const struct study_paths *paths, int column, char text[96])
{
  const int own = column < TERMS;
  snprintf(text, 96, "%s%s%s", own ? "" : paths->transports[(column - TERMS) / TRANSPORT_TERMS].name,
           own ? "" : " ", model_term_text(column)->name);
  return text;
}

int model_at_once(const char *transport)
{
  return strcmp(transport, "p2p") == 0;
}

int model_within_hosts(const char *transport)
{
  return strcmp(transport, "p2p") == 0 || strcmp(transport, "ipc") == 0;
}

void model_between_set(const struct study_between *between, struct study_paths *paths)
{
  for (int w = 0; w < paths->n && between->bandwidth > 0; w++) {
    struct study_transport *transport = &paths->transports[w];
    if (model_within_hosts(transport->name)) continue;
    transport->known[STUDY_OTHER_HOST] = 1;
    transport->latency[STUDY_OTHER_HOST] = between->latency;
    transport->bandwidth[STUDY_OTHER_HOST] = between->bandwidth;
    transport->residual[STUDY_OTHER_HOST] = 0;
  }
}

/* Index of the transport per destination of messages; −1 if the model has no parameters of it. */
struct model_route {
  int via[STUDY_WHERES];
};

/* Returns the routes as himeno-gpu chooses them: a transport that needs the peer's memory is used
 * within a host, and `staged` for pairs on different hosts. With several hosts, slabs are launched
 * separately from the interior, because himeno-gpu combines the two on all ranks or on none. */
static struct model_route model_route(const struct study_paths *paths, int hosts, int via)
{
  if (hosts == 1 || !model_within_hosts(paths->transports[via].name)) return (struct model_route){{via, via}};
  return (struct model_route){{via, study_transport_find(paths, "staged")}};
}

/* Sets the seconds of an exchange for latency and for bytes. Each is the longer of the time within
 * the host and the time between hosts, because transfers are concurrent. TRANSPORT_HOST applies to
 * the bytes of all ranks of the host; between hosts, to the bytes of two ranks, as in comm-gpu's
 * pairs. */
static void paths_time(const struct model_terms *terms, const struct geometry *g,
                       const struct model_route *route, struct model_parts *parts)
{
  const double host_total[STUDY_WHERES] = {g->host_bytes, 2 * g->bytes[STUDY_OTHER_HOST]};
  double longest = -1;
  for (int where = 0; where < STUDY_WHERES; where++) {
    if (g->messages[where] == 0) continue;
    const struct study_transport *path = &terms->paths.transports[route->via[where]];
    const double *value = terms->fitted.value + model_transport_column(route->via[where], 0);
    const double host = model_at_once(path->name) ? 0 : value[TRANSPORT_HOST] * host_total[where];
    const double bytes =
        (value[TRANSPORT_BANDWIDTH] * g->bytes[where] + host) / path->bandwidth[where] / g->depth;
    const double latency = value[TRANSPORT_LATENCY] * path->latency[where] * g->rounds / g->depth;
    if (latency + bytes > longest)
      longest = latency + bytes, parts->between_hosts = where == STUDY_OTHER_HOST;
    parts->latency = fmax(parts->latency, latency);
    parts->bytes = fmax(parts->bytes, bytes);
  }
}

double model_slowdown(double share, int sharers)
{
  if (sharers <= 1) return 1;
  return share > 0 ? pow((1 + pow(share * sharers, 4)) / (1 + pow(share, 4)), 0.25) : sharers;
}

/* Returns the seconds of a product. Tiles run in rounds over all multiprocessors. k is divided into
 * the number of parts that takes the least time, including the time to add the parts up. If k is
 * not divided, launches share rounds, but each step takes at least one round. */
static double product_work(const struct model_terms *terms, const struct geometry *g)
{
  const double tiles = ceil(g->part[0] / terms->tile[0]) * ceil(g->part[1] / terms->tile[1]),
               elements = (double)terms->units * terms->tile[0] * terms->tile[1],
               steps = g->rounds + g->launches / g->procs[0] / g->procs[1];
  double least = INFINITY;
  for (int parts = 1; parts <= PARTS_MOST; parts++) {
    const double rounds = parts > 1 ? g->launches * ceil(tiles * parts / terms->units)
                                    : fmax(steps, ceil(tiles * g->launches / terms->units)),
                 sums = parts > 1 ? terms->fitted.value[TERM_IDLE] : 0;
    least = fmin(least, rounds * elements * (terms->fitted.value[TERM_POINT] * g->part[2] / parts + sums));
  }
  return least;
}

/* Returns the seconds to compute the interior: of all points if slabs_hidden, otherwise of those
 * that no neighbour needs. With T > 1 sweeps per pass, halo layers are computed again: T − 1 in the
 * first sweep, then fewer. If slabs_hidden is also set, long sweeps hide a pass's fixed cost. */
static double interior_time(const struct model_terms *terms, const struct geometry *g)
{
  const double layers = g->slab_points[0] + g->slab_points[1] + g->slab_points[2],
               again = layers / g->depth * (g->depth - 1) / 2,
               points = terms->slabs_hidden ? g->points + again : g->inner;
  const double *value = terms->fitted.value, pass = value[TERM_PASS] * g->launches,
               slow = model_slowdown(terms->fitted.share, g->sharers), tile = terms->tile_points,
               cache = terms->fitted.cache_points,
               idle = tile > 0 ? points / g->row * (ceil(g->row / tile) * tile - g->row) : 0,
               cached = cache > 0 ? points * exp(-points / cache) : 0,
               even = terms->tile[0] > 0 ? product_work(terms, g)
                                         : value[TERM_POINT] * points + value[TERM_IDLE] * idle,
               work = slow * even - cached * (value[TERM_CACHE] + (slow - 1) * value[TERM_POINT]);
  return model_steps_hidden(terms) && work > 0 ? hypot(pass, work) : pass + work;
}

static double slabs_time(const struct model_terms *terms, const struct geometry *g)
{
  double seconds = 0;
  for (int d = 0; d < 3; d++) seconds += terms->fitted.value[TERM_SLAB_I + d] * g->slab_points[d];
  return seconds;
}

void model_parts_make(const struct model_terms *terms, const struct geometry *g, int via,
                      struct model_parts *parts)
{
  *parts = (struct model_parts){.interior = interior_time(terms, g), .overlap = g->overlap};
  if (g->procs[2] == 0) parts->rings[0] = g->procs[1], parts->rings[1] = g->procs[0];
  if (via < 0) return;
  const struct model_route route = model_route(&terms->paths, g->hosts, via);
  const int mixed = route.via[STUDY_OTHER_HOST] != via;
  const char *between = terms->paths.transports[route.via[STUDY_OTHER_HOST]].name;
  const double *value = terms->fitted.value + model_transport_column(route.via[STUDY_OTHER_HOST], 0);
  if (model_steps_hidden(terms))
    parts->boundary += model_within_hosts(between) ? 0 : slabs_time(terms, g) / terms->depth;
  else if (terms->slabs_hidden)
    parts->interior += slabs_time(terms, g) / g->depth;
  else
    parts->boundary += slabs_time(terms, g);
  paths_time(terms, g, &route, parts);
  /* several sweeps of a pass do not overlap an exchange without the host, as in himeno/solver */
  if (g->depth > 1 && model_within_hosts(between)) parts->overlap = 0;
  if (model_at_once(between)) {
    if (g->slabs > 0 && g->depth == 1)
      parts->chain = g->rounds * (value[TRANSPORT_SLAB] + value[TRANSPORT_ROOT] * sqrt(g->slab_points[2]));
  } else {
    parts->boundary += value[TRANSPORT_SLAB] * g->slabs;
    parts->latency +=
        value[TRANSPORT_NEIGHBOUR] * (mixed ? g->messages[STUDY_OTHER_HOST] : g->neighbours) / g->depth;
  }
  parts->hinder = model_within_hosts(between) ? 0 : terms->fitted.hinder;
  parts->synchronisation = value[TRANSPORT_SYNC] / (terms->slabs_hidden ? g->depth : 1);
  parts->reduction = terms->fitted.value[TERM_REDUCE] + terms->fitted.value[TERM_REDUCE_LOG] * log2(g->ranks);
}

/* Returns the time for which computing waits. A product waits only during its first panel, in which
 * the slices of a step arrive while earlier slices are multiplied. Sweeps without overlap wait for
 * the whole exchange. */
static double first_wait(const struct model_parts *p, double exchange)
{
  const int steps = geometry_ring_steps(p->rings);
  double most = steps < 0 ? exchange : 0;
  for (int step = 1; step <= steps; step++) {
    const double before = fmin(1, (double)step / p->rings[0]) * fmin(1, (double)step / p->rings[1]);
    most = fmax(most, exchange * step / steps - p->interior * before);
  }
  return most;
}

static double model_parts_exposed(const struct model_parts *p)
{
  const double exchange = p->chain + p->latency + p->bytes;
  const double waits =
      p->overlap * fmax(0, exchange - p->interior) + (1 - p->overlap) * first_wait(p, exchange);
  return waits + p->hinder * (exchange - waits);
}

double model_parts_seconds(const struct model_parts *p)
{
  return p->interior + model_parts_exposed(p) + p->boundary + p->synchronisation + p->reduction;
}

/* Returns STATUS_ENVIRONMENT if the time is invalid: terms of a model from a document may
 * contradict each other. */
static status_t model_parts_check(const struct model_parts *p)
{
  const double seconds = model_parts_seconds(p);
  if (p->interior >= 0 && seconds > 0 && isfinite(seconds)) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "the model has %g s for it: its terms contradict each other", seconds);
}

static struct model_parts parts_of(const struct model_terms *terms, const struct geometry *g, int via,
                                   const struct model_scale *scale)
{
  struct model_parts parts;
  model_parts_make(terms, g, via, &parts);
  parts.interior *= scale->compute;
  parts.boundary *= scale->compute;
  parts.chain *= scale->compute;
  parts.latency *= scale->exchange;
  parts.bytes *= scale->exchange;
  return parts;
}

static int beyond(const struct model *model, const struct geometry *g, int via)
{
  int what = 0;
  if (g->ranks > model->range.ranks_most) what |= BEYOND_RANKS;
  if (g->hosts > model->range.hosts_most) what |= BEYOND_HOSTS;
  if (g->hosts == 1 && model->range.hosts_most == 1 && g->ranks > model->range.ranks_most)
    what |= BEYOND_HOST;
  if (g->depth != model->terms.depth) what |= BEYOND_PASS;
  if (g->points < 0.999 * model->range.points_least) what |= BEYOND_SMALL;
  if (g->points > 1.001 * model->range.points_most) what |= BEYOND_LARGE;
  if (via < 0) return what;
  if (g->bytes[0] + g->bytes[1] > 1.001 * model->range.bytes_most) what |= BEYOND_BYTES;
  return what;
}

/* Returns STATUS_ENVIRONMENT if the geometry has a property that no run had and that costs time. */
static status_t seen_check(const struct model *model, const struct geometry *g, int via,
                           const char *transport)
{
  const struct model_errors *errors = &model->errors;
  const char *command = workloads[model->program].command;
  static const char *const cuts[] = {"2x1x1", "1x2x1", "1x1x2"};
  for (int d = 0; d < 3 && via >= 0; d++)
    if (g->slab_points[d] > 0 && !errors->seen[TERM_SLAB_I + d])
      return log_fail(STATUS_ENVIRONMENT,
                      "%dx%dx%d: no run of the study divides the grid along %c: run mpirun -np 2 %s -p %s -x "
                      "%s --json FILE",
                      g->procs[0], g->procs[1], g->procs[2], "ijk"[d], command, cuts[d], transport);
  if (via < 0 || errors->seen[model_transport_column(via, TRANSPORT_LATENCY)]) return STATUS_OK;
  return log_fail(
      STATUS_ENVIRONMENT,
      "no run of the study is bound by its exchange by %s: run mpirun -np 2 %s -x %s --json FILE, "
      "with a smaller --size or on more ranks",
      transport, command, transport);
}

status_t model_paths_check(const struct study_paths *paths, const struct geometry *g, int via)
{
  const struct model_route route = model_route(paths, g->hosts, via);
  for (int where = 0; where < STUDY_WHERES; where++) {
    if (g->messages[where] == 0) continue;
    if (route.via[where] < 0)
      return log_fail(
          STATUS_ENVIRONMENT,
          "pairs on different hosts go by staged, but there are no parameters of it: run mpirun "
          "-np 2 himeno-gpu -x staged --json FILE and mpirun -np 2 comm-gpu -x staged --json FILE");
    if (paths->transports[route.via[where]].known[where]) continue;
    return log_fail(STATUS_ENVIRONMENT,
                    "%d hosts, but the path %s by %s was never measured: %s, or say how many ranks a host "
                    "has by --per-host",
                    g->hosts, where == STUDY_OTHER_HOST ? "between hosts" : "within a host",
                    paths->transports[route.via[where]].name,
                    where == STUDY_OTHER_HOST
                        ? "run mpirun -np 2 --map-by node comm-gpu --json FILE, or give it by --network "
                          "MICROSECONDS,GB/S"
                        : "run mpirun -np 2 comm-gpu --json FILE");
  }
  return STATUS_OK;
}

static enum model_limit limit_of(const struct model_time *t)
{
  const double exchange = t->latency + t->bytes;
  double largest = t->boundary;
  enum model_limit limit = LIMIT_BOUNDARY;
  if (t->interior >= exchange && t->interior >= largest) largest = t->interior, limit = LIMIT_INTERIOR;
  if (t->interior < exchange && exchange >= largest)
    largest = exchange, limit = t->latency > t->bytes ? LIMIT_LATENCY : LIMIT_BANDWIDTH;
  if (t->synchronisation > largest) largest = t->synchronisation, limit = LIMIT_SYNCHRONISATION;
  return t->reduction > largest ? LIMIT_REDUCTION : limit;
}

double model_shift(const struct model_terms *terms, const struct geometry *g, int via,
                   const struct model_scale *scale, double times)
{
  struct model_parts parts = parts_of(terms, g, via, scale);
  const double before = model_parts_seconds(&parts);
  parts.chain *= times;
  parts.latency *= times;
  parts.bytes *= times;
  parts.synchronisation *= times;
  parts.reduction *= times;
  return fabs(log(model_parts_seconds(&parts) / before));
}

/* Returns the variance of the logarithm of a prediction over the replicates. */
static double variance_of(const struct model *model, const struct geometry *g, int via,
                          const struct model_scale *scale, double seconds)
{
  struct model_terms other = model->terms;
  double sum = 0;
  for (int r = 0; r < model->errors.n_replicates; r++) {
    other.fitted = model->errors.replicate[r];
    const struct model_parts parts = parts_of(&other, g, via, scale);
    sum += pow(log(model_parts_seconds(&parts) / seconds), 2);
  }
  return sum / fmax(model->errors.n_replicates, 1);
}

static int transport_between(const struct study_paths *paths, const struct geometry *g, int via)
{
  return model_route(paths, g->hosts, via).via[STUDY_OTHER_HOST];
}

/* If the messages take two transports, uses the larger of their spreads. */
double model_half(const struct model *model, const struct geometry *g, int via,
                  const struct model_scale *scale, const struct model_time *t)
{
  const double spread =
      via < 0 ? model->errors.spread
              : fmax(model->errors.transport_spread[via],
                     model->errors.transport_spread[transport_between(&model->terms.paths, g, via)]);
  return student_95(model->errors.freedom) *
         sqrt(spread * spread + variance_of(model, g, via, scale, t->seconds));
}

static int model_is_listed(const struct model_names *names, const char *name)
{
  for (int n = 0; n < names->n; n++)
    if (strcmp(names->name[n], name) == 0) return 1;
  return 0;
}

void model_list(struct model_names *names, const char *name)
{
  if (names->n < MODEL_MEASURED && !model_is_listed(names, name))
    snprintf(names->name[names->n++], sizeof names->name[0], "%s", name);
}

void model_beyonds(const struct model_range *range, const struct geometry *g, const char *size,
                   double beyond[KINDS])
{
  char cut[STUDY_TEXT];
  study_cut_text(g->procs, cut);
  const double ranks = log2((double)g->ranks / range->ranks_most),
               hosts = log2((double)g->hosts / range->hosts_most),
               points = fmax(log2(range->points_least / g->points), log2(g->points / range->points_most));
  beyond[KIND_RANKS] = sqrt(fmax(ranks, 0) + fmax(hosts, 0)); /* doublings err independently */
  const double bytes = g->bytes[0] + g->bytes[1];
  beyond[KIND_SIZE] = fmax(points / log2(POINTS_OF_SIZES), 0);
  if (bytes > 1.001 * range->bytes_most && range->bytes_most > 0)
    beyond[KIND_SIZE] = fmax(beyond[KIND_SIZE], log2(bytes / range->bytes_most) / log2(BYTES_OF_SIZES));
  if (size && range->sizes.n > 0 && !model_is_listed(&range->sizes, size))
    beyond[KIND_SIZE] = fmax(beyond[KIND_SIZE], 1);
  beyond[KIND_CUT] = range->cuts.n > 0 && g->ranks > 1 && !model_is_listed(&range->cuts, cut);
  if (beyond[KIND_RANKS] > 0)
    beyond[KIND_CUT] = 0; /* the margin for more ranks comes from runs that also had other cuts */
}

void model_interval(const struct model *model, const struct geometry *g, const char *transport,
                    const struct model_scale *scale, const char *size, struct model_time *t)
{
  const int via = g->neighbours > 0 ? study_transport_find(&model->terms.paths, transport) : -1;
  double beyond[KINDS], off[KINDS];
  if (model->errors.freedom <= 0 || g->depth != model->terms.depth)
    return; /* the spread with another number of sweeps per pass is unknown */
  double squares = pow(model_half(model, g, via, scale, t), 2);
  model_beyonds(&model->range, g, size, beyond);
  for (int kind = 0; kind < KINDS; kind++) {
    off[kind] = via < 0
                    ? model->errors.off[kind]
                    : fmax(model->errors.transport_off[via][kind],
                           model->errors.transport_off[transport_between(&model->terms.paths, g, via)][kind]);
    if (kind != KIND_RANKS) squares += pow(off[kind] * beyond[kind], 2);
  }
  const double times = exp(off[KIND_RANKS] * beyond[KIND_RANKS]);
  t->low = t->seconds * exp(-hypot(sqrt(squares), model_shift(&model->terms, g, via, scale, 1 / times)));
  t->high = t->seconds * exp(hypot(sqrt(squares), model_shift(&model->terms, g, via, scale, times)));
}

status_t model_predict(const struct model *model, const struct geometry *g, const char *transport,
                       const struct model_scale *scale, struct model_time *time)
{
  int via = g->neighbours > 0 ? study_transport_find(&model->terms.paths, transport) : -1;
  if (g->neighbours > 0 && via < 0)
    return log_fail(STATUS_ENVIRONMENT,
                    "no parameters of transport %s: run mpirun -np 2 comm-gpu -x %s --json FILE and mpirun "
                    "-np 2 %s -x %s --json FILE",
                    transport, transport, workloads[model->program].command, transport);
  if (via >= 0) RETURN_IF_FAILED(model_paths_check(&model->terms.paths, g, via));
  RETURN_IF_FAILED(seen_check(model, g, via, transport));
  const struct model_parts parts = parts_of(&model->terms, g, via, scale);
  RETURN_IF_FAILED(model_parts_check(&parts));
  struct model_time t = {.seconds = model_parts_seconds(&parts),
                         .interior = parts.interior,
                         .latency = parts.chain + parts.latency,
                         .bytes = parts.bytes,
                         .boundary = parts.boundary,
                         .synchronisation = parts.synchronisation,
                         .reduction = parts.reduction,
                         .exposed = model_parts_exposed(&parts),
                         .between_hosts = parts.between_hosts,
                         .extrapolated = beyond(model, g, via)};
  t.limit = limit_of(&t);
  *time = t;
  return STATUS_OK;
}

status_t model_slowest(const struct model *model, int per_host, const char *transport,
                       const struct model_scale *scale, struct geometry *geometry, struct model_time *time)
{
  struct geometry slowest = *geometry, one;
  struct model_time longest, t;
  RETURN_IF_FAILED(model_predict(model, geometry, transport, scale, &longest));
  for (int r = 0; r < geometry->ranks; r++) {
    RETURN_IF_FAILED(geometry->of_rank(geometry, r, per_host, &one));
    RETURN_IF_FAILED(model_predict(model, &one, transport, scale, &t));
    if (t.seconds > longest.seconds) slowest = one, longest = t;
  }
  *geometry = slowest;
  *time = longest;
  return STATUS_OK;
}
