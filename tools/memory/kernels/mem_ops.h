/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The kernels that mem-gpu measures with: one const set a backend, joined to the backend by
 * name.
 *
 * All are asynchronous where the device is, and put their work into a queue. Memory belongs to the
 * caller. */
#ifndef TOOLS_MEMORY_KERNELS_MEM_OPS_H
#define TOOLS_MEMORY_KERNELS_MEM_OPS_H

#include "gpu/gpu.h"
#include "tools/memory/kernels/flops.h"

#define MEM_STREAMS_MAX 16
#define MEM_ARRAYS_MAX  14
#define MEM_SHAPES_MAX  8
/** Every size of a copy is a multiple of this: 16 streams of pages. */
#define MEM_GRAIN ((uint64_t)MEM_STREAMS_MAX * 4096)

/** How the elements of a stream are dealt to threads. */
enum mem_assign {
  MEM_CYCLIC, /**< neighbours take neighbouring elements, and all step on together */
  MEM_BLOCK,  /**< each thread has one run of its own, as in the report's picture */
  MEM_GROUP   /**< each thread block has one run, its threads cyclic inside */
};

/** Ways to copy. */
enum mem_method {
  MEM_STUDY,  /**< streams, pacing and assignment as asked for */
  MEM_TUNED,  /**< the suite's own, in the shape that is fastest here */
  MEM_BABEL,  /**< as BabelStream does: a double a thread, blocks of 1024 */
  MEM_NATIVE, /**< the library's own */
  MEM_METHODS
};

struct mem_copy {
  enum mem_method method;
  struct gpu_mem from, to;
  uint64_t bytes; /**< copied: as many are read as written */
  int streams;    /**< the arrays are cut into so many parts, which are copied side by side */
  int paced;      /**< a barrier of the block before each element */
  enum mem_assign assign;
  int width;   /**< bytes a thread moves at once: 4 or 16 */
  int threads; /**< a block */
  int blocks;  /**< a compute unit */
  int shape;   /**< of MEM_TUNED: below mem_traits.copy_shapes.n */
};

/** Reads `reads` arrays (numbers 0 …) and writes `writes` (0 or 1) by exclusive or. */
struct mem_mix {
  int reads, writes;
  struct gpu_mem arrays[MEM_ARRAYS_MAX]; /**< what is read, then what is written */
  struct gpu_mem sum;                    /**< one word: a read-only mix adds all that it saw */
  uint64_t bytes;                        /**< of each array */
  int shape;                             /**< below mem_traits.mix_shapes.n */
};

/** The expected value of a word of memory. */
enum mem_expect { MEM_EXPECT_XOR, MEM_EXPECT_WRITTEN };

struct mem_check {
  enum mem_expect expect;
  int arrays;     /**< of MEM_EXPECT_XOR */
  uint64_t wrong; /**< how many words differ */
  uint64_t first; /**< the first of them */
  uint32_t sum;   /**< of all expected words */
};

/** One chase of `hops` loads, each from where the last one pointed to. */
struct mem_chase {
  struct gpu_mem mem;
  uint64_t start, end; /**< stored positions; end is set when the call returns */
  uint64_t hops;
  struct gpu_event *begin_event, *end_event; /**< recorded around the loads */
  /** of the device's clock for all hops, 0 where it has none: set when the call returns */
  double cycles;
  uint32_t *each; /**< of trace: the cycles of each hop */
};

/** Repeated reading of a window, for the bandwidth of a level of the hierarchy. Adds all words to
 * `sum`. */
struct mem_window {
  struct gpu_mem mem, sum;
  uint64_t bytes;
  int passes;
  int own;     /**< every thread block reads all of it for itself, instead of its share */
  int readers; /**< out: how many blocks did, 1 where they shared it out */
};

/** Floating-point work on what is read: `flop16` operations for each 16 bytes of memory, see
 * flops.h. Adds to `sum`: the results' bits (MEM_FP32), or the results as a float. */
struct mem_flops {
  enum mem_type type;
  struct gpu_mem mem, sum;
  uint64_t bytes;
  int flop16;
  uint64_t
      /** out, of matrix products: words of 16 bytes at a time, of which each load takes one a
       * thread */
      threads;
};

/** Ways to launch one kernel: "256 threads a block, 1 word a thread", ... */
struct mem_shapes {
  int n;
  const char *names[MEM_SHAPES_MAX];
};

/** Limits of a device that the plan of a run needs. */
struct mem_traits {
  uint64_t line;   /**< bytes of a cache line */
  uint64_t l1;     /**< bytes that one compute unit's cache holds for sure, 0 if unknown */
  int threads_max; /**< of a block */
  int blocks_max;  /**< worth having a compute unit */
  int assign;      /**< bit set of enum mem_assign */
  struct mem_shapes
      /** of MEM_TUNED: which is fastest differs from chip to chip and with the size */
      copy_shapes;
  struct mem_shapes mix_shapes; /**< likewise, of the mixes */
  int pointers;                 /**< a handle of memory is an address: a chase adds it */
  int types;                    /**< bit set of enum mem_type */
  int peaks;                    /**< types that peak() has: bit set of enum mem_type */
};

struct mem_exec;

struct mem_ops {
  const char *backend;
  const char *native; /**< the library's own copy, as its users call it */

  status_t (*open)(struct gpu_device *device, struct mem_exec **exec);
  void (*close)(struct mem_exec *exec); /**< NULL: nothing to do */
  void (*traits)(const struct mem_exec *exec, struct mem_traits *traits);

  /** \brief Fills memory with the words of array \a number. */
  status_t (*fill)(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                   int number);
  /** \brief Compares every word; complete when the call returns. */
  status_t (*check)(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                    struct mem_check *check);
  status_t (*copy)(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_copy *copy);
  status_t (*mix)(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_mix *mix);

  /** \brief Links the nodes of a ring. */
  status_t (*ring_fill)(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem,
                        const struct mem_ring *ring);
  status_t (*chase)(struct mem_exec *exec, struct gpu_queue *queue, struct mem_chase *chase);
  /** \brief As chase, and the cycles of each hop (at most MEM_TRACE_MAX); NULL where the device has
   * no clock. */
  status_t (*trace)(struct mem_exec *exec, struct gpu_queue *queue, struct mem_chase *chase);

  status_t (*window)(struct mem_exec *exec, struct gpu_queue *queue, struct mem_window *window);
  status_t (*flops)(struct mem_exec *exec, struct gpu_queue *queue, struct mem_flops *flops);
  /** \brief Products without memory, by instructions of this chip's own: \a passes rounds, *flop
   * operations in all, and adds *expect to sum; NULL where flops() at its highest intensity is the
   * peak. */
  status_t (*peak)(struct mem_exec *exec, struct gpu_queue *queue, enum mem_type type, int passes,
                   struct gpu_mem sum, double *flop, double *expect);
};

/** Hops that a trace can keep. */
#define MEM_TRACE_MAX 4096

#define MEM_OPS(name, built) extern const struct mem_ops mem_ops_##name;
GPU_BACKENDS(MEM_OPS)
#undef MEM_OPS

/** \brief The set of a backend, NULL where there is none. */
const struct mem_ops *mem_ops_find(const char *backend);

extern const char *const mem_assign_names[3];
extern const char *const mem_type_names[4];
extern const char *const mem_method_names[];

#endif
