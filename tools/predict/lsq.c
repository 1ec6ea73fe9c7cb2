/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/predict/lsq.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Singular values below this share of the largest count as none. */
#define RANK_SHARE 1e-9

/* LAPACK, column-major. None of its arguments is a character, so the call is the same with every
 * compiler. */
void dgelss_(const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b,
             const int *ldb, double *s, const double *rcond, int *rank, double *work, const int *lwork,
             int *info);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);

/* Numbers of work space a row or column: more than LAPACK needs, enough for its blocks. */
#define WORK_EACH 64

void lsq_free(struct lsq *problem)
{
  free(problem->matrix);
  free(problem->right);
  *problem = (struct lsq){.columns = 0};
}

status_t lsq_add(struct lsq *problem, const double *row, double right, double weight)
{
  if (problem->rows == problem->room) {
    int room = problem->room ? 2 * problem->room : 64;
    double *matrix = realloc(problem->matrix, (size_t)room * (size_t)problem->columns * sizeof *matrix);
    if (matrix) problem->matrix = matrix;
    double *rights = realloc(problem->right, (size_t)room * sizeof *rights);
    if (rights) problem->right = rights;
    if (!matrix || !rights) return log_fail(STATUS_ENVIRONMENT, "out of memory for a fit of %d rows", room);
    problem->room = room;
  }
  double *to = problem->matrix + (size_t)problem->rows * (size_t)problem->columns;
  for (int c = 0; c < problem->columns; c++) to[c] = row[c] * weight;
  problem->right[problem->rows++] = right * weight;
  return STATUS_OK;
}

void lsq_solution_free(struct lsq_solution *s)
{
  free(s->used);
  free(s->value);
  free(s->covariance);
  free(s->residual);
  free(s->leverage);
  *s = (struct lsq_solution){.used = NULL};
}

static status_t solution_alloc(const struct lsq *p, struct lsq_solution *s)
{
  size_t n = (size_t)p->columns, m = (size_t)p->rows;
  *s = (struct lsq_solution){.used = calloc(n, sizeof *s->used),
                             .value = calloc(n, sizeof *s->value),
                             .covariance = calloc(n * n, sizeof *s->covariance),
                             .residual = calloc(m + 1, sizeof *s->residual),
                             .leverage = calloc(m + 1, sizeof *s->leverage)};
  if (s->used && s->value && s->covariance && s->residual && s->leverage) return STATUS_OK;
  lsq_solution_free(s);
  return log_fail(STATUS_ENVIRONMENT, "out of memory for a fit");
}

/* Length of a column; each is scaled to 1, so that the rank does not depend on units. */
static double column_length(const struct lsq *p, int column)
{
  double sum = 0;
  for (int r = 0; r < p->rows; r++) {
    double value = p->matrix[(size_t)r * (size_t)p->columns + (size_t)column];
    sum += value * value;
  }
  return sqrt(sum);
}

/** Columns + 1 equations that have the same least squares as all rows, the right side as the last
 * column: a fit of hundreds of rows is solved again and again, each time with other columns left
 * out. Columns lie \a stride apart. */
struct triangle {
  int rows, stride;
  double *matrix;
};

/* R of a = QR in the place of a; info is LAPACK's, or −1 for lack of memory. */
static int triangulate(double *a, int rows, int columns)
{
  int info = -1, lwork = WORK_EACH * columns;
  double *tau = calloc((size_t)columns, sizeof *tau), *work = calloc((size_t)lwork, sizeof *work);
  if (tau && work) dgeqrf_(&rows, &columns, a, &rows, tau, work, &lwork, &info);
  free(work);
  free(tau);
  return info;
}

static status_t triangle_make(const struct lsq *p, const double *length, struct triangle *t)
{
  const int columns = p->columns + 1, rows = p->rows > columns ? p->rows : columns;
  double *a = calloc((size_t)rows * (size_t)columns, sizeof *a);
  for (int c = 0; a && c < columns; c++)
    for (int r = 0; r < p->rows; r++)
      a[c * rows + r] = c == p->columns ? p->right[r]
                        : length[c] > 0 ? p->matrix[r * p->columns + c] / length[c]
                                        : 0;
  if (!a || triangulate(a, rows, columns) != 0) {
    free(a);
    return log_fail(STATUS_ENVIRONMENT, "out of memory for a fit of %d rows", p->rows);
  }
  for (int c = 0; c < columns; c++) memset(a + c * rows + c + 1, 0, (size_t)(rows - c - 1) * sizeof *a);
  *t = (struct triangle){columns, rows, a};
  return STATUS_OK;
}

/* Values and covariance of the n columns in use: dgelss leaves the values in \a right, the singular
 * values, and in \a a row by row the right singular vectors. */
static void solution_set(const double *length, const int *index, int n, int rank, const double *a, int m,
                         const double *right, const double *singular, int columns, struct lsq_solution *s)
{
  for (int c = 0; c < n; c++) {
    s->value[index[c]] = right[c] / length[index[c]];
    for (int d = 0; d < n; d++) {
      double sum = 0;
      for (int r = 0; r < rank; r++) sum += a[c * m + r] * a[d * m + r] / (singular[r] * singular[r]);
      s->covariance[index[c] * columns + index[d]] = sum / (length[index[c]] * length[index[d]]);
    }
  }
}

/* With the columns in use: values and covariance. */
static status_t solve_used(const struct triangle *t, const double *length, int columns,
                           struct lsq_solution *s)
{
  const int m = t->rows, one = 1, lwork = WORK_EACH * m;
  const double tolerance = RANK_SHARE;
  int n = 0, index[columns], rank, info = 0;
  status_t status = STATUS_OK;
  for (int c = 0; c < columns; c++)
    if (s->used[c]) index[n++] = c;
  memset(s->value, 0, (size_t)columns * sizeof *s->value);
  memset(s->covariance, 0, (size_t)columns * (size_t)columns * sizeof *s->covariance);
  if (n == 0) return STATUS_OK;
  double *a = calloc((size_t)m * (size_t)n, sizeof *a), *work = calloc((size_t)lwork, sizeof *work);
  double right[m], singular[n];
  memcpy(right, t->matrix + columns * t->stride, sizeof right);
  for (int c = 0; a && c < n; c++) memcpy(a + c * m, t->matrix + index[c] * t->stride, (size_t)m * sizeof *a);
  if (!a || !work)
    status = log_fail(STATUS_ENVIRONMENT, "out of memory for a fit of %d columns", n);
  else
    dgelss_(&m, &n, &one, a, &m, right, &m, singular, &tolerance, &rank, work, &lwork, &info);
  if (info != 0)
    status = log_fail(STATUS_FAULT, "LAPACK's dgelss failed on %d rows and %d columns: info %d", m, n, info);
  if (status == STATUS_OK) solution_set(length, index, n, rank, a, m, right, singular, columns, s);
  free(work);
  free(a);
  return status;
}

static void residuals_set(const struct lsq *p, struct lsq_solution *s)
{
  for (int r = 0; r < p->rows; r++) {
    const double *row = p->matrix + (size_t)r * (size_t)p->columns;
    s->residual[r] = p->right[r];
    for (int c = 0; c < p->columns; c++) s->residual[r] -= row[c] * s->value[c];
    s->leverage[r] = lsq_variance(s->covariance, p->columns, p->columns, row);
  }
}

/* The column whose value is the most negative in units of its error; −1 when none is. */
static int most_negative(const struct lsq *p, const struct lsq_solution *s)
{
  int worst = -1;
  double least = 0;
  for (int c = 0; c < p->columns; c++) {
    double error = sqrt(s->covariance[c * p->columns + c]);
    if (!s->used[c] || !(s->value[c] < 0)) continue;
    if (worst < 0 || s->value[c] / error < least) {
      worst = c;
      least = s->value[c] / error;
    }
  }
  return worst;
}

status_t lsq_solve(const struct lsq *p, struct lsq_solution *solution)
{
  struct lsq_solution s;
  struct triangle triangle = {.rows = 0};
  status_t status;
  double length[p->columns];
  for (int c = 0; c < p->columns; c++) length[c] = column_length(p, c);
  RETURN_IF_FAILED(triangle_make(p, length, &triangle));
  TRY(solution_alloc(p, &s), done);
  for (int c = 0; c < p->columns; c++) s.used[c] = length[c] > 0;
  for (int worst = 0; worst >= 0 && status == STATUS_OK;) {
    status = solve_used(&triangle, length, p->columns, &s);
    worst = status == STATUS_OK ? most_negative(p, &s) : -1;
    if (worst >= 0) s.used[worst] = 0;
  }
  if (status == STATUS_OK) residuals_set(p, &s);
  if (status == STATUS_OK) *solution = s;
  if (status != STATUS_OK) lsq_solution_free(&s);
done:
  free(triangle.matrix);
  return status;
}

double lsq_variance(const double *covariance, int columns, int stride, const double *x)
{
  double sum = 0;
  for (int c = 0; c < columns; c++) {
    if (x[c] == 0) continue;
    for (int d = 0; d < columns; d++) sum += x[c] * covariance[c * stride + d] * x[d];
  }
  return sum;
}

/* Upper quantile of the normal distribution. Source: Abramowitz and Stegun 26.2.23, refined by one
 * Newton step. */
static double normal_quantile(double p)
{
  double t = sqrt(-2 * log(1 - p));
  double z = t - (2.515517 + 0.802853 * t + 0.010328 * t * t) /
                     (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
  double density = exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
  return z - (0.5 * erfc(-z / sqrt(2)) - p) / density;
}

double lsq_student(double p, double freedom)
{
  const double pi = 3.14159265358979323846;
  double two_sided = 2 * (1 - p), n = freedom;
  if (n < 1) n = 1;
  if (fabs(n - 1) < 1e-9) return tan(pi * (p - 0.5));
  if (fabs(n - 2) < 1e-9) return sqrt(2 / (two_sided * (2 - two_sided)) - 2);
  double a = 1 / (n - 0.5), b = 48 / (a * a), c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
  double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * pi / 2) * n;
  double x = d * two_sided, y = pow(x, 2 / n);
  if (y > 0.05 + a) {
    x = normal_quantile(p);
    y = x * x;
    if (n < 5) c += 0.3 * (n - 4.5) * (x + 0.6);
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
    y = a * y * y;
    y = y > 0.002 ? exp(y) - 1 : 0.5 * y * y + y;
  } else {
    y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) * (n + 1) /
            (n + 2) +
        1 / y;
  }
  return sqrt(n * y);
}
