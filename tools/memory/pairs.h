/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Kernel pairs: what the 2015 article on address arithmetic in SASS and GCN ISA changed,
 * before and after.
 *
 * Each kernel treats `rows` rows of `n` words and writes every word of its result. The sources are
 * cuda/pairs.cu and opencl/pairs.cl; scripts/isa-report counts their instructions, mem-gpu --pairs
 * their time. */
#ifndef TOOLS_MEMORY_PAIRS_H
#define TOOLS_MEMORY_PAIRS_H

enum mem_pair {
  MEM_PAIR_POINTER, /**< index product, pointer increment */
  MEM_PAIR_ROW,     /**< a pixel a thread, a row a thread */
  /** a pixel a thread, a column a thread: neighbours stay on neighbouring words */
  MEM_PAIR_COLUMN,
  MEM_PAIR_SCALAR, /**< vector address, scalar address with the lane added last */
  MEM_PAIR_BYTE,   /**< vector address, byte pointer */
  MEM_PAIR_SHARED, /**< two shared arrays, one with constant offsets */
  MEM_PAIRS
};

/** Lanes of the groups of the scalar, byte and shared pairs, and words of their rows' steps. */
#define MEM_PAIR_LANES 32
/** Words of each of the two shared arrays. */
#define MEM_PAIR_SHARED_WORDS 1024

#endif
