# SPDX-License-Identifier: MIT
# doc/make_man.py makes the man pages from --help. Release tarballs contain the pages.
AC_DEFUN([HG_MAN_PAGES],
[AC_PATH_PROG([PYTHON3], [python3])
hg_pages=no
AS_IF([test "x$cross_compiling" = xyes], [hg_why='cross compiling'],
  [test -n "$PYTHON3"], [hg_pages=yes; hg_why='made from --help'],
  [test -f "$srcdir/doc/man/himeno-gpu.1"], [hg_pages=yes; hg_why='as shipped'],
  [hg_why='python3 not found'])
AS_IF([test $hg_pages = yes], [HG_NOTE([man pages], [on], [$hg_why])], [HG_NOTE([man pages], [off], [$hg_why])])
AM_CONDITIONAL([HAVE_MAN_PAGES], [test $hg_pages = yes])
AM_CONDITIONAL([MAKE_MAN_PAGES], [test -n "$PYTHON3"])])
