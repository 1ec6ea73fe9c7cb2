// SPDX-License-Identifier: MIT
// Helpers for a user's own kernel, the same as in CUDA. Compiled after common.cl and before the
// kernel.
enum array {
  HIMENO_A0,
  HIMENO_A1,
  HIMENO_A2,
  HIMENO_A3,
  HIMENO_B0,
  HIMENO_B1,
  HIMENO_B2,
  HIMENO_C0,
  HIMENO_C1,
  HIMENO_C2,
  HIMENO_BND,
  HIMENO_WRK1,
  HIMENO_COEFFICIENTS
};

struct pass {
  __global const float *p;
  __global float *out;
  __global const float *coefficient[HIMENO_COEFFICIENTS];
  long plane, pitch;
  int lo[3], hi[3], first_k, backward;
  __global sum_t *sums;
  __local sum_t *scratch;
  int slot;
};

// The arguments of a kernel named sweep, and the pass made from them.
#define SWEEP_ARGUMENTS SWEEP_ARGS, __local sum_t *scratch
#define SWEEP_PASS                                                                                           \
  {                                                                                                          \
    p, out, {a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1}, stride.x, stride.y,                         \
        {box.s0, box.s1, box.s2}, {box.s3, box.s4, box.s5}, box.s7, box.s6, sums, scratch, slot              \
  }

// Neighbours by direction: i − 1 and i + 1 (d, u), j − 1 and j + 1 (s, n), k − 1 and k + 1 (w, e).
struct stencil {
  float here, u, d, n, s, e, w;
  float un, us, dn, ds; // the b0 term
  float ne, se, nw, sw; // the b1 term
  float ue, de, uw, dw; // the b2 term
};

// Gathers from three planes that have the same pitch; all three pointers are at the point's (j, k).
// A macro, because a function would accept only global or only local memory.
#define stencil_at(below, here, above, pitch)                                                                \
  ((struct stencil){(here)[0], (above)[0], (below)[0], (here)[pitch], (here)[-(pitch)], (here)[1],           \
                    (here)[-1], (above)[pitch], (above)[-(pitch)], (below)[pitch], (below)[-(pitch)],        \
                    (here)[(pitch) + 1], (here)[-(pitch) + 1], (here)[(pitch)-1], (here)[-(pitch)-1],        \
                    (above)[1], (below)[1], (above)[-1], (below)[-1]})

struct coefficients coefficients_at(const struct pass pass, long at)
{
  struct coefficients c = {
      pass.coefficient[HIMENO_A0][at], pass.coefficient[HIMENO_A1][at],  pass.coefficient[HIMENO_A2][at],
      pass.coefficient[HIMENO_A3][at], pass.coefficient[HIMENO_B0][at],  pass.coefficient[HIMENO_B1][at],
      pass.coefficient[HIMENO_B2][at], pass.coefficient[HIMENO_C0][at],  pass.coefficient[HIMENO_C1][at],
      pass.coefficient[HIMENO_C2][at], pass.coefficient[HIMENO_BND][at], pass.coefficient[HIMENO_WRK1][at]};
  return c;
}

// Returns the new value, evaluated left to right. Sets *ss to the residual.
float relax(const struct stencil p, const struct coefficients c, float *ss)
{
  float s0 = c.a0 * p.u + c.a1 * p.n + c.a2 * p.e;
  s0 = s0 + c.b0 * (p.un - p.us - p.dn + p.ds);
  s0 = s0 + c.b1 * (p.ne - p.se - p.nw + p.sw);
  s0 = s0 + c.b2 * (p.ue - p.de - p.uw + p.dw);
  s0 = s0 + c.c0 * p.d + c.c1 * p.s + c.c2 * p.w + c.wrk1;
  float residual = (s0 * c.a3 - p.here) * c.bnd;
  float correction = OMEGA * residual;
  *ss = residual;
  return p.here + correction;
}

// Adds the work-items' sums to the sweep's gosa. All work-items of the group must call it, once.
void gosa_add(sum_t mine, const struct pass pass)
{
  group_sum(mine, pass.scratch, get_local_size(0) * get_local_size(1) * get_local_size(2), pass.sums,
            pass.slot);
}

// Returns whether (i, j, k) is in the pass's box.
int in_box(const struct pass pass, int i, int j, int k)
{
  return i >= pass.lo[0] && i < pass.hi[0] && j >= pass.lo[1] && j < pass.hi[1] && k >= pass.lo[2] &&
         k < pass.hi[2];
}
