/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What fitting and predicting share: the terms of a time as a row of the linear problem. */
#ifndef TOOLS_PREDICT_MODEL_PRIVATE_H
#define TOOLS_PREDICT_MODEL_PRIVATE_H

#include "tools/predict/model.h"

static inline int model_way_column(int way, enum model_way_term term)
{
  return TERMS + way * WAY_TERMS + (int)term;
}

/** Rows of the parts of a sweep; a part's time is its row times the values. The chain is what
 * precedes the exchange where slabs are computed beside the interior. */
struct model_rows {
  double interior[MODEL_COLUMNS_MAX], boundary[MODEL_COLUMNS_MAX], chain[MODEL_COLUMNS_MAX],
      latency[MODEL_COLUMNS_MAX], bytes[MODEL_COLUMNS_MAX], synchronisation[MODEL_COLUMNS_MAX],
      reduction[MODEL_COLUMNS_MAX];
};

/** \brief The rows of a geometry; \a way is the column block of its transport, −1 without
 * neighbours. */
void model_rows_make(const struct model *model, const struct geometry *geometry, int way,
                     struct model_rows *rows);

/** \brief Row times values. */
double model_product(const struct model *model, const double *row);

/** \brief The row of the whole sweep: with interior, with exchange, or with both where nothing
 * overlaps. */
void model_row_total(const struct model *model, const struct model_rows *rows, int overlap, double *total);

/** \brief Whether one launch computes all slabs, sends all messages and waits for all halos, as
 * p2p's does: then the slabs' launch is a part of the exchange, a further message costs only its
 * bytes, and the phases of a run do not tell slabs from interior. */
int model_at_once(const char *transport);

/** \brief Block of a transport's columns; −1 if it has none. */
int model_way(const struct model *model, const char *transport);

#endif
