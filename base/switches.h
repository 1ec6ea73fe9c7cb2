/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The environment variables HIMENO_*. Each is declared once, by a line SWITCH in the file
 * that reads it. The build collects these lines in a table, which is part of every program; a file
 * with such a line is listed as SWITCHES in its Makefile.am. doc/reference/switches.md shows the
 * table. Every document lists the variables that are set. An empty variable counts as not set. */
#ifndef BASE_SWITCHES_H
#define BASE_SWITCHES_H

#include "base/status.h"
#include "base/values.h"

enum switch_kind {
  SWITCH_USER,   /**< sets a location, or a program to run */
  SWITCH_TUNING, /**< selects another implementation: same results, bit for bit, at another speed */
  SWITCH_TEST    /**< injects a fault, or simulates hardware */
};

enum switch_check {
  SWITCH_RANGE, /**< a number or choice in `range` */
  SWITCH_PAIR,  /**< RANK:NUMBER */
  SWITCH_FREE   /**< a path or another text, which its reader checks */
};

enum switch_scope {
  SWITCH_OWN,   /**< may differ between ranks: only rank 0, a script or one device reads it */
  SWITCH_AGREED /**< must be the same on all ranks of a job */
};

struct switch_spec {
  const char *name;
  enum switch_kind kind;
  enum switch_scope scope;
  enum switch_check check;
  /** `allowed` describes the valid values if `check` is not SWITCH_RANGE */
  struct value_range range;
  const char *meaning;
};

/** \brief Declares a variable: SWITCH("HIMENO_NAME", kind, scope, values, "meaning"). kind and
 * scope are enum switch_kind and switch_scope without prefix. values is NUMBER(from, to), COUNT,
 * CHOICE("a|b"), FREE("description") or PAIR("description"). Scripts have such a line in a
 * comment. */
#define SWITCH(name, kind, scope, values, meaning) _Static_assert(1, name meaning)

/** \brief Returns the \a n-th variable of the table, counted from 0; NULL after the last. */
const struct switch_spec *switch_at(int n);

/** \brief Returns STATUS_USAGE, logged, if a variable of the table has an invalid value. */
status_t switches_check(void);

/** \brief Warns once about all HIMENO_* that are set but not in the table, perhaps misspelled. */
void switches_warn(void);

/** \brief Returns the text of a variable of the table; NULL if it is unset or not in the table. */
const char *switch_text(const char *name);

/** \brief Returns the whole number in a variable of the table, \a unset if it has none. */
long long switch_number(const char *name, long long unset);

/** \brief Reads a variable of the form "RANK:NUMBER" into \a pair. Returns whether it is valid. */
int switch_pair(const char *name, long long pair[2]);

/** \brief Returns the whole number in a launcher's variable, \a unset if it has none. */
long long environment_number(const char *name, long long unset);

#endif
