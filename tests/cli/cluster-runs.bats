# SPDX-License-Identifier: MIT
# How scripts/accept runs on a simulated cluster: levels, budgets and soaks; stopped, resumed, in other locales.
load cluster

@test "a host that starts at the second try passes, and the second try is reported" {
  site
  echo 'late n2' >faults
  exits 0 'n[1-2]' --stages alone
  grep -q 'alone-n2  *pass (second try)' <<<"$output"
  [ "$(grep -c '^\$ ' out/steps/alone-n2.log)" = 2 ]
  [ "$(grep -c '^\$ ' out/steps/alone-n1.log)" = 1 ]
}

@test "a killed acceptance goes on, and runs no finished step twice" {
  site
  exits 5 'n[1-2]' --budget 0.001s
  grep -q 'left out for lack of time' <<<"$output"
  ends 0 'n[1-2]'
  before=$(stat -c %.Y.%s out/steps/alone-n1.log)
  ends 0 'n[1-2]'
  [ "$(stat -c %.Y.%s out/steps/alone-n1.log)" = "$before" ]
  ends 2 'n[1-3]'
  grep -q 'another acceptance in it' <<<"$stderr"
}

@test "a hanging host does not exceed the budget, and is not blamed for stages that had no time left" {
  site
  echo 'hang n2' >faults
  SECONDS=0
  exits 5 'n[1-2]' --stages alone --budget $((4 * SLOWNESS))s
  within "$SECONDS" 20
  [ "$(verdict 'r["findings"], r["left_out"]')" = "([], ['alone-n2'])" ]
  grep -q 'n2 *not tested: out of time' <<<"$output"
}

@test "an acceptance is not continued in its folder with other limits or options" {
  site
  exits 0 n1 --stages alone
  echo '{"name": "site", "device_gflops_min": 1000}' >site.json
  ends 2 n1 --stages alone
  grep -q 'limits of the policy differ' <<<"$stderr"
  site
  ends 2 n1 --stages alone --gemm-options '-s 128'
  grep -q 'gemm options differ' <<<"$stderr"
}

@test "an acceptance that is killed while a host hangs leaves nothing behind, and continues at once" {
  command -v setpriv >/dev/null || skip "there is no setpriv"
  site
  echo 'hang n2' >faults
  cluster 'n[1-2]' --limit 300 --stages alone &
  for _ in $(seq $((600 * SLOWNESS))); do [ -s out/steps/alone-n1.json ] && break; sleep 0.1; done
  [ ! -e out/steps/alone-n2.json ]
  # Kill only this test's acceptance, by its folder: other files run acceptances at the same time.
  for pid in $(pgrep -f "[s]cripts/accept out"); do
    [ "$(readlink "/proc/$pid/cwd")" != "$PWD" ] || kill -KILL "$pid"
  done
  wait $! || true
  : >faults
  ends 0 'n[1-2]' --limit 300 --stages alone
  grep -q 'passed: n\[1-2\] (2 hosts)' <<<"$output"
}

@test "each host has the devices of its line of the hostfile" {
  site
  printf '%s\n' 'n1 slots=2' 'n2:2 # MPICH' 'n3 slots = 2' 'n4 max_slots=2' 'n5' 'n5' '[fe80::6]:3' >hostfile
  run --separate-stderr "$top_srcdir/scripts/accept" out --hostfile hostfile --program "$himeno" --size 18x18x34 --seconds 0.05 --policy site.json --stages alone \
    --options "-b null --block 5" --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}"
  expect_status 0
  unfolded
  [ "$(verdict '[len(json.load(open(f"out/steps/alone-{name}.doc"))["ranks"]) for name in r["hosts"]]')" = "[2, 2, 2, 2, 2, 3]" ]
  grep -q '^  ACCEPTED: .*fe80::6 has 3 devices, most hosts have 2' <<<"$output"
  run "$top_srcdir/scripts/accept" other --hostfile hostfile --program "$himeno" --launcher "$MPIRUN --host {slots}"
  expect_status 2
  [[ $output == *"fe80::6: mpirun --host takes no IPv6 address"* ]]
  echo 'n1 slots=0' >hostfile
  run "$top_srcdir/scripts/accept" other --hostfile hostfile --program "$himeno"
  expect_status 2
}

@test "the verdict is the same in every locale, and bytes that are no text cause no traceback" {
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

# A slice that fails counts with the time that it took. A remainder shorter than a twentieth of a
# slice is not used.
soaked='^soaked for \(2\|1\.9[789]\) of 2 s$'

@test "a soak alternates memory and arithmetic and names the host of an incorrect result" {
  site
  printf '%s\n' 'flip n2 50,5,20' >faults
  exits 4 'n[1-2]' --soak 2s --slice 1s --options '-b null --block 5'
  [ "$(verdict 'r["drain_list"]')" = n2 ]
  [ -s out/steps/soak-0000-memory.json ]
  [ -s out/steps/soak-0001-compute.json ]
  grep -q '"verdict":"wrong"' out/steps/soak.jsonl
}

@test "a soak names the host and the device of a wrong product, and goes on without it" {
  site
  echo 'worn n2' >faults
  exits 4 'n[1-3]' --soak 2s --slice 0.5s
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"], f["step"]) for f in r["findings"]]')" = "('n2', [('wrong', ['n2'], 'soak-0001-compute')])" ]
  [ "$(verdict 'r["findings"][0]["device"] == json.load(open("out/steps/soak-0001-compute.doc"))["ranks"][3]["uuid"]')" = True ]
  grep -q 'n2  *wrong: .*: rank 3: block 1 differs from the first' <<<"$output"
  grep -A1 'commands that repeat the findings:' <<<"$output" | grep -q 'n1,n2,n3 .*gemm-gpu'
  grep -q '"outcome": "pass"' out/steps/soak-0003-compute.json
  grep -q "$soaked" <<<"$output"
}

@test "a library's wrong product in a soak is blamed on the device, and its host is named" {
  "$top_builddir/gemm-gpu" --list | grep -q 'reference  cblas' || skip "no CBLAS was found"
  echo '{"name": "site", "device_gflops_min": 0.001}' >site.json
  local himeno=$top_builddir/himeno-gpu # not the simulated clock, because a library takes real time
  HIMENO_GEMM_FLIP='1 3,40 30 cblas:2' OMP_NUM_THREADS=1 cluster n1 --soak 1s --slice 0.5s --options '-b cpu'
  expect_status 4
  [ "$(verdict 'r["drain_list"], [(f["kind"], f["hosts"], f["step"]) for f in r["findings"]]')" = "('n1', [('wrong', ['n1'], 'soak-0001-compute')])" ]
  grep -q 'n1  *wrong: .*: rank 1: reference cblas: block 2 differs' <<<"$output"
}

@test "a soak begins without a host that is dead, drops one that dies, and goes on to the end with the others" {
  site
  printf '%s\n' 'dead n3' 'dies n4 3' >faults
  exits 7 'n[1-4]' --soak 2s --slice 0.5s
  [ "$(verdict 'r["drain_list"], r["run_again_list"], sorted((f["hosts"], f["step"]) for f in r["findings"])')" = "('', 'n[3-4]', [(['n3'], 'alone-n3'), (['n4'], 'alone-0001-n4')])" ]
  grep -q 'passed: n\[1-2\] (2 hosts)' <<<"$output"
  [ "$(verdict '[json.load(open(f"out/steps/soak-000{n}-{kind}.json"))["outcome"] for n, kind in ((0, "memory"), (1, "compute"), (2, "memory"), (3, "compute"))]')" = \
    "['pass', 'not started', 'pass', 'pass']" ]
  grep -q "$soaked" <<<"$output"
  before=$(cat out/steps/*.json | sha256sum)
  ends 7 'n[1-4]' --soak 2s --slice 0.5s
  [ "$(cat out/steps/*.json | sha256sum)" = "$before" ]
}

@test "a soak that fails without a suspect ends and reports it" {
  site
  echo 'apart n2' >faults
  exits 7 'n[1-3]' --soak 8h --slice 1h
  [ "$(verdict 'r["accepted"], r["drain_list"], [f["hosts"] for f in r["findings"]]')" = "(False, '', [['n1', 'n2', 'n3']])" ]
  grep -q 'each host passes alone: no host is to blame: fake-cluster: n2 finds no other' <<<"$output"
  ls out/steps | grep -c '^soak-.*json$' | grep -qx 1
}

@test "a soak without gemm-gpu tests the memory alone" {
  site
  mkdir only
  cp "$himeno" only
  himeno=only/himeno-gpu exits 0 n1 --soak 2s --slice 1s --options '-b null --block 5'
  grep -q 'gemm-gpu is not installed alongside himeno-gpu' <<<"$output"
  [ -s out/steps/soak-0001-memory.json ]
}

@test "each level has its options, given options replace them, and level 1 keeps its time despite a hanging host" {
  site
  echo 'hang n2' >faults
  SECONDS=0
  exits 6 'n[1-2]' --level 1 --limit $((3 * SLOWNESS)) --budget $((8 * SLOWNESS))s
  within "$SECONDS" 25
  [ "$(ls out/steps/alone-*.json | wc -l)" = 2 ]
  grep -q -- ' -w --timeout 10 -t 0.05 .*--block 5 ' out/steps/alone-n1.log
  [ "$(verdict 'r["drain_list"], r["run_again_list"], [row["verdict"] for row in r["measured"]]')" = "('', 'n2', ['pass', 'hang'])" ]
  exits 0 n1 --level 1 --options '-b null'
  grep -q -- ' -w --block 36 --timeout 10 -t 0.05 ' out/steps/alone-n1.log
}

@test "level 3 soaks for three hours, then runs the other stages, by a simulated clock" {
  echo '{"name": "site", "device_gflops_min": 1e-9}' >site.json
  export CLOCK_MACHINE="sweep=1000000 ceiling=100 fill=1 checksum=1 product=400000"
  run --separate-stderr "$top_srcdir/scripts/accept" out --hosts n1,n2 --per-host 1 --program "$himeno" --size 18x18x34 \
    --options "-b null --block 40" --gemm-options '-s 64' --policy site.json --launcher "$top_srcdir/tests/sites/fake-cluster {list} {per_host}" \
    --level 3 --slice 1h
  expect_status 0
  grep -q '^soaked for 1.08e+04 of 10800 s$' <<<"$output"
  [ "$(cd out/steps && echo soak-*.json)" = "soak-0000-memory.json soak-0001-compute.json soak-0002-memory.json soak-0003-compute.json" ]
  # Without a library, the first slice of products took 1200 s of its hour; the second gets 2400 s.
  grep -q -- ' --accept -t 1200 ' out/steps/soak-0001-compute.log
  grep -q -- ' --accept -t 2400 ' out/steps/soak-0003-compute.log
  [ "$(verdict 'all(3600 < json.load(open(f"out/steps/soak-000{n}-memory.doc"))["result"]["soak"]["seconds"] < 4400 for n in (0, 2))')" = True ]
  [ -s out/steps/pair-n1-n2.json ] && [ -s out/steps/all.json ] && [ ! -e out/steps/alone-0001-n1.json ]
}

@test "bad host names, programs and launchers are refused with the right exit code" {
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
