/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/stop.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t asked;

static void note(int number)
{
  (void)number;
  asked = 1;
}

void stop_catch(void)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = note;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
}

int stop_asked(void)
{
  return asked;
}
