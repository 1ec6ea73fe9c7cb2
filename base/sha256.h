/* SPDX-License-Identifier: MIT */
/** \file
 * \brief SHA-256. Source: FIPS PUB 180-4. For seals of predictions. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>

#define SHA256_TEXT 65

/** \brief The digest of \a bytes as 64 hex digits and a zero. */
void sha256_hex(const void *bytes, size_t size, char text[SHA256_TEXT]);

#endif
