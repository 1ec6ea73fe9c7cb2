/* SPDX-License-Identifier: MIT */
#include "himeno/kernels/kernels.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "config.h"

/* Maximum size of a kernel's source, bytes. */
#define SOURCE_MAX (64 << 20)

const char *const himeno_class_names[] = {"classic", "temporal"};

#define SET(name, built) GPU_BUILT(built, himeno_kernels_##name),
static const struct himeno_kernel_set *const sets[] = {GPU_BACKENDS(SET)};

const struct himeno_kernel_set *himeno_kernels_find(const char *backend)
{
  for (size_t n = 0; n < sizeof sets / sizeof *sets; n++)
    if (sets[n] && !strcmp(sets[n]->backend, backend)) return sets[n];
  return NULL;
}

const struct himeno_kernel *himeno_kernel_find(const struct himeno_kernel_set *set, const char *name)
{
  for (int n = 0; n < set->n; n++)
    if (!strcmp(set->kernels[n].name, name)) return &set->kernels[n];
  return NULL;
}

const struct himeno_kernel *himeno_kernel_standard(const struct himeno_kernel_set *set)
{
  int n = 0;
  while (n + 1 < set->n && !set->kernels[n].standard) n++;
  return &set->kernels[n];
}

int himeno_kernel_trials(const struct himeno_kernel_set *set)
{
  int trials = 0;
  for (int n = 0; set && n < set->n; n++) trials += set->kernels[n].trial;
  return trials;
}

status_t himeno_kernel_source(const char *path, char **source)
{
  size_t bytes;
  char *text = file_read(path, SOURCE_MAX, &bytes);
  if (!text)
    return log_fail(STATUS_ENVIRONMENT, "--kernel-file %s: %s", path,
                    errno == EINVAL || errno == EFBIG ? "it cannot be read as a whole" : strerror(errno));
  *source = text;
  return STATUS_OK;
}
