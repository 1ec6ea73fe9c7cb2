/* SPDX-License-Identifier: MIT */
/** \file \brief Tests the estimated time: the clocks that each part of the model adds. Results must
 * not change. */
#include "tests/unit/qpu_rig.h"

#include <math.h>

#define END "thrend\nnop\nnop\n"

/* The model has round numbers, so that sums can be checked by eye. */
static const struct qpu_cost_model model = {.clock_hz = 1e6,
                                            .tmu_vector = 16,
                                            .tmu_latency = 40,
                                            .l2_line = 4,
                                            .l2_latency = 20,
                                            .memory_line = 100,
                                            .memory_latency = 1000,
                                            .uniform_latency = 0,
                                            .dma_start = 200,
                                            .dma_row = 40,
                                            .dma_word = 4,
                                            .vpm_vector = 80};

/* Returns the clocks of \a n programs on \a n QPUs. */
static long clocks(const char *text, int n)
{
  struct qpu_emu_config config = {.n_qpus = n, .memory_bytes = 1 << 20, .max_instructions = 100000};
  struct qpu_rig rig = rig_open(&config, text);
  assert_int_equal(qpu_emu_estimate(rig.emu, &model), STATUS_OK);
  rig_run(&rig, (size_t)n);
  long made = lround(qpu_emu_seconds(rig.emu) * 1e6);
  rig_close(&rig);
  return made;
}

#define ADDRESSES "mov r0, unif\nmov ra1, unif\nshl r1, elem_num, 2\nadd r0, r0, r1\n"
#define FETCH     "mov t0s, r0\nnop\nnop; ldtmu0\n"
#define LOAD      "ldi vr_setup, 0x80000000 | 3 << 24 | 4 << 16 | 1 << 12\nmov vr_addr, r0\n"

TEST(an_instruction_takes_four_clocks)
{
  assert_int_equal(clocks("nop\nnop\nnop\n" END, 1), 4 * 6);
  assert_int_equal(
      clocks("ldi r0, 10\n:loop sub.setf r0, r0, 1\nbrr.allnz -, r:loop\nnop\nnop\nnop\n" END, 1),
      4 * (1 + 10 * 5 + 3));
  assert_int_equal(clocks("nop\nnop\nnop\n" END, 12), 4 * 6);
}

/* The second fetch finds its line in the TMU's cache. Two vectors of one line cause one miss. */
TEST(a_fetch_waits_for_memory_or_for_the_cache)
{
  const long start = clocks(ADDRESSES END, 1), one = clocks(ADDRESSES FETCH END, 1);
  const long two = clocks(ADDRESSES FETCH FETCH END, 1);
  assert_int_equal(one - start, 1000 + 40 + 4);
  assert_int_equal(two - one, 4 + 16 + 40);
}

/* Memory delivers sixteen lines one after the other. */
TEST(lines_come_from_memory_one_after_the_other)
{
  const char *scattered = "mov r0, unif\nmov ra1, unif\nshl r1, elem_num, 6\nadd r0, r0, r1\n" FETCH END;
  assert_int_equal(clocks(scattered, 1) - clocks(ADDRESSES FETCH END, 1), 15 * 100);
}

/* QPUs of one slice share a TMU and its cache; QPUs of different slices share only the L2 cache. */
TEST(slices_have_caches_of_their_own)
{
  const char *one_after_the_other =
      "mov r0, unif\nmov ra1, unif\nshl r1, elem_num, 2\nadd r0, r0, r1\nmov ra2, qpu_num\n"
      "nop\nmov.setf -, ra2\nbrr.allz -, r:go\nnop\nnop\nnop\nsacq -, 1\n:go\n" FETCH "srel -, 1\n" END;
  long two = clocks(one_after_the_other, 2), five = clocks(one_after_the_other, 5);
  /* Three more QPUs of the slice add 68 clocks each; one of the next follows 20 later. */
  assert_true(five - two > 2 * 60 && five - two < 4 * 100);
}

/* A program waits once for a line of uniforms; the next line is fetched meanwhile. */
TEST(uniforms_come_by_the_line)
{
  char text[4000] = "";
  assert_int_equal(clocks("mov r0, unif\nmov r0, unif\n" END, 1), 1000 + 4 * 5);
  for (int i = 0; i < 40; i++) strcat(text, "mov r0, unif\n");
  strcat(text, END);
  /* Lines 0 and 1 are requested at once, line 2 when line 1 begins, that is after 16 uniforms. */
  assert_int_equal(clocks(text, 1), 1000 + 4 * 16 + 1000 + 4 * (8 + 3));
}

TEST(transfers_share_one_engine)
{
  const char *text = ADDRESSES LOAD "mov -, vr_wait\n" END;
  long one = clocks(text, 1), three = clocks(text, 3);
  long busy = 200 + 4 * 40 + 4 * 16 * 4; /* longer than memory takes for four lines */
  assert_true(three - one >= 2 * busy && three - one < 2 * busy + 40);
}

TEST(vectors_of_the_vpm_queue_up)
{
  char text[1000] = "";
  for (int i = 0; i < 10; i++) strcat(text, "mov vpm, r0\n");
  strcat(text, END);
  assert_true(clocks(text, 1) >= 7 * 80 && clocks(text, 1) <= 10 * 80 + 40);
  assert_true(clocks(text, 4) >= 37 * 80);
}

TEST(an_estimate_changes_no_result_and_each_run_has_its_own)
{
  double seconds[3];
  uint32_t plain[64];
  const char *text = RIG_BEGIN ".rep i, 4\nfadd r0, r0, r1; fmul r1, r1, r0\nmov vpm, r0\n.endr\n" RIG_END(4);
  struct qpu_rig rig = rig_open(NULL, text);
  for (int n = 0; n < 3; n++) {
    for (uint32_t i = 0; i < 64; i++) rig.in[i] = 0x3f800000 + i * 0x10000;
    memset(rig.out, 0, 256);
    if (n < 2) assert_int_equal(qpu_emu_estimate(rig.emu, n ? &model : NULL), STATUS_OK);
    rig_run(&rig, 1);
    if (n == 0) memcpy(plain, rig.out, sizeof plain);
    assert_memory_equal(plain, rig.out, sizeof plain);
    seconds[n] = qpu_emu_seconds(rig.emu);
  }
  assert_true(seconds[0] == 0 && seconds[1] > 0 && seconds[2] == seconds[1]);
  rig_close(&rig);
}

UNIT_MAIN(NULL, NULL)
