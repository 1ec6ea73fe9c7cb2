# SPDX-License-Identifier: MIT
# LAPACK: least squares for himeno-predict. Netlib's, OpenBLAS and Intel's all do, with licences that bind nobody.
AC_DEFUN([HG_LAPACK],
[AC_ARG_WITH([lapack],
  [AS_HELP_STRING([--with-lapack@<:@=DIR@:>@], [LAPACK for himeno-predict, in DIR (default: if found)])],
  [], [with_lapack=auto])
AC_ARG_VAR([LAPACK_LIBS], [linker flags for LAPACK])
hg_lapack=0
AS_IF([test "x$with_lapack" != xno], [
  hg_candidates=
  AS_CASE([$with_lapack], [yes|auto], [], [
    hg_candidates="-L$with_lapack/lib -Wl,-rpath,$with_lapack/lib"])
  hg_save_LIBS=$LIBS
  for hg_library in "$LAPACK_LIBS" "-llapack" "-lopenblas" "-lflexiblas" "-lmkl_rt" "-llapack -lblas -lgfortran"; do
    AS_IF([test $hg_lapack = 0 && test -n "$hg_library"], [
      AC_MSG_CHECKING([for LAPACK in $hg_library])
      LIBS="$hg_candidates $hg_library $hg_save_LIBS"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([[void dgelss_(void);]], [[dgelss_();]])],
        [hg_lapack=1; LAPACK_LIBS="$hg_candidates $hg_library"; AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])])])
  done
  LIBS=$hg_save_LIBS])
AS_IF([test $hg_lapack = 1],
  [HG_NOTE([LAPACK], [on], [himeno-predict, with $(echo $LAPACK_LIBS)])],
  [HG_OPTIONAL_OFF([LAPACK], [$with_lapack],
    [not found: no himeno-predict (Debian, Ubuntu: apt install liblapack-dev; or LAPACK_LIBS)])])
AC_SUBST([LAPACK_LIBS])
AM_CONDITIONAL([HAVE_LAPACK], [test $hg_lapack = 1])
AC_SUBST([HAVE_LAPACK], [$hg_lapack])])
