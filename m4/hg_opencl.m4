# SPDX-License-Identifier: MIT
# OpenCL: the ICD loader and its headers. The programs find the devices at run time.
AC_DEFUN([HG_OPENCL],
[AC_ARG_WITH([opencl],
  [AS_HELP_STRING([--with-opencl@<:@=DIR@:>@], [OpenCL backend, with the ICD loader in DIR (default: if found)])],
  [], [with_opencl=auto])
AC_ARG_VAR([OPENCL_CFLAGS], [compiler flags for OpenCL])
AC_ARG_VAR([OPENCL_LIBS], [linker flags for OpenCL])
hg_opencl=0
AS_IF([test "x$with_opencl" != xno], [
  AS_CASE([$with_opencl], [yes|auto], [hg_folder=], [hg_folder=$with_opencl])
  AS_IF([test -n "$hg_folder"], [
    OPENCL_CFLAGS="-I$hg_folder/include"
    OPENCL_LIBS="-L$hg_folder/lib -L$hg_folder/lib64 -Wl,-rpath,$hg_folder/lib:$hg_folder/lib64 -lOpenCL"])
  : ${OPENCL_LIBS=-lOpenCL}
  hg_save_CPPFLAGS=$CPPFLAGS
  hg_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $OPENCL_CFLAGS"
  LIBS="$OPENCL_LIBS $LIBS"
  AC_MSG_CHECKING([for the OpenCL ICD loader])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>]], [[cl_uint n; clGetPlatformIDs(0, 0, &n);]])], [hg_opencl=1])
  AS_IF([test $hg_opencl = 1], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
  CPPFLAGS=$hg_save_CPPFLAGS
  LIBS=$hg_save_LIBS])
AS_IF([test $hg_opencl = 1], [HG_NOTE([OpenCL], [on], [$OPENCL_LIBS])], [
  OPENCL_CFLAGS=
  OPENCL_LIBS=
  HG_OPTIONAL_OFF([OpenCL], [$with_opencl],
    [CL/cl.h or libOpenCL was not found (Debian, Ubuntu: apt install ocl-icd-opencl-dev)])])
AC_DEFINE_UNQUOTED([HAVE_OPENCL], [$hg_opencl], [1 when the OpenCL backend is built, else 0])
AM_CONDITIONAL([HAVE_OPENCL], [test $hg_opencl = 1])
AC_SUBST([HAVE_OPENCL], [$hg_opencl])])
