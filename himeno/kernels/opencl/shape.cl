// SPDX-License-Identifier: MIT
// Appended to a user's own kernel: reports the shape that the file declares to the host.
__kernel void shape(__global int *out)
{
  out[0] = (sizeof threads == 3 * sizeof(int)) & (sizeof tile == 3 * sizeof(int));
  for (int n = 0; n < 3 && out[0]; n++) {
    out[1 + n] = threads[n];
    out[4 + n] = tile[n];
  }
}
