/* SPDX-License-Identifier: MIT */
/* Bits are flipped in device memory, below the code that detects them. Each flip that is still
 * there at the next check must be reported with its place. FLIP_TABLE=1 prints the rates by array,
 * bit and interval, as in doc/lab/acceptance-power.md. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/hash.h"
#include "himeno/soak/soak.h"
#include "himeno/report/report.h"
#include "himeno/solver/flip.h"
#include "himeno/solver/state.h"
#include "himeno/verify/verify.h"
#include "tests/unit/capture.h"

#define TRIALS 300
#define PASSES 12

static const int64_t extents[3] = {12, 13, 37};

struct rig {
  struct gpu_device *device;
  struct solver *solver;
  struct soak_known known;
};

static int rig_open(void **state)
{
  static struct rig rig;
  setenv("OMP_NUM_THREADS", "1", 0);
  struct solver_config config = {.comm = MPI_COMM_SELF,
                                 .kernel = himeno_kernel_find(himeno_kernels_find("cpu"), "stream"),
                                 .transport = &halo_transport_staged,
                                 .procs = {1, 1, 1},
                                 .max_sweeps = 1,
                                 .faults = flip_faults};
  memcpy(config.global, extents, sizeof extents);
  if (gpu_open(&gpu_backend_cpu, 0, &rig.device) != STATUS_OK) return -1;
  config.device = rig.device;
  if (solver_open(&config, &rig.solver) != STATUS_OK) return -1;
  if (soak_known_open(&config, PASSES, &rig.known) != STATUS_OK) return -1;
  *state = &rig;
  return 0;
}

static int rig_close(void **state)
{
  struct rig *rig = *state;
  soak_known_close(&rig->known);
  solver_close(rig->solver);
  gpu_close(rig->device);
  return 0;
}

static struct soak_block block_of(struct rig *rig, enum himeno_data data, int every)
{
  struct soak_block block;
  assert_int_equal(soak_block_run(rig->solver, &rig->known, MPI_COMM_SELF, data, every, &block), STATUS_OK);
  return block;
}

/* Sweeps since the solver was opened, from which a flip's sweep counts. */
static int64_t swept;

static uint64_t random_below(uint64_t *state, uint64_t n)
{
  *state += 0x9e3779b97f4a7c15u;
  return hash_mix(*state) % n;
}

static struct flip random_flip(uint64_t *random)
{
  struct flip flip = {
      .array = (int)random_below(random, SOLVER_ARRAYS), .rank = -1, .bit = (int)random_below(random, 32)};
  for (int d = 0; d < 3; d++) flip.point[d] = (int64_t)random_below(random, (uint64_t)extents[d]);
  flip.sweep = 1 + (int64_t)random_below(random, PASSES);
  return flip;
}

static int is_inside(const int64_t point[3])
{
  for (int d = 0; d < 3; d++)
    if (point[d] == 0 || point[d] == extents[d] - 1) return 0;
  return 1;
}

/* Returns 1 if the next sweep overwrites the flip: in inner rows of the older field. */
static int is_overwritten(const struct flip *flip)
{
  const int64_t row[3] = {flip->point[0], flip->point[1], 1};
  return flip->array == SOLVER_OLDER && is_inside(row);
}

/* Runs one block, with the fault planted before sweep flip->sweep. */
static struct soak_block trial(struct rig *rig, struct flip flip, enum himeno_data data, int every)
{
  flip.sweep += swept;
  flip_plan(&flip, 1);
  struct soak_block block = block_of(rig, data, every);
  flip_plan(NULL, 0);
  swept += block.sweeps + (block.wrong ? block.sweep : 0); /* run again */
  return block;
}

static const struct soak_corruption *corruption_of(const struct soak_block *block, int array)
{
  for (int c = 0; c < block->n; c++)
    if (block->corruption[c].array == array) return &block->corruption[c];
  return NULL;
}

/* Returns which array has the flip after the next sweep: newest and older field are exchanged. */
static int array_after(int array)
{
  if (array == SOLVER_NEWEST) return SOLVER_OLDER;
  return array == SOLVER_OLDER ? SOLVER_NEWEST : array;
}

TEST(clean_blocks_are_right)
{
  struct rig *rig = *state;
  struct verify_value value = {.source = VERIFY_KNOWN};
  struct solver_grid *grid = solver_grid(rig->solver);
  uint64_t sum;
  assert_int_equal(verify_coefficients(grid, MPI_COMM_SELF, &value, &sum), STATUS_WRONG);
  value.coefficients = sum;
  assert_int_equal(verify_coefficients(grid, MPI_COMM_SELF, &value, &sum), STATUS_OK);
  for (int n = 0; n < 4; n++) {
    struct soak_block block = block_of(rig, (enum himeno_data)(n % 2), 1 + n);
    assert_false(block.wrong);
    assert_int_equal(block.sweeps, PASSES);
    assert_int_equal(block.n, 0);
    swept += block.sweeps;
  }
}

TEST(every_flip_still_in_memory_is_reported_with_its_place)
{
  struct rig *rig = *state;
  uint64_t random = 2009;
  int overwritten = 0;
  for (int n = 0; n < TRIALS; n++) {
    struct flip flip = random_flip(&random);
    struct soak_block block = trial(rig, flip, (enum himeno_data)(n % 2), 1);
    if (is_overwritten(&flip)) {
      assert_false(block.wrong);
      overwritten++;
      continue;
    }
    const struct soak_corruption *c = corruption_of(&block, array_after(flip.array));
    assert_true(block.wrong);
    assert_int_equal(block.sweep <= PASSES && block.sweep >= flip.sweep, 1);
    assert_int_equal(block.first, 0); /* planted once, so it does not repeat */
    assert_non_null(c);
    assert_int_equal(c->points, 1);
    assert_memory_equal(c->first, flip.point, sizeof c->first);
    assert_int_equal(c->is ^ c->must_be, (uint32_t)1 << flip.bit);
    if (flip.array >= SOLVER_NEWEST) assert_int_equal(block.sweep, flip.sweep);
  }
  assert_in_range(overwritten, TRIALS / 40, TRIALS / 14);
}

/* ---- rates ---- */

enum { GROUP_COEFFICIENT, GROUP_NEWEST, GROUP_EDGE, GROUPS };
enum { BITS_LOW, BITS_HIGH, BITS_EXPONENT, BITS_SIGN, BIT_CLASSES };
static const int intervals[] = {1, 4, 12};
#define INTERVALS 3

static int group_of(const struct flip *flip)
{
  if (flip->array < HIMENO_COEFFICIENTS) return GROUP_COEFFICIENT;
  return is_inside(flip->point) ? GROUP_NEWEST : GROUP_EDGE;
}

static int bits_of(int bit)
{
  return bit < 12 ? BITS_LOW : bit < 23 ? BITS_HIGH : bit < 31 ? BITS_EXPONENT : BITS_SIGN;
}

static void table_print(int seen[GROUPS][BIT_CLASSES][INTERVALS], int n[GROUPS][BIT_CLASSES][INTERVALS])
{
  static const char *const groups[] = {"a coefficient", "p, inside", "p or older p, edge"};
  static const char *const bits[] = {"0-11", "12-22", "23-30", "31"};
  for (int g = 0; g < GROUPS; g++)
    for (int b = 0; b < BIT_CLASSES; b++) {
      printf("| %s | %s |", groups[g], bits[b]);
      for (int i = 0; i < INTERVALS; i++) printf(" %d of %d |", seen[g][b][i], n[g][b][i]);
      printf("\n");
    }
}

/* Between rare checks, a flip in the field can vanish by rounding. Coefficients are never written,
 * so a flip in them stays. */
TEST(rarer_checks_miss_only_what_has_faded_from_the_field)
{
  struct rig *rig = *state;
  static int seen[GROUPS][BIT_CLASSES][INTERVALS], n[GROUPS][BIT_CLASSES][INTERVALS];
  int trials = getenv("FLIP_TABLE") ? 4000 : TRIALS / 4;
  for (int i = 0; i < INTERVALS; i++) {
    uint64_t random = 2022;
    for (int t = 0; t < trials; t++) {
      struct flip flip = random_flip(&random);
      if (is_overwritten(&flip)) continue;
      int g = group_of(&flip), b = bits_of(flip.bit),
          wrong = trial(rig, flip, (enum himeno_data)(t % 2), intervals[i]).wrong;
      n[g][b][i]++;
      seen[g][b][i] += wrong;
      if (g != GROUP_NEWEST) assert_true(wrong);
    }
  }
  for (int b = 0; b < BIT_CLASSES; b++) assert_int_equal(seen[GROUP_NEWEST][b][0], n[GROUP_NEWEST][b][0]);
  if (getenv("FLIP_TABLE")) table_print(seen, n);
}

TEST(the_last_sweep_is_checked_where_the_block_is_no_multiple)
{
  const struct flip flip = {.array = SOLVER_NEWEST, .point = {5, 6, 7}, .bit = 22, .sweep = PASSES};
  for (int every = 5; every <= PASSES + 1; every += 4) {
    struct soak_block block = trial(*state, flip, HIMENO_DENSE, every);
    assert_true(block.wrong && block.sweep == PASSES);
  }
}

/* Two flips of the same bit cancel. */
TEST(a_block_stops_where_faults_are_due_in_order)
{
  struct solver_grid *grid = solver_grid(((const struct rig *)*state)->solver);
  const int64_t swept = grid->swept;
  int stop = 10;
  flip_plan((struct flip[]){{.rank = -1, .sweep = swept + 9},
                            {.rank = -1, .sweep = swept + 5},
                            {.rank = -1, .sweep = swept + 7}},
            3);
  assert_true(flip_any() && flip_faults(grid, 0, 10, &stop) == STATUS_OK && stop == 4);
  stop = 10;
  assert_true(flip_faults(grid, 4, 10, &stop) == STATUS_OK && stop == 6);
  stop = 8;
  assert_true(flip_faults(grid, 6, 8, &stop) == STATUS_OK && stop == 8);
  flip_plan(NULL, 0);
  assert_false(flip_any());
}

/* A fake repeat(): multiprocessor 3 differs at two points, 5 at one, an unknown one everywhere. */
static struct box played_box;
static int played_times;

static status_t repeat_played(struct himeno_exec *exec, struct gpu_queue *queue,
                              const struct himeno_fields *fields, int source, const struct box *box,
                              int times, const struct himeno_stuck *stuck, float *values, int *processors)
{
  static const int numbers[] = {5, 0, 0, 0, 0, -1, 0, 3};
  (void)exec, (void)queue, (void)fields, (void)source, (void)stuck;
  played_box = *box;
  played_times = times;
  for (int t = 0; t < times; t++, values += box_points(box)) {
    const int number = processors[t] = numbers[t % 8];
    for (int64_t n = 0; n < box_points(box); n++)
      values[n] = (float)(number < 0 || n == 36 * number || (number == 3 && n == 110) ? -n : n);
  }
  return STATUS_OK;
}

TEST(a_multiprocessor_that_differs_from_most_is_reported)
{
  struct solver_grid *grid = solver_grid(((const struct rig *)*state)->solver);
  const struct himeno_kernel_set *own = grid->set;
  struct himeno_kernel_set set = *own;
  set.repeat = repeat_played;
  grid->set = &set;
  struct soak_block block = block_of(*state, HIMENO_DENSE, 1);
  grid->set = own;
  const struct soak_corruption *c = block.corruption;
  assert_true(block.wrong && block.first == PASSES && block.n == 1);
  assert_true(c->array == SOLVER_ARRAYS && c->processor == 3 && c->points == played_times / 4);
  for (int d = 0; d < 3; d++) assert_int_equal(box_extent(&played_box, d), d ? extents[d] - 2 : 1);
  const int64_t *lo = played_box.lo, first[3] = {lo[0], lo[1] + 3, lo[2] + 3};
  assert_memory_equal(c->first, first, sizeof first);
  assert_memory_equal(&c->is, &(float){-108}, sizeof(float));
  assert_memory_equal(&c->must_be, &(float){108}, sizeof(float));
}

TEST(a_planted_fault_is_read_from_text)
{
  static const char invalid[] =
      "p@-1 0,0,0 3 1\0p@ 0,0,0 3 1\0p@1x 0,0,0 3 1\0a4 0,0,0 1 1\0p 0,0,0 32 1\0p 0,0 3 1\0"
      "p 0,0,0 3 1 1\0p 0,-1,0 3 1\0p 0,0,0 -1 1\0p 0,0,0 3 0\0p 0,0,0 3\0p\0"
      "3p 0,0,0 3 1\0p@1/ 0,0,0 3 1\0p 0,0,0 3 1x\0p@1 @2 0,0 3 1\0\0-1 p 0,0,0 3 1";
  struct flip flip;
  assert_true(flip_parse("a3 10,20,30 5 17", &flip));
  assert_true(flip.array == HIMENO_A3 && flip.point[1] == 20 && flip.bit == 5 && flip.sweep == 17);
  assert_true(flip_parse("older-p 0,0,0 31 1", &flip) && flip.array == SOLVER_OLDER);
  assert_true(flip.rank == -1);
  assert_true(flip_parse("p@12 1,2,3 4 5", &flip) && flip.array == SOLVER_NEWEST && flip.rank == 12);
  assert_true(flip_parse("3 p 1,2,3 0 5", &flip) && flip.rank == 3 && flip.bit == 0 && flip.point[2] == 3);
  for (const char *text = invalid; text < invalid + sizeof invalid; text += strlen(text) + 1)
    assert_false(flip_parse(text, &flip));
}

/* Two devices soak for half a day each; two ranks share one of them. */
TEST(a_clean_soak_reports_what_it_excludes_and_its_load)
{
  static struct himeno_rank ranks[3];
  struct telemetry_sample rows[6] = {[0] = {.watts = 690}, {.watts = 660}, {.watts = 630}, {.watts = -1}};
  const struct himeno_ranks run = {.n = 3, .rank = ranks, .series = rows};
  struct soak_result result = {.blocks = 1};
  ranks[1].row.shared = ranks[2].row.shared = 1;
  for (int r = 0; r < 3; r++) ranks[r].telemetry.rows = 2;
  for (int r = 0; r < 3; r++) ranks[r].telemetry.after.watts_limit = 700;
  rows[4].watts = rows[5].watts = 644;
  struct worth worth = soak_worth(&result, &run, 43200);
  assert_true(fabs(worth_excluded(&worth) - 2995.732273554) < 1e-6);
  assert_true(fabs(worth.share - 0.9) < 1e-9); /* 630 of 700 W; the next row has no watts */
  rows[2].watts = 692;
  assert_true(fabs(soak_worth(&result, &run, 43200).share - 0.92) < 1e-9);
  ranks[0].telemetry.after.watts_limit = -1;
  assert_true(isnan(soak_worth(&result, &run, 43200).share));
  result.wrong_blocks = 1;
  worth = soak_worth(&result, &run, 43200);
  assert_true(isinf(worth_excluded(&worth)));
  result.found[result.n++] = (struct soak_found){3, 7, 7, HIMENO_DENSE, {.rank = 2, .array = HIMENO_B1}};
  result.corruptions = 4;
  strcpy(ranks[2].row.host, "n1");
  strcpy(ranks[2].row.info.name, "GPU");
  struct capture output = capture_begin(stdout);
  soak_text(&result, &worth, &run, stdout);
  char *text = capture_end(&output);
  assert_string_equal(text,
                      "  soak       0 s, 1 block in dense data alone, 1 of them wrong\n"
                      "  CORRUPTED  block 3, dense data, after sweep 7, rank 2 on n1, GPU: b1 has a wrong "
                      "checksum, but every point was right when it was read back; REPEATS when the block is "
                      "run again\n"
                      "  ... and 3 more: --soak-log has them all\n");
  free(text);
}

TEST(a_torn_line_is_ended_before_the_next)
{
  char path[] = "/tmp/soak-XXXXXX", text[64] = "";
  FILE *file = fdopen(mkstemp(path), "w"), *log;
  assert_non_null(file);
  fputs("{\"block\":1}\n{\"blo", file);
  fclose(file);
  assert_int_equal(soak_log_open(path, &log), STATUS_OK);
  assert_int_equal(soak_log_add(log, json_pack("{s:i}", "block", 3), path), STATUS_OK);
  fclose(log);
  file = fopen(path, "r");
  assert_int_equal(fread(text, 1, sizeof text - 1, file) > 0, 1);
  fclose(file);
  remove(path);
  assert_string_equal(text, "{\"block\":1}\n{\"blo\n{\"block\":3}\n");
}

/* ---- the disk, as the log sees it ---- */

static off_t synced;   /* file size at the begin of the last fsync; −1 before */
static int sync_fails; /* errno of the next fsync */

int fsync(int descriptor)
{
  struct stat info;
  synced = fstat(descriptor, &info) == 0 ? info.st_size : -1;
  if (sync_fails) return errno = sync_fails, -1;
  return (int)syscall(SYS_fsync, descriptor);
}

TEST(a_line_is_whole_on_the_disk_before_the_next_slice)
{
  char path[] = "/tmp/soak-XXXXXX";
  FILE *log;
  close(mkstemp(path));
  assert_int_equal(soak_log_open(path, &log), STATUS_OK);
  for (int block = 1; block <= 3; block++) {
    synced = -1;
    assert_int_equal(soak_log_add(log, json_pack("{s:i}", "block", block), path), STATUS_OK);
    assert_int_equal(synced, block * (long)strlen("{\"block\":1}\n"));
  }
  sync_fails = EIO;
  assert_int_equal(soak_log_add(log, json_pack("{s:i}", "block", 4), path), STATUS_ENVIRONMENT);
  sync_fails = EINVAL; /* a pipe's */
  assert_int_equal(soak_log_add(log, json_pack("{s:i}", "block", 5), path), STATUS_OK);
  sync_fails = 0;
  fclose(log);
  remove(path);
}

UNIT_MAIN_MPI(rig_open, rig_close)
