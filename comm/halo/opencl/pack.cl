// SPDX-License-Identifier: MIT
// Copies between a field and the halo buffer, all messages in one launch; a work-group copies
// floats of one message only. `pieces` has one row per message: offset of the box in the field,
// offset in the buffer, rows per plane, floats per row, number of floats, first work-group. The
// host defines GROUP (work-items per group) and EACH (floats per work-item).

struct place {
  long field, buffer;
};

// Finds float n of this work-item. Returns 0 if that is past the end of the message.
int find_place(__global const long *piece, int n, long2 stride, struct place *place)
{
  long number = ((long)get_group_id(0) - piece[5]) * (GROUP * EACH) + n * GROUP + (long)get_local_id(0);
  long row = number / piece[3];
  if (number >= piece[4]) return 0;
  place->buffer = piece[1] + number;
  place->field = piece[0] + row / piece[2] * stride.x + row % piece[2] * stride.y + number % piece[3];
  return 1;
}

__global const long *my_piece(__global const long *pieces, int messages)
{
  int m = messages - 1;
  while (m > 0 && (long)get_group_id(0) < pieces[6 * m + 5]) m--;
  return pieces + 6 * m;
}

__kernel void pack(__global const float *restrict field, __global float *restrict buffer,
                   __global const long *pieces, const int messages, const long2 stride)
{
  __global const long *piece = my_piece(pieces, messages);
  struct place place;
  for (int n = 0; n < EACH && find_place(piece, n, stride, &place); n++)
    buffer[place.buffer] = field[place.field];
}

__kernel void unpack(__global float *restrict field, __global const float *restrict buffer,
                     __global const long *pieces, const int messages, const long2 stride)
{
  __global const long *piece = my_piece(pieces, messages);
  struct place place;
  for (int n = 0; n < EACH && find_place(piece, n, stride, &place); n++)
    field[place.field] = buffer[place.buffer];
}
