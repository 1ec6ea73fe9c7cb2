/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/system.h"

#include <string.h>
#include <sys/ioctl.h>

#define PROPERTY_CALL _IOWR(100, 0, char *)
#define VALUES_MAX    4

enum { TAG_EXECUTE_QPU = 0x30011, TAG_ENABLE_QPU = 0x30012 };
#define RESPONSE_OK  0x80000000u /* of the whole message, and the bit that a tag was answered */
#define TAG_ANSWERED 0x80000000u

/* A message of one tag: bytes in all, code; tag, bytes of its values, its code; the values; an end
 * of 0. */
enum {
  BYTES,
  CODE,
  TAG,
  TAG_BYTES,
  TAG_CODE,
  VALUES,
  END_WORDS = 1,
  WORDS_MAX = VALUES + VALUES_MAX + END_WORDS
};

/* Sets *answer to the first value of the answer, 0 where there is none; −1 then. */
static int call(int file, uint32_t tag, const uint32_t *values, uint32_t n, uint32_t *answer)
{
  uint32_t words[WORDS_MAX] __attribute__((aligned(16))) = {
      [BYTES] = (VALUES + n + END_WORDS) * 4, [TAG] = tag, [TAG_BYTES] = n * 4, [TAG_CODE] = n * 4};
  memcpy(words + VALUES, values, n * sizeof *values);
  *answer = 0;
  if (qpu_system->ioctl(file, PROPERTY_CALL, words) < 0) return -1;
  if (words[CODE] != RESPONSE_OK || !(words[TAG_CODE] & TAG_ANSWERED)) return -1;
  *answer = words[VALUES];
  return 0;
}

int qpu_mailbox_enable(int file, int on)
{
  uint32_t value = on != 0, answer;
  return call(file, TAG_ENABLE_QPU, &value, 1, &answer) != 0 || answer != 0;
}

/* The third value is "no flush": the firmware flushes its caches before the programs start. */
int qpu_mailbox_execute(int file, uint32_t n, uint32_t control, uint32_t milliseconds)
{
  uint32_t answer;
  if (call(file, TAG_EXECUTE_QPU, (uint32_t[]){n, control, 0, milliseconds}, 4, &answer) != 0) return -1;
  return answer != 0;
}
