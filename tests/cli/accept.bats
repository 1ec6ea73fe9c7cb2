# SPDX-License-Identifier: MIT
# Acceptance: the verdict lists every check, and the exit code distinguishes wrong from slow. Faults
# are planted below the detectors: in a simulated clock, and in a library that replaces NVML.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  himeno=$top_builddir/tests/clock/himeno-gpu
  export CLOCK_MACHINE="usual seed=4" HIMENO_NULL_DEVICES=16
  export HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so OMP_NUM_THREADS=1
}

# accept STATUS RANKS POLICY OPTION...: runs briefly on null devices with a simulated clock; the status - is any.
# -t counts simulated seconds; a block takes slightly more than 1 ms of them.
accept() {
  local status_=$1 launch="on $2" policy=$3
  [ "$2" -gt 1 ] || launch=
  shift 3
  run --separate-stderr $launch "$himeno" -b null -s 18x18x34 --block 5 -t 0.01 --accept "$policy" "$@"
  [ "$status_" = - ] || expect_status "$status_"
}

# check NAME FIELD: prints a field of a check in the last document.
check() {
  "$PYTHON" -c 'import json, sys
for check in json.load(open("r.json"))["result"]["accept"]["checks"]:
    if check["check"] == sys.argv[1]:
        print(check[sys.argv[2]])' "$1" "$2"
}

# verdict: prints the verdict of the last document, and whether it was accepted.
verdict() { "$PYTHON" -c 'import json; r = json.load(open("r.json"))["result"]; print(r["verdict"], r["accept"]["accepted"])'; }

follows_schema() { follows result r.json; }

policy() { printf '%s' "$1" >policy.json; }

@test "a good machine is accepted, and every check is listed with value, limit and margin" {
  policy '{"name": "site", "ceiling_share_min": 0.5, "device_gflops_min": 10, "device_spread_max": 0.2, "noise_max": 0.5,
    "stragglers_max": 0, "devices_per_host": 8, "ecc": true, "ecc_uncorrected_max": 0, "retired_max": 0, "pcie_gen_min": 5,
    "pcie_width_min": 16, "pcie_full": true, "nvlinks_min": 18, "sm_mhz_min": 1900, "celsius_max": 80, "throttled_max": 0,
    "throttle_forbidden": ["thermal"], "efficiency_min": 0.1}'
  accept 0 8 policy.json --json r.json
  grep -q 'acceptance by policy "site"' <<<"$output"
  grep -qx '  ACCEPTED: 17 of 17 checks passed' <<<"$output"
  [ "$(grep -c '17 checks' <<<"$output")" = 1 ]
  [ "$(check 'ECC on' unit) $(check 'ECC on' outcome) $(check 'NVLinks active' value) $(check clock margin)" = "yes/no pass 18.0 80.0" ]
}

@test "limits of built-in policies that were measured on GPUs with large grids apply only to such runs" {
  expect 0 "$himeno" -b null -s 10x10x10 --block 5 -t 0.01 --accept default
  grep -q 'bandwidth / ceiling of the worst device .*does not apply: much of the grid is in cache' <<<"$output"
  policy '{"ceiling_share_min": 0.5, "device_gflops_min": 0.001}'
  expect 0 "$himeno" -b null -s 10x10x10 --block 5 -t 0.01 --accept policy.json
  grep -q 'bandwidth / ceiling of the worst device .*pass' <<<"$output"
  run "$himeno" -b cpu -k stream -s S -t 0.1 --accept h200
  grep -q 'bandwidth / ceiling of the worst device .*does not apply: the limit is for GPUs' <<<"$output"
  grep -q 'GFLOPS of the slowest device .*does not apply: the limit is for GPUs' <<<"$output"
  run "$himeno" -b cpu -k stream -s S -t 0.1 --accept policy.json
  grep -q 'bandwidth / ceiling of the worst device *[0-9.]* ' <<<"$output"
}

@test "a slow device gets the verdict slow, not wrong, and is named with what differs" {
  CLOCK_MACHINE="usual seed=4 device@5=1.05" FAKE_NVML="clock@5=1845 throttle@5=32" \
    accept 5 8 default --json r.json
  grep -q 'STRAGGLER  rank 5 on .*compute is 1.05 times the usual' <<<"$output"
  grep -q 'clock in MHz 1845 (median of the ranks: 1980), throttled in .*(thermal)' <<<"$output"
  [ "$(grep -c STRAGGLER <<<"$output")" -eq 1 ]
  [ "$(check stragglers outcome) $(check stragglers rank) $(check 'throttled blocks' rank)" = "fail 5 5" ]
  grep -q 'NOT ACCEPTED' <<<"$output"
}

@test "both ends of a bad link are named, and the link suspected" {
  CLOCK_MACHINE="usual seed=4 path@2-3=20" accept 5 8 default --no-overlap
  [ "$(grep -c STRAGGLER <<<"$output")" -eq 2 ]
  grep -q 'STRAGGLER  rank 2 .*neighbour [ijk][-+], rank 3 .*suspect the link between them' <<<"$output"
}

@test "bytes that go through PCIe despite NVLinks, or past the host's transport, are reported" {
  run --separate-stderr env FAKE_NVML="nvlink=3 nvlink_each=655360 pcie=5 pcie_each=1000 nvlink_each@1=0 pcie_each@1=671088640" \
    "$MPIRUN" -np 2 "$himeno" -b null -s 18x18x34 --block 5 -t 0.05 -p 2x1x1 -x p2p --accept default --json r.json
  grep -q 'WARNING    rank 1 on .*, to rank 0 by p2p: through the host in disguise, 671 MB of 671 by PCIe and 0 by NVLink' <<<"$output"
  grep -q "paths      of halos, by the devices' counters: 1 direct by NVLink, 1 through the host in disguise\$" <<<"$output"
  [ "$("$PYTHON" -c 'import json; print([(p["rank"], *p["sent"].values()) for p in json.load(open("r.json"))["paths"]])')" = \
    "[(0, 671088640.0, 671088640, 1000, 'direct by NVLink'), (1, 671088640.0, 0, 671088640, 'through the host in disguise')]" ]
  follows_schema
}

# one_type FILE...: removes the numbers from the names of null devices.
one_type() { sed -i 's/"Null device [0-9]*"/"Null device"/' "$@"; }

@test "a policy made from good devices accepts similar ones and names the origin of each limit" {
  for seed in 1 2; do
    CLOCK_MACHINE="usual seed=$seed" FAKE_NVML="bits=32" accept 0 4 default -w --json "good$seed.json"
    one_type "good$seed.json"
  done
  expect 0 --separate-stderr "$judge" --make-policy good1.json good2.json
  printf '%s\n' "$output" >site.json
  # Devices and paths that differ more than the least distance of a limit.
  "$PYTHON" -c 'import json
d = json.load(open("good1.json"))
for rank, gflops in zip(d["ranks"], (12, 12.4, 11.8, 11)): rank["compute_gflops"] = gflops
for n, path in enumerate(d["paths"]): path.update(latency=1e-6 * (n + 4), gbps=100 - n)
d["ranks"][1]["telemetry"]["link"]["nvlinks_active"] = None # a value that a device lacks is not limited
json.dump(d, open("wide.json", "w"))
d["ranks"][1].update(gflops=None, compute_gflops=None, ceiling_share=None, theory=None, telemetry=None)
json.dump({**d, "paths": []}, open("bare.json", "w"))'
  run --separate-stderr "$judge" --make-policy bare.json
  [ "$("$PYTHON" -c 'import json, sys; print(*json.load(sys.stdin)["from"])' <<<"$output")" = "device_noise_max ecc_uncorrected_max devices_unshared stragglers_max episodes_max counted_max nvlink_crc_rate_max throttled_max" ]
  run --separate-stderr "$judge" --make-policy wide.json
  [ "$("$PYTHON" -c 'import json, sys, textwrap
p = json.load(sys.stdin)
f = p.pop("from")
print({*p} - {"name", "throttle_forbidden"} == {*f}, *dict.fromkeys(f.values()), textwrap.fill(json.dumps(p), 120), sep="\n")' <<<"$output")" = \
    'True
4 devices: median 11.9, spread 0.44, less 5 spreads, at least 3%
4 devices: median 0.979457, spread 0.0016, less 5 spreads, at least 3%
4 devices: median 0.974037, spread 0, less 5 spreads, at least 3%
twice that of these 4 devices, 0.12, at least 3%
chosen: 2%, below what a device may lack
6 path ends by p2p: median 6.5, spread 2.2, and 5 spreads, at least 50%
6 path ends by p2p: median 97.5, spread 2.2, less 5 spreads, at least 50%
the least of 4 devices
what a sound device has
NVIDIA'\''s DCGM: its health check fails a device at 100 per second
{"name": "Null device, 4", "device_gflops_min": 9.6761, "ceiling_share_min": 0.950073, "theory_share_min": 0.944815,
"device_spread_max": 0.235295, "device_noise_max": 0.02, "exchange_us_max": 17.6195, "exchange_gbps_min": 48.75,
"pcie_gen_min": 5, "pcie_width_min": 16, "ecc": true, "ecc_uncorrected_max": 0, "devices_unshared": true,
"stragglers_max": 0, "episodes_max": 0, "counted_max": 0, "nvlink_crc_rate_max": 100.0, "throttled_max": 0,
"throttle_forbidden": ["hardware", "thermal", "hardware_thermal", "power_brake"]}' ]
  CLOCK_MACHINE="usual seed=7" FAKE_NVML="bits=32" accept 0 4 site.json -w
  CLOCK_MACHINE="usual seed=7 device@2=1.05" FAKE_NVML="bits=32" accept 5 4 site.json -w
  grep -q 'limit from: 4 devices: median 12.1' <<<"$output"
  CLOCK_MACHINE="usual seed=7 path@1-2=2.2" FAKE_NVML="bits=32" accept 5 4 site.json -w --json r.json
  [ "$(check 'exchange rate' rank) $(check 'exchange rate' outcome)" = "1 fail" ]
}

@test "no policy is made from too few devices, from other work, or from runs that did not pass" {
  make() {
    expect 2 --separate-stderr "$judge" --make-policy "$@"
    [ -z "$output" ]
  }
  accept - 2 default -w --json two.json
  one_type two.json
  make two.json two.json
  grep -q 'make-policy: 2 devices in all, but a spread needs at least 3' <<<"$stderr"
  accept - 4 default --json four.json
  one_type four.json
  make two.json four.json
  grep -q "four.json: its devices had more or less to do than the first's" <<<"$stderr"
  accept - 4 default -w --verify off --json r.json
  make two.json r.json
  grep -q 'r.json: that run did not pass' <<<"$stderr"
  HIMENO_NULL_DEVICES=2 run --separate-stderr on 4 "$himeno" -b null -s 18x18x34 -w --block 5 -t 0.01 --json r.json
  one_type r.json
  make two.json r.json
  grep -q 'r.json: its ranks share devices' <<<"$stderr"
  sed 's/"Null device"/"Another device"/' four.json >r.json
  make four.json r.json
  grep -q 'r.json: it has another device than the first' <<<"$stderr"
  expect 3 --separate-stderr "$judge" --make-policy nowhere.json
}

@test "doc/devices.json and the pages agree with doc/results about device types" {
  needs_results
  "$PYTHON" "$top_srcdir/tests/cli/devices.py" "$top_srcdir/doc/results" | cmp - "$top_srcdir/doc/devices.json"
  "$PYTHON" - "$top_srcdir/doc" <<'PY'
import json, sys
def ends(row):
    return f"{row['least_median_greatest'][0]:.3f} to {row['least_median_greatest'][2]:.3f}"
text = open(f"{sys.argv[1]}/how-to/acceptance.md").read()
for device, of in json.load(open(f"{sys.argv[1]}/devices.json")).items():
    cells = (f"{row['devices']} devices: " + ", ".join(f"{value:.{digits}f}" for value in row["least_median_greatest"])
             for row, digits in ((of["gflops"], 0), (of["ceiling_of_theory"], 3)))
    assert f"| {device} | " + " | ".join(cells) + " |" in text, device
devices = json.load(open(f"{sys.argv[1]}/devices.json"))
h100, h200 = (devices[name]["ceiling_of_theory"] for name in ("NVIDIA H100 80GB HBM3", "NVIDIA H200"))
lowest = min(row["least_median_greatest"][0] for row in (h100, h200))
gflops = devices["NVIDIA H200"]["gflops"]
least, median, _ = gflops["least_median_greatest"]
# The words of the built-in policies.
of = [f"of the median of {gflops['devices']} H200 at L and XL, {median:.0f}; their lowest was {least:.0f}",
      f"lowest of {h200['devices']} H200 and {h100['devices']} H100: {lowest:.3f}",
      f"measured: {ends(h200)} on {h200['devices']} H200, {ends(h100)} on {h100['devices']} H100"]
found = " ".join(open(f"{sys.argv[1]}/../judge/policy.c").read().split())
for words in of:
    assert words in found, words
PY
}

@test "the bare command accepts one, two, four and eight devices, whether they reach each other or not" {
  local many="4 8"
  [ "${SANITIZERS:-no}" = no ] || many= # two ranks reach all of the code
  for ranks in 1 2 $many; do
    for apart in '' 0 1; do
      [ -z "$apart" ] || [ "$ranks" -gt 1 ] || continue
      HIMENO_NULL_APART=$apart expect 0 --separate-stderr on "$ranks" "$himeno" -b null --block 5 -t 0.01 -s 18x18x34 -w --accept --json r.json
      grep -q 'acceptance by policy "default"' <<<"$output"
    done
  done
  # Without -s each rank has a grid of the default size; with -s all ranks share one grid.
  HIMENO_NULL_DEVICES=2 run --separate-stderr on 2 "$himeno" -b cpu -s 34x34x66 --block 5 -t 0.01 --accept --json r.json
  [ "$("$PYTHON" -c 'import json; c = json.load(open("r.json"))["config"]; print(c["weak"], c["imax"], c["transport"], c["kernel_choice"])')" = "False 34 p2p default" ]
}

@test "clean runs accuse nobody" {
  policy '{"stragglers_max": 0, "device_spread_max": 0.05, "noise_max": 0.05, "ceiling_share_min": 0.5}'
  for seed in 1 2 3 4 5; do
    CLOCK_MACHINE="usual seed=$seed" accept 0 8 policy.json
    refute grep -q STRAGGLER <<<"$output"
  done
}

@test "device checks name the worst rank" {
  policy '{"ecc": true, "ecc_uncorrected_max": 0, "pcie_full": true, "retired_max": 1, "nvlinks_min": 18}'
  FAKE_NVML="ecc@1=0 broken@2=3 width@3=8 rows@0=2 links_up@1=17" accept 5 4 policy.json --json r.json
  [ "$(check 'ECC on' rank) $(check 'ECC uncorrected' rank) $(check 'ECC uncorrected' value)" = "1 2 3.0" ]
  [ "$(check 'all PCIe lanes in use' rank) $(check 'retired memory' margin) $(check 'NVLinks active' value)" = "3 -1.0 17.0" ]
  grep -q 'NOT ACCEPTED: 5 of 5 checks failed' <<<"$output"
}

@test "an unknown value passes as unknown, or fails if the policy requires it" {
  export HIMENO_NVML=/nonexistent
  policy '{"ecc": true, "devices_per_host": 1}'
  accept 0 1 policy.json
  grep -q 'ECC enabled .*unknown' <<<"$output"
  grep -qx '  ACCEPTED: 1 of 2 checks passed; 1 not checked: ECC enabled' <<<"$output"
  policy '{"ecc": true}'
  accept 2 1 policy.json
  policy '{"ecc": true, "unknown_fails": true}'
  accept 5 1 policy.json
  policy '{"ecc": false, "ceiling_share_min": 0, "unknown_fails": true}'
  accept 0 1 policy.json
  refute grep -q ECC <<<"$output"
}

@test "samples taken while throttled are marked" {
  FAKE_NVML="throttle@1=4" expect 0 on 2 "$himeno" -b null -s XS -n 3 --verify off --json r.json
  grep -q 'WARNING .*throttled at the end of 1 of 1 blocks: power cap' <<<"$output"
  [ "$("$PYTHON" -c 'import json; print(json.load(open("r.json"))["result"]["throttled"])')" = "[0]" ]
}

# document EXPRESSION: prints an expression of the last document's telemetry t, a list over ranks.
document() {
  "$PYTHON" -c 'import json, sys
r = json.load(open("r.json"))
t = [rank["telemetry"] for rank in r["ranks"]]
print(eval(sys.argv[1]))' "$1"
}

@test "error counters that rise during a run at full speed are reported, and the run is not accepted" {
  policy '{"counted_max": 0, "nvlink_crc_rate_max": 100}'
  FAKE_NVML="fixed=3 link_data-late@1=7 xid-late@1=79" accept 5 2 policy.json --json r.json
  [ "$(check 'errors counted' rank) $(check 'errors counted' value)" = "1 1.0" ]
  [ "$(check 'NVLink CRC errors' outcome)" = pass ]
  grep -q 'ERRORS .*rank 1 on .*: NVLink CRC errors 7, Xid events 1 (the last: Xid 79), since the run began' <<<"$output"
  [ "$("$PYTHON" -c 'import json
r = json.load(open("r.json"))["ranks"]
print([{of: n for of, n in rank["counted"].items() if n} for rank in r], [r[1]["counted"][of] for of in ("corrected", "pcie_replays")])')" = \
    "[{}, {'nvlink_crc': 7, 'xids': 1}] [0, 0]" ]
  [ "$(document '[c["detail"] for c in t[1]["changes"]]')" = "['', 'Xid 79']" ]
  grep -A1 'errors counted.*FAIL' <<<"$output" | grep -q 'Xid 79'
  follows_schema
}

@test "a run at full speed is not accepted if a device, a link or a card counts an error meanwhile, and the error is named" {
  local fault
  policy '{"counted_max": 0}'
  for fault in "fixed=ECC errors corrected 3" "broken=ECC errors not corrected 3" "rows=pages or rows retired 3" "resent=PCIe replays 3" \
    "link_replays=NVLink replays 3" "link_recoveries=NVLink recoveries 3" "xid=Xid events 1 (the last: Xid 3)"; do
    FAKE_NVML="${fault%%=*}-late@1=3" accept 5 2 policy.json
    grep '^  ERRORS  *rank 1 on ' <<<"$output" | grep -qF ": ${fault#*=}, since the run began"
    grep -A1 '^    hardware errors counted.* FAIL' <<<"$output" | grep -qF " ${fault#*=}; rank 1 on "
  done
  # Meanwhile a port counts symbol errors, or an Ethernet card counts discarded packets.
  "$top_srcdir"/tests/topo/unfold-sysfs "$top_srcdir"/tests/topo/four-gpus-two-cards.sysfs sysfs
  for fault in class/infiniband/mlx5_0/ports/1/counters/symbol_error class/net/eno1/statistics/tx_dropped; do
    rm -f r.json
    HIMENO_SYSFS=$PWD/sysfs started "$himeno" -b null -s 18x18x34 --block 5 -t 8 --accept policy.json --json r.json
    until grep -qs '"blocks": [1-9]' r.json; do sleep 0.02; done
    echo 1000 >now && mv now "sysfs/$fault" # atomic, so that the run reads a complete number
    ended
    output=$(cat out) expect_status 5
    grep -q "^  ERRORS  *rank 0 on .*: errors of network cards [0-9]* (the last: $(cut -d/ -f3 <<<"$fault").*), since the run began" out
  done
}

@test "a document with every kind of finding follows the schema" {
  has_jsonschema
  CLOCK_MACHINE="usual seed=4 device@1=1.2" FAKE_NVML="throttle@1=32" accept 5 4 default --json r.json
  follows_schema
}

@test "a run is compared with an earlier one, no finer than the noise of both" {
  measured() {
    run --separate-stderr on 2 "$himeno" -b null -s XS --block 5 "$@"
  }
  measured -t 0.1 --accept default --json before.json
  expect_status 0
  # The run has 19 blocks on any computer, because only blocks advance the simulated clock.
  [ "$("$PYTHON" -c 'import json; print(json.load(open("before.json"))["result"]["blocks"])')" = 19 ]
  measured -t 0.01 --reference before.json
  expect_status 0
  grep -A1 'speed / speed of the reference run .*pass' <<<"$output" | grep -q 'differences below [0-9.]*% are noise'
  CLOCK_MACHINE="usual seed=4 device@1=2" measured -t 0.01 --reference before.json --json r.json
  expect_status 5
  grep -q 'verdict    FAIL: results correct, but a limit was not met$' <<<"$output"
  [ "$(verdict)" = "slow False" ]
  CLOCK_MACHINE="usual seed=4 noise=0.5 device@1=2" measured -t 0.01 --reference before.json --json r.json
  expect_status 3
  grep -q 'noisy: differences below' <<<"$output"
  grep -q 'verdict    NOISY (too noisy to judge the speed): all results match' <<<"$output"
  grep -q 'NOT ACCEPTED: too noisy to judge, run again' <<<"$output"
  [ "$(verdict)" = "noisy False" ]
  follows_schema
}

@test "an unverified earlier run cannot be a reference" {
  expect 0 on 1 "$himeno" -b null -s XS --block 5 -t 0.01 --verify off --json before.json
  expect 2 --separate-stderr on 1 "$himeno" -b null -s XS --block 5 -t 0.01 --reference before.json
  [ "$(grep -c 'the timed part of that run was not verified' <<<"$stderr")" -eq 1 ]
}

@test "an unverified run is not accepted, unless the policy allows it by name" {
  policy '{"device_gflops_min": 0.001}'
  accept 0 1 policy.json --json r.json
  for ranks in 1 2; do
    accept 2 $ranks policy.json --verify off --json r.json
    grep -q 'NOT ACCEPTED: the result was not verified' <<<"$output"
    refute grep -q 'PASS\|  accepted' <<<"$output"
    [ "$(grep -c 'unverified_passes' <<<"$stderr")" -eq 1 ]
    [ "$(verdict)" = "usage False" ]
    follows_schema
  done
  run on 1 "$himeno" -b null -s XS --block 5 -t 0.01 --accept policy.json --json before.json
  expect 2 --separate-stderr on 1 "$himeno" -b null -s XS --block 5 -t 0.01 --verify off --reference before.json
  [ "$(grep -c 'unverified_passes' <<<"$stderr")" -eq 1 ]
  policy '{"device_gflops_min": 0.001, "unverified_passes": true}'
  accept 0 1 policy.json --verify off --json r.json
  grep -qx '  ACCEPTED, though NOT VERIFIED: 1 of 1 checks passed' <<<"$output"
  refute grep -q 'PASS' <<<"$output"
}

@test "a policy of which nothing can be checked accepts nothing" {
  policy '{"stragglers_max": 0, "device_spread_max": 0.1}'
  accept 2 1 policy.json --json r.json
  grep -q 'NOT ACCEPTED: nothing could be checked' <<<"$output"
  grep -q 'verdict    NOT JUDGED: all results match' <<<"$output"
  [ "$(grep -c '^himeno-gpu: policy policy.json: nothing in it could be checked$' <<<"$stderr")" -eq 1 ]
  [ "$(verdict)" = "usage False" ]
  follows_schema
  accept 0 2 policy.json
  grep -qx '  ACCEPTED: 1 of 2 checks passed; 1 not checked: ranks that are always slow (stragglers)' <<<"$output"
  policy '{"device_gflops_min": 0.001, "stragglers_max": 0, "noise_max": 1}'
  expect 2 --separate-stderr on 4 "$himeno" -b null -s 34x34x66 -n 5 --accept policy.json
  grep -q 'stragglers: not checked, 1 timed block, and 4 ranks need 6' <<<"$output"
  policy '{"ceiling_share_min": 0.5}'
  expect 2 --separate-stderr timeout $((60 * SLOWNESS)) "$himeno" -b null -s XS --block 5 --soak 1h --accept policy.json
  grep -q 'nothing in it can be checked in such a soak' <<<"$stderr"
}

@test "a run too noisy to be judged is neither slow nor accepted, and accuses nobody" {
  policy '{"device_gflops_min": 1000, "noise_max": 0.03, "ecc": true}'
  CLOCK_MACHINE="usual seed=4 noise=1" accept 3 2 policy.json --json r.json
  [ "$(verdict)" = "noisy False" ]
  [ "$(check 'noise of blocks' outcome) $(check device outcome) $(check device rank)" = "noisy noisy None" ]
  grep -q 'verdict    NOISY' <<<"$output"
  refute grep -q 'FAIL' <<<"$output"
  FAKE_NVML="ecc@1=0" CLOCK_MACHINE="usual seed=4 noise=1" accept 3 2 policy.json
  grep -q 'too noisy to judge, run again; 1 of 3 checks failed' <<<"$output"
  accept 5 2 policy.json --json r.json
  [ "$(verdict)" = "slow False" ]
}

@test "a wrong result takes precedence over noise, and noise over a slow device" {
  policy '{"device_gflops_min": 1000, "noise_max": 0.03}'
  HIMENO_FLIP="a2 9,9,9 30 3" CLOCK_MACHINE="usual seed=4 noise=1" accept 4 1 policy.json --json r.json
  [ "$(verdict)" = "wrong False" ]
  refute grep -q 'himeno-gpu: .*accept' <<<"$stderr"
}

@test "a reference run of other work is refused before anything is measured, and one of another kernel gives a warning" {
  policy '{"device_gflops_min": 0.001}'
  expect 0 on 1 "$himeno" -b cpu -s XS -k reference --block 5 -t 0.01 --accept policy.json --json before.json
  compared() {
    run --separate-stderr timeout 300 ${launch-} "$himeno" -b cpu -k stream --reference before.json "$@"
  }
  compared -s S -t 1h
  expect_status 2
  grep -q 'reference before.json: its imax is 32, this run.s is 64' <<<"$stderr"
  launch="$MPIRUN -np 2" compared -s XS -t 1h
  expect_status 2
  grep -q 'that run had 1 rank$' <<<"$stderr"
  compared -s XS --data dense -t 1h
  expect_status 2
  grep -q 'its data is "standard", this run.s is "dense"$' <<<"$stderr"
  compared -s XS --block 5 -t 0.01 --json r.json
  [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || [ "$status" -eq 5 ] # equally fast, too noisy to judge, or slower
  grep -q 'that run was of kernel reference, this one is of stream' <<<"$stderr"
}

@test "a run that was ended by a signal is not accepted" {
  policy '{"device_gflops_min": 0.001}'
  started "$himeno" -b null -s XS --block 5 -t 60 --accept policy.json --json r.json
  until [ -s r.json ]; do sleep 0.1; done
  kill -TERM $!
  ended
  [ "$status" -eq 8 ]
  grep -q 'NOT ACCEPTED: a signal ended the run' out
  [ "$("$PYTHON" -c 'import json; r = json.load(open("r.json")); print(r["partial"], r["result"]["verdict"], r["result"]["accept"]["accepted"])')" = \
    "True incomplete False" ]
}

@test "a soak measures no ceiling, so a policy cannot check it" {
  policy '{"ceiling_share_min": 0.9, "devices_per_host": 1, "unknown_fails": true}'
  expect 0 on 1 "$himeno" -b null -s XS --block 5 --soak 0.2 --accept policy.json --json r.json
  grep -q 'bandwidth / ceiling of the worst device .*does not apply' <<<"$output"
}

@test "bad policies and references give one line and the right exit code" {
  policy '{"ceiling": 1}'
  accept 2 2 policy.json
  [ "$(grep -c '^himeno-gpu:' <<<"$stderr")" -eq 1 ]
  grep -q 'no key "ceiling"' <<<"$stderr"
  for text in '{}' '{"ecc": false, "unknown_fails": true}' '{"throttled_max": 0}' '{"name": "good\n  ACCEPTED", "ecc": true}' '{"name": "\u001b[2J", "ecc": true}'; do
    policy "$text"
    accept 2 1 policy.json
    grep -Eq 'names nothing to check|without each other|control characters' <<<"$stderr"
  done
  accept 3 2 missing.json
  mkfifo pipe
  expect 2 --separate-stderr timeout $((20 * SLOWNESS)) "$himeno" -b null -s XS -n 1 --accept pipe
  grep -q 'a plain file' <<<"$stderr"
  expect 2 --separate-stderr timeout $((20 * SLOWNESS)) "$himeno" -b null -s XS -n 1 --reference pipe
  [ "$(grep '^himeno-gpu:' <<<"$stderr")" = "himeno-gpu: reference pipe: a reference is a plain file" ]
  expect 3 --separate-stderr timeout $((20 * SLOWNESS)) "$himeno" -b null -s XS -n 1 --reference missing.json
  expect 2 --separate-stderr on 2 "$himeno" -b null -s XS -n 1 --reference policy.json
}
