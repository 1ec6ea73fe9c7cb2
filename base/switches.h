/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The environment variables HIMENO_*. Each is declared once, by a line SWITCH in the file
 * that reads it. The build collects these lines in a table, which is part of every program; a file
 * that has one is listed as SWITCHES in its Makefile.am. doc/reference/switches.md shows the table.
 * Variables that are set are listed in every document's settings. One that is set to nothing counts
 * as not set. */
#ifndef BASE_SWITCHES_H
#define BASE_SWITCHES_H

#include <limits.h>

#include "base/status.h"
#include "base/values.h"

enum switch_kind {
  SWITCH_USER,   /**< says where something is, or what to run */
  SWITCH_TUNING, /**< takes another form of the same work: bits stay, speed changes */
  SWITCH_TEST    /**< plants a fault, or stands in for hardware */
};

enum switch_check {
  SWITCH_RANGE, /**< by `range` */
  SWITCH_PAIR,  /**< RANK:NUMBER */
  SWITCH_FREE,  /**< a path, or what only its reader understands, who checks it */
  SWITCH_CACHE  /**< a file that programs share and no option may overwrite */
};

enum switch_scope {
  SWITCH_OWN,   /**< each rank may have its own: for rank 0, for scripts or for one device */
  SWITCH_AGREED /**< all ranks of a job must have the same */
};

struct switch_spec {
  const char *name;
  enum switch_kind kind;
  enum switch_scope scope;
  enum switch_check check;
  /** `allowed` says in words what is taken where `check` is not SWITCH_RANGE */
  struct value_range range;
  const char *file; /**< SWITCH_CACHE: the default name, in the user's cache folder */
  const char *meaning;
};

/** \brief Declares a variable: SWITCH("HIMENO_NAME", kind, scope, values, "meaning"); with enum
 * switch_kind and switch_scope without their prefix, and as values NUMBER(from, to), COUNT,
 * CHOICE("a|b"), FREE("what it is"), PAIR("what it is") or CACHE("default name"). A script has it
 * in a comment. */
#define SWITCH(name, kind, scope, values, meaning) _Static_assert(1, name meaning)

/** \brief The \a n-th of the table, NULL past the last. */
const struct switch_spec *switch_at(int n);

/** \brief STATUS_USAGE, logged, if one of them has a value that is not understood. Parsing options
 * ends with it. */
status_t switches_check(void);

/** \brief Names in one warning all HIMENO_* that are set and not in the table: they may be
 * misspelled. */
void switches_warn(void);

/** \brief The text of a variable of the table, NULL where it is not set or not in the table. */
const char *switch_text(const char *name);

/** \brief The whole number that a variable of the table holds, \a unset where it holds none. */
long long switch_number(const char *name, long long unset);

/** \brief Reads "RANK:NUMBER". Returns whether the variable is set so. */
int switch_pair(const char *name, long long pair[2]);

/** \brief The whole number that a launcher's variable holds, \a unset where it holds none. */
long long environment_number(const char *name, long long unset);

#define SWITCH_CACHE_LOCK ".lock"
/** \brief The path of a SWITCH_CACHE of the table; its lock has SWITCH_CACHE_LOCK appended. 0 if
 * there is no folder for it. */
int switch_cache(const char *name, char path[PATH_MAX]);

#endif
