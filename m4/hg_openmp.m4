# SPDX-License-Identifier: MIT
# OpenMP: the threads of the CPU backend.
AC_DEFUN([HG_OPENMP],
[AC_OPENMP
AS_IF([test "x$ac_cv_prog_c_openmp" = xunsupported || test "x$enable_openmp" = xno], [
  AS_IF([test "x$enable_openmp" = xno], [hg_why="as requested"], [hg_why="$CC does not have it"])
  OPENMP_CFLAGS=-Wno-unknown-pragmas
  HG_NOTE([OpenMP], [off], [$hg_why: the CPU backend has one thread a rank])],
  [HG_NOTE([OpenMP], [on], [${OPENMP_CFLAGS:-built in}])])])
