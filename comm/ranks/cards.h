/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Network cards of the hosts, from sysfs: rate, state, errors, bytes, and how near each is
 * to a rank's device.
 *
 * InfiniBand and RoCE ports are listed in /sys/class/infiniband, other cards in /sys/class/net; a
 * net device of an RDMA card is left out, since its counters miss RDMA traffic. The test variable
 * HIMENO_SYSFS names another root than /sys. */
#ifndef COMM_RANKS_CARDS_H
#define COMM_RANKS_CARDS_H

#include <mpi.h>
#include <stdint.h>

#include "base/meta.h"
#include "base/status.h"

#define CARDS_MAX 32 /* of a host */

/** How near, best first. */
enum cards_near {
  CARDS_SWITCH, /**< below the same PCI switch */
  CARDS_ROOT,   /**< below the same root complex */
  CARDS_NODE,   /**< the same NUMA node */
  CARDS_SYSTEM, /**< across NUMA nodes */
  CARDS_UNKNOWN
};

struct card {
  char host[META_HOST_BYTES];
  char name[48];             /**< "mlx5_0/1", "eth0" */
  char link[16];             /**< "InfiniBand", "Ethernet" */
  char state[16];            /**< "active", "down", …: sysfs's word */
  char pci[16];              /**< "" where there is none */
  double gbps;               /**< rate, Gbit/s; 0 if unknown */
  int numa;                  /**< −1 if unknown */
  int64_t errors;            /**< all error counters together */
  int64_t discards, symbols; /**< of those, packets dropped on sending, and symbol errors */
  int64_t received, sent;    /**< bytes so far */
  enum cards_near near;      /**< to the device of the rank that read it */
};

struct cards {
  int n;
  struct card card[CARDS_MAX];
};

/** One card before and after. */
struct cards_row {
  struct card card;
  int64_t received, sent; /**< meanwhile */
  int64_t errors, discards, symbols;
  /** active, bytes were to leave the host, and next to none went through it */
  int idle;
};

struct cards_table {
  int n;
  struct cards_row *rows; /**< of all hosts */
  int64_t *asked;         /**< a row: bytes that its host's ranks sent to other hosts */
  unsigned char *near;    /**< n × ranks, enum cards_near; CARDS_UNKNOWN for other hosts' ranks */
  int ranks;
};

/** \brief Reads this host's cards. \a pci is the device's place, "" if it has none. A host without
 * cards has none: that is no error. */
void cards_read(const char *pci, struct cards *cards);

/** \brief The card of that name; NULL for none. */
const struct card *cards_find(const struct cards *cards, const char *name);

/** \brief How near two PCI devices are by their paths in sysfs. */
enum cards_near cards_near(const char *pci, const char *other);

extern const char *const cards_near_names[CARDS_UNKNOWN + 1];

/** \brief Collective: what went through the cards between two readings; \a sent is what this rank
 * sent to other hosts, \a host the lowest rank of its host. On rank 0 \a table is filled. */
status_t cards_compare(MPI_Comm comm, const struct cards *before, const struct cards *after, int host,
                       uint64_t sent, struct cards_table *table);
void cards_free(struct cards_table *table);

#endif
