# SPDX-License-Identifier: MIT
"""Exits with 0 if CUDA or OpenCL finds a device that is not a CPU. Otherwise prints the reason of
each and exits with 1. It asks the drivers, so that no build is needed."""

import ctypes
import sys

NO_CPU = 4 | 8 | 16  # CL_DEVICE_TYPE_GPU, _ACCELERATOR and _CUSTOM
PLATFORMS_MAX = 32


def cuda():
    """Return the reason why CUDA finds no device, or None if it finds one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "there is no libcuda.so.1"
    count = ctypes.c_int(0)
    error = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    return None if count.value > 0 else f"error {error}" if error else "no device"


def opencl():
    """Return the reason why OpenCL finds no device, or None if it finds one."""
    try:
        loader = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        return "there is no libOpenCL.so.1"
    platforms, count = (ctypes.c_void_p * PLATFORMS_MAX)(), ctypes.c_uint(0)
    loader.clGetPlatformIDs(PLATFORMS_MAX, platforms, ctypes.byref(count))
    for platform in platforms[: count.value]:
        found = ctypes.c_uint(0)
        if (
            loader.clGetDeviceIDs(
                ctypes.c_void_p(platform), ctypes.c_ulong(NO_CPU), 0, None, ctypes.byref(found)
            )
            == 0
            and found.value
        ):
            return None
    return f"{count.value} platform{'' if count.value == 1 else 's'} without a GPU"


if __name__ == "__main__":
    said = {"CUDA": cuda(), "OpenCL": opencl()}
    if all(said.values()):
        print("; ".join(f"{name}: {why}" for name, why in said.items()))
        sys.exit(1)
