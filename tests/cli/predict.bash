# SPDX-License-Identifier: MIT
# Functions of the bats files about himeno-predict.
load ../helper
bats_require_minimum_version 1.5.0

predict=$top_builddir/himeno-predict
export OMP_NUM_THREADS=1

# study_measured: makes a study in $measured with the virtual clock, so that its figures do not depend on this machine, and
# paths.json. Its messages go by MPI, and are renamed to shared memory, which takes no time under that clock.
study_measured() {
  [ "$HAVE_CMINPACK" = 1 ] || return 0
  export measured=$BATS_FILE_TMPDIR
  local CLOCK_MACHINE="sweep=1 jitter=0.002 fill=1000 checksum=1000 latency=2000 link=0.3 reduce=1000 barrier=1000"
  export CLOCK_MACHINE
  mkdir "$measured/study"
  for size in 28x28x56 XS 40x40x80 S; do
    for ranks in 1 2 3; do
      on $ranks "$top_builddir/tests/clock/himeno-gpu" -b cpu -k stream -x staged -s $size -t 0.02 --block 10 -p ${ranks}x1x1 \
        --json "$measured/study/$size-$ranks.json" >/dev/null
    done
  done
  on 2 "$himeno" -b cpu -k reference -s XS -n 2 --json "$measured/study/other-kernel.json" >/dev/null
  echo '{"schema": "other/1"}' >"$measured/study/other.json"
  on 2 "$top_builddir/tests/clock/comm-gpu" -b cpu --parts pairs -x staged --samples 3 --max 8M --json "$measured/paths.json" >/dev/null
  sed -i 's/"handover": "MPI"/"handover": "shared memory"/' "$measured"/study/*-[123].json "$measured/paths.json"
}

setup() {
  [ "$HAVE_CMINPACK" = 1 ] || skip "himeno-predict was not built: no cminpack"
  cd "$BATS_TEST_TMPDIR"
}

from_study() { "$predict" --study "$measured/study" --comm "$measured/paths.json" "$@"; }

# report_is: the report, below the line with the version, must have the words of standard input, in which " | " separates lines and
# "..." are any lines, and numbers within 2% and a digit of its numbers, as another processor may round a fit.
report_is() {
  "$PYTHON" -c 'import re, sys
number = re.compile(r"\b\d+\.?\d*(?:e[-+]\d+)?")
digit = lambda one: 10.0 ** (int(one.partition("e")[2] or 0) - len(one.partition("e")[0].partition(".")[2]))  # of its last one
def same(a, b):
    x, y = (number.findall(line) for line in (a, b))
    return number.sub("#", a).split() == number.sub("#", b).split() and all(
        abs(float(m) - float(n)) <= 0.02 * float(m) + min(0.2, 1.1 * digit(m)) for m, n in zip(x, y))
printed, wanted = list(filter(None, sys.argv[1].splitlines()[1:])), re.split(" [|] |\n", sys.stdin.read())[:-1]
for at, line in enumerate(wanted):
    if line == "...":
        printed = printed[next(n for n, one in enumerate(printed) if same(wanted[at + 1], one)):]
    else:
        assert same(line, printed.pop(0) if printed else "the end"), line
assert not printed, printed' "$output"
}

# for_figures: skips the test under sanitizers, because it compares only figures of recorded runs.
for_figures() { without_sanitizers "figures are the same without sanitizers"; }

follows_schema() { has_jsonschema && follows predict "$1"; }

# expect_error CODE PATTERN ARGUMENT...: himeno-predict ends with CODE and a line with PATTERN.
expect_error() {
  local code=$1 pattern=$2
  shift 2
  run --separate-stderr "$predict" "$@"
  expect_status "$code"
  one_error "$pattern" .
}
