# SPDX-License-Identifier: MIT
# HG_BUILD_CC finds a compiler for the programs that run during the build. When cross compiling,
# they must run on this machine.
AC_DEFUN([HG_BUILD_CC],
[AC_ARG_VAR([CC_FOR_BUILD], [C compiler for this machine, when building for another (default: gcc or cc)])
AS_IF([test "x$cross_compiling" = xyes], [
  AC_CHECK_PROGS([CC_FOR_BUILD], [$build_alias-gcc gcc cc clang])
  AS_IF([test -z "$CC_FOR_BUILD"], [AC_MSG_ERROR([building for $host needs a compiler for this machine too: CC_FOR_BUILD])])
  HG_NOTE([cross build], [on], [for $host; $CC_FOR_BUILD makes programs that run here])])
AM_CONDITIONAL([CROSS_BUILD], [test "x$cross_compiling" = xyes])])
