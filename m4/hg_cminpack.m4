# SPDX-License-Identifier: MIT
# C/C++ Minpack: nonlinear least squares for himeno-predict. Its licence is a BSD licence.
AC_DEFUN([HG_CMINPACK],
[AC_ARG_WITH([cminpack],
  [AS_HELP_STRING([--with-cminpack@<:@=DIR@:>@], [C/C++ Minpack for himeno-predict, in DIR (default: if found)])],
  [], [with_cminpack=auto])
AC_ARG_VAR([CMINPACK_CFLAGS], [compiler flags for C/C++ Minpack])
AC_ARG_VAR([CMINPACK_LIBS], [linker flags for C/C++ Minpack])
hg_cminpack=0
AS_IF([test "x$with_cminpack" != xno], [
  AS_CASE([$with_cminpack], [yes|auto], [
    AS_IF([test -z "$CMINPACK_CFLAGS"], [CMINPACK_CFLAGS=-I/usr/include/cminpack-1])
    AS_IF([test -z "$CMINPACK_LIBS"], [CMINPACK_LIBS=-lcminpack])], [
    CMINPACK_CFLAGS="-I$with_cminpack/include/cminpack-1"
    CMINPACK_LIBS="-L$with_cminpack/lib -Wl,-rpath,$with_cminpack/lib -lcminpack"])
  hg_save_LIBS=$LIBS hg_save_CPPFLAGS=$CPPFLAGS
  LIBS="$CMINPACK_LIBS $LIBS" CPPFLAGS="$CPPFLAGS $CMINPACK_CFLAGS"
  AC_MSG_CHECKING([for cminpack in $CMINPACK_CFLAGS $CMINPACK_LIBS])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cminpack.h>]], [[return enorm(0, 0) > 0;]])],
    [hg_cminpack=1; AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
  LIBS=$hg_save_LIBS CPPFLAGS=$hg_save_CPPFLAGS])
AS_IF([test $hg_cminpack = 1],
  [HG_NOTE([cminpack], [on], [himeno-predict, with $(echo $CMINPACK_LIBS)])],
  [HG_OPTIONAL_OFF([cminpack], [$with_cminpack],
    [not found: no himeno-predict (Debian, Ubuntu: apt install libcminpack-dev; or CMINPACK_CFLAGS and CMINPACK_LIBS)])])
AM_CONDITIONAL([HAVE_CMINPACK], [test $hg_cminpack = 1])
AC_SUBST([HAVE_CMINPACK], [$hg_cminpack])])
