# SPDX-License-Identifier: MIT
# scripts/accept on a simulated cluster (tests/sites/fake-cluster). Faults are planted below the detectors; each must be reported,
# and nothing else.
load cluster

@test "a good cluster is accepted" {
  site
  exits 0 'n[1-3]' --stages alone,pairs,switches,all,devices
  grep -q 'passed: n\[1-3\] (3 hosts)' <<<"$output"
  grep -q '  ACCEPTED' <<<"$output"
  [ "$(verdict 'r["accepted"], r["findings"]')" = "(True, [])" ]
}

@test "measurements are in the table, the page, the metrics and accept.json, with outliers marked" {
  site
  printf '%s\n' 'slow n3 1 1.04' >faults
  HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so exits 0 'n[1-5]' --rounds 2 --stages alone,pairs --prometheus hosts.prom
  [ "$(verdict '[(row["host"], row["outliers"], row["verdict"]) for row in r["measured"] if row["outliers"]]')" = "[('n3', ['gflops'], 'pass')]" ]
  [ "$(verdict '{(row["celsius"], row["watts"], row["sm_mhz"], row["errors"]) == (55, 300, 1980, 0) for row in r["measured"]}')" = "{True}" ]
  [ "$(verdict '[row["gflops"] == min(rank["gflops"] for rank in json.load(open(f"out/steps/alone-{row['"'host'"']}.doc"))["ranks"]) for row in r["measured"]]')" = \
    "[True, True, True, True, True]" ]
  [ "$(verdict 'all(0.5 < row["ceiling_share"] < 1.1 and 0 < row["exchange_seconds"] < row["pair_seconds"] < 1e-5 for row in r["measured"])')" = True ]
  grep -qE '^  host +GFLOPS +ceiling +exch\. µs +pairs µs +°C +W +MHz +errors +verdict$' <<<"$output"
  grep -qE '^  n1 +12\.[0-9]+ +9[0-9]\.[0-9]% +[0-9.]+ +[0-9.]+ +55 +300 +1980 +0  pass$' <<<"$output"
  grep -qE '^  n3 +11\.[0-9]+\* ' <<<"$output"
  grep -q '^  \* outlier: worse than the median of the hosts by more than 5 standard deviations (1.4826' <<<"$output"
  grep -qE '<td class="text"[^>]*>n3</td><td class="mark"[^>]*>11\.[0-9]+</td>' out/accept.html
  [ "$(grep -c 'class="mark"' out/accept.html)" = 1 ]
  run ! grep -Eq '(src|href)="?(http|//|file)|@import|url\(' out/accept.html
  grep -q '^himeno_accept_host_outlier{host="n3",of="flops_per_second"} 1$' hosts.prom
  ! grep '^himeno_accept_host_outlier' hosts.prom | grep -v '"n3",of="flops' | grep -q ' 1$' || return 1
  [ "$(grep -c '^himeno_accept_host_clock_hertz{host="n[1-5]"} 1980000000' hosts.prom)" = 5 ]
}

@test "a finding has its device with serial number, distances from limit and peers, cause and next step; a drained host has an archive for its vendor" {
  echo '{"name": "site", "device_gflops_min": 11.5, "ecc": true, "stragglers_max": 0, "from": {"device_gflops_min": "the contract"}}' >site.json
  mkdir bin
  cat >bin/nvidia-smi <<'END'
#!/bin/sh
case "$*" in *serial*) echo "00000000:11:00.0, NVIDIA H100, 81559, 96.00.30, 910a2dec89025cc1f3203e9039f4a821, 1652723000017" ;; esac
END
  chmod +x bin/nvidia-smi
  printf '%s\n' 'slow n2 1 1.2' 'flip n4 5,5,5' >faults
  HIMENO_SYSFS=$PWD PATH=$PWD/bin:$PATH HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so exits 4 'n[1-4]' --level 1 --prometheus hosts.prom
  grep -qE '^  level 1 on 4 hosts: about [0-9]+ s expected, at most 48 s$' <<<"$output"
  [ "$(grep -cE '^\[alone: step [1-4] of 4(, about [0-9]+ s left)?\] alone-n[1-4]  ' <<<"$output")" = 4 ]
  # Only the last line has the numbers of checks.
  [ "$(grep -c '3 checks failed' <<<"$output")" = 1 ]
  tail -n 1 <<<"$output" | grep -q '^  NOT ACCEPTED at level 1: 2 findings; 1 of the policy.s 3 checks failed on n2; 1 not checked: ranks that are always slow (stragglers) on n\[1,3\]$'
  grep -qx 'himeno_accept_level 1' hosts.prom
  cat >expected <<'END'
import json, tarfile
r = json.load(open("out/accept.json"))
slow, wrong = (next(one for one in r["findings"] if one["kind"] == kind) for kind in ("slow", "wrong"))
assert slow["device"] in slow["why"] and wrong["device"] in wrong["why"] and slow["device"] == "910a2dec89025cc1f3203e9039f4a821", (slow, wrong)
assert slow["serial"] == "1652723000017" and slow["severity"] == wrong["severity"] == "drain"
rate = next(row["gflops"] for row in r["devices"] if (row["host"], row["uuid"]) == ("n2", slow["device"]))
assert abs(slow["percent_from_limit"] - 100 * (rate / 11.5 - 1)) < 0.01 and -18 < slow["percent_from_peers"] < -15, slow
assert wrong["percent_from_limit"] is None and wrong["percent_from_peers"] is None
assert slow["next_step"] and "wrong results" in wrong["cause"] and slow["cause"] != wrong["cause"]
assert r["checks"] == {"all": 3, "passed": 1, "failed": 1} and list(r["unchecked"]) == ["stragglers"] and r["level"] == 1
limit = next(one for one in r["limits"] if one["check"] == "device")
assert (limit["from"], limit["hosts"], limit["outcome"], limit["limit"]) == ("the contract", "n2", "fail", 11.5), limit
assert r["machine"]["models"] == {"Null device": 8} and r["machine"]["driver"] == {"none": "n[1-4]"} and len(r["machine"]["suite"]) == 1, r["machine"]
assert any("MPI" in one for one in r["machine"]["mpi"]) and r["command"].startswith("accept out ") and r["durations"]["alone"]["steps"] == 4
assert set(r["bundles"]) == {"n2", "n4"}
with tarfile.open("out/bundle-n2.tar") as tar:
    names = {name.split("/", 1)[1] for name in tar.getnames()}
    read = lambda name: tar.extractfile(f"bundle-n2/{name}").read().decode()
    assert {"findings.json", "commands.txt", "versions.txt", "policy.json", "steps/alone-n2.doc", "steps/alone-n2.log"} <= names, names
    assert not [name for name in names if "n1" in name or "n4" in name]
    assert json.loads(read("findings.json"))["findings"] == [slow] and slow["command"] in read("commands.txt")
    assert next(iter(r["machine"]["suite"])) in read("versions.txt") and json.loads(read("steps/alone-n2.doc"))["program"] == "himeno-gpu"
END
  "$PYTHON" expected
  grep -q '<td class="text long"[^>]*>required: yes</td><td[^>]*>yes</td>' out/accept.html
  grep -q '910a2dec89025cc1f3203e9039f4a821, serial 1652723000017' out/accept.html
  [ "$(grep -o '3 checks failed' out/accept.html | wc -l)" = 1 ]
  [ "$(verdict 'r["level"]')" = 1 ] # by the schema
}

@test "metrics are what Prometheus reads" {
  site
  exits 0 'n[1-2]' --stages alone --prometheus hosts.prom
  if command -v promtool >/dev/null; then
    promtool check metrics <hosts.prom
    return
  fi
  for python in "$PYTHON" /usr/bin/python3 ''; do [ -n "$python" ] || break; "$python" -c 'import prometheus_client' 2>/dev/null && break; done
  [ -n "$python" ] || skip "there is neither promtool nor prometheus_client"
  "$python" - <<'PY'
from prometheus_client.parser import text_string_to_metric_families as read
families = {family.name: family for family in read(open("hosts.prom").read())}
assert all(family.type == "gauge" and family.documentation for family in families.values())
assert {tuple(sample.labels.values()) for sample in families["himeno_accept_host_passed"].samples} == {("n1",), ("n2",)}
assert [sample.value for sample in families["himeno_accept_accepted"].samples] == [1]
assert 1e9 < families["himeno_accept_host_flops_per_second"].samples[0].value < 1e11
PY
}

@test "a check that every host fails points to policy or set-up and drains none; a host that fails more is drained" {
  echo '{"name": "site", "device_gflops_min": 1000, "ceiling_share_min": 0.2, "device_spread_max": 0.05, "noise_max": 0.2}' >site.json
  exits 5 'n[1-3]' --stages alone,pairs,devices
  [ "$(verdict 'r["drain_list"], [row["verdict"] for row in r["measured"]], len(r["set_up"])')" = "('', ['policy or set-up?', 'policy or set-up?', 'policy or set-up?'], 1)" ]
  grep -q '^  policy or set-up? n\[1-3\]: all hosts fail this, for example n1: GFLOPS of the slowest device = 12.*, required >= 1000' <<<"$output"
  grep -q '^  NOT ACCEPTED: policy or set-up?' <<<"$output"
  ! grep -q 'drain:' <<<"$output" || return 1
  ! ls out/steps/device-* 2>/dev/null || return 1
  printf '%s\n' 'dead n4' 'slow n2 1 1.2' 'flip n5 5,5,5' >faults
  exits 7 'n[1-5]' --stages alone
  [ "$(verdict 'sorted(r["drain"]), [row["verdict"] for row in r["measured"]]')" = \
    "(['n2', 'n5'], ['policy or set-up?', 'slow', 'policy or set-up?', 'not started', 'wrong'])" ]
  # A single host has no other host that could show that the policy is wrong.
  : >faults
  per_host=1 exits 5 n1 --stages alone
  [ "$(verdict 'r["drain_list"]')" = n1 ]
}

@test "if no two hosts work together none is drained" {
  site
  echo 'apart n1' >faults
  printf '%s\n' 'apart n2' 'apart n3' 'apart n4' >>faults
  exits 7 'n[1-4]' --stages alone,pairs
  [ "$(verdict 'r["drain_list"], [f["hosts"] for f in r["findings"]]')" = "('', [['n1', 'n2', 'n3', 'n4']])" ]
  grep -q 'policy or set-up? n\[1-4\]: no two hosts work together' <<<"$output"
}

@test "ranks that share one CPU are accepted, or judged, without a second device" {
  echo '{"name": "site", "ceiling_share_min": 50}' >site.json
  run --separate-stderr "$top_srcdir/scripts/accept" out --hosts localhost --per-host 2 --program "$top_builddir/himeno-gpu" --seconds 0.05 --size 34x34x66 --options "-b cpu" \
    --policy site.json --stages alone,devices --launcher "$MPIRUN -np {ranks}"
  [ "$(verdict '{f["kind"] for f in r["findings"]} <= {"slow", "noisy"}, [f["step"] for f in r["findings"]]')" = "(True, ['alone-localhost'])" ]
}

@test "a slow device, a bad link, and hosts that do not start or hang are named, and nothing else is" {
  site
  printf '%s\n' 'dead n3' 'hang n4' 'slow n5 1 1.1' 'link n6 n7 60' >faults
  exits 7 'n[1-7]' --limit $((10 * SLOWNESS)) --stages alone,pairs,all,devices
  [ "$(verdict 'sorted(r["drain"]), sorted(r["run_again"])')" = "(['n5'], ['n3', 'n4'])" ]
  [ "$(verdict '[f["hosts"] for f in r["findings"] if f["kind"] == "path"]')" = "[['n6', 'n7']]" ]
  [ "$(verdict '{f["kind"] for f in r["findings"] if f["hosts"] == ["n3"]}')" = "{'not started'}" ]
  [ "$(verdict '{f["kind"] for f in r["findings"] if f["hosts"] == ["n4"]}')" = "{'hang'}" ]
  grep -q "alone-n4  hang  did not end within $((10 * SLOWNESS)) s" <<<"$output"
  [ "$(verdict '[f["step"] for f in r["findings"] if f["step"].startswith("device-")]')" = "['device-n5-1']" ]
  grep -q '^  drain: n5$' <<<"$output"
  grep -q '^  run again: n3 (not started: fake-cluster: n3 does not answer)$' <<<"$output"
  grep -q "does not answer" <<<"$output"
}

@test "each host's products must be right and verified" {
  site
  exits 0 'n[1-2]' --stages alone,products
  [ -s out/steps/products-n1.doc ]
  [ -s out/steps/products-n2.doc ]
  exits 2 'n[1-2]' --stages products --gemm-options '-s 64 --nonsense'
  [ "$(verdict 'r["drain"], r["run_again"], [f["hosts"] for f in r["findings"]]')" = "({}, {}, [['n1', 'n2']])" ]
  exits 2 'n[1-2]' --stages products --gemm-options '-s 64 --verify off'
  grep -q 'accept needs a verified result: remove --verify off' <<<"$output"
  # If himeno-judge is installed, the policy's limits for products are checked.
  mkdir bin
  ln -s "$top_builddir"/tests/clock/{himeno,gemm}-gpu "$top_builddir/himeno-judge" bin
  echo '{"name": "site", "device_gflops_min": 11.5, "gemm_f32_gflops_min": 0.55}' >site.json
  himeno=$PWD/bin/himeno-gpu exits 5 n2 --stages products
  [ "$(verdict 'r["drain_list"], [(f["hosts"], f["checks"], f["device"] in f["why"]) for f in r["findings"]]')" = \
    "('n2', [(['n2'], ['gemm-gpu: f32 products'], True)])" ]
  [ "$(verdict '[(one["check"], one["outcome"], one["hosts"]) for one in r["limits"] if "products" in one["check"]]')" = "[('f32 products', 'fail', 'n2')]" ]
}

@test "products that a signal ended do not pass" {
  site
  # Rank 0 prints that it is timing.
  cat >stopped <<'END'
#!/bin/bash
unset HIMENO_QUIET
"$@" 2>"$0.$$" &
until grep -q timing "$0.$$"; do kill -0 $! 2>/dev/null || break; sleep 0.1; done
kill -TERM $! 2>/dev/null
code=0
wait $! || code=$?
cat "$0.$$" >&2
exit $code
END
  chmod +x stopped
  echo "as n2 '$PWD/stopped'" >faults
  exits 8 n2 --stages products --seconds 60
  [ "$(verdict 'r["accepted"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "(False, [('partial', ['n2'])])" ]
  [ "$(verdict 'r["drain_list"], r["run_again_list"]')" = "('', 'n2')" ]
  grep -q 'products-n2  *partial (second try)' <<<"$output"
}

@test "a host too noisy to be judged has to run again, and is not drained" {
  site
  echo 'noisy n2 all 2' >faults
  exits 3 'n[1-3]' --stages alone,pairs,all,devices
  [ "$(verdict 'r["accepted"], r["drain_list"], r["run_again_list"], [(f["kind"], f["hosts"], f["step"]) for f in r["findings"]]')" = \
    "(False, '', 'n2', [('noisy', ['n2'], 'alone-n2')])" ]
  grep -q 'n2  *noisy: .*blocks vary by' <<<"$output"
  grep -q '^  run again: n2 (noisy: .*)$' <<<"$output"
  grep -q 'passed: n\[1,3\] (2 hosts)' <<<"$output"
  ! grep -q 'drain:' <<<"$output" || return 1
}

@test "neither a noisy pair nor a noisy run of all hosts accuses a host, however slow the link between them seems" {
  echo '{"name": "site", "device_gflops_min": 11.5, "noise_max": 0.05, "stragglers_max": 0}' >site.json
  printf '%s\n' 'noisy n1 n4 2' 'link n1 n4 60' >faults # n1 and n4 are partners in the first round
  exits 3 'n[1-4]' --rounds 1 --seconds 0.1 --stages alone,pairs,all,devices
  [ "$(verdict 'r["drain_list"], r["run_again_list"], {f["kind"] for f in r["findings"]}')" = "('', 'n[1-4]', {'noisy'})" ]
  [ "$(verdict 'sorted(f["hosts"] for f in r["findings"])[-1]')" = "['n1', 'n4']" ]
}

@test "unverified runs are not accepted and drain nobody, unless the policy lets them pass by name" {
  site
  exits 3 'n[1-2]' --stages alone,pairs --options '-b null --block 5 --verify off'
  [ "$(verdict 'r["accepted"], r["drain_list"], {f["kind"] for f in r["findings"]}')" = "(False, '', {'unverified'})" ]
  per_host=1 exits 3 'n[1-4]' --stages pairs --options '-b null --block 5 --verify off'
  [ "$(verdict 'r["accepted"], r["drain_list"], {f["kind"] for f in r["findings"]}')" = "(False, '', {'unverified'})" ]
  echo '{"name": "site", "device_gflops_min": 11.5, "unverified_passes": true}' >site.json
  exits 0 'n[1-2]' --stages alone,pairs --options '-b null --block 5 --verify off'
}

@test "a policy of which nothing could be checked accepts no cluster, and unchecked values are listed" {
  echo '{"name": "site", "stragglers_max": 0}' >site.json
  exits 2 'n[1-2]' --stages alone
  [ "$(verdict 'r["accepted"], r["drain_list"], [f["why"] for f in r["findings"]]')" = \
    "(False, '', ['nothing of the policy could be checked: stragglers'])" ]
  exits 0 'n[1-2]' --stages alone,all
  [ "$(verdict 'r["accepted"], r["unchecked"]')" = "(True, {})" ]
  echo '{"name": "site", "stragglers_max": 0, "device_gflops_min": 11.5}' >site.json
  exits 0 'n[1-2]' --stages alone
  grep -qx '  ACCEPTED: 1 of 2 checks passed; 1 not checked: ranks that are always slow (stragglers)' <<<"$output"
  exits 0 'n[1-2]' --stages pairs
  [ "$(verdict 'r["accepted"]')" = False ]
  grep -q 'nothing found, but these stages check nothing against the policy' <<<"$output"
}

@test "a host with a bad cable is slow with every partner" {
  site
  printf '%s\n' 'link n2 all 60' >faults
  per_host=1 exits 5 'n[1-6]' --stages alone,pairs,all
  [ "$(verdict 'r["drain_list"], len(r["findings"])')" = "('n2', 1)" ]
}

@test "a wrong bit takes precedence over a slow device in the exit code, and both hosts are drained" {
  site
  printf '%s\n' 'flip n2 5,5,5' 'slow n3 0 1.2' >faults
  exits 4 'n[1-3]' --options '-b null --block 5'
  [ "$(verdict 'sorted(r["drain"])')" = "['n2', 'n3']" ]
}

# own_names: replaces himeno-gpu by a program whose hosts call themselves by other names. Each
# line of the file `own` has a host's given name and the name by which it calls itself.
own_names() {
  mkdir own-names
  cat >own-names/himeno-gpu <<SH
#!/bin/sh
own=\$(awk -v given="\$SLURMD_NODENAME" '\$1 == given { print \$2 }' "$PWD/own")
SLURMD_NODENAME=\${own:-\$SLURMD_NODENAME} exec "$himeno" "\$@"
SH
  chmod +x own-names/himeno-gpu
  himeno=$PWD/own-names/himeno-gpu
}

@test "a guilty host is listed by the name that it was given, whatever it calls itself" {
  site
  own_names
  # Each kind of name is given to a host with a wrong bit, and to one with a slow device.
  local wrong=(n1.cluster 10.77.0.3 rack1.n5 fe80::7 N9 x) slow=(n2.cluster 10.77.0.4 rack1.n6 fe80::8 N10 y) n
  echo sound n0 >own
  for n in {0..5}; do
    printf '%s\n' "${wrong[n]} n$((2 * n + 1))" "${slow[n]} n$((2 * n + 2))" >>own
    printf '%s\n' "flip ${wrong[n]} 5,5,5" "slow ${slow[n]} 0 1.2" >>faults
  done
  per_host=1 ends 4 "sound,$(IFS=, && echo "${wrong[*]},${slow[*]}")" --stages alone
  [ "$(verdict '{row["host"]: row["verdict"] for row in r["measured"]} == {"sound": "pass", **dict.fromkeys("'"${wrong[*]}"'".split(), "wrong"), **dict.fromkeys("'"${slow[*]}"'".split(), "slow")}')" = True ]
  [ "$(verdict 'sorted(r["drain"]) == sorted("'"${wrong[*]} ${slow[*]}"'".split())')" = True ]
  grep -q "NodeName=" <<<"$output"
  # In a job of all hosts, a host is found by the order of ranks.
  echo '{"name": "site", "stragglers_max": 0}' >site.json
  printf '%s\n' 'a.x n4' 'b.x n3' 'c.x n2' 'd.x n1' >own
  echo 'slow b.x 1 1.06' >faults
  exits 5 'a.x,b.x,c.x,d.x' --stages alone,all
  [ "$(verdict 'r["drain_list"]')" = b.x ]
  grep -q '^    scontrol update NodeName=b.x State=DRAIN' <<<"$output"
}

@test "several names of one host are reported, and ranks that the launcher placed in another order accuse no wrong host" {
  site
  own_names
  printf '%s\n' 'n1 vm1' 'n1.cluster vm1' >own
  ends 2 'n1,n2,n1.cluster' --stages alone,pairs
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "('', [('duplicate', ['n1', 'n1.cluster'])])" ]
  grep -q 'n1 and n1.cluster: n1 and n1.cluster are one host, vm1' <<<"$output"
  [ "$(ls out/steps/pair-*.json)" = out/steps/pair-n1-n2.json ]
  cat >reversed <<SH
#!/bin/bash
exec "$top_srcdir/tests/sites/fake-cluster" "\$(tr , '\n' <<<"\$1" | tac | paste -sd,)" "\${@:2}"
SH
  chmod +x reversed
  echo 'slow n1 0 1.06' >faults
  echo '{"name": "site", "stragglers_max": 0}' >site.json
  : >own
  per_host=1 exits 3 'n[1-4]' --stages alone,all --launcher './reversed {list} {per_host}'
  [ "$(verdict 'r["drain_list"], r["run_again_list"], [f["kind"] for f in r["findings"]]')" = "('', 'n[1-4]', ['environment'])" ]
  grep -q 'the launcher placed ranks on other hosts than requested: ranks of n1 ran on n1 and n4' <<<"$output"
}

@test "among few hosts a bad link and a bad cable are found; of two hosts the link is not judged, and the verdict says so" {
  site
  # One of an exchange's two messages is slower, so that the exchange takes 1.43 times as long.
  echo 'link n1 n3 1.85' >faults
  exits 5 'n[1-4]' --stages alone,pairs
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "('', [('path', ['n1', 'n3'])])" ]
  per_host=1
  # With four hosts, one bad host is part of half of all pairs.
  echo 'link n2 all 3' >faults
  exits 5 'n[1-4]' --stages alone,pairs
  [ "$(verdict 'r["drain_list"]')" = n2 ]
  # With four hosts, one slow host is left out of the pairs.
  printf '%s\n' 'link n2 all 2.5' 'slow n4 0 1.2' >faults
  exits 5 'n[1-4]' --stages alone,pairs
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "('n[2,4]', [('slow', ['n4']), ('slow', ['n2'])])" ]
  run ! grep -q '>None<' out/accept.html
  : >faults
  exits 0 'n[1-2]' --stages alone,pairs
  grep -q '^  ACCEPTED: .*; not judged: links between hosts (2 hosts, 1 pair measured)\(;\|$\)' <<<"$output"
  [ "$(verdict 'r["accepted"], r["not_judged"]')" = "(True, ['not judged: links between hosts (2 hosts, 1 pair measured)'])" ]
  grep -q 'links between hosts (2 hosts' out/accept.html
  exits 0 'n[1-3]' --stages alone,pairs
  grep -q '^  ACCEPTED: ' <<<"$output"
  run ! grep -q 'not judged' <<<"$output"
}

@test "slow hosts that are as many as the others are suspects, and are not drained" {
  exits 0 'n[1-2]' --stages alone,all --policy default
  echo 'host n2 1.18' >faults
  exits 5 'n[1-2]' --stages alone,all --policy default
  [ "$(verdict 'r["drain_list"], r["suspect"], r["accepted"]')" = "('', {'n2': ['15% slower than the other host']}, False)" ]
  grep -q '^  suspect: n2 (15% slower than the other host)$' <<<"$output"
  printf '%s\n' 'host n2 1.25' 'host n3 1.25' >faults
  per_host=1 exits 5 'n[1-4]' --stages alone,all --policy default
  [ "$(verdict 'r["drain_list"], sorted(r["suspect"])')" = "('', ['n2', 'n3'])" ]
  grep -q '^  suspect: n\[2-3\] (20% slower than the other hosts)$' <<<"$output"
  # A smaller difference is reported only if a job of all hosts is slow because of it.
  echo 'host n1 1.08' >faults
  exits 5 'n[1-2]' --stages alone,all --policy default
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "('', [('suspect', ['n1'])])" ]
}

# carded HOSTS OPTION...: runs an acceptance of hosts with four network cards of 10 Gbit/s each. This machine's streams use no
# card, so each card's share of its speed in comm-gpu's document is replaced: by 0.95, or by a line "HOST CARD SHARE" of the file
# wires, for sending and receiving. A line "HOST fabric SHARE" reduces the rates under load of streams to HOST to this share.
carded() {
  mkdir -p bin
  ln -sf "$top_builddir/tests/clock/himeno-gpu" "$top_builddir/himeno-judge" bin
  for n in 0 1 2 3; do
    mkdir -p "sys/class/net/card$n/device" && echo 10000 >"sys/class/net/card$n/speed" && echo up >"sys/class/net/card$n/operstate"
  done
  cat >bin/comm-gpu <<END
#!/bin/bash
export OMPI_COMM_WORLD_LOCAL_RANK=\$((OMPI_COMM_WORLD_RANK % 4))
LD_PRELOAD="$top_builddir/tests/fault/apart.so" "$top_builddir/comm-gpu" "\$@" || exit
[ "\$OMPI_COMM_WORLD_RANK" != 0 ] || exec "$PYTHON" - "\${@: -1}" "$PWD/wires" <<'PY'
import json, sys
path, wires = sys.argv[1:]
d = json.load(open(path))
shares = {tuple(words[:2]): float(words[2]) for words in map(str.split, open(wires)) if words[0] != "tcp"}
tcp = [line[4:].strip() for line in open(wires) if line.startswith("tcp")]
d["findings"] = [one for one in tcp if one.split()[4] in {row["host"] for row in d["ranks"]}]
for row in d["ranks"]:
    for flow in row.get("fabric", ()):
        flow.update(alone=10, all=10 * shares.get((row["host"], "fabric"), 1))
    if "wire" not in row:
        continue
    own, peer = ((one["host"], one["wire"]["card"]) for one in (row, d["ranks"][row["wire"]["peer"]]))
    share = min(shares.get(own, 0.95), shares.get(peer, 0.95))
    row["wire"].update({key: share for key in ("out", "in", "out_all", "in_all", "share")}, carried=1)
json.dump(d, open(path, "w"))
PY
END
  chmod +x bin/comm-gpu
  himeno=$PWD/bin/himeno-gpu HIMENO_SYSFS=$PWD/sys per_host=1 cluster "$@"
}

@test "a host whose network card is slow is drained, except of two hosts, and TCP despite a faster port is a finding" {
  echo '{"name": "site", "wire_share_min": 0.8, "wire_spread_max": 0.05}' >site.json
  : >wires
  carded 'n[1-5]' --stages wires
  expect_status 0
  [ "$(verdict '[one["step"] for one in r["findings"]], r["durations"]["wires"]["steps"]')" = "([], 3)" ]
  rm -r out
  printf '%s\n' 'n4 card2 0.87' 'tcp pairs: 3.000 GB left n2 over TCP while InfiniBand port mlx5_0/1 is up and carried 0.000 GB' >wires
  carded 'n[1-5]' --stages wires
  expect_status 5
  [ "$(verdict 'r["drain_list"], sorted((f["kind"], f["hosts"], f["checks"], f["device"], f["percent_from_limit"]) for f in r["findings"])')" = \
    "('n4', [('path', ['n2'], ['path of the bytes'], None, None), ('slow', ['n4'], ['spread of wires'], 'card2', 68.42)])" ]
  [ "$(verdict '[(f["severity"], f["cause"]) for f in r["findings"]]')" = \
    "[('suspect', 'MPI sends by TCP although a faster port is up'), ('drain', 'a cable, a network card or a switch port is slow')]" ]
  echo 'tcp pairs: 0 GB left n9 over TCP while no port is up' >wires
  rm -r out
  echo 'n4 card2 0.79' >>wires # there is no third host, so either end may be slow
  carded 'n[3-4]' --stages wires
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"], f["device"]) for f in r["findings"]], sorted(f["checks"] for f in r["findings"])')" = \
    "('', [('path', ['n3', 'n4'], 'card2')], [['share of wire', 'spread of wires']])" ]
}

@test "a slow fabric under load is a finding with the leaf switches of its slow streams, and with no host" {
  echo '{"name": "site", "fabric_contention_max": 1.5}' >site.json
  printf 'SwitchName=%s Level=0 LinkSpeed=1 Nodes=%s\n' leaf1 'n[1-2]' leaf2 'n[3-4]' >topology
  echo 'n3 fabric 0.4' >wires
  carded 'n[1-4]' --stages fabric --topology topology
  expect_status 5
  [ "$(verdict 'r["drain_list"], r["run_again"], [(f["kind"], f["hosts"], f["severity"], f["percent_from_limit"]) for f in r["findings"]]')" = \
    "('', {}, [('fabric', [], 'suspect', 66.67)])" ]
  grep -q '^  fabric: the fabric is slow while all hosts send (leaf switch leaf2): rate alone over rate under load n[124] to n3 2.50, ' <<<"$output"
  rm -r out
  : >wires
  carded 'n[1-4]' --stages fabric --topology topology
  expect_status 0
}

@test "with --topology each leaf switch is tried between pairs and all hosts" {
  site
  cat >topology <<'TEXT'
SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-3]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[4-6]
SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[1-6] Switches=leaf[1-2]
TEXT
  per_host=1 exits 0 'n[1-6]' --topology topology --rounds 1 --stages alone,pairs,switches,all
  [ -s out/steps/switch-leaf1.json ] && [ -s out/steps/switch-leaf2.json ] && [ ! -e out/steps/switch-spine.json ]
}

@test "a device and a host that are 5% slower are found only by comparison with the others, and they alone are named" {
  echo '{"name": "site", "stragglers_max": 0}' >site.json
  printf '%s\n' 'slow n2 1 1.05' 'host n4 1.05' >faults
  exits 5 'n[1-5]' --stages alone,all
  [ "$(verdict 'r["drain_list"], sorted((f["hosts"][0], f["step"]) for f in r["findings"])')" = \
    "('n[2,4]', [('n2', 'all'), ('n4', 'all'), ('n4', 'all')])" ]
}
