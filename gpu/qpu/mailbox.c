/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/system.h"

#include <string.h>
#include <sys/ioctl.h>

#define PROPERTY_CALL _IOWR(100, 0, char *)
#define VALUES_MAX    4

enum {
  TAG_ALLOCATE = 0x3000c,
  TAG_LOCK = 0x3000d,
  TAG_UNLOCK = 0x3000e,
  TAG_RELEASE = 0x3000f,
  TAG_EXECUTE_QPU = 0x30011,
  TAG_ENABLE_QPU = 0x30012
};
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

/* Of a call of one value. */
static uint32_t answer_of(int file, uint32_t tag, uint32_t value)
{
  uint32_t answer;
  call(file, tag, &value, 1, &answer);
  return answer;
}

int qpu_mailbox_enable(int file, int on)
{
  uint32_t value = on != 0, answer;
  return call(file, TAG_ENABLE_QPU, &value, 1, &answer) != 0 || answer != 0;
}

uint32_t qpu_mailbox_allocate(int file, uint32_t bytes, uint32_t alignment, uint32_t flags)
{
  uint32_t answer;
  call(file, TAG_ALLOCATE, (uint32_t[]){bytes, alignment, flags}, 3, &answer);
  return answer;
}

uint32_t qpu_mailbox_lock(int file, uint32_t handle)
{
  return answer_of(file, TAG_LOCK, handle);
}

void qpu_mailbox_release(int file, uint32_t handle)
{
  answer_of(file, TAG_UNLOCK, handle);
  answer_of(file, TAG_RELEASE, handle);
}

/* The third value is "no flush": the firmware flushes its caches before the programs start. */
int qpu_mailbox_execute(int file, uint32_t n, uint32_t control, uint32_t milliseconds)
{
  uint32_t answer;
  if (call(file, TAG_EXECUTE_QPU, (uint32_t[]){n, control, 0, milliseconds}, 4, &answer) != 0) return -1;
  return answer != 0;
}
