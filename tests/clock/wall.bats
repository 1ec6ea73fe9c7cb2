# SPDX-License-Identifier: MIT
# Compares the times that programs without the virtual clock report with this script's clock: they
# must neither end early nor be slow. Other load may lengthen only the untimed parts of a run. The
# test allows for these parts (measured in a short run), for one second of an idle machine, and for
# time in which the processors were stopped.
load clock

# lasts PROGRAM [ARGUMENT]...: prints the seconds of the process; its document is in d.json.
lasts() {
  local begin=$EPOCHREALTIME
  "$@" --json d.json >/dev/null
  "$PYTHON" -c "print($EPOCHREALTIME - $begin)"
}

# holds PROGRAM SECONDS SHORT LONG: with the options LONG, the program must run for SECONDS more than with SHORT, with tolerance.
holds() {
  local program=$top_builddir/$1 seconds=$2
  short=$(lasts "$program" $3)
  stalls_watched
  long=$(lasts "$program" $4)
  stall=$(stalled)e-3
  echo "a short run $short s, one of $seconds s $long s, stalled for $stall s"
  "$PYTHON" -c "import sys; sys.exit(not $seconds <= $long <= $seconds + $short + $SLOWNESS + $stall)"
}

# between LOW EXPRESSION HIGH: the expression about the document `d` must be between LOW and HIGH.
between() {
  "$PYTHON" -c "import json, sys
d = json.load(open('d.json'))
print($2)
sys.exit(not $1 <= $2 <= $3)"
}

@test "a run lasts as long as requested, and nearly all of that is in its blocks" {
  holds himeno-gpu 2 "-b null -s S -n 10" "-b null -s S --block 10 -t 2"
  between "1.1 - $stall" 'd["result"]["seconds"]' "$long"
  between 0.999999 'sum(d["result"]["samples"]) / d["result"]["seconds"]' 1.000001
}

@test "a soak lasts as long as requested, and nearly all of that is in its blocks" {
  holds himeno-gpu 2 "-b null -s XS --block 10 --soak 0.01" "-b null -s XS --block 10 --soak 2"
  between 2 'd["result"]["soak"]["seconds"]' "$long"
}

@test "products last as long as requested, and half of that is not timed" {
  holds gemm-gpu 2 "-b null -s 64 -t 0.01" "-b null -s 64 -t 2"
  between "0.7 - $stall" 'sum(d["result"]["samples"])' "$long"
}

@test "the times that comm-gpu reports are the elapsed ones" {
  short=$(lasts "$top_builddir/comm-gpu" -b null --parts host --samples 1 --max 8K)
  stalls_watched
  long=$(lasts "$top_builddir/comm-gpu" -b null --parts host --samples 8 --max 64K --step 2)
  stall=$(stalled)e-3
  echo "a short run $short s, a long one $long s, stalled for $stall s"
  between "$long - $short - $SLOWNESS - $stall" 'd["result"]["seconds"]' "$long"
}
