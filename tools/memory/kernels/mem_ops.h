/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The kernels that mem-gpu measures with: one const struct per backend, found by the
 * backend's name.
 *
 * On asynchronous devices, functions enqueue their work and return. The caller owns all memory. */
#ifndef TOOLS_MEMORY_KERNELS_MEM_OPS_H
#define TOOLS_MEMORY_KERNELS_MEM_OPS_H

#include "gpu/gpu.h"
#include "tools/memory/kernels/flops.h"

#define MEM_STREAMS_MAX 16
#define MEM_ARRAYS_MAX  14
#define MEM_SHAPES_MAX  8
/** Every size of a copy is a multiple of this: 16 streams of whole pages. */
#define MEM_GRAIN ((uint64_t)MEM_STREAMS_MAX * 4096)

/** Assignment of a stream's elements to threads. */
enum mem_assign {
  MEM_CYCLIC, /**< neighbouring threads take neighbouring elements; all advance together */
  MEM_BLOCK,  /**< each thread has one contiguous run */
  MEM_GROUP   /**< each thread block has one contiguous run, cyclic among its threads */
};

/** Implementations of a copy. */
enum mem_method {
  MEM_STUDY,  /**< a copy with the given streams, pacing and assignment */
  MEM_TUNED,  /**< the suite's fastest copy, with launch shape `shape` */
  MEM_BABEL,  /**< BabelStream's copy: one double per thread, blocks of 1024 */
  MEM_NATIVE, /**< the library's own function */
  MEM_METHODS
};

struct mem_copy {
  enum mem_method method;
  struct gpu_mem from, to;
  uint64_t bytes; /**< bytes copied: this many are read and as many written */
  int streams;    /**< number of equal parts of the arrays, copied concurrently */
  int paced;      /**< 1: threads of a block wait for each other before each element */
  enum mem_assign assign;
  int width;   /**< bytes that a thread moves at once: 4 or 16 */
  int threads; /**< threads per block */
  int blocks;  /**< blocks per compute unit */
  int shape;   /**< launch shape of MEM_TUNED: below mem_traits.copy_shapes.n */
};

/** Writes the exclusive or of arrays 0 … reads − 1 to `writes` (0 or 1) arrays. */
struct mem_mix {
  int reads, writes;
  struct gpu_mem arrays[MEM_ARRAYS_MAX]; /**< arrays that are read, then those that are written */
  struct gpu_mem sum; /**< one word, to which a read-only mix adds all words that it read */
  uint64_t bytes;     /**< size of each array */
  int shape;          /**< below mem_traits.mix_shapes.n */
};

/** The expected value of a word of memory. */
enum mem_expect { MEM_EXPECT_XOR, MEM_EXPECT_WRITTEN };

struct mem_check {
  enum mem_expect expect;
  int arrays;     /**< number of arrays for MEM_EXPECT_XOR */
  uint64_t wrong; /**< number of words that differ */
  uint64_t first; /**< index of the first word that differs */
  uint32_t sum;   /**< sum of all expected words */
};

/** One chase of `hops` loads; each loads from the position that the previous one returned. */
struct mem_chase {
  struct gpu_mem mem;
  /** first and last position, as stored in memory; end is set when the call returns */
  uint64_t start, end;
  uint64_t hops;
  struct gpu_event *begin_event, *end_event; /**< recorded around the loads */
  /** device clock cycles of all hops, or 0 without a clock; set when the call returns */
  double cycles;
};

/** Repeated reading of a window, which measures the bandwidth of one level of the hierarchy. Adds
 * all words to `sum`. */
struct mem_window {
  struct gpu_mem mem, sum;
  uint64_t bytes;
  int passes;
  int own;     /**< 1: every thread block reads the whole window; 0: blocks share it */
  int readers; /**< result: number of times that each pass reads the window, 1 if blocks share it */
};

/** Floating-point work on the data read: `flop16` operations per 16 bytes of memory, see flops.h.
 * Adds to `sum`: the results' bits, as integers, for MEM_FP32; the results, as floats, for other
 * types. */
struct mem_flops {
  enum mem_type type;
  struct gpu_mem mem, sum;
  uint64_t bytes;
  int flop16;
  uint64_t
      /** result for matrix products: number of threads, each of which reads 16 bytes per load */
      threads;
};

/** Launch shapes of one kernel: "256 threads a block, 1 word a thread", ... */
struct mem_shapes {
  int n;
  const char *names[MEM_SHAPES_MAX];
};

/** Limits of a device that the plan of a run needs. */
struct mem_traits {
  uint64_t line;   /**< bytes of a cache line */
  int last_cache;  /**< 1: info.cache_bytes of the device is the size of its last cache */
  int threads_max; /**< maximum threads per block */
  int blocks_max;  /**< largest useful number of blocks per compute unit */
  int assign;      /**< supported assignments: bit set of enum mem_assign */
  /** launch shapes of MEM_TUNED: the fastest differs between chips and sizes */
  struct mem_shapes copy_shapes;
  struct mem_shapes mix_shapes; /**< launch shapes of the mixes */
  /** 1: memory handles are addresses, so a chase stores addresses; 0: it stores offsets */
  int pointers;
  int types; /**< types that flops() supports: bit set of enum mem_type */
  int peaks; /**< types that peak() supports: bit set of enum mem_type */
};

struct mem_exec;

struct mem_ops {
  const char *backend;
  const char *native; /**< name of the library's own copy function */

  status_t (*open)(struct gpu_device *device, struct mem_exec **exec);
  void (*close)(struct mem_exec *exec); /**< the pointer is NULL if there is nothing to do */
  void (*traits)(const struct mem_exec *exec, struct mem_traits *traits);

  /** \brief Fills memory with the words of array \a number. */
  status_t (*fill)(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                   int number);
  /** \brief Compares every word with its expected value. Returns when the result is complete. */
  status_t (*check)(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                    struct mem_check *check);
  status_t (*copy)(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_copy *copy);
  status_t (*mix)(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_mix *mix);

  /** \brief Links the nodes of a ring in memory, for a chase. */
  status_t (*ring_fill)(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem,
                        const struct mem_ring *ring);
  status_t (*chase)(struct mem_exec *exec, struct gpu_queue *queue, struct mem_chase *chase);

  status_t (*window)(struct mem_exec *exec, struct gpu_queue *queue, struct mem_window *window);
  status_t (*flops)(struct mem_exec *exec, struct gpu_queue *queue, struct mem_flops *flops);
  /** \brief Runs matrix products at full rate, from shared memory. Sets *flop to the number of
   * operations and *expect to the value that \a sum must have. */
  status_t (*peak)(struct mem_exec *exec, struct gpu_queue *queue, enum mem_type type, int passes,
                   struct gpu_mem sum, double *flop, double *expect);
};

#define MEM_OPS(name, built) extern const struct mem_ops mem_ops_##name;
GPU_BACKENDS(MEM_OPS)
#undef MEM_OPS

/** \brief Returns the kernels of a backend, or NULL if it has none. */
const struct mem_ops *mem_ops_find(const char *backend);

extern const char *const mem_assign_names[3];
extern const char *const mem_type_names[4];
extern const char *const mem_method_names[];

#endif
