/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a device's sweeps cost, by its energy counter.
 *
 * The counter goes in steps, so a window begins and ends right after one. What the device takes
 * with nothing to do is measured before the window, and taken off for the time in it that is no
 * sweep. */
#ifndef HIMENO_RESULT_ENERGY_H
#define HIMENO_RESULT_ENERGY_H

#include "gpu/telemetry.h"
#include "himeno/solver/solver.h"

/** A shorter window tells nothing: steps of the counter and warming are too much of it. */
#define ENERGY_SECONDS_MIN 10.0
/** Where less of the window is in sweeps, it tells of the pauses between blocks. */
#define ENERGY_SWEEPING_MIN 0.5

/** A rank's window. */
struct energy {
  char scope[40];         /**< what is counted; "" where nothing is */
  double seconds, joules; /**< of the window; joules 0 where it is too short */
  double begin, counted;  /**< its begin; counted negative: without a step */
  double idle_watts;      /**< before it; negative where it was not measured */
  double sweeping;        /**< seconds of it in sweeps */
  int64_t sweeps;
};

/** \brief Begins a window that is to last about \a wanted seconds, negative where nobody knows.
 * With enough of them the device idles before it, for 0.2 to 1 s. */
void energy_begin(struct telemetry *telemetry, double wanted, struct energy *energy);

/** \brief A block of the window. */
void energy_add(struct energy *energy, const struct solver_block *block);

void energy_end(struct telemetry *telemetry, struct energy *energy);

/** \brief Joules of all sweeps; 0 where the window tells nothing. */
double energy_of_sweeps(const struct energy *energy);

#endif
