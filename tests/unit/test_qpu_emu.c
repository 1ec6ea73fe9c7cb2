/* SPDX-License-Identifier: MIT */
#include "tests/unit/qpu_rig.h"

static struct qpu_emu_config twelve = {.n_qpus = 12, .memory_bytes = 1 << 20};

/* Runs a program that computes with r0 and r1 and writes VPM rows. The caller closes the rig. */
static struct qpu_rig run_rows(const char *text, const uint32_t *a, const uint32_t *b)
{
  struct qpu_rig rig = rig_open(NULL, text);
  for (int i = 0; i < QPU_LANES; i++) {
    rig.in[i] = a ? a[i] : (uint32_t)i;
    rig.in[QPU_LANES + i] = b ? b[i] : (uint32_t)(100 + i);
  }
  rig_run(&rig, 1);
  return rig;
}

/* Lane i of row r must get rows[r][0] + i · rows[r][1]. */
static void rows_are(const char *text, int n, const uint32_t rows[][2])
{
  struct qpu_rig rig = run_rows(text, NULL, NULL);
  for (uint32_t w = 0; w < (uint32_t)n * QPU_LANES; w++)
    assert_int_equal(rig.out[w], rows[w / QPU_LANES][0] + w % QPU_LANES * rows[w / QPU_LANES][1]);
  rig_close(&rig);
}

TEST(vectors_come_by_tmu_and_go_by_dma)
{
  rows_are(RIG_BEGIN "mov vpm, r0\nmov vpm, r1\nadd vpm, r0, r1\n" RIG_END(3), 3,
           (const uint32_t[][2]){{0, 1}, {100, 1}, {100, 2}});
}

/* sub.setf sets Z and N in different lanes. Every condition must then select its lanes, on both
 * ALUs. */
TEST(each_condition_picks_its_lanes)
{
  static const char *const conds[] = {"ifz", "ifnz", "ifn", "ifnn"};
  static const uint32_t a[16] = {0, 1, 2, 3, 5, 5, 0x80000000u, 7, 9, 0, 1, 2, 3, 4, 5, 6};
  static const uint32_t b[16] = {0, 2, 1, 3, 4, 6, 1, 0x90000000u, 9, 1, 0, 2, 4, 4, 4, 4};
  for (int cond = 0; cond < 4; cond++)
    for (int mul = 0; mul < 2; mul++) {
      char text[1024];
      snprintf(text, sizeof text,
               RIG_BEGIN "ldi r2, 7\nsub.setf -, r0, r1\n%s.%s r2, r0, r0\nmov vpm, r2\n" RIG_END(1),
               mul ? "v8min" : "or", conds[cond]);
      struct qpu_rig rig = run_rows(text, a, b);
      for (int i = 0; i < 16; i++) {
        uint32_t d = a[i] - b[i];
        int holds[4] = {d == 0, d != 0, d >> 31, !(d >> 31)};
        assert_int_equal(rig.out[i], holds[cond] ? a[i] : 7);
      }
      rig_close(&rig);
    }
}

TEST(flags_change_where_the_condition_holds_and_come_from_the_mul_alu_when_add_rests)
{
  static const char *const programs[] = {
      RIG_BEGIN
      "and.setf -, elem_num, 1\nsub.ifz.setf -, r0, 4\nmov r2, 0\nmov.ifz r2, 1\nmov vpm, r2\n" RIG_END(1),
      RIG_BEGIN "nop; v8subs.setf r2, r0, 3\nmov r3, 0\nmov.ifz r3, 1\nmov vpm, r3\n" RIG_END(1)};
  for (int p = 0; p < 2; p++) {
    struct qpu_rig rig = run_rows(programs[p], NULL, NULL);
    for (int i = 0; i < 16; i++) assert_int_equal(rig.out[i], p ? i <= 3 : i == 4);
    rig_close(&rig);
  }
}

/* {taken if no, some, all lanes have Z set} for each branch condition; for N it is the same. */
TEST(each_branch_condition_tests_all_lanes)
{
  static const uint32_t values[3][16] = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                         {1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                         {0}};
  static const int taken[4][3] = {
      {0, 0, 1}, {1, 0, 0}, {0, 1, 1}, {1, 1, 0}}; /* all set, all clear, any set, any clear */
  static const char *const names[4] = {"all", "alln", "any", "anyn"};
  for (int which = 0; which < 3; which++)
    for (int c = 0; c < 4; c++)
      for (int flag = 0; flag < 2; flag++) {
        char text[1024];
        const char *set = flag == 0 ? "nop" : "sub.setf -, r2, 1";
        snprintf(text, sizeof text,
                 RIG_BEGIN "mov.setf r2, r0\n%s\nmov r1, 0\nbrr.%s%c -, r:there\nnop\nnop\nnop\n"
                           "mov r1, 1\n:there mov vpm, r1\n" RIG_END(1),
                 set, names[c], "zn"[flag]);
        struct qpu_rig rig = run_rows(text, values[which], NULL);
        if (rig.out[0] != !taken[c][which]) fail_msg("%s%c with values %d", names[c], "zn"[flag], which);
        rig_close(&rig);
      }
}

TEST(branches_run_three_more_instructions_and_the_last_may_branch)
{
  rows_are(RIG_BEGIN "mov r2, 0\nbrr -, r:on\nadd r2, r2, 1\nadd r2, r2, 1\nadd r2, r2, 1\n"
                     "add r2, r2, 8\n:on mov vpm, r2\n" RIG_END(1),
           1, (const uint32_t[][2]){{3, 0}});
  rows_are(RIG_BEGIN "mov r2, 0\nbrr -, r:one\nnop\nnop\nbrr -, r:two\nadd r2, r2, 15\n"
                     ":one add r2, r2, 1\nadd r2, r2, 1\nadd r2, r2, 1\nadd r2, r2, 15\n"
                     ":two mov vpm, r2\n" RIG_END(1),
           1, (const uint32_t[][2]){{3, 0}});
}

TEST(vectors_rotate_fully_from_accumulators_and_in_quads_from_elsewhere)
{
  for (int n = 1; n < 16; n++) {
    char text[1024];
    snprintf(text, sizeof text,
             RIG_BEGIN "mov ra1, r0\nnop\nmov vpm, r0 >> %d\nmov vpm, ra1 >> %d\n" RIG_END(2), n, n);
    struct qpu_rig rig = rig_open_checked(NULL, text, 1);
    for (uint32_t i = 0; i < 16; i++) rig.in[i] = i;
    rig_run(&rig, 1);
    for (int i = 0; i < 16; i++) {
      assert_int_equal(rig.out[i], (i - n) & 15);
      assert_int_equal(rig.out[16 + i], (i & ~3) | ((i - n) & 3));
    }
    rig_close(&rig);
  }
}

TEST(r5_spreads_one_lane_or_each_quads_first)
{
  struct qpu_rig rig =
      run_rows(RIG_BEGIN "mov r5rep, r1\nmov vpm, r5\nmov r5quad, r1\nmov vpm, r5\n" RIG_END(2), NULL, NULL);
  for (uint32_t i = 0; i < 16; i++) {
    assert_int_equal(rig.out[i], 100);
    assert_int_equal(rig.out[16 + i], 100 + (i & ~3u));
  }
  rig_close(&rig);
}

TEST(loads_give_words)
{
  rows_are(RIG_BEGIN "ldi vpm, 0x12345678\nmov vpm, elem_num\nmov vpm, qpu_num\n" RIG_END(3), 3,
           (const uint32_t[][2]){{0x12345678, 0}, {0, 1}, {0, 0}});
}

TEST(uniforms_stream_and_their_address_can_be_set)
{
  struct qpu_rig rig = rig_open(
      NULL, "mov r0, unif\nmov ra31, unif\nldi vw_setup, 0x1a00\nmov vpm, unif\nadd vpm, unif, unif\n"
            "mov unif_addr, r0\nnop\nnop\nmov vpm, unif\n" RIG_END(3));
  rig.uniforms[2] = 22;
  rig.uniforms[3] = 33;
  rig.in[0] = 44;
  rig_run(&rig, 1);
  assert_int_equal(rig.out[5], 22);
  assert_int_equal(rig.out[16 + 5], 66); /* one read of the port gives both operands */
  assert_int_equal(rig.out[32 + 5], 44);
  assert_int_equal(qpu_emu_stats(rig.emu).uniforms, 5);
  rig_close(&rig);
}

TEST(both_tmus_keep_their_order)
{
  struct qpu_rig rig =
      run_rows(RIG_BEGIN
               "shl r2, elem_num, 2\nadd r2, r2, ra30\nldi r3, 64\nmov t0s, r2\nmov t1s, r2\nadd r2, r2, r3\n"
               "mov t0s, r2\nmov t1s, ra30\nnop; ldtmu1\nmov vpm, r4; ldtmu0\nmov vpm, r4; ldtmu0\n"
               "mov vpm, r4; ldtmu1\nmov vpm, r4\n" RIG_END(4),
               NULL, NULL);
  for (uint32_t i = 0; i < 16; i++) {
    assert_int_equal(rig.out[i], i);
    assert_int_equal(rig.out[16 + i], i);
    assert_int_equal(rig.out[32 + i], 100 + i);
    assert_int_equal(rig.out[48 + i], 0);
  }
  assert_int_equal(qpu_emu_stats(rig.emu).tmu_depth_used, 2);
  rig_close(&rig);
}

#define BARRIER_OF_12                                                                                        \
  "mov.setf -, ra0\nbrr.allnz -, r:other\nnop\nnop\nnop\n"                                                   \
  ".rep i, 11\nsacq -, 0\n.endr\n.rep i, 11\nsrel -, 1\n.endr\nbrr -, r:through\nnop\nnop\nnop\n"            \
  ":other srel -, 0\nsacq -, 1\n:through\n"

/* Each QPU writes a row, waits for all QPUs, and then stores the next QPU's row. */
TEST(twelve_qpus_meet_at_a_barrier)
{
  struct qpu_rig rig = rig_open(
      &twelve,
      "mov ra30, unif\nmov ra31, unif\nmov ra0, qpu_num\nldi r0, 0x1a00\nadd vw_setup, r0, ra0\n"
      "mul24 r1, ra0, ra0\nmov vpm, r1\n" BARRIER_OF_12
      "add r0, ra0, 1\nldi r2, 12\nsub.setf -, r0, r2\nmov.ifz r0, 0\nshl r0, r0, 7\nldi r1, 0x80904000\n"
      "add vw_setup, r0, r1\nldi r1, 64\nmul24 r0, r1, ra0\nmov r1, ra31\nadd vw_addr, r0, r1\nmov -, "
      "vw_wait\nthrend\nnop\nnop\n");
  rig_run(&rig, 12);
  for (uint32_t q = 0; q < 12; q++) assert_int_equal(rig.out[16 * q + 7], (q + 1) % 12 * ((q + 1) % 12));
  assert_true(qpu_emu_stats(rig.emu).stalls[QPU_STALL_SEMAPHORE] > 0);
  rig_close(&rig);
}

TEST(more_programs_than_qpus_take_cycles)
{
  struct qpu_emu_config config = {.n_qpus = 3, .memory_bytes = 1 << 20};
  struct qpu_rig rig = rig_open(&config, "mov -, unif\nmov irq, 1\nthrend\nnop\nnop\n");
  rig_run(&rig, 10);
  assert_int_equal(qpu_emu_stats(rig.emu).interrupts, 10);
  assert_int_equal(qpu_emu_stats(rig.emu).issued, 50);
  rig_close(&rig);
}

/* Without the mutex, some additions to one word would be lost. */
TEST(the_mutex_keeps_others_out)
{
  struct qpu_rig rig = rig_open(
      &twelve,
      "mov -, unif\nmov ra31, unif\nldi rb0, 20\nnop\n:loop\nmov -, mutex\nmov t0s, ra31\nnop; ldtmu0\n"
      "ldi vw_setup, 0x1a00\nadd vpm, r4, 1\nldi vw_setup, 0x80814000\nldi vw_setup, 0xc0000000\n"
      "mov vw_addr, ra31\nmov -, vw_wait\nmov mutex, 0\nmov r0, rb0\nsub.setf rb0, r0, 1\n"
      "brr.allnz -, r:loop\nnop\nnop\nnop\nthrend\nnop\nnop\n");
  rig_run(&rig, 12);
  assert_int_equal(rig.out[0], 240);
  assert_true(qpu_emu_stats(rig.emu).stalls[QPU_STALL_MUTEX] > 0);
  rig_close(&rig);
}

/* Two threads of one QPU: each has its own ra0, but r0 has the value that the other thread left. */
TEST(threads_switch_after_two_more_instructions)
{
  struct qpu_emu_config config = {.n_qpus = 1, .threads_per_qpu = 2, .memory_bytes = 1 << 20};
  struct qpu_job jobs[2];
  struct qpu_rig rig =
      rig_open(&config, "mov ra0, unif\nmov rb1, unif\nldi vw_setup, 0x1a00\nmov r0, ra0; thrsw\nnop\nnop\n"
                        "mov vpm, ra0\nmov vpm, r0\nnop; thrsw\nnop\nnop\n"
                        "ldi vw_setup, 0x82104000\nldi vw_setup, 0xc0000000\nmov vw_addr, rb1\nmov -, "
                        "vw_wait\nthrend\nnop\nnop\n");
  rig.uniforms[0] = 7;
  rig.uniforms[8] = 8;
  rig.uniforms[9] = rig.out_at;
  jobs[0] = (struct qpu_job){rig.code, rig.uniforms_at};
  jobs[1] = (struct qpu_job){rig.code, rig.uniforms_at + 32};
  assert_int_equal(qpu_emu_run(rig.emu, jobs, 2), STATUS_OK);
  assert_int_equal(rig.out[0], 7);
  assert_int_equal(rig.out[16], 8); /* the other thread's r0 */
  assert_int_equal(rig.out[32], 8);
  assert_int_equal(rig.out[48], 8);
  rig_close(&rig);
}

TEST(two_threads_have_half_the_registers_each)
{
  struct qpu_emu_config config = {.n_qpus = 1, .threads_per_qpu = 2, .memory_bytes = 1 << 20};
  struct qpu_rig rig = rig_open(&config, "mov ra16, 1\nthrend\nnop\nnop\n");
  rig_must_fail(&rig, 1, STATUS_FAULT, "ra0 to ra15");
  rig_close(&rig);
}

TEST(counts_are_of_instructions)
{
  struct qpu_rig rig = rig_open(NULL, "ldi r0, 10\n:loop fadd r1, r1, r2; fmul r2, r2, r3\nsub.setf r0, r0, "
                                      "1\nbrr.allnz -, r:loop\nfmul r3, r3, r3\nnop\nnop\n"
                                      "thrend\nnop\nnop\n");
  rig_run(&rig, 1);
  struct qpu_emu_stats stats = qpu_emu_stats(rig.emu);
  assert_int_equal(stats.issued, 1 + 10 * 6 + 3);
  assert_int_equal(stats.arithmetic, 20);
  assert_int_equal(stats.flops, 30 * 16);
  assert_int_equal(stats.branches_taken, 9);
  assert_int_equal(qpu_emu_issued_at(rig.emu, rig.code + 8), 10);
  assert_int_equal(qpu_emu_issued_at(rig.emu, rig.code), 1);
  rig_close(&rig);
}

/* Repeated runs must be equal, including cycles and counts. */
TEST(runs_repeat_exactly)
{
  struct qpu_rig rig = rig_open(&twelve, "mov ra0, qpu_num\nnop\n" BARRIER_OF_12
                                         "mov -, mutex\nnop\nmov mutex, 0\nthrend\nnop\nnop\n");
  rig_run(&rig, 12);
  struct qpu_emu_stats first = qpu_emu_stats(rig.emu);
  rig_run(&rig, 12);
  struct qpu_emu_stats second = qpu_emu_stats(rig.emu);
  assert_memory_equal(&first, &second, sizeof first);
  rig_close(&rig);
}

UNIT_MAIN(NULL, NULL)
