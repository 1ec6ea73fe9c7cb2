# SPDX-License-Identifier: MIT
# CUDA: nvcc, the static runtime, so that programs start on hosts without a driver, and the GPU
# architectures to build for.
AC_DEFUN([HG_CUDA],
[AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@], [CUDA backend, with the toolkit in DIR (default: if found)])],
  [], [with_cuda=auto])
AC_ARG_WITH([cuda-arch],
  [AS_HELP_STRING([--with-cuda-arch=LIST], [chips to build for, as in 80,90, or native: those of this machine, or else the
                   newest (default: those of this machine and 70, 80, 90 and 100, which nvcc knows, and whose code
                   others of their generation run); PTX of the last is added])],
  [], [with_cuda_arch=auto])
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags])
: ${NVCCFLAGS=-O3}
hg_cuda=0
AS_IF([test "x$with_cuda" != xno], [HG_CUDA_FIND])
AS_IF([test $hg_cuda = 1],
  [HG_NOTE([CUDA], [on], [$hg_cuda_version in $CUDA_HOME for sm_$(echo $hg_cuda_arch | sed 's/ /, sm_/g')])],
  [HG_OPTIONAL_OFF([CUDA], [$with_cuda], [$hg_cuda_why])])
AC_SUBST([CUDA_CFLAGS])
AC_SUBST([CUDA_LIBS])
AC_SUBST([CUDA_GENCODE])
AC_SUBST([CUDA_GENCODE_TENSOR])
AC_SUBST([CUDA_GENCODE_HOPPER])
AC_DEFINE_UNQUOTED([HAVE_CUDA], [$hg_cuda], [1 when the CUDA backend is built, else 0])
AM_CONDITIONAL([HAVE_CUDA], [test $hg_cuda = 1])
AC_SUBST([HAVE_CUDA], [$hg_cuda])])

# HG_CUDA_FIND finds nvcc. It sets hg_cuda to 1, or hg_cuda_why to the reason why CUDA is
# unavailable.
AC_DEFUN([HG_CUDA_FIND],
[AS_CASE([$with_cuda], [yes|auto], [hg_folder=${CUDA_HOME:-$CUDA_PATH}], [hg_folder=$with_cuda])
AS_IF([test -n "$hg_folder"], [hg_path=$hg_folder/bin],
  [hg_path=$PATH$PATH_SEPARATOR/usr/local/cuda/bin$PATH_SEPARATOR/opt/cuda/bin])
AC_PATH_PROG([NVCC], [nvcc], [], [$hg_path])
AS_IF([test -z "$NVCC"], [hg_cuda_why="nvcc is not in $hg_path"], [
  CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$NVCC")")")
  hg_cuda_version=$("$NVCC" --version | sed -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p')
  HG_CUDA_ARCH
  HG_CUDA_LIBRARIES])])

# HG_CUDA_ARCH sets CUDA_GENCODE: machine code for each requested architecture, and PTX for later
# ones.
AC_DEFUN([HG_CUDA_ARCH],
[AC_MSG_CHECKING([which CUDA chips to build for])
hg_known=$("$NVCC" --list-gpu-code 2>/dev/null | sed -n 's/^sm_\(@<:@0-9@:>@*@<:@a-z@:>@*\)$/\1/p')
hg_cuda_arch=
hg_here=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | grep -xF "$hg_known" | sort -u)
AS_CASE([$with_cuda_arch],
  [auto], [hg_wanted=$(printf '%s\n' 70 80 90 100 $hg_here | sort -nu)],
  [native], [
    hg_wanted=$hg_here
    AS_IF([test -z "$hg_wanted"],
      [hg_wanted=$(echo "$hg_known" | sed '/@<:@a-z@:>@/d' | sort -n | tail -n 1)])],
  [hg_wanted=$(echo "$with_cuda_arch" | sed 's/sm_//g;s/@<:@., ;@:>@/ /g')])
for hg_chip in $hg_wanted; do
  AS_IF([echo "$hg_known" | grep -qx "$hg_chip"], [hg_cuda_arch="$hg_cuda_arch $hg_chip"],
    [test "x$with_cuda_arch" != xauto],
    [AC_MSG_ERROR([--with-cuda-arch: $NVCC does not know sm_$hg_chip; it knows $(echo $hg_known)])])
done
hg_cuda_arch=$(echo $hg_cuda_arch)
CUDA_GENCODE=
for hg_chip in $hg_cuda_arch; do
  # 90a adds features that every GPU of capability 9.0 has: moving registers between warps, and
  # matrix instructions.
  hg_code=$hg_chip
  AS_IF([test $hg_chip = 90], [hg_code=90a])
  CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$hg_code,code=sm_$hg_code"
done
CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$hg_chip,code=compute_$hg_chip"
AC_MSG_RESULT([$hg_cuda_arch])
HG_CUDA_TENSOR
HG_CUDA_HOPPER])

# HG_CUDA_TENSOR sets CUDA_GENCODE_TENSOR for sources with tensor cores, which take long to compile:
# the architectures that have tensor cores, without minor versions that run the code of the .0
# version (8.6 runs that of 8.0), and PTX as above.
AC_DEFUN([HG_CUDA_TENSOR],
[CUDA_GENCODE_TENSOR=
hg_tensor=
for hg_chip in $hg_cuda_arch; do
  AS_CASE([$hg_chip], [5*|6?|6?@<:@a-z@:>@], [continue])
  AS_CASE([" $hg_tensor "], [*" ${hg_chip%?}0 "*], [continue])
  hg_tensor="$hg_tensor $hg_chip"
  CUDA_GENCODE_TENSOR="$CUDA_GENCODE_TENSOR -gencode arch=compute_$hg_chip,code=sm_$hg_chip"
done
AS_IF([test -z "$hg_tensor"], [hg_tensor=$(echo "$hg_known" | grep -x '7@<:@05@:>@' | head -n 1)])
for hg_chip in $hg_tensor; do :; done
CUDA_GENCODE_TENSOR="$CUDA_GENCODE_TENSOR -gencode arch=compute_$hg_chip,code=compute_$hg_chip"])

# HG_CUDA_HOPPER sets CUDA_GENCODE_HOPPER for sources that only Hopper GPUs run: their instructions
# exist in sm_90a but not in sm_90. If nvcc does not know these instructions, the sources are
# compiled like the others, without HAVE_SM90A, and report that at run time.
AC_DEFUN([HG_CUDA_HOPPER],
[CUDA_GENCODE_HOPPER=$CUDA_GENCODE
AS_CASE([" $hg_cuda_arch "], [*" 90 "*|*" 90a "*], [
  AC_MSG_CHECKING([whether $NVCC knows Hopper's warpgroup instructions])
  cat >conftest.cu <<'HG_END'
__global__ void kernel() { asm volatile("wgmma.fence.sync.aligned;"); }
HG_END
  hg_gencode="-gencode arch=compute_90a,code=sm_90a"
  AS_IF([AC_RUN_LOG(["$NVCC" $NVCCFLAGS $hg_gencode -cubin -o conftest.cubin conftest.cu >&AS_MESSAGE_LOG_FD])],
    [CUDA_GENCODE_HOPPER="-DHAVE_SM90A $hg_gencode"
     AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])])
  rm -f conftest.cu conftest.cubin])])

# HG_CUDA_LIBRARIES compiles a kernel and links it with the static runtime. It sets hg_cuda to 1 if
# that works, otherwise hg_cuda_why.
AC_DEFUN([HG_CUDA_LIBRARIES],
[AC_MSG_CHECKING([whether CUDA $hg_cuda_version builds programs])
CUDA_CFLAGS=
test -d "$CUDA_HOME/include" && CUDA_CFLAGS="-isystem $CUDA_HOME/include"
CUDA_LIBS=
for hg_folder in "$CUDA_HOME/lib64" "$CUDA_HOME/targets/$host_cpu-linux/lib" "$CUDA_HOME/lib"; do
  test -f "$hg_folder/libcudart_static.a" && CUDA_LIBS="-L$hg_folder" && break
done
CUDA_LIBS="$CUDA_LIBS -lcudart_static -ldl -lrt -lpthread -lstdc++"
cat >conftest.cu <<'HG_END'
#include <cuda_runtime.h>
__global__ void kernel(float *x) { x[[threadIdx.x]] = 1; }
extern "C" int launch(float *x) { kernel<<<1, 1>>>(x); return cudaGetLastError(); }
HG_END
hg_cuda_why="$NVCC does not compile a kernel with its host compiler (see config.log)"
AS_IF([AC_RUN_LOG(["$NVCC" $NVCCFLAGS $CUDA_GENCODE -Xcompiler -fPIC -c conftest.cu -o conftest_cu.o >&AS_MESSAGE_LOG_FD])], [
  hg_cuda_why="libcudart_static.a or cuda_runtime.h of CUDA $hg_cuda_version is missing or does not link (see config.log)"
  hg_save_CPPFLAGS=$CPPFLAGS
  hg_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $CUDA_CFLAGS"
  LIBS="conftest_cu.o $CUDA_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cuda_runtime.h>
int launch(float *x);]], [[cudaGetLastError(); return launch(0);]])], [hg_cuda=1])
  CPPFLAGS=$hg_save_CPPFLAGS
  LIBS=$hg_save_LIBS])
rm -f conftest.cu conftest_cu.o
AS_IF([test $hg_cuda = 1], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no]); CUDA_CFLAGS=; CUDA_LIBS=])])
