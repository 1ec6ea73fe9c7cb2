# SPDX-License-Identifier: MIT
# CBLAS, preferably OpenBLAS: the reference library for matrix products on CPUs.
AC_DEFUN([HG_CBLAS],
[AC_ARG_WITH([cblas],
  [AS_HELP_STRING([--with-cblas@<:@=DIR@:>@], [OpenBLAS in DIR as reference library of gemm-gpu (default: if found)])],
  [], [with_cblas=auto])
AC_ARG_VAR([CBLAS_CFLAGS], [compiler flags for CBLAS])
AC_ARG_VAR([CBLAS_LIBS], [linker flags for CBLAS])
hg_cblas=0
hg_openblas=0
AS_IF([test "x$with_cblas" != xno], [
  AS_IF([test -n "$CBLAS_LIBS"], [],
    [test "x$with_cblas" != xyes && test "x$with_cblas" != xauto], [
      CBLAS_CFLAGS="-I$with_cblas/include"
      CBLAS_LIBS="-L$with_cblas/lib -Wl,-rpath,$with_cblas/lib -lopenblas"],
    [test -n "$PKG_CONFIG" && $PKG_CONFIG --exists openblas], [
      CBLAS_CFLAGS=$($PKG_CONFIG --cflags openblas)
      CBLAS_LIBS=$($PKG_CONFIG --libs openblas)],
    [CBLAS_LIBS=-lopenblas])
  hg_save_CPPFLAGS=$CPPFLAGS
  hg_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $CBLAS_CFLAGS"
  LIBS="$CBLAS_LIBS $LIBS"
  AC_MSG_CHECKING([for CBLAS])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cblas.h>]],
    [[cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1);]])], [hg_cblas=1])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cblas.h>]], [[openblas_set_num_threads(1);]])], [hg_openblas=1])
  AS_IF([test $hg_cblas = 1], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
  CPPFLAGS=$hg_save_CPPFLAGS
  LIBS=$hg_save_LIBS])
AS_IF([test $hg_cblas = 1], [HG_NOTE([CBLAS], [on], [$CBLAS_LIBS])], [
  CBLAS_CFLAGS=
  CBLAS_LIBS=
  HG_OPTIONAL_OFF([CBLAS], [$with_cblas],
    [cblas.h or libopenblas was not found (Debian, Ubuntu: apt install libopenblas-dev): no reference library on CPUs])])
AS_IF([test $hg_openblas = 1], [hg_name='OpenBLAS'], [hg_name='the CBLAS library'])
AC_DEFINE_UNQUOTED([HAVE_CBLAS], [$hg_cblas], [1 when there is a CBLAS, else 0])
AC_DEFINE_UNQUOTED([HAVE_OPENBLAS_SET_NUM_THREADS], [$hg_openblas], [1 when it is OpenBLAS, else 0])
AC_DEFINE_UNQUOTED([CBLAS_NAME], ["$hg_name"], [whose CBLAS it is])
AM_CONDITIONAL([HAVE_CBLAS], [test $hg_cblas = 1])
AC_SUBST([HAVE_CBLAS], [$hg_cblas])])
