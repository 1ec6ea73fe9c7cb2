/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A run's document, and what is judged of it: by --accept, and by --reference.
 *
 * The document is written as text, read again, and judged as himeno-judge judges a stored one. */
#ifndef HIMENO_MEASURE_JUDGING_H
#define HIMENO_MEASURE_JUDGING_H

#include "himeno/config/choice.h"
#include "himeno/result/result.h"
#include "judge/judge.h"

/** \brief Collective: once grid and kernel are chosen, plans the measurement, on all ranks.
 * STATUS_USAGE if the reference is of another run, or a soak cannot be held against the policy. */
status_t himeno_plan(const struct himeno_choice *choice, const struct judge_limits *limits,
                     struct judge_plan *plan);

/** \brief The document of the result as it is, judged by \a limits. Rank 0; the caller frees both,
 * the document last. STATUS_ENVIRONMENT if memory ran out; the verdict is in \a judged. */
status_t himeno_judge(const struct himeno_choice *choice, const struct himeno_result *result,
                      const struct judge_limits *limits, struct judged *judged, json_t **document);

#endif
