/* SPDX-License-Identifier: MIT */
#include "comm/halo/transport.h"

#include <string.h>

#include "base/document.h"
#include "base/log.h"
#include "base/values.h"
#include "comm/transports/aware.h"

const struct halo_transport *const halo_transports[] = {
    /* clang-format off */
    &halo_transport_staged,
    &halo_transport_staged_mpi,
    &halo_transport_pageable,
    &halo_transport_mpi,
    &halo_transport_ipc,
    &halo_transport_p2p,
    &halo_transport_nccl,
    NULL,
    /* clang-format on */
};

const struct halo_transport *halo_transport_find(const char *name)
{
  for (int t = 0; halo_transports[t]; t++)
    if (strcmp(halo_transports[t]->name, name) == 0) return halo_transports[t];
  return NULL;
}

void halo_transport_document(struct doc *d, const char *used)
{
  const struct halo_transport *transport = halo_transport_find(used);
  doc_text(d, "memory", DOC_OPTIONAL,
           "Memory that the bytes pass through, see --list; himeno-gpu names it once per transport.",
           transport ? transport->memory : NULL);
  const char *mover = transport == &halo_transport_mpi ? aware_mover() : NULL;
  doc_text(d, "mover", DOC_OPTIONAL, "What carries them from rank to rank.",
           mover || !transport ? mover : transport->mover);
}

status_t halo_transport_check(const char *option, const char *name)
{
  struct value_guess guess = {.text = name};
  char meant[VALUE_TEXT_MAX];
  if (halo_transport_find(name)) return STATUS_OK;
  for (int t = 0; halo_transports[t]; t++) value_guess(&guess, halo_transports[t]->name);
  return log_fail(STATUS_USAGE, "%s %s: there is no such transport%s", option, name,
                  value_guess_text(&guess, "; --list shows them", meant));
}

status_t halo_transport_parse(const char *option, const char *text, void *field)
{
  const char **transport = field;
  *transport = strcmp(text, "auto") == 0 ? NULL : text;
  return *transport ? halo_transport_check(option, text) : STATUS_OK;
}
