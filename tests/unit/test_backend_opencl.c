/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tests/unit/contract.h"

#if HAVE_OPENCL
#include "base/log.h"
#include "gpu/host.h"
#include "gpu/opencl/opencl_device.h"

#define UUID "cl_khr_device_uuid"
#define KHR  "cl_khr_pci_bus_info"
#define NV   "cl_nv_device_attribute_query"
#define AMD  "cl_amd_device_attribute_query"

/* Drivers of several vendors, replaced by this program. */
static const struct played {
  cl_ulong platform;
  cl_device_type type;
  const char *name, *board, *version, *extensions;
  cl_uint vendor, first, bus; /* first: first byte of the UUID, or type of the PCI address */
  cl_bool available, compiler;
} played[] = {
    {1, 4, "  NVIDIA H200 ", "", "OpenCL 3.0 CUDA", "cl_khr_fp64 " UUID " " NV, 0x10de, 0xa0, 0x3b, 1, 1},
    {1, 4, "Arc", "", "OpenCL 1.2", KHR " cl_khr_fp64s", 0x8086, 0, 0xc1, 1, 1},
    {1, 4, "Arc", "", "OpenCL 1.2", "x" UUID " " KHR, 0x8086, 0, 0xc1, 1, 1},
    {2, 4, "other driver", "", "OpenCL 2.0", UUID, 0x10de, 0xa0, 0, 1, 1},
    {2, 4, "gfx90a", "AMD Instinct MI210", "OpenCL 2.0", AMD, 0x1002, 1, 0xc1, 1, 1},
    {2, 4, "gfx90a", "AMD Instinct MI210", "OpenCL 2.0", UUID " " AMD, 0x1002, 2, 0xc2, 1, 1},
    {2, 4, "gfx942", "", "OpenCL 2.0", AMD, 0x1002, 1, 0xc3, 1, 1},
    {2, 2, "CPU", "", "OpenCL 1.2 pocl", "", 0, 0, 0, 1, 1},
    {1, 8, "board", "", "OpenCL 1.2", "", 0, 0, 0, 1, 1},
    {1, 8, "old", "", "OpenCL 1.1", "", 0, 0, 0, 1, 1},
    {1, 8, "lost", "", "OpenCL 1.2", "", 0, 0, 0, 0, 1},
    {1, 8, "no compiler", "", "OpenCL 1.2", "", 0, 0, 0, 1, 0},
};
enum { PLAYED = sizeof played / sizeof *played };
static cl_uint platforms; /* 0: ask the drivers of this machine */
static int first;

cl_int clGetPlatformIDs(cl_uint most, cl_platform_id *ids, cl_uint *n)
{
  if (!platforms) return REAL(clGetPlatformIDs)(most, ids, n);
  for (cl_uint p = 0; p < most; p++) ids[p] = (cl_platform_id)(uintptr_t)(p + 1);
  if (n) *n = first > PLAYED ? 0 : platforms;
  return CL_SUCCESS;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint most, cl_device_id *ids,
                      cl_uint *n)
{
  cl_uint found = 0;
  if (!platforms) return REAL(clGetDeviceIDs)(platform, type, most, ids, n);
  for (int d = first; d < PLAYED; d++) {
    if (played[d].platform != (uintptr_t)platform || played[d].type != type) continue;
    if (found < most) ids[found] = (cl_device_id)&played[d];
    found++;
  }
  if (n) *n = found;
  return found ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

static cl_int answer(const void *from, size_t size, size_t most, void *value, size_t *bytes)
{
  if (value) memcpy(value, from, size < most ? size : most);
  if (bytes) *bytes = size;
  return value && most < size ? CL_INVALID_VALUE : CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t most, void *value,
                         size_t *bytes)
{
  if (!platforms) return REAL(clGetPlatformInfo)(platform, what, most, value, bytes);
  return answer((uintptr_t)platform == 1 ? "P1" : "P2", 3, most, value, bytes);
}

cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t most, void *value, size_t *bytes)
{
  const struct played *d = (const struct played *)id;
  if (!platforms) return REAL(clGetDeviceInfo)(id, what, most, value, bytes);
  const unsigned char uuid[16] = {(unsigned char)d->first, 1, 2, 3, 4, 5, 6, 7, 8, [15] = 255};
  const cl_uint khr[4] = {0x12345, d->bus, 0x1f, 7},
                amd[6] = {d->first, 0, 0, 0, 0, d->bus << 8 | 5u << 16 | 3u << 24};
  const struct {
    cl_device_info what;
    const void *from;
    size_t size;
  } all[] = {{CL_DEVICE_NAME, d->name, strlen(d->name) + 1},
             {CL_DEVICE_VERSION, d->version, strlen(d->version) + 1},
             {CL_DRIVER_VERSION, "7.5", 4},
             {CL_DEVICE_EXTENSIONS, d->extensions, strlen(d->extensions) + 1},
             {0x4038, d->board, strlen(d->board) + 1},
             {CL_DEVICE_VENDOR_ID, &d->vendor, 4},
             {CL_DEVICE_MAX_COMPUTE_UNITS, &(cl_uint){100000}, 4},
             {CL_DEVICE_AVAILABLE, &d->available, 4},
             {CL_DEVICE_COMPILER_AVAILABLE, &d->compiler, 4},
             {0x106A, uuid, 16},
             {0x410F, khr, 16},
             {0x4000, &(cl_uint){9}, 4},
             {0x4001, &(cl_uint){0}, 4},
             {0x4008, &d->bus, 4},
             {0x4009, &(cl_uint){0x1e << 3 | 5}, 4},
             {0x400A, &(cl_uint){0x10002}, 4},
             {0x4037, amd, 24}};
  for (size_t a = 0; a < sizeof all / sizeof *all; a++)
    if (all[a].what == what) return answer(all[a].from, all[a].size, most, value, bytes);
  return answer(&(cl_ulong){what}, 8, most, value, bytes);
}

/* The devices from \a from on must be listed as \a expected, or the reason if there is none. */
static void listed(int from, const char *expected)
{
  char text[2000] = "", reason[GPU_TEXT_MAX], host[GPU_TEXT_MAX];
  struct gpu_device_info *infos;
  int n;
  first = from;
  platforms = 2;
  host_uuid(host, sizeof host);
  gpu_backend_opencl.probe(&infos, &n, reason);
  platforms = 0;
  for (int d = 0; d < n; d++) {
    const struct gpu_device_info *i = &infos[d];
    const size_t used = strlen(text);
    assert_int_equal(i->compute_units, i->is_cpu ? host_allowed_cpus() : 100000);
    assert_true(i->memory_bytes == CL_DEVICE_GLOBAL_MEM_SIZE && i->numa == -1 &&
                i->max_alloc_bytes == CL_DEVICE_MAX_MEM_ALLOC_SIZE &&
                i->cache_bytes == CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    snprintf(text + used, sizeof text - used, "%s|%s|%s|%s|%s|%s%s%s\n", i->name, i->arch,
             strcmp(i->uuid, host) == 0 ? "host" : i->uuid, i->pci, i->driver, i->platform,
             i->fp64 ? ", fp64" : "", i->is_cpu ? ", CPU" : "");
  }
  free(infos);
  assert_string_equal(n ? text : reason, expected);
}

TEST(each_device_is_listed_once_as_its_vendor_describes_it)
{
  listed(0, "NVIDIA H200|sm_90|GPU-a0010203-0405-0607-0800-0000000000ff|0002:3b:1e.5|OpenCL 3.0 CUDA, driver "
            "7.5|P1, fp64\n"
            "Arc|||2345:c1:1f.7|OpenCL 1.2, driver 7.5|P1\n"
            "Arc|||2345:c1:1f.7|OpenCL 1.2, driver 7.5|P1\n"
            "AMD Instinct MI210|gfx90a||0000:c1:05.3|OpenCL 2.0, driver 7.5|P2\n"
            "AMD Instinct MI210|gfx90a|020102030405060708000000000000ff||OpenCL 2.0, driver 7.5|P2\n"
            "gfx942|gfx942||0000:c3:05.3|OpenCL 2.0, driver 7.5|P2\n"
            "board||||OpenCL 1.2, driver 7.5|P1\n"
            "CPU||host||OpenCL 1.2 pocl, driver 7.5|P2, CPU\n");
  listed(PLAYED - 3, "3 OpenCL devices, none available with a compiler and OpenCL 1.2");
  listed(PLAYED, "2 OpenCL platforms, none of them with a device");
  listed(PLAYED + 1, "no OpenCL platform: no driver is registered with the ICD loader");
}

static void fails(status_t status, const char *says)
{
  assert_string_equal(log_held(), says);
  expect_failure(status, STATUS_FAULT);
}

/* The loader refuses handles that are NULL. */
TEST(each_call_that_fails_is_named)
{
  struct gpu_device *device;
  struct gpu_queue *queue;
  struct gpu_event *event;
  struct gpu_mem mem;
  cl_program program;
  size_t most, required[3];
  char bytes[64] = "";
  const struct gpu_rows rows = {0, 4, 2, 8, 2, 32};
  log_hold(1);
  if (gpu_open(&gpu_backend_opencl, 0, &device) != STATUS_OK) skip();
  assert_false(gpu_queue_create(device, GPU_NORMAL, &queue) || gpu_event_create(device, &event) ||
               gpu_alloc(device, 64, &mem) || gpu_record(event, queue));
  struct opencl_device *native = (struct opencl_device *)device, whole = *native;
  struct gpu_queue *none = &((struct opencl_queue){.base = *queue}).base;
  fails(gpu_copy_in(none, mem, 0, bytes, 64), "clEnqueueWriteBuffer: CL_INVALID_COMMAND_QUEUE");
  fails(gpu_copy_out(none, bytes, mem, 0, 64), "clEnqueueReadBuffer: CL_INVALID_COMMAND_QUEUE");
  fails(gpu_copy_rows_in(none, mem, &rows, bytes), "clEnqueueWriteBufferRect: CL_INVALID_COMMAND_QUEUE");
  fails(gpu_copy_rows_out(none, bytes, mem, &rows), "clEnqueueReadBufferRect: CL_INVALID_COMMAND_QUEUE");
  fails(gpu_clear(none, mem, 0, 64), "clEnqueueFillBuffer: CL_INVALID_COMMAND_QUEUE");
  fails(gpu_record(event, none), "clEnqueueMarkerWithWaitList: CL_INVALID_COMMAND_QUEUE");
  fails(gpu_wait(none, event), "clEnqueueBarrierWithWaitList: CL_INVALID_COMMAND_QUEUE");
  fails(gpu_sync(none), "clFinish: CL_INVALID_COMMAND_QUEUE");
  native->service = NULL;
  fails(gpu_alloc(device, 64, &mem), "clCreateBuffer: CL_INVALID_COMMAND_QUEUE");
  native->context = NULL;
  fails(gpu_alloc(device, 64, &mem), "clCreateBuffer: CL_INVALID_CONTEXT");
  fails(gpu_queue_create(device, GPU_NORMAL, &queue), "clCreateCommandQueue: CL_INVALID_CONTEXT");
  fails(opencl_program_build(native, "", "", &program), "clCreateProgramWithSource: CL_INVALID_CONTEXT");
  fails(opencl_kernel_limits(native, NULL, &most, required), "clGetKernelWorkGroupInfo: CL_INVALID_KERNEL");
  *native = whole;
  for (int code = 4; code <= 61; code += code == 4 ? 2 : 55)
    expect_failure(opencl_check(-code, "a call"), STATUS_ENVIRONMENT);
  fails(opencl_check(-9999, "a call"), "a call: illegal memory access by a kernel");
  fails(opencl_check(-1234, "a call"), "a call: OpenCL error -1234");
  strcpy(native->notice, "fire");
  native->noticed = NOTICE_COMPLETE;
  fails(gpu_sync(queue), "the OpenCL driver reports: fire");
  cl_command_queue kept = opencl_queue_handle(queue);
  cl_mem buffer = mem.handle;
  cl_uint holders[2] = {0};
  clRetainCommandQueue(kept);
  clRetainMemObject(buffer);
  gpu_free(device, &mem);
  gpu_event_destroy(event);
  gpu_queue_destroy(queue);
  clGetCommandQueueInfo(kept, CL_QUEUE_REFERENCE_COUNT, sizeof *holders, &holders[0], NULL);
  clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof *holders, &holders[1], NULL);
  assert_true(holders[0] == 1 && holders[1] == 1);
  clReleaseCommandQueue(kept);
  clReleaseMemObject(buffer);
  gpu_close(device);
}
#endif

int main(void)
{
  return contract_run(&gpu_backend_opencl, unit_list()->test, unit_list()->n);
}
