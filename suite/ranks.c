/* SPDX-License-Identifier: MIT */
#include "suite/ranks.h"

#include <math.h>
#include <string.h>

#include "base/report.h"
#include "comm/ranks/agree.h"
#include "comm/transports/aware.h"
#include "suite/progress.h"

#define RANKS_SHOWN 64
#define HOSTS_SHOWN 8
#define HOST_WIDTH  10

status_t rank_place(struct placement *p, const struct gpu_backend *backend, const char *device, int binding,
                    int64_t expect, struct gpu_device **opened)
{
  const struct placement_request request = {backend, device, (enum binding_policy)binding, (int)expect};
  progress_begin("finding devices");
  RETURN_IF_FAILED(placement_choose(p, &request));
  if (p->backend->memory == GPU_MEMORY_CUDA) RETURN_IF_FAILED(aware_agree(p->comm));
  return agree_status(p->comm, gpu_open(p->backend, p->device, opened));
}

struct rank_row rank_row_of(const struct placement *p)
{
  struct rank_row row = {.info = p->info,
                         .host_first = p->host_first,
                         .host_unused = p->host_unused,
                         .numa = p->numa,
                         .shared = p->shared,
                         .overlap = p->overlap};
  snprintf(row.reason, sizeof row.reason, "%.*s", (int)sizeof row.reason - 1, p->reason);
  snprintf(row.host, sizeof row.host, "%s", p->host);
  snprintf(row.cpus, sizeof row.cpus, "%s", p->cpus);
  return row;
}

const char *rank_device(const struct rank_row *row)
{
  return row->info.uuid[0] ? row->info.uuid : row->info.name;
}

static const struct rank_row *row_at(const void *rows, size_t size, int r)
{
  return (const struct rank_row *)((const char *)rows + (size_t)r * size);
}

int ranks_hosts(const void *rows, size_t size, int n)
{
  int hosts = 0;
  for (int r = 0; r < n; r++) hosts += row_at(rows, size, r)->host_first == r;
  return hosts;
}

void ranks_print_backend(const void *rows, size_t size, int n, FILE *out)
{
  const struct rank_row *first = row_at(rows, size, 0);
  int unused = 0, hosts = 0;
  if (first->reason[0]) fprintf(out, "  backend    the CPU (%s: %s", first->host, first->reason);
  for (int r = 1, others = 0; r < n && first->reason[0]; r++)
    if (strcmp(row_at(rows, size, r)->reason, first->reason) != 0 && others++ == 0)
      fprintf(out, "; %s: %s", row_at(rows, size, r)->host, row_at(rows, size, r)->reason);
  if (first->reason[0]) fprintf(out, ")\n");
  for (int r = 0; r < n; r++) {
    const struct rank_row *row = row_at(rows, size, r);
    if (row->host_first != r || row->host_unused == 0) continue;
    unused += row->host_unused;
    if (hosts++ < HOSTS_SHOWN)
      fprintf(out, "%s%d on %s", hosts == 1 ? "  unused     devices that no rank uses: " : ", ",
              row->host_unused, row->host);
  }
  if (hosts > HOSTS_SHOWN) fprintf(out, "; %d on %d hosts in all", unused, hosts);
  if (hosts > 0) fprintf(out, "\n");
}

void ranks_print(const void *rows, size_t size, int n, const char *gflops_title, int verbose, FILE *out)
{
  int width = HOST_WIDTH;
  for (int r = 0; r < n && r < RANKS_SHOWN; r++) {
    const int length = (int)strlen(row_at(rows, size, r)->host);
    if (length > width) width = length;
  }
  fprintf(out, "\n  rank  %-*s  %22s  core IDs    NUMA  PCI           device%s\n", width, "host",
          gflops_title, verbose ? ", UUID below" : "");
  for (int r = 0; r < n && r < RANKS_SHOWN; r++) {
    const struct rank_row *row = row_at(rows, size, r);
    char gflops[REPORT_NUMBER_BYTES], numa[REPORT_NUMBER_BYTES], none[REPORT_NUMBER_BYTES];
    report_number(row->info.emulated ? 0 : row->gflops, 22, 1, gflops);
    report_number(0, 4, 0, numa);
    const char *pci = row->info.pci[0] ? row->info.pci : report_number(0, 1, 0, none);
    /* a dash in UTF-8 has more bytes than columns */
    const int pci_width = 12 + (pci == none ? (int)strlen(none) - 1 : 0);
    if (row->numa >= 0) snprintf(numa, sizeof numa, "%4d", row->numa);
    fprintf(out, "  %4d  %-*s %s  %-10.40s  %s  %-*s  %s", r, width, row->host, gflops, row->cpus, numa,
            pci_width, pci, row->info.name);
    if (verbose) fprintf(out, "\n        %s", row->info.uuid[0] ? row->info.uuid : "no UUID");
    fprintf(out, "\n");
  }
  if (n > RANKS_SHOWN) fprintf(out, "  ... and %d more: see --json\n", n - RANKS_SHOWN);
}

void ranks_print_sharing(const void *rows, size_t size, int n, FILE *out)
{
  int warnings = 0, shared = 0;
  for (int r = 0; r < n; r++) {
    const struct rank_row *row = row_at(rows, size, r);
    shared += row->shared;
    if (row->shared && warnings++ < RANKS_SHOWN)
      fprintf(out, "  WARNING    rank %d SHARES its device %s on %s with %d other rank%s\n", r,
              rank_device(row), row->host, row->shared, row->shared > 1 ? "s" : "");
    if (row->overlap && warnings++ < RANKS_SHOWN)
      fprintf(out, "  WARNING    rank %d on %s runs on cores (%s) that other ranks use too\n", r, row->host,
              row->cpus);
  }
  if (warnings > RANKS_SHOWN)
    fprintf(out, "  ... and %d more warnings: see --json\n", warnings - RANKS_SHOWN);
  if (shared > 0) fprintf(out, "             The times are not those of a whole device.\n");
}

void rank_row_document(struct doc *d, const struct rank_row *row, int rank, int timed)
{
  const struct gpu_device_info *info = &row->info;
  doc_whole(d, "rank", 0, "", rank);
  doc_text(d, "host", 0, "", row->host);
  doc_whole(d, "host_devices_unused", DOC_OPTIONAL,
            "Devices that ranks of this host see and none of them uses.", row->host_unused);
  doc_text(d, "backend_reason", DOC_OPTIONAL | DOC_NULLABLE,
           "Why the automatic choice took the CPU; null if it took a GPU, or -b named a backend.",
           row->reason[0] ? row->reason : NULL);
  doc_text(d, "device", 0, "", info->name);
  doc_text(d, "uuid", DOC_ANY, "", info->uuid);
  doc_text(d, "pci", DOC_ANY, "", info->pci);
  doc_text(d, "driver", DOC_ANY, "", info->driver);
  doc_whole(d, "numa", DOC_ANY, "-1: unknown.", row->numa);
  doc_text(d, "cpus", DOC_ANY, "", row->cpus);
  doc_flag(d, "device_shared", 0, "", row->shared > 0);
  if (!timed) return;
  doc_flag(d, "cpus_shared", 0, "", row->overlap);
  doc_real(d, "gflops", DOC_NULLABLE, "GFLOPS",
           "Of the rank's own compute time, without waits; null on an emulator.",
           info->emulated ? NAN : row->gflops);
}
