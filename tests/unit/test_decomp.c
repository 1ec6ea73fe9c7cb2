/* SPDX-License-Identifier: MIT */
/* The decomposition: every interior point has one owner, halos match what neighbours send, and
 * slabs and the remaining points make up the whole. */
#include "tests/unit/unit.h"

#include "base/log.h"
#include "comm/halo/chunks.h"
#include "comm/halo/halo.h"

static const int64_t odd_grid[3] = {13, 11, 17};

static int ranks_of(const int procs[3])
{
  return procs[0] * procs[1] * procs[2];
}

/* Each rank marks the points that it owns in a map of the global grid. */
static void each_interior_point_has_one_owner(void **state)
{
  (void)state;
  static const int cuts[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 2}, {5, 2, 3}, {11, 9, 15}};
  static unsigned char owners[13][11][17];
  for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
    memset(owners, 0, sizeof owners);
    for (int r = 0; r < ranks_of(cuts[c]); r++) {
      struct decomp d;
      decomp_init(&d, odd_grid, cuts[c], r);
      for (int64_t i = d.owned.lo[0]; i < d.owned.hi[0]; i++)
        for (int64_t j = d.owned.lo[1]; j < d.owned.hi[1]; j++)
          for (int64_t k = d.owned.lo[2]; k < d.owned.hi[2]; k++) owners[i][j][k]++;
    }
    for (int i = 0; i < 13; i++)
      for (int j = 0; j < 11; j++)
        for (int k = 0; k < 17; k++) {
          int interior = i > 0 && i < 12 && j > 0 && j < 10 && k > 0 && k < 16;
          assert_int_equal(owners[i][j][k], interior);
        }
  }
}

static void counted_boxes_cover_the_grid_once(void **state)
{
  (void)state;
  static const int cut[3] = {3, 2, 4};
  static unsigned char seen[13][11][17];
  memset(seen, 0, sizeof seen);
  for (int r = 0; r < 24; r++) {
    struct decomp d;
    struct layout l;
    decomp_init(&d, odd_grid, cut, r);
    assert_int_equal(layout_init(&l, &d, 1, 0), STATUS_OK);
    for (int64_t i = l.counted.lo[0]; i < l.counted.hi[0]; i++)
      for (int64_t j = l.counted.lo[1]; j < l.counted.hi[1]; j++)
        for (int64_t k = l.counted.lo[2]; k < l.counted.hi[2]; k++)
          seen[l.origin[0] + i][l.origin[1] + j][l.origin[2] + k]++;
  }
  for (int i = 0; i < 13; i++)
    for (int j = 0; j < 11; j++)
      for (int k = 0; k < 17; k++) assert_int_equal(seen[i][j][k], 1);
}

static void sizes_differ_by_one_at_most(void **state)
{
  (void)state;
  static const int cut[3] = {4, 1, 1};
  int64_t least = 99, most = 0;
  for (int r = 0; r < 4; r++) {
    struct decomp d;
    decomp_init(&d, odd_grid, cut, r);
    int64_t n = box_extent(&d.owned, 0);
    least = n < least ? n : least;
    most = n > most ? n : most;
  }
  assert_int_equal(least, 2);
  assert_int_equal(most, 3);
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

static void each_halo_is_what_the_neighbour_sends(void **state)
{
  (void)state;
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
static void chunks_and_pieces_cover_the_buffer(void **state)
{
  static const int64_t grid[3] = {15, 16, 17};
  static const int cut[3] = {2, 3, 2};
  static const int64_t limits[] = {0, 1, 7, 50, 100, 1000000};
  struct rank_plan mine;
  (void)state;
  make_plan(&mine, grid, cut, 5, 2);
  for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
    for (int receive = 0; receive < 2; receive++) {
      struct halo_chunks c;
      int64_t all = receive ? mine.plan.recv_floats : mine.plan.floats;
      struct halo_cutting cutting[HALO_MESSAGES_MAX];
      char *seen = calloc((size_t)all, 1);
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
          assert_int_equal(seen[at]++, 0);
      }
      for (int64_t at = 0; at < all; at++) assert_int_equal(seen[at], 1);
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
      free(seen);
    }
}

static void depth_one_needs_no_corners(void **state)
{
  (void)state;
  static const int64_t grid[3] = {20, 20, 20};
  static const int cut[3] = {3, 3, 3};
  struct rank_plan middle;
  make_plan(&middle, grid, cut, 13, 1);
  assert_int_equal(middle.plan.n, 18);
  make_plan(&middle, grid, cut, 13, 2);
  assert_int_equal(middle.plan.n, 26);
}

static void slabs_and_rest_make_up_the_owned_points(void **state)
{
  (void)state;
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

static void a_slab_along_j_has_the_rows_of_a_tile(void **state)
{
  (void)state;
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

static void a_sent_point_is_in_a_slab(void **state)
{
  (void)state;
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

static void rows_start_on_lines(void **state)
{
  (void)state;
  static const int cut[3] = {1, 1, 1};
  struct decomp d;
  struct layout l;
  decomp_init(&d, odd_grid, cut, 0);
  assert_int_equal(layout_init(&l, &d, 1, 0), STATUS_OK);
  assert_int_equal(l.pitch, 32);
  assert_int_equal(layout_init(&l, &d, 1, 20), STATUS_OK);
  assert_int_equal(l.pitch, 64);
}

static status_t quietly(status_t status)
{
  log_drop();
  return status;
}

static void the_choice_cuts_i_first(void **state)
{
  (void)state;
  static const int64_t grid[3] = {256, 256, 512};
  const struct decomp_rules rules = {.depth = 1}, planes = {.depth = 1, .whole_planes = 1};
  int procs[3];
  assert_int_equal(decomp_choose(8, grid, 0, &planes, procs), STATUS_OK);
  assert_int_equal(procs[0], 8);
  assert_int_equal(decomp_choose(2, grid, 0, &rules, procs), STATUS_OK);
  assert_int_equal(procs[0], 2);
  assert_int_equal(decomp_choose(512, grid, 0, &rules, procs), STATUS_OK);
  assert_int_equal(ranks_of(procs), 512);
  assert_true(procs[0] >= procs[2]);
}

static void cuts_that_cannot_be_are_refused(void **state)
{
  (void)state;
  static const int64_t grid[3] = {6, 6, 6};
  const struct decomp_rules plain = {.depth = 1}, deep = {.depth = 3},
                            planes = {.depth = 1, .whole_planes = 1}, rows = {.depth = 1, .whole_rows = 1};
  log_hold(1);
  assert_int_equal(quietly(decomp_check(4, grid, (int[]){2, 1, 1}, &plain)), STATUS_USAGE);
  assert_int_equal(quietly(decomp_check(5, grid, (int[]){5, 1, 1}, &plain)), STATUS_USAGE);
  assert_int_equal(quietly(decomp_check(2, grid, (int[]){2, 1, 1}, &deep)), STATUS_USAGE);
  assert_int_equal(quietly(decomp_check(2, grid, (int[]){1, 2, 1}, &planes)), STATUS_USAGE);
  assert_int_equal(quietly(decomp_check(4, grid, (int[]){4, 1, 1}, &plain)), STATUS_OK);
  assert_int_equal(quietly(decomp_check(2, grid, (int[]){1, 1, 2}, &rows)), STATUS_USAGE);
  assert_int_equal(quietly(decomp_check(4, grid, (int[]){2, 2, 1}, &rows)), STATUS_OK);
  int procs[3];
  assert_int_equal(quietly(decomp_choose(64, grid, 0, &rows, procs)), STATUS_USAGE);
  assert_int_equal(quietly(decomp_choose(16, grid, 0, &rows, procs)), STATUS_OK);
  assert_int_equal(quietly(decomp_choose(65, grid, 0, &plain, procs)), STATUS_USAGE);
  assert_int_equal(quietly(decomp_choose(64, grid, 0, &plain, procs)), STATUS_OK);
  log_hold(0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_interior_point_has_one_owner),
      cmocka_unit_test(counted_boxes_cover_the_grid_once),
      cmocka_unit_test(sizes_differ_by_one_at_most),
      cmocka_unit_test(each_halo_is_what_the_neighbour_sends),
      cmocka_unit_test(chunks_and_pieces_cover_the_buffer),
      cmocka_unit_test(depth_one_needs_no_corners),
      cmocka_unit_test(slabs_and_rest_make_up_the_owned_points),
      cmocka_unit_test(a_slab_along_j_has_the_rows_of_a_tile),
      cmocka_unit_test(a_sent_point_is_in_a_slab),
      cmocka_unit_test(rows_start_on_lines),
      cmocka_unit_test(the_choice_cuts_i_first),
      cmocka_unit_test(cuts_that_cannot_be_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
