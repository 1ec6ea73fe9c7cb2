/* SPDX-License-Identifier: MIT */
/** \file \brief Recorded hosts for the tests of binding, and functions that set which devices and
 * cores a rank sees.
 *
 * The machines in tests/topo are synthetic, but modelled on real ones, so that anybody can read
 * them:
 * - eight-gpus.xml: two sockets of 16 cores and 32 threads, numbered as Linux does (the second
 * threads from 32 on), made by `lstopo -i "pack:2 [numa] l3:1 l2:16 core:1
 * pu:2(indexes=0,32,1,33,…)" --of xml`. Each package has four host bridges, each with a PCI bridge
 * and a GPU (class 0302), at the bus numbers of a DGX H100: 1b 43 52 61 and 9d c3 d1 df;
 * - eight-gpus-slurm.xml: the same host as a job of eight cores sees it, by `lstopo --restrict
 * 0x000f000f,0x000f000f`: cores 0-3 of the first socket, 16-19 of the second. The control group
 * hides no PCI device;
 * - two-numa-nodes.xml: `lstopo -i "pack:2 [numa] l3:1 l2:4 core:1 pu:1"`: eight cores, no GPU. A
 * network card has no node, as if the firmware reported none. */
#ifndef TESTS_UNIT_BINDING_HOST_H
#define TESTS_UNIT_BINDING_HOST_H

#include "gpu/binding.h"
#include "tests/unit/unit.h"

enum { GPUS = 8, RANKS_MAX = 16 };

/** A host under test. Until a test changes it, ranks see no devices and are bound to all cores. */
struct fixture {
  hwloc_topology_t topology;
  struct gpu_device_info gpus[GPUS];
  struct binding_rank ranks[RANKS_MAX];
  hwloc_cpuset_t bound[RANKS_MAX];
};

extern struct fixture fixture;

/** \brief Set-up and teardown of a test: load a machine of tests/topo, and unload it. */
int load_eight_gpus(void **state);
int load_slurm(void **state);
int load_two_nodes(void **state);
int load_four_nodes(void **state); /* two sockets with two nodes of two cores each */
int unload(void **state);

#define ON(machine, test) TEST_WITH(test, load_##machine, unload)

/** \brief Ranks \a first to \a last see \a n GPUs from number \a gpu on. */
void show(int first, int last, int gpu, int n);

/** \brief The rank sees \a n devices, those in \a infos. */
void show_list(int rank, const struct gpu_device_info *infos, int n);

/** \brief Binds a rank to processing units, listed as in Linux: "0-3,32". */
void bind_rank(int rank, const char *list);

void assign_devices(int n);
void assign_cpus(enum binding_policy policy, int n);
void expect_device(int rank, int device, int shared);

#endif
