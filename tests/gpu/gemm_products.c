/* SPDX-License-Identifier: MIT */
/* Every kernel of a backend's set of products, over shapes, transpositions, factors, leading
 * dimensions, blocks and data, against float64: C poisoned before, and the same bits twice. Speaks
 * TAP.
 *   gemm_products BACKEND [all|few|tiny [KERNEL]...]     only those kernels
 * few is what compute-sanitizer's memcheck has the patience for, tiny what its other tools have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gemm/verify/matrices.h"
#include "gemm/verify/verify.h"

/* The last shape has more tiles than persistent blocks: some blocks compute a second tile. */
static const int64_t shapes[][3] = {
    {1, 1, 1},      {5, 7, 3},      {130, 258, 17},  {64, 64, 64},   {200, 129, 300}, {1, 1, 300},
    {1, 300, 1},    {300, 1, 7},    {1, 129, 129},   {16, 16, 16},   {128, 256, 16},  {127, 129, 65},
    {33, 513, 100}, {256, 256, 1},  {257, 300, 130}, {512, 384, 96}, {1000, 4, 12},   {3, 1025, 1000},
    {384, 520, 33}, {640, 257, 24}, {40, 17200, 70},
};

/* Shapes below a tile, with several tiles along m and n, and with more steps along k than
 * stages. */
static const int64_t tiny_shapes[][3] = {{5, 7, 3}, {130, 258, 17}, {24, 40, 330}};

static const float factors[][2] = {{1, 0}, {-0.75f, 0}, {1, 1}, {0.5f, -2}};
#define FACTORS (int)(sizeof factors / sizeof factors[0])

/* Padding of the leading dimensions of A, B and C: none; to rows of whole vectors, of which the
 * matrix fills the last one only in part; to rows that are not whole vectors. */
static const int64_t pads[][3] = {{0, 0, 0}, {8, 16, 4}, {1, 3, 5}};
#define PADS (int)(sizeof pads / sizeof pads[0])

struct effort {
  const char *name;
  const int64_t (*shapes)[3];
  int n_shapes;
  /* step to the next pair of factors; with FACTORS or more, each shape has one pair, alternately
   * the first and the last */
  int factors;
  int blocks; /* step to the next way to block the work, with another first one for each problem */
  int wide;   /* 1: also tests data with wide exponents, and special values */
};
#define ALL_OF(list) list, (int)(sizeof list / sizeof list[0])
static const struct effort efforts[] = {{"all", ALL_OF(shapes), 1, 1, 1},
                                        {"few", shapes, 5, 3, 3, 0},
                                        {"tiny", ALL_OF(tiny_shapes), FACTORS, 6, 0}};
#define EFFORTS (int)(sizeof efforts / sizeof efforts[0])

struct bench {
  const struct gemm_kernel_set *set;
  struct gpu_device *device;
  struct gpu_queue *queue;
  const struct effort *effort;
  char **only; /* names of the kernels to run, ended by NULL; if empty, all */
  int problems, tests, failed;
};

struct subject {
  const struct gemm_kernel *kernel;
  enum gemm_type type;
  int trans;
};

/* Eight halves are 16 bytes. */
static int64_t up8(int64_t x)
{
  return (x + 7) / 8 * 8;
}

static status_t problem_make(const struct subject *s, const int64_t shape[3], const float factor[2],
                             const int64_t pad[3], struct gemm_problem *p)
{
  *p = (struct gemm_problem){.type = s->type,
                             .m = shape[0],
                             .n = shape[1],
                             .k = shape[2],
                             .trans_a = s->trans >> 1,
                             .trans_b = s->trans & 1,
                             .alpha = factor[0],
                             .beta = factor[1]};
  for (int m = 0; m < GEMM_MATRICES; m++) {
    int64_t least = gemm_columns(p, (enum gemm_matrix)m);
    p->ld[m] = pad[m] % 4 == 0 && pad[m] > 0 ? up8(least) + pad[m] : least + pad[m];
  }
  return gemm_problem_complete(p);
}

static status_t product(struct bench *b, struct gemm_exec *exec, struct gemm_matrices *m)
{
  RETURN_IF_FAILED(gemm_matrices_reset(m));
  RETURN_IF_FAILED(gemm_launch(exec, b->queue, &m->on));
  return gemm_matrices_fetch(m, m->out);
}

/* Checks one way to block the work: the product must be correct, and the same when repeated. */
static status_t blocks_check(struct bench *b, const struct subject *s, const struct gemm_blocks *blocks,
                             struct gemm_matrices *m, const struct gemm_reference *reference)
{
  const size_t bytes = gemm_bytes(&m->problem, GEMM_C);
  struct gemm_exec *exec = NULL;
  struct gemm_check check;
  void *first = malloc(bytes);
  status_t status = first ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of memory");
  if (status == STATUS_OK) TRY(gemm_exec_open(s->kernel, b->device, &m->problem, blocks, &exec), done);
  TRY(product(b, exec, m), done);
  TRY(gemm_verify(reference, s->kernel->truncates, m->out, s->kernel->name, &check), done);
  memcpy(first, m->out, bytes);
  TRY(product(b, exec, m), done);
  if (memcmp(first, m->out, bytes) != 0) status = log_fail(STATUS_WRONG, "the second product differs");
done:
  gemm_exec_close(exec);
  free(first);
  return status;
}

static void diagnose(const struct gemm_problem *p, const struct gemm_blocks *g)
{
  printf("# %s %s %lldx%lldx%lld ld %lld %lld %lld alpha %g beta %g", gemm_types[p->type].name,
         gemm_trans_name(p), (long long)p->m, (long long)p->n, (long long)p->k, (long long)p->ld[GEMM_A],
         (long long)p->ld[GEMM_B], (long long)p->ld[GEMM_C], p->alpha, p->beta);
  if (g) printf(" blocks %dx%dx%d splits %d", g->group_m, g->group_n, g->group_k, g->splits);
  printf(": %s\n", log_held());
}

/* Checks a kernel on one problem with all blockings, or some of them. Blockings that do not fit the
 * problem are skipped, except the first. */
static status_t problem_check(struct bench *b, const struct subject *s, const struct gemm_problem *p,
                              enum gemm_data data)
{
  const int stride = s->kernel->n_blocks > 1 ? b->effort->blocks : 1, first = b->problems++ % stride;
  struct gemm_matrices m;
  struct gemm_reference *reference = NULL;
  const struct gemm_blocks *blocks = NULL;
  status_t status;
  TRY(gemm_matrices_open(&m, b->device, b->queue, p, data, 1, NULL), done);
  TRY(gemm_reference_open(p, GEMM_VERIFY_FULL, m.host[GEMM_A], m.host[GEMM_B], m.host[GEMM_C], &reference),
      done);
  for (int n = first; status == STATUS_OK && (n == 0 || n < s->kernel->n_blocks); n += stride) {
    blocks = s->kernel->n_blocks ? &s->kernel->blocks[n] : NULL;
    status = blocks_check(b, s, blocks, &m, reference);
    if (status == STATUS_ENVIRONMENT && n > 0) status = STATUS_OK;
  }
done:
  if (status != STATUS_OK) diagnose(p, blocks);
  log_drop();
  gemm_reference_close(reference);
  gemm_matrices_close(&m);
  return status;
}

static int shapes_check(struct bench *b, const struct subject *s, int pad, enum gemm_data data)
{
  const struct effort *effort = b->effort;
  int count = 0;
  for (int shape = 0; shape < effort->n_shapes; shape++)
    for (int factor = effort->factors < FACTORS || shape % 2 == 0 ? 0 : FACTORS - 1; factor < FACTORS;
         factor += effort->factors) {
      struct gemm_problem p;
      char why[GPU_TEXT_MAX];
      if (problem_make(s, effort->shapes[shape], factors[factor], pads[pad], &p) != STATUS_OK) return -1;
      if (!gemm_kernel_fits(s->kernel, b->device, &p, why)) continue;
      if (problem_check(b, s, &p, data) != STATUS_OK) return -1;
      count++;
    }
  return count;
}

static void subject_check(struct bench *b, const struct subject *s)
{
  static const char *const data_names[] = {"random", "wide", "special"};
  static const char *const pad_names[] = {"least ld", "whole vectors", "odd ld"};
  const struct gemm_problem p = {.trans_a = s->trans >> 1, .trans_b = s->trans & 1};
  for (int data = GEMM_RANDOM; data <= GEMM_SPECIAL; data++)
    for (int pad = 0; pad < PADS; pad++) {
      if (data != GEMM_RANDOM && (pad != 1 || !b->effort->wide)) continue;
      int count = shapes_check(b, s, pad, (enum gemm_data)data);
      if (count == 0) continue;
      printf("%s %d - %s %s %s, %s, %s\n", count > 0 ? "ok" : "not ok", ++b->tests, s->kernel->name,
             gemm_types[s->type].name, gemm_trans_name(&p), data_names[data], pad_names[pad]);
      fflush(stdout);
      b->failed += count < 0;
    }
}

static int is_wanted(const struct bench *b, const struct gemm_kernel *kernel)
{
  char **name = b->only;
  while (*name && strcmp(*name, kernel->name) != 0) name++;
  return *name || !b->only[0];
}

/* Returns 1 if the set has a kernel with each requested name. */
static int names_known(const struct bench *b)
{
  for (char **name = b->only; *name; name++) {
    int k = 0;
    while (k < b->set->n && strcmp(b->set->kernels[k]->name, *name) != 0) k++;
    if (k == b->set->n) return 0;
  }
  return 1;
}

static void set_check(struct bench *b)
{
  for (int k = 0; k < b->set->n; k++) {
    const struct gemm_kernel *kernel = b->set->kernels[k];
    if (!is_wanted(b, kernel)) continue;
    for (int type = 0; type < GEMM_TYPES; type++)
      for (int trans = 0; trans < (kernel->transposes ? 4 : 1); trans++)
        if (kernel->types & GEMM_BIT(type) && !kernel->is_reference)
          subject_check(b, &(struct subject){kernel, (enum gemm_type)type, trans});
  }
}

int main(int argc, char **argv)
{
  struct bench b = {.only = argc > 3 ? argv + 3 : argv + argc};
  for (int e = 0; e < EFFORTS; e++)
    if (strcmp(argc > 2 ? argv[2] : "all", efforts[e].name) == 0) b.effort = &efforts[e];
  const struct gpu_backend *backend = argc > 1 ? gpu_backend_find(argv[1]) : NULL;
  log_hold(1);
  if (!backend || !b.effort || ((b.set = gemm_kernels_find(argv[1])) && !names_known(&b))) {
    fprintf(stderr, "usage: gemm_products BACKEND [all|few|tiny [KERNEL]...]\n");
    return 2;
  }
  if (!b.set || gpu_open(backend, 0, &b.device) != STATUS_OK) {
    printf("1..0 # SKIP %s\n", b.set ? log_held() : "built without this backend");
    return 0;
  }
  status_t status = gpu_queue_create(b.device, GPU_NORMAL, &b.queue);
  if (status == STATUS_OK) set_check(&b);
  if (status == STATUS_OK) printf("1..%d\n", b.tests);
  gpu_queue_destroy(b.queue);
  gpu_close(b.device);
  return status != STATUS_OK || b.failed > 0;
}
