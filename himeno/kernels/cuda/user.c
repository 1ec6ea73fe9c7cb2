/* SPDX-License-Identifier: MIT */
/* A user's own kernel; doc/kernel-template.cu is a starting point. NVRTC compiles it. NVRTC and the
 * driver are loaded only if a kernel file is given, so the program starts without them. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "himeno/kernels/cuda/exec.h"
#include "himeno/kernels/cuda/user_headers.h"

#define LIBRARY_NAMES 6
#define THREADS_MAX   1024

struct cuda_user_state {
  struct cuda_variant variant; /* only the shape: `kernel` is NULL */
  CUmodule module;
  CUfunction function;
};

/* The functions of NVRTC that are used; they return 0 on success. */
static struct {
  int (*create)(void **program, const char *source, const char *name, int n, const char *const *texts,
                const char *const *names);
  int (*destroy)(void **program);
  int (*compile)(void *program, int n, const char *const *options);
  int (*keep)(void *program, const char *name);
  int (*lowered)(void *program, const char *name, const char **lowered);
  int (*log_size)(void *program, size_t *size);
  int (*log)(void *program, char *text);
  int (*cubin_size)(void *program, size_t *size);
  int (*cubin)(void *program, char *image);
} nvrtc;

/* The functions of the driver that are used. Their results have the values of cudaError_t. */
static struct {
  CUresult (*load)(CUmodule *module, const void *image);
  CUresult (*unload)(CUmodule module);
  CUresult (*function)(CUfunction *function, CUmodule module, const char *name);
  CUresult (*global)(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name);
  CUresult (*launch)(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                     unsigned bz, unsigned shared_bytes, CUstream stream, void **arguments, void **extra);
  CUresult (*attribute)(int *value, CUfunction_attribute attribute, CUfunction function);
  CUresult (*occupancy)(int *blocks, CUfunction function, int threads, size_t shared_bytes);
} driver;

struct symbol {
  const char *name;
  void **place;
};

/* Loads symbols. \a hint is advice if the library is not found; NULL: dlerror's message. */
static status_t symbols_load(void *library, const char *hint, const struct symbol *symbols, size_t n)
{
  if (!library) return log_fail(STATUS_ENVIRONMENT, "--kernel-file: %s", hint ? hint : dlerror());
  for (size_t s = 0; s < n; s++) {
    *symbols[s].place = dlsym(library, symbols[s].name);
    if (!*symbols[s].place)
      return log_fail(STATUS_ENVIRONMENT, "--kernel-file: %s is missing in the library", symbols[s].name);
  }
  return STATUS_OK;
}

static status_t driver_load(void)
{
  const struct symbol symbols[] = {
      {"cuModuleLoadData", (void **)&driver.load},
      {"cuModuleUnload", (void **)&driver.unload},
      {"cuModuleGetFunction", (void **)&driver.function},
      {"cuModuleGetGlobal_v2", (void **)&driver.global},
      {"cuLaunchKernel", (void **)&driver.launch},
      {"cuFuncGetAttribute", (void **)&driver.attribute},
      {"cuOccupancyMaxActiveBlocksPerMultiprocessor", (void **)&driver.occupancy},
  };
  if (driver.occupancy) return STATUS_OK;
  return symbols_load(dlopen("libcuda.so.1", RTLD_NOW), NULL, symbols, sizeof symbols / sizeof symbols[0]);
}

/* Opens NVRTC of the toolkit that this program was built with, otherwise any version. */
static void *nvrtc_open(void)
{
  const char *home = getenv("CUDA_HOME");
  char names[LIBRARY_NAMES][512];
  void *library = NULL;
  snprintf(names[0], sizeof names[0], "libnvrtc.so.%d", CUDART_VERSION / 1000);
  snprintf(names[1], sizeof names[1], "%s/lib64/libnvrtc.so", home ? home : "/usr/local/cuda");
  snprintf(names[2], sizeof names[2], "/usr/local/cuda/lib64/libnvrtc.so");
  snprintf(names[3], sizeof names[3], "libnvrtc.so");
  snprintf(names[4], sizeof names[4], "libnvrtc.so.13");
  snprintf(names[5], sizeof names[5], "libnvrtc.so.12");
  for (int n = 0; n < LIBRARY_NAMES && !library; n++) library = dlopen(names[n], RTLD_NOW);
  return library;
}

static status_t nvrtc_load(void)
{
  const struct symbol symbols[] = {
      {"nvrtcCreateProgram", (void **)&nvrtc.create},   {"nvrtcDestroyProgram", (void **)&nvrtc.destroy},
      {"nvrtcCompileProgram", (void **)&nvrtc.compile}, {"nvrtcAddNameExpression", (void **)&nvrtc.keep},
      {"nvrtcGetLoweredName", (void **)&nvrtc.lowered}, {"nvrtcGetProgramLogSize", (void **)&nvrtc.log_size},
      {"nvrtcGetProgramLog", (void **)&nvrtc.log},      {"nvrtcGetCUBINSize", (void **)&nvrtc.cubin_size},
      {"nvrtcGetCUBIN", (void **)&nvrtc.cubin},
  };
  if (nvrtc.cubin) return STATUS_OK;
  return symbols_load(nvrtc_open(),
                      "NVRTC was not found; put the CUDA toolkit's libnvrtc.so in LD_LIBRARY_PATH, or its "
                      "folder in CUDA_HOME",
                      symbols, sizeof symbols / sizeof symbols[0]);
}

/* Returns the compiler's first error line, without its newline; the whole log if there is none. */
static const char *first_error(char *text)
{
  char *error = strstr(text, "error:"), *line = error;
  if (!error) return text;
  while (line > text && line[-1] != '\n') line--;
  line[strcspn(line, "\n")] = 0;
  return line;
}

static status_t compile_failed(void *program, const char *path)
{
  size_t size = 0;
  char *text = NULL;
  if (nvrtc.log_size(program, &size) != 0 || size == 0 || !(text = malloc(size)) ||
      nvrtc.log(program, text) != 0) {
    free(text);
    return log_fail(STATUS_USAGE, "--kernel-file %s does not compile; NVRTC gives no reason", path);
  }
  status_t status = log_fail(STATUS_USAGE, "--kernel-file %s does not compile: %s", path, first_error(text));
  free(text);
  return status;
}

static int program_create(void **program, const char *source, const char *path)
{
  const char *names[EMBEDDED_HEADERS + 1], *texts[EMBEDDED_HEADERS + 1];
  for (int h = 0; h < EMBEDDED_HEADERS; h++) {
    names[h] = embedded_names[h];
    texts[h] = embedded_texts[h];
  }
  names[EMBEDDED_HEADERS] = "stdint.h"; /* NVRTC does not have this header */
  texts[EMBEDDED_HEADERS] =
      "typedef long int64_t; typedef unsigned long uint64_t; typedef unsigned uint32_t;\n";
  return nvrtc.create(program, source, path, EMBEDDED_HEADERS + 1, texts, names);
}

static const char *const kept_names[] = {"sweep", "&threads", "&tile"};

static status_t cuda_user_compile(struct gpu_device *device, void *program, const char *path, char **image)
{
  size_t size;
  char arch[64];
  const char *options[] = {arch, "--std=c++17", "--fmad=false", "-default-device"};
  snprintf(arch, sizeof arch, "--gpu-architecture=%s", device->info.arch);
  for (int k = 0; k < 3; k++)
    if (nvrtc.keep(program, kept_names[k]) != 0) return compile_failed(program, path);
  if (nvrtc.compile(program, 4, options) != 0) return compile_failed(program, path);
  if (nvrtc.cubin_size(program, &size) != 0 || !(*image = malloc(size)) || nvrtc.cubin(program, *image) != 0)
    return log_fail(STATUS_ENVIRONMENT, "--kernel-file %s: NVRTC gave no code for %s", path,
                    device->info.arch);
  return STATUS_OK;
}

static status_t shape_read(struct cuda_user_state *user, void *program, const char *variable, int shape[3])
{
  const char *name;
  CUdeviceptr pointer;
  size_t bytes;
  if (nvrtc.lowered(program, variable, &name) != 0 ||
      driver.global(&pointer, &bytes, user->module, name) != CUDA_SUCCESS || bytes != 3 * sizeof(int))
    return log_fail(STATUS_USAGE, "--kernel-file: %s must be an array of three ints in constant memory",
                    variable + 1);
  cudaError_t error = cudaMemcpy(shape, (const void *)(uintptr_t)pointer, bytes, cudaMemcpyDeviceToHost);
  return error == cudaSuccess ? STATUS_OK : cuda_fail(error, "reading the shape of the kernel file");
}

static status_t cuda_user_shape_check(const struct cuda_variant *variant)
{
  const int *t = variant->threads, *tile = variant->tile;
  if (t[0] < 1 || t[1] < 1 || t[2] < 1 || (long)t[0] * t[1] * t[2] > THREADS_MAX)
    return log_fail(STATUS_USAGE, "--kernel-file: threads {%d, %d, %d}: must be 1 to %d in all", t[0], t[1],
                    t[2], THREADS_MAX);
  if (tile[0] < 1 || tile[1] < 1 || tile[2] < 1)
    return log_fail(STATUS_USAGE, "--kernel-file: tile {%d, %d, %d}: each must be at least 1", tile[0],
                    tile[1], tile[2]);
  return STATUS_OK;
}

static status_t module_load(struct cuda_user_state *user, void *program, const char *image)
{
  const char *name;
  CUresult result = driver.load(&user->module, image);
  if (result != CUDA_SUCCESS) return cuda_fail((cudaError_t)result, "loading the kernel file's code");
  if (nvrtc.lowered(program, kept_names[0], &name) != 0 ||
      driver.function(&user->function, user->module, name) != CUDA_SUCCESS)
    return log_fail(STATUS_USAGE, "--kernel-file: it has no kernel named sweep");
  RETURN_IF_FAILED(shape_read(user, program, kept_names[1], user->variant.threads));
  RETURN_IF_FAILED(shape_read(user, program, kept_names[2], user->variant.tile));
  return cuda_user_shape_check(&user->variant);
}

/* Launches a user's kernel without overlap: it may read any data at its start. */
static cudaError_t user_launch(struct cuda_exec *exec, struct gpu_queue *queue, const void *kernel, dim3 grid,
                               dim3 threads, void **arguments)
{
  const struct cuda_user_state *user = exec->state;
  (void)kernel;
  return (cudaError_t)driver.launch(user->function, grid.x, grid.y, grid.z, threads.x, threads.y, threads.z,
                                    0, cuda_exec_alone(queue), arguments, NULL);
}

/* Returns STATUS_ENVIRONMENT if the file cannot be read, or NVRTC or the driver is unavailable;
 * STATUS_USAGE if the source does not compile or has no valid shape. */
static status_t cuda_user_open(struct cuda_exec *exec)
{
  status_t status;
  const char *path = exec->kernel->file;
  char *source = NULL, *image = NULL;
  void *program = NULL;
  RETURN_IF_FAILED(cuda_exec_state(exec, sizeof(struct cuda_user_state)));
  struct cuda_user_state *user = exec->state;
  user->variant = (struct cuda_variant){.axis = {2, 1, 0}};
  exec->variant = &user->variant;
  exec->launch = user_launch;
  RETURN_IF_FAILED(driver_load());
  RETURN_IF_FAILED(nvrtc_load());
  RETURN_IF_FAILED(himeno_kernel_source(path, &source));
  if (program_create(&program, source, path) != 0) {
    status = log_fail(STATUS_ENVIRONMENT, "--kernel-file %s: NVRTC does not start", path);
    goto end;
  }
  TRY(cuda_user_compile(exec->device, program, path, &image), end);
  status = module_load(user, program, image);
end:
  if (program) nvrtc.destroy(&program);
  free(image);
  free(source);
  return status;
}

static void cuda_user_close(struct cuda_exec *exec)
{
  struct cuda_user_state *user = exec->state;
  if (user && user->module) driver.unload(user->module);
}

static cudaError_t cuda_user_block(const struct cuda_exec *exec, struct cuda_block *block)
{
  const struct cuda_user_state *user = exec->state;
  const int *t = user->variant.threads;
  block->threads = t[0] * t[1] * t[2];
  CUresult result = driver.attribute(&block->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, user->function);
  if (result == CUDA_SUCCESS)
    result = driver.attribute(&block->local_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, user->function);
  if (result == CUDA_SUCCESS) result = driver.occupancy(&block->at_once, user->function, block->threads, 0);
  return (cudaError_t)result;
}

const struct himeno_ops cuda_user_ops = {
    .open = cuda_user_open, .close = cuda_user_close, .sweep = cuda_tiles_sweep, .block = cuda_user_block};
