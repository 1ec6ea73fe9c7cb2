# SPDX-License-Identifier: MIT
# himeno-sim: the halo plan's own messages, times that agree with the model where it claims to hold, and what networks do.
load ../helper
bats_require_minimum_version 1.5.0

sim=$top_builddir/himeno-sim
model=$top_srcdir/tests/golden/model.json

setup() {
  [ "$HAVE_SIMGRID" = 1 ] || skip "himeno-sim was not built: no SimGrid"
  cd "$BATS_TEST_TMPDIR"
}

simulate() { "$sim" --model "$model" "$@" --json s.json >/dev/null; }

# exchanged: messages, tokens and bytes of an exchange, over all ranks.
exchanged() { json s.json '[int(d["runs"][0]["exchange"][key]) for key in ("messages", "tokens", "bytes")]'; }

@test "messages and bytes are those of the halo plan, counted by hand" {
  # 16 x 8 x 32 points each: three faces and three edges a corner rank.
  simulate -s 34x18x66 -n 8 -p 2x2x2
  [ "$(exchanged)" = "[48, 48, $((8 * 4 * (16*8 + 16*32 + 8*32 + 16 + 8 + 32)))]" ]
  # Two ends with one neighbour, two between with two: whole faces of 16 x 64.
  simulate -s 34x18x66 -n 4 -p 4x1x1
  [ "$(exchanged)" = "[6, 6, $((6 * 4 * 16*64))]" ]
  # In weak scaling every rank has the whole of it.
  simulate -s 34x18x66 -n 4 -p 1x2x2 -w
  [ "$(exchanged)" = "[12, 12, $((4 * 4 * (32*16 + 32*64 + 32)))]" ]
}

@test "halos of two sweeps are two layers deep and go to corners too" {
  sed 's/"T": 1/"T": 2/' "$model" >deep.json
  "$sim" --model deep.json -s 34x18x66 -n 8 -p 2x2x2 --json s.json >/dev/null
  [ "$(exchanged)" = "[56, 56, $((8 * 4 * (2*(16*8 + 16*32 + 8*32) + 4*(16 + 8 + 32) + 8)))]" ]
}

@test "a grid whose halos MPI cannot count is refused before it is simulated, with advice that helps" {
  for weak in -w ''; do
    run --separate-stderr "$sim" --model "$model" $weak -s 65536x65536x65536 -n 8 -p 8x1x1
    expect_status 2
    [[ $stderr == "himeno-sim: a halo of "*" floats: one MPI message takes at most 2147483647; use a smaller --size, or more ranks without --weak" ]]
  done
}

@test "the document follows its schema, and himeno-predict agrees with it within 10%" {
  run --separate-stderr "$sim" --model "$model" -s S,L,XL -n 1,2,8,24,64 --json s.json
  expect_status 0
  [[ $output == *"fat tree with 16 hosts a switch"* ]]
  follows sim s.json
  run "$top_builddir/himeno-predict" --model "$model" -s L -n 2 --against s.json --within 10
  expect_status 0
  [[ $output == *"15 of 15 predicted"* ]]
}

@test "512 ranks on 64 hosts: simulated and predicted agree within 2%, and by p2p too, whose pairs between hosts are staged" {
  # within a host 307 GB/s and 3 us by p2p; what leaves it goes by staged
  "$PYTHON" - "$model" >mixed.json <<'PY'
import copy, json, sys
d = json.load(open(sys.argv[1]))
m = d["model"]
p2p = copy.deepcopy(m["paths"][0])
p2p.update(transport="p2p", other_host=None, same_host={"latency_seconds": 3e-6, "bytes_per_second": 3.07e11, "residual": 0})
m["paths"].append(p2p)
m["terms"] += [dict(t, name=t["name"].replace("staged", "p2p")) for t in m["terms"] if t["name"].startswith("staged")]
json.dump(d, sys.stdout)
PY
  for way in staged p2p; do
    run "$sim" --model mixed.json -x $way -s L,XL -n 512 --json s.json
    expect_status 0
    [ $way = staged ] || [[ $output == *"307 GB/s within a host"*"20 GB/s between hosts, by staged"* ]]
    run "$top_builddir/himeno-predict" --model mixed.json -s L -n 2 --against s.json --within 2
    expect_status 0
    [[ $output == *"2 of 2 predicted"* ]]
  done
}

@test "what was never measured between hosts is refused, and taken where it is given" {
  "$PYTHON" -c 'import json,sys; d=json.load(open(sys.argv[1])); d["model"]["paths"][0]["other_host"] = None; json.dump(d, sys.stdout)' "$model" >one.json
  run "$sim" --model one.json -s S -n 16
  expect_status 3
  [[ $output == *"2 hosts, but the path between hosts by staged was never measured: run comm-gpu on two hosts, or give it by --network"* ]]
  "$sim" --model one.json -s S -n 8 >/dev/null
  "$sim" --model one.json -s S -n 16 --network 8,20 --json given.json >/dev/null
  "$sim" --model "$model" -s S -n 16 --json s.json >/dev/null
  [ "$(json given.json 'd["runs"][0]["phases"]["sweep"]["max"]')" = "$(json s.json 'd["runs"][0]["phases"]["sweep"]["max"]')" ]
  "$sim" --model one.json -s S -n 16 --network 80,20 --json far.json >/dev/null
  [ "$(json far.json 'd["runs"][0]["phases"]["sweep"]["max"] > 6e-5')" = True ]
}

# linked TERM SECONDS [SED]: the model by p2p with another value of a term, in linked.json.
linked() {
  sed 's/staged/p2p/g; '"${3:-}" "$model" | sed '/"p2p '"$1"'"/{n;s/: [^,]*/: '"$2"'/}' >linked.json
  [ "$(json linked.json "[t['value'] for t in d['model']['terms'] if t['name'] == 'p2p $1']")" = "[$2]" ]
}

@test "with p2p the launch of slabs takes what it takes in the model: with sweeps that share an exchange, and without overlap" {
  # of several sweeps a pass the whole goes before the exchange
  for how in 's/a/a/' 's/"overlap": true/"overlap": false/' 's/"T": 1/"T": 2/; s/"overlap": true/"overlap": false/' 's/"T": 1/"T": 2/'; do
    linked slab 4e-05 "$how"
    "$sim" --model linked.json -s S -n 8 -p 8x1x1 --passes 60 --json s.json >/dev/null
    run "$top_builddir/himeno-predict" --model linked.json -s S -n 2 --against s.json --within 1
    expect_status 0
    [[ $output == *"1 of 1 predicted"* ]]
  done
}

@test "p2p is stores and flags: each sweep waits for the neighbours' flags of the one before, and no gosa is summed before the block ends" {
  # two ranks, a face of 16 x 64 floats: launch, stores at 12 GB/s, a flag; gosa's one message and the copy of the flags' base come once a block
  linked slab 4e-05
  sweep() { "$sim" --model linked.json -s 34x18x66 -n 2 -p 2x1x1 --passes $1 --json s.json >/dev/null; json s.json 'd["runs"][0]["result"]["seconds"]'; }
  many=$(sweep 40) few=$(sweep 20)
  "$PYTHON" - "$many" "$few" <<'PY'
import sys
many, few = map(float, sys.argv[1:])
# gosa: one message of 0.2 us. 4e-5 launch, 6e-6 latency, 4096 bytes at 12 GB/s, and once a sweep 6e-6 + 1e-6 + 5e-7 of synchronisation and more ranks
one = 4e-5 + 6e-6 + 4096 / 12e9 + 7.5e-6
assert abs((many - few) / 20 / one - 1) < 1e-3, ((many - few) / 20, one)
assert 1.9e-7 < few - 20 * one < 1e-6, few - 20 * one
PY
  [ "$(exchanged)" = "[2, 0, 8192]" ]
}

# shared BYTES_FACTOR HOST_FACTOR: the model of halos that are handed over through memory, in shared.json.
shared() {
  "$PYTHON" - "$model" "$@" >shared.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
d["model"]["paths"][0]["staging"] = "through shared memory"
d["model"]["overlap"] = False
for t in d["model"]["terms"]:
    t["value"] = {"staged bytes_factor": float(sys.argv[2]), "staged host_bytes_factor": float(sys.argv[3])}.get(t["name"], t["value"])
json.dump(d, sys.stdout)
PY
}

@test "halos handed over through memory: copied out and in by chunks of 1 MiB, which overlap; by hand" {
  shared 1 0.25
  # less what a face with next to none takes
  bytes() { "$sim" --model shared.json -s $1 -n 2 -p 2x1x1 --json s.json >/dev/null; json s.json 'd["runs"][0]["phases"]["exposed"]["max"]'; }
  small=$(bytes 6x4x4) one=$(bytes 6x258x514) many=$(bytes 6x2050x2050)
  "$PYTHON" - "$small" "$one" "$many" <<'PY'
import sys
small, one, many = map(float, sys.argv[1:])
# half of a byte's time out and half in; two copies share the memory at once: out, out or both ways, by each rank
alone = (0.5 * 1 + 2 * 0.5 * 0.25) / 12e9
both = (0.5 * 1 + 4 * 0.5 * 0.25) / 12e9
row, face, chunk = 2048 * 4, 2048 * 2048 * 4, 2**20
chunks = face // chunk
print(one - small, 2 * 256 * 512 * 4 * alone, many - small, 2 * chunk * alone + (chunks - 1) * chunk * both)
assert abs((one - small) / (2 * 256 * 512 * 4 * alone) - 1) < 0.02
assert abs((many - small) / (2 * chunk * alone + (chunks - 1) * chunk * both) - 1) < 0.02
PY
  [ "$(exchanged)" = "[32, 2, $((2 * 4 * 2048 * 2048))]" ]
}

@test "ranks of a host share its memory, those of different hosts do not" {
  for how in 's/a/a/' '/"staged host_bytes_factor"/{n;s/: [^,]*/: 0.5/}'; do
    sed "$how" "$model" >host.json
    for each in 1 4; do
      "$sim" --model host.json -s M -n 4 -p 2x2x1 --per-host $each --network 6,12 --json s.json >/dev/null
      json s.json 'd["runs"][0]["phases"]["sweep"]["max"]'
    done
  done >times
  "$PYTHON" - <<'PY'
apart, together, apart_shared, together_shared = map(float, open("times"))
assert abs(together / apart - 1) < 0.1
# a host's by the bytes of all its ranks, a path between hosts as it was measured, by a pair
rank = (2 * 63 + 1) * 254 * 4 / 12e9
assert abs((together_shared - together) / (0.5 * 4 * rank) - 1) < 0.08, (together_shared - together, 2 * rank)
assert abs((apart_shared - apart) / (0.5 * 2 * rank) - 1) < 0.1, (apart_shared - apart, rank)
PY
}

@test "eight GPUs as measured: the simulation is as near as the prediction" {
  needs_results
  results=$top_srcdir/doc/results/h200-x8-2026-11
  "$top_builddir/himeno-predict" --study $results/runs.jsonl --comm $results/paths.json --fit-ranks 4 -s S,M,L,XL -n 8 -p 8x1x1 --json fitted.json >/dev/null
  for way in staged p2p; do "$sim" --model fitted.json -x $way -s S,M,L,XL -n 8 -p 8x1x1 --json $way.json >/dev/null; done
  mkdir runs
  recorded h200-x8-2026-11/runs.jsonl "strong-*-8-stream-*-8x1x1-*" runs/
  "$PYTHON" - runs <<'PY'
import glob, json, statistics, sys
predicted = {(p["transport"], p["size"]): p["seconds"] for p in json.load(open("fitted.json"))["predictions"] if p["scaling"] == "strong"}
for way in "staged", "p2p":
    errors = []
    for run in json.load(open(way + ".json"))["runs"]:
        size = run["config"]["size"]
        [path] = glob.glob(f"{sys.argv[1]}/strong-{size}-8-stream-{way}-8x1x1-*.json")
        d = json.load(open(path))
        measured = statistics.median(d["result"]["samples"]) / d["config"]["block"]
        errors.append([t / measured - 1 for t in (run["phases"]["sweep"]["max"], predicted[way, size])])
        print(way, size, measured, errors[-1])
        # without what ranks of a host share L by staged is a third too fast
        assert abs(errors[-1][0]) < abs(errors[-1][1]) + 0.04
PY
}

@test "a network with too little between its switches costs time" {
  for taper in 1 60; do
    "$sim" --model "$model" -s M -w -n 64 -p 4x4x4 --per-host 2 --leaf 2 --taper $taper --passes 2 --json tree-$taper.json >/dev/null
  done
  [ "$("$PYTHON" -c 'import json,sys; a,b=(json.load(open(p))["runs"][0]["phases"]["sweep"]["max"] for p in sys.argv[1:]); print(b > 1.2*a)' tree-1.json tree-60.json)" = True ]
}

@test "a fat tree without a taper has its whole bisection: links twice as wide gain nothing" {
  for taper in 1 0.5; do
    "$sim" --model "$model" -s M -w -n 64 -p 4x4x4 --per-host 2 --leaf 2 --taper $taper --passes 2 --json tree-$taper.json >/dev/null
  done
  [ "$("$PYTHON" -c 'import json,sys; a,b=(json.load(open(p))["runs"][0]["phases"]["sweep"]["max"] for p in sys.argv[1:]); print(abs(a / b - 1) < 1e-6)' tree-1.json tree-0.5.json)" = True ]
}

# cpu_a_message N: what the simulation of N ranks takes of a CPU for each message, in seconds, however busy the machine is.
cpu_a_message() {
  "$PYTHON" - "$sim" "$model" "$1" <<'PY'
import json, resource, subprocess, sys
sim, model, ranks = sys.argv[1:]
subprocess.run([sim, "--model", model, "-s", "L", "-n", ranks, "--passes", "1", "--json", "s.json"], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
exchange = json.load(open("s.json"))["runs"][0]["exchange"]
print((used.ru_utime + used.ru_stime) / (exchange["messages"] + exchange["tokens"]))
PY
}

@test "four times as many ranks do not make each message of theirs dearer to simulate" {
  local few many
  few=$(cpu_a_message 64)
  many=$(cpu_a_message 256)
  "$PYTHON" -c 'import sys; few, many = map(float, sys.argv[1:]); print(few, many); sys.exit(many > 1.7 * few)' "$few" "$many"
}

@test "platform files can be kept, with links as fitted" {
  "$sim" --model "$model" -s S -n 12 --keep-files files >/dev/null
  grep -q '<cluster .* radical="0-11" .* bw="20000000000Bps" lat="4e-07s"' files/platform.xml
}

# cluster BANDWIDTH [HOSTS]: a platform as its owner describes it, in cluster.xml.
cluster() {
  cat >cluster.xml <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-${2:-3}" speed="1Gf" bw="$1" lat="0.4us"/>
</platform>
XML
}

@test "--platform takes a cluster as its owner describes it: ranks fill hosts in their order, and share their links" {
  for bandwidth in 20GBps 2GBps 1GBps; do
    cluster $bandwidth
    "$sim" --model "$model" -s M -n 16 -p 2x8x1 --platform cluster.xml --json $bandwidth.json >/dev/null
    json $bandwidth.json 'd["runs"][0]["phases"]["sweep"]["max"]'
  done >times
  # two hosts of eight: what leaves a host, eight parts of one face, goes by its one link
  "$PYTHON" - <<'PY'
fast, slow, slowest = map(float, open("times"))
face = 126 * 254 * 4
assert abs((slowest - slow) / (face / 1e9 - face / 2e9) - 1) < 0.15 and fast < slow, (fast, slow, slowest, face / 2e9)
PY
  [ "$(json 20GBps.json 'd["runs"][0]["config"]["network"]')" = cluster.xml ]
  run "$sim" --model "$model" -s S -n 16 --platform cluster.xml --taper 2
  expect_status 0
  [[ $output == *"--taper: ignored"* ]]
}

@test "a platform that is none is one line and exit 2" {
  refuses() {
    run --separate-stderr "$sim" --model "$model" -s S -n 16 --platform "$1"
    expect_status 2
    [ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == *"$2"* ]] || { echo "$1: $stderr"; return 1; }
  }
  refuses missing.xml 'missing.xml: No such file'
  refuses . 'is no file'
  echo garbage >garbage.xml
  refuses garbage.xml 'garbage.xml:1: Invalid XML'
  cluster many
  refuses cluster.xml 'cluster.xml:4: cannot parse number'
  cluster 20GBps 0
  refuses cluster.xml 'the platform has 1 hosts, but 16 ranks need 2 of 8 GPUs'
  cat >links.xml <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/></zone></platform>
XML
  refuses links.xml 'no connecting path'
}

# simulates COMMAND...: a simulation of minutes begins in the background as $pid, with its process as $child.
simulates() {
  "$@" "$sim" --model "$model" -s L -n 512 --passes 10000 --json s.json >/dev/null 2>said 3>&- &
  pid=$! child=''
  for _ in $(seq $((600 * SLOWNESS))); do child=$(pgrep -P $pid) && return; sleep 0.1; done
  return 1
}

# ended: its exit code, in code; its process is gone too.
ended() {
  code=0
  wait $pid || code=$?
  for _ in $(seq $((100 * SLOWNESS))); do kill -0 $child 2>/dev/null || return 0; sleep 0.1; done
  echo "process $child is left"
  return 1
}

@test "a simulation that is stopped leaves no process, and an earlier document as it was" {
  for signal in TERM HUP; do
    echo earlier >s.json
    simulates env
    sleep 0.5
    kill -$signal $pid
    ended
    [ $code -eq 8 ] || { echo "exit code $code"; cat said; return 1; }
    grep -q "stopped by signal $(kill -l $signal)" said
    [ "$(cat s.json)" = earlier ]
  done
}

@test "a simulation whose program is killed leaves none either" {
  simulates env
  kill -KILL $pid
  ended
  [ $code -eq 137 ]
}

@test "a signal that is ignored stays so" {
  simulates bash -c 'trap "" HUP; exec "$@"' ignores
  kill -HUP $pid $child
  sleep 1
  kill -0 $pid && kill -0 $child
  kill -TERM $pid
  ended
  [ $code -eq 8 ]
}

@test "a point that cannot be simulated leaves the others in the document" {
  "$PYTHON" -c 'import json,sys; d=json.load(open(sys.argv[1])); d["model"]["paths"][0]["other_host"] = None; json.dump(d, sys.stdout)' "$model" >one.json
  run --separate-stderr "$sim" -q --model one.json -s S -n 4,16,8 --json s.json
  expect_status 3
  [ "$(json s.json '[r["config"]["ranks"] for r in d["runs"]]')" = "[4, 8]" ]
  [ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == *"was never measured"* ]]
}

@test "folders and files of any name: spaces, quotes, bytes that are not UTF-8, 700 characters" {
  local folder part
  part=$(printf 'n%.0s' {1..230})
  for folder in "$PWD/two words" "$PWD/\$signs 'and quotes'" "$PWD/"$'\xff' "$PWD/$part/$part/$part"; do
    mkdir -p "$folder"
    cp "$model" "$folder/model.json"
    "$sim" --model "$folder/model.json" -s XS -n 2 --passes 1 --keep-files "$folder/kept" --json r.json >/dev/null
    "$PYTHON" -c 'import json; json.load(open("r.json", encoding="utf-8"))'
    "$sim" --model "$folder/model.json" -s XS -n 2 --passes 1 --platform "$folder/kept/platform.xml" >/dev/null
  done
}

@test "a folder to keep files in loses nothing that it had" {
  mkdir keep
  echo mine >keep/result.json
  echo theirs >theirs
  ln theirs keep/platform.xml
  "$sim" --model "$model" -s S -n 12 --keep-files keep >/dev/null
  [ "$(cat keep/result.json)" = mine ] && [ "$(cat theirs)" = theirs ]
  grep -q 'radical="0-11"' keep/platform.xml
  [ "$(ls keep | tr '\n' ' ')" = 'log platform.xml result.json ' ]
}

@test "wrong input is one line" {
  says() {
    local code=$1 pattern=$2
    shift 2
    run "$sim" "$@"
    expect_status "$code"
    grep -Eq -- "$pattern" <<<"$output" || { printf '%s\ndoes not match %s\n' "$output" "$pattern"; return 1; }
  }
  says 2 '--model is missing'
  says 2 'has no transport pigeon' --model "$model" -x pigeon
  says 2 '--ranks 0: must be' --model "$model" -n 0
  says 2 '--network 5: must be two numbers' --model "$model" --network 5
  says 2 '--network 5,0: must be two numbers' --model "$model" --network 5,0
  says 2 '--network 5,20,3: must be two numbers' --model "$model" --network 5,20,3
  says 2 'himeno-sim: .*[Rr]ank' --model "$model" -s 8x8x8 -n 4096
  says 3 'none"?: ' --model none
  says 3 'no/such.json' --model "$model" --json no/such.json
}
