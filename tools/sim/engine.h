/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Ranks in simulated time: each is an actor of SimGrid that sleeps until something that it
 * polls may have changed. All are one process and share its variables; they alternate only inside
 * calls of SimGrid. */
#ifndef TOOLS_SIM_ENGINE_H
#define TOOLS_SIM_ENGINE_H

#include <simgrid/host.h>
#include <simgrid/semaphore.h>

#include "tools/predict/model.h"
#include "tools/sim/sim.h"

struct gpu_device;

/** Times that are nearer to each other are one: SimGrid has a nanosecond. */
#define SIM_MOMENT 1e-9

/** What is simulated, the same for all ranks. */
struct sim_machine {
  struct model_terms model;
  struct model_route by;
  struct sim_point point;
  int per_host, via, passes;
  int gpus_are_hosts; /**< of the platform; else each of its hosts holds per_host of them */
  size_t gosa_bytes;  /**< of a host's buffer for the sums of a block */
  int shared;         /**< staged halos of a host's ranks are handed over through memory */
  double near;        /**< seconds until a flag or a small message is seen on the same host */
  /** seconds per byte of a copy, and more for each copy under way on its host */
  double own, host;
};
extern struct sim_machine sim;

struct sim_rank {
  int number;
  struct gpu_device *device;
  double chain;                   /**< seconds before its kernel sends by p2p */
  double messages, tokens, bytes; /**< sent; tokens have no bytes */
  double seconds[SIM_PHASES];     /**< of a sweep, by phase */
  long sums;                      /**< that it has begun */
  /* the engine's own */
  sg_host_t host;
  sg_sem_t awake;
  int blocked;
  double until; /* while blocked */
  double *alarms;
  int n_alarms, room;
};

/** \brief So many zeros, of each rank or host; ends the process if memory runs out. */
void *sim_array(size_t n, size_t bytes);

/** \brief Runs \a run on all ranks, on the hosts of a platform in the order of the numbers in their
 * names, until one of them ends the process. STATUS_USAGE if there are too few. */
status_t engine_run(const char *platform, void (*run)(int argc, char **argv));

/** \brief The rank that calls, and any. */
struct sim_rank *sim_self(void);
struct sim_rank *sim_rank(int rank);

int sim_is_near(int a, int b);
double sim_now(void);

/** \brief Seconds until a small message is seen, and a byte takes alone. */
double sim_wire(int from, int to);
double sim_byte(int from, int to);

/** \brief \a rank polls again at time \a at. */
void sim_wake(int rank, double at);

/** \brief Whether an alarm of this rank has gone off. */
int sim_alarms_take(struct sim_rank *rank);

/** \brief Sleeps until the next alarm, or \a until. */
void sim_sleep(struct sim_rank *rank, double until);

/* A number that one rank stores and others see later. Numbers only grow. As many stores are kept as
 * fit into a flag of comm/halo/link.h; the oldest are forgotten. */

#define FLAG_STORES 7

struct flag {
  uint64_t stores;
  uint64_t value[FLAG_STORES];
  double seen[FLAG_STORES]; /**< when others see it */
};

/** \brief Returns whether \a value is new. */
int flag_store(struct flag *flag, uint64_t value, double seen);

/** \brief What is seen now. */
uint64_t flag_load(const struct flag *flag);

/** \brief When at least \a value is seen; infinity if it was not stored yet. */
double flag_when(const struct flag *flag, uint64_t value);

#endif
