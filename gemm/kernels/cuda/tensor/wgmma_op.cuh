// SPDX-License-Identifier: MIT
// One warpgroup product, D = A B + D, or D = A B if `accumulate` is 0. A has 64 rows and B 64 to
// 256 columns, both with 32 bytes along k, in shared memory. D is in registers: each thread holds
// columns / 2 of its elements.
#ifndef GEMM_KERNELS_CUDA_TENSOR_WGMMA_OP_CUH
#define GEMM_KERNELS_CUDA_TENSOR_WGMMA_OP_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

// TF32 values are stored as float32. The tensor core ignores the low 13 bits, which TMA has already
// rounded away.
struct tf32_t {
  float value;
};

#define R32                                                                                                  \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"                                     \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define R64                                                                                                  \
  R32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"                     \
      ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define R96                                                                                                  \
  R64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"                     \
      ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define R128                                                                                                 \
  R96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"         \
      ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define D4(i)     "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D32_AT(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12), D4(i + 16), D4(i + 20), D4(i + 24), D4(i + 28)
#define D32()     D32_AT(0)
#define D64()     D32_AT(0), D32_AT(32)
#define D96()     D64(), D32_AT(64)
#define D128()    D96(), D32_AT(96)

template <class T, int columns> struct wgmma_op;

// `a_across`, `b_across`: rows of the operand in shared memory run along m or n instead of k (only
// for 16-bit types).
#define WGMMA_OP(T, columns, depth, types, flags, out, names, p0, p1, p2)                                    \
  template <> struct wgmma_op<T, columns> {                                                                  \
    template <int a_across, int b_across>                                                                    \
    static __device__ __forceinline__ void run(float (&d)[columns / 2], uint64_t a_operand,                  \
                                               uint64_t b_operand, int accumulate)                           \
    {                                                                                                        \
      asm volatile("{\n.reg .pred more;\nsetp.ne.b32 more, " p2 ", 0;\n"                                     \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k" depth ".f32." types "." types " {" names \
                   "}, " p0 ", " p1 ", more, 1, 1" flags ";\n}"                                              \
                   : out()                                                                                   \
                   : "l"(a_operand), "l"(b_operand), "r"(accumulate), "n"(a_across), "n"(b_across));         \
    }                                                                                                        \
  };

// Defines the functions of one width. `out` and `names` are the registers of D, p0 to p5 the names
// of the operands after them. The last function takes A from registers: of each of its two rows,
// thread t of four holds elements t and t + 4 along k.
#define WGMMA_WIDTH(columns, out, names, p0, p1, p2, p3, p4, p5)                                             \
  WGMMA_OP(__half, columns, "16", "f16", ", " p3 ", " p4, out, names, p0, p1, p2)                            \
  WGMMA_OP(__nv_bfloat16, columns, "16", "bf16", ", " p3 ", " p4, out, names, p0, p1, p2)                    \
  WGMMA_OP(tf32_t, columns, "8", "tf32", "", out, names, p0, p1, p2)                                         \
  static __device__ __forceinline__ void wgmma_tf32_registers(float(&d)[columns / 2], const uint32_t(&a)[4], \
                                                              uint64_t b_operand, int accumulate)            \
  {                                                                                                          \
    asm volatile("{\n.reg .pred more;\nsetp.ne.b32 more, " p5 ", 0;\n"                                       \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32 {" names "}, {" p0 ", " p1   \
                 ", " p2 ", " p3 "}, " p4 ", more, 1, 1;\n}"                                                 \
                 : out()                                                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_operand), "r"(accumulate));             \
  }

WGMMA_WIDTH(64, D32, R32, "%32", "%33", "%34", "%35", "%36", "%37")
WGMMA_WIDTH(128, D64, R64, "%64", "%65", "%66", "%67", "%68", "%69")
WGMMA_WIDTH(192, D96, R96, "%96", "%97", "%98", "%99", "%100", "%101")
WGMMA_WIDTH(256, D128, R128, "%128", "%129", "%130", "%131", "%132", "%133")

#undef WGMMA_WIDTH
#undef WGMMA_OP
#undef D128
#undef D96
#undef D64
#undef D32
#undef D32_AT
#undef D4

#endif
