/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "himeno/soak/check.h"

static status_t data_known(struct soak_known *k, enum himeno_data data)
{
  struct solver *solver = k->reference.solver;
  struct solver_block block;
  RETURN_IF_FAILED(solver_fill(solver, data));
  RETURN_IF_FAILED(solver_array_checksum(solver, SOLVER_NEWEST, &k->field[data][0]));
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++)
    RETURN_IF_FAILED(solver_array_checksum(solver, a, &k->coefficient[data][a]));
  for (int p = 1; p <= k->passes; p++) {
    RETURN_IF_FAILED(solver_block_continue(solver, k->deep, &block));
    RETURN_IF_FAILED(solver_array_checksum(solver, SOLVER_NEWEST, &k->field[data][p]));
  }
  return STATUS_OK;
}

static status_t reference_check(const struct solver_config *config, const struct soak_known *k)
{
  if (!k->reference.solver)
    return log_fail(STATUS_ENVIRONMENT,
                    "--soak: the hosts' memory is too small for the reference on the CPU");
  for (int d = 0; d < SOAK_DATA_SETS; d++)
    if (!k->field[d])
      return agree_status(config->comm, log_fail(STATUS_ENVIRONMENT, "out of host memory for known values"));
  return agree_status(config->comm, STATUS_OK);
}

status_t soak_known_open(const struct solver_config *config, int passes, struct soak_known *known)
{
  struct soak_known k = {.deep = config->kernel->sweeps, .passes = passes};
  RETURN_IF_FAILED(verify_reference_open(config, k.deep, &k.reference));
  for (int d = 0; d < SOAK_DATA_SETS; d++) k.field[d] = calloc((size_t)passes + 1, sizeof *k.field[d]);
  status_t status = reference_check(config, &k);
  for (int d = 0; d < SOAK_DATA_SETS && status == STATUS_OK; d++)
    status = data_known(&k, (enum himeno_data)d);
  if (status == STATUS_OK)
    *known = k;
  else
    soak_known_close(&k);
  return status;
}

void soak_known_close(struct soak_known *known)
{
  for (int d = 0; d < SOAK_DATA_SETS; d++) free(known->field[d]);
  verify_reference_close(&known->reference);
}
