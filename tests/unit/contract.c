/* SPDX-License-Identifier: MIT */
#include "tests/unit/contract.h"

#include <time.h>

#include "base/log.h"

#define MIB          ((size_t)1 << 20)
#define BUFFER_BYTES ((size_t)4096)

static const struct gpu_backend *backend;
static int device_index;

/** A device, two queues and two events, which most checks use. */
static struct gpu_device *device;
static struct gpu_queue *queue, *other;
static struct gpu_event *begin, *end;

void expect_failure(status_t got, status_t expected)
{
  assert_int_equal(got, expected);
  assert_true(log_held()[0] != '\0');
  log_drop();
}

static void expect_ok(status_t status)
{
  if (status != STATUS_OK) fail_msg("%s", log_held());
}

/** Opens the device whose number is the check's state. */
static int open_device(void **state)
{
  device_index = *(int *)*state;
  log_hold(1);
  return gpu_open(backend, device_index, &device) || gpu_queue_create(device, GPU_NORMAL, &queue) ||
         gpu_queue_create(device, GPU_URGENT, &other) || gpu_event_create(device, &begin) ||
         gpu_event_create(device, &end);
}

static int close_device(void **state)
{
  gpu_event_destroy(end);
  gpu_event_destroy(begin);
  gpu_queue_destroy(other);
  gpu_queue_destroy(queue);
  gpu_close(device);
  log_drop();
  return 0;
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static unsigned char *pattern(size_t bytes, unsigned seed)
{
  unsigned char *data = test_malloc(bytes);
  for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(i * 31 + i / 251 + seed);
  return data;
}

static void devices_are_described_and_distinguished(void **state)
{
  struct gpu_device_info *infos;
  int n;
  char reason[GPU_TEXT_MAX];
  backend->probe(&infos, &n, reason);
  assert_true(n > 0);
  for (int i = 0; i < n; i++) {
    assert_true(infos[i].name[0] && infos[i].uuid[0]);
    assert_true(infos[i].memory_bytes >= MIB);
    assert_true(infos[i].max_alloc_bytes > 0 && infos[i].max_alloc_bytes <= infos[i].memory_bytes);
    assert_true(infos[i].compute_units > 0);
    assert_true(infos[i].numa >= -1);
    for (int j = 0; j < i && !infos[i].is_cpu; j++) assert_string_not_equal(infos[i].uuid, infos[j].uuid);
  }
  assert_memory_equal(&device->info, &infos[device_index], sizeof *infos);
  assert_ptr_equal(device->backend, backend);
  free(infos);
}

static void a_device_that_is_not_there_cannot_be_opened(void **state)
{
  struct gpu_device *opened = device;
  expect_failure(gpu_open(backend, 1000, &opened), STATUS_ENVIRONMENT);
  expect_failure(gpu_open(backend, -1, &opened), STATUS_ENVIRONMENT);
  assert_ptr_equal(opened, device);
}

static void copies_reach_their_bytes_and_no_others(void **state)
{
  struct gpu_mem mem;
  unsigned char *all = pattern(BUFFER_BYTES, 1), *part = pattern(100, 77), *back = test_malloc(BUFFER_BYTES);
  expect_ok(gpu_alloc(device, BUFFER_BYTES, &mem));
  assert_int_equal(mem.bytes, BUFFER_BYTES);
  expect_ok(gpu_copy_in(queue, mem, 0, all, BUFFER_BYTES));
  expect_ok(gpu_copy_in(queue, mem, 1001, part, 100));
  expect_ok(gpu_read(queue, back, mem, 0, BUFFER_BYTES));
  memcpy(all + 1001, part, 100);
  assert_memory_equal(back, all, BUFFER_BYTES);

  memset(back, 0xee, BUFFER_BYTES);
  expect_ok(gpu_read(queue, back + 7, mem, 1050, 13));
  assert_memory_equal(back + 7, all + 1050, 13);
  assert_int_equal(back[6], 0xee);
  assert_int_equal(back[20], 0xee);
  gpu_free(device, &mem);
  assert_null(mem.handle);
  test_free(all);
  test_free(part);
  test_free(back);
}

/* Copies the box of \a r to contiguous bytes if \a gather, otherwise from them. */
static void box_copy(unsigned char *buffer, unsigned char *packed, const struct gpu_rows *r, int gather)
{
  for (size_t layer = 0; layer < r->layers; layer++)
    for (size_t row = 0; row < r->rows; row++, packed += r->width) {
      unsigned char *at = buffer + r->offset + layer * r->slice + row * r->pitch;
      memcpy(gather ? packed : at, gather ? at : packed, r->width);
    }
}

static void copies_of_rows_reach_their_bytes_and_no_others(void **state)
{
  static const struct gpu_rows boxes[] = {{0, 4096, 1, 4096, 1, 4096}, {260, 100, 1, 128, 1, 1024},
                                          {132, 64, 5, 128, 1, 1024},  {1408, 128, 1, 128, 3, 1024},
                                          {1284, 36, 4, 128, 2, 1024}, {128, 128, 7, 128, 4, 1024}};
  struct gpu_mem mem;
  if (!gpu_has(backend, row_copies)) skip();
  expect_ok(gpu_alloc(device, BUFFER_BYTES, &mem));
  for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
    const struct gpu_rows *rows = &boxes[b];
    size_t bytes = rows->width * rows->rows * rows->layers;
    unsigned char *all = pattern(BUFFER_BYTES, 1), *part = pattern(bytes, 77);
    unsigned char back[BUFFER_BYTES], wanted[BUFFER_BYTES], found[BUFFER_BYTES + 1];
    expect_ok(gpu_copy_in(queue, mem, 0, all, BUFFER_BYTES));
    found[bytes] = 0xee;
    expect_ok(gpu_copy_rows_out(queue, found, mem, rows));
    expect_ok(gpu_copy_rows_in(queue, mem, rows, part));
    expect_ok(gpu_read(queue, back, mem, 0, BUFFER_BYTES));
    box_copy(all, wanted, rows, 1);
    assert_memory_equal(found, wanted, bytes);
    assert_int_equal(found[bytes], 0xee);
    box_copy(all, part, rows, 0);
    assert_memory_equal(back, all, BUFFER_BYTES);
    test_free(all);
    test_free(part);
  }
  const struct gpu_rows beyond = {132, 64, 8, 128, 4, 1024};
  expect_failure(gpu_copy_rows_out(queue, &(unsigned char){0}, mem, &beyond), STATUS_FAULT);
  expect_failure(gpu_copy_rows_in(queue, mem, &beyond, &(unsigned char){0}), STATUS_FAULT);
  gpu_free(device, &mem);
}

static void clear_zeroes_its_bytes_and_no_others(void **state)
{
  static const size_t places[][2] = {{0, 4}, {64, 256}, {512, 7}, {1001, 4}, {1003, 6}, {2048, 2048}};
  struct gpu_mem mem;
  unsigned char *all = pattern(BUFFER_BYTES, 3), *back = test_malloc(BUFFER_BYTES);
  expect_ok(gpu_alloc(device, BUFFER_BYTES, &mem));
  expect_ok(gpu_copy_in(queue, mem, 0, all, BUFFER_BYTES));
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    expect_ok(gpu_clear(queue, mem, places[i][0], places[i][1]));
  expect_ok(gpu_read(queue, back, mem, 0, BUFFER_BYTES));
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) memset(all + places[i][0], 0, places[i][1]);
  assert_memory_equal(back, all, BUFFER_BYTES);
  gpu_free(device, &mem);
  test_free(all);
  test_free(back);
}

static void nothing_can_be_allocated_copied_and_cleared(void **state)
{
  struct gpu_mem mem;
  void *host;
  unsigned char byte = 5;
  expect_ok(gpu_alloc(device, 0, &mem));
  assert_non_null(mem.handle);
  assert_int_equal(mem.bytes, 0);
  expect_ok(gpu_copy_in(queue, mem, 0, &byte, 0));
  expect_ok(gpu_clear(queue, mem, 0, 0));
  expect_ok(gpu_read(queue, &byte, mem, 0, 0));
  assert_int_equal(byte, 5);
  gpu_free(device, &mem);
  gpu_free(device, &mem);
  expect_ok(gpu_alloc_host(device, 0, GPU_HOST_PINNED, &host));
  gpu_free_host(device, GPU_HOST_PINNED, host);
  gpu_free_host(device, GPU_HOST_PINNED, NULL);
}

static void too_much_memory_is_refused_and_the_device_lives_on(void **state)
{
  struct gpu_mem mem = {NULL, 42};
  unsigned char byte = 9, back = 0;
  if (device->info.memory_bytes > SIZE_MAX / 2) skip(); /* no size exceeds the memory */
  expect_failure(gpu_alloc(device, device->info.memory_bytes * 2, &mem), STATUS_ENVIRONMENT);
  assert_null(mem.handle);
  assert_int_equal(mem.bytes, 42);
  expect_ok(gpu_alloc(device, 1, &mem));
  expect_ok(gpu_copy_in(queue, mem, 0, &byte, 1));
  expect_ok(gpu_read(queue, &back, mem, 0, 1));
  assert_int_equal(back, byte);
  gpu_free(device, &mem);
}

static void all_allocations_together_fit_into_the_memory(void **state)
{
  enum { MOST = 16 };
  struct gpu_mem mem[MOST];
  size_t bytes = device->info.memory_bytes / 4, largest = device->info.max_alloc_bytes;
  status_t status = STATUS_OK;
  int n = 0;
  if (backend == &gpu_backend_null)
    skip(); /* the C library allocates, and the sanitizer would fill all of it */
  if (bytes > largest) bytes = largest;
  for (; n < MOST && (status = gpu_alloc(device, bytes, &mem[n])) == STATUS_OK; n++) continue;
  expect_failure(status, STATUS_ENVIRONMENT);
  assert_true(n * bytes <= device->info.memory_bytes);
  while (n > 0) gpu_free(device, &mem[--n]);
}

static void what_is_allocated_is_no_longer_free(void **state)
{
  struct gpu_mem mem;
  uint64_t before, held, after;
  expect_ok(gpu_memory_free(device, &before));
  expect_ok(gpu_alloc(device, 64 * MIB, &mem));
  expect_ok(gpu_memory_free(device, &held));
  gpu_free(device, &mem);
  expect_ok(gpu_memory_free(device, &after));
  assert_true(before > 0 && before <= device->info.memory_bytes);
  assert_true(held <= device->info.memory_bytes - 64 * MIB);
  assert_true(after > held);
}

static void arrays_do_not_overlap(void **state)
{
  enum { ARRAYS = 20 };
  struct gpu_mem mem[ARRAYS];
  unsigned char *back = test_malloc(BUFFER_BYTES);
  for (unsigned a = 0; a < ARRAYS; a++) {
    unsigned char *data = pattern(BUFFER_BYTES, a);
    expect_ok(gpu_alloc(device, BUFFER_BYTES, &mem[a]));
    expect_ok(gpu_copy_in(queue, mem[a], 0, data, BUFFER_BYTES));
    expect_ok(gpu_sync(queue));
    test_free(data);
  }
  for (unsigned a = 0; a < ARRAYS; a++) {
    unsigned char *data = pattern(BUFFER_BYTES, a);
    expect_ok(gpu_read(queue, back, mem[a], 0, BUFFER_BYTES));
    assert_memory_equal(back, data, BUFFER_BYTES);
    test_free(data);
    gpu_free(device, &mem[a]);
  }
  test_free(back);
}

static void host_memory_of_both_kinds_is_aligned_and_can_be_copied(void **state)
{
  static const enum gpu_host_kind kinds[] = {GPU_HOST_PAGEABLE, GPU_HOST_PINNED};
  struct gpu_mem mem;
  unsigned char *data = pattern(MIB, 11);
  expect_ok(gpu_alloc(device, MIB, &mem));
  for (int k = 0; k < 2; k++) {
    void *from, *to;
    expect_ok(gpu_alloc_host(device, MIB, kinds[k], &from));
    expect_ok(gpu_alloc_host(device, MIB, kinds[k], &to));
    assert_int_equal((uintptr_t)from % 64, 0);
    memcpy(from, data, MIB);
    memset(to, 0, MIB);
    expect_ok(gpu_copy_in(queue, mem, 0, from, MIB));
    expect_ok(gpu_read(queue, to, mem, 0, MIB));
    assert_memory_equal(to, data, MIB);
    gpu_free_host(device, kinds[k], from);
    gpu_free_host(device, kinds[k], to);
  }
  gpu_free(device, &mem);
  test_free(data);
}

static void work_of_one_queue_runs_in_order(void **state)
{
  enum { STEPS = 50 };
  struct gpu_mem mem;
  unsigned char *data = pattern(MIB + STEPS, 5), *back = test_malloc(MIB);
  expect_ok(gpu_alloc(device, MIB, &mem));
  for (int step = 0; step < STEPS; step++) {
    expect_ok(gpu_clear(queue, mem, 0, MIB));
    expect_ok(gpu_copy_in(queue, mem, 0, data + step, MIB));
  }
  expect_ok(gpu_read(queue, back, mem, 0, MIB));
  assert_memory_equal(back, data + STEPS - 1, MIB);
  gpu_free(device, &mem);
  test_free(data);
  test_free(back);
}

static void a_queue_waits_for_an_event_of_another(void **state)
{
  enum { BYTES = 4 << 20, STEPS = 20 };
  struct gpu_mem mem;
  unsigned char *data = pattern(BYTES + STEPS, 5), *back = test_malloc(BYTES);
  expect_ok(gpu_alloc(device, BYTES, &mem));
  for (int step = 0; step < STEPS; step++) {
    for (int delay = 0; delay < 8; delay++) expect_ok(gpu_clear(queue, mem, 0, BYTES));
    expect_ok(gpu_copy_in(queue, mem, 0, data + step, BYTES));
    expect_ok(gpu_record(begin, queue));
    expect_ok(gpu_wait(other, begin));
    expect_ok(gpu_copy_out(other, back, mem, 0, BYTES));
    expect_ok(gpu_record(end, other));
    expect_ok(gpu_wait(queue, end));
    expect_ok(gpu_clear(queue, mem, 0, BYTES));
    expect_ok(gpu_sync(other));
    assert_memory_equal(back, data + step, BYTES);
  }
  expect_ok(gpu_sync(queue));
  gpu_free(device, &mem);
  test_free(data);
  test_free(back);
}

static void an_event_gets_ready_without_a_sync(void **state)
{
  struct gpu_mem mem;
  unsigned char *data = pattern(8 * MIB, 2), *back = test_malloc(8 * MIB);
  int ready = 0;
  double limit = now() + 30;
  expect_ok(gpu_alloc(device, 8 * MIB, &mem));
  expect_ok(gpu_copy_in(queue, mem, 0, data, 8 * MIB));
  expect_ok(gpu_copy_out(queue, back, mem, 0, 8 * MIB));
  expect_ok(gpu_record(end, queue));
  while (!ready && now() < limit) expect_ok(gpu_ready(end, &ready));
  assert_int_equal(ready, 1);
  assert_memory_equal(back, data, 8 * MIB);
  gpu_free(device, &mem);
  test_free(data);
  test_free(back);
}

static void elapsed_is_the_time_between_the_events(void **state)
{
  struct gpu_mem mem;
  double seconds = -1, longer = -1, none = -1;
  expect_ok(gpu_alloc(device, 64 * MIB, &mem));
  expect_ok(gpu_clear(queue, mem, 0, 64 * MIB));
  expect_ok(gpu_sync(queue));
  double start = now();
  expect_ok(gpu_record(begin, queue));
  expect_ok(gpu_clear(queue, mem, 0, 64 * MIB));
  expect_ok(gpu_record(end, queue));
  expect_ok(gpu_sync(queue));
  double wall = now() - start;
  expect_ok(gpu_elapsed(begin, end, &seconds));
  expect_ok(gpu_elapsed(begin, begin, &none));
  assert_true(seconds > 64 * MIB / 20e12); /* no memory is faster than 20 TB/s */
  assert_true(seconds <= wall + 1e-4);
  assert_true(none == 0);

  expect_ok(gpu_clear(queue, mem, 0, 64 * MIB));
  expect_ok(gpu_record(end, queue));
  expect_ok(gpu_sync(queue));
  expect_ok(gpu_elapsed(begin, end, &longer));
  assert_true(longer > seconds);
  gpu_free(device, &mem);
}

static void an_event_that_was_never_recorded_has_passed_and_has_no_time(void **state)
{
  struct gpu_event *fresh;
  int ready = 0;
  double seconds = 42;
  expect_ok(gpu_event_create(device, &fresh));
  expect_ok(gpu_wait(queue, fresh));
  expect_ok(gpu_ready(fresh, &ready));
  assert_int_equal(ready, 1);
  expect_ok(gpu_record(end, queue));
  expect_ok(gpu_sync(queue));
  expect_failure(gpu_elapsed(fresh, end, &seconds), STATUS_FAULT);
  assert_true(seconds == 42);
  gpu_event_destroy(fresh);
}

static void bytes_outside_of_memory_are_refused(void **state)
{
  struct gpu_mem mem;
  unsigned char bytes[64] = {0};
  expect_ok(gpu_alloc(device, 64, &mem));
  expect_failure(gpu_copy_in(queue, mem, 1, bytes, 64), STATUS_FAULT);
  expect_failure(gpu_copy_out(queue, bytes, mem, 65, 0), STATUS_FAULT);
  expect_failure(gpu_clear(queue, mem, SIZE_MAX, 2), STATUS_FAULT);
  expect_ok(gpu_sync(queue));
  gpu_free(device, &mem);
}

static void nothing_can_be_destroyed_and_closed(void **state)
{
  gpu_event_destroy(NULL);
  gpu_queue_destroy(NULL);
  gpu_close(NULL);
}

#define CHECK(function)                                                                                      \
  {                                                                                                          \
#function, function, open_device, close_device, NULL                                                     \
  }

static const struct CMUnitTest checks[] = {
    CHECK(devices_are_described_and_distinguished),
    CHECK(a_device_that_is_not_there_cannot_be_opened),
    CHECK(copies_reach_their_bytes_and_no_others),
    CHECK(copies_of_rows_reach_their_bytes_and_no_others),
    CHECK(clear_zeroes_its_bytes_and_no_others),
    CHECK(nothing_can_be_allocated_copied_and_cleared),
    CHECK(too_much_memory_is_refused_and_the_device_lives_on),
    CHECK(all_allocations_together_fit_into_the_memory),
    CHECK(what_is_allocated_is_no_longer_free),
    CHECK(arrays_do_not_overlap),
    CHECK(host_memory_of_both_kinds_is_aligned_and_can_be_copied),
    CHECK(work_of_one_queue_runs_in_order),
    CHECK(a_queue_waits_for_an_event_of_another),
    CHECK(an_event_gets_ready_without_a_sync),
    CHECK(elapsed_is_the_time_between_the_events),
    CHECK(an_event_that_was_never_recorded_has_passed_and_has_no_time),
    CHECK(bytes_outside_of_memory_are_refused),
    CHECK(nothing_can_be_destroyed_and_closed),
};

/** Adds the checks of each device, one device after the other. */
static void list_checks(struct CMUnitTest *tests, int *numbers, int n_devices)
{
  enum { CHECKS = sizeof checks / sizeof *checks };
  for (int d = 0; d < n_devices; d++) {
    numbers[d] = d;
    for (int c = 0; c < CHECKS; c++) {
      tests[d * CHECKS + c] = checks[c];
      tests[d * CHECKS + c].initial_state = &numbers[d];
    }
  }
}

int contract_run(const struct gpu_backend *tested, const struct CMUnitTest *more, size_t n)
{
  struct gpu_device_info *infos;
  int n_devices;
  char reason[GPU_TEXT_MAX];
  tested->probe(&infos, &n_devices, reason);
  free(infos);
  if (!n_devices && !n) {
    fprintf(stderr, "%s: %s\n", tested->name, reason);
    return TEST_SKIPPED;
  }
  backend = tested;
  size_t n_checks = (size_t)n_devices * (sizeof checks / sizeof *checks);
  struct CMUnitTest *tests = calloc(n_checks + n, sizeof *tests);
  int *numbers = calloc((size_t)n_devices, sizeof *numbers);
  int failed = 1;
  if (tests && numbers) {
    list_checks(tests, numbers, n_devices);
    if (n) memcpy(tests + n_checks, more, n * sizeof *tests);
    failed = _cmocka_run_group_tests(tested->name, tests, n_checks + n, NULL, NULL);
  }
  free(tests);
  free(numbers);
  return failed;
}
