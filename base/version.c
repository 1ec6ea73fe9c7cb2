/* SPDX-License-Identifier: MIT */
#include <config.h>

#include "base/meta.h"

const char *meta_version(void)
{
  return PACKAGE_VERSION;
}
