/* SPDX-License-Identifier: MIT */
/* Replaces getenv: at the end of the program, adds a line to the file SWITCH_READS with the number
 * of reads of variables HIMENO_*. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;
static long reads;

char *getenv(const char *name)
{
  size_t length = strlen(name);
  reads += strncmp(name, "HIMENO_", 7) == 0;
  for (char **at = environ; at && *at; at++)
    if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
  return NULL;
}

__attribute__((destructor)) static void report(void)
{
  const char *path = getenv("SWITCH_READS");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", reads);
  fclose(file);
}
