/* SPDX-License-Identifier: MIT */
/* Numbers the places in the program's code that allocate memory, as they are reached from main on.
 * The first allocation at place NO_MEMORY fails. Allocations of libraries, and of CUDA's static
 * runtime before main, succeed and do not count. At its end, the program writes the number of
 * places to the file NO_MEMORY_COUNT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t n, size_t bytes),
    *__libc_realloc(void *memory, size_t bytes), *__libc_memalign(size_t align, size_t bytes);

static uintptr_t begin, end; /* addresses of the program's code */
static const void *places[4096];
static int n_places;

/* The first object is the program. */
static int code_find(struct dl_phdr_info *object, size_t size, void *unused)
{
  (void)size, (void)unused;
  for (int p = 0; p < object->dlpi_phnum; p++) {
    if (object->dlpi_phdr[p].p_type != PT_LOAD || !(object->dlpi_phdr[p].p_flags & PF_X)) continue;
    begin = object->dlpi_addr + object->dlpi_phdr[p].p_vaddr;
    end = begin + object->dlpi_phdr[p].p_memsz;
  }
  return 1;
}

typedef int main_function(int n, char **arguments, char **environment);
static main_function *main_of_program;

static int main_counted(int n, char **arguments, char **environment)
{
  dl_iterate_phdr(code_find, NULL);
  return main_of_program(n, arguments, environment);
}

int __libc_start_main(main_function *main, int n, char **arguments, void (*init)(void), void (*fini)(void),
                      void (*after)(void), void *stack)
{
  main_of_program = main;
  return ((__typeof__(__libc_start_main) *)dlsym(RTLD_NEXT, "__libc_start_main"))(main_counted, n, arguments,
                                                                                  init, fini, after, stack);
}

__attribute__((destructor)) static void count_write(void)
{
  const char *path = getenv("NO_MEMORY_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (file) fprintf(file, "%d\n", n_places);
  if (file) fclose(file);
}

static int fails(const void *caller)
{
  const char *wanted = getenv("NO_MEMORY");
  if ((uintptr_t)caller < begin || (uintptr_t)caller >= end || n_places == sizeof places / sizeof *places)
    return 0;
  for (int p = 0; p < n_places; p++)
    if (places[p] == caller) return 0;
  places[n_places++] = caller;
  if (!wanted || n_places != atoi(wanted)) return 0;
  errno = ENOMEM;
  return 1;
}
#define FAILS fails(__builtin_return_address(0))

void *malloc(size_t bytes)
{
  return FAILS ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
  return FAILS ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes)
{
  return FAILS ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
  return FAILS ? NULL : __libc_memalign(align, bytes);
}

int posix_memalign(void **memory, size_t align, size_t bytes)
{
  if (FAILS) return ENOMEM;
  *memory = __libc_memalign(align, bytes);
  return *memory ? 0 : ENOMEM;
}

char *strndup(const char *text, size_t bytes)
{
  const size_t length = strnlen(text, bytes);
  char *copy = FAILS ? NULL : __libc_calloc(length + 1, 1);
  return copy ? memcpy(copy, text, length) : NULL;
}

char *strdup(const char *text)
{
  const size_t bytes = strlen(text) + 1;
  char *copy = FAILS ? NULL : __libc_malloc(bytes);
  return copy ? memcpy(copy, text, bytes) : NULL;
}
