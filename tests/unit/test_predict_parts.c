/* SPDX-License-Identifier: MIT */
/* Tests parts of the performance model: the geometry of a rank, least squares and quantiles. */
#include "tests/unit/unit.h"

#include "tools/predict/model.h"
#include "tools/predict/validate.h"
#include "tests/unit/capture.h"
#include "tests/unit/near.h"

TEST(the_busiest_rank_is_counted)
{
  struct geometry g, one_host;
  const int64_t global[3] = {66, 34, 130};
  const int procs[3] = {4, 2, 1};
  assert_int_equal(geometry_make(global, procs, 1, 1, 4, &g), STATUS_OK);
  assert_int_equal(g.neighbours, 5); /* i−, i+, j and two edges */
  assert_int_equal(g.hosts, 2);
  assert_true(g.points == 16 * 16 * 128);
  assert_true(g.slab_points[0] == 2 * 16 * 128 && g.slab_points[1] == 14 * 128 && g.slab_points[2] == 0);
  assert_true(g.inner == 14 * 15 * 128);
  /* Ranks (1, ·) have i+ and an edge on the other host. */
  assert_true(g.messages[STUDY_OTHER_HOST] == 2 && g.bytes[STUDY_OTHER_HOST] == 4 * (16 * 128 + 128));
  assert_true(g.bytes[STUDY_SAME_HOST] == 4 * (16 * 128 + 16 * 128 + 128));
  assert_int_equal(geometry_make(global, procs, 1, 1, 8, &one_host), STATUS_OK);
  assert_int_equal(one_host.neighbours, 5);
  for (int rank = 2; rank < 6; rank++) { /* the ranks next to the other host */
    struct geometry one;
    assert_int_equal(g.of_rank(&g, rank, 4, &one), STATUS_OK);
    assert_true(one.messages[STUDY_OTHER_HOST] == 2 && one.messages[STUDY_SAME_HOST] == 3);
  }
}

static const struct model_scale as_measured = {1, 1};

/* Six ranks in a row along i, and the bytes of a face. */
static const int64_t row[3] = {98, 34, 130};
static const int in_a_row[3] = {6, 1, 1};
static const double face = 4 * 32 * 128;

/* Returns a model with these transports' own latencies and bandwidths, in which everything else
 * costs nothing. */
static struct model *model_of(const struct study_paths *paths)
{
  struct model *model = calloc(1, sizeof *model);
  assert_non_null(model);
  model->terms.paths = *paths;
  model->terms.columns = TERMS + TRANSPORT_TERMS * paths->n;
  model->terms.depth = model->terms.overlap = 1;
  for (int w = 0; w < paths->n; w++)
    model->terms.fitted.value[model_transport_column(w, TRANSPORT_LATENCY)] =
        model->terms.fitted.value[model_transport_column(w, TRANSPORT_BANDWIDTH)] = 1;
  for (int c = 0; c < model->terms.columns; c++) model->errors.seen[c] = 1;
  return model;
}

/* Six ranks in a row are on two hosts: the second rank has both neighbours on its own host, the
 * third has one there and one on the other host. */
TEST(the_slowest_rank_decides_and_paths_carry_bytes_concurrently)
{
  struct geometry g;
  struct model_time time;
  struct model *model =
      model_of(&(struct study_paths){1, {{"staged", -1, {1, 1}, {0, 0}, {1e9, 4e9}, {0, 0}, 0}}});
  assert_int_equal(geometry_make(row, in_a_row, 1, 1, 3, &g), STATUS_OK);
  assert_true(g.bytes[STUDY_SAME_HOST] == face && g.bytes[STUDY_OTHER_HOST] == face);
  assert_int_equal(model_predict(model, &g, "staged", &as_measured, &time), STATUS_OK);
  assert_near(time.seconds / (face / 1e9), 1, 1e-9); /* the other host's bytes arrive sooner */
  assert_int_equal(model_slowest(model, 3, "staged", &as_measured, &g, &time), STATUS_OK);
  assert_near(time.seconds / (2 * face / 1e9), 1, 1e-9);
  assert_true(g.bytes[STUDY_SAME_HOST] == 2 * face && g.bytes[STUDY_OTHER_HOST] == 0);
  double *value = model->terms.fitted.value;
  value[TERM_REDUCE] = value[TERMS + TRANSPORT_SYNC] = value[TERMS + TRANSPORT_NEIGHBOUR] = 1e-5;
  assert_near(model_shift(&model->terms, &g, 0, &as_measured, 2), log(2), 1e-9);
  free(model);
}

/* Six ranks in a row on three hosts use p2p within a host, and staged between hosts. */
TEST(hosts_are_reached_by_staged_and_unmeasured_paths_are_refused)
{
  static const double slab = 3e-6;
  struct geometry g;
  struct model_time time;
  struct model *model =
      model_of(&(struct study_paths){2,
                                     {{"p2p", -1, {1, 0}, {1e-6, 0}, {100e9, 0}, {0, 0}, 0},
                                      {"staged", -1, {1, 1}, {9e-6, 20e-6}, {1e9, 4e9}, {0, 0}, 0}}});
  for (int w = 0; w < 2; w++) model->terms.fitted.value[model_transport_column(w, TRANSPORT_SLAB)] = slab;
  assert_int_equal(geometry_make(row, in_a_row, 1, 1, 2, &g), STATUS_OK);
  assert_int_equal(model_predict(model, &g, "p2p", &as_measured, &time), STATUS_OK);
  assert_near(time.latency, 20e-6, 1e-9);
  assert_near(time.bytes, face / 4e9, 1e-9);
  assert_near(time.boundary, g.slabs * slab, 1e-9); /* each slab has a separate launch */
  assert_int_equal(geometry_make(row, in_a_row, 1, 1, 6, &g), STATUS_OK);
  assert_int_equal(model_predict(model, &g, "p2p", &(struct model_scale){2, 3}, &time), STATUS_OK);
  assert_near(time.latency, 3 * 1e-6 + 2 * slab, 1e-12);
  assert_near(time.bytes, 3 * 2 * face / 100e9, 1e-12);
  assert_int_equal(geometry_make(row, in_a_row, 1, 1, 2, &g), STATUS_OK);
  model->terms.paths.transports[1].known[STUDY_OTHER_HOST] = 0;
  struct capture capture = capture_begin(stderr);
  assert_int_equal(model_predict(model, &g, "p2p", &as_measured, &time), STATUS_ENVIRONMENT);
  assert_int_equal(model_predict(model, &g, "staged", &as_measured, &time), STATUS_ENVIRONMENT);
  model->terms.paths.n = 1;
  assert_int_equal(model_predict(model, &g, "p2p", &as_measured, &time), STATUS_ENVIRONMENT);
  char *text = capture_end(&capture);
  assert_non_null(strstr(text, "3 hosts, but the path between hosts by staged was never measured"));
  assert_non_null(strstr(text, "pairs on different hosts go by staged, but there are no parameters of it"));
  free(text);
  free(model);
}

/* With four sweeps per pass, an exchange without the host follows the pass; an exchange that the
 * host attends overlaps with it. */
TEST(several_sweeps_a_pass_hide_no_exchange_by_p2p)
{
  static const struct {
    const char *transport;
    int per_host, hidden;
  } cases[] = {{"p2p", 6, 0}, {"ipc", 6, 0}, {"staged", 6, 1}, {"p2p", 2, 1}};
  struct geometry g;
  struct model_time time;
  const struct study_transport like = {"", -1, {1, 1}, {8e-6, 8e-6}, {4e9, 4e9}, {0, 0}, 0};
  struct study_paths paths = {3, {like, like, like}};
  for (int w = 0; w < 3; w++)
    snprintf(paths.transports[w].name, sizeof paths.transports[w].name, "%s", cases[w].transport);
  struct model *model = model_of(&paths);
  model->terms.depth = 4;
  model->terms.slabs_hidden = 1;
  model->terms.fitted.value[TERM_PASS] = 1e-3;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    assert_int_equal(geometry_make(row, in_a_row, 4, 1, cases[c].per_host, &g), STATUS_OK);
    assert_int_equal(model_predict(model, &g, cases[c].transport, &as_measured, &time), STATUS_OK);
    assert_true(time.latency + time.bytes > 1e-6 && time.boundary == 0);
    assert_near(time.seconds, 1e-3 + (cases[c].hidden ? 0 : time.latency + time.bytes), 1e-9);
  }
  free(model);
}

/* A pass of four sweeps hides its fixed cost. If the host attends a transport, slabs of four layers
 * are computed first, and a wait follows. */
TEST(slabs_of_several_sweeps_go_first_by_staged)
{
  struct geometry g;
  struct model_time time;
  const struct study_transport like = {"", -1, {1, 1}, {8e-6, 8e-6}, {4e9, 4e9}, {0, 0}, 0};
  struct study_paths paths = {2, {like, like}};
  snprintf(paths.transports[0].name, sizeof paths.transports[0].name, "p2p");
  snprintf(paths.transports[1].name, sizeof paths.transports[1].name, "staged");
  struct model *model = model_of(&paths);
  model->terms.depth = 4;
  model->terms.slabs_hidden = 1;
  assert_int_equal(geometry_make(row, in_a_row, 4, 1, 6, &g), STATUS_OK);
  const double again = g.slab_points[0] / 4 * 1.5;
  model->terms.fitted.value[TERM_PASS] = 3e-3;
  model->terms.fitted.value[TERM_POINT] = 4e-3 / (g.points + again);
  model->terms.fitted.value[TERM_SLAB_I] = 8e-3 / g.slab_points[0];
  model->terms.fitted.value[model_transport_column(1, TRANSPORT_SYNC)] = 4e-6;
  assert_int_equal(model_predict(model, &g, "staged", &as_measured, &time), STATUS_OK);
  assert_near(time.interior, 5e-3, 1e-9);
  assert_near(time.boundary, 2e-3, 1e-9);
  assert_near(time.synchronisation, 1e-6, 1e-9);
  assert_near(time.seconds, 7e-3 + 1e-6, 1e-9);
  assert_int_equal(model_predict(model, &g, "p2p", &as_measured, &time), STATUS_OK);
  assert_true(time.boundary == 0 && time.synchronisation == 0);
  model->terms.depth = 1; /* slab points are the interior's now, and nothing hides launches */
  assert_int_equal(geometry_make(row, in_a_row, 1, 1, 6, &g), STATUS_OK);
  assert_int_equal(model_predict(model, &g, "staged", &as_measured, &time), STATUS_OK);
  assert_near(time.interior, 3e-3 + 4e-3 * g.points / (g.points + again) + 2e-3, 1e-9);
  assert_near(time.synchronisation, 4e-6, 1e-9);
  free(model);
}

/* A rank sends few bytes, but its host many. So the path between hosts determines the time,
 * although the bandwidth's own factor is smaller for it. */
TEST(the_slower_path_is_found_by_the_time_of_its_bytes)
{
  struct geometry g;
  struct model_time time;
  struct model *model =
      model_of(&(struct study_paths){1, {{"staged", -1, {1, 1}, {0, 0}, {1.5e9, 1e9}, {0, 0}, 0}}});
  model->terms.fitted.value[TERMS + TRANSPORT_BANDWIDTH] = 0.2;
  model->terms.fitted.value[TERMS + TRANSPORT_HOST] = 0.4;
  assert_int_equal(geometry_make(row, in_a_row, 1, 1, 3, &g), STATUS_OK);
  assert_true(g.bytes[0] == face && g.bytes[1] == face && g.host_bytes == 4 * face);
  assert_int_equal(model_predict(model, &g, "staged", &as_measured, &time), STATUS_OK);
  assert_near(time.bytes / (face * (0.2 + 0.4 * 4) / 1.5e9), 1, 1e-9);
  free(model);
}

TEST(the_quantiles_of_student_are_those_of_the_tables)
{
  static const double table[][2] = {{0.5, 6.31375151}, {1, 6.31375151}, {2, 2.91998558},  {3, 2.35336343},
                                    {5, 2.01504837},   {8, 1.85954804}, {30, 1.69726089}, {100, 1.66023433}};
  for (size_t t = 0; t < sizeof table / sizeof table[0]; t++)
    assert_near(student_95(table[t][0]) / table[t][1], 1, 2e-6);
}

TEST(the_worst_error_is_the_largest_whatever_its_sign)
{
  struct validate_pair pairs[] = {{.predicted = 1, .error = 0.1},
                                  {.predicted = 1, .error = -0.3},
                                  {.predicted = 0, .error = 0.9},
                                  {.predicted = 1, .error = 0.2}};
  const struct validate_table table = {.n = 4, .pairs = pairs};
  double median, worst;
  int n;
  validate_summary(&table, &median, &worst, &n);
  assert_true(median == 0.2 && worst == 0.3 && n == 3);
}

/* Of 4096 devices with a deviation of 0.8%, the slowest is expected to be 2.9% late. */
TEST(the_slowest_of_many_is_late_by_order_statistics)
{
  assert_true(fabs(student_largest_expected(1)) < 1e-9);
  assert_near(student_largest_expected(2), 0.58945579785, 1e-10);
  assert_near(student_largest_expected(4096), 3.61088227984, 1e-10);
  assert_near(student_largest(0.05, 2), -0.760068575156, 1e-10); /* the quantile of 0.2236 */
  assert_near(student_largest(0.95, 65536), 4.802707266274, 1e-10);
}

TEST(a_model_is_poor_beyond_either_limit)
{
  const struct model_coverage at = {.n = 1, .group = {{"all", 8, 10}}, .predicted = 10, .median = 0.2},
                              off = {.predicted = 10, .median = 0.201},
                              unheld = {.n = 1, .group = {{"all", 7, 10}}};
  assert_false(model_is_poor(&at));
  assert_true(model_is_poor(&off));
  assert_true(model_is_poor(&unheld));
  assert_false(model_is_poor(&(struct model_coverage){.median = 1, .spread = 0.2}));
  assert_true(model_is_poor(&(struct model_coverage){.spread = 0.201}));
  assert_false(model_is_poor(&(struct model_coverage){.predicted = 1, .spread = 1}));
}

UNIT_MAIN(NULL, NULL)
