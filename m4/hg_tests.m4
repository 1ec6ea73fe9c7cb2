# SPDX-License-Identifier: MIT
# Tools for the tests. Tests whose tool is missing are skipped and print the reason.
AC_DEFUN([HG_TEST_TOOLS],
[AC_ARG_VAR([CMOCKA_CFLAGS], [compiler flags for cmocka])
AC_ARG_VAR([CMOCKA_LIBS], [linker flags for cmocka])
AS_IF([test -n "$CMOCKA_LIBS"], [],
  [test -n "$PKG_CONFIG" && $PKG_CONFIG --exists cmocka], [
    CMOCKA_CFLAGS=$($PKG_CONFIG --cflags cmocka)
    CMOCKA_LIBS=$($PKG_CONFIG --libs cmocka)],
  [CMOCKA_LIBS=-lcmocka])
hg_save_CPPFLAGS=$CPPFLAGS
hg_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $CMOCKA_CFLAGS"
LIBS="$CMOCKA_LIBS $LIBS"
AC_MSG_CHECKING([for cmocka])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>]], [[cmocka_set_message_output(CM_OUTPUT_TAP);]])],
  [hg_cmocka=yes; HG_NOTE([cmocka], [on], [unit tests])],
  [hg_cmocka=no; HG_NOTE([cmocka], [off], [not found: unit tests will be skipped])])
AC_MSG_RESULT([$hg_cmocka])
CPPFLAGS=$hg_save_CPPFLAGS
LIBS=$hg_save_LIBS
AM_CONDITIONAL([HAVE_CMOCKA], [test $hg_cmocka = yes])
AC_PATH_PROG([BATS], [bats])
AS_IF([test -n "$BATS"], [HG_NOTE([bats], [on], [command-line tests])],
  [HG_NOTE([bats], [off], [not found: command-line tests will be skipped])])])
