/* SPDX-License-Identifier: MIT */
/* Tests reports of points that differ after several faults, in a box of 30 x 40 x 50 at 1, 2, 3. */
#include "tests/unit/unit.h"

#include "himeno/verify/wrong.h"

static const int64_t lo[3] = {1, 2, 3}, hi[3] = {31, 42, 53};

/* A point with its index among the differing points. */
struct at {
  int64_t i, j, k;
  uint32_t noise;
};
typedef int fault(struct at a);

/* Each fault with its condition, and its words. */
#define FAULTS(X)                                                                                            \
  X(everything, a.i > 0, "all points")                                                                       \
  X(upper_j, a.j == 41, "all points at the upper edge of j (j = 41)")                                        \
  X(lower_i, a.i == 1, "all points at the lower edge of i (i = 1)")                                          \
  X(edge, a.i == 30 && a.k == 3,                                                                             \
    "all points at the upper edge of i (i = 30), at the lower edge of k (k = 3)")                            \
  X(inner_k, a.k == 20, "all points at k = 20")                                                              \
  X(both_k, a.k == 3 || a.k == 52, "all points at both edges of k (k = 3 and 52)")                           \
  X(fourth_k, a.k % 4 == 1, "all points at every fourth k, from k = 5")                                      \
  X(second_i, a.i % 2 == 0, "all points at every second i, from i = 2")                                      \
  X(third_i, a.i % 3 == 0 && a.i < 30, "all points at every third i, from i = 3 to 27")                      \
  X(tenth_j, a.j % 10 == 5, "all points at every 10th j, from j = 5")                                        \
  X(strides, a.j % 3 == 0 && a.k % 7 == 6,                                                                   \
    "all points at every third j, from j = 3, at every seventh k, from k = 6")                               \
  X(pairs_k, a.k % 8 >= 6, "all points at 2 of every 8 k, from k = 6")                                       \
  X(tail_k, a.k >= 48, "all points in the upper 5 of k (48 to 52)")                                          \
  X(block, a.i >= 5 && a.i < 9 && a.j >= 10 && a.j < 14 && a.k >= 16 && a.k < 32,                            \
    "all points from i = 5 to 8, from j = 10 to 13, from k = 16 to 31")                                      \
  X(one, a.i == 7 && a.j == 8 && a.k == 9, "all points at i = 7, at j = 8, at k = 9")                        \
  X(faces, a.j == 41 || a.k == 52,                                                                           \
    "all points at the upper edge of j (j = 41) and at the upper edge of k (k = 52)")                        \
  X(shell, a.i == 1 || a.i == 30 || a.j == 2 || a.j == 41 || a.k == 3 || a.k == 52,                          \
    "all points at both edges of i (i = 1 and 30) and at both edges of j (j = 2 and 41) and at both edges "  \
    "of k (k = 3 and 52)")                                                                                   \
  X(chess, (a.i + a.j + a.k) % 2 == 1, "every other point (odd i + j + k)")                                  \
  X(some, a.noise % 100 == 0, "scattered, between i = 1 and 30, j = 2 and 41, k = 3 and 52")                 \
  X(most_of_k, a.k % 4 == 1 && a.noise % 16,                                                                 \
    "all points at every fourth k, from k = 5, or nearly all of them (94%)")                                 \
  X(face_and_one, upper_j(a) || one(a), "all points at the upper edge of j (j = 41)")                        \
  X(three_j, a.j == 4 || a.j == 5 || a.j == 30, "all points at j = 4, 5, 30")                                \
  X(six_j, three_j(a) || a.j == 31 || a.j == 33 || a.j == 37, "all points at 6 of the 40 j, from 4 to 37")   \
  X(ninth_k, a.k % 9 == 5, "all points at every 9th k, from k = 5")                                          \
  X(edge_and_next, a.k == 3 || a.k == 51, "all points at k = 3, 51")                                         \
  X(stray, (a.i == 7 && a.k == 20) || (a.i == a.j && a.j * a.k == 15), "all points at i = 7, at k = 20")     \
  X(two, a.i == 7 && a.j == 8 && (a.k == 9 || a.k == 11), "all points at i = 7, at j = 8, at k = 9, 11")     \
  X(even_chess, a.i > 10 && (a.i + a.j + a.k) % 2 == 0,                                                      \
    "every other point (even i + j + k) in the upper 20 of i (11 to 30)")                                    \
  X(nothing, a.i > 30, "none")

#define FUNCTION(name, is_wrong, text)                                                                       \
  static int name(struct at a)                                                                               \
  {                                                                                                          \
    return is_wrong;                                                                                         \
  }
FAULTS(FUNCTION)

#define CASE(name, is_wrong, text) {name, text},
static const struct {
  fault *is_wrong;
  const char *text;
} cases[] = {FAULTS(CASE)};

TEST(faults_are_put_into_words)
{
  char text[PATTERN_TEXT_MAX];
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct pattern p;
    uint32_t noise = 1;
    assert_int_equal(pattern_open(lo, hi, &p), STATUS_OK);
    for (int64_t i = lo[0]; i < hi[0]; i++)
      for (int64_t j = lo[1]; j < hi[1]; j++)
        for (int64_t k = lo[2]; k < hi[2]; k++) {
          noise = noise * 1664525u + 1013904223u;
          if (cases[c].is_wrong((struct at){i, j, k, noise >> 8})) pattern_add(&p, (int64_t[]){i, j, k});
        }
    assert_string_equal(pattern_text(&p, text), cases[c].text);
    pattern_close(&p);
  }
}

TEST(distances_count_the_floats_between)
{
  assert_int_equal(wrong_distance(1.0f, 1.0f), 0);
  assert_int_equal(wrong_distance(1.0f, 1.0f + 0x1p-23f), 1);
  assert_int_equal(wrong_distance(1.0f, 1.0f - 0x1p-24f), 1);
  assert_int_equal(wrong_distance(-0.0f, 0.0f), 0);
  assert_int_equal(wrong_distance(0x1p-149f, -0x1p-149f), 2);
  assert_int_equal(wrong_distance(1.0f, 2.0f), 1 << 23);
  assert_int_equal(wrong_distance(-1.0f, -2.0f), 1 << 23);
  assert_int_equal(wrong_distance(0.0f / 0.0f * 1.0f, 2.0f), -1);
}

UNIT_MAIN(NULL, NULL)
