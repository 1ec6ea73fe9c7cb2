# SPDX-License-Identifier: MIT
# Functions of the bats files that run scripts/accept on a simulated cluster.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  export MPIRUN FAULTS=$BATS_TEST_TMPDIR/faults
  cd "$BATS_TEST_TMPDIR"
  himeno=$top_builddir/tests/clock/himeno-gpu
  : >faults
}

# cluster HOSTS OPTION...: runs an acceptance with two null devices per host.
cluster() {
  local hosts=$1
  shift
  run --separate-stderr "$top_srcdir/scripts/accept" out --hosts "$hosts" --per-host "${per_host:-2}" --program "$himeno" --size 18x18x34 --seconds 0.05 \
    --options "-b null --block 5" --policy site.json --parallel 2 --limit $((60 * SLOWNESS)) --rounds 3 --gemm-options '-s 64' \
    --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}" "$@"
  unfolded
}

# ends STATUS HOSTS OPTION...: the same, with this exit status. exits: in a new folder.
ends() { cluster "${@:2}" && expect_status "$1"; }
exits() { rm -rf out && ends "$@"; }

site() {
  cat >site.json <<'JSON'
{"name": "site", "ceiling_share_min": 0.2, "device_gflops_min": 11.5, "noise_max": 0.2, "stragglers_max": 0}
JSON
}

# verdict EXPRESSION: prints an expression of r, which is accept.json; r follows its schema.
verdict() {
  "$PYTHON" - "$1" "$top_srcdir/doc/accept.schema.json" <<'PY'
import json, sys
r = json.load(open("out/accept.json"))
try:
    import jsonschema
    jsonschema.validate(r, json.load(open(sys.argv[2])))
except ImportError:
    pass
print(eval(sys.argv[1]))
PY
}

# If a test fails, print its outcomes, because bats deletes its folder.
teardown() { [ -n "${BATS_TEST_COMPLETED-}" ] || grep -shE '"(why|outcome|name)"' out/steps/*.json out/accept.json | tail -n 80 || true; }
