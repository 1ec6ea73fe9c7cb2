/* SPDX-License-Identifier: MIT */
/* Counters of network cards and TCP during a part, and the conclusions from them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "gpu/host.h"
#include "tools/network/bench.h"

#define TCP_NAME "TCP"

/* Reads a column of /proc/net/snmp or netstat (below HIMENO_SYSFS if that is set). Each group has a
 * line of names, such as "IpExt: InOctets OutOctets", and a line of numbers. */
static int64_t net_number(const char *file, const char *group, const char *column)
{
  char path[512], names[8192], numbers[8192], *name, *number, *next_name, *next_number;
  int64_t found = 0;
  snprintf(path, sizeof path, "%s/proc/net/%s", strcmp(host_sysfs(), "/sys") == 0 ? "" : host_sysfs(), file);
  FILE *stream = fopen(path, "r");
  while (stream && fgets(names, sizeof names, stream) && fgets(numbers, sizeof numbers, stream)) {
    if (strncmp(names, group, strlen(group)) != 0) continue;
    name = strtok_r(names, " \n", &next_name);
    number = strtok_r(numbers, " \n", &next_number);
    while (name && number) {
      if (strcmp(name, column) == 0) found = strtoll(number, NULL, 10);
      name = strtok_r(NULL, " \n", &next_name);
      number = strtok_r(NULL, " \n", &next_number);
    }
  }
  if (stream) fclose(stream);
  return found;
}

void bench_counters_read(const char *pci, struct cards *cards)
{
  char path[512], text[32];
  cards_read(pci, cards);
  struct card *tcp = &cards->card[cards->n < CARDS_MAX ? cards->n++ : CARDS_MAX - 1];
  *tcp =
      (struct card){.name = TCP_NAME, .link = "IP", .state = "software", .numa = -1, .near = CARDS_UNKNOWN};
  meta_host(tcp->host, sizeof tcp->host);
  snprintf(path, sizeof path, "%s/class/net/lo/statistics/tx_bytes", host_sysfs());
  const int64_t loopback = host_read_line(path, text, sizeof text) ? strtoll(text, NULL, 10) : 0;
  tcp->sent = net_number("netstat", "IpExt:", "OutOctets") - loopback;
  tcp->received = net_number("netstat", "IpExt:", "InOctets") - loopback;
  tcp->errors = net_number("snmp", "Tcp:", "RetransSegs");
}

int bench_counters_finding(const struct bench_counters *counters, int row, char *text, size_t size)
{
  const struct cards_table *table = &counters->cards;
  const struct cards_row *card = &table->rows[row];
  int tcp = row;
  while (tcp < table->n && strcmp(table->rows[tcp].card.name, TCP_NAME) != 0) tcp++;
  if (tcp == table->n || !card->idle || !strchr(card->card.name, '/')) return 0;
  const double sent = (double)table->rows[tcp].sent;
  if (sent < 0.5 * (double)table->asked[row]) return 0;
  snprintf(text, size, "%s: %.3f GB left %s over TCP while %s port %s is up and carried %.3f GB",
           counters->part, sent / 1e9, card->card.host, card->card.link, card->card.name,
           (double)card->sent / 1e9);
  return 1;
}
