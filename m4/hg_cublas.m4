# SPDX-License-Identifier: MIT
# cuBLAS: the reference library for matrix products on NVIDIA GPUs.
AC_DEFUN([HG_CUBLAS],
[AC_REQUIRE([HG_CUDA])
AC_ARG_WITH([cublas],
  [AS_HELP_STRING([--with-cublas@<:@=DIR@:>@], [cuBLAS in DIR as reference library of gemm-gpu (default: if the toolkit has it)])],
  [], [with_cublas=auto])
AC_ARG_VAR([CUBLAS_LIBS], [linker flags for cuBLAS])
hg_cublas=0
hg_cublas_why="there is no CUDA"
AS_IF([test "x$with_cublas" != xno && test $hg_cuda = 1], [
  hg_cublas_why="cublas_v2.h or libcublas was not found in $CUDA_HOME: no reference library on CUDA devices"
  AS_IF([test -n "$CUBLAS_LIBS"], [], [
    AS_CASE([$with_cublas], [yes|auto], [hg_folder=$CUDA_HOME], [hg_folder=$with_cublas])
    for hg_lib in "$hg_folder/lib64" "$hg_folder/targets/$host_cpu-linux/lib" "$hg_folder/lib"; do
      test -e "$hg_lib/libcublas.so" && CUBLAS_LIBS="-L$hg_lib -Wl,-rpath,$hg_lib -lcublas" && break
    done
    : ${CUBLAS_LIBS=-lcublas}])
  hg_save_CPPFLAGS=$CPPFLAGS
  hg_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $CUDA_CFLAGS"
  LIBS="$CUBLAS_LIBS $CUDA_LIBS $LIBS"
  AC_MSG_CHECKING([for cuBLAS])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cublas_v2.h>]],
    [[cublasHandle_t handle; return cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS || !cublasGemmEx;]])], [hg_cublas=1])
  AS_IF([test $hg_cublas = 1], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
  CPPFLAGS=$hg_save_CPPFLAGS
  LIBS=$hg_save_LIBS])
AS_IF([test $hg_cublas = 1], [HG_NOTE([cuBLAS], [on], [$CUBLAS_LIBS])], [
  CUBLAS_LIBS=
  HG_OPTIONAL_OFF([cuBLAS], [$with_cublas], [$hg_cublas_why])])
AC_DEFINE_UNQUOTED([HAVE_CUBLAS], [$hg_cublas], [1 when there is cuBLAS, else 0])
AM_CONDITIONAL([HAVE_CUBLAS], [test $hg_cublas = 1])])
