/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The OpenMP functions that the suite calls, also for compilers without OpenMP. */
#ifndef BASE_OPENMP_H
#define BASE_OPENMP_H

#ifdef _OPENMP
#include <omp.h>
#else
/* Without OpenMP there is one thread, number 0. */
#define omp_get_thread_num()   0
#define omp_get_num_threads()  1
#define omp_get_max_threads()  1
#define omp_get_thread_limit() 1
#define omp_set_dynamic(n)     ((void)(n))
#define omp_set_num_threads(n) ((void)(n))
#endif

#endif
