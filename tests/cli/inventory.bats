# SPDX-License-Identifier: MIT
# scripts/accept compares the inventories of hosts with a file and with each other.
# tests/sites/fake-cluster simulates the hosts; each can have its own /sys and nvidia-smi.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  cd "$BATS_TEST_TMPDIR"
  himeno=$top_builddir/tests/clock/himeno-gpu # a simulated clock, so that all hosts have the same speed
  export MPIRUN FAULTS=$PWD/faults OMP_NUM_THREADS=1 HIMENO_SYSFS=$PWD/good PATH=$PWD/bin:$PATH
  echo '{"name": "site", "device_gflops_min": 1e-9}' >site.json
  # Make the good host of the rack in the tutorial.
  "$top_srcdir/tests/sites/rack" rack "$top_builddir"
  mv rack/sys good
  mv rack/bin bin
  : >faults
}

# host NAME FILE [TEXT]: writes TEXT into FILE of the host's /sys, or deletes the folder FILE.
host() {
  [ -d "$1" ] || cp -r good "$1"
  if [ $# = 3 ]; then echo "$3" >"$1/$2"; else rm -r "${1:?}/$2"; fi
  echo "as $1 env HIMENO_SYSFS='$PWD/$1'" >>faults
}

# accept HOSTS OPTION...
accept() {
  local names=$1
  shift
  run "$top_srcdir/scripts/accept" out --hosts "$names" --program "$himeno" --size 18x18x34 --seconds 0.05 --policy site.json --options "-b null --block 5" \
    --limit $((60 * SLOWNESS)) --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}" "$@"
  unfolded
}

# exits STATUS HOSTS OPTION...: the same in a new folder, with this exit status.
exits() { rm -rf out && accept "${@:2}" && expect_status "$1"; }

@test "the inventory of a good host is written, follows its schema, and other hosts are compared with it" {
  exits 0 n1 --write-inventory inventory.json
  [[ $output == *"wrote the inventory of n1 to inventory.json"* ]]
  [ ! -e out/accept.json ]
  follows inventory inventory.json 'd["hosts"]["n1"]["gpu"] = []' 'd["hosts"]["n1"]["gpus"][0]["uuid"] = "x"' 'd["schema"] = 1'
  # tests/scripts/test_said.py compares what is read from /sys and nvidia-smi.
  [ "$(json inventory.json '[d["hosts"]["n1"][key] for key in ("kernel", "driver", "mpi")]')" = "['$(uname -r)', '580.126', '$(mpirun --version | head -n 1)']" ]
  [ "$(json inventory.json 'all(d["hosts"]["n1"][key] for key in ("gpus", "network", "cpus", "memory_gib"))')" = True ]
  "$PYTHON" - <<'END'
import json
document = json.load(open("inventory.json"))
host = document["hosts"].pop("n1")
document["hosts"]["n[1-3]"] = {**host, "memory_gib": 1.015 * host["memory_gib"]}
document["hosts"]["*"] = {"memory_gib": 1.1 * host["memory_gib"]}
json.dump(document, open("inventory.json", "w"))
END
  echo "as n3 env PYTHONHOME=/nonexistent" >>faults # its inventory is unknown
  exits 3 n3 --inventory inventory.json --stages alone
  grep -q 'inventory unknown' <<<"$output"
  : >faults
  exits 5 n4 --inventory inventory.json --stages alone
  grep -q '^  n4: memory in GiB [0-9]*, expected [0-9.]*$' <<<"$output"
  host n2 bus/pci/devices/0000:11:00.0
  host n3 module/nvidia/version 580.95
  host n3 class/infiniband/mlx5_0/ports/1/rate '200 Gb/sec (4X HDR)'
  exits 3 'n[1-3]' --inventory inventory.json --stages alone
  [[ $output != *'memory in GiB'* ]] # within 2%
  # Named before anything runs.
  [[ $output == *"  n2: GPUs 1, expected 2 (GPU 0000:11:00.0 missing)"*"  n3: "*"] alone-"* ]]
  grep -qx '  n3: driver 580.95, expected 580.126' <<<"$output"
  grep -qx '  n3: network card rate in Gbit/s 1 x 200, expected 1 x 400' <<<"$output"
  grep -qx '  drain: n2' <<<"$output"
  grep -q '^  suspect: n3 (driver 580.95, expected 580.126)' <<<"$output"
  # Each host runs two ranks, because the inventory lists two GPUs.
  grep -q 'n1 2 .*himeno-gpu' out/steps/alone-n1.log
}

@test "the verdict says if the number of devices is known only from the host itself" {
  exits 0 n1 --stages alone
  grep -q 'ACCEPTED: 1 of 1 checks passed; the number of devices is what the host itself reports' <<<"$output"
  echo '{"schema": "himeno-inventory/1", "hosts": {"n1": {"gpus": [{"count": 2}]}}}' >inventory.json
  exits 0 n1 --stages alone --inventory inventory.json
  grep -qx '  ACCEPTED: 1 of 1 checks passed' <<<"$output"
}

@test "without a file hosts are compared with each other" {
  host n2 module/nvidia/version 580.95
  exits 0 'n[1-4]' --per-host 1 --level 1
  grep -qx '  driver: 580.95 on n2, 580.126 on 3 other hosts' <<<"$output"
  grep -q 'ACCEPTED at level 1: 1 of 1 checks passed; hosts differ: driver: 580.95 on n2, 580.126 on 3 other hosts' <<<"$output"
  host n3 bus/pci/devices/0000:10:00.0/current_link_width 8
  exits 5 'n[1-4]' --per-host 1 --level 1
  grep -q '^  suspect: n3 (GPU PCIe lanes: 1 x 16, 1 x 8 on n3, 2 x 16 on 3 other hosts)' <<<"$output"
  # If two of four hosts differ, neither value is that of most hosts.
  host n4 bus/pci/devices/0000:10:00.0/current_link_width 8
  exits 0 'n[1-4]' --per-host 1 --level 1
  grep -q 'ACCEPTED at level 1: .*hosts differ: GPU PCIe lanes: 1 x 16, 1 x 8 on n\[3-4\], 2 x 16 on n\[1-2\]' <<<"$output"
}

@test "hosts with other GPUs are compared among themselves, and what all hosts lack is blamed on the inventory" {
  sed 's/H100, 81559/A100, 40960/' bin/nvidia-smi >a100
  for name in n3 n4; do
    host $name module/nvidia/version 580.126
    mkdir $name/bin
    install a100 $name/bin/nvidia-smi
    echo "as $name env PATH='$PWD/$name/bin:$PATH'" >>faults
  done
  exits 0 'n[1-4]' --per-host 1 --level 1
  [[ $output != *H100* ]]
  echo '{"schema": "himeno-inventory/1", "hosts": {"*": {"gpus": [{"count": 4}], "cuda": "13.0"}}}' >inventory.json
  exits 3 'n[1-2]' --per-host 1 --stages alone --inventory inventory.json
  grep -q 'policy or set-up' <<<"$output"
  [[ $output != *"drain: n"* && $output != *cuda* ]] # that is unknown here
}

@test "an inventory that is wrong is refused, and a host that does not answer is named" {
  while read -r text said; do
    echo "$text" >inventory.json
    accept n1 --inventory inventory.json
    expect_status 2
    grep -qF "inventory.json: $said" <<<"$output"
  done <<'END'
{"hosts":{}} is no inventory: "schema" must be "himeno-inventory/1"
{"schema":"himeno-inventory/1","hosts":{"n[2-1]":{}}} n[2-1]: 2-1 is not a range
END
  accept n1 --inventory missing.json
  expect_status 3
  echo 'dead n2' >faults
  accept 'n[1-2]' --write-inventory inventory.json
  expect_status 3
  [[ $output == *"n2: no inventory: "*"n2 does not answer"* ]]
  rm -r out
  accept 'n[1-2]' --per-host 1 --level 1
  grep -q 'NOT ACCEPTED at level 1: 1 finding; inventory unknown: n2' <<<"$output"
  rm -r out
  echo '{"schema":"himeno-inventory/1","hosts":{"n[1-2]":{"numa_nodes":2}}}' >inventory.json
  accept 'n[1-2]' --inventory inventory.json --stages alone
  "$PYTHON" - <<'END'
import json
causes = {one["step"]: (one["hosts"], one["cause"]) for one in json.load(open("out/accept.json"))["findings"]}
assert causes["inventory-n2"] == (["n2"], "the host did not answer, or its inventory could not be read"), causes
END
}
