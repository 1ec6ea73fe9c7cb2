/* SPDX-License-Identifier: MIT */
#include "tests/unit/rig.h"

#include <math.h>

#include "base/log.h"

#define TOLERANCE 1e-9 /* of gosa, relative */
#define SINGLE    1e-3 /* relative, if gosa is summed in single precision */

void rig_expect_ok(status_t status)
{
  if (status != STATUS_OK) print_error("%s\n", log_held());
  assert_int_equal(status, STATUS_OK);
}

/* The device stays open for all tests of a subject, because a driver may need a second to build its
 * programs. */
static struct {
  const struct kernel_subject *subject;
  struct gpu_device *device;
} kept;

void rig_end(void)
{
  if (kept.device) gpu_close(kept.device);
  kept.device = NULL;
}

static struct gpu_device *device_of(const struct kernel_subject *subject)
{
  if (kept.subject != subject) rig_end();
  if (!kept.device) rig_expect_ok(gpu_open(gpu_backend_find(subject->backend), 0, &kept.device));
  kept.subject = subject;
  return kept.device;
}

void rig_open(struct rig *rig, const struct kernel_subject *subject, const int64_t extent[3],
              const int procs[3], int rank)
{
  memset(rig, 0, sizeof *rig);
  if (subject->setting) setenv(subject->setting, subject->value, 1);
  rig->set = himeno_kernels_find(subject->backend);
  const struct himeno_kernel *kernel = himeno_kernel_find(rig->set, subject->kernel);
  rig->toward_zero = kernel->toward_zero;
  rig->device = device_of(subject);
  rig_expect_ok(gpu_queue_create(rig->device, GPU_NORMAL, &rig->queue));
  decomp_init(&rig->decomp, extent, procs, rank);
  rig_expect_ok(layout_init(&rig->fields.layout, &rig->decomp, kernel->sweeps, 0));
  rig->floats = layout_floats(&rig->fields.layout);
  for (int n = 0; n < 2; n++)
    rig_expect_ok(
        gpu_alloc(rig->device, himeno_field_bytes(kernel, &rig->fields.layout, n), &rig->fields.p[n]));
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++)
    rig_expect_ok(gpu_alloc(rig->device, (size_t)rig->floats * 4, &rig->fields.coefficient[m]));
  rig_expect_ok(gpu_alloc(rig->device, RIG_SLOTS * sizeof(double), &rig->fields.gosa));
  rig_expect_ok(rig->set->open(rig->device, &rig->fields, kernel, &rig->exec));
  if (subject->setting) unsetenv(subject->setting);
}

void rig_open_whole(struct rig *rig, const struct kernel_subject *subject, const int64_t extent[3],
                    enum himeno_data data)
{
  rig_open(rig, subject, extent, (const int[3]){1, 1, 1}, 0);
  for (int m = 0; m < HIMENO_ARRAYS; m++) rig_expect_ok(rig->set->fill(rig->exec, rig->queue, m, data));
  rig_expect_ok(gpu_clear(rig->queue, rig->fields.gosa, 0, RIG_SLOTS * sizeof(double)));
}

void rig_close(struct rig *rig)
{
  rig_expect_ok(gpu_sync(rig->queue));
  rig->set->close(rig->exec);
  gpu_free(rig->device, &rig->fields.gosa);
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) gpu_free(rig->device, &rig->fields.coefficient[m]);
  for (int n = 0; n < 2; n++) gpu_free(rig->device, &rig->fields.p[n]);
  gpu_queue_destroy(rig->queue);
}

void rig_sweep(struct rig *rig, const struct box *box, int source, int slot)
{
  rig_pass(rig, box, 1, source, slot);
}

void rig_pass(struct rig *rig, const struct box *box, int sweeps, int source, int slot)
{
  const struct himeno_sweep pass = {.box = *box, .sweeps = sweeps, .source = source, .slot = slot};
  rig_expect_ok(rig->set->sweep(rig->exec, rig->queue, &pass));
}

double rig_gosa_of(struct rig *rig, int slot)
{
  double gosa;
  rig_expect_ok(gpu_read(rig->queue, &gosa, rig->fields.gosa, (size_t)slot * sizeof gosa, sizeof gosa));
  return gosa;
}

uint64_t rig_checksum_of(struct rig *rig, int which)
{
  uint64_t sum;
  rig_expect_ok(
      rig->set->checksum(rig->exec, rig->queue, &rig->fields.p[which], 1, &rig->fields.layout.counted, &sum));
  return sum;
}

uint32_t *rig_bits_of(struct rig *rig, struct gpu_mem mem)
{
  uint32_t *bits = malloc((size_t)rig->floats * sizeof *bits);
  assert_non_null(bits);
  rig_expect_ok(gpu_read(rig->queue, bits, mem, 0, (size_t)rig->floats * sizeof *bits));
  return bits;
}

void rig_poison(struct rig *rig, struct gpu_mem mem)
{
  uint32_t *bits = malloc((size_t)rig->floats * sizeof *bits);
  assert_non_null(bits);
  for (int64_t x = 0; x < rig->floats; x++) bits[x] = RIG_POISON;
  rig_expect_ok(gpu_copy_in(rig->queue, mem, 0, bits, (size_t)rig->floats * sizeof *bits));
  rig_expect_ok(gpu_sync(rig->queue));
  free(bits);
}

void rig_assert_close(const struct rig *rig, double got, double expected)
{
  double tolerance = rig->toward_zero ? SINGLE : TOLERANCE;
  if (fabs(got - expected) > tolerance * fabs(expected))
    print_error("gosa %.13e, expected %.13e\n", got, expected);
  assert_true(fabs(got - expected) <= tolerance * fabs(expected));
}

int rig_in_box(const struct box *b, int64_t i, int64_t j, int64_t k)
{
  return i >= b->lo[0] && i < b->hi[0] && j >= b->lo[1] && j < b->hi[1] && k >= b->lo[2] && k < b->hi[2];
}
