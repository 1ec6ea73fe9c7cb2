# SPDX-License-Identifier: MIT
# HG_NOTE(NAME, STATE, REASON) adds a line to the table at the end of configure's output. HG_SUMMARY
# prints the table.
AC_DEFUN([HG_NOTE],
[hg_summary="$hg_summary
$(printf '  %-12s %-4s %s' "$1" "$2" "$3")"])

AC_DEFUN([HG_SUMMARY],
[cat <<HG_END

$PACKAGE_NAME $PACKAGE_VERSION is configured to be installed in $prefix
$hg_summary

Next: make, make check, make install.
HG_END])

# HG_OPTIONAL_OFF(NAME, WISH, REASON) notes that an optional component is off. WISH is the value of
# its --with option. If the user requested the component, this is an error.
AC_DEFUN([HG_OPTIONAL_OFF],
[AS_CASE([$2],
  [auto], [HG_NOTE([$1], [off], [$3])],
  [no], [HG_NOTE([$1], [off], [not wanted])],
  [AC_MSG_ERROR([$1 was asked for, but: $3])])])

# HG_REQUIRE_LIBRARY(NAME, VARIABLE, PKG-CONFIG, HEADER, FUNCTION, LIBRARY, PACKAGE)
# Finds a required library: by VARIABLE_CFLAGS and VARIABLE_LIBS if set, otherwise by
# --with-NAME=DIR, by pkg-config, or in the compiler's own search path.
AC_DEFUN([HG_REQUIRE_LIBRARY],
[AC_ARG_WITH([$1],
  [AS_HELP_STRING([--with-$1=DIR], [$1 is installed in DIR (default: ask pkg-config, then the compiler)])],
  [], [with_[]$1=yes])
AC_ARG_VAR([$2_CFLAGS], [compiler flags for $1])
AC_ARG_VAR([$2_LIBS], [linker flags for $1])
hg_origin=found
AS_IF([test -n "$$2_LIBS"], [hg_origin='$2_LIBS'],
  [test "x$with_[]$1" = xno], [AC_MSG_ERROR([$1 is required])],
  [test "x$with_[]$1" != xyes], [
    hg_origin=$with_[]$1
    AS_IF([test ! -f "$with_[]$1/include/$4"], [AC_MSG_ERROR([--with-$1: there is no $with_[]$1/include/$4])])
    $2_CFLAGS="-I$with_[]$1/include"
    $2_LIBS="-L$with_[]$1/lib -Wl,-rpath,$with_[]$1/lib -l$6"],
  [test -n "$PKG_CONFIG" && $PKG_CONFIG --exists $3], [
    hg_origin="$($PKG_CONFIG --modversion $3)"
    $2_CFLAGS=$($PKG_CONFIG --cflags $3)
    $2_LIBS=$($PKG_CONFIG --libs $3)],
  [$2_LIBS=-l$6])
hg_save_CPPFLAGS=$CPPFLAGS
hg_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $$2_CFLAGS"
LIBS="$$2_LIBS $LIBS"
AC_MSG_CHECKING([for $1])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <$4>]], [[(void)$5;]])],
  [AC_MSG_RESULT([$hg_origin])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([$1 is required and a program with $2_LIBS='$$2_LIBS' does not link (Debian, Ubuntu: apt install $7;
elsewhere: --with-$1=DIR, or PKG_CONFIG_PATH)])])
CPPFLAGS=$hg_save_CPPFLAGS
LIBS=$hg_save_LIBS
HG_NOTE([$1], [on], [$hg_origin])])
