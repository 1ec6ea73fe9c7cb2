# SPDX-License-Identifier: MIT
# OpenMP: the threads of the CPU backend.
AC_DEFUN([HG_OPENMP],
[AC_OPENMP
AS_IF([test "x$ac_cv_prog_c_openmp" = xunsupported || test "x$enable_openmp" = xno], [
  OPENMP_CFLAGS=
  HG_NOTE([OpenMP], [off], [$CC does not have it: the CPU backend has one thread a rank])],
  [HG_NOTE([OpenMP], [on], [${OPENMP_CFLAGS:-built in}])])])
