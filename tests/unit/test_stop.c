/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/stop.h"

static const int signals[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGXCPU};
#define SIGNALS (sizeof signals / sizeof *signals)

/* Returns how a process ends that gets the signal this many times: the number of the signal that
 * ended it, otherwise 0. */
static int ended_by(int number, int times)
{
  int how = 0;
  pid_t child = fork();
  if (child == 0) {
    stop_catch();
    for (int t = 0; t < times; t++) raise(number);
    _exit(stop_asked() ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_true(WIFSIGNALED(how) || WEXITSTATUS(how) == 0);
  return WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}

TEST(the_first_signal_is_noted_and_the_second_ends_the_program)
{
  assert_int_equal(stop_asked(), 0);
  for (size_t s = 0; s < SIGNALS; s++)
    assert_true(ended_by(signals[s], 1) == 0 && ended_by(signals[s], 2) == signals[s]);
}

/* LLVM replaces the handlers of SIGUSR1 and other signals. */
static void loses_again(int number)
{
  int how = 0;
  pid_t child = fork();
  if (child == 0) {
    stop_catch();
    signal(SIGUSR1, SIG_IGN);
    signal(number, SIG_IGN);
    if (stop_asked()) _exit(1);
    raise(number);
    _exit(stop_asked() ? 0 : 2);
  }
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_int_equal(how, 0);
}

TEST(a_library_that_takes_signals_loses_them_again)
{
  for (size_t s = 0; s < SIGNALS; s++) loses_again(signals[s]);
}

TEST(a_program_that_stays_is_ended_within_its_time)
{
  int how = 0;
  pid_t child = fork();
  if (child == 0) {
    stop_catch();
    stop_within(1);
    raise(SIGTERM);
    for (;;) pause();
  }
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM);
}

UNIT_MAIN(NULL, NULL)
