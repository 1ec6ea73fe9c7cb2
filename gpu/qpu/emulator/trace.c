/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/trace.h"

#include <stdarg.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/isa/describe.h"

status_t qpu_emu_fault(const struct qpu_issue *issue, const char *format, ...)
{
  char cause[300], text[QPU_TEXT_MAX] = "";
  va_list list;
  va_start(list, format);
  vsnprintf(cause, sizeof cause, format, list);
  va_end(list);
  if (issue->decoded) qpu_describe(qpu_encode(&issue->decoded->inst), text);
  return log_fail(STATUS_FAULT, "QPU %d at 0x%08x (%+lld in its program)%s%s: %s", issue->number,
                  issue->thread->pc,
                  (long long)issue->thread->pc - (long long)issue->emu->jobs[issue->thread->job].code,
                  text[0] ? " " : "", text, cause);
}

/* One value when all lanes agree, else all sixteen; in hexadecimal and, where that looks like one,
 * as a float. */
static void show_register(FILE *out, const char *name, const qpu_vec *value)
{
  qpu_vec differs = *value ^ (*value)[0];
  int lanes = qpu_mask_of(&differs, 0) ? QPU_LANES : 1;
  fprintf(out, "        %s =", name);
  for (int i = 0; i < lanes; i++) {
    uint32_t bits = (*value)[i], exponent = bits >> 23 & 255;
    float single;
    memcpy(&single, &bits, sizeof single);
    fprintf(out, " %08x", bits);
    if (exponent > 64 && exponent < 192) fprintf(out, "(%g)", (double)single);
  }
  fputc('\n', out);
}

static void show_target(const struct qpu_issue *issue, int address, int file)
{
  char buffer[8];
  const qpu_vec *reg = issue->thread->reg;
  if (address < 32) {
    reg += (file == QPU_FILE_A ? REG_A : REG_B) + address;
  } else if (address <= QPU_W_ACC3) {
    reg += REG_ACC + address - QPU_W_ACC0;
  } else if (address == QPU_W_R5) {
    reg += REG_ACC + 5;
  } else {
    return;
  }
  show_register(issue->emu->config.trace, qpu_register_text(address, file, 1, buffer), reg);
}

/* What came from a peripheral: no register tells it afterwards. */
static void show_port(const struct qpu_issue *issue, int address, int file)
{
  char buffer[8];
  if (address == 0 || address == QPU_R_NOP) return;
  show_register(issue->emu->config.trace, qpu_register_text(address, file, 0, buffer),
                &issue->thread->reg[file == QPU_FILE_A ? REG_PORT_A : REG_PORT_B]);
}

void qpu_trace(const struct qpu_issue *issue, uint32_t pc)
{
  const struct qpu_inst *inst = &issue->decoded->inst;
  const struct qpu_thread *thread = issue->thread;
  char text[QPU_TEXT_MAX];
  qpu_describe(qpu_encode(inst), text);
  fprintf(issue->emu->config.trace, "%8llu QPU %2d.%d 0x%08x  %s\n", (unsigned long long)issue->emu->turn,
          issue->number, (int)(thread - issue->qpu->thread), pc, text);
  show_port(issue, issue->decoded->port_a, QPU_FILE_A);
  show_port(issue, issue->decoded->port_b, QPU_FILE_B);
  show_target(issue, inst->waddr_add, inst->ws ? QPU_FILE_B : QPU_FILE_A);
  show_target(issue, inst->waddr_mul, inst->ws ? QPU_FILE_A : QPU_FILE_B);
  if (inst->sig == QPU_SIG_LOAD_TMU0 || inst->sig == QPU_SIG_LOAD_TMU1)
    show_register(issue->emu->config.trace, "r4", &thread->reg[REG_ACC + 4]);
  if (inst->sf)
    fprintf(issue->emu->config.trace, "        flags z = %04x n = %04x c = %04x, a bit a lane\n", thread->z,
            thread->n, thread->c);
}
