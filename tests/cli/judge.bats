# SPDX-License-Identifier: MIT
# himeno-judge gives a stored document the verdict of its run, or the verdict by another policy.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  himeno=$top_builddir/tests/clock/himeno-gpu
  export CLOCK_MACHINE="usual seed=4" HIMENO_NULL_DEVICES=16 OMP_NUM_THREADS=1
}

# made NAME [OPTION]...: runs himeno-gpu briefly; the run passes, and its document is NAME.
made() {
  run --separate-stderr "$himeno" -b null -s 18x18x34 --block 5 -t 0.1 --json "$@"
  expect_status 0
}

# judged STATUS WORD...: the status - is any.
judged() {
  run --separate-stderr "$judge" "${@:2}"
  [ "$1" = - ] || expect_status "$1"
}

# edited DOCUMENT NAME EDIT: writes a copy of the document after EDIT, a statement about `d`.
edited() { "$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[3])
json.dump(d, open(sys.argv[2], "w"))' "$@"; }

policy() { printf '%s' "$1" >policy.json; }

@test "the worst document decides the exit code, and each is reported with its verdict" {
  made good.json
  policy '{"devices_per_host": 1}'
  judged 0 good.json --policy policy.json
  grep -q '^good.json: himeno-gpu, 1 rank, [0-9]* blocks in 0.1 s: pass$' <<<"$output"
  edited good.json two.json 'd["ranks"] *= 2; d["result"]["samples"] = [1]; d["series"] = None'
  judged 0 two.json --policy policy.json
  [ "$output" = 'two.json: himeno-gpu, 2 ranks, 1 block: pass
  ACCEPTED: 1 of 1 checks passed

  acceptance by policy "unnamed"
    check                                           value     required    margin  result
    devices per host                                    2  >=        1         1  pass' ]
  edited good.json wrong.json 'd["result"]["verdict"] = "wrong"'
  edited good.json ended.json 'd["partial"] = True'
  edited good.json hung.json 'd["result"]["verdict"] = "hang"'
  edited good.json unverified.json 'd["result"]["verified"] = "no"'
  edited good.json off.json 'd["result"]["verified"] = "no"; d["config"]["verify"] = "off"'
  policy '{"devices_per_host": 1, "device_noise_max": 0.5, "ecc": true}'
  for case in "good 0" "wrong 4" "ended 8" "hung 6" "unverified 3" "off 2"; do
    judged "${case#* }" "${case% *}.json" --policy policy.json
  done
  edited good.json failed.json 'd["ranks"][0]["noise"] = 0.4'
  bash -c 'ulimit -n 32; "$@"' - "$judge" $(printf 'good.json %.0s' {1..40}) --policy policy.json >out
  policy '{"cards_min": 99}'
  judged 5 failed.json good.json --policy policy.json
  [ "$(grep -c ': fail$' <<<"$output")" = 2 ]
  judged 6 good.json hung.json missing.json --policy policy.json # reads no file after a run that failed
}

@test "an earlier verdict of a policy does not count, and documents of earlier builds have unknown values" {
  made good.json
  edited good.json slow.json 'd["result"]["verdict"] = "slow"'
  policy '{"devices_per_host": 1}'
  judged 0 slow.json --policy policy.json
  for golden in himeno-gpu-1 himeno-gpu-2; do
    judged 0 "$top_srcdir/tests/golden/documents/$golden.json" --policy policy.json
    policy '{"device_gflops_min": 0, "unknown_fails": true}'
    judged 5 "$top_srcdir/tests/golden/documents/$golden.json" --policy policy.json
    policy '{"devices_per_host": 1}'
  done
}

@test "documents of gemm-gpu and comm-gpu are judged by the values that they have" {
  policy '{"devices_unshared": true, "ecc": true, "ceiling_share_min": 0.9, "devices_per_host": 1, "unknown_fails": true}'
  "$top_builddir/gemm-gpu" -b cpu -s 64 -t 0.05 --json gemm.json >out
  "$top_builddir/comm-gpu" -b cpu --parts host --max 1K --samples 3 --json comm.json >out
  for program in gemm comm; do
    judged 0 $program.json --policy policy.json
    grep -q "^$program.json: $program-gpu, 1 rank, .*: pass" <<<"$output"
    grep -q "ECC enabled .*does not apply: $program-gpu does not measure it" <<<"$output"
    grep -qE '^  ACCEPTED: ([12] of 4 checks passed; )?' <<<"$output"
  done
  edited gemm.json wrong.json 'd["result"]["verdict"] = "wrong"'
  judged 4 wrong.json
  edited gemm.json slower.json 'd["result"]["gflops"] *= 0.5; d["result"]["samples"] = [1] * 9'
  edited gemm.json faster.json 'd["result"]["samples"] = [1] * 9'
  judged 5 slower.json --against faster.json
  judged 0 gemm.json comm.json --policy policy.json
}

@test "products are judged by the rate of their type, and their spread by whether power limits the devices" {
  "$top_builddir/tests/clock/gemm-gpu" -b null -s 64 -t 0.05 --json one.json >out
  edited one.json gemm.json 'd["config"]["type"] = "f16"; d["worth"] = {"power_share": 0.89}
d["ranks"] = [{**d["ranks"][0], "rank": rank, "gflops": gflops} for rank, gflops in enumerate((100, 94, 98))]'
  edited gemm.json limited.json 'd["worth"]["power_share"] = 0.9'
  edited gemm.json unknown.json 'd["worth"]["power_share"] = None'
  policy '{"gemm_f16_gflops_min": 95, "gemm_f16-f16_gflops_min": 1, "gemm_bf16_gflops_min": 1, "gemm_spread_max": 0.06, "gemm_power_limited_spread_max": 0.07}'
  judged 5 gemm.json --policy policy.json
  grep -q '^  NOT ACCEPTED: 2 of 2 checks failed' <<<"$output"
  grep -qE 'GFLOPS of f16 products on slowest device +94(\.0+)? +>= +95(\.0+)? +-1(\.0+)? ' <<<"$output"
  grep -q 'at 0.89 of the power limit; rank 1 on ' <<<"$output"
  grep -qE '^ +\(max - min\) / median GFLOPS of products +0.0612 +<= +0.0600 ' <<<"$output"
  policy '{"gemm_f16_gflops_min": 93, "gemm_spread_max": 0.06, "gemm_power_limited_spread_max": 0.07}'
  judged 5 gemm.json --policy policy.json
  judged 0 limited.json unknown.json --policy policy.json
  [ "$(grep -cx '  ACCEPTED: 2 of 2 checks passed' <<<"$output")" = 2 ]
  # No check applies: a distributed product has no rate per device, himeno-gpu has no products.
  edited gemm.json shared.json 'd["config"]["distributed"] = {"procs": [1, 3]}'
  made himeno.json
  for document in shared himeno; do
    judged 2 $document.json --policy policy.json
  done
}

@test "a stored run is compared with an earlier one of the same work" {
  made before.json
  cp before.json after.json
  judged 0 after.json --against before.json
  grep -q 'acceptance by comparison with the earlier run' <<<"$output"
  edited before.json slower.json 'd["result"]["gflops"] *= 0.8'
  judged 5 slower.json --against before.json --json -
  [ "$("$PYTHON" -c 'import json, sys; r = json.load(sys.stdin)["result"]; print(r["verdict"], r["accept"]["policy"], r["accept"]["checks"][0]["outcome"])' <<<"$output")" = "slow None fail" ]
  edited before.json few.json 'd["result"]["samples"] = [1, 1]; d["ranks"][0]["noise"] = None'
  judged 2 few.json --against before.json
  [ "$stderr" = 'himeno-judge: reference before.json: nothing could be compared' ]
  edited before.json larger.json 'd["config"]["imax"] = 99'
  judged 2 larger.json --against before.json
  [ "$stderr" = 'himeno-judge: reference before.json: its imax is 18, this run'"'"'s is 99' ]
  edited before.json other.json 'd["config"]["kernel"] = "other"'
  judged 0 other.json --against before.json
  grep -qx 'himeno-judge: warning: reference before.json: that run was of kernel .*, this one is of other' <<<"$stderr"
}

@test "compared with an earlier run each device has its change, and is checked against a share of its rate at installation" {
  CLOCK_MACHINE="usual seed=4" on 4 "$top_builddir/tests/clock/himeno-gpu" -b null -s 18x18x34 --block 5 -t 0.05 -w --json before.json >/dev/null
  edited before.json before.json 'd["time"], d["version"], d["system"]["kernel"] = "2025-01-01T00:00:00Z", "9.8", "6.1"
for rank in d["ranks"]: rank.update(host="n1", noise=0.001, telemetry={"ecc": {"corrected": 10}})'
  edited before.json after.json 'd["time"], d["version"], d["system"]["kernel"] = "2025-12-31T00:00:00Z", "9.9", "6.2"
for rank in d["ranks"]: rank["telemetry"]["ecc"]["corrected"] = 10 + 364 * rank["rank"]; rank["driver"] = "new" if rank["rank"] else "none"
d["ranks"][1]["compute_gflops"] *= 0.95
d["ranks"][3].update(uuid="GPU-new", host="added"); d["ranks"][2]["host"] = "moved"'
  judged 0 after.json --against before.json
  diff - <(sed -n '/^  drift/,$p' <<<"$output") <<'END'
  drift in 364 days
    device, slowest of host                                GFLOPS       now   change   noise  ECC/day
    rank 0 on n1, e220a8397b1dcdafe4d971771b652c20          12.13     12.13    +0.0%    1.0%        0
    rank 1 on n1, 910a2dec89025cc1f3203e9039f4a821          12.13     11.53    -5.0%    1.0%        1
    driver of rank 1 on n1, 910a2dec89025cc1f3203e9039f4a821: none → new
    host n1                                                 12.13     11.53    -5.0%    1.0%        1
    rank 2 on moved, 975835de1c9756cef75f04cbb5a1a1dd       12.12     12.12    +0.0%    1.0%        2
    driver of rank 2 on moved, 975835de1c9756cef75f04cbb5a1a1dd: none → new
    host moved                                              12.12     12.12    +0.0%    1.0%        2
    new: rank 3 on added, GPU-new
    vanished: rank 3 on n1, 1d0b14e4db018fedc164bb7b2b9b3e3a
    version: 9.8 → 9.9
    system.kernel: 6.1 → 6.2
END
  edited after.json slow.json 'd["ranks"][1]["compute_gflops"] *= 0.94'
  judged 5 slow.json --against before.json
  grep -qE '^    speed / speed at installation .worst device. +0.89[0-9]+  >= +0.9000 .* FAIL' <<<"$output"
  grep -A1 'at installation.*FAIL' <<<"$output" | grep -q 'limit from: the usual clause of contracts'
  policy '{"name": "site", "devices_per_host": 1, "rate_of_installation_min": 0.85}'
  judged 0 slow.json --against before.json --policy policy.json
  # If noise could hide the difference, the verdict is noisy; an even lower rate still fails.
  edited slow.json noisy.json 'for rank in d["ranks"]: rank["noise"] = 0.03'
  judged 3 noisy.json --against before.json
  edited noisy.json half.json 'd["ranks"][1]["compute_gflops"] *= 0.5'
  judged 5 half.json --against before.json
}

@test "text of a document cannot control a terminal" {
  made good.json
  edited good.json evil.json 'd["ranks"][0].update(host="\x1b[2Jn1", uuid="", device="a\nb", cards=0)'
  policy '{"cards_min": 99, "device_gflops_min": 1e9}'
  judged 5 evil.json --policy policy.json
  grep -q '  FAIL: host ?\[2Jn1$' <<<"$output"
  grep -A1 '  FAIL:$' <<<"$output" | grep -q '^      rank 0 on ?\[2Jn1, a?b$'
}

@test "bad options and files give one line and the right exit code" {
  made good.json
  for words in '' 'good.json --nonsense' 'good.json --policy' 'good.json good.json --json two.json' "$(printf 'good.json %.0s' {1..513})" 'good.json --make-policy --policy default' \
    'good.json --json good.json --against good.json' 'good.json --policy missing' 'missing.json' 'policy.json'; do
    policy '{}'
    judged - $words
    [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
    [ "$(grep -c '^himeno-judge: ' <<<"$stderr")" = 1 ] || { echo "$words: $stderr"; return 1; }
    [ -z "$output" ]
  done
  [ ! -e two.json ]
}

@test "rank 0 of 8192 ranks: document, memory and judging grow as the ranks, not faster" {
  PYTHONPATH=$top_srcdir/scripts/shared "$PYTHON" - "$top_builddir/tests/played/himeno-gpu" "$judge" <<'END'
import os, subprocess, sys
def used(*command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    usage = os.wait4(child.pid, 0)[2]
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss
def measured(ranks):
    os.environ["PLAYED_RANKS"] = str(ranks)
    _, memory = used(sys.argv[1], *"-b null -s XS -k reference --block 1 -t 1 --quiet --json many.json".split())
    return os.path.getsize("many.json"), memory, used(sys.argv[2], "many.json", "--against", "many.json")[0]
one, some, many = map(measured, (1, 1024, 8192))
assert many[0] < 16e6 and many[0] < 8.8 * some[0], (some, many)
assert many[1] - one[1] < min(200e6 / 1024, 12 * (some[1] - one[1])), (one, some, many)
assert many[2] < 16 * some[2], (some, many)
import json
from files import read_parsed
short, whole = json.load(open("many.json")), read_parsed("many.json")
ends = [(r, p) for group in whole["path_groups"] for r, p in zip(group["rank"], group["peer"])]
assert len(set(ends)) == 18 * 8192 - 90 and short["paths"] == [] and len(whole["path_groups"]) < 99, len(ends)
assert all(len(group["latency"]) == len(group["gbps"]) == len(group["rank"]) and 4e-6 <= min(group["latency"]) <= max(group["latency"]) < 4.05e-6
           and 300 <= min(group["gbps"]) <= max(group["gbps"]) < 303.01 for group in whole["path_groups"])
assert all((group["used"] == "p2p") == (r // 8 == p // 8) for group in whole["path_groups"] for r, p in zip(group["rank"], group["peer"]))
assert "driver" not in short["ranks"][9] and {row["driver"] for row in whole["ranks"]} == {"none"}
assert "samples" not in short["ranks"][9]["telemetry"] and whole["ranks"][9]["telemetry"].keys() >= {"samples", "watts"}
END
}
