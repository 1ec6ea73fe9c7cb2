/* SPDX-License-Identifier: MIT */
/** \file \brief Compares every mode of VPM access and DMA with addresses that are computed
 * separately: as byte positions in a row, or down a column. */
#include "tests/unit/qpu_rig.h"

#include "gpu/qpu/emulator/vpm.h"

static struct qpu_vpm vpm;

static void fill(uint64_t *seed)
{
  for (int i = 0; i < QPU_VPM_ROWS * QPU_LANES; i++)
    vpm.words[i / QPU_LANES][i % QPU_LANES] = (uint32_t)qpu_random(seed);
}

/* Returns word k of a row, or of a column. */
static int row_word(int row, int k)
{
  return row * 16 + k;
}

static int column_word(int row, int column, int k)
{
  return (row + k) * 16 + column;
}

static int expected_place(int horizontal, int address, int lane)
{
  return horizontal ? row_word(address, lane) : column_word(address & 0x30, address & 15, lane);
}

static uint32_t *word(struct qpu_vpm *of, int k)
{
  return &of->words[k / 16][k % 16];
}

TEST(every_vector_access_reads_and_writes_its_elements_and_no_more)
{
  uint64_t seed = 2;
  for (int horizontal = 0; horizontal < 2; horizontal++)
    for (int address = 0; address < 64; address++) {
      const uint32_t setup = (uint32_t)(0x200 | horizontal << 11 | 1 << 12 | address);
      struct qpu_vpm_access read = qpu_vpm_access_of(setup), write = read;
      struct qpu_vpm expected;
      qpu_vec in, got;
      fill(&seed);
      expected = vpm;
      qpu_vpm_read(&vpm, &read, &got);
      for (int lane = 0; lane < QPU_LANES; lane++) {
        uint32_t *place = word(&expected, expected_place(horizontal, address, lane));
        assert_int_equal(got[lane], *place);
        *place = in[lane] = (uint32_t)qpu_random(&seed);
      }
      qpu_vpm_write(&vpm, &write, &in);
      assert_memory_equal(&vpm, &expected, sizeof vpm);
    }
}

TEST(addresses_go_on_by_the_stride)
{
  for (int stride = 0; stride < 64; stride++) {
    struct qpu_vpm_access access = qpu_vpm_access_of((uint32_t)(0xa00 | stride << 12 | 50 | 3 << 20));
    qpu_vec got;
    assert_int_equal(access.left, 3);
    qpu_vpm_read(&vpm, &access, &got);
    assert_int_equal(access.address, (50 + stride) % 64);
    assert_int_equal(access.left, 2);
  }
  assert_int_equal(qpu_vpm_access_of(0x1a00).left, 16);
}

static struct qpu_memory memory;
static uint32_t block;

static int open_memory(void **state)
{
  return qpu_memory_create(&memory, 1 << 18, QPU_EMU_BASE) || qpu_memory_alloc(&memory, 1 << 17, &block);
}

static int close_memory(void **state)
{
  qpu_memory_destroy(&memory);
  return 0;
}

struct load_case {
  int mpitch, row_length, rows, vpitch, vertical, y, x, mpitchb;
};

static int expect_load(const struct load_case *c, struct qpu_vpm *expected)
{
  int pitch = c->mpitch ? 8 << c->mpitch : c->mpitchb;
  const uint8_t *from = qpu_memory_at(&memory, block);
  for (int r = 0; r < c->rows; r++)
    for (int i = 0; i < c->row_length; i++) {
      int row = c->y + r * c->vpitch, to = c->vertical ? column_word(row, c->x, i) : row_word(row, c->x + i);
      if (to >= 16 * QPU_VPM_ROWS) return 0;
      memcpy(word(expected, to), from + r * pitch + 4 * i, 4);
    }
  return 1;
}

TEST(every_load_goes_where_it_is_set_up_to)
{
  uint64_t seed = 3;
  int right = 0, refused = 0;
  uint8_t *bytes = qpu_memory_at(&memory, block);
  for (int i = 0; i < 1 << 17; i++) bytes[i] = (uint8_t)qpu_random(&seed);
  for (int round = 0; round < 20000; round++) {
    struct load_case c = {(int)(qpu_random(&seed) % 9),      1 + (int)(qpu_random(&seed) % 16),
                          1 + (int)(qpu_random(&seed) % 16), 1 + (int)(qpu_random(&seed) % 16),
                          (int)(qpu_random(&seed) % 2),      (int)(qpu_random(&seed) % 72),
                          (int)(qpu_random(&seed) % 16),     (int)(qpu_random(&seed) % 8192)};
    struct qpu_dma dma = {.address = block, .active_stride = 0x90000000u | (uint32_t)c.mpitchb};
    dma.active_setup = 1u << 31 | (uint32_t)c.mpitch << 24 | (uint32_t)(c.row_length & 15) << 20 |
                       (uint32_t)(c.rows & 15) << 16 | (uint32_t)(c.vpitch & 15) << 12 |
                       (uint32_t)c.vertical << 11 | (uint32_t)c.y << 4 | (uint32_t)c.x;
    assert_int_equal(qpu_dma_rows(dma.active_setup, 0), c.rows);
    struct qpu_vpm expected;
    fill(&seed);
    expected = vpm;
    int fits = expect_load(&c, &expected);
    const char *error = qpu_dma_load(&dma, &memory, &vpm);
    assert_int_equal(error == NULL, fits);
    if (fits)
      assert_memory_equal(&vpm, &expected, sizeof vpm);
    else
      assert_non_null(strstr(error, "64 rows"));
    right += fits;
    refused += !fits;
  }
  assert_true(right > 5000 && refused > 100);
}

struct store_case {
  int depth, units, horizontal, y, x, stride, packed;
};

static int expect_store(const struct store_case *c, uint8_t *to)
{
  for (int r = 0; r < c->units; r++)
    for (int i = 0; i < c->depth; i++) {
      if (!c->horizontal && c->x + r > 15) return 0; /* BLOCKMODE makes no difference */
      int from = c->horizontal ? row_word(c->y + r, c->x + i) : column_word(c->y, c->x + r, i);
      if (from >= 16 * QPU_VPM_ROWS) return 0;
      memcpy(to + r * (c->depth * 4 + c->stride) + 4 * i, word(&vpm, from), 4);
    }
  return 1;
}

TEST(every_store_comes_from_where_it_is_set_up_to)
{
  static uint8_t expected[1 << 17];
  uint64_t seed = 4;
  int right = 0, refused = 0;
  for (int round = 0; round < 4000; round++) {
    struct store_case c = {1 + (int)(qpu_random(&seed) % (round % 4 ? 16 : 128)),
                           1 + (int)(qpu_random(&seed) % (round % 3 ? 16 : 128)),
                           (int)(qpu_random(&seed) % 2),
                           (int)(qpu_random(&seed) % 66),
                           (int)(qpu_random(&seed) % 16),
                           (int)(qpu_random(&seed) % 500),
                           (int)(qpu_random(&seed) % 2)};
    struct qpu_dma dma = {.address = block,
                          .active_stride = 0xc0000000u | (uint32_t)c.packed << 16 | (uint32_t)c.stride};
    dma.active_setup = 0x80000000u | (uint32_t)(c.units & 127) << 23 | (uint32_t)(c.depth & 127) << 16 |
                       (uint32_t)c.horizontal << 14 | (uint32_t)c.y << 7 | (uint32_t)c.x << 3;
    assert_int_equal(qpu_dma_rows(dma.active_setup, 1), c.units);
    fill(&seed);
    uint8_t *bytes = qpu_memory_at(&memory, block);
    memset(bytes, 0x5a, 1 << 17);
    memset(expected, 0x5a, sizeof expected);
    int fits = expect_store(&c, expected);
    const char *error = qpu_dma_store(&dma, &memory, &vpm);
    assert_int_equal(error == NULL, fits);
    if (fits) assert_memory_equal(bytes, expected, sizeof expected);
    right += fits;
    refused += !fits;
  }
  assert_true(right > 500 && refused > 100);
}

static void neither_moves(struct qpu_dma *load, struct qpu_dma *store, const char *why)
{
  assert_non_null(strstr(qpu_dma_load(load, &memory, &vpm), why));
  assert_non_null(strstr(qpu_dma_store(store, &memory, &vpm), why));
}

TEST(transfers_stay_in_their_allocation)
{
  struct qpu_dma load = {.active_setup = 0x80000000u | 3 << 24 | 1 << 16 | 1 << 12,
                         .address = block + (1 << 17) - 64};
  struct qpu_dma store = {.active_setup = 0x80000000u | 1 << 23 | 16 << 16 | 1 << 14,
                          .address = block + (1 << 17) - 64};
  assert_null(qpu_dma_load(&load, &memory, &vpm));
  assert_null(qpu_dma_store(&store, &memory, &vpm));
  load.address += 4;
  store.address += 4;
  neither_moves(&load, &store, "outside");
  load.address = store.address = 0xffffffe0u;
  neither_moves(&load, &store, "outside");
  store.active_setup |= 2;
  load.active_setup |= 2u << 28;
  neither_moves(&load, &store, "not emulated");
}

/* Rows are written and columns read, which transposes, as the SGEMM kernels do. */
TEST(programs_reach_all_of_it)
{
  struct qpu_rig rig = rig_open(
      NULL, "mov ra30, unif\nmov ra31, unif\nldi vr_setup, 0x83001000\nmov vr_addr, ra30\nmov -, vr_wait\n"
            "ldi vr_setup, 0x1200\nldi vw_setup, 0x1a10\n.rep i, 16\nmov vpm, vpm\n.endr\n"
            "ldi vw_setup, 0x80000000 | 16 << 23 | 16 << 16 | 1 << 14 | 16 << 7\nldi vw_setup, 0xc0000000\n"
            "mov vw_addr, ra31\nmov -, vw_wait\nthrend\nnop\nnop\n");
  for (uint32_t i = 0; i < 256; i++) rig.in[i] = i;
  rig_run(&rig, 1);
  for (uint32_t r = 0; r < 16; r++)
    for (uint32_t c = 0; c < 16; c++) assert_int_equal(rig.out[16 * r + c], 16 * c + r);
  struct qpu_emu_stats stats = qpu_emu_stats(rig.emu);
  assert_true(stats.vpm_reads == 16 && stats.vpm_writes == 16 && stats.dma_loads == 1 &&
              stats.dma_stores == 1);
  assert_true(stats.stalls[QPU_STALL_DMA_LOAD] > 0 && stats.stalls[QPU_STALL_DMA_STORE] > 0);
  rig_close(&rig);
}

/* Transfers by either ALU wait for the previous one of their direction, and the end for all. */
TEST(transfers_wait_for_each_other)
{
  static const char *const moves[] = {"vr_addr, ra30", "vw_addr, rb31", "vr_addr, rb31", "vw_addr, ra30"};
  for (int n = 0; n < 4; n++) {
    char text[256];
    snprintf(text, sizeof text,
             "mov ra30, unif\nmov rb31, unif\nldi vr_setup, 0x83001000\nldi vw_setup, 0x88104000\n"
             "mov %s\n%smov %s\nthrend\nnop\nnop\n",
             moves[n % 2], n > 1 ? "nop; " : "", moves[n % 2 + 2]);
    struct qpu_rig rig = rig_open(NULL, text);
    rig.in[0] = rig.out[0] = 7;
    rig_run(&rig, 1);
    assert_true(qpu_emu_stats(rig.emu).stalls[n % 2 ? QPU_STALL_DMA_STORE : QPU_STALL_DMA_LOAD] > 0);
    assert_int_equal(rig.in[0] + rig.out[0], n % 2 == 1 ? 0 : 14);
    rig_close(&rig);
  }
}

/* A second read may be set up while one vector of the first one is left. */
TEST(reads_set_up_ahead_follow_each_other)
{
  struct qpu_rig rig =
      rig_open(NULL, "mov ra30, unif\nmov ra31, unif\nldi vw_setup, 0x1a00\nmov vpm, 5\nmov vpm, 6\n"
                     "ldi vr_setup, 0x101a00\nldi vr_setup, 0x101a01\nnop\nmov r0, vpm\nmov r1, vpm\n"
                     "ldi vw_setup, 0x1a00\nmov vpm, r1\nmov vpm, r0\n" RIG_END(2));
  rig_run(&rig, 1);
  assert_int_equal(rig.out[0], 6);
  assert_int_equal(rig.out[16], 5);
  rig_close(&rig);
}

/* A read without a wait must return the VPM's previous content. */
TEST(a_load_is_not_there_before_it_is_waited_for)
{
  struct qpu_rig rig = rig_open(NULL, "mov ra30, unif\nmov ra31, unif\nldi vr_setup, 0x83011000\nmov "
                                      "vr_addr, ra30\nldi vr_setup, 0x101a00\nnop\n"
                                      "mov r0, vpm\nmov -, vr_wait\nldi vr_setup, 0x101a00\nnop\nmov r1, "
                                      "vpm\nldi vw_setup, 0x1a00\nmov vpm, r0\nmov vpm, r1\n" RIG_END(2));
  rig.in[3] = 77;
  rig_run(&rig, 1);
  assert_int_equal(rig.out[3], 0);
  assert_int_equal(rig.out[19], 77);
  rig_close(&rig);
}

UNIT_MAIN(open_memory, close_memory)
