# SPDX-License-Identifier: MIT
# HG_C_LANGUAGE sets HG_CFLAGS: gnu11 and warnings. Every operation must be rounded as written,
# because results are compared bit for bit.
AC_DEFUN([HG_C_LANGUAGE],
[HG_CFLAGS=
HG_TRY_CFLAG([-std=gnu11])
HG_TRY_CFLAG([-Wall])
HG_TRY_CFLAG([-Wextra])
HG_TRY_CFLAG([-Wundef])
HG_TRY_CFLAG([-Wshadow=local])
HG_TRY_CFLAG([-Wstrict-prototypes])
HG_TRY_CFLAG([-Wmissing-prototypes])
HG_TRY_CFLAG([-Wpedantic])
HG_TRY_CFLAG([-Wno-overlength-strings])
HG_TRY_CFLAG([-ffp-contract=off])
AC_SUBST([HG_CFLAGS])
AC_MSG_CHECKING([whether $CC with CFLAGS="$CFLAGS" rounds every operation])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <float.h>
#if defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0
#error results would differ in their bits
#endif]], [])],
  [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([fast-math or extended precision is on: take it out of CFLAGS (Intel: add -fp-model=precise)])])])

# HG_TRY_CFLAG(FLAG) adds FLAG to HG_CFLAGS if the compiler accepts it.
AC_DEFUN([HG_TRY_CFLAG],
[AC_MSG_CHECKING([whether $CC takes $1])
hg_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror $1"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
  [AC_MSG_RESULT([yes]); HG_CFLAGS="$HG_CFLAGS $1"],
  [AC_MSG_RESULT([no])])
CFLAGS=$hg_save_CFLAGS])
