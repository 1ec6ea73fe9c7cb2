// SPDX-License-Identifier: MIT
// Known content of memory and the order of a chase, as pattern.h explains. The host defines LINE
// (bytes per cache line).

uint mix32(uint x)
{
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

uint word_of(uint array, ulong w)
{
  return mix32((uint)w + array * 0x9e3779b9u + (uint)(w >> 32) * 0x85ebca6bu);
}

uint word_xor(int arrays, ulong w)
{
  uint x = 0;
  for (int a = 0; a < arrays; a++) x ^= word_of((uint)a, w);
  return x;
}

uint word_written(ulong w)
{
  return (uint)w * 0x9e3779b1u + 0x7f4a7c15u;
}

__kernel void fill(__global uint *mem, ulong n, uint number)
{
  for (ulong w = get_global_id(0); w < n; w += get_global_size(0)) mem[w] = word_of(number, w);
}

// `found` has the number of wrong words, the smallest index of one (counted from first_word), and
// the sum of the expected words. The host splits memory into parts of fewer than 2^32 words.
__kernel void check(__global const uint *mem, ulong n, int written, int arrays, int compare,
                    __global uint *found, ulong first_word)
{
  uint wrong = 0, sum = 0;
  uint first = 0xffffffffu;
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
    ulong w = first_word + i;
    uint want = written ? word_written(w) : word_xor(arrays, w);
    sum += want;
    if (!compare || mem[w] == want) continue;
    wrong++;
    first = min(first, (uint)i);
  }
  atomic_add(found + 2, sum);
  if (!wrong) return;
  atomic_add(found, wrong);
  atomic_min(found + 1, first);
}

// Positions are bytes from the start of the buffer.
struct ring {
  ulong nodes;
  uint stride;
};

ulong ring_permute(struct ring ring, ulong k)
{
  ulong mask = 1, x = k;
  int bits = 1;
  while (mask + 1 < ring.nodes) {
    mask = 2 * mask + 1;
    bits++;
  }
  do {
    for (int round = 0; round < 3; round++) {
      x = (x * 0xd1342543de82ef95ul + 0x9e3779b97f4a7c15ul) & mask;
      x ^= x >> ((bits + 1) / 2);
    }
  } while (x >= ring.nodes);
  return x;
}

ulong ring_at(struct ring ring, ulong k)
{
  ulong node = ring_permute(ring, k % ring.nodes);
  uint lines = ring.stride / LINE;
  ulong line = lines > 1 ? mix32((uint)node) % lines : 0;
  return node * ring.stride + line * LINE;
}

__kernel void ring_fill(__global ulong *mem, ulong nodes, uint stride)
{
  struct ring ring = {nodes, stride};
  for (ulong k = get_global_id(0); k < nodes; k += get_global_size(0))
    mem[ring_at(ring, k) / 8] = ring_at(ring, k + 1);
}

__kernel void chase(__global const ulong *mem, ulong at, ulong hops, __global ulong *result)
{
  for (ulong hop = 0; hop < hops; hop++) at = mem[at / 8];
  result[0] = at;
}
