/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Every mode of VPM access and DMA against addresses worked out another way: as byte
 * positions in a row, or down a column. */
#include "tests/unit/qpu_rig.h"

#include "gpu/qpu/emulator/vpm.h"

static struct qpu_vpm vpm;

static void fill(uint64_t *seed)
{
  for (size_t i = 0; i < sizeof vpm.bytes; i++) vpm.bytes[i] = (uint8_t)qpu_random(seed);
}

/* Byte k of a row, or of a column of 16 rows and more: four bytes to a row. */
static size_t row_byte(int row, int k)
{
  return (size_t)(row * 64 + k);
}

static size_t column_byte(int row, int column, int k)
{
  return (size_t)((row + k / 4) * 64 + column * 4 + k % 4);
}

/* Where element `lane` of a vector begins, from the guide's address formats {Y, B}, {Y, H}, {Y, X,
 * B}, … */
static size_t expected_place(int size, int laned, int horizontal, int address, int lane)
{
  int sub_bits = 2 - size, width = 1 << size, sub = address & ((1 << sub_bits) - 1),
      rest = address >> sub_bits & 63;
  int k = laned || size == 2 ? 4 * lane + sub * width : (64 >> sub_bits) * sub + width * lane;
  return horizontal ? row_byte(rest, k) : column_byte(rest & 0x30, rest & 15, k);
}

static uint32_t element(const uint8_t *at, int width)
{
  uint32_t value = 0;
  memcpy(&value, at, (size_t)width); /* the tests' hosts are little-endian, as the part */
  return value;
}

static void every_vector_access_reads_its_elements(void **state)
{
  uint64_t seed = 1;
  (void)state;
  fill(&seed);
  for (int size = 0; size < 3; size++)
    for (int laned = 0; laned < 2; laned++)
      for (int horizontal = 0; horizontal < 2; horizontal++)
        for (int address = 0; address < 256; address++) {
          struct qpu_vpm_access access =
              qpu_vpm_access_of((uint32_t)(size << 8 | laned << 10 | horizontal << 11 | 1 << 12 | address));
          qpu_vec got;
          qpu_vpm_read(&vpm, &access, &got);
          for (int lane = 0; lane < QPU_LANES; lane++)
            assert_int_equal(
                got[lane],
                element(&vpm.bytes[expected_place(size, laned, horizontal, address, lane)], 1 << size));
        }
}

static void every_vector_access_writes_its_elements_and_no_more(void **state)
{
  uint64_t seed = 2;
  (void)state;
  for (int size = 0; size < 3; size++)
    for (int laned = 0; laned < 2; laned++)
      for (int horizontal = 0; horizontal < 2; horizontal++)
        for (int address = 0; address < 256; address += 1 + (int)(qpu_random(&seed) % 5)) {
          struct qpu_vpm_access access =
              qpu_vpm_access_of((uint32_t)(size << 8 | laned << 10 | horizontal << 11 | 1 << 12 | address));
          struct qpu_vpm expected;
          qpu_vec in;
          fill(&seed);
          expected = vpm;
          for (int lane = 0; lane < QPU_LANES; lane++) {
            in[lane] = (uint32_t)qpu_random(&seed);
            memcpy(&expected.bytes[expected_place(size, laned, horizontal, address, lane)],
                   &(uint32_t){in[lane]}, (size_t)1 << size);
          }
          qpu_vpm_write(&vpm, &access, &in);
          assert_memory_equal(&vpm, &expected, sizeof vpm);
        }
}

static void addresses_go_on_by_the_stride(void **state)
{
  (void)state;
  for (int stride = 0; stride < 64; stride++) {
    struct qpu_vpm_access access = qpu_vpm_access_of((uint32_t)(0x800 | stride << 12 | 250 | 3 << 20));
    qpu_vec got;
    assert_int_equal(access.left, 3);
    qpu_vpm_read(&vpm, &access, &got);
    assert_int_equal(access.address, (250 + (stride ? stride : 64)) % 256);
    assert_int_equal(access.left, 2);
  }
  assert_int_equal(qpu_vpm_access_of(0x1a00).left, 16);
}

static struct qpu_memory memory;
static uint32_t block;

static int open_memory(void **state)
{
  (void)state;
  return qpu_memory_create(&memory, 1 << 18, QPU_EMU_BASE) || qpu_memory_alloc(&memory, 1 << 17, &block);
}

static int close_memory(void **state)
{
  (void)state;
  qpu_memory_destroy(&memory);
  return 0;
}

struct load_case {
  int mode, mpitch, row_length, rows, vpitch, vertical, y, x, mpitchb;
};

/* Rows start at Y and at a quarter or half of the row for 8 and 16 bits; VPITCH counts such
 * parts. */
static int expect_load(const struct load_case *c, struct qpu_vpm *expected)
{
  int width = c->mode == 0 ? 4 : c->mode < 4 ? 2 : 1, parts = 4 / width, part = c->mode % parts;
  int pitch = c->mpitch ? 8 << c->mpitch : c->mpitchb;
  const uint8_t *from = qpu_memory_at(&memory, block);
  for (int r = 0; r < c->rows; r++) {
    int position = c->y * parts + part + r * c->vpitch;
    for (int i = 0; i < c->row_length * width; i++) {
      int k = position % parts * 16 * width + i;
      size_t to =
          c->vertical ? column_byte(position / parts, c->x, k) : row_byte(position / parts, c->x * 4 + k);
      if (to >= QPU_VPM_BYTES) return 0;
      expected->bytes[to] = from[r * pitch + i];
    }
  }
  return 1;
}

static void every_load_goes_where_it_is_set_up_to(void **state)
{
  uint64_t seed = 3;
  int right = 0, refused = 0;
  (void)state;
  uint8_t *bytes = qpu_memory_at(&memory, block);
  for (int i = 0; i < 1 << 17; i++) bytes[i] = (uint8_t)qpu_random(&seed);
  for (int round = 0; round < 20000; round++) {
    static const int modes[] = {0, 2, 3, 4, 5, 6, 7};
    struct load_case c = {modes[qpu_random(&seed) % 7],      (int)(qpu_random(&seed) % 9),
                          1 + (int)(qpu_random(&seed) % 16), 1 + (int)(qpu_random(&seed) % 16),
                          1 + (int)(qpu_random(&seed) % 16), (int)(qpu_random(&seed) % 2),
                          (int)(qpu_random(&seed) % 72),     (int)(qpu_random(&seed) % 16),
                          (int)(qpu_random(&seed) % 8192)};
    struct qpu_dma dma = {.address = block, .active_stride = 0x90000000u | (uint32_t)c.mpitchb};
    dma.active_setup = 1u << 31 | (uint32_t)c.mode << 28 | (uint32_t)c.mpitch << 24 |
                       (uint32_t)(c.row_length & 15) << 20 | (uint32_t)(c.rows & 15) << 16 |
                       (uint32_t)(c.vpitch & 15) << 12 | (uint32_t)c.vertical << 11 | (uint32_t)c.y << 4 |
                       (uint32_t)c.x;
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
  int mode, depth, units, horizontal, y, x, stride, packed;
};

static int expect_store(const struct store_case *c, uint8_t *to)
{
  int width = c->mode == 0 ? 4 : c->mode < 4 ? 2 : 1, offset = c->mode % (4 / width) * width;
  for (int r = 0; r < c->units; r++)
    for (int i = 0; i < c->depth * width; i++) {
      int k = offset + i, step = r; /* BLOCKMODE makes no difference */
      if (!c->horizontal && c->x + step > 15) return 0;
      size_t from = c->horizontal ? row_byte(c->y + step, c->x * 4 + k) : column_byte(c->y, c->x + step, k);
      if (from >= QPU_VPM_BYTES) return 0;
      to[r * (c->depth * width + c->stride) + i] = vpm.bytes[from];
    }
  return 1;
}

static void every_store_comes_from_where_it_is_set_up_to(void **state)
{
  static uint8_t expected[1 << 17];
  uint64_t seed = 4;
  int right = 0, refused = 0;
  (void)state;
  for (int round = 0; round < 4000; round++) {
    static const int modes[] = {0, 2, 3, 4, 5, 6, 7};
    struct store_case c = {modes[qpu_random(&seed) % 7],
                           1 + (int)(qpu_random(&seed) % (round % 4 ? 16 : 128)),
                           1 + (int)(qpu_random(&seed) % (round % 3 ? 16 : 128)),
                           (int)(qpu_random(&seed) % 2),
                           (int)(qpu_random(&seed) % 66),
                           (int)(qpu_random(&seed) % 16),
                           (int)(qpu_random(&seed) % 500),
                           (int)(qpu_random(&seed) % 2)};
    struct qpu_dma dma = {.address = block,
                          .active_stride = 0xc0000000u | (uint32_t)c.packed << 16 | (uint32_t)c.stride};
    dma.active_setup = 0x80000000u | (uint32_t)(c.units & 127) << 23 | (uint32_t)(c.depth & 127) << 16 |
                       (uint32_t)c.horizontal << 14 | (uint32_t)c.y << 7 | (uint32_t)c.x << 3 |
                       (uint32_t)c.mode;
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

static void transfers_stay_in_their_allocation(void **state)
{
  struct qpu_dma load = {.active_setup = 0x80000000u | 3 << 24 | 1 << 16 | 1 << 12,
                         .address = block + (1 << 17) - 64};
  struct qpu_dma store = {.active_setup = 0x80000000u | 1 << 23 | 16 << 16 | 1 << 14,
                          .address = block + (1 << 17) - 64};
  (void)state;
  assert_null(qpu_dma_load(&load, &memory, &vpm));
  assert_null(qpu_dma_store(&store, &memory, &vpm));
  load.address += 4;
  store.address += 4;
  assert_non_null(strstr(qpu_dma_load(&load, &memory, &vpm), "outside"));
  assert_non_null(strstr(qpu_dma_store(&store, &memory, &vpm), "outside"));
  load.address = store.address = 0xffffffe0u;
  assert_non_null(strstr(qpu_dma_load(&load, &memory, &vpm), "outside"));
  assert_non_null(strstr(qpu_dma_store(&store, &memory, &vpm), "outside"));
  store.active_setup |= 1;
  assert_non_null(strstr(qpu_dma_store(&store, &memory, &vpm), "mode 1"));
}

/* Rows in, columns out: a transposition, as the SGEMM kernels make it. */
static void programs_reach_all_of_it(void **state)
{
  (void)state;
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

/* A second read can be set up while one vector of the first is left. */
static void reads_set_up_ahead_follow_each_other(void **state)
{
  (void)state;
  struct qpu_rig rig =
      rig_open(NULL, "mov ra30, unif\nmov ra31, unif\nldi vw_setup, 0x1a00\nmov vpm, 5\nmov vpm, 6\n"
                     "ldi vr_setup, 0x101a00\nldi vr_setup, 0x101a01\nnop\nmov r0, vpm\nmov r1, vpm\n"
                     "ldi vw_setup, 0x1a00\nmov vpm, r1\nmov vpm, r0\n" RIG_END(2));
  rig_run(&rig, 1);
  assert_int_equal(rig.out[0], 6);
  assert_int_equal(rig.out[16], 5);
  rig_close(&rig);
}

/* What is read without waiting is what the VPM held before. */
static void a_load_is_not_there_before_it_is_waited_for(void **state)
{
  (void)state;
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_vector_access_reads_its_elements),
      cmocka_unit_test(every_vector_access_writes_its_elements_and_no_more),
      cmocka_unit_test(addresses_go_on_by_the_stride),
      cmocka_unit_test(every_load_goes_where_it_is_set_up_to),
      cmocka_unit_test(every_store_comes_from_where_it_is_set_up_to),
      cmocka_unit_test(transfers_stay_in_their_allocation),
      cmocka_unit_test(programs_reach_all_of_it),
      cmocka_unit_test(reads_set_up_ahead_follow_each_other),
      cmocka_unit_test(a_load_is_not_there_before_it_is_waited_for),
  };
  return cmocka_run_group_tests_name("qpu vpm and dma", tests, open_memory, close_memory);
}
