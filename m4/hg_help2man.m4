# SPDX-License-Identifier: MIT
# help2man makes the man pages from --help. Release tarballs bring the pages along.
AC_DEFUN([HG_HELP2MAN],
[AC_PATH_PROG([HELP2MAN], [help2man])
hg_pages=no
AS_IF([test "x$cross_compiling" = xyes], [hg_why='cross compiling'],
  [test -n "$HELP2MAN"], [hg_pages=yes; hg_why='made by help2man'],
  [test -f "$srcdir/doc/man/himeno-gpu.1"], [hg_pages=yes; hg_why='as shipped'],
  [hg_why='help2man not found'])
AS_IF([test $hg_pages = yes], [HG_NOTE([man pages], [on], [$hg_why])], [HG_NOTE([man pages], [off], [$hg_why])])
AM_CONDITIONAL([HAVE_MAN_PAGES], [test $hg_pages = yes])
AM_CONDITIONAL([HAVE_HELP2MAN], [test -n "$HELP2MAN"])])
