# SPDX-License-Identifier: MIT
# HG_MPI_COMPILER sets CC to MPI's compiler wrapper, unless the user set CC. Call it before
# AC_PROG_CC.
AC_DEFUN([HG_MPI_COMPILER],
[AC_ARG_VAR([MPICC], [MPI's C compiler, taken as CC (default: mpicc)])
AS_IF([test -n "$MPICC"], [CC=$MPICC],
  [test -z "$CC"], [AC_CHECK_PROGS([CC], [mpicc mpicc.openmpi mpicc.mpich cc])])])

# HG_MPI checks that MPI works, and sets MPI_FLAVOUR to its implementation and MPIRUN to its
# launcher.
AC_DEFUN([HG_MPI],
[AC_ARG_VAR([MPIRUN], [launcher of MPI programs, for the tests])
AC_MSG_CHECKING([whether $CC builds MPI programs])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#if MPI_VERSION < 3
#error MPI 3 is needed
#endif]], [[MPI_Init(0, 0);]])],
  [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([MPI 3 is required and CC=$CC does not build MPI programs (Debian, Ubuntu: apt install libopenmpi-dev
openmpi-bin; cluster: load the MPI module, or give MPICC=/path/to/mpicc)])])
HG_MPI_FLAVOUR([openmpi], [OPEN_MPI])
HG_MPI_FLAVOUR([mpich], [MPICH_VERSION])
AS_IF([test -z "$MPI_FLAVOUR"], [MPI_FLAVOUR=other])
# gcc treats MPICH's MPI_STATUSES_IGNORE, an address that is never written to, as an empty array,
# and warns.
AS_IF([test "$MPI_FLAVOUR" = mpich], [HG_TRY_CFLAG([-Wno-stringop-overflow])])
AC_SUBST([MPI_FLAVOUR])
HG_MPI_LAUNCHER
HG_NOTE([MPI], [on], [$MPI_FLAVOUR with $CC, launched by ${MPIRUN:-nothing that was found}])])

# HG_MPI_FLAVOUR(NAME, MACRO) sets MPI_FLAVOUR to NAME if mpi.h defines MACRO.
AC_DEFUN([HG_MPI_FLAVOUR],
[AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef $2
#error not $1
#endif]], [])], [MPI_FLAVOUR=$1])])

# HG_MPI_LAUNCHER sets MPIRUN to the first launcher that starts two ranks of one job. A library and
# the launcher packaged with it may not fit together (MPICH of Ubuntu 24.04 uses PMIx, its mpirun
# uses PMI). If none can be tried, as when cross compiling, MPIRUN is the first launcher found.
AC_DEFUN([HG_MPI_LAUNCHER],
[hg_compiler=$(set x $CC && command -v "$[2]")
hg_folder=$(dirname "${hg_compiler:-/}")
hg_launchers="mpirun.$MPI_FLAVOUR mpiexec.$MPI_FLAVOUR mpirun mpiexec srun mpirun.openmpi"
AS_IF([test -z "$MPIRUN" && test "$cross_compiling" != yes],
  [AC_MSG_CHECKING([for a launcher whose ranks see each other])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[int n;
MPI_Init(0, 0);
MPI_Comm_size(MPI_COMM_WORLD, &n);
MPI_Finalize();
return n != 2;]])],
    [for hg_launcher in $hg_launchers; do
      hg_launcher=$(PATH=$hg_folder$PATH_SEPARATOR$PATH; command -v $hg_launcher) || continue
      AS_IF([HG_MPI_TRY($hg_launcher)], [MPIRUN=$hg_launcher && break])
    done])
  AC_MSG_RESULT([${MPIRUN:-none could be tried}])])
AC_PATH_PROGS([MPIRUN], [$hg_launchers], [], [$hg_folder$PATH_SEPARATOR$PATH])])

# HG_MPI_TRY(LAUNCHER) runs conftest on two ranks of this host, also as root and with fewer than two
# cores.
m4_define([HG_MPI_TRY],
[OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe timeout 20 $1 -n 2 ./conftest$ac_exeext </dev/null >&AS_MESSAGE_LOG_FD 2>&1])
