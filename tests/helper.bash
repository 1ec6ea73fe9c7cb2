# SPDX-License-Identifier: MIT
# Shared by all bats files: `load ../helper`. Outside of `make check`, run bats in the build folder with top_srcdir set.
: "${top_builddir:=$PWD}" "${top_srcdir:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
export top_srcdir top_builddir
. "$top_builddir/tests/env.sh"
. "$top_srcdir/tests/settings.sh"
himeno=$top_builddir/himeno-gpu
judge=$top_builddir/himeno-judge
. "$top_srcdir/tests/replayed"
export HIMENO_QUIET=1 # on a busy machine any run takes so long that it tells how far it is

# Looked up once a file, since each test reads this anew: python3 itself where PATH has a script that looks for it, and a Python that
# has jsonschema, if there is one (the first on PATH need not be the distribution's).
if [ -z "${PYTHON_OF_TESTS-}" ]; then
  PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH
  for PYTHON_OF_TESTS in python3 /usr/bin/python3; do
    "$PYTHON_OF_TESTS" -c 'import jsonschema' 2>/dev/null && break
  done
  export PATH PYTHON_OF_TESTS
fi
PYTHON=$PYTHON_OF_TESTS

# without_sanitizers REASON: skips the test in a build with them.
without_sanitizers() { [ "${SANITIZERS:-no}" = no ] || skip "$1"; }

# needs_results: skips the test in a release, which leaves out doc/results.
needs_results() { [ -d "$top_srcdir/doc/results" ] || skip "doc/results is not part of a release"; }

# recorded FILE.jsonl NAME: that document of doc/results; recorded FILE.jsonl NAME... FOLDER/: those that fit a NAME, each as FOLDER/NAME.json.
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

# run: that of bats, after which a document is judged again (tests/replayed), also those of the steps of scripts/accept FOLDER,
# unless the folder is of another policy.
declare -F bats_run >/dev/null || eval "bats_$(declare -f run)"
run() {
  local n
  replay_begin "$@"
  bats_run "$@"
  # The leak sanitizer itself can crash while threads of OpenCL end. Such a run shows no leak and no failure: it is run once more.
  [[ $output != *"LeakSanitizer has encountered a fatal error"* ]] || bats_run "$@"
  replay_end "$status"
  for ((n = 1; n < $#; n++)); do
    [[ ${!n} != */scripts/accept || $status = 2 ]] || replay_steps "${@:n+1:1}"
  done
}

# started COMMAND...: runs it in the background, with its output in out and said; ended: waits for it and does the rest of what `run` does.
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

# follows SCHEMA DOCUMENT [EDIT]...: it follows that schema of doc/, and after none of the edits, which change `d`, still does. Without jsonschema
# nothing is looked at.
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

# stalls_watched: from now on stalled() tells for how many milliseconds in all this host's processors stood still, or were others': by how much a
# process that sleeps woke too late. A deadline is held against the clock less these.
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
  sleep 0.1 # for a stall that has just ended
  echo $((10#$(cat "$BATS_TEST_TMPDIR/stalled") - stalled_before))
}

# within ELAPSED LIMIT: the limit is that of an idle machine. The slowness is measured again if the load has grown since the file began.
within() { [ "$1" -le $(($2 * SLOWNESS)) ] || [ "$1" -le $(($2 * $(slowness))) ]; }

# on RANKS PROGRAM [ARGUMENT]...: runs the program on that many ranks.
on() {
  local ranks=$1
  shift
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  "$MPIRUN" -np "$ranks" "$@"
}

# refute COMMAND...: it must fail. A plain "! COMMAND" ends no test unless it is the last one.
refute() { ! "$@" || { echo "must fail, and did not: $*"; return 1; }; }

# expect_status CODE: the last `run` ended with that exit code; shows what it said if not.
expect_status() {
  [ "$status" -eq "$1" ] && return
  printf 'exit code %s, not %s:\n%s\n' "$status" "$1" "$output"
  return 1
}

# one_error PATTERN [PROGRAM]: the last `run --separate-stderr` printed one error alone, or one line of that program, warnings included, and it matches.
one_error() {
  local lines
  lines=$(if [ $# -gt 1 ]; then grep -E "^$2"; else grep -E '^([a-z]+-gpu|accept|scaling):' | grep -v ': warning: '; fi <<<"$stderr")
  [ "$(wc -l <<<"$lines")" -eq 1 ] && grep -Eq -- "$1" <<<"$lines" || { printf 'not one line with %s:\n%s\n' "$1" "$stderr"; return 1; }
}

# json FILE EXPRESSION: its value, of the document as d.
json() { "$PYTHON" -ISc "import json,sys; d=json.load(open(sys.argv[1])); print($2)" "$1"; }

# unfolded: $output of scripts/accept with each wrapped line on one line. Only commands, paths and
# lines with escaped characters may exceed 100 columns.
unfolded() {
  if LC_ALL=C.UTF-8 grep -aE '^.{101}' <<<"$output" | grep -avE '^    (scontrol|[./])|^(accept|  for the vendor of )|\\[xu]'; then return 1; fi
  output=$(sed -E ':more; N; s/\n {6}([^ ])/ \1/; t more; P; D' <<<"$output")
}
