# SPDX-License-Identifier: MIT
# Fourth rung: the loop is turned by four instructions, so that its branch stands where the uniform stream has to rest
# after its address changes. 67 instructions, 64 of which compute: 95.5%. What the turn leaves over is the tail after
# the loop, and the first block of C arrives meanwhile. Layout and words: sgemm.qinc.
#
# No look-up is requested in a delay slot, although no rule forbids it: the article reports that it fails on the part.
.include "sgemm.qinc"
  begin
  loop_67
  fetch_first_block
  tail_67
  finish_tile
  next_tile_or_end
