/* SPDX-License-Identifier: MIT */
/** \file \brief Includes cmocka, and before it the headers that it requires. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Most test functions do not use their argument, the state. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/** The tests of a file, in the order of their lines. */
struct unit_list {
  struct CMUnitTest test[64];
  size_t n;
};

static inline struct unit_list *unit_list(void)
{
  static struct unit_list list;
  return &list;
}

/** \brief The library's function that one of the test program replaces. */
#define REAL(name) (*(__typeof__(name) **)&(void *){dlsym(RTLD_NEXT, #name)})

/** \brief Begins the definition of a test, which UNIT_MAIN runs between the functions \a before and
 * \a after. TEST begins one that needs none. */
#define TEST_WITH(name, before, after)                                                                       \
  static void name(void **state);                                                                            \
  __attribute__((constructor(101 + __LINE__))) static void name##_list(void)                                 \
  {                                                                                                          \
    unit_list()->test[unit_list()->n++] = (struct CMUnitTest){#name, name, before, after, NULL};             \
  }                                                                                                          \
  static void name(void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

/** \brief Runs all tests of the file, and fails if they leave a file open: then the next one has a
 * larger number. */
static inline int unit_run(CMFixtureFunction first, CMFixtureFunction last)
{
  const int next = dup(0);
  close(next);
  const int failed = _cmocka_run_group_tests("tests", unit_list()->test, unit_list()->n, first, last);
  if (dup(0) == next) return failed;
  print_error("a file was left open\n");
  return 1;
}

/** \brief Runs all tests of the file between the functions \a first and \a last; UNIT_MAIN_MPI
 * runs them with MPI. */
#define UNIT_MAIN(first, last)                                                                               \
  int main(void)                                                                                             \
  {                                                                                                          \
    return unit_run(first, last);                                                                            \
  }

#define UNIT_MAIN_MPI(first, last)                                                                           \
  int main(int argc, char **argv)                                                                            \
  {                                                                                                          \
    MPI_Init(&argc, &argv);                                                                                  \
    const int failed = _cmocka_run_group_tests("tests", unit_list()->test, unit_list()->n, first, last);     \
    MPI_Finalize();                                                                                          \
    return failed;                                                                                           \
  }

#endif
