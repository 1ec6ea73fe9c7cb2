/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a user writes of a program's jobs: buffers, files, uniforms, rules. */
#ifndef QPU_JOB_TEXT_H
#define QPU_JOB_TEXT_H

#include "gpu/qpu/emulator/emu.h"

#define QPU_MAX_BUFFERS  64
#define QPU_MAX_UNIFORMS 1024
#define QPU_MAX_JOBS     4096

/** What a program is given. */
struct qpu_setting {
  struct qpu_emu *emu;
  struct qpu_memory *memory; /**< the emulator's */
  uint32_t code, n_jobs, buffers[QPU_MAX_BUFFERS];
  size_t buffer_bytes[QPU_MAX_BUFFERS];
  int n_buffers;
};

/** A file that a buffer comes from or goes to. */
struct qpu_file_item {
  int buffer;
  char path[1024];
};

/** \brief Sizes of buffers, separated by commas; \a list may be NULL. All of these: STATUS_USAGE
 * with the text that cannot be. */
status_t qpu_buffer_sizes(const char *list, struct qpu_setting *setting);

/** \brief The next "[K=]FILE" of a list; \a usual is the buffer meant without K. */
status_t qpu_file_item(const struct qpu_setting *setting, const char *option, int usual, const char **list,
                       struct qpu_file_item *item);

/** \brief Allocates the uniforms of the jobs and fills them from a list. In the list % is the
 * number of the job. */
status_t qpu_write_uniforms(const char *list, const struct qpu_setting *setting, struct qpu_job *jobs);

/** \brief "[KIND=]fault|warn|ignore", separated by commas; \a list may be NULL. */
status_t qpu_parse_rules(const char *list, struct qpu_emu_config *config);

#endif
