/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Ranks in simulated time: each is an actor of SimGrid that sleeps until something that it
 * looks at changes. All are one process and share its variables; they take turns only inside of
 * calls of SimGrid. */
#ifndef TOOLS_SIM_ENGINE_H
#define TOOLS_SIM_ENGINE_H

#include <simgrid/host.h>

#include "base/status.h"
#include "tools/predict/model.h"

struct gpu_device;

/** Times that are nearer to each other are one: SimGrid has a nanosecond. */
#define SIM_MOMENT 1e-9

/** What is simulated, the same for all ranks. */
struct sim_machine {
  struct model model;
  struct model_route by;
  int64_t global[3];
  int procs[3], ranks, per_host, via, passes;
  int gpus_are_hosts; /**< of the platform; else each of its hosts holds per_host of them */
  size_t gosa_bytes;  /**< of a host's buffer for the sums of a block */
  int shared;         /**< staged halos of a host's ranks are handed over through memory */
  double near;        /**< seconds until a flag or a small message is seen on the same host */
  /** seconds that a byte of a copy takes, and more for each copy under way on its host */
  double own, host;
};
extern struct sim_machine sim;

/** What a rank has sent. */
struct sim_sent {
  long messages, tokens; /**< tokens: of no bytes */
  double bytes;
};

/** \brief So many zeros, of each rank or host; ends the process where memory runs out. */
void *sim_array(size_t n, size_t bytes);

/** \brief This actor becomes \a rank, on its host of the platform. STATUS_USAGE where there are too
 * few, or none is linked to the first. */
status_t engine_enter(int rank);

/** \brief The device whose work goes on while this rank waits. */
void engine_device(struct gpu_device *device);
struct gpu_device *sim_device(void);

int sim_self(void);
sg_host_t sim_host(int rank);
int sim_is_near(int a, int b);
double sim_now(void);
struct sim_sent *sim_sent(int rank);

/** \brief \a rank looks again at time \a at. */
void sim_wake(int rank, double at);

/** \brief Waits for the next thing that can happen to this rank. In place of sched_yield. */
int sim_yield(void);

#endif
