# SPDX-License-Identifier: MIT
# A site in the time after its acceptance, on 64 simulated hosts: a week of passive checks, and what
# has changed after a year.
load ../helper
bats_require_minimum_version 1.5.0

@test "a week of passive checks on 64 nodes: faults that come and go are named once, and no sound node is drained" {
  run "$PYTHON" -B "$top_srcdir/tests/sites/week.py" "$top_srcdir/scripts" "$BATS_TEST_TMPDIR"
  expect_status 0
  [ "$output" = '168 hours, 64 nodes, 6 drains' ]
}

# accept FOLDER OPTION...: runs level 1 on 64 hosts with two null devices each. Unlike in other
# files, himeno-judge does not judge steps again, because documents are edited here.
accept() {
  local folder=$1
  shift
  bats_run --separate-stderr "$top_srcdir/scripts/accept" "$folder" --hosts 'n[01-64]' --per-host 2 --program "$top_builddir/tests/clock/himeno-gpu" \
    --size 18x18x34 --seconds 0.05 --options "-b null --block 5" --policy site.json --parallel 4 --limit $((60 * SLOWNESS)) --level 1 \
    --budget $((600 * SLOWNESS)) --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}" "$@"
  unfolded
}

# document EXPRESSION: prints an expression of r, which is accept.json of $folder or new.
document() { "$PYTHON" -c 'import json, sys; r = json.load(open(f"{sys.argv[1]}/accept.json")); print(eval(sys.argv[2]))' "${folder:-new}" "$1"; }

@test "after a year three devices of 64 hosts are below the guaranteed rate, and nothing else is" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  export MPIRUN FAULTS=$BATS_TEST_TMPDIR/faults
  cd "$BATS_TEST_TMPDIR"
  : >faults
  echo '{"name": "site", "device_gflops_min": 1}' >site.json
  accept old
  expect_status 0
  grep -q '^  ACCEPTED at level 1: 1 of 1 checks passed' <<<"$output"
  grep -q '^  level 1 on 64 hosts: about ' <<<"$output"
  # Twenty hosts are measured again; the other steps stay as they were.
  cp -r old new
  rm new/accept.json new/steps/alone-n{0[1-9],1[0-9],40}.*
  find old -type f -exec sed -i 's/"time": "20[0-9][0-9]-/"time": "2001-/; s/"mpi": ".*"/"mpi": "Open MPI of old"/' {} +
  printf '%s\n' 'slow n03 1 1.15' 'slow n17 0 1.2' 'slow n40 1 1.13' 'slow n05 0 1.06' 'dead n07' >faults
  accept new --against old
  expect_status 7 # n07 does not start
  [ "$(document 'r["drain_list"], r["run_again_list"]')" = "('n[03,17,40]', 'n07')" ]
  [ "$(document 'sorted((f["hosts"][0], f["checks"][0], f["severity"]) for f in r["findings"] if f["kind"] == "slow")')" = \
    "[('n03', 'rate of installation', 'drain'), ('n17', 'rate of installation', 'drain'), ('n40', 'rate of installation', 'drain')]" ]
  [ "$(document '[(row["host"], row["rank"]) for row in r["drift"]["devices"] if row["outcome"] == "below the guaranteed rate"]')" = "[('n03', 1), ('n17', 0), ('n40', 1)]" ]
  [ "$(document '[(row["host"], row["rank"]) for row in r["drift"]["devices"] if row["outcome"] == "slower"]')" = "[('n05', 0)]" ]
  [ "$(document '{row["outcome"] for row in r["drift"]["devices"] if row["host"] not in ("n03", "n05", "n17", "n40")}')" = "{'unchanged'}" ]
  [ "$(document 'len(r["drift"]["devices"]), len(r["drift"]["hosts"]), r["drift"]["days"] > 9000')" = "(126, 63, True)" ]
  [ "$(document 'all(f["percent_from_limit"] < 0 for f in r["findings"] if f["kind"] == "slow"), sorted(r["bundles"])')" = "(True, ['n03', 'n17', 'n40'])" ]
  grep -qE '^    n17 [0-9a-f]+: 12.[0-9]+ → 10.[0-9]+ GFLOPS, -1[67].[0-9]% \(noise [0-9.]+%\): below the guaranteed rate$' <<<"$output"
  grep -q '^    hosts that were not compared: n07$' <<<"$output"
  # The hosts of both acceptances, except those whose inventory failed on this busy machine.
  listed=$(cd old/steps && grep -l '"outcome": "pass"' inventory-*.json | sed -n '/n07/!s/inventory-\(.*\).json/\1/p')
  [ -n "$listed" ]
  listed=$("$PYTHON" -Bc 'import sys; sys.path[:0] = [f"{sys.argv[1]}/accepting", f"{sys.argv[1]}/shared"]; import hosts; print(hosts.fold(sys.argv[2:]))' \
    "$top_srcdir/scripts" $listed)
  [ "$(sed -n 's/^    mpi Open MPI of old → .* on //p' <<<"$output")" = "$listed" ]
  grep -q 'below the guaranteed rate' new/accept.html
  follows accept new/accept.json
  # A finished acceptance is compared but not run again. A policy can guarantee a lower rate.
  printf '#!/bin/sh\nexit 9\n' >launch
  echo '{"name": "site", "device_gflops_min": 1, "rate_of_installation_min": 0.7}' >less.json
  bats_run "$top_srcdir/scripts/accept" new --against old --policy less.json
  expect_status 7
  [ "$(document 'r["drain_list"], [row["outcome"] for row in r["drift"]["devices"] if row["host"] == "n17"]')" = "('', ['slower', 'unchanged'])" ]
  # Make some devices new, missing, or part of another host, and change errors and a firmware.
  rm -r new && cp -r old new
  "$PYTHON" - <<'END'
import json
def edit(host, change):
    path = f"new/steps/alone-n{host}.doc"
    document = json.load(open(path))
    change(document["ranks"])
    json.dump(document, open(path, "w"))
edit("01", lambda ranks: ranks[1].update(uuid="GPU-new"))
edit("02", lambda ranks: ranks[0].update(uuid="GPU-moved"))
path = "old/steps/alone-n03.doc"
document = json.load(open(path))
document["ranks"][0].update(uuid="GPU-moved", telemetry={"ecc": {"corrected": 2}})
json.dump(document, open(path, "w"))
edit("03", lambda ranks: ranks[0].update(uuid="GPU-third"))
edit("02", lambda ranks: ranks[0].update(telemetry={"ecc": {"corrected": 12}}, driver="newer"))
document = json.load(open("new/accept.json"))
document["time"] = document["time"].replace("2001-", "2002-")
json.dump(document, open("new/accept.json", "w"))
END
  bats_run "$top_srcdir/scripts/accept" new --against old
  expect_status 0
  grep -qx '    new devices: n01 GPU-new, n03 GPU-third' <<<"$output"
  grep -qE '^    vanished devices: n01 [0-9a-f]+, n02 [0-9a-f]+$' <<<"$output"
  grep -qx '    moved device: GPU-moved from n03 to n02' <<<"$output"
  grep -qE '^    corrected ECC errors per day: n02 GPU-moved 0.027' <<<"$output"
  grep -qE '^    driver none → newer, none on n02$' <<<"$output"
  # Runs on different grids are not compared, nor is a folder without an acceptance.
  sed -i 's/"imax": [0-9]*/"imax": 99/' new/steps/alone-*.doc
  bats_run "$top_srcdir/scripts/accept" new --against old
  expect_status 2
  bats_run "$top_srcdir/scripts/accept" new --against .
  expect_status 2
  [[ $output == *'.: holds no finished acceptance' ]]
}
