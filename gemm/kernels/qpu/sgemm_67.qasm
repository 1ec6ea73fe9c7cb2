# SPDX-License-Identifier: MIT
# Rung 7: the loop is software-pipelined by four instructions (rotated), so that its branch fills the delay that
# the uniform stream needs after its address changes. 67 instructions, 64 of which compute: 95.5%. The rotation leaves
# a tail after the loop, during which the first block of C is loaded. Layout and words: sgemm.qinc.
#
# No look-up is requested in a delay slot, although no rule forbids it: the article reports that it fails on the chip.
.include "sgemm.qinc"
  begin
  loop_67
  fetch_first_block
  tail_67
  finish_tile
  next_tile_or_end
