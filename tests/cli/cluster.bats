# SPDX-License-Identifier: MIT
# scripts/accept over a cluster that this machine plays, with faults planted below every detector: all are named, nothing else is.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  export MPIRUN FAULTS=$BATS_TEST_TMPDIR/faults
  cd "$BATS_TEST_TMPDIR"
  himeno=$top_builddir/tests/clock/himeno-gpu
  : >faults
}

# cluster HOSTS OPTION...: an acceptance; two ranks a host, each with a null device.
cluster() {
  local hosts=$1
  shift
  run --separate-stderr "$top_srcdir/scripts/accept" out --hosts "$hosts" --per-host "${per_host:-2}" --program "$himeno" --size 18x18x34 --seconds 0.05 \
    --options "-b null --block 5" --policy site.json --parallel 2 --limit $((60 * SLOWNESS)) --rounds 3 --gemm-options '-s 64' \
    --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}" "$@"
}

site() {
  cat >site.json <<'JSON'
{"name": "site", "ceiling_share_min": 0.2, "device_gflops_min": 11.5, "noise_max": 0.2, "stragglers_max": 0}
JSON
}

# verdict EXPRESSION: of accept.json as r, which must be as its schema says.
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

# Told where a test fails, since the folder goes with it.
teardown() { [ -n "${BATS_TEST_COMPLETED-}" ] || grep -shE '"(why|outcome|name)"' out/steps/*.json out/accept.json | tail -n 80 || true; }

@test "a good cluster is accepted" {
  site
  cluster 'n[1-4]' --stages alone,pairs,switches,all,devices
  expect_status 0
  grep -q 'n\[1-4\]: 4 pass' <<<"$output"
  grep -q '  ACCEPTED' <<<"$output"
  [ "$(verdict 'r["accepted"], r["findings"]')" = "(True, [])" ]
}

@test "what was measured stands in the table, the page, the metrics and accept.json, with what lies apart marked" {
  site
  printf '%s\n' 'slow n3 1 1.04' >faults
  HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so cluster 'n[1-5]' --stages alone,pairs --prometheus hosts.prom
  expect_status 0
  [ "$(verdict '[(row["host"], row["outliers"], row["verdict"]) for row in r["measured"] if row["outliers"]]')" = "[('n3', ['gflops'], 'pass')]" ]
  [ "$(verdict '{(row["celsius"], row["watts"], row["sm_mhz"], row["errors"]) == (55, 300, 1980, 0) for row in r["measured"]}')" = "{True}" ]
  [ "$(verdict '[row["gflops"] == min(rank["gflops"] for rank in json.load(open(f"out/steps/alone-{row['"'host'"']}.doc"))["ranks"]) for row in r["measured"]]')" = \
    "[True, True, True, True, True]" ]
  [ "$(verdict 'all(0.5 < row["ceiling_share"] < 1.1 and 0 < row["exchange_seconds"] < row["pair_seconds"] < 1e-5 for row in r["measured"])')" = True ]
  grep -qE '^  host +GFLOPS +of ceiling +exchange µs +pairs µs +°C +W +MHz +errors +verdict$' <<<"$output"
  grep -qE '^  n1 +12\.[0-9]+ +9[0-9]\.[0-9]% +[0-9.]+ +[0-9.]+ +55 +300 +1980 +0  pass$' <<<"$output"
  grep -qE '^  n3 +11\.[0-9]+\* ' <<<"$output"
  grep -q '^  \* outlier: worse than the median of the hosts by more than 5 × 1.4826 MAD' <<<"$output"
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
  HIMENO_SYSFS=$PWD PATH=$PWD/bin:$PATH HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so cluster 'n[1-4]' --level 1 --prometheus hosts.prom
  expect_status 4
  grep -qE '^  level 1 on 4 hosts: about [0-9]+ s expected, at most 48 s$' <<<"$output"
  [ "$(grep -cE '^\[[1-4]/4, [0-9]+ s left\] alone ' <<<"$output")" = 4 ]
  # The numbers of checks are given once, in the last line.
  [ "$(grep -c 'of 3 checks' <<<"$output")" = 1 ]
  tail -n 1 <<<"$output" | grep -q '^  NOT ACCEPTED at level 1: 2 findings; 1 of 3 checks fails; 1 not checked: ranks that are always slow (stragglers) on n\[1,3\]$'
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
  [ "$(grep -o 'of 3 checks' out/accept.html | wc -l)" = 1 ]
  [ "$(verdict 'r["level"]')" = 1 ] # by the schema
}

@test "metrics are what Prometheus reads" {
  site
  cluster 'n[1-2]' --stages alone --prometheus hosts.prom
  expect_status 0
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

@test "what every host fails is policy or set-up, and drains none; a host that fails more is drained" {
  echo '{"name": "site", "device_gflops_min": 1000, "ceiling_share_min": 0.2, "device_spread_max": 0.05, "noise_max": 0.2}' >site.json
  cluster 'n[1-3]' --stages alone,pairs,devices
  expect_status 5
  [ "$(verdict 'r["drain_list"], [row["verdict"] for row in r["measured"]], len(r["set_up"])')" = "('', ['policy or set-up?', 'policy or set-up?', 'policy or set-up?'], 1)" ]
  grep -q '^  policy or set-up? n\[1-3\]: every host fails this check, for example n1: slowest device: GFLOPS of computing 12.*, limit 1000' <<<"$output"
  grep -q '^  NOT ACCEPTED: policy or set-up?' <<<"$output"
  ! grep -q 'drain:' <<<"$output" || return 1
  ! ls out/steps/device-* 2>/dev/null || return 1
  rm -r out
  printf '%s\n' 'dead n4' 'slow n2 1 1.2' >faults
  cluster 'n[1-4]' --stages alone
  expect_status 7
  [ "$(verdict 'sorted(r["drain"]), [row["verdict"] for row in r["measured"]]')" = "(['n2'], ['policy or set-up?', 'slow', 'policy or set-up?', 'not started'])" ]
  rm -r out
  # One host cannot tell its policy from itself.
  : >faults
  cluster n1 --stages alone
  expect_status 5
  [ "$(verdict 'r["drain_list"]')" = n1 ]
}

@test "where no two hosts work together none is drained" {
  site
  echo 'apart n1' >faults
  printf '%s\n' 'apart n2' 'apart n3' 'apart n4' >>faults
  cluster 'n[1-4]' --stages alone,pairs
  expect_status 7
  [ "$(verdict 'r["drain_list"], [f["hosts"] for f in r["findings"]]')" = "('', [['n1', 'n2', 'n3', 'n4']])" ]
  grep -q 'policy or set-up? n\[1-4\]: no two hosts work together' <<<"$output"
}

@test "ranks that share one CPU are accepted, or judged, without a second device" {
  echo '{"name": "site", "ceiling_share_min": 50}' >site.json
  run --separate-stderr "$top_srcdir/scripts/accept" out --hosts localhost --per-host 2 --program "$top_builddir/himeno-gpu" --seconds 0.05 --size 34x34x66 --options "-b cpu" \
    --policy site.json --stages alone,devices --launcher "$MPIRUN -np {ranks}"
  [ "$(verdict '{f["kind"] for f in r["findings"]} <= {"slow", "noisy"}, [f["step"] for f in r["findings"]]')" = "(True, ['alone-localhost'])" ]
}

@test "a slow device, a bad link, and hosts that do not start or hang: all named, nothing else" {
  site
  printf '%s\n' 'dead n3' 'hang n4' 'slow n5 1 1.1' 'link n6 n7 60' >faults
  cluster 'n[1-7]' --limit $((20 * SLOWNESS)) --stages alone,pairs,all,devices
  expect_status 7
  [ "$(verdict 'sorted(r["drain"]), sorted(r["run_again"])')" = "(['n5'], ['n3', 'n4'])" ]
  [ "$(verdict '[f["hosts"] for f in r["findings"] if f["kind"] == "path"]')" = "[['n6', 'n7']]" ]
  [ "$(verdict '{f["kind"] for f in r["findings"] if f["hosts"] == ["n3"]}')" = "{'not started'}" ]
  [ "$(verdict '{f["kind"] for f in r["findings"] if f["hosts"] == ["n4"]}')" = "{'hang'}" ]
  [ "$(verdict '[f["step"] for f in r["findings"] if f["step"].startswith("device-")]')" = "['device-n5-1']" ]
  grep -q '^  drain: n5$' <<<"$output"
  grep -q '^  run again: n3 (not started: fake-cluster: n3 does not answer)$' <<<"$output"
  grep -q "does not answer" <<<"$output"
}

@test "a host that starts at the second try is told, and no finding" {
  site
  echo 'late n2' >faults
  cluster 'n[1-2]' --stages alone
  expect_status 0
  grep -q 'alone-n2  *pass (second try)' <<<"$output"
  [ "$(grep -c '^\$ ' out/steps/alone-n2.log)" = 2 ]
  [ "$(grep -c '^\$ ' out/steps/alone-n1.log)" = 1 ]
}

@test "products must be right, and compared, on each host" {
  site
  cluster 'n[1-2]' --stages alone,products
  expect_status 0
  [ -s out/steps/products-n1.doc ]
  [ -s out/steps/products-n2.doc ]
  rm -r out
  cluster 'n[1-2]' --stages products --gemm-options '-s 64 --nonsense'
  expect_status 2
  [ "$(verdict 'r["drain"], [f["hosts"] for f in r["findings"]]')" = "({}, [['n1', 'n2']])" ]
  rm -r out
  cluster 'n[1-2]' --stages products --gemm-options '-s 64 --verify off'
  expect_status 2
  grep -q 'accept needs a verified result: remove --verify off' <<<"$output"
}

@test "products that a signal ended do not pass" {
  site
  # Rank 0 says that it is timing.
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
  echo "as n2 $PWD/stopped" >faults
  cluster n2 --stages products --seconds 60
  expect_status 8
  [ "$(verdict 'r["accepted"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "(False, [('partial', ['n2'])])" ]
  [ "$(verdict 'r["drain_list"], r["run_again_list"]')" = "('', 'n2')" ]
  grep -q 'products-n2  *partial (second try)' <<<"$output"
}

@test "a host too noisy to be judged has to run again, and is not drained" {
  site
  echo 'noisy n2 all 2' >faults
  cluster 'n[1-3]' --stages alone,pairs,all,devices
  expect_status 3
  [ "$(verdict 'r["accepted"], r["drain_list"], r["run_again_list"], [(f["kind"], f["hosts"], f["step"]) for f in r["findings"]]')" = \
    "(False, '', 'n2', [('noisy', ['n2'], 'alone-n2')])" ]
  grep -q 'n2  *noisy: .*blocks vary by' <<<"$output"
  grep -q '^  run again: n2 (noisy: .*)$' <<<"$output"
  grep -q 'n\[1,3\]: 2 pass' <<<"$output"
  ! grep -q 'drain:' <<<"$output" || return 1
}

@test "a noisy pair and a noisy whole accuse nobody, however slow the link between them seems" {
  echo '{"name": "site", "device_gflops_min": 11.5, "noise_max": 0.05, "stragglers_max": 0}' >site.json
  printf '%s\n' 'noisy n1 n8 2' 'link n1 n8 60' >faults # which meet in the first round
  cluster 'n[1-8]' --rounds 1 --seconds 0.5 --stages alone,pairs,all,devices
  expect_status 3
  [ "$(verdict 'r["drain_list"], r["run_again_list"], {f["kind"] for f in r["findings"]}')" = "('', 'n[1-8]', {'noisy'})" ]
  [ "$(verdict 'sorted(f["hosts"] for f in r["findings"])[-1]')" = "['n1', 'n8']" ]
}

@test "what was not verified is not accepted, and drains nobody; a policy may do without by name" {
  site
  cluster 'n[1-2]' --stages alone,pairs --options '-b null --block 5 --verify off'
  expect_status 3
  [ "$(verdict 'r["accepted"], r["drain_list"], {f["kind"] for f in r["findings"]}')" = "(False, '', {'unverified'})" ]
  rm -r out
  cluster 'n[1-4]' --stages pairs --options '-b null --block 5 --verify off'
  expect_status 3
  [ "$(verdict 'r["accepted"], r["drain_list"], {f["kind"] for f in r["findings"]}')" = "(False, '', {'unverified'})" ]
  rm -r out
  echo '{"name": "site", "device_gflops_min": 11.5, "unverified_passes": true}' >site.json
  cluster 'n[1-2]' --stages alone,pairs --options '-b null --block 5 --verify off'
  expect_status 0
}

@test "a policy of which nothing could be checked accepts no cluster, and what was checked nowhere is said" {
  echo '{"name": "site", "stragglers_max": 0}' >site.json
  cluster 'n[1-2]' --stages alone
  expect_status 2
  [ "$(verdict 'r["accepted"], r["drain_list"], [f["why"] for f in r["findings"]]')" = \
    "(False, '', ['nothing of the policy could be checked: stragglers'])" ]
  rm -r out
  cluster 'n[1-2]' --stages alone,all
  expect_status 0
  [ "$(verdict 'r["accepted"], r["unchecked"]')" = "(True, {})" ]
  rm -r out
  echo '{"name": "site", "stragglers_max": 0, "device_gflops_min": 11.5}' >site.json
  cluster 'n[1-2]' --stages alone
  expect_status 0
  grep -qx '  ACCEPTED: 1 of 2 checks; 1 not checked: ranks that are always slow (stragglers)' <<<"$output"
  rm -r out
  cluster 'n[1-2]' --stages pairs
  expect_status 0
  [ "$(verdict 'r["accepted"]')" = False ]
  grep -q 'nothing found, but these stages check nothing against the policy' <<<"$output"
}

@test "a host with a bad cable is slow with every partner" {
  site
  printf '%s\n' 'link n2 all 60' >faults
  cluster 'n[1-6]' --stages alone,pairs,all
  expect_status 5
  [ "$(verdict 'r["drain_list"], len(r["findings"])')" = "('n2', 1)" ]
}

@test "a wrong bit is graver than a slow device" {
  site
  printf '%s\n' 'flip n2 5,5,5' 'slow n3 0 1.2' >faults
  cluster 'n[1-3]' --options '-b null --block 5'
  expect_status 4
  [ "$(verdict 'sorted(r["drain"])')" = "['n2', 'n3']" ]
}

@test "a killed acceptance goes on, and runs no finished step twice" {
  site
  cluster 'n[1-2]' --budget 0.001s
  expect_status 5
  grep -q 'left out, no time' <<<"$output"
  cluster 'n[1-2]'
  expect_status 0
  before=$(stat -c %Y.%s out/steps/alone-n1.log)
  sleep 1.1
  cluster 'n[1-2]'
  expect_status 0
  [ "$(stat -c %Y.%s out/steps/alone-n1.log)" = "$before" ]
  cluster 'n[1-3]'
  expect_status 2
  grep -q 'another acceptance in it' <<<"$stderr"
}

@test "a hanging host does not outlast the budget, and is not accused of what it had no time for" {
  site
  echo 'hang n2' >faults
  SECONDS=0
  cluster 'n[1-2]' --stages alone --budget 8s
  expect_status 5
  [ "$SECONDS" -lt $((40 * SLOWNESS)) ]
  [ "$(verdict 'r["findings"], r["left_out"]')" = "([], ['alone-n2'])" ]
  grep -q 'n2 *not tested: out of time' <<<"$output"
}

@test "a folder answers one question: other limits in the policy's file are another" {
  site
  cluster n1 --stages alone
  expect_status 0
  echo '{"name": "site", "device_gflops_min": 1000}' >site.json
  cluster n1 --stages alone
  expect_status 2
  grep -q 'limits of the policy differ' <<<"$stderr"
  site
  cluster n1 --stages alone --gemm-options '-s 128'
  expect_status 2
  grep -q 'gemm options differ' <<<"$stderr"
}

@test "an acceptance that is killed beside a hanging host leaves nothing behind, and goes on at once" {
  command -v setpriv >/dev/null || skip "there is no setpriv"
  site
  echo 'hang n2' >faults
  cluster 'n[1-2]' --limit 300 --stages alone &
  for _ in $(seq $((600 * SLOWNESS))); do [ -s out/steps/alone-n1.json ] && break; sleep 0.1; done
  [ ! -e out/steps/alone-n2.json ]
  kill -KILL "$(pgrep -o -f "[s]cripts/accept out .*--launcher $top_srcdir")"
  wait $! || true
  : >faults
  cluster 'n[1-2]' --limit 300 --stages alone
  expect_status 0
  grep -q 'n\[1-2\]: 2 pass' <<<"$output"
}

# own_names: a program in the place of himeno-gpu, whose hosts call themselves what the file `own` has behind the name that they were given.
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

@test "a guilty host keeps the name that it was given, whatever it calls itself" {
  site
  own_names
  for given in 'n1.cluster n2.cluster n3.cluster' '10.77.0.1 10.77.0.2 10.77.0.3' 'rack1.n1 rack1.n2 rack1.n3' 'fe80::1 fe80::2 fe80::3' 'N1 N2 N3' 'x y z'; do
    read -r a b c <<<"$given"
    printf '%s\n' "$a n1" "$b n2" "$c n3" >own
    printf '%s\n' "flip $b 5,5,5" "slow $c 1 1.2" >faults
    rm -rf out
    cluster "$a,$b,$c" --stages alone
    expect_status 4
    [ "$(verdict 'sorted(r["drain"]), [row["verdict"] for row in r["measured"]]')" = "$("$PYTHON" -c 'import sys; print((sorted(sys.argv[1:]), ["pass", "wrong", "slow"]))' "$b" "$c")" ]
    grep -q "NodeName=" <<<"$output"
  done
  # In a job of all: by the order of ranks.
  rm -r out
  echo '{"name": "site", "stragglers_max": 0}' >site.json
  printf '%s\n' 'a.x n4' 'b.x n3' 'c.x n2' 'd.x n1' >own
  echo 'slow b.x 1 1.06' >faults
  cluster 'a.x,b.x,c.x,d.x' --stages alone,all
  expect_status 5
  [ "$(verdict 'r["drain_list"]')" = b.x ]
  grep -q '^    scontrol update NodeName=b.x State=DRAIN' <<<"$output"
}

@test "names of one host are told, and ranks that the launcher placed otherwise accuse nobody" {
  site
  own_names
  printf '%s\n' 'n1 vm1' 'n1.cluster vm1' >own
  cluster 'n1,n2,n1.cluster' --stages alone,pairs
  expect_status 2
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "('', [('duplicate', ['n1', 'n1.cluster'])])" ]
  grep -q 'n1 and n1.cluster: n1 and n1.cluster are one host, vm1' <<<"$output"
  [ "$(ls out/steps/pair-*.json)" = out/steps/pair-n1-n2.json ]
  rm -r out
  cat >reversed <<SH
#!/bin/bash
exec "$top_srcdir/tests/sites/fake-cluster" "\$(tr , '\n' <<<"\$1" | tac | paste -sd,)" "\${@:2}"
SH
  chmod +x reversed
  echo 'slow n1 1 1.06' >faults
  echo '{"name": "site", "stragglers_max": 0}' >site.json
  : >own
  cluster 'n[1-4]' --stages alone,all --launcher './reversed {list} {per_host}'
  expect_status 3
  [ "$(verdict 'r["drain_list"], r["run_again_list"], [f["kind"] for f in r["findings"]]')" = "('', 'n[1-4]', ['environment'])" ]
  grep -q 'the launcher placed ranks on other hosts than requested: ranks of n1 ran on n1 and n4' <<<"$output"
}

@test "three hosts: a bad link and a bad cable are found; two hosts: the link is not judged, and the verdict says so" {
  site
  echo 'link n1 n3 2.5' >faults
  cluster 'n[1-3]' --stages alone,pairs
  expect_status 5
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "('', [('path', ['n1', 'n3'])])" ]
  rm -r out
  # Of four hosts a bad one has half of the pairs.
  echo 'link n2 all 3' >faults
  cluster 'n[1-4]' --stages alone,pairs
  expect_status 5
  [ "$(verdict 'r["drain_list"]')" = n2 ]
  rm -r out
  # A slow host of four is left out of the pairs.
  printf '%s\n' 'link n2 all 2.5' 'slow n4 1 1.2' >faults
  cluster 'n[1-4]' --stages alone,pairs
  expect_status 5
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "('n[2,4]', [('slow', ['n4']), ('slow', ['n2'])])" ]
  run ! grep -q '>None<' out/accept.html
  rm -r out
  : >faults
  cluster 'n[1-2]' --stages alone,pairs
  expect_status 0
  grep -q '^  ACCEPTED: .*; not judged: links between hosts (2 hosts, 1 pair measured)$' <<<"$output"
  [ "$(verdict 'r["accepted"], r["not_judged"]')" = "(True, ['not judged: links between hosts (2 hosts, 1 pair measured)'])" ]
  grep -q 'links between hosts (2 hosts' out/accept.html
  rm -r out
  cluster 'n[1-3]' --stages alone,pairs
  expect_status 0
  grep -q '^  ACCEPTED: ' <<<"$output"
  run ! grep -q 'not judged' <<<"$output"
}

@test "hosts that are slower than the others, and as many, are suspects and are not drained" {
  cluster 'n[1-2]' --stages alone,all --policy default
  expect_status 0
  rm -r out
  echo 'host n2 1.18' >faults
  cluster 'n[1-2]' --stages alone,all --policy default
  expect_status 5
  [ "$(verdict 'r["drain_list"], r["suspect"], r["accepted"]')" = "('', {'n2': ['15% slower than the other host']}, False)" ]
  grep -q '^  suspect: n2 (15% slower than the other host)$' <<<"$output"
  rm -r out
  printf '%s\n' 'host n2 1.25' 'host n3 1.25' >faults
  cluster 'n[1-4]' --stages alone,all --policy default
  expect_status 5
  [ "$(verdict 'r["drain_list"], sorted(r["suspect"])')" = "('', ['n2', 'n3'])" ]
  grep -q '^  suspect: n\[2-3\] (20% slower than the other hosts)$' <<<"$output"
  rm -r out
  # Less than that only where a job of all is slow for it.
  echo 'host n1 1.08' >faults
  cluster 'n[1-2]' --stages alone,all --policy default
  expect_status 5
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"]) for f in r["findings"]]')" = "('', [('suspect', ['n1'])])" ]
}

@test "each host has the devices that its line of the hostfile says" {
  site
  printf '%s\n' 'n1 slots=2' 'n2:2 # MPICH' 'n3 slots = 2' 'n4 max_slots=2' 'n5' 'n5' '[fe80::6]:3' >hostfile
  run --separate-stderr "$top_srcdir/scripts/accept" out --hostfile hostfile --program "$himeno" --size 18x18x34 --seconds 0.05 --policy site.json --stages alone \
    --options "-b null --block 5" --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}"
  expect_status 0
  [ "$(verdict '[len(json.load(open(f"out/steps/alone-{name}.doc"))["ranks"]) for name in r["hosts"]]')" = "[2, 2, 2, 2, 2, 3]" ]
  grep -q '^  ACCEPTED: .*fe80::6 has 3 devices, most hosts have 2' <<<"$output"
  run "$top_srcdir/scripts/accept" other --hostfile hostfile --program "$himeno" --launcher "$MPIRUN --host {slots}"
  expect_status 2
  [[ $output == *"fe80::6: mpirun --host takes no IPv6 address"* ]]
  echo 'n1 slots=0' >hostfile
  run "$top_srcdir/scripts/accept" other --hostfile hostfile --program "$himeno"
  expect_status 2
}

@test "the number of a host's devices, by each of Slurm's ways to tell it" {
  mkdir bin
  printf '#!/bin/sh\ncat "%s/job"\n' "$PWD" >bin/scontrol
  chmod +x bin/scontrol
  : >job
  # devices VARIABLE...: of hosts n1 and n2, as scripts/accept counts them.
  devices() {
    env "$@" PATH="$PWD/bin:$PATH" "$PYTHON" -B - "$top_srcdir/scripts" <<'PY'
import argparse, sys
sys.path[:0] = [f"{sys.argv[1]}/accepting", f"{sys.argv[1]}/shared"]
import counts
a = argparse.Namespace(names=["n1", "n2"], per_host=None, slots={}, expected={})
counts.count(a)
print(a.devices and list(a.devices.values()), a.are_gpus)
PY
  }
  for one in SLURM_GPUS_PER_NODE=8 SLURM_GPUS_PER_NODE=h100:8 SLURM_GPUS_PER_NODE=h100:4,a100:4 SLURM_TRES_PER_NODE=gres:gpu:8 SLURM_TRES_PER_NODE=gres/gpu:8 \
    SLURM_TRES_PER_NODE=nic:1,gres/gpu:h100=8 SLURM_GPUS_ON_NODE=8 SLURM_JOB_GPUS=0,1,2,3,4-7 SLURM_STEP_GPUS=0-7 'SLURM_GPUS=h100:16 SLURM_JOB_NUM_NODES=2'; do
    [ "$(devices $one)" = '[8, 8] True' ] || { echo "$one"; return 1; }
  done
  [ "$(devices SLURM_NTASKS_PER_NODE=3)" = '[3, 3] False' ]
  [ "$(devices SLURM_TRES_PER_NODE=gres/nic:2)" = 'None False' ]
  # What a job got on each of its nodes comes first.
  printf '%s\n' 'JobId=7' '   Nodes=n1 CPU_IDs=0-15 Mem=0 GRES=gpu:h100:8(IDX:0-7)' '   Nodes=n[2-3] CPU_IDs=0-15 Mem=0 GRES=gpu:h100:7(IDX:0-6),nic:1(IDX:0)' >job
  [ "$(devices SLURM_JOB_ID=7 SLURM_GPUS_ON_NODE=8)" = '[8, 7] True' ]
}

@test "in every locale the same verdict, and bytes that are no text end nothing" {
  site
  echo 'slow n2 1 1.2' >faults
  for locale in LC_ALL=C LC_ALL=POSIX LC_ALL=de_DE.ISO-8859-1 PYTHONIOENCODING=ascii PYTHONIOENCODING=latin-1:strict 'LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0'; do
    rm -rf out
    (export $locale; cluster 'n[1-2]' --stages alone; expect_status 5; grep -q '^  drain: n2$' <<<"$output")
    folder=$(printf 'out-\xff-%s' "${locale//[^A-Z]/}")
    run --separate-stderr env $locale "$top_srcdir/scripts/accept" "$folder" --hosts 'n[1-2]' --per-host 2 --program "$himeno" --size 18x18x34 --seconds 0.05 \
      --options "-b null --block 5" --policy site.json --stages alone --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}"
    expect_status 5
    [ -s "$folder/accept.html" ]
  done
  printf 'n1 slots=2\nn\xff2\n' >hostfile
  run "$top_srcdir/scripts/accept" out --hostfile hostfile --program "$himeno"
  expect_status 2
  [[ $output == *'n\udcff2: is not a host name'* ]]
}

@test "an acceptance that a signal ends is incomplete" {
  site
  echo 'hang n1' >faults
  for signal in TERM HUP; do
    rm -f out/steps/alone-n1.log
    FAULTS=$FAULTS "$top_srcdir/scripts/accept" out --hosts n1 --per-host 2 --program "$himeno" --policy site.json --stages alone --limit 300 \
      --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}" >said 2>&1 3>&- &
    until grep -qs '^\$ ' out/steps/alone-n1.log; do sleep 0.1; done
    kill -$signal $!
    code=0
    wait $! || code=$?
    [ $code = 8 ] || { cat said; echo "$signal: $code"; return 1; }
    grep -q 'stopped; the same command continues from here' said
    [ "$(grep -c '^\$ ' out/steps/alone-n1.log)" = 1 ]
    [ ! -e out/steps/alone-n1.json ]
  done
}

@test "leaf switches are tried between pairs and all" {
  site
  cat >topology <<'TEXT'
SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-3]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[4-6]
SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[1-6] Switches=leaf[1-2]
TEXT
  cluster 'n[1-6]' --topology topology --rounds 1 --stages alone,pairs,switches,all
  expect_status 0
  [ -s out/steps/switch-leaf1.json ] && [ -s out/steps/switch-leaf2.json ] && [ ! -e out/steps/switch-spine.json ]
}

@test "a soak turns from memory to arithmetic and names the host of a wrong bit" {
  site
  printf '%s\n' 'flip n2 50,5,20' >faults
  cluster 'n[1-2]' --soak 2s --slice 1s --options '-b null --block 5'
  expect_status 4
  [ "$(verdict 'r["drain_list"]')" = n2 ]
  [ -s out/steps/soak-0000-memory.json ]
  [ -s out/steps/soak-0001-compute.json ]
  grep -q '"verdict":"wrong"' out/steps/soak.jsonl
}

@test "a soak names the host and the device of a wrong product, and goes on without it" {
  site
  echo 'worn n2' >faults
  cluster 'n[1-3]' --soak 2s --slice 0.5s
  expect_status 4
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"], f["step"]) for f in r["findings"]]')" = "('n2', [('wrong', ['n2'], 'soak-0001-compute')])" ]
  [ "$(verdict 'r["findings"][0]["device"] == json.load(open("out/steps/soak-0001-compute.doc"))["ranks"][3]["uuid"]')" = True ]
  grep -q 'n2  *wrong: .*: rank 3: block 1 differs from the first' <<<"$output"
  grep -A1 'to repeat:' <<<"$output" | grep -q 'n1,n2,n3 .*gemm-gpu'
  grep -q '"outcome": "pass"' out/steps/soak-0003-compute.json
  grep -q 'soaked for 2 of 2 s' <<<"$output"
}

@test "a library's wrong product in a soak is the device's: its host is named" {
  "$top_builddir/gemm-gpu" --list | grep -q 'reference  cblas' || skip "no CBLAS was found"
  echo '{"name": "site", "device_gflops_min": 0.001}' >site.json
  local himeno=$top_builddir/himeno-gpu # a library takes real time
  HIMENO_GEMM_FLIP='1 3,40 30 cblas:2' OMP_NUM_THREADS=1 cluster n1 --soak 1s --slice 0.5s --options '-b cpu'
  expect_status 4
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"], f["step"]) for f in r["findings"]]')" = "('n1', [('wrong', ['n1'], 'soak-0001-compute')])" ]
  grep -q 'n1  *wrong: .*: rank 1: reference cblas: block 2 differs' <<<"$output"
}

@test "a soak begins without a host that is dead, drops one that dies, and goes on to the end with the others" {
  site
  printf '%s\n' 'dead n3' 'dies n4 3' >faults
  cluster 'n[1-4]' --soak 2s --slice 0.5s
  expect_status 7
  [ "$(verdict 'r["drain_list"], r["run_again_list"], sorted((f["hosts"], f["step"]) for f in r["findings"])')" = "('', 'n[3-4]', [(['n3'], 'alone-n3'), (['n4'], 'alone-0001-n4')])" ]
  grep -q 'n\[1-2\]: 2 pass' <<<"$output"
  [ "$(verdict '[json.load(open(f"out/steps/soak-000{n}-{kind}.json"))["outcome"] for n, kind in ((0, "memory"), (1, "compute"), (2, "memory"), (3, "compute"))]')" = \
    "['pass', 'not started', 'pass', 'pass']" ]
  grep -q 'soaked for 2 of 2 s' <<<"$output"
  before=$(cat out/steps/*.json | sha256sum)
  cluster 'n[1-4]' --soak 2s --slice 0.5s
  expect_status 7
  [ "$(cat out/steps/*.json | sha256sum)" = "$before" ]
}

@test "a soak that fails with nobody to blame ends, and says so" {
  site
  echo 'apart n2' >faults
  cluster 'n[1-3]' --soak 8h --slice 1h
  expect_status 7
  [ "$(verdict 'r["accepted"], r["drain_list"], [f["hosts"] for f in r["findings"]]')" = "(False, '', [['n1', 'n2', 'n3']])" ]
  grep -q 'each host passes alone: no host is to blame: fake-cluster: n2 finds no other' <<<"$output"
  ls out/steps | grep -c '^soak-.*json$' | grep -qx 1
}

@test "a soak where gemm-gpu was not built is one of the memory alone" {
  site
  mkdir only
  cp "$himeno" only
  himeno=only/himeno-gpu cluster n1 --soak 2s --slice 1s --options '-b null --block 5'
  expect_status 0
  grep -q 'gemm-gpu is not installed alongside himeno-gpu' <<<"$output"
  [ -s out/steps/soak-0001-memory.json ]
}

@test "a device and a host 5% slower show only among the others, and are named alone" {
  echo '{"name": "site", "stragglers_max": 0}' >site.json
  printf '%s\n' 'slow n3 1 1.05' 'host n6 1.05' >faults
  cluster 'n[1-8]' --stages alone,all
  expect_status 5
  [ "$(verdict 'r["drain_list"], sorted((f["hosts"][0], f["step"]) for f in r["findings"])')" = \
    "('n[3,6]', [('n3', 'all'), ('n6', 'all'), ('n6', 'all')])" ]
}

@test "levels: what each does, options that are given hold, and level 1 keeps its time beside a hanging host" {
  site
  echo 'hang n2' >faults
  SECONDS=0
  cluster 'n[1-2]' --level 1 --limit 8 --budget 20s
  expect_status 6
  [ "$SECONDS" -lt $((45 * SLOWNESS)) ]
  [ "$(ls out/steps/alone-*.json | wc -l)" = 2 ]
  grep -q -- ' -w --timeout 10 -t 0.05 .*--block 5 ' out/steps/alone-n1.log
  [ "$(verdict 'r["drain_list"], r["run_again_list"], [row["verdict"] for row in r["measured"]]')" = "('', 'n2', ['pass', 'hang'])" ]
  rm -r out
  cluster n1 --level 1 --options '-b null'
  expect_status 0
  grep -q -- ' -w --block 36 --timeout 10 -t 0.05 ' out/steps/alone-n1.log
  run "$PYTHON" -B - "$top_srcdir/scripts/accepting" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import argparse, levels
def at(level, *given):
    a = argparse.Namespace(level=level, given=dict.fromkeys(given), stages="all", seconds=9, limit=180, budget=None, rounds=3, soak=None)
    levels.at_level(a)
    return a
# A launcher may take 10 s to end, and what begins it a second.
assert at(1).budget + 10 + 1 < 60 and at(2).budget + 10 + 1 < 600 and at(3).budget + 10 + 1 <= 4 * 3600
assert all(at(level).limit < at(level).budget for level in (1, 2)) and at(3).soak < at(3).budget
assert at(1).stages == ["alone"] and at(2).stages == "all" and at(1, "--seconds").seconds == 9 and at(1).seconds == 5
assert vars(at(None)) == {**vars(at(None)), "seconds": 9, "budget": None, "block": None, "timeout": None, "soak": None}
PY
  expect_status 0
}

@test "level 3 by a clock that work alone moves: a soak of three hours, then the other stages" {
  echo '{"name": "site", "device_gflops_min": 1e-9}' >site.json
  export CLOCK_MACHINE="sweep=1000000 ceiling=100 fill=1 checksum=1 product=400000"
  run --separate-stderr "$top_srcdir/scripts/accept" out --hosts n1,n2 --per-host 1 --program "$himeno" --size 18x18x34 \
    --options "-b null --block 40" --gemm-options '-s 64' --policy site.json --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}" \
    --level 3 --slice 1h
  expect_status 0
  grep -q '^soaked for 1.08e+04 of 10800 s$' <<<"$output"
  [ "$(cd out/steps && echo soak-*.json)" = "soak-0000-memory.json soak-0001-compute.json soak-0002-memory.json soak-0003-compute.json" ]
  # No library took turns: a third of the hour, and then the rest of the three.
  grep -q -- ' --accept -t 1200 ' out/steps/soak-0001-compute.log
  grep -q -- ' --accept -t 2400 ' out/steps/soak-0003-compute.log
  [ "$(verdict 'all(3600 < json.load(open(f"out/steps/soak-000{n}-memory.doc"))["result"]["soak"]["seconds"] < 4400 for n in (0, 2))')" = True ]
  [ -s out/steps/pair-n1-n2.json ] && [ -s out/steps/all.json ] && [ ! -e out/steps/alone-0001-n1.json ]
}

@test "the simulation finds in levels 1 and 2 what the documentation says, and accuses no sound cluster" {
  command -v mpicc >/dev/null || skip "there is no mpicc"
  for python in "$PYTHON" /usr/bin/python3 ''; do [ -n "$python" ] || break; "$python" -c 'import numpy' 2>/dev/null && break; done
  [ -n "$python" ] || skip "there is no numpy"
  "$python" -B "$top_srcdir/scripts/accept-power" --level 1 --runs 200 --planted 40 >power
  "$python" -B "$top_srcdir/scripts/accept-power" --level 2 --runs 20 --planted 20 | tail -n 1 >>power
  "$PYTHON" - "$top_srcdir/doc/acceptance-power.md" <<'PY'
import re, sys
def rows(path):
    """{(level, hosts and devices): cells}; a dash is infinite, or never."""
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in open(path) if re.match(r"\| [123] \| \d+ × ", line)]
    return {(line[0], line[1]): line[2:] for line in lines}
def number(cell):
    return float("inf") if cell == "–" else float(re.match("[0-9.]+", cell)[0])
told, found = rows(sys.argv[1]), rows("power")
assert set(found) <= set(told) and len(found) == 2, (told, found)
for key, cells in found.items():
    assert int(cells[0].split()[0]) <= 1 and int(told[key][0].split()[0]) * 1000 <= int(told[key][0].split()[2]), (key, cells)
    for said, seen in zip(told[key][1:6], cells[1:6]):
        assert number(seen) <= 1.5 * number(said), (key, said, seen)
    assert number(cells[6]) >= number(told[key][6]) / 2, (key, cells)
PY
}

@test "bad input" {
  run "$top_srcdir/scripts/accept" out --program "$himeno"
  expect_status 2
  run "$top_srcdir/scripts/accept" out --program "$himeno" --hosts 'n[3-1]'
  expect_status 2
  for name in 'n;reboot' 'n $(reboot)[1-2]' '../n[1-2]' -n1 'n[1-2]/..'; do
    run "$top_srcdir/scripts/accept" out --program "$himeno" "--hosts=$name"
    expect_status 2
  done
  run "$top_srcdir/scripts/accept" out --program /nonexistent --hosts n1
  expect_status 3
  run "$top_srcdir/scripts/accept" out --program "$himeno" --hosts n1 --launcher '/nonexistent {list}'
  expect_status 3
}
