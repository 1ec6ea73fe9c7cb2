/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Compiles a function once per instruction set. */
#ifndef GPU_CPU_EVERY_CPU_H
#define GPU_CPU_EVERY_CPU_H

/** \brief Before a static function: versions for AVX-512, for \a simd and for any processor. The
 * loader picks the best one for this processor, but too early for the address sanitizer. Static,
 * because Clang 14 links such functions only within a file. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define EVERY_CPU(simd) __attribute__((target_clones("avx512f", simd, "default")))
#else
#define EVERY_CPU(simd)
#endif

#endif
