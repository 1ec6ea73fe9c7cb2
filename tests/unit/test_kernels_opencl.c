/* SPDX-License-Identifier: MIT */
/* Checks every OpenCL kernel on the first device: as it is, with gosa from a second launch (as
 * without atomics), and with sums in two floats (as without doubles). Temporal kernels also have
 * the shapes for NVIDIA's devices, and stream also runs several sweeps per launch. With GROUP_MOST,
 * compiled kernels take at most 64 work-items, as if they needed many registers; not on NVIDIA's
 * devices, whose kernels run with the size that they require, whatever the driver reports. */
#define CL_TARGET_OPENCL_VERSION 120
#include "config.h"
#include "tests/unit/kernel_checks.h"

#if HAVE_OPENCL
#include <CL/cl.h>

static size_t group_most;

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name,
                                size_t bytes, void *value, size_t *used)
{
  const cl_int error = REAL(clGetKernelWorkGroupInfo)(kernel, device, name, bytes, value, used);
  cl_uint vendor = 0;
  clGetDeviceInfo(device, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, NULL);
  group_most = getenv("GROUP_MOST") && vendor != 0x10de ? 64 : SIZE_MAX;
  if (name == CL_KERNEL_WORK_GROUP_SIZE && *(size_t *)value > group_most) *(size_t *)value = group_most;
  return error;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint n, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint waits, const cl_event *wait,
                              cl_event *event)
{
  size_t items = 1;
  for (cl_uint d = 0; d < n; d++) items *= local[d];
  if (items > group_most) return CL_INVALID_WORK_GROUP_SIZE;
  return REAL(clEnqueueNDRangeKernel)(queue, kernel, n, offset, global, local, waits, wait, event);
}
#endif

int main(void)
{
  static const char *const kernels[] = {"naive", "block16", "paced", "stream", "temporal2", "temporal3"};
  struct kernel_subject subjects[25];
  size_t n = 0;

  if (!HAVE_OPENCL) return TEST_SKIPPED;
  for (size_t k = 0; k < 6; k++) {
    subjects[n++] = (struct kernel_subject){"opencl", kernels[k], NULL, NULL};
    subjects[n++] = (struct kernel_subject){"opencl", kernels[k], "HIMENO_OPENCL_ATOMICS", "0"};
    subjects[n++] = (struct kernel_subject){"opencl", kernels[k], "HIMENO_OPENCL_FP64", "0"};
  }
  for (size_t k = 4; k < 6; k++)
    subjects[n++] = (struct kernel_subject){"opencl", kernels[k], "HIMENO_OPENCL_WIDE", "1"};
  for (size_t k = 0; k < 6; k += k ? 1 : 3) /* the tiles of block16 and paced are fixed */
    subjects[n++] = (struct kernel_subject){"opencl", kernels[k], "GROUP_MOST", "64"};
  subjects[n++] = (struct kernel_subject){"opencl", "stream", SETTING_AT_ONCE, "1"};
  return kernels_run(subjects, n);
}
