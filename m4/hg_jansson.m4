# SPDX-License-Identifier: MIT
# jansson: results as JSON.
AC_DEFUN([HG_JANSSON],
[HG_REQUIRE_LIBRARY([jansson], [JANSSON], [jansson], [jansson.h], [json_dumpf], [jansson], [libjansson-dev])])
