/* SPDX-License-Identifier: MIT */
/* The machine code of this program's own kernels. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "gemm/kernels/cuda/tensor/study_cuda.h"

#define LINE_MAX_  512
#define LOADS_MAX  64
#define SYMBOL_MAX 64

/** A load as it is written, and how often. */
struct machine_load {
  char name[SYMBOL_MAX];
  int count;
};

static void load_count(struct machine_load *loads, int *n, const char *name)
{
  for (int i = 0; i < *n; i++)
    if (strcmp(loads[i].name, name) == 0) {
      loads[i].count++;
      return;
    }
  if (*n == LOADS_MAX) return;
  snprintf(loads[*n].name, sizeof loads[*n].name, "%s", name);
  loads[(*n)++].count = 1;
}

/* The operation's name in a line like "/\*0210*\/ @P0 LDG.E R2, [R2.64] ;", "" where it is no load.
 * Constants (LDC) are the kernel's arguments. */
static void line_load(const char *line, char name[SYMBOL_MAX])
{
  char word[SYMBOL_MAX] = "";
  int used = 0;
  const char *at = strstr(line, "*/");
  name[0] = '\0';
  if (!at || sscanf(at + 2, " @%*s %63[A-Z0-9._]%n", word, &used) < 1) {
    if (!at || sscanf(at + 2, " %63[A-Z0-9._]", word) != 1) return;
  }
  if (strncmp(word, "LD", 2) != 0 || strncmp(word, "LDC", 3) == 0) return;
  memcpy(name, word, SYMBOL_MAX);
}

static int loads_read(FILE *code, struct machine_load *loads)
{
  char line[LINE_MAX_], name[SYMBOL_MAX];
  int n = 0;
  while (fgets(line, sizeof line, code)) {
    line_load(line, name);
    if (name[0]) load_count(loads, &n, name);
  }
  return n;
}

void study_machine_loads(const char *symbol, const struct gpu_device *device, FILE *out)
{
  const struct cudaDeviceProp *chip = &((const struct cuda_device *)device)->properties;
  char program[1024], command[1400];
  struct machine_load loads[LOADS_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  if (length <= 0 || strchr(program, '\'')) {
    fprintf(out, "(this program's file was not found)\n");
    return;
  }
  snprintf(command, sizeof command, "cuobjdump -sass -arch sm_%d%d -fun %s '%s' 2>/dev/null", chip->major,
           chip->minor, symbol, program);
  FILE *code = popen(command, "r");
  int n = code ? loads_read(code, loads) : 0;
  int failed = !code || pclose(code) != 0;
  if (n == 0)
    fprintf(out, failed ? "(cuobjdump, of the CUDA toolkit, was not found or could not read this program)\n"
                        : "(no machine code for this chip: it runs from PTX)\n");
  for (int i = 0; i < n; i++) fprintf(out, "%s%d %s", i ? ", " : "", loads[i].count, loads[i].name);
  if (n > 0) fprintf(out, "\n");
}
