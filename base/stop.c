/* SPDX-License-Identifier: MIT */
#include "base/stop.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t asked, patience, catching;

static void stop_note(int number)
{
  (void)number;
  asked = 1;
  if (patience) alarm((unsigned)patience);
}

void stop_catch(void)
{
  static const int signals[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGXCPU};
  struct sigaction action;
  catching = 1;
  memset(&action, 0, sizeof action);
  action.sa_handler = stop_note;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  for (size_t s = 0; s < sizeof signals / sizeof *signals; s++) sigaction(signals[s], &action, NULL);
}

void stop_within(int seconds)
{
  patience = seconds;
  if (!seconds) alarm(0);
}

/* Libraries replace signal handlers: LLVM replaces all of them when OpenCL loads it. Install our
 * handlers again if that of SIGUSR1 has been replaced. */
int stop_asked(void)
{
  struct sigaction present;
  if (catching && !asked && sigaction(SIGUSR1, NULL, &present) == 0 && present.sa_handler != stop_note)
    stop_catch();
  return asked;
}
