# SPDX-License-Identifier: MIT
# Of himeno-predict's documents of the four studies, in this order: how far what was left out in turn lies from what the
# rest predicts, by study, by what was left out and by way; half of the runs and 9 of 10 are within, and the worst.
# "apart" is the median of an interval's upper end over its lower one.
["first", "repeated", "eight", "hosts"] as $studies
| def middle: sort | if length % 2 == 1 then .[(length - 1) / 2] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
  def nine: sort | .[((9 * length + 9) / 10 | floor) - 1];
  def digits: . * 1e6 | round / 1e6;
  def told($study; $kind; $by): select(length > 0) | {study: $study, kind: $kind, by: $by, n: length,
      inside: map(select(.inside)) | length, apart: map(.high / .low) | middle | digits}
      + (map(.error | fabs) | {half: middle | digits, nine_of_ten: nine | digits, worst: max | digits});
  def kinds($kind): map(select($kind == "all" or .kind == $kind or ($kind == "ranks and cuts" and .kind != "size")));
  def ways($by): map(select($by == "all" or .by == $by));
  [to_entries[] | {study: $studies[.key], pairs: [.value.validation.pairs[] | select(.predicted)
      | .by = if .ranks == 1 then "one rank" else .transport end]}] as $of
| {left_out: [($of + [{study: "H200", pairs: [$of[:3][].pairs[]]}, {study: "all", pairs: [$of[].pairs[]]}])[] as $s
      | ("all", "ranks", "size", "cut", "ranks and cuts") as $kind | ("all", "p2p", "staged", "one rank") as $by
      | $s.pairs | kinds($kind) | ways($by) | told($s.study; $kind; $by)],
   causes: [$of[] as $s | $s.pairs | map(select(.cause)) | group_by(.cause)[] | {study: $s.study, cause: .[0].cause, n: length}]}
