/* SPDX-License-Identifier: MIT */
/* Measures copies for combinations of streams, sizes, pacing, assignment, threads and blocks, and
 * compares them with the suite's tuned copy, BabelStream's copy and the library's copy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "tools/memory/state.h"

/** Share of the device's free memory for source and destination of the largest copy. */
#define GPU_SHARE 0.9
/** On a CPU, the largest default size is four times the last cache's size, but at least this. */
#define CPU_LEAST ((uint64_t)64 << 20)
/** Array size in bytes of the default study of assignment, threads and blocks. */
#define SHAPE_BYTES ((uint64_t)1 << 30)

#define POINTS_MAX 8192

struct copies_job {
  struct mem_rig *rig;
  struct mem_copy copy;
};

static status_t copies_job_run(void *context)
{
  struct copies_job *job = context;
  return job->rig->ops->copy(job->rig->exec, job->rig->sampler.queue, &job->copy);
}

static uint64_t grained(uint64_t bytes)
{
  return bytes / MEM_GRAIN * MEM_GRAIN;
}

static struct mem_values list_or(const struct mem_values *given, const struct mem_values fallback)
{
  return given->n ? *given : fallback;
}

/* Chooses the sizes unless the user gave them: from an eighth of the last cache, each four times
 * the previous one, up to the largest that fits. */
static status_t copies_plan_sizes(struct gpu_device *device, struct mem_values *sizes)
{
  const struct gpu_device_info *info = &device->info;
  uint64_t available, cache = info->cache_bytes ? info->cache_bytes : (uint64_t)8 << 20;
  RETURN_IF_FAILED(gpu_memory_free(device, &available));
  if (sizes->n) return STATUS_OK;
  uint64_t most = grained((uint64_t)(GPU_SHARE / 2 * (double)available)), least = MEM_GRAIN;
  if (info->max_alloc_bytes && most > grained(info->max_alloc_bytes)) most = grained(info->max_alloc_bytes);
  uint64_t enough = 4 * cache > CPU_LEAST ? 4 * cache : CPU_LEAST;
  if (info->is_cpu && most > enough) most = enough;
  while (2 * least <= cache / 8) least *= 2;
  for (uint64_t size = least; size <= most / 2 && sizes->n < MEM_VALUES_MAX - 1; size *= 4)
    sizes->at[sizes->n++] = size;
  if (most) sizes->at[sizes->n++] = most;
  return STATUS_OK;
}

/** The values of a study; all their combinations are measured. */
struct copies_study {
  struct mem_values streams, widths, threads, blocks;
  int paces[2], n_paces, assigns;
};

static struct copies_study study_default(const struct mem_config *c, const struct mem_traits *traits)
{
  int cpu = traits->blocks_max == 1, threads = traits->threads_max;
  int group = threads < 256 ? threads : 256;
  struct copies_study s = {
      .streams = list_or(&c->streams, (struct mem_values){{1, 2, 4, 8, 16}, 5}),
      .widths = list_or(&c->widths, (struct mem_values){{4, 16}, 2}),
      .threads = list_or(&c->threads, (struct mem_values){{(uint64_t)(cpu ? threads : group)}, 1}),
      .blocks = list_or(&c->blocks, (struct mem_values){{8}, 1}),
      .paces = {c->pace == MEM_PACE_PACED, 1},
      .n_paces = c->pace == MEM_PACE_BOTH ? 2 : 1,
      .assigns = 1 << MEM_CYCLIC};
  if (c->assign == MEM_ASSIGN_ALL && c->sizes.n) s.assigns = traits->assign;
  if (c->assign != MEM_ASSIGN_ALL) s.assigns = 1 << (c->assign - MEM_ASSIGN_CYCLIC);
  if (cpu) {
    s.widths = (struct mem_values){{0}, 1};
    s.blocks = (struct mem_values){{1}, 1};
  }
  return s;
}

/* Returns a study of all assignments except cyclic, with one width, to be run at one size. */
static struct copies_study study_assigns(const struct mem_traits *traits, struct copies_study s)
{
  s.assigns = traits->assign & ~(1 << MEM_CYCLIC);
  if (s.widths.n > 1) s.widths = (struct mem_values){{16}, 1};
  return s;
}

static struct copies_study study_shapes(const struct mem_traits *traits, struct copies_study s)
{
  if (traits->blocks_max == 1) {
    s.threads = (struct mem_values){{1}, 1};
    return s;
  }
  s.streams = (struct mem_values){{1, 8}, 2};
  s.widths = (struct mem_values){{16}, 1};
  s.threads = (struct mem_values){{128, 256, 512, 1024}, 4};
  s.blocks = (struct mem_values){{1, 2, 4, 8}, 4};
  while (s.threads.n > 1 && s.threads.at[s.threads.n - 1] > (uint64_t)traits->threads_max) s.threads.n--;
  return s;
}

const struct mem_copy_point *mem_copy_find(const struct mem_copies *copies, const struct mem_copy *like)
{
  for (int p = 0; p < copies->n; p++) {
    const struct mem_copy *c = &copies->points[p].copy;
    if (c->bytes == like->bytes && c->streams == like->streams && c->paced == like->paced &&
        c->assign == like->assign && c->width == like->width && c->threads == like->threads &&
        c->blocks == like->blocks)
      return &copies->points[p];
  }
  return NULL;
}

static status_t add_study(struct mem_copies *copies, const struct copies_study *s, struct mem_copy c)
{
  for (int w = 0; w < s->widths.n; w++)
    for (int t = 0; t < s->threads.n; t++)
      for (int b = 0; b < s->blocks.n; b++)
        for (int assign = MEM_CYCLIC; assign <= MEM_GROUP; assign++)
          for (int n = 0; (s->assigns >> assign & 1) && n < s->streams.n; n++)
            for (int p = 0; p < s->n_paces; p++) {
              c.width = (int)s->widths.at[w];
              c.threads = (int)s->threads.at[t];
              c.blocks = (int)s->blocks.at[b];
              c.assign = (enum mem_assign)assign;
              c.streams = (int)s->streams.at[n];
              c.paced = s->paces[p];
              if (mem_copy_find(copies, &c)) continue;
              if (copies->n == POINTS_MAX)
                return log_fail(STATUS_USAGE, "the lists make more than %d combinations: shorten one",
                                POINTS_MAX);
              copies->points[copies->n++].copy = c;
            }
  return STATUS_OK;
}

static uint64_t shape_bytes(const struct mem_values *sizes)
{
  uint64_t best = sizes->at[0];
  for (int i = 1; i < sizes->n; i++)
    if (sizes->at[i] <= SHAPE_BYTES || best > SHAPE_BYTES) best = sizes->at[i] > best ? sizes->at[i] : best;
  return best;
}

/* Runs a copy once, before it is timed, over memory with other content, and checks the result. */
static status_t copies_contents(struct mem_rig *rig, struct copies_job *job)
{
  const struct mem_copy *c = &job->copy;
  char what[160];
  snprintf(what, sizeof what, "%s copy of %s, %d streams, %s, %s", mem_method_names[c->method],
           report_bytes(c->bytes), c->streams, c->paced ? "paced" : "unpaced", mem_assign_names[c->assign]);
  RETURN_IF_FAILED(rig->ops->fill(rig->exec, rig->sampler.queue, c->to, c->bytes, 1));
  RETURN_IF_FAILED(copies_job_run(job));
  return mem_contents_check(rig, c->to, c->bytes, (struct mem_check){.expect = MEM_EXPECT_XOR, .arrays = 1},
                            what);
}

/** The copies of one size: first `points` copies of the study, then the other methods. */
struct batch {
  struct copies_job *jobs;
  struct sampler_item *items;
  int n, points;
};

static status_t batch_sample(struct mem_rig *rig, struct batch *batch, double seconds)
{
  for (int i = 0; i < batch->n; i++) {
    batch->items[i] = (struct sampler_item){
        .run = copies_job_run, .context = &batch->jobs[i], .work = 2 * (double)batch->jobs[i].copy.bytes};
    RETURN_IF_FAILED(copies_contents(rig, &batch->jobs[i]));
  }
  return sampler_run(&rig->sampler, batch->items, batch->n, seconds);
}

/* Stores the rates. The rate of a method is the rate of its fastest launch shape. */
static void batch_store(struct mem_copies *copies, const struct batch *batch, int first,
                        struct mem_rivals *rivals)
{
  for (int i = 0; i < batch->points; i++) {
    struct stats_summary rate = batch->items[i].rate;
    copies->points[first + i].rate = rate;
    if (rate.median > rivals->rate[MEM_STUDY].median) rivals->rate[MEM_STUDY] = rate;
  }
  for (int i = batch->points; i < batch->n; i++) {
    struct stats_summary *rate = &rivals->rate[batch->jobs[i].copy.method];
    if (batch->items[i].rate.median <= rate->median) continue;
    *rate = batch->items[i].rate;
    if (batch->jobs[i].copy.method == MEM_TUNED) rivals->shape = batch->jobs[i].copy.shape;
  }
}

static status_t copies_size_run(struct mem_rig *rig, struct mem_copies *copies, int first,
                                struct mem_copy plain, double seconds)
{
  int points = copies->n - first, shapes = rig->traits.copy_shapes.n;
  struct batch batch = {.n = points + shapes + MEM_METHODS - MEM_BABEL, .points = points};
  status_t status = STATUS_ENVIRONMENT;
  batch.jobs = calloc((size_t)batch.n, sizeof *batch.jobs);
  batch.items = calloc((size_t)batch.n, sizeof *batch.items);
  if (!batch.jobs || !batch.items) {
    log_fail(status, "out of host memory for %d measurements", batch.n);
    goto done;
  }
  for (int i = 0; i < batch.n; i++) {
    int rival = i - points, other = rival - shapes;
    batch.jobs[i] = (struct copies_job){rig, rival < 0 ? copies->points[first + i].copy : plain};
    if (rival < 0) continue;
    batch.jobs[i].copy.method = other < 0 ? MEM_TUNED : (enum mem_method)(MEM_BABEL + other);
    batch.jobs[i].copy.shape = rival; /* of MEM_TUNED only */
  }
  TRY(batch_sample(rig, &batch, seconds), done);
  struct mem_rivals *rivals = &copies->rivals[copies->n_rivals++];
  rivals->bytes = plain.bytes;
  batch_store(copies, &batch, first, rivals);
done:
  free(batch.items);
  free(batch.jobs);
  return status;
}

static status_t copies_sizes_run(struct mem_run *run, const struct mem_values *sizes, struct mem_copy plain)
{
  struct mem_copies *copies = &run->copies;
  const struct mem_config *c = &run->config;
  const struct mem_traits *traits = &run->rig.traits;
  const int chosen = c->sizes.n || c->threads.n || c->blocks.n || c->assign != MEM_ASSIGN_ALL;
  const struct copies_study main_study = study_default(c, traits),
                            assigns = study_assigns(traits, main_study),
                            shapes = study_shapes(traits, main_study);
  for (int i = 0; i < sizes->n; i++) {
    int first = copies->n;
    plain.bytes = sizes->at[i];
    RETURN_IF_FAILED(add_study(copies, &main_study, plain));
    if (!chosen && plain.bytes == shape_bytes(sizes)) {
      RETURN_IF_FAILED(add_study(copies, &assigns, plain));
      RETURN_IF_FAILED(add_study(copies, &shapes, plain));
    }
    RETURN_IF_FAILED(copies_size_run(&run->rig, copies, first, plain, c->seconds / sizes->n));
  }
  return STATUS_OK;
}

/* Sets *found to the gain of pacing for one width and number of streams: the median of paced /
 * unpaced rates over sizes beyond the cache, for cyclic assignment and the study's first launch
 * shape. Returns 0 if there are no such copies. */
static int pacing_find(const struct mem_copies *copies, uint64_t cache, const struct copies_study *s,
                       int width, int streams, struct mem_pacing *found)
{
  double ratios[MEM_RIVALS_MAX];
  int n = 0;
  for (int p = 0; p < copies->n; p++) {
    const struct mem_copy *free_running = &copies->points[p].copy;
    struct mem_copy paced = *free_running;
    paced.paced = 1;
    if (free_running->paced || free_running->assign != MEM_CYCLIC || free_running->width != width ||
        free_running->streams != streams || free_running->threads != (int)s->threads.at[0] ||
        free_running->blocks != (int)s->blocks.at[0] || 2 * free_running->bytes <= 2 * cache)
      continue;
    const struct mem_copy_point *other = mem_copy_find(copies, &paced);
    if (other && n < MEM_RIVALS_MAX) ratios[n++] = other->rate.median / copies->points[p].rate.median;
  }
  if (!n) return 0;
  struct stats_summary all = stats_summarise(ratios, (size_t)n);
  *found = (struct mem_pacing){width, streams, all.median, all.min, all.max, n};
  return 1;
}

int mem_pacing_from(const struct mem_copies *copies, int width)
{
  int from = 0;
  for (int i = 0; i < copies->n_pacing; i++) {
    const struct mem_pacing *p = &copies->pacing[i];
    if (p->width != width) continue;
    if (p->ratio < 1.01)
      from = 0;
    else if (!from)
      from = p->streams;
  }
  return from;
}

status_t mem_threads_check(const struct mem_values *threads, int most, const char *device)
{
  for (int i = 0; i < threads->n; i++)
    if (threads->at[i] > (uint64_t)most)
      return log_fail(STATUS_ENVIRONMENT, "--threads %d: %s takes at most %d", (int)threads->at[i], device,
                      most);
  return STATUS_OK;
}

status_t mem_copies_run(struct mem_run *run)
{
  struct mem_rig *rig = &run->rig;
  struct mem_copies *copies = &run->copies;
  struct mem_values sizes = run->config.sizes;
  struct mem_copy plain = {.method = MEM_STUDY, .streams = 1};
  uint64_t most = 0;
  status_t status;
  RETURN_IF_FAILED(mem_threads_check(&run->config.threads, rig->traits.threads_max, rig->device->info.name));
  if (run->config.assign == MEM_ASSIGN_GROUP && !(rig->traits.assign >> MEM_GROUP & 1))
    return log_fail(STATUS_USAGE, "--assign group: backend %s has one block", rig->ops->backend);
  RETURN_IF_FAILED(copies_plan_sizes(rig->device, &sizes));
  for (int i = 0; i < sizes.n; i++) most = sizes.at[i] > most ? sizes.at[i] : most;
  copies->points = calloc(POINTS_MAX, sizeof *copies->points);
  if (!copies->points) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the copies");
  RETURN_IF_FAILED(gpu_alloc(rig->device, most, &plain.from));
  TRY(gpu_alloc(rig->device, most, &plain.to), done);
  TRY(rig->ops->fill(rig->exec, rig->sampler.queue, plain.from, most, 0), done);
  TRY(copies_sizes_run(run, &sizes, plain), done);
  const struct copies_study s = study_default(&run->config, &rig->traits);
  for (int w = 0; w < s.widths.n; w++)
    for (int n = 0; n < s.streams.n; n++)
      copies->n_pacing += pacing_find(copies, rig->device->info.cache_bytes, &s, (int)s.widths.at[w],
                                      (int)s.streams.at[n], &copies->pacing[copies->n_pacing]);
done:
  gpu_free(rig->device, &plain.to);
  gpu_free(rig->device, &plain.from);
  return status;
}
