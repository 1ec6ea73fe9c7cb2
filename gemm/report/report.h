/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What gemm-gpu shows: a text to read, and one JSON document. Rank 0 only. */
#ifndef GEMM_REPORT_REPORT_H
#define GEMM_REPORT_REPORT_H

#include <stdio.h>

#include "base/document.h"
#include "gemm/state/state.h"

/** \brief The report for people. */
void gemm_report_text(const struct gemm_run *run, FILE *out);

/** \brief The same of a ladder, or the rest of it. */
void gemm_ladder_text(const struct gemm_run *run, FILE *out);

/** \brief The tables of a ladder's sizes that have not been shown yet. */
void gemm_ladder_sizes_text(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out);

/** \brief The document of doc/gemm.schema.json, or of a ladder that of
 * doc/gemm-ladder.schema.json. */
void gemm_document(struct doc *d, const struct gemm_run *run);

/* With --distributed alone. */

/** \brief The lines on how the product is cut and travels, and those on its phases. */
void gemm_cluster_text(const struct gemm_run *run, FILE *out);
void gemm_cluster_phases_text(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out);

/** \brief config.distributed, phases and paths of the document. */
void gemm_cluster_config_document(struct doc *d, const struct gemm_cluster *cluster, int weak);
void gemm_cluster_phases_document(struct doc *d, const struct gemm_run *run);
void gemm_cluster_paths_document(struct doc *d, const struct gemm_run *run);

/** \brief --list: backends, devices and kernels, with reasons. */
void gemm_report_list(const struct gpu_backend *asked, FILE *out);

#endif
