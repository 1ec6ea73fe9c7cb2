# SPDX-License-Identifier: MIT
# Functions for programs with the virtual clock: `load clock`. CLOCK_MACHINE lists the costs of work (tests/clock/*.c); figures
# are exact.
load ../helper
bats_require_minimum_version 1.5.0
export OMP_NUM_THREADS=1
unset HIMENO_QUIET # time is the clock's

setup() {
  cd "$BATS_TEST_TMPDIR"
  unset CLOCK_MACHINE
}

# clocked RANKS PROGRAM [ARGUMENT]...: runs the program with `--json d.json`; it must exit with 0.
clocked() {
  clocked_to 0 "$@"
}

# clocked_to STATUS RANKS PROGRAM OPTION...: like clocked, but the program must exit with STATUS.
clocked_to() {
  local wanted=$1 ranks=$2 program=$3
  shift 3
  run --separate-stderr on "$ranks" "$top_builddir/tests/clock/$program" "$@" --json d.json
  expect_status "$wanted"
}

# report_has LINE...: the report must contain each LINE.
report_has() {
  local line
  for line; do
    [[ $output == *"$line"* ]] || { printf 'no "%s" in\n%s\n' "$line" "$output"; return 1; }
  done
}

# report_is: the report, below the line with the version, must have the lines of standard input, in which " | " separates lines,
# apart from the number of spaces.
report_is() {
  diff <(sed 's/ | /\n/g') <(tail -n +3 <<<"$output" | tr -s ' ' | sed 's/^ //; /^$/d')
}

# figures: checks d.json by the lines of standard input, EXPRESSION = VALUE. The expression is about the document `d`; numbers
# must agree to nine digits.
figures() {
  "$PYTHON" -IS /dev/fd/3 3<<'PY'
import json, sys
def near(a, b):
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(near(a[key], b[key]) for key in a)
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-16
    return a == b
class Node(dict):
    __getattr__ = dict.__getitem__
document = {"d": json.load(open("d.json"), object_hook=Node)}
bad = 0
for line in filter(str.strip, sys.stdin):
    expression, value = line.split(" = ")
    found, wanted = (eval(text, {"median": None} | document) for text in (expression, value))
    if not near(found, wanted):
        print(f"{expression.strip()} is {found!r} and not {wanted!r}")
        bad = 1
sys.exit(bad)
PY
}
