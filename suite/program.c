/* SPDX-License-Identifier: MIT */
#include "suite/program.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/meta.h"
#include "base/output.h"
#include "base/start.h"
#include "base/stats.h"
#include "suite/progress.h"

FILE *program_out(const char *json)
{
  return json && strcmp(json, "-") == 0 ? stderr : output_stream();
}

int program_runs(const struct program *p, enum option_request request)
{
  return request == OPTION_RUN && !(p->list && *p->list);
}

void program_answer(const struct program *p, enum option_request request)
{
  if (request == OPTION_SHOW_HELP) option_print_help(p->options, output_stream());
  if (request == OPTION_SHOW_VERSION) fprintf(output_stream(), "%s %s\n", p->options->name, meta_version());
  if (request != OPTION_RUN) return;
  option_ignore(OPTION_LISTED, "--list");
  p->print_list(output_stream());
}

int program_schema(const struct program *p)
{
  struct doc d;
  doc_open(&d, 1);
  p->fields(&d);
  status_t status = doc_print(&d, output_stream());
  return status_exit_code(status_worst(status, file_flush_stdout()));
}

status_t program_check(const struct program *p)
{
  return *p->json ? file_check(*p->json) : STATUS_OK;
}

status_t program_report(const struct program *p)
{
  const char *json = *p->json;
  progress_clear();
  p->report(program_out(json));
  if (!json) return STATUS_OK;
  json_t *document = p->document ? p->document() : NULL;
  if (!document) {
    struct doc d;
    doc_open(&d, 0);
    p->fields(&d);
    document = doc_close(&d);
  }
  status_t status = document_write(document, json);
  json_decref(document);
  return status;
}

/* Refuses to run as several processes, which would use the same device and write the same file. */
static status_t single_check(const struct program *p)
{
  struct launcher launcher;
  if (!launcher_find(&launcher) || launcher.ranks <= 1) return STATUS_OK;
  if (launcher.rank > 0) {
    log_mute(1);
    sleep(2); /* mpirun ends all ranks with the first that fails: let rank 0 print its message */
  }
  return log_fail(STATUS_USAGE,
                  "%lld ranks were started (%s), but %s runs as one process: start it without a launcher",
                  launcher.ranks, launcher.variable, p->options->name);
}

static status_t program_run(const struct program *p)
{
  char host[256];
  int ended = 0;
  meta_host(host, sizeof host);
  if (p->names_host) log_set_rank(-1, host);
  RETURN_IF_FAILED(single_check(p));
  RETURN_IF_FAILED(program_check(p));
  status_t status = p->run(&ended);
  return ended ? status_worst(status, program_report(p)) : status;
}

int program_main(const struct program *p, int argc, char **argv)
{
  const double started = stats_now();
  enum option_request request = OPTION_RUN;
  start_program(p->options->name);
  start_signals();
  status_t status = option_parse_all(p->options, argc, argv, p->config, &request);
  if (status == STATUS_OK && request == OPTION_SHOW_SCHEMA) return program_schema(p);
  progress_open(*p->quiet, started);
  if (status == STATUS_OK && program_runs(p, request))
    status = program_run(p);
  else if (status == STATUS_OK)
    program_answer(p, request);
  progress_clear();
  p->close();
  return status_exit_code(status_worst(status, file_flush_stdout()));
}
