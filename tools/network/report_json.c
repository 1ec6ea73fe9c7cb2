/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "tools/network/cmdline.h"
#include "tools/network/bench.h"

static const char *const phase_names[HALO_PHASES] = {HALO_PHASE_NAMES};

static void grid_document(struct doc *d, const struct bench *bench)
{
  const struct bench_config *c = &bench->config;
  if (!doc_object(d, "grid", DOC_NULLABLE, "Of the halo part; null without it.", c->parts & BENCH_HALO))
    return;
  doc_text(d, "size", 0, "", c->size.name);
  doc_whole(d, "imax", DOC_POSITIVE, "", bench->global[0]);
  doc_whole(d, "jmax", DOC_POSITIVE, "", bench->global[1]);
  doc_whole(d, "kmax", DOC_POSITIVE, "", bench->global[2]);
  doc_flag(d, "weak", 0, "", c->weak);
  doc_wholes(d, "procs", DOC_POSITIVE, "", bench->procs[0], bench->procs[1], bench->procs[2]);
  doc_whole(d, "depth", DOC_POSITIVE, "", c->depth);
  doc_end(d);
}

static void comm_config_document(struct doc *d, const struct bench *bench)
{
  const struct bench_config *c = &bench->config;
  doc_object(d, "config", 0, "", 1);
  doc_enum(d, "backend", 0, DOC_WORDS(gpu_backend_names), "", bench->placement.backend->name);
  doc_list(d, "parts", DOC_POSITIVE, "", 1);
  for (int bit = 0; doc_each(d, bit, BENCH_PARTS); bit++)
    if (d->schema || c->parts >> bit & 1)
      doc_enum(d, NULL, 0, DOC_WORDS(bench_part_names), "", bench_part_names[bit]);
  doc_end(d);
  doc_list(d, "transports", 0, "", 1);
  for (int t = 0; d->schema ? t < 1 : halo_transports[t] != NULL; t++)
    if (d->schema || bench_transport_wanted(bench, halo_transports[t]))
      doc_text(d, NULL, 0, "", halo_transports[t]->name);
  doc_end(d);
  doc_whole(d, "min_bytes", DOC_POSITIVE, "", c->min_bytes);
  doc_whole(d, "max_bytes", DOC_POSITIVE, "", c->max_bytes);
  doc_whole(d, "step", DOC_POSITIVE, "", c->step);
  doc_whole(d, "samples", DOC_POSITIVE,
            "Batches per point; more if they are noisy, and fewer, at least three, if time is short.",
            c->samples);
  doc_real(d, "seconds", DOC_OPTIONAL | DOC_NULLABLE, "s", "That the parts may take; null: no limit.",
           doc_known(c->seconds));
  grid_document(d, bench);
  doc_end(d);
}

static void stages_document(struct doc *d, const struct bench_stages *stages)
{
  static const char *const names[BENCH_STAGES] = {BENCH_STAGE_NAMES};
  static const char *const about[BENCH_STAGES] = {
      [1] = "Until all is in host memory.",
      [2] = "From then until the last of the neighbours' halos has come: through memory or MPI, and the time "
            "that "
            "a neighbour is late.",
      [3] = "From then until all is in device memory.",
      [4] = "The rest: until sends are over, and unpacking.",
      [5] = "From the end of an exchange to the begin of the next one: the host."};
  if (!doc_object(
          d, "stages", DOC_OPTIONAL,
          "Rank 0's seconds per exchange, of a pair its lower rank's. Each moment is attributed to the first "
          "stage that is not over for all of the rank's halos: what later stages do meanwhile is hidden "
          "below it. So they do not overlap, and their sum is the rank's mean exchange. None for transports "
          "that have no such stages, and one way.",
          stages->known))
    return;
  for (int s = 0; s < BENCH_STAGES; s++)
    doc_real(d, names[s], 0, "s", about[s] ? about[s] : "", stages->at[s]);
  doc_end(d);
}

static void comm_point_document(struct doc *d, const struct bench_point *point, double bus)
{
  doc_object(d, NULL, 0, "One size on a path.", 1);
  doc_whole(d, "bytes", DOC_POSITIVE, "Sent by each rank.", point->bytes);
  doc_real(d, "seconds", DOC_NULLABLE, "s",
           "Per transfer; median over batches. null on an emulator, which has no speed, as are best, noise "
           "and gbps.",
           point->seconds);
  doc_real(d, "best", DOC_NULLABLE, "s", "Least over batches.", point->best);
  doc_real(d, "noise", DOC_NULLABLE, "", "1.4826 times the median absolute deviation, over the median.",
           point->noise);
  doc_real(d, "gbps", DOC_NULLABLE, "GB/s", "bytes / seconds / 1e9: one way.",
           point->seconds <= 0 ? 0 : (double)point->bytes / point->seconds / 1e9);
  doc_real(
      d, "busbw", DOC_OPTIONAL, "GB/s",
      "Of collectives, as nccl-tests has it: gbps times 2 (n - 1) / n, all-to-all (n - 1) / n, of n ranks.",
      bus > 0 ? bus * (double)point->bytes / point->seconds / 1e9 : NAN);
  doc_whole(d, "transfers", 0, "", point->transfers);
  stages_document(d, &point->stages);
  doc_end(d);
}

static void fit_document(struct doc *d, const struct bench_fit *fit)
{
  if (!doc_object(
          d, "fit", DOC_NULLABLE,
          "seconds = latency + bytes / bandwidth, least squares of relative deviations; null on an emulator, "
          "and if it cannot be fitted.",
          fit->points > 0))
    return;
  doc_real(d, "latency_seconds", 0, "s", "", fit->latency);
  doc_real(d, "bytes_per_second", DOC_POSITIVE, "B/s", "", fit->bandwidth);
  doc_real(d, "residual", 0, "", "Root mean square of (fitted − measured) / measured.", fit->residual);
  doc_whole(d, "points", DOC_POSITIVE, "", fit->points);
  doc_end(d);
}

static void comm_path_document(struct doc *d, const struct bench_path *path)
{
  static const char *const directions[] = {"in", "out", "both", "one"}, *const loads[] = {"alone", "all"};
  doc_object(d, NULL, 0, "", 1);
  doc_whole(d, "rank", 0, "", path->rank);
  doc_whole(d, "peer", DOC_NULLABLE, "null: none, or all ranks.", path->peer);
  doc_text(d, "way", 0, "pinned, pageable, a transport, or a collective.", path->method);
  doc_text(d, "used", 0, "What really moved the bytes.", path->used);
  halo_transport_document(d, path->peer >= 0 ? path->used : "");
  doc_text(d, "why", 0, "", path->why);
  doc_enum(d, "handover", DOC_OPTIONAL, DOC_WORDS(halo_handovers),
           "How two ranks hand staged halos over; none for other transports.",
           path->handover[0] ? path->handover : NULL);
  doc_enum(d, "direction", 0, DOC_WORDS(directions),
           "in: host to device. out: device to host. both: both at once. one: from rank to peer only.",
           path->direction);
  doc_enum(d, "company", 0, DOC_WORDS(loads), "all: the other ranks, or pairs, at the same time.",
           path->load);
  fit_document(d, &path->curve.fit);
  doc_list(d, "points", DOC_POSITIVE, "", 1);
  for (int p = 0; doc_each(d, p, path->curve.n); p++)
    comm_point_document(d, &path->curve.points[p], path->bus);
  doc_end(d);
  doc_end(d);
}

static void comm_paths_document(struct doc *d, const char *name, int flags, const char *about,
                                const struct bench_path *paths, int n)
{
  doc_list(d, name, flags, about, 1);
  for (int p = 0; doc_each(d, p, n); p++) comm_path_document(d, doc_at(d, paths, p));
  doc_end(d);
}

static void halo_document(struct doc *d, const struct bench *bench)
{
  doc_list(d, "halo", 0, "The halos of config.grid, by each transport.", 1);
  for (int h = 0; doc_each(d, h, bench->n_halo); h++) {
    const struct bench_halo *halo = &bench->halo[h];
    doc_object(d, NULL, 0, "", 1);
    doc_text(d, "way", 0, "", halo->method);
    doc_text(d, "used", 0, "", halo->used);
    doc_whole(d, "bytes", 0, "The most that a rank sends per exchange.", halo->bytes);
    doc_whole(d, "messages", 0, "", halo->messages);
    doc_real(d, "seconds", DOC_NULLABLE, "s",
             "Per exchange; null on an emulator, as are best, noise and phases.", halo->point.seconds);
    doc_real(d, "best", DOC_NULLABLE, "s", "", halo->point.best);
    doc_real(d, "noise", DOC_NULLABLE, "", "", halo->point.noise);
    doc_whole(d, "exchanges", 0, "", halo->point.transfers);
    doc_object(d, "phases", 0, "Rank 0's seconds per exchange; they may overlap.", 1);
    for (int p = 0; p < HALO_PHASES; p++) doc_real(d, phase_names[p], DOC_NULLABLE, "s", "", halo->phases[p]);
    doc_end(d);
    stages_document(d, &halo->point.stages);
    doc_end(d);
  }
  doc_end(d);
}

static void near_document(struct doc *d, const struct cards_table *table, int row)
{
  const struct doc_words known = {cards_near_names, CARDS_UNKNOWN, sizeof *cards_near_names};
  doc_list(d, "near", 0, "", 1);
  for (int r = 0; doc_each(d, r, table->ranks); r++) {
    const int how = d->schema ? 0 : table->near[row * table->ranks + r];
    if (how == CARDS_UNKNOWN || !doc_object(d, NULL, 0, "", 1)) continue;
    doc_whole(d, "rank", 0, "", r);
    doc_enum(d, "near", 0, known, "Below one PCI switch, one root complex, on one NUMA node, or neither.",
             cards_near_names[how]);
    doc_end(d);
  }
  doc_end(d);
}

static void cards_document(struct doc *d, const struct bench *bench)
{
  doc_list(d, "cards", 0, "Network cards by sysfs, before and after the measurements.", 1);
  for (int c = 0; doc_each(d, c, bench->cards.n); c++) {
    const struct cards_row *row = doc_at(d, bench->cards.rows, c);
    const struct card *card = &row->card;
    doc_object(d, NULL, 0, "", 1);
    doc_text(d, "host", 0, "", card->host);
    doc_text(d, "card", 0, "", card->name);
    doc_text(d, "link", 0, "", card->link);
    doc_text(d, "state", 0, "", card->state);
    doc_text(d, "pci", DOC_ANY, "", card->pci);
    doc_whole(d, "numa", DOC_ANY, "-1: unknown.", card->numa);
    doc_real(d, "gbit_per_second", DOC_NULLABLE, "Gbit/s", "", doc_known(card->gbps));
    doc_whole(d, "errors", DOC_ANY, "All error counters so far.", card->errors);
    doc_whole(d, "errors_meanwhile", DOC_ANY, "", row->errors);
    doc_whole(d, "host_sent_bytes", 0, "Sent meanwhile by the ranks of this host to other hosts, by plan.",
              bench->cards.asked[c]);
    doc_flag(d, "idle", 0, "Active, and less than a hundredth of host_sent_bytes left through it.",
             row->idle);
    near_document(d, &bench->cards, c);
    doc_end(d);
  }
  doc_end(d);
}

static void counters_document(struct doc *d, const struct bench *bench)
{
  char text[256];
  doc_list(d, "counters", DOC_OPTIONAL, "What network cards and TCP counted during each part.", 1);
  for (int c = 0; doc_each(d, c, bench->n_counters); c++)
    for (int r = 0; doc_each(d, r, bench->counters[c].cards.n); r++) {
      const struct cards_row *row = doc_at(d, bench->counters[c].cards.rows, r);
      doc_object(d, NULL, 0, "", 1);
      doc_enum(d, "part", 0, DOC_WORDS(bench_part_names), "", bench->counters[c].part);
      doc_text(d, "host", 0, "", row->card.host);
      doc_text(d, "card", 0, "TCP: the host's IP traffic but for loopback.", row->card.name);
      doc_whole(d, "sent", DOC_ANY, "Bytes.", row->sent);
      doc_whole(d, "received", DOC_ANY, "Bytes.", row->received);
      doc_whole(d, "errors", DOC_ANY, "All error counters; of TCP, segments sent again.", row->errors);
      doc_whole(d, "discards", DOC_ANY, "Packets dropped on sending.", row->discards);
      doc_whole(d, "symbol_errors", DOC_ANY, "", row->symbols);
      doc_end(d);
    }
  doc_end(d);
  doc_list(d, "findings", DOC_OPTIONAL, "What the counters prove.", 1);
  for (int c = 0; doc_each(d, c, bench->n_counters); c++)
    for (int r = 0; doc_each(d, r, bench->counters[c].cards.n); r++)
      if (d->schema || bench_counters_finding(&bench->counters[c], r, text, sizeof text))
        doc_text(d, NULL, 0, "", text);
  doc_end(d);
}

static void wire_document(struct doc *d, const struct bench *bench, int rank)
{
  static const char *const names[] = {"out", "in", "out_all", "in_all"};
  const struct bench_wire *wire = doc_at(d, bench->wire, rank);
  double least = NAN;
  if (!doc_object(d, "wire", DOC_OPTIONAL,
                  "The network card that the rank is bound to. Shares are null if they are uncertain by over "
                  "0.75%, or "
                  "if carried is below 0.9.",
                  bench->wire != NULL))
    return;
  doc_text(d, "card", 0, "", wire->card);
  doc_whole(d, "peer", 0, "The rank at the wire's other end.", wire->peer);
  doc_real(d, "gbit_per_second", DOC_POSITIVE, "Gbit/s", "Of the port, by sysfs.", wire->gbps);
  doc_real(d, "carried", DOC_NULLABLE, "", "Share of the rank's bytes that left by the card, by its counter.",
           wire->carried);
  for (int s = 0; s < 4; s++) {
    const double share = d->schema ? NAN : bench_wire_share(bench, rank, s);
    doc_real(d, names[s], DOC_NULLABLE, "", s < 2 ? "While no other card is busy." : "While all cards are.",
             share);
    least = fmin(least, share);
  }
  doc_real(d, "share", DOC_NULLABLE, "", "The least of the four.", least);
  doc_end(d);
}

static void proofs_document(struct doc *d, const struct bench *bench)
{
  const int most = bench->proofs_most;
  if (!doc_list(d, "peers", DOC_OPTIONAL, "Whether devices of a host reach each other's memory.",
                d->schema || bench->proofs))
    return;
  for (int e = 0; doc_each(d, e, bench->placement.ranks * most); e++) {
    const struct peer_proof *proof = doc_at(d, bench->proofs, e);
    if (!d->schema && proof->peer < e / most) continue;
    doc_object(d, NULL, 0, "", 1);
    doc_whole(d, "rank", 0, "", d->schema ? 0 : e / most);
    doc_whole(d, "peer", 0, "", proof->peer);
    doc_enum(d, "step", 0, DOC_WORDS(peer_rung_names), "The first that failed, or \"proven\".",
             peer_rung_names[proof->rung]);
    doc_text(d, "why", DOC_OPTIONAL, "What failed, and what lies between the devices.",
             proof->why[0] ? proof->why : NULL);
    doc_end(d);
  }
  doc_end(d);
}

static void flows_document(struct doc *d, const struct bench *bench, int rank)
{
  const int ranks = bench->placement.ranks;
  if (!doc_list(d, "fabric", DOC_OPTIONAL, "Streams to this rank from other hosts.", bench->n_flows > 0))
    return;
  for (int f = rank; doc_each(d, f, bench->n_flows); f += d->schema ? 1 : ranks) {
    const struct bench_flow *flow = doc_at(d, bench->flows, f);
    doc_object(d, NULL, 0, "", 1);
    doc_whole(d, "shift", DOC_POSITIVE, "Hosts from the sender's to this one.", flow->shift);
    doc_whole(d, "from", 0, "The sender.", flow->from);
    doc_real(d, "alone", DOC_NULLABLE, "Gbit/s", "While one host sends; null: uncertain.", flow->alone);
    doc_real(d, "all", DOC_NULLABLE, "Gbit/s", "While each host sends.", flow->all);
    doc_end(d);
  }
  doc_end(d);
}

void bench_document(struct doc *d, const struct bench *bench)
{
  doc_frame(d, "comm-gpu/1", "comm-gpu", "Result of comm-gpu",
            "One run. Every transfer's content was compared: a document exists only if none differed. "
            "Seconds are the "
            "slowest rank's.");
  comm_config_document(d, bench);
  doc_object(d, "result", 0, "", 1);
  doc_const(d, "verdict", status_verdict(STATUS_OK));
  doc_real(d, "seconds", 0, "s", "Of the whole run.", bench->seconds);
  doc_whole(d, "transfers", 0, "Over all ranks.", bench->transfers);
  doc_whole(d, "curves_left_out", DOC_OPTIONAL, "Paths for which there was no time.",
            bench->plan.curves_left_out);
  doc_whole(d, "sizes_left_out", DOC_OPTIONAL, "Sizes of measured paths for which there was no time.",
            bench->plan.sizes_left_out);
  doc_end(d);
  comm_paths_document(d, "host", 0, "Host and device, one rank each.", bench->host, bench->n_host);
  comm_paths_document(d, "pairs", 0, "Device to device.", bench->pairs, bench->n_pairs);
  halo_document(d, bench);
  comm_paths_document(d, "allreduce", 0, "Sums over all ranks, in host memory.", &bench->reduce,
                      bench->n_reduce);
  if (d->schema || bench->n_collectives)
    comm_paths_document(d, "collectives", DOC_OPTIONAL, "All-reduce and all-to-all, in device memory.",
                        bench->collectives, bench->n_collectives);
  proofs_document(d, bench);
  cards_document(d, bench);
  counters_document(d, bench);
  doc_list(d, "ranks", DOC_POSITIVE, "", 1);
  for (int r = 0; doc_each(d, r, bench->placement.ranks); r++) {
    doc_object(d, NULL, 0, "", 1);
    rank_row_document(d, doc_at(d, bench->ranks, r), r, 0);
    wire_document(d, bench, r);
    flows_document(d, bench, r);
    doc_end(d);
  }
  doc_end(d);
}
