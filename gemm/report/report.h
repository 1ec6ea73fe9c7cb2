/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Output of gemm-gpu: a text report and a JSON document. Rank 0 only. */
#ifndef GEMM_REPORT_REPORT_H
#define GEMM_REPORT_REPORT_H

#include <stdio.h>

#include "base/document.h"
#include "gemm/state/state.h"

void gemm_report_text(const struct gemm_run *run, FILE *out);

/** \brief Prints the tables that gemm_ladder_sizes_text has not printed yet, and the summary. */
void gemm_ladder_text(const struct gemm_run *run, FILE *out);

/** \brief Prints the tables of a ladder's finished sizes that were not printed yet. */
void gemm_ladder_sizes_text(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out);

/** \brief Writes the document of doc/gemm.schema.json or, for a ladder, the document of
 * doc/gemm-ladder.schema.json. */
void gemm_document(struct doc *d, const struct gemm_run *run);

/* The following functions apply only with --distributed. */

/** \brief gemm_cluster_text prints the division of the product and the paths of panels. */
void gemm_cluster_text(const struct gemm_run *run, FILE *out);
void gemm_cluster_phases_text(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out);

/** \brief Write config.distributed, and the phases and paths of the document. */
void gemm_cluster_config_document(struct doc *d, const struct gemm_cluster *cluster, int weak);
void gemm_cluster_phases_document(struct doc *d, const struct gemm_run *run);
void gemm_cluster_paths_document(struct doc *d, const struct gemm_run *run);

/** \brief Prints --list: backends, devices and kernels, with the reason for each unavailable
 * one. */
void gemm_report_list(const struct gpu_backend *asked, FILE *out);

#endif
