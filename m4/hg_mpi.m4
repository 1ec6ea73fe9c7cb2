# SPDX-License-Identifier: MIT
# HG_MPI_COMPILER: the compiler is MPI's wrapper, unless CC says otherwise. Called before AC_PROG_CC.
AC_DEFUN([HG_MPI_COMPILER],
[AC_ARG_VAR([MPICC], [MPI's C compiler, taken as CC (default: mpicc)])
AS_IF([test -n "$MPICC"], [CC=$MPICC],
  [test -z "$CC"], [AC_CHECK_PROGS([CC], [mpicc mpicc.openmpi mpicc.mpich cc])])])

# HG_MPI: MPI works, whose it is, and what launches its programs.
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
# gcc takes MPICH's MPI_STATUSES_IGNORE, an address that is never written to, for an array of no elements.
AS_IF([test "$MPI_FLAVOUR" = mpich], [HG_TRY_CFLAG([-Wno-stringop-overflow])])
AC_SUBST([MPI_FLAVOUR])
AS_CASE([$CC], [smpicc*], [], [
  hg_compiler=$(set x $CC && command -v "$[2]")
  hg_folder=$(dirname "${hg_compiler:-/}")
  AC_PATH_PROGS([MPIRUN], [mpirun.$MPI_FLAVOUR mpiexec.$MPI_FLAVOUR mpirun mpiexec srun], [],
                [$hg_folder$PATH_SEPARATOR$PATH])])
HG_NOTE([MPI], [on], [$MPI_FLAVOUR with $CC, launched by ${MPIRUN:-nothing that was found}])])

# HG_MPI_FLAVOUR(NAME, MACRO): MACRO of mpi.h tells whose MPI this is.
AC_DEFUN([HG_MPI_FLAVOUR],
[AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef $2
#error not $1
#endif]], [])], [MPI_FLAVOUR=$1])])
