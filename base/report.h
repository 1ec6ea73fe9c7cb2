/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What all programs share in showing results: one JSON document whole or not at all, bars,
 * units. */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/** \brief The frame of every document: schema, program, version, time, system, ignored options.
 * NULL when memory ran out. */
json_t *report_json_frame(const char *schema, const char *program);

/** \brief A JSON number; null where the value is not finite, since JSON knows no NaN. */
json_t *report_json_real(double value);

/** \brief A JSON string of any bytes; those that are not UTF-8 become U+FFFD. NULL for NULL, and if
 * memory ran out. */
json_t *report_json_text(const char *bytes);

/** \brief Each adds one field to \a object, so that its name, type and value stand on one line.
 * report_json_lost reports values that are NULL and lack of memory. */
void object_set(json_t *object, const char *name, json_t *value);
void object_text(json_t *object, const char *name, const char *value);
void object_real(json_t *object, const char *name, double value); /**< null where not finite */
void object_whole(json_t *object, const char *name, int64_t value);
void object_flag(json_t *object, const char *name, int value);

/** \brief Whether a field was lost since the last call. */
int report_json_lost(void);

/** \brief Reads a document whose keys do not repeat. STATUS_ENVIRONMENT, with the place, where it
 * is none. */
status_t report_json_read(const char *path, json_t **document);

/** \brief Writes \a document by file_write, or to standard output for "-"; not where a field was
 * lost. */
status_t report_json_write(const json_t *document, const char *path);

/** \brief A copy of \a document that went through its text, as a stored one does.
 * STATUS_ENVIRONMENT if it is NULL, a field was lost, or memory ran out. */
status_t report_json_reread(const json_t *document, json_t **copy);

/** \brief A bar of at most \a width cells, drawn with eighths of a block in UTF-8 locales, else
 * with '#'. */
void report_bar(char *text, size_t size, double share, int width);

#define REPORT_SPREAD_BYTES 24
/** \brief What samples differ by, "±1.2%", in at least \a width columns; a dash where that is not
 * \a known, as of one sample. */
const char *report_spread(double share, int known, int width, char text[REPORT_SPREAD_BYTES]);

/** \brief Bytes with a binary unit ("24.0 GiB"), in a static ring of buffers. */
const char *report_bytes(uint64_t bytes);

#endif
