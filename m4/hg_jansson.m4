# SPDX-License-Identifier: MIT
# jansson reads and writes results as JSON.
AC_DEFUN([HG_JANSSON],
[HG_REQUIRE_LIBRARY([jansson], [JANSSON], [jansson], [jansson.h], [json_dumpf], [jansson], [libjansson-dev])])
