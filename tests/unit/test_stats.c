/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/hash.h"
#include "base/starvation.h"
#include "base/stats.h"

#define SAMPLES(...) (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)

/* Simulated seconds of the clock, and texts of /proc/stat and of the counters of this thread (0)
 * and of other threads (1). A text that is NULL is a file that cannot be opened. */
static double simulated;
static char *cpus, *counters[2];

int clock_gettime(clockid_t id, struct timespec *now)
{
  *now = (struct timespec){.tv_sec = (time_t)simulated};
  return simulated > 0 ? 0 : (int)syscall(SYS_clock_gettime, id, now);
}

FILE *fopen(const char *path, const char *mode)
{
  char own[64];
  snprintf(own, sizeof own, "/proc/self/task/%d/schedstat", (int)getpid());
  char *text = strcmp(path, "/proc/stat") == 0 ? cpus : counters[strcmp(path, own) != 0];
  return text ? fmemopen(text, strlen(text), mode) : NULL;
}

/* Samples come in any order and stay as they are. Deviation is taken from the median, so that an
 * outlier does not count. */
TEST(samples_have_a_summary)
{
  static const struct {
    double samples[5];
    struct stats_summary is;
  } cases[] = {{{5, 1, 4, 2, 3}, {.n = 5, .min = 1, .median = 3, .mean = 3, .max = 5, .mad = 1}},
               {{10, 1, 2, 4}, {.n = 4, .min = 1, .median = 3, .mean = 4.25, .max = 10, .mad = 1.5}},
               {{1, 2, 3, 4, 1000}, {.n = 5, .min = 1, .median = 3, .mean = 202, .max = 1000, .mad = 1}},
               {{-7}, {.n = 1, .min = -7, .median = -7, .mean = -7, .max = -7}},
               {{0}, {.n = 0}}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const struct stats_summary *is = &cases[c].is, s = stats_summarise(cases[c].samples, is->n);
    assert_true(s.n == is->n && s.min == is->min && s.median == is->median && s.max == is->max);
    assert_true(s.mad == is->mad && fabs(s.mean - is->mean) < 1e-9);
  }
}

TEST(noise_is_relative_to_the_median_of_three_samples_or_more)
{
  const struct stats_summary three = stats_summarise(SAMPLES(90, 100, 110)),
                             two = stats_summarise(SAMPLES(1, 100)),
                             zero = stats_summarise(SAMPLES(-1, 0, 1));
  assert_true(stats_noise(&three) > 0.148259 && stats_noise(&three) < 0.148261);
  assert_true(stats_noise(&two) == 0 && isinf(stats_noise_max(&two)));
  assert_true(stats_noise(&zero) == 0 && stats_noise_max(&zero) == 0);
}

static double uniform(uint64_t *state)
{
  return ((double)(hash_mix((*state)++) >> 11) + 0.5) / 9007199254740992.0;
}

/* Returns a random number with mean 1. \a skewed: log-normal, like times on a busy host. */
static double varied(uint64_t *state, double sigma, int skewed)
{
  const double radius = sqrt(-2 * log(uniform(state)));
  const double normal = radius * cos(2 * 3.14159265358979324 * uniform(state));
  return skewed ? exp(sigma * normal) : 1 + sigma * normal;
}

/* Returns the share of runs of n blocks with this noise whose bound is below \a limit. */
static double share_below(int n, double sigma, int skewed, double limit)
{
  enum { RUNS = 20000 };
  uint64_t state = (uint64_t)n << 32;
  double samples[64];
  int below = 0;
  for (int run = 0; run < RUNS; run++) {
    for (int s = 0; s < n; s++) samples[s] = varied(&state, sigma, skewed);
    const struct stats_summary summary = stats_summarise(samples, (size_t)n);
    below += stats_noise_max(&summary) < limit;
  }
  return (double)below / RUNS;
}

TEST(noise_is_below_its_bound_in_99_of_100_runs_of_any_number_of_blocks)
{
  for (int n = 3; n <= 64; n += n < 24 ? 1 : 8) {
    /* The tolerance of 0.002 is three standard deviations of 20000 runs. */
    assert_true(share_below(n, 0.05, 0, 0.05) < 0.012);
    for (int skewed = 0; skewed < 2; skewed++) assert_true(share_below(n, 0.2, skewed, 0.05) < 0.001);
  }
}

TEST(the_bound_is_a_known_multiple_of_a_known_deviation)
{
  /* Bounds for samples 0, -1, 2, -3, …: the product of 1.4826, the factor and the deviation. */
  static const struct {
    size_t n;
    double bound;
  } known[] = {{3, 15.1226}, {4, 9.26628},  {5, 9.60730}, {6, 8.67324},
               {7, 9.42937}, {21, 25.1450}, {25, 28.2881}};
  double samples[25];
  for (int s = 0; s < 25; s++) samples[s] = s % 2 ? -s : s;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    assert_true(fabs(stats_summarise(samples, known[k].n).sigma_max - known[k].bound) < 1e-3);
}

TEST(few_blocks_are_known_by_the_worst_and_many_without_their_outliers)
{
  double many[40];
  struct stats_summary three = stats_summarise(SAMPLES(7.3, 14.2, 13.9));
  assert_true(stats_noise(&three) < 0.05 && stats_noise_max(&three) > 1);
  for (int s = 0; s < 40; s++) many[s] = s % 8 ? 1 + 0.001 * (s % 3) : 3;
  struct stats_summary disturbed = stats_summarise(many, 40);
  assert_true(stats_noise_max(&disturbed) < 0.01);
}

TEST(nobody_can_set_the_clock_back)
{
  struct timespec before;
  clock_gettime(CLOCK_MONOTONIC, &before);
  usleep(20000);
  const double seconds = stats_now() - (double)before.tv_sec - 1e-9 * (double)before.tv_nsec;
  assert_true(seconds >= 0.02 && seconds < 10);
}

static void *waits(void *end)
{
  sem_wait(end);
  return NULL;
}

/* In ten seconds this thread and another one run and wait for a core, and 1/100 s of its CPU are
 * stolen. A thread that was idle for more than half of the time does not count. */
TEST(the_share_of_waiting_and_of_stolen_time_is_known)
{
  static const struct {
    char own[24], other[24];
    int stolen;
    double share;
  } cases[] = {{"5000000000 3500000000", "1000000000 3900000000", 0, 0.3},
               {"5000000000 3500000000", "4000000000 1000000000", 250, 0.3},
               {"1000000000 500000000", "4000000000 1000000000", 0, 0.1},
               {"1000000000 500000000", "4000000000 1000000000", 350, 0.35},
               {"1000000000 99500000000", "0 0", 0, 1}};
  char text[200], one[24], two[24], first[] = "1000000000 500000000 7";
  const int cpu = sched_getcpu();
  cpu_set_t mask;
  pthread_t other;
  sem_t end;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  assert_int_equal(sched_setaffinity(0, sizeof mask, &mask) + sem_init(&end, 0, 0), 0);
  assert_int_equal(pthread_create(&other, NULL, waits, &end), 0);
  assert_null(starvation_begin());
  assert_true(starvation_share(NULL) == -1);
  cpus = text;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    simulated = 100;
    counters[0] = first;
    counters[1] = NULL;
    snprintf(text, sizeof text, "cpu  9 9 9 9 9 9 9 9 9 9\ncpu%d 1 2 3 4 5 6 7 200 9 9\n", cpu);
    struct starvation *begin = starvation_begin();
    counters[0] = strcpy(one, cases[c].own);
    counters[1] = strcpy(two, cases[c].other);
    snprintf(text, sizeof text, "cpu%d 1 2 3 4 5 6 7 %d 9 9\ncpu%d 1 2 3 4 5 6 7 900 9 9\nintr 9\n", cpu,
             200 + cases[c].stolen, cpu + 1);
    assert_true(starvation_share(begin) == -1);
    simulated = 110;
    assert_true(fabs(starvation_share(begin) - cases[c].share) < 1e-9);
    starvation_end(begin);
  }
  simulated = 0;
  sem_post(&end);
  pthread_join(other, NULL);
}

UNIT_MAIN(NULL, NULL)
