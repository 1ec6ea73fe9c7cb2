# SPDX-License-Identifier: MIT
# CLBlast: the reference library for matrix products with OpenCL. Call it after HG_OPENCL.
AC_DEFUN([HG_CLBLAST],
[AC_ARG_WITH([clblast],
  [AS_HELP_STRING([--with-clblast@<:@=DIR@:>@], [CLBlast in DIR as reference library of gemm-gpu (default: if found)])],
  [], [with_clblast=auto])
AC_ARG_VAR([CLBLAST_CFLAGS], [compiler flags for CLBlast])
AC_ARG_VAR([CLBLAST_LIBS], [linker flags for CLBlast])
hg_clblast=0
hg_lacking='clblast_c.h or libclblast was not found (Debian, Ubuntu: apt install libclblast-dev): no reference library by OpenCL on GPUs'
AS_IF([test $hg_opencl = 0], [hg_lacking='there is no OpenCL'], [test "x$with_clblast" != xno], [
  AS_IF([test -n "$CLBLAST_LIBS"], [],
    [test "x$with_clblast" != xyes && test "x$with_clblast" != xauto], [
      CLBLAST_CFLAGS="-I$with_clblast/include"
      CLBLAST_LIBS="-L$with_clblast/lib -Wl,-rpath,$with_clblast/lib -lclblast"],
    [test -n "$PKG_CONFIG" && $PKG_CONFIG --exists clblast], [
      CLBLAST_CFLAGS=$($PKG_CONFIG --cflags clblast)
      CLBLAST_LIBS=$($PKG_CONFIG --libs clblast)],
    [CLBLAST_LIBS=-lclblast])
  hg_save_CPPFLAGS=$CPPFLAGS
  hg_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $OPENCL_CFLAGS $CLBLAST_CFLAGS"
  LIBS="$CLBLAST_LIBS $OPENCL_LIBS $LIBS"
  AC_MSG_CHECKING([for CLBlast])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#define CL_TARGET_OPENCL_VERSION 120
#include <clblast_c.h>]], [[CLBlastClearCache();]])], [hg_clblast=1])
  AS_IF([test $hg_clblast = 1], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
  CPPFLAGS=$hg_save_CPPFLAGS
  LIBS=$hg_save_LIBS])
AS_IF([test $hg_clblast = 1], [HG_NOTE([CLBlast], [on], [$CLBLAST_LIBS])], [
  CLBLAST_CFLAGS=
  CLBLAST_LIBS=
  HG_OPTIONAL_OFF([CLBlast], [$with_clblast], [$hg_lacking])])
AC_DEFINE_UNQUOTED([HAVE_CLBLAST], [$hg_clblast], [1 when there is CLBlast, else 0])
AM_CONDITIONAL([HAVE_CLBLAST], [test $hg_clblast = 1])])
