# SPDX-License-Identifier: MIT
# --enable-sanitizers: a build for tests. Programs stop at the first invalid access, memory leak or
# undefined operation.
AC_DEFUN([HG_SANITIZERS],
[AC_ARG_ENABLE([sanitizers],
  [AS_HELP_STRING([--enable-sanitizers], [build with address and undefined-behaviour sanitizers, for tests])],
  [], [enable_sanitizers=no])
SANITIZER_CFLAGS=
AS_IF([test "x$enable_sanitizers" != xno], [
  SANITIZER_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
  hg_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [],
    [AC_MSG_ERROR([$CC cannot link programs with $SANITIZER_CFLAGS])])
  CFLAGS=$hg_save_CFLAGS
  HG_NOTE([sanitizers], [on], [address, undefined])])
AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" != xno])
AC_SUBST([SANITIZER_CFLAGS])
AC_SUBST([enable_sanitizers])])
