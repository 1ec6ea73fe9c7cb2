/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/start.h"

#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "base/output.h"

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
