# SPDX-License-Identifier: MIT
# SimGrid: its MPI (SMPI) simulates himeno-gpu's exchange for himeno-sim, which needs himeno-predict's model too.
AC_DEFUN([HG_SIMGRID],
[AC_ARG_WITH([simgrid],
  [AS_HELP_STRING([--with-simgrid@<:@=DIR@:>@], [SimGrid for himeno-sim, in DIR (default: if found)])],
  [], [with_simgrid=auto])
hg_simgrid=0
hg_why='smpicc or smpirun not found: no himeno-sim (Debian, Ubuntu: apt install libsimgrid-dev)'
AS_IF([test "x$with_simgrid" != xno && test "x$cross_compiling" != xyes], [
  hg_path=$PATH
  AS_CASE([$with_simgrid], [yes|auto], [], [hg_path="$with_simgrid/bin$PATH_SEPARATOR$PATH"])
  AC_PATH_PROG([SMPICC], [smpicc], [], [$hg_path])
  AC_PATH_PROG([SMPIRUN], [smpirun], [], [$hg_path])
  AS_IF([test $hg_cminpack = 0], [hg_why='himeno-sim needs the model of himeno-predict, which needs cminpack'],
    [test -n "$SMPICC" && test -n "$SMPIRUN"], [
    AC_MSG_CHECKING([whether $SMPICC works])
    cat >conftest.c <<'HG_END'
#include <mpi.h>
#include <simgrid/actor.h>
int main(int argc, char **argv) { MPI_Init(&argc, &argv); sg_actor_sleep_for(0); return MPI_Finalize(); }
HG_END
    AS_IF([$SMPICC -fPIC -o conftest.smpi conftest.c >&AS_MESSAGE_LOG_FD 2>&1], [hg_simgrid=1; AC_MSG_RESULT([yes])],
      [hg_why="$SMPICC does not link a program"; AC_MSG_RESULT([no])])
    rm -f conftest.c conftest.smpi])])
AS_IF([test $hg_simgrid = 1],
  [HG_NOTE([SimGrid], [on], [himeno-sim, with $($SMPIRUN -version | sed -n 1p)])
   AC_DEFINE_UNQUOTED([SMPIRUN], ["$SMPIRUN"], [Starts a simulation.])],
  [HG_OPTIONAL_OFF([SimGrid], [$with_simgrid], [$hg_why])])
AM_CONDITIONAL([HAVE_SIMGRID], [test $hg_simgrid = 1])
AC_SUBST([HAVE_SIMGRID], [$hg_simgrid])])
