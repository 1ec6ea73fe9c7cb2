/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The yardstick for pairs: a plain copy from device to device by the copy engine, and a flag
 * behind it. */
#ifndef TOOLS_NETWORK_COPY_H
#define TOOLS_NETWORK_COPY_H

#include "comm/halo/transport.h"

/** For pairs only, whose messages are rows without gaps. Not in halo_transports. */
extern const struct halo_transport bench_copy;

#endif
