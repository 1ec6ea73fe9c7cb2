/* SPDX-License-Identifier: MIT */
#include "tests/unit/contract.h"

#include "base/log.h"
#include "gpu/null/null_device.h"
#include "gpu/memory.h"
#include "gpu/select.h"

/* Names of the device calls that a run makes, in their order. */
static const char *const verbs[] = {"open",        "queue_create", "event_create", "alloc",   "alloc_host",
                                    "memory_free", "copy_in",      "clear",        "record",  "wait",
                                    "ready",       "copy_out",     "sync",         "elapsed", "alloc_shared",
                                    "share",       "copy"};
enum { ALLOC_HOST = 4, ALLOC_SHARED = 14, VERBS = sizeof verbs / sizeof *verbs };

/** Objects of a run. A member is NULL if the run ended before it was made. */
struct run {
  struct gpu_device *device;
  struct gpu_queue *queue;
  struct gpu_event *event;
  struct gpu_mem mem, shared;
  void *host;
};

/** Uses each verb once. */
static status_t use_every_verb(struct run *run)
{
  uint64_t bytes;
  int ready;
  double seconds;
  struct gpu_share share;
  RETURN_IF_FAILED(gpu_open(&gpu_backend_null, 0, &run->device));
  RETURN_IF_FAILED(gpu_queue_create(run->device, GPU_NORMAL, &run->queue));
  RETURN_IF_FAILED(gpu_event_create(run->device, &run->event));
  RETURN_IF_FAILED(gpu_alloc(run->device, 64, &run->mem));
  RETURN_IF_FAILED(gpu_alloc_host(run->device, 64, GPU_HOST_PINNED, &run->host));
  RETURN_IF_FAILED(gpu_memory_free(run->device, &bytes));
  memset(run->host, 7, 64);
  RETURN_IF_FAILED(gpu_copy_in(run->queue, run->mem, 0, run->host, 64));
  RETURN_IF_FAILED(gpu_clear(run->queue, run->mem, 0, 32));
  RETURN_IF_FAILED(gpu_record(run->event, run->queue));
  RETURN_IF_FAILED(gpu_wait(run->queue, run->event));
  RETURN_IF_FAILED(gpu_ready(run->event, &ready));
  RETURN_IF_FAILED(gpu_copy_out(run->queue, run->host, run->mem, 0, 64));
  RETURN_IF_FAILED(gpu_sync(run->queue));
  RETURN_IF_FAILED(gpu_elapsed(run->event, run->event, &seconds));
  RETURN_IF_FAILED(gpu_alloc_shared(run->device, 64, &run->shared));
  RETURN_IF_FAILED(gpu_share(run->device, run->shared, &share));
  return gpu_copy(run->queue, run->mem, 0, run->shared, 0, 64);
}

static status_t run_and_clean_up(void)
{
  struct run run = {0};
  status_t status = use_every_verb(&run);
  if (run.device) gpu_free(run.device, &run.mem);
  if (run.device) gpu_free(run.device, &run.shared);
  if (run.device) gpu_free_host(run.device, GPU_HOST_PINNED, run.host);
  gpu_event_destroy(run.event);
  gpu_queue_destroy(run.queue);
  gpu_close(run.device);
  return status;
}

/** Makes the nth call from now on fail. */
static void fail_at(long n)
{
  char text[32];
  snprintf(text, sizeof text, "%ld", null_calls() + n);
  setenv("HIMENO_NULL_FAIL", text, 1);
}

static int forget_environment(void **state)
{
  static const char *const names[] = {"HIMENO_NULL_FAIL",     "HIMENO_NULL_RANK", "HIMENO_NULL_DEVICES",
                                      "OMPI_COMM_WORLD_RANK", "PMIX_RANK",        "PMI_RANK",
                                      "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
  log_hold(1);
  return 0;
}

TEST_WITH(the_nth_call_fails_as_on_a_real_device, forget_environment, NULL)
{
  char text[80];
  for (int n = 0; n < VERBS; n++) {
    long before = null_calls();
    fail_at(n + 1);
    status_t status = run_and_clean_up();
    snprintf(text, sizeof text, "null device: call %ld, %s, fails on demand", before + n + 1, verbs[n]);
    assert_string_equal(log_held(), text);
    expect_failure(status, n <= ALLOC_HOST || n == ALLOC_SHARED ? STATUS_ENVIRONMENT : STATUS_FAULT);
    assert_int_equal(null_calls() - before, n + 1);
  }
  fail_at(VERBS + 1);
  assert_int_equal(run_and_clean_up(), STATUS_OK);
}

TEST_WITH(only_the_named_rank_fails, forget_environment, NULL)
{
  setenv("HIMENO_NULL_RANK", "2", 1);
  fail_at(1);
  assert_int_equal(run_and_clean_up(), STATUS_OK);
  setenv("SLURM_PROCID", "2", 1);
  fail_at(1);
  expect_failure(run_and_clean_up(), STATUS_ENVIRONMENT);
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  fail_at(1);
  assert_int_equal(run_and_clean_up(), STATUS_OK);
}

TEST(each_backend_has_all_verbs_of_a_capability_or_none)
{
  for (int n = 0; gpu_backends[n]; n++) {
    const struct gpu_backend *b = gpu_backends[n];
#define SAME_HOOKS(has, verb) assert_int_equal(!gpu_has(b, has), !b->has.verb)
    SAME_HOOKS(pins, unpin);
    SAME_HOOKS(row_copies, out);
    SAME_HOOKS(parts, end);
    SAME_HOOKS(sharing, publish);
    SAME_HOOKS(sharing, attach);
    SAME_HOOKS(sharing, detach);
    SAME_HOOKS(sharing, copy);
    SAME_HOOKS(graphs, end);
    SAME_HOOKS(graphs, launch);
    SAME_HOOKS(graphs, destroy);
  }
}

TEST_WITH(as_many_devices_show_as_are_asked_for, forget_environment, NULL)
{
  struct gpu_device_info *infos;
  int n;
  char reason[GPU_TEXT_MAX];
  setenv("HIMENO_NULL_DEVICES", "3", 1);
  gpu_backend_null.probe(&infos, &n, reason);
  assert_int_equal(n, 3);
  assert_string_equal(reason, "");
  assert_string_not_equal(infos[0].uuid, infos[2].uuid);
  assert_string_not_equal(infos[0].pci, infos[2].pci);
  free(infos);
  setenv("HIMENO_NULL_DEVICES", "0", 1);
  gpu_backend_null.probe(&infos, &n, reason);
  assert_int_equal(n, 0);
  assert_string_not_equal(reason, "");
  free(infos);
}

TEST_WITH(of_devices_that_are_meant_the_first_is_taken, forget_environment, NULL)
{
  static const struct {
    const char *wanted;
    int index;
  } cases[] = {{NULL, 0}, {"0", 0}, {"2", 2}, {"null", 0}, {"Device 1", 1}};
  struct gpu_claim claim;
  int index;
  setenv("HIMENO_NULL_DEVICES", "3", 1);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    assert_int_equal(gpu_select(&gpu_backend_null, cases[c].wanted, &claim, &index), STATUS_OK);
    assert_ptr_equal(gpu_backends[claim.backend], &gpu_backend_null);
    assert_int_equal(index, cases[c].index);
  }
  expect_failure(gpu_select(&gpu_backend_null, "3", &claim, &index), STATUS_ENVIRONMENT);
}

TEST_WITH(bytes_that_overflow_are_outside, forget_environment, NULL)
{
  const struct gpu_mem mem = {.bytes = 64};
  assert_int_equal(gpu_range_check("copy", mem, 2, 62), STATUS_OK);
  expect_failure(gpu_range_check("copy", mem, 2, 63), STATUS_FAULT);
  expect_failure(gpu_range_check("copy", mem, 2, SIZE_MAX), STATUS_FAULT);
}

int main(void)
{
  setenv("HIMENO_NULL_DEVICES", "2", 1);
  return contract_run(&gpu_backend_null, unit_list()->test, unit_list()->n);
}
