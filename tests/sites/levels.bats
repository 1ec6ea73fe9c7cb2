# SPDX-License-Identifier: MIT
# Levels 2 and 3 of scripts/accept on 64 simulated hosts with faults: all faults are reported, and nothing else.
load ../cli/cluster

# level LEVEL OPTION...: accepts 64 hosts with one null device each and without network cards.
level() {
  mkdir sys
  HIMENO_SYSFS=$PWD/sys per_host=1 cluster "n[01-64]" --parallel 3 --limit $((300 * SLOWNESS)) --level "$1" --budget $((1800 * SLOWNESS)) "${@:2}"
}

@test "level 2 on 64 hosts finds a slow device, a bad cable and a dead host" {
  echo '{"name": "site", "device_gflops_min": 11.5, "stragglers_max": 0}' >site.json
  printf '%s\n' 'slow n17 0 1.2' 'dead n40' 'link n03 all 60' >faults
  level 2
  expect_status 7
  grep -q '^  level 2 on 64 hosts: about .* expected' <<<"$output"
  [ "$(verdict 'r["drain_list"], r["run_again_list"], len(r["findings"]), r["left_out"]')" = "('n[03,17]', 'n40', 3, [])" ]
  [ "$(verdict 'sorted(r["durations"]), r["durations"]["pair"]["steps"]')" = "(['again', 'all', 'alone', 'inventory', 'pair', 'path', 'products'], 93)" ]
  tail -n 1 <<<"$output" | grep -q '^  NOT ACCEPTED at level 2: 3 findings; '
}

@test "level 3 on 64 hosts soaks before the pairs, and finds faults that show only while other hosts work too" {
  echo '{"name": "site", "device_gflops_min": 11.5, "stragglers_max": 0}' >site.json
  printf '%s\n' 'worn n07' 'slow n09 0 1.2' >faults
  level 3 --soak 0.2 --slice 0.1 --seconds 0.05 --rounds 1
  expect_status 4
  grep -q '^  level 3 on 64 hosts: about .* expected' <<<"$output"
  [ "$(verdict 'r["drain_list"], r["run_again_list"], [(f["kind"], f["step"]) for f in r["findings"]], r["left_out"]')" = \
    "('n[07,09]', '', [('slow', 'alone-n09'), ('wrong', 'soak-0001-compute')], [])" ]
  tail -n 1 <<<"$output" | grep -q '^  NOT ACCEPTED at level 3: 2 findings; '
}
