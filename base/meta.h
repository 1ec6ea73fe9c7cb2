/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Where a result was measured: an allow-list of facts, never the whole environment. */
#ifndef BASE_META_H
#define BASE_META_H

#include <stddef.h>

/** \brief The suite's version, as configured. */
const char *meta_version(void);

/** \brief The build ID that the linker gave this program, in hex digits: builds with the same ID
 * have the same code. "unknown" if the linker wrote none. */
const char *meta_build(void);

/** \brief UTC time as 2026-01-31T12:00:00Z. */
void meta_time(char text[32]);

#define META_HOST_BYTES 256

/** \brief The full host name; in a Slurm step the name that Slurm has for it, by which it can be
 * drained. Bytes that are not printable ASCII are '?'. Two hosts may have the same name. */
void meta_host(char *text, size_t size);

/** \brief CPU model as the operating system names it, "unknown" if it does not. */
void meta_cpu_model(char *text, size_t size);

struct doc;

/** \brief The field `system`: OS, kernel, CPU model, compiler, and the allow-listed settings
 * (OMP_*, CUDA_VISIBLE_DEVICES, SLURM_JOB_ID, …) and switches. */
void meta_system_document(struct doc *d);

#endif
