/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/start.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

void start_program(const char *name)
{
  log_set_program(name);
  /* the lowest that is free is what open gives */
  for (int d = STDIN_FILENO; d <= STDERR_FILENO; d++)
    if (fcntl(d, F_GETFD) < 0 && open("/dev/null", d == STDIN_FILENO ? O_WRONLY : O_RDONLY) != d) _exit(3);
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
