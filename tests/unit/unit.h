/* SPDX-License-Identifier: MIT */
/** \file \brief Includes cmocka, and before it the headers that it requires. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Most test functions do not use their argument, the state. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#endif
