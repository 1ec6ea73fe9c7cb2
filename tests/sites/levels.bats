# SPDX-License-Identifier: MIT
# Level 2 of scripts/accept on 64 hosts that this machine plays, with faults: they are named, and
# nothing else is.
load ../cli/cluster

# level LEVEL OPTION...: an acceptance of 64 hosts with one null device each.
level() { per_host=1 cluster 'n[01-64]' --parallel 3 --limit $((300 * SLOWNESS)) --level "$1" --budget $((1800 * SLOWNESS)) "${@:2}"; }

@test "level 2 on 64 hosts: a slow device, a bad cable and a dead host" {
  echo '{"name": "site", "device_gflops_min": 11.5, "stragglers_max": 0}' >site.json
  printf '%s\n' 'slow n17 0 1.2' 'dead n40' 'link n03 all 60' >faults
  level 2
  expect_status 7
  grep -q '^  level 2 on 64 hosts: about .* expected' <<<"$output"
  [ "$(verdict 'r["drain_list"], r["run_again_list"], len(r["findings"]), r["left_out"]')" = "('n[03,17]', 'n40', 3, [])" ]
  [ "$(verdict 'sorted(r["durations"]), r["durations"]["pair"]["steps"]')" = "(['again', 'all', 'alone', 'inventory', 'pair', 'path', 'products'], 93)" ]
  tail -n 1 <<<"$output" | grep -q '^  NOT ACCEPTED at level 2: 3 findings; '
}
