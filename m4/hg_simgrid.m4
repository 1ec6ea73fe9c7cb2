# SPDX-License-Identifier: MIT
# SimGrid simulates himeno-gpu's exchange for himeno-sim, which needs himeno-predict's model too. smpicc finds its headers.
AC_DEFUN([HG_SIMGRID],
[AC_ARG_WITH([simgrid],
  [AS_HELP_STRING([--with-simgrid@<:@=DIR@:>@], [SimGrid for himeno-sim, in DIR (default: if found)])],
  [], [with_simgrid=auto])
hg_simgrid=0
hg_why='smpicc not found: no himeno-sim (Debian, Ubuntu: apt install libsimgrid-dev)'
AS_IF([test "x$with_simgrid" != xno && test "x$cross_compiling" != xyes], [
  hg_path=$PATH
  AS_CASE([$with_simgrid], [yes|auto], [], [hg_path="$with_simgrid/bin$PATH_SEPARATOR$PATH"])
  AC_PATH_PROG([SMPICC], [smpicc], [], [$hg_path])
  AS_IF([test $hg_cminpack = 0], [hg_why='himeno-sim needs the model of himeno-predict, which needs cminpack'],
    [test -n "$SMPICC"], [
    AC_MSG_CHECKING([whether $SMPICC works])
    SIMGRID_LIBS=-lsimgrid
    AS_CASE([$with_simgrid], [yes|auto], [], [SIMGRID_LIBS="-L$with_simgrid/lib -Wl,-rpath,$with_simgrid/lib -lsimgrid"])
    cat >conftest.c <<'HG_END'
#include <mpi.h>
#include <simgrid/host.h>
void send(sg_host_t from, sg_host_t to, MPI_Comm comm);
void send(sg_host_t from, sg_host_t to, MPI_Comm comm) { (void)comm; sg_host_sendto(from, to, 1); }
HG_END
    echo 'int main(void) { return 0; }' >conftest-main.c
    AS_IF([$SMPICC -fPIC -o conftest.sim.o -c conftest.c >&AS_MESSAGE_LOG_FD 2>&1 &&
           $CC -o conftest.sim conftest-main.c conftest.sim.o $SIMGRID_LIBS >&AS_MESSAGE_LOG_FD 2>&1], [hg_simgrid=1; AC_MSG_RESULT([yes])],
      [hg_why="programs with objects of $SMPICC do not link"; AC_MSG_RESULT([no])])
    rm -f conftest.c conftest-main.c conftest.sim.o conftest.sim])])
AC_SUBST([SIMGRID_LIBS])
AS_IF([test $hg_simgrid = 1],
  [HG_NOTE([SimGrid], [on], [himeno-sim])],
  [HG_OPTIONAL_OFF([SimGrid], [$with_simgrid], [$hg_why])])
AM_CONDITIONAL([HAVE_SIMGRID], [test $hg_simgrid = 1])
AC_SUBST([HAVE_SIMGRID], [$hg_simgrid])])
