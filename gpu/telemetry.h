/* SPDX-License-Identifier: MIT */
/** \file
 * \brief State of a device: power, clocks, temperature, throttling, errors, link.
 *
 * The values of NVIDIA devices come from NVML, which is loaded at run time and needs no privilege;
 * those of AMD devices, and the link of any device, come from sysfs. A device is named by its PCI
 * address. Nothing here fails a run: a value that cannot be read is unknown. */
#ifndef GPU_TELEMETRY_H
#define GPU_TELEMETRY_H

#include <stddef.h>
#include <stdint.h>

/** The value of every field that is unknown. */
#define TELEMETRY_UNKNOWN (-1)

/** Reasons for reduced clocks, with NVML's values. NVML's reason "idle" is never reported. */
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

#define TELEMETRY_THROTTLE_BYTES 120

struct telemetry_sample {
  double watts;
  int sm_mhz, memory_mhz, celsius;
  int throttle; /**< throttling reasons, bitwise or of enum telemetry_throttle */
};

/** Indices of the numeric values of a sample. */
enum telemetry_value {
  TELEMETRY_WATTS,
  TELEMETRY_SM_MHZ,
  TELEMETRY_MEMORY_MHZ,
  TELEMETRY_CELSIUS,
  TELEMETRY_VALUES
};
extern const char *const telemetry_value_names[TELEMETRY_VALUES];

double telemetry_value(const struct telemetry_sample *sample, enum telemetry_value value);

/** State that hardly changes during a run. */
struct telemetry_state {
  int sm_mhz_max, memory_mhz_max;
  int watts_limit;
  int ecc;                        /**< 1 on, 0 off */
  int64_t corrected, uncorrected; /**< ECC errors since the driver was loaded */
  int retired;                    /**< number of memory pages or rows taken out of service */
  int pcie_gen, pcie_gen_max, pcie_width, pcie_width_max;
  int nvlinks, nvlinks_active;
  /** memory_bits: width of the memory bus in bits; cores: CUDA cores of all multiprocessors */
  int memory_bits, cores;
  int64_t pcie_replays;
  /** NVLink error counters, summed over all links */
  int64_t nvlink_replays, nvlink_recoveries, nvlink_crc;
  int64_t xids; /**< number of Xids (driver errors) since telemetry_open */
  int xid;      /**< number of the latest Xid */
  /** errors and discards of the host's network cards; the caller sets it */
  int64_t card_errors;
  char card[48]; /**< name of the card with most of the latest card errors */
};

/** \brief Returns the theoretical peak in memory bytes per second: twice the bus width per clock,
 * at the highest memory clock. telemetry_peak_flops returns the peak in single-precision operations
 * per second: two per lane and clock. Both are 0 if unknown, or if the device is partitioned
 * (MIG). */
double telemetry_peak_bytes(const struct telemetry_state *state);
double telemetry_peak_flops(const struct telemetry_state *state);

/** Indices of those values of a state that are significant if they change during a run. */
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
  TELEMETRY_COUNTERS, /**< number of the facts before this one, which are error counters */
  FACT_PCIE_GEN = TELEMETRY_COUNTERS,
  FACT_PCIE_WIDTH,
  FACT_NVLINKS_ACTIVE,
  TELEMETRY_FACTS
};
extern const char *const telemetry_fact_names[TELEMETRY_FACTS];

/** \brief Writes the detail of a fact's last event, "Xid 79" or a card's name, to \a text; "" if
 * there is none. Returns text. */
#define TELEMETRY_DETAIL_BYTES 48
const char *telemetry_fact_detail(const struct telemetry_state *state, enum telemetry_fact fact,
                                  char text[TELEMETRY_DETAIL_BYTES]);

int64_t telemetry_fact(const struct telemetry_state *state, enum telemetry_fact fact);

struct telemetry;

/** \brief Opens the telemetry of the device at a PCI address ("" if none). Returns NULL only if
 * memory ran out; if no source answers, all samples are unknown. For tests, HIMENO_NVML names
 * another library than libnvidia-ml.so.1, and HIMENO_SYSFS another root than /sys. */
struct telemetry *telemetry_open(const char *pci);
void telemetry_close(struct telemetry *telemetry);

/** \brief Names of all sources. telemetry_source returns the source that answers, or "". */
extern const char *const telemetry_sources[2];
const char *telemetry_source(const struct telemetry *telemetry);

/** \brief Reads a sample, in about a millisecond: call it between blocks, not during one.
 * telemetry_state takes several times longer. */
void telemetry_read(struct telemetry *telemetry, struct telemetry_sample *sample);
void telemetry_state(struct telemetry *telemetry, struct telemetry_state *state);

/** \brief Reads the device's energy counter, which advances in steps, several per second. Returns a
 * short description of what it measures. Returns NULL and does not set \a joules if there is no
 * counter. */
const char *telemetry_joules(struct telemetry *telemetry, double *joules);

/** Bytes that a device has sent so far; TELEMETRY_UNKNOWN if it does not count them. */
struct telemetry_sent {
  int64_t nvlink;
  int64_t pcie; /**< PCIe bytes; the counter wraps at 4 GiB */
};
void telemetry_sent(struct telemetry *telemetry, struct telemetry_sent *sent);

/** \brief Returns the bytes sent between two readings; those by PCIe are counted modulo 4 GiB. */
struct telemetry_sent telemetry_sent_between(const struct telemetry_sent *before,
                                             const struct telemetry_sent *after);

#define TELEMETRY_HOLDERS 4

/** A process that uses a device's memory. */
struct telemetry_holder {
  unsigned process;
  int64_t bytes;
};

struct telemetry_memory {
  int64_t total, free;
  int n;                                             /**< number of processes other than this one */
  struct telemetry_holder holder[TELEMETRY_HOLDERS]; /**< the largest users, in descending order */
};

/** \brief Reads the memory use of the device at \a pci. Sets n to 0 if processes are not reported.
 * Takes tens of milliseconds. */
void telemetry_memory(const char *pci, struct telemetry_memory *memory);

/** \brief Writes the names of the throttle reasons, "power cap, thermal", into \a text; "" for none
 * or unknown. Returns text. */
const char *telemetry_throttle_text(int throttle, char *text, size_t size);

#endif
