# SPDX-License-Identifier: MIT
# Of himeno-sim's documents, $runs the study that has the same runs as measured, by names with $of: how far each simulated
# sweep is from the measured one; half of the runs and 9 of 10 are within, and the worst.
def middle: sort | if length % 2 == 1 then .[(length - 1) / 2] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def digits: . * 1e6 | round / 1e6;
($runs | map(select(.name | contains($of))
   | {key: (.name | split("-") | [.[0], .[1], .[4], .[5]] | join(" ")),
      value: ((.document.result.samples | middle) / .document.config.block)}) | from_entries) as $measured
| [.[].runs[] | .config as $c
    | ([if $c.weak then "weak" else "strong" end, $c.size, $c.transport, ($c.procs | map(tostring) | join("x"))]) as $of
    | {scaling: $of[0], size: $of[1], transport: $of[2], cut: $of[3],
       simulated_us: (.phases.sweep.max * 1e6 | digits), measured_us: ($measured[$of | join(" ")] * 1e6 | digits)}
    | .error = (.simulated_us / .measured_us - 1 | digits)]
| {runs: ., errors: [group_by(.transport)[] | {transport: .[0].transport, n: length} + (map(.error | fabs) | sort
      | {half: middle | digits, nine_of_ten: .[((9 * length + 9) / 10 | floor) - 1], worst: max})]}
