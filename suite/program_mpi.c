/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/log.h"
#include "base/start.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/begin.h"
#include "comm/ranks/placement.h"
#include "suite/program.h"
#include "suite/progress.h"

static status_t program_mpi_run(const struct program *p)
{
  MPI_Comm comm = p->placement->comm;
  int first = p->placement->rank == 0, ended = 0;
  RETURN_IF_FAILED(agree_status(comm, first ? program_check(p) : STATUS_OK));
  status_t status = p->run(&ended);
  if (status == STATUS_HANG || (log_held()[0] && p->placement->ranks > 1)) agree_abort(status);
  if (!ended) return agree_status(comm, status);
  return status_worst(status, agree_status(comm, first ? program_report(p) : STATUS_OK));
}

int program_mpi_main(const struct program *p, int argc, char **argv)
{
  const double started = stats_now();
  enum option_request request = OPTION_RUN;
  start_program(p->options->name);
  log_hold(1);
  status_t parsed = option_parse_all(p->options, argc, argv, p->config, &request);
  if (parsed == STATUS_OK && request == OPTION_SHOW_SCHEMA) return program_schema(p);
  const struct same_start start = {p->options, request, parsed};
  status_t status = begin_mpi(&argc, &argv, *p->timeout, &start);
  if (status != STATUS_OK) return status_exit_code(status);
  status = placement_open(MPI_COMM_WORLD, p->placement);
  if (status != STATUS_OK) agree_abort(status);
  MPI_Comm comm = p->placement->comm;
  int first = p->placement->rank == 0;
  progress_open(!first || *p->quiet, started);
  status = agree_status(comm, parsed);
  if (status == STATUS_OK && program_runs(p, request))
    status = program_mpi_run(p);
  else if (status == STATUS_OK && first)
    program_answer(p, request);
  status = status_worst(status, agree_status(comm, file_flush_stdout()));
  progress_clear();
  p->close();
  placement_close(p->placement);
  end_mpi();
  return status_exit_code(status);
}
