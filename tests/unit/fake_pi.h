/* SPDX-License-Identifier: MIT */
/** \file \brief A fake kernel and firmware of a Raspberry Pi, as the driver's system calls reach
 * them. The emulator owns the memory and runs the programs. */
#ifndef TESTS_UNIT_FAKE_PI_H
#define TESTS_UNIT_FAKE_PI_H

#include <stddef.h>
#include <stdint.h>

/** Properties of the machine, and a record of calls to it. */
struct fake_pi {
  /** the device tree's text, with 0 after each name: "raspberrypi,3-model-b\0brcm,bcm2837" */
  const char *compatible;
  size_t compatible_bytes;
  int has_vcio, has_shared, has_kms;
  const char *config_path, *config; /**< the firmware's settings; NULL if there is no file */
  int refuses_enable, refuses_map, refuses_execute, times_out;
  int forbids_open; /**< EACCES */

  int enabled, enables;
  int open_files, open_memories, mapped;
  int executes;
  int raw_opens; /**< number of attempts to open a file that is no device of the driver */
};

extern struct fake_pi *const fake_pi;

/** \brief Installs the fake: a Pi with this chip, "bcm2835" to "bcm2837", all of whose devices
 * work. */
void fake_pi_be(const char *chip);

/** \brief Returns 1 if nothing is in use any more: QPUs off, no file, mapping or memory. */
int fake_pi_is_clean(void);

#endif
