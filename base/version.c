/* SPDX-License-Identifier: MIT */
#include <config.h>

#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/meta.h"

#define ID_BYTES_MAX 32

const char *meta_version(void)
{
  return PACKAGE_VERSION;
}

/** Writes the build ID found in the notes from \a at to \a end as hex digits. */
static void id_find(const char *at, const char *end, char *text)
{
  ElfW(Nhdr) note;
  for (; at + sizeof note < end;
       at += sizeof note + ((note.n_namesz + 3) & ~3u) + ((note.n_descsz + 3) & ~3u)) {
    memcpy(&note, at, sizeof note);
    const char *name = at + sizeof note, *id = name + ((note.n_namesz + 3) & ~3u);
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || memcmp(name, "GNU", 4) != 0) continue;
    for (unsigned b = 0; b < note.n_descsz && b < ID_BYTES_MAX; b++)
      sprintf(text + 2 * b, "%02x", (unsigned char)id[b]);
  }
}

/** Reads the build ID of the first object, which is the program itself, and stops there. */
static int version_program_read(struct dl_phdr_info *object, size_t bytes, void *text)
{
  (void)bytes;
  for (int h = 0; h < object->dlpi_phnum; h++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[h];
    const char *at = (const char *)(object->dlpi_addr + part->p_vaddr);
    if (part->p_type == PT_NOTE) id_find(at, at + part->p_memsz, text);
  }
  return 1;
}

const char *meta_build(void)
{
  static char text[2 * ID_BYTES_MAX + 1];
  if (!text[0]) dl_iterate_phdr(version_program_read, text);
  return text[0] ? text : "unknown";
}
