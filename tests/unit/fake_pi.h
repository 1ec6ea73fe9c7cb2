/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A Raspberry Pi's kernel and firmware as the driver's system calls see them: memory that
 * the emulator owns, and programs that it runs. */
#ifndef TESTS_UNIT_FAKE_PI_H
#define TESTS_UNIT_FAKE_PI_H

#include <stddef.h>
#include <stdint.h>

/** Properties of the machine, and a record of calls to it. */
struct fake_pi {
  /** of the device tree, with its ends: "raspberrypi,3-model-b\0brcm,bcm2837" */
  const char *compatible;
  size_t compatible_bytes;
  int has_vcio, has_shared, has_kms;
  const char *config_path, *config; /**< the firmware's settings; NULL where there is no file */
  int refuses_enable, refuses_map, refuses_execute, times_out;
  int forbids_open; /**< EACCES */

  int enabled, enables;
  int open_files, open_memories, mapped;
  int executes;
  int raw_opens; /**< attempts at anything but the devices that the driver is for */
};

extern struct fake_pi *const fake_pi;

/** \brief Puts the fake in place: a Pi of that chip, "bcm2835" … "bcm2837", all of whose devices
 * work. */
void fake_pi_be(const char *chip);

/** \brief Whether nothing is held any more: QPUs off, no file, no mapping, no memory. */
int fake_pi_is_clean(void);

#endif
