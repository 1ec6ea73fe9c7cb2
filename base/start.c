/* SPDX-License-Identifier: MIT */
#include "base/start.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/output.h"
#include "base/switches.h"

/* The first row whose variable `ranks` is set applies, because a Slurm step may contain another
 * launcher. If the row's variable `shell` is set, no row applies: srun --pty opened a shell, whose
 * programs inherit these variables but are not ranks. */
static const struct {
  const char *ranks, *rank, *shell;
} launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL},
                 {"PMI_SIZE", "PMI_RANK", NULL},
                 {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_PTY_PORT"}};

int launcher_find(struct launcher *launcher)
{
  size_t l = 0, n = sizeof launchers / sizeof *launchers;
  while (l < n && !getenv(launchers[l].ranks)) l++;
  if (l == n || (launchers[l].shell && getenv(launchers[l].shell))) return 0;
  *launcher = (struct launcher){launchers[l].ranks, environment_number(launchers[l].ranks, 0),
                                environment_number(launchers[l].rank, 0)};
  return 1;
}

void start_program(const char *name)
{
  log_set_program(name);
  output_keep();
}

static void go_on(int number)
{
  (void)number;
}

void start_signals(void)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = go_on;
  action.sa_flags = SA_RESTART;
  sigaction(SIGXFSZ, &action, NULL);
  sigaction(SIGPIPE, &action, NULL);
}
