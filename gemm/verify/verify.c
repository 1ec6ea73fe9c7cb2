/* SPDX-License-Identifier: MIT */
#include "gemm/verify/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"

/* Products with at most FULL_TERMS terms and FULL_ELEMENTS elements are compared in full, which
 * takes one or two seconds on one core and 512 MiB. */
#define FULL_TERMS    ((double)(1ull << 31))
#define FULL_ELEMENTS ((double)(1ull << 25))
/* For larger products: number of sampled rows, of sampled columns, and number of random vectors. */
#define SAMPLED 32
#define VECTORS 4
/* For the norm's estimate by VECTORS vectors, the bound is multiplied by this factor. */
#define ESTIMATE_SLACK 1.5
/* A row's bound is multiplied by this. One row in many thousands exceeds it by chance. */
#define ROW_SLACK 8
/* Norms are compared from this many elements on, because fewer are too few for statistics. */
#define NORM_LEAST 256

/** Some rows or columns of C, and their reference values. */
struct lines {
  int transposed; /**< 1: the lines are columns of C */
  int64_t n, length;
  int64_t *which;
  double *sums, *magnitudes;
  double *low; /**< NULL unless the type is GEMM_F64 */
};

struct gemm_reference {
  struct gemm_problem problem;
  const void *a, *b, *c;
  enum gemm_verified how;
  struct lines rows, columns;
  double *x; /**< VECTORS vectors of n elements, ±1 */
  /** VECTORS vectors of m elements: alpha·A·B·x + beta·C·x, and the low parts for GEMM_F64 */
  double *product, *low;
};

/** Sums over the elements of a comparison. */
struct tally {
  double worst, difference, size;
  int64_t compared, wrong, row, column;
};

const char *const gemm_verified_names[] = {"no", "sampled", "full"};

struct gemm_bounds gemm_bounds_of(const struct gemm_problem *p, int truncates)
{
  const struct gemm_type_traits *t = &gemm_types[p->type];
  double k = (double)p->k, root = sqrt(k);
  double rounding = 2 * t->unit_operand + t->unit_result;
  /* Tensor cores round double and half-precision sums to nearest, less than once per term (Fasi and
   * others, "Numerical behavior of NVIDIA tensor cores", 2021). */
  if (truncates && p->type != GEMM_F16_F16 && p->type != GEMM_F64)
    return (struct gemm_bounds){(2 * k + 4) * t->unit_sum + rounding, (2 * k + 4) * t->unit_sum + rounding};
  return (struct gemm_bounds){(4 * root + 4) * t->unit_sum + rounding,
                              (2 * root + 4) * t->unit_sum + rounding};
}

int gemm_verify_is_full(const struct gemm_problem *p, enum gemm_verify verify)
{
  double elements = (double)p->m * (double)p->n;
  return verify == GEMM_VERIFY_FULL || (elements * (double)p->k <= FULL_TERMS && elements <= FULL_ELEMENTS);
}

/* Selects the first, the last and some lines between, all different. */
static void lines_number(struct lines *lines, int64_t count)
{
  for (int64_t r = 0; r < lines->n; r++) {
    int64_t begin = count / lines->n * r, span = count / lines->n;
    lines->which[r] = lines->n == count ? r : begin + (int64_t)(hash_mix((uint64_t)r) % (uint64_t)span);
  }
  lines->which[0] = 0;
  lines->which[lines->n - 1] = count - 1;
}

static status_t lines_open(struct lines *lines, const struct gemm_problem *p, const void *a, const void *b,
                           int transposed, int64_t most)
{
  int64_t count = transposed ? p->n : p->m;
  lines->transposed = transposed;
  lines->n = most < count ? most : count;
  lines->length = transposed ? p->m : p->n;
  size_t elements = (size_t)lines->n * (size_t)lines->length;
  lines->which = calloc((size_t)lines->n, sizeof *lines->which);
  lines->sums = malloc(elements * (p->type == GEMM_F64 ? 3 : 2) * sizeof(double));
  if (!lines->which || !lines->sums)
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for a float64 reference of %zu elements",
                    elements);
  lines->magnitudes = lines->sums + elements;
  lines->low = p->type == GEMM_F64 ? lines->sums + 2 * elements : NULL;
  lines_number(lines, count);
  struct gemm_view left = gemm_view_make(p, transposed ? GEMM_B : GEMM_A, transposed ? b : a, transposed);
  struct gemm_view right = gemm_view_make(p, transposed ? GEMM_A : GEMM_B, transposed ? a : b, transposed);
  gemm_reference_rows(&left, &right, p->k, lines->length, lines->which, lines->n, lines->sums, lines->low,
                      lines->magnitudes);
  return STATUS_OK;
}

static void lines_close(struct lines *lines)
{
  free(lines->which);
  free(lines->sums);
}

/* Sets y = C·x for all random vectors in one pass over \a c, which is a result or the initial C. \a
 * low receives the low parts, for GEMM_F64 only. */
static void result_vectors(const struct gemm_problem *p, const void *c, const double *x, double *y,
                           double *low)
{
  const int is_float = gemm_types[p->type].result_bytes == sizeof(float);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->m; i++) {
    const float *row = (const float *)c + i * p->ld[GEMM_C];
    double sums[VECTORS] = {0}, errors[VECTORS] = {0}, error;
    for (int64_t j = 0; j < p->n; j++) {
      double value = is_float ? (double)row[j] : gemm_result_get(p->type, c, i * p->ld[GEMM_C] + j);
      for (int v = 0; v < VECTORS; v++) {
        sums[v] = gemm_two_sum(sums[v], value * x[v * p->n + j], &error);
        errors[v] += error;
      }
    }
    for (int v = 0; v < VECTORS; v++) {
      y[v * p->m + i] = sums[v];
      if (p->type == GEMM_F64) low[v * p->m + i] = errors[v];
    }
  }
}

/* Returns alpha·(sum + *low) + beta·before. *low becomes the rounding error of that value for
 * GEMM_F64, otherwise 0. */
static double value_combine(const struct gemm_problem *p, double sum, double before, double *low)
{
  const double product = p->alpha == 0 ? 0 : p->alpha * sum, old = p->beta == 0 ? 0 : p->beta * before;
  double error, value = gemm_two_sum(old, product, &error);
  if (p->type != GEMM_F64 || !isfinite(value)) {
    *low = 0;
    return value;
  }
  if (p->alpha != 0) error += fma(p->alpha, sum, -product) + p->alpha * *low;
  if (p->beta != 0) error += fma(p->beta, before, -old);
  *low = error;
  return value;
}

static status_t vectors_open(struct gemm_reference *r, const void *a, const void *b)
{
  const struct gemm_problem *p = &r->problem;
  struct gemm_view left = gemm_view_make(p, GEMM_A, a, 0), right = gemm_view_make(p, GEMM_B, b, 0);
  const int low = p->type == GEMM_F64;
  double *inner = malloc(2 * (size_t)p->k * sizeof *inner), *inner_low = low && inner ? inner + p->k : NULL;
  double *before = calloc(2 * VECTORS * (size_t)p->m, sizeof *before);
  r->x = malloc(VECTORS * (size_t)p->n * sizeof *r->x);
  r->product = malloc(VECTORS * (size_t)p->m * sizeof *r->product);
  r->low = calloc(VECTORS * (size_t)p->m, sizeof *r->low);
  if (!inner || !before || !r->x || !r->product || !r->low) {
    free(inner);
    free(before);
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for random vectors");
  }
  for (int64_t v = 0; v < VECTORS * p->n; v++) r->x[v] = hash_mix((uint64_t)v) & 1 ? 1 : -1;
  for (int64_t v = 0; v < VECTORS; v++) {
    gemm_reference_vector(&right, p->k, p->n, r->x + v * p->n, NULL, inner, inner_low);
    gemm_reference_vector(&left, p->m, p->k, inner, inner_low, r->product + v * p->m,
                          low ? r->low + v * p->m : NULL);
  }
  double *before_low = before + VECTORS * p->m;
  if (p->beta != 0) result_vectors(p, r->c, r->x, before, before_low);
  for (int64_t i = 0; i < VECTORS * p->m; i++) {
    r->product[i] = value_combine(p, r->product[i], before[i], &r->low[i]);
    r->low[i] += p->beta * before_low[i];
  }
  free(inner);
  free(before);
  return STATUS_OK;
}

status_t gemm_reference_open(const struct gemm_problem *p, enum gemm_verify verify, const void *a,
                             const void *b, const void *c, struct gemm_reference **reference)
{
  struct gemm_reference *r = calloc(1, sizeof *r);
  status_t status = STATUS_OK;
  if (!r) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a reference");
  r->problem = *p;
  r->a = a;
  r->b = b;
  r->c = c;
  if (verify == GEMM_VERIFY_OFF) goto done;
  r->how = gemm_verify_is_full(p, verify) ? GEMM_VERIFIED_FULL : GEMM_VERIFIED_SAMPLED;
  TRY(lines_open(&r->rows, p, a, b, 0, r->how == GEMM_VERIFIED_FULL ? p->m : SAMPLED), fail);
  if (r->how == GEMM_VERIFIED_FULL) goto done;
  TRY(lines_open(&r->columns, p, a, b, 1, SAMPLED), fail);
  TRY(vectors_open(r, a, b), fail);
done:
  *reference = r;
  return STATUS_OK;
fail:
  gemm_reference_close(r);
  return status;
}

void gemm_reference_close(struct gemm_reference *r)
{
  if (!r) return;
  lines_close(&r->rows);
  lines_close(&r->columns);
  free(r->x);
  free(r->product);
  free(r->low);
  free(r);
}

/* Returns the largest finite number in C's type. Larger results may be stored as infinities. */
static double result_largest(enum gemm_type type)
{
  if (type == GEMM_F64) return 1.7976931348623157e308;
  return gemm_types[type].result_bytes == 2 ? 65504.0 : 3.4028234663852886e38;
}

/* Returns twice the distance between subnormal numbers in C's type. This limits errors below the
 * smallest normal number. */
static double result_step(enum gemm_type type)
{
  return type == GEMM_F64 ? 0x1p-1073 : gemm_types[type].result_bytes == 2 ? 0x1p-24 : 0x1p-148;
}

static int is_right(double out, double expected, double low, double limit, double largest)
{
  if (isnan(expected)) return isnan(out);
  if (isinf(expected)) return out == expected;
  if (isinf(out)) return fabs(expected) + limit >= largest && (out > 0) == (expected > 0);
  return fabs((out - expected) - low) <= limit;
}

static void tally_add(struct tally *t, double out, double expected, double low, double scale, int right,
                      int64_t row, int64_t column)
{
  t->compared++;
  if (!right) {
    t->wrong++;
    t->row = row;
    t->column = column;
  }
  if (!isfinite(expected) || !isfinite(out)) return;
  double difference = fabs((out - expected) - low);
  t->difference += difference * difference;
  t->size += expected * expected;
  t->worst = fmax(t->worst, difference / scale); /* fmax ignores the NaN of 0 / 0 */
}

static void line_compare(const struct gemm_reference *r, const struct lines *lines, double bound,
                         const void *out, int64_t line, struct tally *t)
{
  const struct gemm_problem *p = &r->problem;
  double largest = result_largest(p->type);
  for (int64_t x = 0; x < lines->length; x++) {
    int64_t i = lines->transposed ? x : lines->which[line], j = lines->transposed ? lines->which[line] : x;
    int64_t at = i * p->ld[GEMM_C] + j;
    double before = p->beta == 0 ? 0 : gemm_result_get(p->type, r->c, at);
    double low = lines->low ? lines->low[line * lines->length + x] : 0;
    double expected = value_combine(p, lines->sums[line * lines->length + x], before, &low);
    double scale = p->beta == 0 ? 0 : fabs(p->beta * before);
    scale += fabs(p->alpha) * lines->magnitudes[line * lines->length + x];
    double value = gemm_result_get(p->type, out, at);
    double limit = bound * scale + result_step(p->type);
    tally_add(t, value, expected, low, scale, is_right(value, expected, low, limit, largest), i, j);
  }
}

static void tally_merge(struct tally *all, const struct tally *part)
{
  if (part->wrong) {
    all->row = part->row;
    all->column = part->column;
  }
  all->compared += part->compared;
  all->wrong += part->wrong;
  all->difference += part->difference;
  all->size += part->size;
  all->worst = fmax(all->worst, part->worst);
}

static void lines_compare(const struct gemm_reference *r, const struct lines *lines, double bound,
                          const void *out, struct tally *all)
{
#pragma omp parallel for schedule(static)
  for (int64_t line = 0; line < lines->n; line++) {
    struct tally part = {0};
    line_compare(r, lines, bound, out, line, &part);
#pragma omp critical
    tally_merge(all, &part);
  }
}

/* Returns an estimate of ‖out − ref‖ / ‖ref‖; NaN if there is a NaN anywhere, or if memory is
 * short. Each row's error is also compared with the row's norm or the mean row's norm, whichever is
 * larger, because one wrong element of A affects only one row. */
static double gemm_verify_estimate(const struct gemm_reference *r, const void *out, struct gemm_check *c)
{
  const struct gemm_problem *p = &r->problem;
  double difference = 0, size = 0, *y = calloc((2 * VECTORS + 2) * (size_t)p->m, sizeof *y);
  if (!y) return NAN;
  double *low = y + VECTORS * p->m, *differences = low + VECTORS * p->m, *sizes = differences + p->m;
  result_vectors(p, out, r->x, y, low);
  for (int64_t v = 0; v < VECTORS; v++) {
    for (int64_t i = 0; i < p->m; i++) {
      double expected = r->product[v * p->m + i];
      double strays = (y[v * p->m + i] - expected) + (low[v * p->m + i] - r->low[v * p->m + i]);
      differences[i] += strays * strays;
      sizes[i] += expected * expected;
    }
  }
  for (int64_t i = 0; i < p->m; i++) {
    difference += differences[i];
    size += sizes[i];
  }
  for (int64_t i = p->m - 1; i >= 0; i--) {
    double limit = ROW_SLACK * c->bounds.norm * sqrt(fmax(sizes[i], size / (double)p->m));
    if (sqrt(differences[i]) <= limit) continue;
    c->rows_wrong++;
    c->row = i;
  }
  free(y);
  return difference == 0 ? 0 : sqrt(difference / size);
}

static int64_t count_overwritten(const struct gemm_problem *p, const void *out)
{
  int64_t overwritten = 0;
  for (int64_t i = 0; i + 1 < p->m; i++)
    for (int64_t j = p->n; j < p->ld[GEMM_C]; j++)
      overwritten += !gemm_is_poison(p->type, out, i * p->ld[GEMM_C] + j);
  return overwritten;
}

static status_t verdict(const struct gemm_reference *r, const void *out, const char *who,
                        const struct gemm_check *c)
{
  const struct gemm_problem *p = &r->problem;
  if (c->wrong)
    return log_fail(STATUS_WRONG,
                    "kernel %s: wrong result: %" PRId64 " of %" PRId64
                    " elements compared are beyond their bound, one at "
                    "row %" PRId64 ", column %" PRId64 ", is %g",
                    who, c->wrong, c->compared, c->row, c->column,
                    gemm_result_get(p->type, out, c->row * p->ld[GEMM_C] + c->column));
  if (c->overwritten)
    return log_fail(STATUS_WRONG,
                    "kernel %s: wrong result: %" PRId64 " elements past the rows of C were overwritten", who,
                    c->overwritten);
  if (c->norm_wrong)
    return log_fail(
        STATUS_WRONG,
        "kernel %s: wrong result: norm of the error / norm of C is %.3g, but at most %.3g is allowed", who,
        c->norm_error, c->bounds.norm);
  if (c->rows_wrong)
    return log_fail(STATUS_WRONG,
                    "kernel %s: wrong result: by random vectors %" PRId64
                    " rows are beyond their bound, row %" PRId64 " first",
                    who, c->rows_wrong, c->row);
  return STATUS_OK;
}

status_t gemm_verify(const struct gemm_reference *r, int truncates, const void *out, const char *who,
                     struct gemm_check *check)
{
  struct gemm_check c = {.how = r->how, .bounds = gemm_bounds_of(&r->problem, truncates)};
  struct tally t = {0};
  if (r->how == GEMM_NOT_VERIFIED) {
    *check = c;
    return STATUS_OK;
  }
  lines_compare(r, &r->rows, c.bounds.element, out, &t);
  if (r->how == GEMM_VERIFIED_SAMPLED) lines_compare(r, &r->columns, c.bounds.element, out, &t);
  c.element_error = t.worst;
  c.compared = t.compared;
  c.wrong = t.wrong;
  c.row = t.row;
  c.column = t.column;
  if (r->how == GEMM_VERIFIED_SAMPLED) {
    c.bounds.norm *= ESTIMATE_SLACK;
    c.norm_error = gemm_verify_estimate(r, out, &c);
  } else {
    c.norm_error = t.difference == 0 ? 0 : sqrt(t.difference / t.size);
  }
  c.norm_wrong = t.compared >= NORM_LEAST && !(c.norm_error <= c.bounds.norm);
  c.overwritten = count_overwritten(&r->problem, out);
  c.arithmetic = gemm_reference_arithmetic(&r->problem, r->a, r->b, r->c, out, c.norm_error);
  *check = c;
  return verdict(r, out, who, &c);
}

static status_t gemm_differences(const struct gemm_reference *r, const struct tally *t, const void *out,
                                 const char *who, const char *what)
{
  if (t->wrong == 0) return STATUS_OK;
  return log_fail(STATUS_WRONG,
                  "kernel %s: wrong result: %s differs from the first product: %" PRId64 " of %" PRId64
                  " elements, one at row %" PRId64 ", column %" PRId64 ", is %.*g",
                  who, what, t->wrong, t->compared, t->row, t->column, gemm_digits(r->problem.type),
                  gemm_result_get(r->problem.type, out, t->row * r->problem.ld[GEMM_C] + t->column));
}

status_t gemm_verify_bits(const struct gemm_reference *r, const void *right, const void *out, const char *who,
                          const char *what)
{
  const struct gemm_problem *p = &r->problem;
  const unsigned char *x = right, *y = out;
  int64_t elements = gemm_elements(p, GEMM_C);
  size_t bytes = gemm_element_bytes(p, GEMM_C);
  struct tally t = {.compared = elements};
  if (memcmp(x, y, gemm_bytes(p, GEMM_C)) == 0) return STATUS_OK;
  for (int64_t at = elements - 1; at >= 0; at--) {
    if (memcmp(x + (size_t)at * bytes, y + (size_t)at * bytes, bytes) == 0) continue;
    t.wrong++;
    t.row = at / p->ld[GEMM_C];
    t.column = at % p->ld[GEMM_C];
  }
  return gemm_differences(r, &t, out, who, what);
}

/** After \a launches products, C is growth·(alpha·A·B) + decay·(the initial C). */
struct repeated {
  int launches;
  double growth, decay;           /**< Σβ^i and β^launches */
  double growth_most, decay_most; /**< the same values for |β| */
};

static struct repeated repeated_make(double beta, int launches)
{
  struct repeated of = {.launches = launches, .growth = 0, .decay = 1, .decay_most = 1};
  for (int n = 0; n < launches && isfinite(of.growth_most); n++) {
    of.growth += of.decay;
    of.growth_most += of.decay_most;
    of.decay *= beta;
    of.decay_most *= fabs(beta);
  }
  return of;
}

/* Compares one row. Each further product propagates the earlier rounding errors and adds one of the
 * same size. */
static void row_near(const struct gemm_reference *r, const struct repeated *of, double bound, double row,
                     const double *columns, int64_t i, const void *right, const void *out, struct tally *t)
{
  const struct gemm_problem *p = &r->problem;
  double largest = result_largest(p->type), step = result_step(p->type);
  for (int64_t j = 0; j < p->n; j++) {
    int64_t at = i * p->ld[GEMM_C] + j;
    double before = p->beta == 0 ? 0 : gemm_result_get(p->type, r->c, at);
    double expected = gemm_result_get(p->type, right, at), value = gemm_result_get(p->type, out, at);
    double scale = of->growth_most * fabs(p->alpha) * row * columns[j] +
                   (of->decay_most + of->growth_most * fabs(p->beta)) * fabs(before);
    if (of->launches > 1 && p->beta != 0) {
      if (!(scale < largest) || !isfinite(expected)) continue;
      expected = (expected - p->beta * before) * of->growth + of->decay * before;
    }
    double limit = 2 * of->launches * (bound * scale + step);
    tally_add(t, value, expected, 0, scale, is_right(value, expected, 0, limit, largest), i, j);
  }
}

status_t gemm_verify_near(const struct gemm_reference *r, int truncates, int launches, const void *right,
                          const void *out, const char *who, const char *what)
{
  const struct gemm_problem *p = &r->problem;
  const struct gemm_bounds bounds = gemm_bounds_of(p, truncates);
  const struct repeated of = repeated_make(p->beta, p->beta == 0 ? 1 : launches);
  struct gemm_view a = gemm_view_make(p, GEMM_A, r->a, 0), b = gemm_view_make(p, GEMM_B, r->b, 1);
  double *rows = malloc((size_t)p->m * sizeof *rows), *columns = malloc((size_t)p->n * sizeof *columns);
  struct tally t = {0};
  status_t status = STATUS_OK;
  if (!rows || !columns) TRY(log_fail(STATUS_ENVIRONMENT, "out of host memory for norms"), done);
  gemm_reference_norms(&a, p->m, p->k, rows);
  gemm_reference_norms(&b, p->n, p->k, columns);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->m; i++) {
    struct tally part = {0};
    row_near(r, &of, bounds.element, rows[i], columns, i, right, out, &part);
#pragma omp critical
    tally_merge(&t, &part);
  }
  TRY(gemm_differences(r, &t, out, who, what), done);
  struct gemm_check all = {.overwritten = count_overwritten(p, out), .bounds.norm = 2 * bounds.norm};
  all.norm_error = t.difference == 0 ? 0 : sqrt(t.difference / t.size);
  all.norm_wrong = of.launches == 1 && t.compared >= NORM_LEAST && !(all.norm_error <= all.bounds.norm);
  status = verdict(r, out, who, &all);
done:
  free(rows);
  free(columns);
  return status;
}
