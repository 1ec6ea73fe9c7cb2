/* SPDX-License-Identifier: MIT */
#include "comm/ranks/begin.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/start.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/heartbeat.h"
#include "comm/ranks/watch.h"

/* maximum seconds that MPI_Init may take after a user asked the run to end */
#define START_SECONDS 10

/* Fails if a launcher of another MPI library started the ranks, each as a job of its own. */
static status_t together_check(void)
{
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  struct launcher launcher;
  int ranks, length;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1 || !launcher_find(&launcher) || launcher.ranks <= 1) return STATUS_OK;
  log_mute(launcher.rank > 0);
  MPI_Get_library_version(mpi, &length);
  mpi[strcspn(mpi, ",\n")] = '\0';
  return log_fail(
      STATUS_ENVIRONMENT,
      "%lld ranks were started (%s), but each is alone: this program's MPI is %s, and the launcher is "
      "another one's. Start it by the mpirun that belongs to that MPI, or by srun --mpi=pmix",
      launcher.ranks, launcher.variable, mpi);
}

/* Checks first that ranks were started alike, because the data formats of builds may differ. */
static status_t ranks_meet(double seconds, const struct same_start *start)
{
  RETURN_IF_FAILED(watch_open(seconds));
  if (start) RETURN_IF_FAILED(same_check(start));
  return heartbeat_open();
}

status_t begin_mpi(int *argc, char ***argv, double seconds, const struct same_start *start)
{
  /* Without a launcher, Open MPI would spend half of the startup on a daemon to spawn ranks. */
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  stop_within(START_SECONDS);
  int error = MPI_Init(argc, argv);
  stop_within(0);
  status_t status =
      error == MPI_SUCCESS ? together_check() : log_fail(STATUS_ENVIRONMENT, "MPI does not start");
  if (status == STATUS_OK) {
    status = ranks_meet(seconds > 0 ? seconds : WATCH_SECONDS, start);
    if (status != STATUS_OK && status != STATUS_USAGE) agree_abort(status);
  }
  if (status != STATUS_OK) {
    log_hold(0); /* prints the held error; no other rank is asked for its error */
    if (error == MPI_SUCCESS) MPI_Finalize();
    return status;
  }
  /* Call this only after MPI_Init, because a daemon that MPI_Init starts may hang if failed writes
   * raise no signal. */
  start_signals();
  return STATUS_OK;
}

void end_mpi(void)
{
  if (guard_mpi(MPI_COMM_WORLD, MPI_Finalize(), "MPI_Finalize") == STATUS_HANG) agree_abort(STATUS_HANG);
  heartbeat_close();
  watch_close();
}
