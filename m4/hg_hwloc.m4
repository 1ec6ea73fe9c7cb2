# SPDX-License-Identifier: MIT
# hwloc reports which cores and devices are near each other.
AC_DEFUN([HG_HWLOC],
[HG_REQUIRE_LIBRARY([hwloc], [HWLOC], [hwloc], [hwloc.h], [hwloc_topology_init], [hwloc], [libhwloc-dev])])
