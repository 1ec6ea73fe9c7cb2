/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Instruction-level emulator of VideoCore IV QPUs. Any number of QPUs run one instruction
 * each per cycle, always in the same order, so that every run gives the same result.
 *
 * It stops at undefined behaviour and reports QPU, address and cause: a broken scheduling rule, an
 * access outside every allocation, a look-up that was never requested, a wait that can never end.
 * It refuses the 3D pipeline (varyings, tile buffer, textures). It counts issued instructions and
 * cycles spent waiting. Without an estimate (qpu_emu_estimate) these counts are no measure of
 * speed, because memory then answers at once. */
#ifndef QPU_EMU_H
#define QPU_EMU_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "gpu/qpu/emulator/memory.h"

#define QPU_EMU_MAX_QPUS 64
#define QPU_EMU_BASE     0x20000000u

/** Parameters of a time estimate. Times are in clocks of the chip, except launch_seconds. */
struct qpu_cost_model {
  double clock_hz;
  int tmu_vector;  /**< time for which sixteen words occupy a TMU */
  int tmu_latency; /**< latency of a TMU, in addition to the latency of the caches */
  int l2_line;     /**< time for which a line of 64 bytes occupies the L2 cache */
  int l2_latency;
  int memory_line; /**< time for which a line occupies the memory */
  int memory_latency;
  int uniform_latency; /**< delay after the stream continues at another address */
  int dma_start, dma_row, dma_word;
  int vpm_vector;
  double launch_seconds; /**< overhead of a launch, from the host's call to its return */
};

/** \brief A Raspberry Pi's VideoCore IV at 250 MHz, fitted to GPU_FFT's published times. */
extern const struct qpu_cost_model qpu_cost_pi;

struct qpu_emu_config {
  int n_qpus; /**< 1 to 64; 0 means 12 */
  /** 1 or 2 threads per QPU (0 means 1); with 2, each has half the registers */
  int threads_per_qpu;
  size_t memory_bytes;       /**< size of the emulated memory; 0 means 64 MiB */
  uint32_t base;             /**< bus address of the emulated memory; 0 means QPU_EMU_BASE */
  uint64_t max_instructions; /**< limit after which the run is aborted; 0 for no limit */
};

/** One program to run. Each program gets a free QPU (or thread), in order. */
struct qpu_job {
  uint32_t code;     /**< bus address, a multiple of 8 */
  uint32_t uniforms; /**< bus address of its uniform stream, a multiple of 4 */
};

enum qpu_stall {
  QPU_STALL_SEMAPHORE,
  QPU_STALL_MUTEX,
  QPU_STALL_DMA_LOAD,
  QPU_STALL_DMA_STORE,
  QPU_STALL_VPM_READ,
  QPU_N_STALLS
};

/** Counts of the last run, summed over all QPUs. */
struct qpu_emu_stats {
  uint64_t cycles;
  uint64_t issued;               /**< instructions */
  uint64_t arithmetic;           /**< instructions with an fadd, fsub or fmul */
  uint64_t flops;                /**< results of fadd, fsub and fmul, counted per lane */
  uint64_t stalls[QPU_N_STALLS]; /**< cycles in which a QPU waited, by cause */
  uint64_t uniforms, tmu_loads, vpm_reads, vpm_writes, dma_loads, dma_stores, branches_taken;
  uint64_t interrupts; /**< host interrupts raised */
  int tmu_depth_used;  /**< largest number of requests in one TMU */
};

struct qpu_emu;

/** \brief Creates an emulator. Returns STATUS_USAGE for an invalid configuration, and
 * STATUS_ENVIRONMENT if memory ran out. */
status_t qpu_emu_create(const struct qpu_emu_config *config, struct qpu_emu **emu);
void qpu_emu_destroy(struct qpu_emu *emu);

/** \brief Returns the memory for code and data. Programs may access only allocations in it. */
struct qpu_memory *qpu_emu_memory(struct qpu_emu *emu);

/** \brief Makes the following runs estimate their time with \a model, or stops that if it is NULL.
 * Results stay the same; runs take longer. Returns STATUS_ENVIRONMENT if memory ran out. */
status_t qpu_emu_estimate(struct qpu_emu *emu, const struct qpu_cost_model *model);

/** \brief Returns the estimated seconds of the last run on the real chip; 0 without a model. */
double qpu_emu_seconds(const struct qpu_emu *emu);

/** \brief Sets the number of QPUs for the next runs, at most the configured number, and the threads
 * per QPU: 1 or 2. */
void qpu_emu_use(struct qpu_emu *emu, int n_qpus, int threads_per_qpu);

/** \brief Runs all jobs to their end. Returns STATUS_USAGE for misaligned addresses, STATUS_FAULT
 * for undefined behaviour, and STATUS_HANG for a deadlock or too many instructions; logs the cause.
 * Registers, VPM and semaphores start from zero. */
status_t qpu_emu_run(struct qpu_emu *emu, const struct qpu_job *jobs, size_t n_jobs);

struct qpu_emu_stats qpu_emu_stats(const struct qpu_emu *emu);

/** \brief Returns how often the instruction at a code address was issued in the last run. */
uint64_t qpu_emu_issued_at(const struct qpu_emu *emu, uint32_t address);

#endif
