/* SPDX-License-Identifier: MIT */
/* Tests results that mem-gpu derives from its figures, and its report. */
#include "tests/unit/unit.h"

#include "base/meta.h"
#include "tools/memory/state.h"

TEST(pacing_pays_from_where_it_gains_with_every_more_streams)
{
  struct mem_copies copies = {.pacing = {{.width = 4, .streams = 1, .ratio = 1.2},
                                         {.width = 4, .streams = 2, .ratio = 0.99},
                                         {.width = 4, .streams = 4, .ratio = 1.02},
                                         {.width = 16, .streams = 1, .ratio = 0.8},
                                         {.width = 4, .streams = 8, .ratio = 1.5}},
                              .n_pacing = 5};
  assert_int_equal(mem_pacing_from(&copies, 4), 4);
  assert_int_equal(mem_pacing_from(&copies, 16), 0);
  copies.pacing[4].ratio = 1.005;
  assert_int_equal(mem_pacing_from(&copies, 4), 0);
}

/* A rate of 3 to 5 samples, in 1e9 per second, with this relative deviation. */
#define RATE(rate, deviation)                                                                                \
  {                                                                                                          \
    .n = 3, .min = (rate)*0.9e9, .median = (rate)*1e9, .max = (rate)*1.2e9, .mad = (rate) * (deviation)*1e9  \
  }

static const char report[] =
    "\n  verdict    PASS: 77 copies and sums compared with the expected values\n\n"
    "  device     GPU, GPU-1, 5.0 GiB of memory, last cache 50.0 MiB (backend cuda)\n"
    "  backend    the CPU (no GPU)\n\n"
    "  unpaced copies, GB/s read plus written; columns: arrays copied at once (streams)\n"
    "  4 bytes per access, cyclic assignment, 256 threads per block, 8 blocks per compute unit\n"
    "    bytes, all    1 stream   16 streams\n    1.0 MiB            10.1        12.3\n"
    "    3.0 MiB            14.5\n\n"
    "  paced copies (with barriers), GB/s read plus written; columns: arrays copied at once (streams)\n"
    "  4 bytes per access, cyclic assignment, 256 threads per block, 8 blocks per compute unit\n"
    "    bytes, all    1 stream \n    1.0 MiB            11.2\n    3.0 MiB    \n\n"
    "  unpaced copies, GB/s read plus written; columns: arrays copied at once (streams)\n"
    "  4096 bytes per access, cyclic assignment, 1 thread per block, 1 block per compute unit\n"
    "    bytes, all    2 streams\n    1.0 MiB            13.4\n    3.0 MiB    \n\n"
    "  pacing     of arrays larger than the caches, 4 bytes per access: faster from 1 stream on\n"
    "     1 stream   paced / unpaced 101.1%  (90.0 ... 120.0 over 3 sizes)\n"
    "     2 streams  paced / unpaced 102.0%  (80.0 ... 130.0 over 4 sizes)\n\n"
    "  pacing     of arrays larger than the caches: faster from 2 streams on\n"
    "     2 streams  paced / unpaced 103.0%  (100.0 ... 110.0 over 2 sizes)\n\n"
    "  pacing     of arrays larger than the caches, 16 bytes per access: never faster\n"
    "     1 stream   paced / unpaced  50.0%  (40.0 ... 60.0 over 2 sizes)\n\n"
    "  one array copied, GB/s; tuned: the fastest of this program's own;\n"
    "  share: tuned / the faster of the first two\n"
    "    bytes                cudaMemcpy BabelStream    tuned best of above   share tuned by\n"
    "    1.0 MiB                    25.0        20.0     40.0          13.4  160.0% words\n"
    "    3.0 MiB                    25.0        31.0     30.0          14.5   96.8% tiles\n\n"
    "  reading and writing several arrays of 1.0 MiB at once; median (min ... max)\n"
    "    reads only                            8.0 GB/s  (7.2 ... 9.6)  ████████████████████\n"
    "    writes only                           4.0 GB/s  (3.6 ... 4.8)  ██████████ noisy\n"
    "    13:1 reads to writes                  2.0 GB/s  (1.8 ... 2.4)  █████\n\n"
    "  latency of a load that waits for the one before, in random order; 2 strides, with 3, 5 sizes\n"
    "    L1            1.5 ns per load, up to 32.0 KiB (next level from 48.0 KiB on)\n"
    "    DRAM         90.0 ns per load\n"
    "    TLB 1         7.0 ns more per load beyond 2.0 MiB (all from 4.0 MiB on; one load per 4.0 KiB)\n"
    "\n  host memory, arrays of 1.0 MiB; TRIADD: c = a + b;\n"
    "  GB/s do not count the reads that ordinary stores cause\n"
    "    1 thread  COPY                       20.0 GB/s  (18.0 ... 24.0)  ████████████████████\n"
    "    2 threads TRIADD, non-temporal       10.0 GB/s  (9.0 ... 12.0)  ██████████\n\n"
    "  host memory, arrays of 3.0 MiB; TRIADD: c = a + b;\n"
    "  GB/s do not count the reads that ordinary stores cause\n"
    "    2 threads READ                        5.0 GB/s  (4.5 ... 6.0)  █████\n\n  ceilings\n"
    "    L1               64.0 GB/s reading 16.0 KiB\n    memory           16.0 GB/s reading 1.0 MiB\n"
    "    fp32             24.0 GFLOPS by the kernels; compute-bound above 1.5 flop/byte\n"
    "    bf16             99.0 GFLOPS by warpgroups; compute-bound above 6.2 flop/byte\n\n"
    "  flop/byte    GFLOPS\n       0.0625  fp32        1.0\n"
    "     512.0000  fp32        9.0  bf16       99.0\n\n"
    "  kernels from --kernels: flop per byte, GFLOPS, how the bytes were counted\n"
    "    stream L                             0.61       33.0  56 bytes per point\n";

static const char report_wrong[] =
    "\n  verdict    WRONG: 0 copies and sums compared with the expected values\n\n"
    "  device     GPU, GPU-1, 5.0 GiB of memory, last cache 50.0 MiB (backend cuda)\n";

TEST(a_report_has_every_figure_in_its_table)
{
  static struct mem_copy_point points[] = {
      {{.bytes = 1 << 20, .streams = 1, .width = 4, .threads = 256, .blocks = 8}, RATE(10.1, 0)},
      {{.bytes = 1 << 20, .streams = 1, .width = 4, .threads = 256, .blocks = 8, .paced = 1}, RATE(11.2, 0)},
      {{.bytes = 1 << 20, .streams = 16, .width = 4, .threads = 256, .blocks = 8}, RATE(12.3, 0)},
      {{.bytes = 1 << 20, .streams = 2, .width = 0, .threads = 1, .blocks = 1}, RATE(13.4, 0)},
      {{.bytes = 1 << 20, .streams = 1, .width = 8, .threads = 1, .blocks = 1}, RATE(55, 0)},
      {{.bytes = 1 << 20, .streams = 1, .width = 0, .assign = MEM_BLOCK}, RATE(66, 0)},
      {{.bytes = 3 << 20, .streams = 1, .width = 4, .threads = 256, .blocks = 8}, RATE(14.5, 0)}};
  static struct mem_curve curves[] = {{.n = 3}, {.n = 5}};
  static struct mem_host_point host[] = {{"COPY", 0, 1, 1 << 20, RATE(20, 0)},
                                         {"TRIADD", 1, 2, 1 << 20, RATE(10, 0)},
                                         {"READ", 0, 2, 3 << 20, RATE(5, 0)}};
  static struct gpu_device device = {
      .info = {.name = "GPU", .uuid = "GPU-1", .memory_bytes = 5ll << 30, .cache_bytes = 50 << 20}};
  static const struct mem_ops ops = {.backend = "cuda", .native = "cudaMemcpy"};
  static struct mem_run run = {
      .rig = {.device = &device, .ops = &ops, .checks = 77, .traits.copy_shapes = {2, {"tiles", "words"}}},
      .claim.reason = "no GPU",
      .copies = {.points = points,
                 .n = 7,
                 .rivals = {{1 << 20, {RATE(13.4, 0), RATE(40, 0), RATE(20, 0), RATE(25, 0)}, 1},
                            {3 << 20, {RATE(14.5, 0), RATE(30, 0), RATE(31, 0), RATE(25, 0)}, 0}},
                 .n_rivals = 2,
                 .pacing = {{4, 1, 1.011, 0.9, 1.2, 3},
                            {4, 2, 1.02, 0.8, 1.3, 4},
                            {0, 2, 1.03, 1, 1.1, 2},
                            {16, 1, 0.5, 0.4, 0.6, 2}},
                 .n_pacing = 4},
      .mixes = {{1, 0, 1 << 20, RATE(8, 0)}, {0, 1, 1 << 20, RATE(4, 0.02)}, {13, 1, 1 << 20, RATE(2, 0)}},
      .n_mixes = 3,
      .latency = {curves,
                  2,
                  {{LEVELS_CACHE, "L1", 1.5, 32 << 10, 48 << 10, 64},
                   {LEVELS_MEMORY, "DRAM", 90, 0, 0, 64},
                   {LEVELS_TLB, "TLB 1", 7, 2 << 20, 4 << 20, 4096}},
                  3},
      .host = host,
      .n_host = 3,
      .roofline = {.windows = {{"L1", 16 << 10, RATE(64, 0)}, {"memory", 1 << 20, RATE(16, 0)}},
                   .n_windows = 2,
                   .points = {{MEM_FP32, 0.0625, RATE(1, 0)},
                              {MEM_FP32, 512, RATE(9, 0)},
                              {MEM_BF16, 512, RATE(99, 0)}},
                   .n_points = 3,
                   .peaks = {{MEM_FP32, 24e9, "the kernels"}, {MEM_BF16, 99e9, "warpgroups"}},
                   .n_peaks = 2,
                   .placed = {{"stream L", MEM_FP32, 0.61, 33e9, 1, "56 bytes per point"}},
                   .n_placed = 1}};
  static const struct mem_run wrong = {.rig = {.device = &device, .ops = &ops}, .verdict = STATUS_WRONG};
  char head[64], text[8192];
  setenv("LC_ALL", "C.UTF-8", 1);
  snprintf(head, sizeof head, "mem-gpu %s\n", meta_version());
  for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
    FILE *out = fmemopen(text, sizeof text, "w");
    mem_report_text(is_wrong ? &wrong : &run, out);
    fclose(out);
    assert_memory_equal(text, head, strlen(head));
    assert_string_equal(text + strlen(head), is_wrong ? report_wrong : report);
  }
}

TEST(the_sum_of_a_word_for_a_matrix_unit_is_of_the_values_in_its_bits)
{
  const uint32_t word = 0x83ff8003;
  assert_true(mem_tensor_sum(MEM_FP16, word) == -(0.5 + 0x1.8p-10) - (1 - 0x1p-11));
  assert_true(mem_tensor_sum(MEM_BF16, word) == -(0.5 + 0x1.8p-7) - (1 - 0x1p-8));
  assert_true(mem_tensor_sum(MEM_TF32, word) == -(1 - 0x1p-9));
}

TEST(a_ring_visits_each_slot_once)
{
  static const struct mem_ring rings[] = {
      {0, 1, 64, 64}, {0, 2, 64, 64}, {8, 1000, 64, 64}, {64, 1024, 4096, 128}};
  static const uint64_t sums[] = {0, 0x7c0, 0xb9dd144cf0607e00, 0xae0f56a38ff0380};
  for (size_t r = 0; r < sizeof rings / sizeof *rings; r++) {
    char seen[1024] = {0};
    uint64_t sum = 0;
    for (uint64_t k = 0; k < rings[r].nodes; k++) {
      const uint64_t at = mem_ring_at(&rings[r], k) - rings[r].base, slot = at / rings[r].stride;
      assert_true(slot < rings[r].nodes && !seen[slot]++ && at % rings[r].line == 0);
      sum = 31 * sum + at;
    }
    assert_int_equal(sum, sums[r]);
  }
}

UNIT_MAIN(NULL, NULL)
