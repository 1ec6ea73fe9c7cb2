# SPDX-License-Identifier: MIT
# Of himeno-predict's documents, fitted to one rank and set beside runs on two, in this order: how far they are over
# 2x1x1, by way; half of the runs and 9 of 10 are within, and the worst. "apart" is the median of an interval's upper end
# over its lower one.
["first", "repeated", "eight", "H100 stream", "H100 temporal4"] as $studies
| def middle: sort | if length % 2 == 1 then .[(length - 1) / 2] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
  def nine: sort | .[((9 * length + 9) / 10 | floor) - 1];
  def digits: . * 1e6 | round / 1e6;
  {from_one: [to_entries[] | $studies[.key] as $study
      | [.value.against.pairs[] | select(.predicted and .procs == [2, 1, 1] and .ranks == 2)] as $pairs
      | ("p2p", "staged", "all") as $by | $pairs | map(select($by == "all" or .transport == $by))
      | {study: $study, by: $by, n: length, inside: map(select(.inside)) | length, apart: map(.high / .low) | middle | digits}
        + (map(.error | fabs) | {half: middle | digits, nine_of_ten: nine | digits, worst: max | digits})]}
