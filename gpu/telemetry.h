/* SPDX-License-Identifier: MIT */
/** \file
 * \brief State of a device: power, clocks, temperature, throttling, errors, link.
 *
 * The values of NVIDIA devices come from NVML, which is loaded at run time and needs no privilege;
 * those of AMD and Intel devices, and the link of any device, come from sysfs. A device is named by
 * its PCI address. Nothing here fails a run: a value that cannot be read is unknown. */
#ifndef GPU_TELEMETRY_H
#define GPU_TELEMETRY_H

#include <stddef.h>
#include <stdint.h>

/** Unknown value of every field. */
#define TELEMETRY_UNKNOWN (-1)

/** Why clocks are held down. The values are NVML's; idleness is not a reason and never reported. */
enum telemetry_throttle {
  THROTTLE_APPLICATION_CLOCKS = 0x2,
  THROTTLE_POWER_CAP = 0x4,
  THROTTLE_HARDWARE = 0x8,
  THROTTLE_SYNC_BOOST = 0x10,
  THROTTLE_THERMAL = 0x20,
  THROTTLE_HARDWARE_THERMAL = 0x40,
  THROTTLE_POWER_BRAKE = 0x80
};
#define THROTTLE_BITS 8

/** Room for all reasons' names. */
#define TELEMETRY_THROTTLE_BYTES 120

/** One sample. */
struct telemetry_sample {
  double watts;
  int sm_mhz, memory_mhz, celsius;
  int throttle; /**< enum telemetry_throttle, or-ed */
};

/** Numeric values of a sample. */
enum telemetry_value {
  TELEMETRY_WATTS,
  TELEMETRY_SM_MHZ,
  TELEMETRY_MEMORY_MHZ,
  TELEMETRY_CELSIUS,
  TELEMETRY_VALUES
};
extern const char *const telemetry_value_names[TELEMETRY_VALUES];

/** \brief One of them by number. */
double telemetry_value(const struct telemetry_sample *sample, enum telemetry_value value);

/** State that hardly changes during a run. */
struct telemetry_state {
  int sm_mhz_max, memory_mhz_max;
  int watts_limit;
  int ecc;                        /**< 1 on, 0 off */
  int64_t corrected, uncorrected; /**< ECC errors since the driver was loaded */
  int retired;                    /**< memory pages or rows taken out of use */
  int pcie_gen, pcie_gen_max, pcie_width, pcie_width_max;
  int nvlinks, nvlinks_active;
  int memory_bits, cores; /**< of the memory's bus; lanes of all multiprocessors */
  int64_t pcie_replays;
  int64_t nvlink_replays, nvlink_recoveries, nvlink_crc; /**< of all links together */
  int64_t xids;                                          /**< since telemetry_open */
  int xid;                                               /**< the last one's number */
  int64_t card_errors; /**< and discards, of the host's network cards, by whoever reads them */
  char card[48];       /**< the one that had most of the last ones */
};

/** \brief Peaks by the device's highest clocks and its widths: memory bytes per second at two words
 * per clock, and single-precision operations per second at two per lane and clock. 0 if the device
 * does not report them, and for one that is divided (MIG). */
double telemetry_peak_bytes(const struct telemetry_state *state);
double telemetry_peak_flops(const struct telemetry_state *state);

/** Facts of a state whose change during a run is significant. */
enum telemetry_fact {
  FACT_CORRECTED,
  FACT_UNCORRECTED,
  FACT_RETIRED,
  FACT_PCIE_REPLAYS,
  FACT_NVLINK_REPLAYS,
  FACT_NVLINK_RECOVERIES,
  FACT_NVLINK_CRC,
  FACT_XIDS,
  FACT_CARD_ERRORS,
  TELEMETRY_COUNTERS, /**< those above only rise, where something was wrong */
  FACT_PCIE_GEN = TELEMETRY_COUNTERS,
  FACT_PCIE_WIDTH,
  FACT_NVLINKS_ACTIVE,
  TELEMETRY_FACTS
};
extern const char *const telemetry_fact_names[TELEMETRY_FACTS];

/** Descriptions of the counters among them. */
extern const char *const telemetry_counter_words[TELEMETRY_COUNTERS];

/** \brief Detail of the last event, "Xid 79" or a card's name; "" if the fact has none. */
#define TELEMETRY_DETAIL_BYTES 48
const char *telemetry_fact_detail(const struct telemetry_state *state, enum telemetry_fact fact,
                                  char text[TELEMETRY_DETAIL_BYTES]);

/** \brief One of them by number. */
int64_t telemetry_fact(const struct telemetry_state *state, enum telemetry_fact fact);

struct telemetry;

/** \brief A device by its place on the PCI bus ("" where there is none). Never NULL but when memory
 * ran out; where nothing answers, all samples are unknown. HIMENO_NVML names another library than
 * libnvidia-ml.so.1, HIMENO_SYSFS another root than /sys: for tests. */
struct telemetry *telemetry_open(const char *pci);
void telemetry_close(struct telemetry *telemetry);

/** \brief What answers: one of telemetry_sources, or "". */
extern const char *const telemetry_sources[2];
const char *telemetry_source(const struct telemetry *telemetry);

/** \brief Takes about a millisecond: between blocks, not inside. telemetry_state takes some times
 * longer. */
void telemetry_read(struct telemetry *telemetry, struct telemetry_sample *sample);
void telemetry_state(struct telemetry *telemetry, struct telemetry_state *state);

/** \brief Reads the device's energy counter, which goes in steps, several a second. Returns what it
 * counts, in a few words; NULL, and leaves \a joules, where there is none. */
const char *telemetry_joules(struct telemetry *telemetry, double *joules);

/** Bytes that a device sent so far; TELEMETRY_UNKNOWN where it does not count them. */
struct telemetry_sent {
  int64_t nvlink;
  int64_t pcie; /**< begins again at 4 GiB */
};
void telemetry_sent(struct telemetry *telemetry, struct telemetry_sent *sent);

/** \brief Bytes sent between two such looks, less than 4 GiB of them through PCIe. */
struct telemetry_sent telemetry_sent_between(const struct telemetry_sent *before,
                                             const struct telemetry_sent *after);

#define TELEMETRY_HOLDERS 4

/** A process with memory on a device. */
struct telemetry_holder {
  unsigned process;
  int64_t bytes;
};

/** A device's memory, and who holds it. */
struct telemetry_memory {
  int64_t total, free;
  int n;                                             /**< processes but this one */
  struct telemetry_holder holder[TELEMETRY_HOLDERS]; /**< those with most, in falling order */
};

/** \brief Reads the memory use of the device at \a pci; no processes if they are not reported.
 * Takes tens of milliseconds. */
void telemetry_memory(const char *pci, struct telemetry_memory *memory);

/** \brief "power cap, thermal" into \a text; "" for none or unknown. Returns text. */
const char *telemetry_throttle_text(int throttle, char *text, size_t size);

#endif
