/* SPDX-License-Identifier: MIT */
/* The decomposition: every interior point has one owner, halos match what neighbours send, and
 * slabs and the remaining points make up the whole. */
#include "tests/unit/unit.h"

#include "base/log.h"
#include "comm/halo/chunks.h"
#include "comm/halo/grid.h"
#include "comm/halo/halo.h"

static const int64_t odd_grid[3] = {13, 11, 17};

static int ranks_of(const int procs[3])
{
  return procs[0] * procs[1] * procs[2];
}

static unsigned char seen[13][11][17];

/* Counts the points of a box, which is moved by \a origin, in a map of the global grid. */
static void mark(const struct box *box, const int64_t origin[3])
{
  for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
    for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
      for (int64_t k = box->lo[2]; k < box->hi[2]; k++) seen[origin[0] + i][origin[1] + j][origin[2] + k]++;
}

TEST(boxes_of_ranks_cover_the_grid_once_and_differ_by_one_layer_at_most)
{
  static const int cuts[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 2}, {5, 2, 3}, {3, 2, 4}, {11, 9, 15}};
  static const int64_t zero[3] = {0};
  for (size_t c = 0; c < 2 * sizeof cuts / sizeof cuts[0]; c++) {
    const int *cut = cuts[c / 2], owned = c % 2;
    memset(seen, 0, sizeof seen);
    for (int r = 0; r < ranks_of(cut); r++) {
      struct decomp d;
      struct layout l;
      decomp_init(&d, odd_grid, cut, r);
      assert_int_equal(layout_init(&l, &d, 1, 0), STATUS_OK);
      mark(owned ? &d.owned : &l.counted, owned ? zero : l.origin);
      for (int n = 0; n < 3; n++) assert_in_range(box_extent(&d.owned, n) - (odd_grid[n] - 2) / cut[n], 0, 1);
    }
    for (int i = 0; i < 13; i++)
      for (int j = 0; j < 11; j++)
        for (int k = 0; k < 17; k++) {
          int interior = i > 0 && i < 12 && j > 0 && j < 10 && k > 0 && k < 16;
          assert_int_equal(seen[i][j][k], interior || !owned);
        }
  }
}

static void to_global(struct box *box, const struct layout *layout)
{
  for (int d = 0; d < 3; d++) {
    box->lo[d] += layout->origin[d];
    box->hi[d] += layout->origin[d];
  }
}

struct rank_plan {
  struct layout layout;
  struct halo_plan plan;
};

static void make_plan(struct rank_plan *made, const int64_t grid[3], const int cut[3], int rank, int depth)
{
  struct decomp d;
  decomp_init(&d, grid, cut, rank);
  assert_int_equal(layout_init(&made->layout, &d, depth, 0), STATUS_OK);
  halo_plan_init(&made->plan, &d, &made->layout, depth);
}

/* Returns the message of \a plan to \a peer with the tag \a tag, or NULL. */
static const struct halo_message *find(const struct halo_plan *plan, int peer, int tag)
{
  for (int m = 0; m < plan->n; m++)
    if (plan->messages[m].peer == peer && plan->messages[m].send_tag == tag) return &plan->messages[m];
  return NULL;
}

TEST(each_halo_is_what_the_neighbour_sends)
{
  static const int64_t grid[3] = {15, 16, 17};
  static const int cut[3] = {2, 3, 2};
  static struct rank_plan all[12];
  for (int depth = 1; depth <= 4; depth++) {
    for (int r = 0; r < 12; r++) make_plan(&all[r], grid, cut, r, depth);
    for (int r = 0; r < 12; r++)
      for (int m = 0; m < all[r].plan.n; m++) {
        const struct halo_message *mine = &all[r].plan.messages[m];
        const struct halo_message *theirs = find(&all[mine->peer].plan, r, mine->recv_tag);
        assert_non_null(theirs);
        assert_int_equal(mine->count, theirs->count);
        struct box halo = mine->recv, sent = theirs->send;
        to_global(&halo, &all[r].layout);
        to_global(&sent, &all[mine->peer].layout);
        assert_memory_equal(&halo, &sent, sizeof halo);
      }
  }
}

/* Returns 1 for whole layers of the box, whole rows of one layer, or a part of one row. */
static int is_box(const struct box *box, int64_t begin, int64_t count)
{
  int64_t row = box_extent(box, 2), layer = row * box_extent(box, 1);
  if (begin % layer == 0 && count % layer == 0) return 1;
  if (begin / layer != (begin + count - 1) / layer) return 0;
  if (begin % row == 0 && count % row == 0) return 1;
  return begin / row == (begin + count - 1) / row;
}

/* Asserts that the rows of a field have the floats of a chunk in the packed order. */
static void rows_are(const struct layout *l, const struct box *box, int64_t begin, int64_t count)
{
  struct gpu_rows r = halo_rows(l, box, begin, count);
  int64_t n = begin, nj = box_extent(box, 1), nk = box_extent(box, 2);
  for (size_t layer = 0; layer < r.layers; layer++)
    for (size_t row = 0; row < r.rows; row++)
      for (size_t at = 0; at < r.width; at += sizeof(float), n++) {
        int64_t i = box->lo[0] + n / nk / nj, j = box->lo[1] + n / nk % nj, k = box->lo[2] + n % nk;
        assert_int_equal(r.offset + layer * r.slice + row * r.pitch + at,
                         (i * l->plane + j * l->pitch + k) * (int64_t)sizeof(float));
      }
  assert_int_equal(n, begin + count);
}

/* Chunks, and pieces, must be boxes that cover the packed buffer once. Messages that are not merged
 * come first. */
TEST(chunks_and_pieces_cover_the_buffer)
{
  static const int64_t grid[3] = {15, 16, 17};
  static const int cut[3] = {2, 3, 2};
  static const int64_t limits[] = {0, 1, 7, 50, 100, 1000000};
  struct rank_plan mine;
  make_plan(&mine, grid, cut, 5, 2);
  for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
    for (int receive = 0; receive < 2; receive++) {
      struct halo_chunks c;
      int64_t all = receive ? mine.plan.recv_floats : mine.plan.floats;
      struct halo_cutting cutting[HALO_MESSAGES_MAX];
      char *covered = calloc((size_t)all, 1);
      for (int m = 0; m < mine.plan.n; m++)
        cutting[m] = (struct halo_cutting){.most = limits[l], .alone = m % 3 == 1};
      assert_int_equal(halo_chunks_create(&c, &mine.plan, receive, cutting), STATUS_OK);
      for (int n = 0; n < c.n; n++) {
        const struct halo_chunk *chunk = &c.chunk[n];
        const struct halo_message *message = &mine.plan.messages[chunk->message];
        int64_t offset = receive ? message->recv_offset : message->send_offset;
        assert_true(chunk->count > 0 && (limits[l] == 0 || chunk->count <= limits[l]));
        const struct box *box = receive ? &message->recv : &message->send;
        assert_true(is_box(box, chunk->begin - offset, chunk->count));
        rows_are(&mine.layout, box, chunk->begin - offset, chunk->count);
        assert_true(n == 0 || !cutting[chunk->message].alone || cutting[c.chunk[n - 1].message].alone);
        for (int64_t at = chunk->begin; at < chunk->begin + chunk->count; at++)
          assert_int_equal(covered[at]++, 0);
      }
      for (int64_t at = 0; at < all; at++) assert_int_equal(covered[at], 1);
      for (int p = 0, n = 0; p < c.pieces; p++) {
        int64_t end = c.piece[p].begin;
        assert_int_equal(c.piece[p].first, n);
        for (int k = 0; k < c.piece[p].chunks; k++, n++) {
          assert_int_equal(c.chunk[n].piece, p);
          assert_int_equal(c.chunk[n].begin, end);
          assert_true(k == 0 ||
                      (!cutting[c.chunk[n].message].alone && !cutting[c.chunk[n - 1].message].alone));
          end += c.chunk[n].count;
        }
        assert_int_equal(end - c.piece[p].begin, c.piece[p].count);
        assert_true(limits[l] == 0 || c.piece[p].count <= limits[l]);
        assert_true(p + 1 < c.pieces || n == c.n);
      }
      halo_chunks_free(&c);
      free(covered);
    }
}

TEST(depth_one_needs_no_corners)
{
  static const int64_t grid[3] = {20, 20, 20};
  static const int cut[3] = {3, 3, 3};
  struct rank_plan middle;
  make_plan(&middle, grid, cut, 13, 1);
  assert_int_equal(middle.plan.n, 18);
  make_plan(&middle, grid, cut, 13, 2);
  assert_int_equal(middle.plan.n, 26);
}

TEST(slabs_and_rest_make_up_the_owned_points)
{
  static const int64_t grids[][3] = {{12, 12, 12}, {5, 6, 7}, {8, 40, 8}};
  static const int cut[3] = {3, 2, 1};
  for (size_t g = 0; g < 3; g++)
    for (int r = 0; r < 6; r++) {
      struct rank_plan made;
      struct halo_cut pieces;
      make_plan(&made, grids[g], cut, r, 1);
      for (int rows = 0; rows <= 7; rows += 3) {
        halo_cut_init(&pieces, &made.plan, &made.layout, rows);
        int64_t points = box_points(&pieces.inner);
        for (int b = 0; b < pieces.n; b++) points += box_points(&pieces.boundary[b]);
        assert_int_equal(points, box_points(&made.layout.owned));
      }
    }
}

TEST(a_slab_along_j_has_the_rows_of_a_tile)
{
  static const int64_t grid[3] = {14, 42, 14};
  static const int cut[3] = {2, 2, 1};
  struct rank_plan made;
  struct halo_cut pieces;
  make_plan(&made, grid, cut, 0, 3);
  halo_cut_init(&pieces, &made.plan, &made.layout, 8);
  assert_int_equal(pieces.n, 2);
  assert_int_equal(box_extent(&pieces.boundary[0], 0), 3);
  assert_int_equal(box_extent(&pieces.boundary[1], 1), 8);
  halo_cut_init(&pieces, &made.plan, &made.layout, 11); /* the rank has 20 rows */
  assert_int_equal(box_extent(&pieces.boundary[1], 1), 3);
  halo_cut_init(&pieces, &made.plan, &made.layout, 2);
  assert_int_equal(box_extent(&pieces.boundary[1], 1), 3);
}

TEST(a_sent_point_is_in_a_slab)
{
  static const int64_t grid[3] = {14, 14, 14};
  static const int cut[3] = {2, 2, 2};
  for (int depth = 1; depth <= 3; depth++) {
    struct rank_plan made;
    struct halo_cut pieces;
    make_plan(&made, grid, cut, 3, depth);
    halo_cut_init(&pieces, &made.plan, &made.layout, 0);
    for (int m = 0; m < made.plan.n; m++)
      for (int d = 0; d < 3; d++) {
        const struct box *send = &made.plan.messages[m].send, *inner = &pieces.inner;
        int disjoint = 0;
        for (int e = 0; e < 3; e++) disjoint |= send->hi[e] <= inner->lo[e] || send->lo[e] >= inner->hi[e];
        assert_true(disjoint);
      }
  }
}

TEST(rows_start_on_lines)
{
  static const int cut[3] = {1, 1, 1};
  struct decomp d;
  struct layout l;
  decomp_init(&d, odd_grid, cut, 0);
  assert_int_equal(layout_init(&l, &d, 1, 15), STATUS_OK);
  assert_int_equal(l.pitch, 32);
  assert_int_equal(layout_init(&l, &d, 1, 16), STATUS_OK);
  assert_int_equal(l.pitch, 64);
}

/* An array may have 2^57 − 1 floats, in rows that are multiples of 32, and a message 2^31 − 1. */
TEST(what_64_bits_and_a_message_cannot_hold_is_refused)
{
  static const int64_t most = (int64_t)1 << 53, large = (int64_t)1 << 40;
  static const int64_t grids[][3] = {
      {4, 4, most - 32}, {4, 4, most - 31}, {4, large, large}, {large, 4, large}, {3, 3, INT64_MAX / 32}};
  static const int cut[3] = {1, 1, 1};
  for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
    struct decomp d;
    struct layout l;
    decomp_init(&d, grids[g], cut, 0);
    log_hold(1);
    assert_int_equal(layout_init(&l, &d, 1, 0), g ? STATUS_USAGE : STATUS_OK);
    assert_int_equal(!g, !strstr(log_held(), " is too large: an array would exceed 64-bit sizes"));
    log_drop();
  }
  for (int n = 0; n < 8; n++) {
    const int rank = n & 1, one_way = n >> 1 & 1, over = n >> 2;
    struct halo_plan plan;
    struct layout l;
    halo_plan_pair(&plan, &l, rank, (int64_t)INT32_MAX + over, one_way);
    assert_int_equal(halo_plan_check(&plan), over ? STATUS_USAGE : STATUS_OK);
    if (over)
      assert_non_null(
          strstr(log_held(), "a halo of 2147483648 floats: one MPI message takes at most 2147483647; "));
    log_drop();
    assert_int_equal(plan.floats, one_way && rank ? 0 : (int64_t)INT32_MAX + over);
    assert_int_equal(plan.recv_floats, one_way && !rank ? 0 : (int64_t)INT32_MAX + over);
  }
  log_hold(0);
}

static const struct decomp_rules plain = {.depth = 1}, deep = {.depth = 3},
                                 planes = {.depth = 1, .whole_planes = 1},
                                 rows = {.depth = 1, .whole_rows = 1};

TEST(the_fastest_cut_that_is_allowed_is_chosen)
{
  static const struct {
    int64_t grid[3];
    int ranks, weak;
    const struct decomp_rules *rules;
    int procs[3];
  } cases[] = {
      {{256, 256, 512}, 8, 0, &planes, {8, 1, 1}},
      {{256, 256, 512}, 512, 0, &plain, {32, 16, 1}},
      {{6, 6, 6}, 16, 0, &rows, {4, 4, 1}},
      {{6, 6, 6}, 64, 0, &plain, {4, 4, 4}},
      {{8, 7, 7}, 2, 0, &deep, {2, 1, 1}},
      {{7, 8, 7}, 2, 0, &deep, {1, 2, 1}},
      {{7, 7, 8}, 2, 0, &deep, {1, 1, 2}},
      {{3, 3, 3}, 6, 1, &plain, {6, 1, 1}},
      /* a halo normal to j counts 1.25 times, one normal to k 3 times, and a message 100 kB */
      {{102, 122, 64}, 2, 0, &plain, {2, 1, 1}},
      {{102, 132, 64}, 2, 0, &plain, {1, 2, 1}},
      {{256, 256, 700}, 2, 0, &plain, {2, 1, 1}},
      {{256, 256, 800}, 2, 0, &plain, {1, 1, 2}},
      {{152, 152, 152}, 4, 0, &plain, {4, 1, 1}},
      {{202, 202, 202}, 4, 0, &plain, {2, 2, 1}},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    int procs[3];
    assert_int_equal(decomp_choose(cases[c].ranks, cases[c].grid, cases[c].weak, cases[c].rules, procs),
                     STATUS_OK);
    if (memcmp(procs, cases[c].procs, sizeof procs) != 0)
      fail_msg("case %zu: %dx%dx%d", c, procs[0], procs[1], procs[2]);
  }
}

/* Cuts a cube of n points per dimension. \a says is the error, or "". If P is 0, it chooses. */
static void cut_says(int64_t n, int ranks, const struct decomp_rules *rules, int wanted[3], const char *says)
{
  const int64_t grid[3] = {n, n, n};
  const int weak = n > 8;
  int procs[3];
  int64_t global[3];
  const status_t status = decomp_cut(ranks, grid, weak, rules, wanted, procs, global);
  assert_string_equal(log_held(), says);
  log_drop();
  assert_int_equal(status, says[0] ? STATUS_USAGE : STATUS_OK);
  for (int d = 0; d < 3 && status == STATUS_OK; d++)
    assert_int_equal(global[d], weak ? (n - 2) * procs[d] + 2 : n);
}

#define TOO_LARGE "--weak: the grid of all ranks is too large for 64-bit sizes"
#define USE       "; use fewer ranks or a larger --size"

TEST(cuts_that_cannot_be_are_refused_with_the_reason)
{
  int choose[3] = {0}, i2[] = {2, 1, 1}, i4[] = {4, 1, 1}, i5[] = {5, 1, 1}, j2[] = {1, 2, 1},
      k2[] = {1, 1, 2}, ij[] = {2, 2, 1}, one[] = {1, 1, 1};
  log_hold(1);
  cut_says(6, 4, &plain, i4, "");
  cut_says(8, 2, &deep, j2, "");
  cut_says(6, 4, &rows, ij, "");
  cut_says(6, 4, &plain, i2, "--procs 2x1x1 needs 2 ranks, but there are 4");
  cut_says(6, 5, &plain, i5,
           "--procs 5x1x1 cuts i too thin: 4 interior points over 5 ranks leave one with 0, but it needs 1");
  cut_says(2, 1, &deep, one,
           "--procs 1x1x1 cuts i too thin: 0 interior points over 1 rank leave one with 0, but it needs 1");
  cut_says(7, 2, &deep, j2,
           "--procs 1x2x1 cuts j too thin: 5 interior points over 2 ranks leave one with 2, but it needs 3");
  cut_says(6, 2, &planes, j2, "--procs 1x2x1 cuts j, but this kernel needs whole planes: cut only i");
  cut_says(6, 2, &rows, k2, "--procs 1x1x2 cuts k, but this kernel needs whole rows: cut only i and j");
  cut_says(
      6, 64, &rows, choose,
      "6x6x6 cannot be cut for 64 ranks: each needs at least 1 point in every dimension that is cut, and "
      "this kernel needs whole rows (k is not cut)" USE);
  cut_says(2, 1, &planes, choose,
           "2x2x2 cannot be cut for 1 rank: each needs at least 1 point in every dimension that is cut, and "
           "this kernel needs whole planes (only i is cut)" USE);
  cut_says(
      7, 2, &deep, choose,
      "7x7x7 cannot be cut for 2 ranks: each needs at least 3 points in every dimension that is cut" USE);
  cut_says(INT64_MAX / 2, 2, &plain, i2, "");
  cut_says(INT64_MAX / 2 + 2, 2, &plain, i2, TOO_LARGE);
  cut_says(INT64_MAX, 2, &plain, i2, TOO_LARGE);
  log_hold(0);
}

TEST(limits_of_sizes_and_process_grids)
{
  static const char *const sizes[] = {"65536x65536x65537", "2x3x3", "3x2x3", "3x3x2", "3x3",
                                      "3x3x3x3",           "3x3x3 "},
                           *const grids[] = {"0x1x1",   "1x1x0",  "1x1x16777217", "1x1",
                                             "1x1x1x1", "-1x1x1", "1x1x"};
  struct grid_size size;
  int procs[3];
  log_hold(1);
  for (int c = 0; c < 7; c++) {
    assert_int_equal(grid_size_parse("-s", sizes[c], &size), STATUS_USAGE);
    assert_int_equal(grid_procs_parse("-p", grids[c], procs), STATUS_USAGE);
  }
  assert_int_equal(grid_size_parse("-s", "3x3x3", &size), STATUS_OK);
  assert_int_equal(grid_size_parse("-s", "65536x65536x65536", &size), STATUS_OK);
  assert_int_equal(grid_procs_parse("-p", "16777216x2x3", procs), STATUS_OK);
  assert_true(procs[0] == 1 << 24 && procs[1] == 2 && procs[2] == 3);
  log_hold(0);
}

UNIT_MAIN(NULL, NULL)
