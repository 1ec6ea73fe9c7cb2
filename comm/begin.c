/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "comm/begin.h"

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "base/stop.h"
#include "comm/guard.h"
#include "comm/watch.h"

/* Seconds in which a start that works has ended after someone wished for the end. */
#define START_SECONDS 10

/* What launchers tell each rank of how many there are; the first that does counts, since a step of Slurm may hold a launcher. A shell
 * that srun --pty opened tells it to all that is started there. */
static const struct {
  const char *ranks, *rank, *shell;
} told[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL},
            {"PMI_SIZE", "PMI_RANK", NULL},
            {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_PTY_PORT"}};

static long long number_of(const char *name)
{
  const char *text = getenv(name);
  long long value = 0;
  return text && option_read_int(text, 0, 1 << 30, &value) == STATUS_OK ? value : 0;
}

/* A launcher of another MPI starts as many programs of one rank each, which would all report as if they were alone. */
static status_t together_check(void)
{
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int ranks, length, t = 0, n = (int)(sizeof told / sizeof *told);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while (t < n && !getenv(told[t].ranks)) t++;
  if (ranks > 1 || t == n || number_of(told[t].ranks) <= 1) return STATUS_OK;
  if (told[t].shell && getenv(told[t].shell)) return STATUS_OK;
  log_mute(number_of(told[t].rank) > 0);
  MPI_Get_library_version(mpi, &length);
  mpi[strcspn(mpi, ",\n")] = '\0';
  return log_fail(
      STATUS_ENVIRONMENT,
      "%lld ranks were started (%s), and each is alone: this program's MPI is %s, and the launcher is "
      "another one's. Start it by the mpirun that belongs to that MPI, or by srun --mpi=pmix",
      number_of(told[t].ranks), told[t].ranks, mpi);
}

static void go_on(int number)
{
  (void)number;
}

status_t begin_mpi(int *argc, char ***argv)
{
  stop_within(START_SECONDS);
  int error = MPI_Init(argc, argv);
  stop_within(0);
  status_t status =
      error == MPI_SUCCESS ? together_check() : log_fail(STATUS_ENVIRONMENT, "MPI does not start");
  if (status != STATUS_OK) {
    log_hold(0); /* there is nobody to compare it with */
    if (error == MPI_SUCCESS) MPI_Finalize();
    return status;
  }

  guard_open(WATCH_SECONDS);
  struct sigaction action; /* only now: MPI's daemons wait for ever for one that could not write */
  memset(&action, 0, sizeof action);
  action.sa_handler = go_on;
  action.sa_flags = SA_RESTART;
  sigaction(SIGXFSZ, &action, NULL);
  return STATUS_OK;
}

void end_mpi(void)
{
  guard_mpi(MPI_Finalize(), "MPI_Finalize");
}
