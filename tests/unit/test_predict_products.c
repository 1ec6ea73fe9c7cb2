/* SPDX-License-Identifier: MIT */
/* The model of gemm-gpu's products: it must count each rank's work, find known parameters, and
 * predict larger products from smaller ones, with intervals that cover as promised. */
#include "tests/unit/predict_machine.h"

#include "gemm/types.h"
#include "tools/predict/workload.h"

static const double LAUNCH = 20e-6, MULTIPLY_ADD = 4e-14, STEP = 6e-6, SUM = 3e-12;

static const struct {
  const char *name;
  int64_t extent[3];
} products[] = {{"1024", {1024, 1024, 1024}},
                {"2048", {2048, 2048, 2048}},
                {"3000x2000x16384", {3000, 2000, 16384}},
                {"8192", {8192, 8192, 8192}},
                {"4096x4096x32768", {4096, 4096, 32768}}};
#define PRODUCTS (sizeof products / sizeof products[0])

static double up(double a, double b)
{
  return ceil(a / b);
}

/* Returns the end of panel j if it begins at \a at, computed independently of the model. At each
 * step slices of A and B arrive (the last ones \a travel after \a before), and are multiplied with
 * each other and with all earlier slices. */
static double panel_time(double at, double before, double travel, double launch, double panel, int P, int Q)
{
  const int most = P > Q ? P : Q;
  double here = 0;
  for (int step = 0; step < most; step++) {
    const double A = fmin(step + 1, Q) / Q, B = fmin(step + 1, P) / P;
    if (step > 0) at = fmax(at, before + travel * step / (most - 1));
    at += launch * (A * Q * B * P - here * P * Q) + panel * (A * B - here);
    here = A * B;
  }
  return at;
}

/* Returns a panel's time if tiles of C run in waves on 132 multiprocessors. If runs store their
 * tiles, kernels may divide k into parts and add them up, or whole tiles of all panels share
 * waves. */
static double tiles_time(const struct machine *m, double rows, double columns, double k, double panels,
                         const struct study_run *run)
{
  const double P = run->procs[0], Q = run->procs[1], wave = 132 * m->tile * m->tile,
               slice = up(up(rows, Q), m->tile) * up(up(columns, P), m->tile);
  double least = wave * MULTIPLY_ADD * k * up(up(rows, m->tile) * up(columns, m->tile), 132);
  if (!m->told) return least;
  least = wave * MULTIPLY_ADD * k * fmax(fmax(P, Q), up(P * Q * slice * panels, 132) / panels);
  for (double parts = 2; parts <= 8; parts++)
    least = fmin(least, wave * P * Q * up(slice * parts, 132) * (MULTIPLY_ADD * k / parts + SUM));
  return least;
}

/* Panel j + 1 is sent while j is multiplied, and j + 2 waits for j. The host's bytes slow a rank's
 * bytes as in machine_time. */
static double product_time(const struct machine *m, const struct study_run *run)
{
  const int p = run->procs[0], q = run->procs[1];
  const double P = p, Q = q, k = (double)run->global[2], width = (double)run->product.panel,
               rows = up((double)run->global[0], P), columns = up((double)run->global[1], Q),
               panels = up(k, width), longest = fmax(P, Q) - 1;
  const double own = 4 * width * ((Q - 1) * up(rows, Q) + (P - 1) * up(columns, P)),
               all = 4 * width *
                     ((Q - 1) * up((double)run->global[0], Q) * Q +
                      (P - 1) * up((double)run->global[1], P) * P);
  const double bytes = m->at_once ? own : (1 - m->host_share) * own + m->host_share * all / 2;
  const double messages = m->at_once ? STEP * longest : NEIGHBOUR * (P + Q - 2);
  const double travel = longest > 0 ? LATENCY * longest + messages + bytes / BANDWIDTH : 0;
  const double multiply = m->tile > 0 ? tiles_time(m, rows, columns, k / panels, panels, run)
                                      : MULTIPLY_ADD * rows * columns * k / panels;
  double arrived = 0, ended[2] = {0, 0}; /* ends of the last panel and of the one before it */
  for (int j = 0; j < (int)panels; j++) {
    const double begin = fmax(arrived, ended[1]),
                 end = panel_time(ended[0], begin, travel, LAUNCH, multiply, p, q);
    arrived = begin + travel;
    ended[1] = ended[0];
    ended[0] = end;
  }
  return ended[0] + REDUCE_LOG * log2(run->ranks);
}

static struct study_run product_of(const struct machine *m, size_t p, const int asked[3], int ranks, int weak)
{
  struct study_run run = {.program = STUDY_GEMM,
                          .kernel = "pipeline",
                          .backend = "cuda",
                          .device = "Made up",
                          .ranks = ranks,
                          .hosts = 1,
                          .weak = weak,
                          .overlap = 1,
                          .depth = 1};
  if (m->told) {
    snprintf(run.device, sizeof run.device, "NVIDIA H200");
    run.product.tile[0] = run.product.tile[1] = (int)m->tile;
  }
  snprintf(run.size, sizeof run.size, "%s", products[p].name);
  snprintf(run.transport, sizeof run.transport, "%s", m->at_once ? "p2p" : "staged");
  memcpy(run.global, products[p].extent, sizeof run.global);
  run.product.panel = run.global[2] < 4096 ? run.global[2] : 4096; /* gemm-gpu's choice on a GPU */
  assert_int_equal(workloads[STUDY_GEMM].cut(asked, &run), STATUS_OK);
  run.seconds = product_time(m, &run) * (1 + m->noise * normal());
  return run;
}

/* Returns products of all sizes except \a without, on \a least to \a most ranks, strong and weak;
 * on four ranks also in a 4x1 grid. */
static struct study products_make(const struct machine *m, size_t without, int least, int most)
{
  static const int itself[3], row[3] = {4, 1, 0};
  struct study study = {.program = STUDY_GEMM, .runs = calloc(128, sizeof *study.runs)};
  assert_non_null(study.runs);
  for (size_t p = 0; p < PRODUCTS; p++)
    for (int ranks = least; ranks <= most && p != without; ranks += ranks < 4 ? 1 : ranks) {
      for (int weak = 0; weak < (ranks > 1 ? 2 : 1); weak++)
        study.runs[study.n++] = product_of(m, p, itself, ranks, weak);
      if (ranks == 4) study.runs[study.n++] = product_of(m, p, row, 4, 0);
    }
  return study;
}

/* As himeno-predict does it. */
static struct model *products_fit(const struct study *study)
{
  struct model *model = fit(study);
  struct study_paths paths = paths_make();
  struct validate_table table;
  assert_int_equal(validate_run(study, &paths, &model->terms, &table), STATUS_OK);
  validate_widen(&table, model);
  validate_free(&table);
  return model;
}

TEST(known_terms_are_found_and_larger_ones_predicted)
{
  const struct machine exact = {.host_share = 0.3}, linked = {.at_once = 1},
                       tiled = {.at_once = 1, .tile = 128, .told = 1}, *each[] = {&exact, &linked, &tiled};
  for (int b = 0; b < 3; b++) {
    struct study study = products_make(each[b], 2, 1, 4), all = products_make(each[b], PRODUCTS, 1, 16);
    struct validate_table table;
    struct model *model = products_fit(&study);
    const int transport = study_transport_find(&model->terms.paths, b ? "p2p" : "staged");
    assert_near(model->terms.fitted.value[TERM_POINT], MULTIPLY_ADD, 0.01);
    assert_near(model->terms.fitted.value[TERM_PASS], LAUNCH, 0.2);
    assert_true(model->terms.fitted.cache_points == 0 && model->terms.tile_points == 0);
    if (each[b]->told) assert_near(model->terms.fitted.value[TERM_IDLE], SUM, 0.2);
    if (b)
      assert_near(model->terms.fitted.value[model_transport_column(transport, TRANSPORT_BANDWIDTH)] / 0.92, 1,
                  0.03);
    assert_int_equal(validate_against(model, &all, &table), STATUS_OK);
    assert_int_equal(table.n, all.n);
    for (int p = 0; p < table.n; p++) {
      assert_true(table.pairs[p].predicted);
      assert_near(1 + table.pairs[p].error, 1, table.pairs[p].run.ranks > 4 ? 0.05 : 0.02);
    }
    validate_free(&table);
    study_free(&study);
    study_free(&all);
    free(model);
  }
}

/* Predicts 60 products with more ranks, and with a size that no run had. Returns how many lie in
 * their intervals; *width: mean ratio of the intervals' ends. */
static int products_later_hold(const struct machine *m, double *width)
{
  int n = 0, inside = 0;
  double widths = 0;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    random_state = 1000 * seed;
    struct study study = products_make(m, 2, 1, 4), later = products_make(m, PRODUCTS, 8, 16);
    struct validate_table table;
    struct model *model = products_fit(&study);
    assert_int_equal(validate_against(model, &later, &table), STATUS_OK);
    for (int p = 0; p < table.n; p++) {
      const struct validate_pair *pair = &table.pairs[p];
      assert_true(pair->predicted && pair->time.low > 0);
      inside += !validate_is_outside(pair);
      widths += log(pair->time.high / pair->time.low);
      n++;
    }
    validate_free(&table);
    study_free(&study);
    study_free(&later);
    free(model);
  }
  assert_int_equal(n, 60);
  *width = exp(widths / n);
  return inside;
}

/* Intervals must also be narrow. Copies share the host's memory or not, or stores replace them
 * (p2p). If tiles leave most of a wave idle, the model is wrong unless it knows the tiles. */
TEST(nine_of_ten_larger_products_lie_in_the_interval)
{
  static const struct machine machines[] = {{.noise = 0.03},
                                            {.noise = 0.03, .host_share = 0.3},
                                            {.noise = 0.03, .host_share = 0.9},
                                            {.noise = 0.03, .at_once = 1},
                                            {.noise = 0.03, .tile = 128},
                                            {.noise = 0.03, .host_share = 0.3, .tile = 128},
                                            {.noise = 0.03, .host_share = 0.9, .tile = 128},
                                            {.noise = 0.03, .at_once = 1, .tile = 128},
                                            {.noise = 0.03, .host_share = 0.3, .tile = 128, .told = 1},
                                            {.noise = 0.03, .at_once = 1, .tile = 128, .told = 1}};
  int inside = 0;
  for (int m = 0; m < 10; m++) {
    double width;
    const int held = products_later_hold(&machines[m], &width);
    assert_true(held >= 48 && width < 1.5);
    inside += held;
  }
  assert_true(inside >= 10 * 54);
}

/* Returns a product over 2x3 ranks in panels of k = 300. A slice has a third of a rank's rows of A,
 * or half of its columns of B. */
static struct study_run product_2x3(int64_t m, int64_t n, int64_t k)
{
  return (struct study_run){.program = STUDY_GEMM,
                            .product = {.type = GEMM_F32, .panel = 300},
                            .global = {m, n, k},
                            .procs = {2, 3, 0},
                            .ranks = 6};
}

TEST(a_rank_sends_its_slices_in_each_step)
{
  struct study_run run = product_2x3(101, 60, 1000);
  struct geometry g, other;
  assert_int_equal(workload_geometry(&run, 6, &g), STATUS_OK);
  assert_near(g.points, 51.0 * 20 * 1000, 1e-9);
  assert_near(g.all_points, 101.0 * 60 * 1000, 1e-9);
  assert_near(g.bytes[STUDY_SAME_HOST], 4 * 4 * 300 * (2.0 * 17 + 10), 1e-9);
  assert_near(g.host_bytes, 4 * 4 * 300 * (2.0 * 34 * 3 + 30.0 * 2), 1e-9);
  assert_true(g.launches == 4 * 6 && g.rounds == 8 && g.neighbours == 12 && g.hosts == 1);
  assert_near(g.overlap, 0.75, 1e-9);
  struct model *model = calloc(1, sizeof *model);
  struct model_parts parts;
  model->terms.slabs_hidden = 1;
  model->terms.fitted.value[TERM_PASS] = 2;
  model_parts_make(&model->terms, &g, -1, &parts);
  assert_near(parts.interior, 24 * 2, 1e-9);
  model->terms.paths = paths_make();
  model->terms.fitted.hinder = 0.5; /* only transports that a host attends are slowed */
  for (int via = 0; via < model->terms.paths.n; via++) {
    model_parts_make(&model->terms, &g, via, &parts);
    assert_true(parts.hinder == (model_at_once(model->terms.paths.transports[via].name) ? 0 : 0.5));
  }
  free(model);
  run.product.type = GEMM_BF16;
  assert_int_equal(workload_geometry(&run, 6, &other), STATUS_OK);
  assert_near(2 * other.host_bytes, g.host_bytes, 1e-9);
  double sum = 0; /* the host's bytes, summed over its ranks */
  for (int rank = 0; rank < 6; rank++) {
    assert_int_equal(other.of_rank(&other, rank, 6, &other), STATUS_OK);
    sum += other.bytes[STUDY_SAME_HOST];
  }
  assert_near(sum, other.host_bytes, 1e-9);
  for (int rank = 0; rank < 6; rank++) { /* no rank has more than the busiest one */
    assert_int_equal(g.of_rank(&g, rank, 6, &other), STATUS_OK);
    assert_true(other.points <= g.points && other.bytes[0] <= g.bytes[0] && other.rounds == g.rounds);
  }
}

/* With three ranks per host only columns cross hosts; with two, ends of rows do, too. */
TEST(rings_leave_a_host_where_its_ranks_end)
{
  const struct study_run run = product_2x3(60, 60, 300);
  /* messages of A to another host: two steps each from 1 to 2, 2 to 0, 3 to 4 and 5 to 3 */
  static const int beyond[] = {0, 2, 2, 2, 0, 2};
  struct geometry g, one;
  assert_int_equal(workload_geometry(&run, 3, &g), STATUS_OK);
  assert_true(g.hosts == 2 && g.messages[STUDY_SAME_HOST] == 2 && g.messages[STUDY_OTHER_HOST] == 1);
  assert_near(g.bytes[STUDY_OTHER_HOST], 4.0 * 300 * 10, 1e-9);
  assert_int_equal(workload_geometry(&run, 2, &g), STATUS_OK);
  for (int rank = 0; rank < 6; rank++) {
    assert_int_equal(g.of_rank(&g, rank, 2, &one), STATUS_OK);
    const int column = 1; /* the message of B: its peer, three ranks further, is on another host */
    assert_int_equal((int)one.messages[STUDY_OTHER_HOST], beyond[rank] + column);
  }
}

/* If all runs have the panel that gemm-gpu chooses for a GPU, or for a CPU, other sizes get that
 * panel, too; otherwise they get the widest panel. */
TEST(panels_of_other_sizes_are_as_the_study_has_them)
{
  struct study_run runs[2] = {{.global = {64, 64, 16384}, .product = {.panel = 8192}},
                              {.global = {64, 64, 200}, .product = {.panel = 200}}};
  const struct study study = {.program = STUDY_GEMM, .n = 2, .runs = runs};
  struct study_product found = workload_product(&study);
  assert_true(found.panel == 0 && !found.on_cpu);
  runs[0].product.panel = 256;
  found = workload_product(&study);
  assert_true(found.panel == 0 && found.on_cpu);
  runs[0].product.panel = 1000;
  assert_int_equal(workload_product(&study).panel, 1000);
}

static double interior_of(const struct model_terms *terms, int64_t m, int64_t n, int64_t k, int ranks)
{
  const struct study_run run = {.program = STUDY_GEMM,
                                .product = {.type = GEMM_F32, .panel = k > 6144 ? 6144 : k},
                                .global = {m, n, k},
                                .procs = {1, ranks, 0},
                                .ranks = ranks};
  struct geometry g;
  struct model_parts parts;
  assert_int_equal(workload_geometry(&run, ranks, &g), STATUS_OK);
  model_parts_make(terms, &g, -1, &parts);
  return parts.interior;
}

/* Waves have 132 tiles of 128x256. A multiply-add costs 1, the sum of an element's parts 100. */
TEST(tiles_go_in_rounds)
{
  struct model_terms terms = {.tile = {128, 256}, .units = 132, .slabs_hidden = 1, .depth = 1};
  const double elements = 132 * 128 * 256;
  terms.fitted.value[TERM_POINT] = 1;
  terms.fitted.value[TERM_IDLE] = 100;
  assert_near(interior_of(&terms, 6144, 6144, 6144, 1), elements * 9 * 6144, 1e-9); /* 1152 tiles */
  /* 288 tiles need three waves; in five parts they need eleven waves of a fifth each. */
  assert_near(interior_of(&terms, 3072, 3072, 6144, 1), elements * 11 * (6144 / 5.0 + 100), 1e-9);
  assert_near(interior_of(&terms, 3072, 3072, 300, 1), elements * 3 * 300, 1e-9);
  /* Two panels with two launches of 1152 tiles each need 34.9 waves together, and 8.7 each. */
  assert_near(interior_of(&terms, 12288, 12288, 12288, 2), elements * 35 * 6144, 1e-9);
  /* The product takes two launches of 32 tiles, one after the other. */
  assert_near(interior_of(&terms, 2048, 2048, 100, 2), elements * 2 * 100, 1e-9);
  assert_near(interior_of(&terms, 2048, 2048, 3000, 2), elements * 2 * (3000 / 4 + 100), 1e-9);
  assert_near(interior_of(&terms, 1024, 1024, 3000, 2), elements * 2 * (3000 / 8.0 + 100), 1e-9);
  terms.tile[0] = 0;
  assert_near(interior_of(&terms, 3072, 3072, 300, 1), 3072.0 * 3072 * 300, 1e-9);
}

/* With 2x3 ranks, own slices are a sixth of the product, two slices of each matrix four sixths. */
TEST(the_first_panel_hides_behind_own_slices)
{
  struct model_parts parts = {.interior = 6, .latency = 1, .bytes = 1};
  assert_near(model_parts_seconds(&parts), 8, 1e-12);
  parts.rings[0] = 3, parts.rings[1] = 2;
  assert_near(model_parts_seconds(&parts), 6, 1e-12);
  parts.bytes = 3;
  assert_near(model_parts_seconds(&parts), 6 + 2 - 1, 1e-12);
  parts.bytes = 9;
  assert_near(model_parts_seconds(&parts), 10 + 2, 1e-12);
  parts.overlap = 0.5;
  assert_near(model_parts_seconds(&parts), 10 + 1, 1e-12);
  parts.overlap = 1;
  assert_near(model_parts_seconds(&parts), 10, 1e-12);
  parts.hinder = 0.25; /* of 10 seconds 4 wait */
  assert_near(model_parts_seconds(&parts), 10 + 1.5, 1e-12);
}

UNIT_MAIN(NULL, NULL)
