/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Network cards of the hosts, from sysfs: rate, state, errors, bytes, and distance from a
 * rank's device.
 *
 * InfiniBand and RoCE ports are listed in /sys/class/infiniband, other cards in /sys/class/net. The
 * network device of an RDMA card is skipped, because its counters do not include RDMA traffic. For
 * tests, HIMENO_SYSFS names a directory that replaces /sys. */
#ifndef COMM_RANKS_CARDS_H
#define COMM_RANKS_CARDS_H

#include <mpi.h>
#include <stdint.h>

#include "base/meta.h"
#include "base/status.h"

#define CARDS_MAX 32 /* maximum per host */

/** Distance of a card from a device, nearest first. */
enum cards_near {
  CARDS_SWITCH, /**< below the same PCI switch */
  CARDS_ROOT,   /**< below the same root complex */
  CARDS_NODE,   /**< on the same NUMA node */
  CARDS_SYSTEM, /**< across NUMA nodes */
  CARDS_UNKNOWN
};

struct card {
  char host[META_HOST_BYTES];
  char name[48];             /**< "mlx5_0/1", "eth0" */
  char link[16];             /**< "InfiniBand", "Ethernet" */
  char state[16];            /**< "active", "down", …: the word in sysfs */
  char pci[16];              /**< "" if unknown */
  double gbps;               /**< rate, Gbit/s; 0 if unknown */
  int numa;                  /**< −1 if unknown */
  int64_t errors;            /**< sum of all error counters */
  int64_t discards, symbols; /**< packets dropped on sending, and symbol errors */
  int64_t received, sent;    /**< number of bytes since the counters started */
  enum cards_near near;      /**< distance from the device of the rank that read the card */
};

struct cards {
  int n;
  struct card card[CARDS_MAX];
};

/** A card, and the increase of its counters between two readings. */
struct cards_row {
  struct card card;
  int64_t received, sent; /**< number of bytes between the readings */
  int64_t errors, discards, symbols;
  /** 1: active but carried almost nothing, although ranks of the host sent to other hosts */
  int idle;
};

struct cards_table {
  int n;
  struct cards_row *rows; /**< the cards of all hosts */
  int64_t *asked;         /**< per row: bytes that ranks of its host sent to other hosts */
  /** array of n × ranks: distance of each card from each rank's device, as enum cards_near;
   * CARDS_UNKNOWN if the rank is on another host */
  unsigned char *near;
  int ranks;
};

/** \brief Reads this host's cards. \a pci is the PCI address of this rank's device, or "" if the
 * device has none. Having no card is not an error. */
void cards_read(const char *pci, struct cards *cards);

/** \brief Returns the card of that name, or NULL if there is none. */
const struct card *cards_find(const struct cards *cards, const char *name);

/** \brief Returns the distance of two PCI devices, from their paths in sysfs. */
enum cards_near cards_near(const char *pci, const char *other);

extern const char *const cards_near_names[CARDS_UNKNOWN + 1];

/** \brief Collective: computes the increase of all cards' counters between two readings. \a sent is
 * the number of bytes that this rank sent to other hosts, and \a host is the lowest rank of this
 * rank's host. Fills \a table on rank 0. */
status_t cards_compare(MPI_Comm comm, const struct cards *before, const struct cards *after, int host,
                       uint64_t sent, struct cards_table *table);
void cards_free(struct cards_table *table);

#endif
