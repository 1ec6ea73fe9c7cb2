/* SPDX-License-Identifier: MIT */
/** \file
 * \brief System data of a result: an allow-list of facts, never the whole environment. */
#ifndef BASE_META_H
#define BASE_META_H

#include <stddef.h>

/** \brief Returns the suite's version, as configured. */
const char *meta_version(void);

/** \brief Returns the build ID that the linker gave this program, in hex digits: builds with the
 * same ID have the same code. "unknown" if the linker wrote none. */
const char *meta_build(void);

/** \brief Writes the current UTC time as 2026-01-31T12:00:00Z. */
void meta_time(char text[32]);

#define META_HOST_BYTES 256

/** \brief Writes the full host name; in a Slurm step the node's name in Slurm, with which it can be
 * drained. Bytes that are not printable ASCII become '?'. Host names need not be unique. */
void meta_host(char *text, size_t size);

/** \brief Writes the CPU model as the operating system names it, otherwise "unknown". */
void meta_cpu_model(char *text, size_t size);

struct doc;

/** \brief Writes the field `system`: OS, kernel, CPU model, compiler, the allow-listed settings
 * (OMP_*, CUDA_VISIBLE_DEVICES, SLURM_JOB_ID, …) and the switches. */
void meta_system_document(struct doc *d);

#endif
