/* SPDX-License-Identifier: MIT */
#include "comm/ranks/cards.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "gpu/host.h"

/* InfiniBand counts data in units of four bytes. */
#define IB_DATA_UNIT 4

static const char *const ib_errors[] = {"symbol_error",
                                        "link_error_recovery",
                                        "link_downed",
                                        "port_rcv_errors",
                                        "port_xmit_discards",
                                        "port_rcv_remote_physical_errors",
                                        "local_link_integrity_errors",
                                        "excessive_buffer_overrun_errors"};
/* rx_dropped is not used: it also counts packets for which there is no receiver. */
static const char *const net_errors[] = {"rx_errors", "tx_errors", "rx_missed_errors", "tx_dropped"};

const char *const cards_near_names[] = {"switch", "root", "node", "system", "unknown"};

/* Reads the first line of a file, without the newline. Returns 0 if it is missing or empty. */
static int line_read(const char *folder, const char *name, char *text, size_t size)
{
  char path[4 * PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return host_read_line(path, text, (int)size) && text[0] != '\0';
}

static int64_t number_read(const char *folder, const char *name, int64_t otherwise)
{
  char text[64];
  return line_read(folder, name, text, sizeof text) ? strtoll(text, NULL, 0) : otherwise;
}

static int card_exists(const char *folder, const char *name)
{
  char path[3 * PATH_MAX];
  DIR *there;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (!(there = opendir(path))) return 0;
  closedir(there);
  return 1;
}

static int64_t sum_read(const char *folder, const char *const *names, size_t n)
{
  int64_t sum = 0;
  for (size_t e = 0; e < n; e++) sum += number_read(folder, names[e], 0);
  return sum;
}

/* Finds a PCI device in sysfs, where addresses are in lower case, and resolves links in its path.
 * Returns 0 if there is no such device. */
static int pci_path(const char *pci, char path[PATH_MAX])
{
  char link[PATH_MAX];
  if (!pci[0]) return 0;
  snprintf(link, sizeof link, "%s/bus/pci/devices/%s", host_sysfs(), pci);
  for (char *c = link + strlen(link) - strlen(pci); *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c += 'a' - 'A';
  return realpath(link, path) != NULL;
}

/* Returns the number of bridges that two paths share below "/devices/pciDDDD:BB", or −1 if they do
 * not share that folder. The folders of the two devices do not count as bridges. */
static int shared_bridges(const char *a, const char *b)
{
  const char *root = strstr(a, "/devices/pci");
  int shared = -1;
  if (!root) return -1;
  root += strlen("/devices");
  for (const char *end = strchr(root + 1, '/'); end; end = strchr(end + 1, '/')) {
    if (strncmp(a, b, (size_t)(end - a + 1)) != 0) break;
    shared++;
  }
  return shared;
}

enum cards_near cards_near(const char *pci, const char *other)
{
  char a[PATH_MAX], b[PATH_MAX];
  if (!pci_path(pci, a) || !pci_path(other, b)) return CARDS_UNKNOWN;
  int shared = shared_bridges(a, b);
  /* two shared bridges are a root port and a switch below it */
  if (shared > 1) return CARDS_SWITCH;
  if (shared >= 0) return CARDS_ROOT;
  int64_t node = number_read(a, "numa_node", -1);
  return node >= 0 && node == number_read(b, "numa_node", -1) ? CARDS_NODE : CARDS_SYSTEM;
}

/* Follows the link `folder`/device to set the card's PCI address, NUMA node and distance. */
static void device_locate(const char *folder, const char *pci, struct card *card)
{
  char link[2 * PATH_MAX + 16], path[PATH_MAX];
  unsigned domain, bus, slot, function;
  card->numa = -1;
  card->near = CARDS_UNKNOWN;
  snprintf(link, sizeof link, "%s/device", folder);
  if (!realpath(link, path)) return;
  card->numa = (int)number_read(path, "numa_node", -1);
  const char *name = strrchr(path, '/') + 1;
  if (sscanf(name, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) return;
  snprintf(card->pci, sizeof card->pci, "%.15s", name);
  card->near = cards_near(pci, card->pci);
}

/* Converts "4: ACTIVE" to "active". */
static void state_set(struct card *card, const char *text)
{
  const char *word = strchr(text, ':');
  snprintf(card->state, sizeof card->state, "%.15s", word ? word + 1 + strspn(word + 1, " ") : text);
  for (char *c = card->state; *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c += 'a' - 'A';
}

static void ib_port_read(const char *folder, struct card *card)
{
  char text[64], counters[3 * PATH_MAX + 16];
  card->gbps = line_read(folder, "rate", text, sizeof text) ? strtod(text, NULL) : 0;
  line_read(folder, "link_layer", text, sizeof text);
  snprintf(card->link, sizeof card->link, "%.15s", text[0] ? text : "InfiniBand");
  line_read(folder, "state", text, sizeof text);
  state_set(card, text[0] ? text : "unknown");
  snprintf(counters, sizeof counters, "%s/counters", folder);
  card->received = number_read(counters, "port_rcv_data", 0) * IB_DATA_UNIT;
  card->sent = number_read(counters, "port_xmit_data", 0) * IB_DATA_UNIT;
  card->errors = sum_read(counters, ib_errors, sizeof ib_errors / sizeof ib_errors[0]);
  card->discards = number_read(counters, "port_xmit_discards", 0);
  card->symbols = number_read(counters, "symbol_error", 0);
}

static void net_read(const char *folder, struct card *card)
{
  char text[64], counters[3 * PATH_MAX + 16];
  int64_t mbps = number_read(folder, "speed", 0);
  card->gbps = mbps > 0 ? (double)mbps / 1000 : 0;
  snprintf(card->link, sizeof card->link, "Ethernet");
  line_read(folder, "operstate", text, sizeof text);
  state_set(card, strcmp(text, "up") == 0 ? "active" : text[0] ? text : "unknown");
  snprintf(counters, sizeof counters, "%s/statistics", folder);
  card->received = number_read(counters, "rx_bytes", 0);
  card->sent = number_read(counters, "tx_bytes", 0);
  card->errors = sum_read(counters, net_errors, sizeof net_errors / sizeof net_errors[0]);
  card->discards = number_read(counters, "tx_dropped", 0);
}

static struct card *card_add(struct cards *cards, const char *folder, const char *pci)
{
  struct card *card = &cards->card[cards->n++];
  memset(card, 0, sizeof *card);
  meta_host(card->host, sizeof card->host);
  device_locate(folder, pci, card);
  return card;
}

static int visible(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static void ib_device_read(const char *folder, const char *name, const char *pci, struct cards *cards)
{
  char ports[2 * PATH_MAX + 8], port[3 * PATH_MAX];
  struct dirent **entries;
  snprintf(ports, sizeof ports, "%s/ports", folder);
  int n = scandir(ports, &entries, visible, alphasort);
  for (int p = 0; p < n; p++) {
    if (cards->n < CARDS_MAX) {
      snprintf(port, sizeof port, "%s/%s", ports, entries[p]->d_name);
      struct card *card = card_add(cards, folder, pci);
      snprintf(card->name, sizeof card->name, "%.30s/%.8s", name, entries[p]->d_name);
      ib_port_read(port, card);
    }
    free(entries[p]);
  }
  if (n >= 0) free(entries);
}

/* Reads a network device. Skips loopback and devices of RDMA cards (device/infiniband). */
static void net_device_read(const char *folder, const char *name, const char *pci, struct cards *cards)
{
  if (cards->n >= CARDS_MAX || strcmp(name, "lo") == 0 || card_exists(folder, "device/infiniband")) return;
  struct card *card = card_add(cards, folder, pci);
  snprintf(card->name, sizeof card->name, "%.47s", name);
  net_read(folder, card);
}

static void class_read(const char *class,
                       void (*read)(const char *, const char *, const char *, struct cards *),
                       const char *pci, struct cards *cards)
{
  char root[PATH_MAX], folder[2 * PATH_MAX];
  struct dirent **entries;
  snprintf(root, sizeof root, "%s/class/%s", host_sysfs(), class);
  int n = scandir(root, &entries, visible, alphasort);
  for (int e = 0; e < n; e++) {
    snprintf(folder, sizeof folder, "%s/%s", root, entries[e]->d_name);
    read(folder, entries[e]->d_name, pci, cards);
    free(entries[e]);
  }
  if (n >= 0) free(entries);
}

void cards_read(const char *pci, struct cards *cards)
{
  cards->n = 0;
  class_read("infiniband", ib_device_read, pci, cards);
  class_read("net", net_device_read, pci, cards);
}
