/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "base/report.h"
#include "gpu/host.h"
#include "suite/list.h"
#include "tools/network/cmdline.h"
#include "tools/network/bench.h"

#define RANKS_SHOWN 16

static const struct bench_point *last_point(const struct bench_curve *curve)
{
  return &curve->points[curve->n - 1];
}

/* Writes GB/s, with three digits below 1, so that slow small messages are not printed as 0. */
static const char *rate_text(const struct bench_point *point, double factor)
{
  static char text[16];
  const double rate = point->seconds > 0 ? factor * (double)point->bytes / point->seconds / 1e9 : 0;
  snprintf(text, sizeof text, rate < 1 ? "%#.3g" : "%.2f", rate);
  return text;
}

/* Prints the fastest halo exchange, but nothing for an emulator, whose times are meaningless. */
static void print_fastest(const struct bench *bench, FILE *out)
{
  const struct bench_halo *fastest = bench->halo;
  for (int h = 1; h < bench->n_halo; h++)
    if (bench->halo[h].point.seconds < fastest->point.seconds) fastest = &bench->halo[h];
  if (bench->n_halo > 0 && !bench->placement.info.emulated)
    fprintf(out, "  fastest    %s, for the halo exchange of size %s: %.2f us\n", fastest->used,
            bench->config.size.name, fastest->point.seconds * 1e6);
}

static void print_plan(const struct bench *bench, FILE *out)
{
  const struct bench_plan *plan = &bench->plan;
  const char *gap = ": ";
  fprintf(out, "  plan       %d measurements", plan->total);
  for (int p = 0; p < BENCH_PARTS; p++)
    if (plan->curves[p]) fprintf(out, "%s%s %d", gap, bench_part_names[p], plan->curves[p]), gap = ", ";
  if (isfinite(plan->end)) fprintf(out, " within %g s (--time)", bench->config.seconds);
  if (plan->curves_left_out || plan->sizes_left_out)
    fprintf(out,
            ";\n             left out for lack of time: %d measurements, %d transfer sizes of the others",
            plan->curves_left_out, plan->sizes_left_out);
  fprintf(out, "\n");
}

void bench_report_verdict(const struct bench *bench, status_t status, FILE *out)
{
  fprintf(out, "comm-gpu %s\n\n  verdict    ", meta_version());
  if (status == STATUS_WRONG)
    fprintf(out, "WRONG: a transfer arrived changed\n");
  else
    fprintf(out, "PASS: all %" PRId64 " transfers arrived unchanged\n", bench->transfers);
}

static void comm_print_config(const struct bench *bench, FILE *out)
{
  int ranks = bench->placement.ranks, hosts = ranks_hosts(bench->ranks, sizeof *bench->ranks, ranks);
  bench_report_verdict(bench, STATUS_OK, out);
  fprintf(out, "\n  where      %d rank%s on %d host%s, backend %s; measured for %.1f s\n", ranks,
          ranks > 1 ? "s" : "", hosts, hosts > 1 ? "s" : "", bench->placement.backend->name, bench->seconds);
  ranks_print_backend(bench->ranks, sizeof *bench->ranks, ranks, out);
  print_plan(bench, out);
  print_fastest(bench, out);
  for (int r = 0; r < ranks && r < RANKS_SHOWN; r++)
    fprintf(out, "  rank %-4d  %s, %s%s%s%s\n", r, bench->ranks[r].host, bench->ranks[r].info.name,
            bench->ranks[r].info.pci[0] ? ", PCI " : "", bench->ranks[r].info.pci,
            bench->ranks[r].shared ? ", SHARED with another rank" : "");
}

/* The paths of one column in a table of sizes: memory or transport, load and direction. */
struct column {
  const char *method, *load, *direction;
};

/* Returns the slowest point of a size among the paths of a column, or NULL if there is none. */
static const struct bench_point *slowest(const struct bench_path *paths, int n, const struct column *column,
                                         int64_t bytes)
{
  const struct bench_point *found = NULL;
  for (int p = 0; p < n; p++)
    for (int i = 0;
         i < paths[p].curve.n && strcmp(paths[p].method, column->method) == 0 &&
         strcmp(paths[p].load, column->load) == 0 && strcmp(paths[p].direction, column->direction) == 0;
         i++) {
      const struct bench_point *point = &paths[p].curve.points[i];
      if (point->bytes == bytes && (!found || point->seconds > found->seconds)) found = point;
    }
  return found;
}

/* Returns the smallest size above \a bytes on any path of \a method, or 0 if there is none. */
static int64_t size_after(const struct bench_path *paths, int n, const char *method, int64_t bytes)
{
  int64_t next = 0;
  for (int p = 0; p < n; p++)
    for (int i = 0; i < paths[p].curve.n && strcmp(paths[p].method, method) == 0; i++) {
      const int64_t one = paths[p].curve.points[i].bytes;
      if (one > bytes && (!next || one < next)) next = one;
    }
  return next;
}

static const char *word_of(const char *name)
{
  static const char *const words[][2] = {
      {"alone", "isolated"}, {"all", "concurrent"}, {"in", "to device"}, {"out", "to host"}};
  for (int w = 0; w < 4; w++)
    if (strcmp(words[w][0], name) == 0) return words[w][1];
  return name;
}

/* Prints one row per size, as nccl-tests does. */
static void print_sizes(const struct bench_path *paths, int n, const char *method, FILE *out)
{
  const double bus = paths[0].bus;
  static const char *const loads[] = {"alone", "all"}, *const directions[] = {"in", "out", "one", "both"};
  fprintf(out, "%s       bytes           us      GB/s%s\n", bus > 0 ? "" : "  mode        direction",
          bus > 0 ? "     busbw" : "");
  for (int c = 0; c < 8; c++) {
    const struct column column = {method, loads[c / 4], directions[c % 4]};
    for (int64_t bytes = 0; (bytes = size_after(paths, n, method, bytes)) > 0;) {
      const struct bench_point *point = slowest(paths, n, &column, bytes);
      if (!point) continue;
      if (bus <= 0) fprintf(out, "  %-10s  %-9s", word_of(column.load), word_of(column.direction));
      fprintf(out, " %11" PRId64 " %12.2f %9s", bytes, point->seconds * 1e6, rate_text(point, 1));
      if (bus > 0) fprintf(out, " %9s", rate_text(point, bus));
      fprintf(out, "\n");
    }
  }
}

static void comm_print_host(const struct bench *bench, FILE *out)
{
  if (bench->n_host == 0) return;
  const struct bench_curve *first = &bench->host[0].curve;
  fprintf(
      out,
      "\n  Between host and device: time of the smallest copy, rate of the largest that was measured; both:\n"
      "  both directions at once, rate per direction; isolated: one rank copies; concurrent: all do\n");
  if (bench->plan.curves_left_out > 0)
    fprintf(out, "  measurements for which no time was left have no row\n");
  if (bench->placement.backend->memory == GPU_MEMORY_HOST)
    fprintf(out, "  on CPUs, pinned memory is pageable too\n");
  fprintf(out, "  rank  memory    direction  mode         %9s, us      largest      GB/s\n",
          report_bytes((uint64_t)first->points[0].bytes));
  for (int p = 0; p < bench->n_host; p++) {
    const struct bench_path *path = &bench->host[p];
    if (path->rank >= RANKS_SHOWN) continue;
    fprintf(out, "  %4d  %-8s  %-9s  %-10s  %14.2f  %11s %9s\n", path->rank, path->method,
            word_of(path->direction), word_of(path->load), path->curve.points[0].seconds * 1e6,
            report_bytes((uint64_t)last_point(&path->curve)->bytes), rate_text(last_point(&path->curve), 1));
  }
  for (int kind = 0; kind < 2; kind++) {
    static const char *const kinds[] = {"pinned", "pageable"};
    if (size_after(bench->host, bench->n_host, kinds[kind], 0) == 0) continue;
    fprintf(out, "\n  Between host and device by size, %s memory, of the slowest rank\n", kinds[kind]);
    print_sizes(bench->host, bench->n_host, kinds[kind], out);
  }
}

/* Lists the methods of pairs in the order of measurement. Returns their number. */
static int methods_list(const struct bench *bench, const char *methods[BENCH_HALOS_MAX])
{
  int n = 0;
  for (int p = 0; p < bench->n_pairs; p++) {
    int known = 0;
    for (int w = 0; w < n; w++) known |= strcmp(methods[w], bench->pairs[p].method) == 0;
    if (!known && n < BENCH_HALOS_MAX) methods[n++] = bench->pairs[p].method;
  }
  return n;
}

static const struct bench_path *pair_find(const struct bench *bench, const char *method, int a, int b)
{
  for (int p = 0; p < bench->n_pairs; p++) {
    const struct bench_path *path = &bench->pairs[p];
    int here = (path->rank == a && path->peer == b) || (path->rank == b && path->peer == a);
    if (here && strcmp(path->direction, "both") == 0 && strcmp(path->method, method) == 0) return path;
  }
  return NULL;
}

/* Prints a matrix of pairs, with the latency above the diagonal and the bandwidth below it. */
static void print_matrix(const struct bench *bench, const char *method, FILE *out)
{
  int n = bench->placement.ranks < RANKS_SHOWN ? bench->placement.ranks : RANKS_SHOWN;
  const struct bench_curve *curve = &bench->pairs[0].curve;
  const struct halo_transport *transport = halo_transport_find(method);
  fprintf(out, "\n  Between two ranks, transport %s\n", method);
  if (bench->placement.backend->memory == GPU_MEMORY_HOST && transport->on_cpus)
    fprintf(out, "  on CPUs: %s\n", transport->on_cpus);
  else
    fprintf(out, "  memory: %s; moved by %s\n", transport->memory, transport->mover);
  fprintf(out, "  Matrix (rows and columns are ranks), both directions at once:\n");
  fprintf(out, "  above the diagonal: us for %s; ", report_bytes((uint64_t)curve->points[0].bytes));
  fprintf(out, "below: GB/s per direction for the largest transfer of each pair\n      ");
  for (int b = 0; b < n; b++) fprintf(out, " %8d", b);
  for (int a = 0; a < n; a++) {
    fprintf(out, "\n  %4d", a);
    for (int b = 0; b < n; b++) {
      const struct bench_path *path = a == b ? NULL : pair_find(bench, method, a, b);
      if (!path)
        fprintf(out, " %8s", a == b ? "-" : "unknown");
      else if (a < b)
        fprintf(out, " %8.2f", path->curve.points[0].seconds * 1e6);
      else
        fprintf(out, " %8s", rate_text(last_point(&path->curve), 1));
    }
  }
  fprintf(out, "\n");
  for (int p = 0; p < bench->n_pairs; p++) {
    const struct bench_path *path = &bench->pairs[p];
    if (strcmp(path->method, method) == 0 && strcmp(path->used, method) != 0 &&
        strcmp(path->direction, "both") == 0)
      fprintf(out, "  ranks %d and %d used %s instead: %s\n", path->rank, path->peer, path->used, path->why);
  }
}

static void comm_print_pairs(const struct bench *bench, FILE *out)
{
  const char *methods[BENCH_HALOS_MAX];
  int n = methods_list(bench, methods);
  if (n > 0)
    fprintf(
        out,
        "\n  Between two ranks: us is the time per transfer of several in succession, on the slower rank\n"
        "  (not half a round trip); isolated: one pair sends; concurrent: all pairs do\n");
  for (int w = 0; w < n; w++) {
    print_matrix(bench, methods[w], out);
    print_sizes(bench->pairs, bench->n_pairs, methods[w], out);
  }
}

static void print_halo(const struct bench *bench, FILE *out)
{
  if (bench->n_halo == 0) return;
  fprintf(out,
          "\n  Halo exchange of size %s over %dx%dx%d ranks, %" PRId64
          " layer%s deep: the busiest rank sends %.1f kB in\n  %d message%s; us per "
          "exchange: median; last six columns: mean us per phase\n",
          bench->config.size.name, bench->procs[0], bench->procs[1], bench->procs[2], bench->config.depth,
          bench->config.depth > 1 ? "s" : "", (double)bench->halo[0].bytes / 1e3, bench->halo[0].messages,
          bench->halo[0].messages == 1 ? "" : "s");
  fprintf(out, "  transport  us per exchange  GB/s per rank    pack  to host    wait  transfer  to device  "
               "unpack\n");
  for (int h = 0; h < bench->n_halo; h++) {
    const struct bench_halo *halo = &bench->halo[h];
    fprintf(out, "  %-10s %15.2f %14s", halo->method, halo->point.seconds * 1e6, rate_text(&halo->point, 1));
    static const int widths[HALO_PHASES] = {7, 8, 7, 9, 10, 7};
    char number[REPORT_NUMBER_BYTES];
    for (int p = 0; p < HALO_PHASES; p++)
      fprintf(out, " %s", report_number(halo->phases[p] * 1e6, widths[p], 1, number));
    fprintf(out, "%s%s\n", strcmp(halo->used, halo->method) ? "\n             used " : "",
            strcmp(halo->used, halo->method) ? halo->used : "");
  }
}

static void print_collective(const struct bench_path *path, FILE *out)
{
  if (path->curve.n == 0) return;
  fprintf(out, "\n  %s, %s; busbw = %.3g x GB/s, as in nccl-tests\n", path->method, path->why, path->bus);
  print_sizes(path, 1, path->method, out);
}

static void print_proofs(const struct bench *bench, FILE *out)
{
  const int most = bench->proofs_most, all = bench->placement.ranks * most;
  int pairs = 0;
  if (!bench->proofs) return;
  for (int e = 0; e < all; e++) pairs += bench->proofs[e].peer > e / most;
  fprintf(
      out,
      "\n  Peer access of %d pair%s of devices. Steps: open the peer's memory; store to it from a kernel;\n"
      "  write (put) and read (get) 256 KiB by copy engines; pass flags between kernels. Each result was\n"
      "  compared with data sent through the host.\n",
      pairs, pairs == 1 ? "" : "s");
  for (int e = 0; e < all; e++) {
    const struct peer_proof *proof = &bench->proofs[e];
    if (proof->peer < e / most) continue;
    if (proof->rung == PEER_RUNGS)
      fprintf(out, "  ranks %d and %d: all steps passed\n", e / most, proof->peer);
    else
      fprintf(out, "  FINDING    ranks %d and %d failed step %s: %s\n", e / most, proof->peer,
              peer_rung_names[proof->rung], proof->why);
  }
}

static void print_wires(const struct bench *bench, FILE *out)
{
  char text[16];
  if (!bench->wire) return;
  fprintf(out,
          "\n  Network cards: achieved %% of the port's rate. isolated: one card and direction at a time;\n"
          "  all: all cards in both directions; -: too noisy, or sent by another card; carried: %% of the\n"
          "  rank's bytes that its card counted\n"
          "  rank  host         card         Gbit/s  isolated: out     in  all: out     in  carried\n");
  for (int r = 0; r < bench->placement.ranks; r++) {
    const struct bench_wire *wire = &bench->wire[r];
    fprintf(out, "  %4d  %-12s %-12s %6g", r, bench->ranks[r].host, wire->card, wire->gbps);
    for (int s = 0; s < 4; s++) {
      const double share = bench_wire_share(bench, r, s);
      snprintf(text, sizeof text, isnan(share) ? "-" : "%.1f", 100 * share);
      fprintf(out, " %*s", (int[]){14, 6, 9, 6}[s], text);
    }
    fprintf(out, " %8.1f%s\n", 100 * wire->carried,
            wire->carried >= BENCH_BOUND ? "" : "  NOT BOUND: MPI sent by another card");
  }
}

static void print_flows(const struct bench *bench, FILE *out)
{
  char text[16];
  if (bench->n_flows > 0)
    fprintf(out,
            "\n  Fabric: streams between hosts in Gbit/s. isolated: one host sends; all: every host sends;\n"
            "  shift: from the Nth host to the (N+shift)th; contention: isolated / all; -: too noisy\n"
            "  shift  from rank  to rank  isolated      all  contention\n");
  for (int f = 0; f < bench->n_flows; f++) {
    const struct bench_flow *flow = &bench->flows[f];
    const double values[] = {flow->alone, flow->all, flow->alone / flow->all};
    fprintf(out, "  %5d %10d %8d", flow->shift, flow->from, flow->to);
    for (int v = 0; v < 3; v++) {
      snprintf(text, sizeof text, isnan(values[v]) ? "-" : "%.4g", values[v]);
      fprintf(out, " %*s", (int[]){9, 8, 11}[v], text);
    }
    fprintf(out, "\n");
  }
}

static void print_near(const struct cards_table *table, int row, FILE *out)
{
  const char *gap = "\n               path to the device of ";
  for (int r = 0; r < table->ranks && r < RANKS_SHOWN; r++) {
    enum cards_near near = (enum cards_near)table->near[row * table->ranks + r];
    if (near == CARDS_UNKNOWN) continue;
    fprintf(out, "%srank %d: %s", gap, r, cards_near_names[near]);
    gap = ", ";
  }
  fprintf(out, "\n");
}

static void print_cards(const struct bench *bench, FILE *out)
{
  const struct cards_table *table = &bench->cards;
  char text[256];
  if (table->n == 0) return;
  fprintf(out,
          "\n  Network cards: traffic while comm-gpu ran, and what the host's ranks sent to other hosts\n");
  for (int c = 0; c < table->n; c++) {
    const struct cards_row *row = &table->rows[c];
    fprintf(out, "  %-12s %-10s %-10s %-6s", row->card.host, row->card.name, row->card.link, row->card.state);
    if (row->card.gbps > 0) fprintf(out, " %5.0f Gbit/s", row->card.gbps);
    fprintf(out, "  in %s, out %s, ranks sent %s", report_bytes((uint64_t)row->received),
            report_bytes((uint64_t)row->sent), report_bytes((uint64_t)table->asked[c]));
    if (row->errors) fprintf(out, "; %" PRId64 " ERRORS", row->errors);
    print_near(table, c, out);
  }
  for (int c = 0; c < table->n; c++)
    if (table->rows[c].idle)
      fprintf(out,
              "  WARNING    card %s of %s is active but carried no data: other paths carried "
              "the traffic\n",
              table->rows[c].card.name, table->rows[c].card.host);
  for (int p = 0; p < bench->n_counters; p++)
    for (int r = 0; r < bench->counters[p].cards.n; r++)
      if (bench_counters_finding(&bench->counters[p], r, text, sizeof text))
        fprintf(out, "  FINDING    %s\n", text);
}

void bench_report_text(const struct bench *bench, FILE *out)
{
  comm_print_config(bench, out);
  if (bench->placement.info.emulated) {
    fprintf(out, "\n  emulated   no speed: transfers of the device were verified but not timed\n");
  } else {
    comm_print_host(bench, out);
    comm_print_pairs(bench, out);
    print_halo(bench, out);
  }
  print_collective(&bench->reduce, out);
  for (int c = 0; c < bench->n_collectives; c++) print_collective(&bench->collectives[c], out);
  print_proofs(bench, out);
  print_wires(bench, out);
  print_flows(bench, out);
  print_cards(bench, out);
}

static void comm_list_backend(const struct gpu_backend *backend, int devices, FILE *out)
{
  if (devices > 0) list_backend_transports(backend, out);
}

static void list_cards(FILE *out)
{
  struct cards *cards = malloc(sizeof *cards);
  if (!cards) return;
  cards_read("", cards);
  fprintf(out, "Network cards (from %s):\n", host_sysfs());
  if (cards->n == 0) fprintf(out, "  none\n");
  for (int c = 0; c < cards->n; c++) {
    const struct card *card = &cards->card[c];
    fprintf(out, "  %-10s %s, %s", card->name, card->link, card->state);
    if (card->gbps > 0) fprintf(out, ", %g Gbit/s", card->gbps);
    fprintf(out, "%s%s, %" PRId64 " errors\n", card->pci[0] ? ", PCI " : "", card->pci, card->errors);
  }
  free(cards);
}

void bench_report_list(const struct gpu_backend *asked, FILE *out)
{
  list_backends(asked, "", comm_list_backend, out);
  list_transports(out);
  list_cards(out);
}
