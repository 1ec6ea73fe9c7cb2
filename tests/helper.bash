# SPDX-License-Identifier: MIT
# Functions for all bats files: `load ../helper`. Without `make check`, run bats in the build folder with top_srcdir set.
: "${top_builddir:=$PWD}" "${top_srcdir:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
export top_srcdir top_builddir
. "$top_builddir/tests/env.sh"
. "$top_srcdir/tests/settings.sh"
himeno=$top_builddir/himeno-gpu
judge=$top_builddir/himeno-judge
. "$top_srcdir/tests/replayed"
export HIMENO_QUIET=1 # on a busy machine runs take so long that they print their progress

# Choose python3 once per file, because every test loads this file. Avoid a wrapper script on PATH, and prefer an interpreter with
# jsonschema, which the first on PATH may lack.
if [ -z "${PYTHON_OF_TESTS-}" ]; then
  PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH
  for PYTHON_OF_TESTS in python3 /usr/bin/python3; do
    "$PYTHON_OF_TESTS" -c 'import jsonschema' 2>/dev/null && break
  done
  export PATH PYTHON_OF_TESTS
fi
PYTHON=$PYTHON_OF_TESTS

# without_sanitizers REASON: skips the test in a build with sanitizers.
without_sanitizers() { [ "${SANITIZERS:-no}" = no ] || skip "$1"; }

# needs_results: skips the test in a release, which leaves out doc/results.
needs_results() { [ -d "$top_srcdir/doc/results" ] || skip "doc/results is not part of a release"; }

# recorded FILE.jsonl NAME: prints a document of doc/results. recorded FILE.jsonl NAME... FOLDER/: stores those with such names.
recorded() {
  "$PYTHON" - "$top_srcdir/doc/results/$1" "${@:2}" <<'END'
import fnmatch, json, os, sys
path, *names = sys.argv[1:]
folder = names.pop() if names[-1].endswith("/") else None
found = [one for one in map(json.loads, open(path)) if any(fnmatch.fnmatch(one["name"], name) for name in names)]
assert len(found) >= len(names) and (folder or len(found) == 1), (path, names)
for one in found:
    with open(f"{folder}{one['name']}.json", "w") if folder else os.fdopen(1, "w") as file:
        json.dump(one["document"], file, indent=1)
END
}

# run: like that of bats, but judges the run's document again (tests/replayed). After scripts/accept FOLDER, it judges the
# documents of its steps, too.
declare -F bats_run >/dev/null || eval "bats_$(declare -f run)"
run() {
  local n
  replay_begin "$@"
  bats_run "$@"
  # The leak sanitizer can crash when threads of OpenCL end. That is neither a leak nor a failure: run it again.
  [[ $output != *"LeakSanitizer has encountered a fatal error"* ]] || bats_run "$@"
  replay_end "$status"
  for ((n = 1; n < $#; n++)); do
    [[ ${!n} != */scripts/accept || $status = 2 ]] || replay_steps "${@:n+1:1}"
  done
}

# started COMMAND...: runs it in the background, with output in the files out and said. ended: waits and judges its document.
started() {
  replay_begin "$@"
  "$@" >out 2>said 3>&- &
}
ended() {
  status=0
  wait $! || status=$?
  replay_end "$status"
}

has_jsonschema() { "$PYTHON" -c 'import jsonschema' 2>/dev/null || skip "python has no jsonschema"; }

# follows SCHEMA DOCUMENT [EDIT]...: the document must follow this schema of doc/, and after each EDIT, a statement about `d`, it
# must not. Does nothing without jsonschema.
follows() {
  "$PYTHON" -c 'import jsonschema' 2>/dev/null || return 0
  "$PYTHON" - "$top_srcdir/doc/$1.schema.json" "${@:2}" <<'PY'
import copy, json, sys, jsonschema
schema, document = (json.load(open(path), parse_constant=lambda name: sys.exit("not JSON: " + name)) for path in sys.argv[1:3])
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
validator.validate(document)
for edit in sys.argv[3:]:
    d = copy.deepcopy(document)
    exec(edit)
    if validator.is_valid(d):
        sys.exit("the schema takes " + edit)
PY
}

# stalls_watched: from now on, stalled() prints for how many milliseconds this host's processors were stopped or used by others,
# which is how much too late a sleeping process woke up. Deadlines are compared with the clock minus that time.
stalls_watched() {
  if [ ! -e "$BATS_TEST_TMPDIR/stalled" ]; then
    local test=$BASHPID
    "$PYTHON" -c 'import os, sys, time
out, late = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT), 0.0
while os.getppid() == int(sys.argv[2]):
    begin = time.monotonic()
    time.sleep(0.02)
    late += time.monotonic() - begin - 0.02
    os.pwrite(out, b"%012d" % (1000 * late), 0)' "$BATS_TEST_TMPDIR/stalled" "$test" 3>&- &
  fi
  until [ -s "$BATS_TEST_TMPDIR/stalled" ]; do sleep 0.02; done
  stalled_before=0
  stalled_before=$(stalled)
}
stalled() {
  sleep 0.1 # wait for the end of a stall that has begun
  echo $((10#$(cat "$BATS_TEST_TMPDIR/stalled") - stalled_before))
}

# within ELAPSED LIMIT: compares seconds with a limit for an idle machine. If the load has grown, its slowness is measured again.
within() { [ "$1" -le $(($2 * SLOWNESS)) ] || [ "$1" -le $(($2 * $(slowness))) ]; }

# on RANKS PROGRAM [ARGUMENT]...: runs the program on RANKS ranks. The launcher must not read the lines of a loop's table.
on() {
  local ranks=$1
  shift
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  "$MPIRUN" -np "$ranks" "$@" </dev/null
}

# refute COMMAND...: COMMAND must fail. A plain "! COMMAND" ends a test only as its last command.
refute() { ! "$@" || { echo "must fail, and did not: $*"; return 1; }; }

# expect_status CODE: the last `run` must have ended with CODE; otherwise prints its output.
expect_status() {
  [ "$status" -eq "$1" ] && return
  printf 'exit code %s, not %s:\n%s\n' "$status" "$1" "$output"
  return 1
}

# expect CODE COMMAND...: `run` with these arguments must end with CODE.
expect() { run "${@:2}" && expect_status "$1"; }

# one_error PATTERN [PROGRAM]: the last `run --separate-stderr` printed one error, or one line of PROGRAM, with PATTERN.
one_error() {
  local lines
  lines=$(if [ $# -gt 1 ]; then grep -E "^$2"; else grep -E '^([a-z]+-gpu|accept|scaling):' | grep -v ': warning: '; fi <<<"$stderr")
  [ "$(wc -l <<<"$lines")" -eq 1 ] && grep -Eq -- "$1" <<<"$lines" || { printf 'not one line with %s:\n%s\n' "$1" "$stderr"; return 1; }
}

# json FILE EXPRESSION: prints an expression of the document d.
json() { "$PYTHON" -ISc "import json,sys; d=json.load(open(sys.argv[1])); print($2)" "$1"; }

# unfolded: joins wrapped lines in $output of scripts/accept. Only commands, paths and lines with
# escaped characters may exceed 100 columns.
unfolded() {
  if LC_ALL=C.UTF-8 grep -aE '^.{101}' <<<"$output" | grep -avE '^    (scontrol|[./])|^(accept|  for the vendor of )|\\[xu]'; then return 1; fi
  output=$(sed -E ':more; N; s/\n {6}([^ ])/ \1/; t more; P; D' <<<"$output")
}
