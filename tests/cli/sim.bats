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

json() { "$PYTHON" -c "import json,sys; d=json.load(open(sys.argv[1])); print($2)" "$1"; }
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

@test "the document follows its schema, and himeno-predict agrees with it within 10%" {
  run --separate-stderr "$sim" --model "$model" -s S,L,XL -n 1,2,8,24,64 --json s.json
  expect_status 0
  [[ $output == *"fat tree with 16 hosts a switch"* ]]
  "$PYTHON" -c 'import jsonschema' 2>/dev/null && "$PYTHON" - s.json "$top_srcdir/doc/sim.schema.json" <<'PY'
import json, sys, jsonschema
result, schema = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(result, schema)
PY
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
    run "$sim" --model mixed.json -x $way -s L,XL -n 512 --passes 2 --json s.json
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
  [[ $output == *"2 hosts, and the path between hosts by staged was never measured: run comm-gpu on two hosts, or give it by --between"* ]]
  "$sim" --model one.json -s S -n 8 >/dev/null
  "$sim" --model one.json -s S -n 16 --between 8,20 --json given.json >/dev/null
  "$sim" --model "$model" -s S -n 16 --json s.json >/dev/null
  [ "$(json given.json 'd["runs"][0]["phases"]["sweep"]["max"]')" = "$(json s.json 'd["runs"][0]["phases"]["sweep"]["max"]')" ]
  "$sim" --model one.json -s S -n 16 --between 80,20 --json far.json >/dev/null
  [ "$(json far.json 'd["runs"][0]["phases"]["sweep"]["max"] > 6e-5')" = True ]
}

@test "with p2p the launch of slabs takes what it takes in the model: with sweeps that share an exchange, and without overlap" {
  local sweeps overlap
  for sweeps in 1 2; do
    for overlap in true false; do
      sed 's/staged/p2p/g; s/"T": 1/"T": '$sweeps'/; s/"overlap": true/"overlap": '$overlap'/' "$model" |
        sed '/"p2p slab"/{n;s/: [^,]*/: 4e-05/}' >linked.json
      [ "$(json linked.json '[t["value"] for t in d["model"]["terms"] if t["name"] == "p2p slab"]')" = "[4e-05]" ]
      "$sim" --model linked.json -s S -n 8 -p 8x1x1 --json s.json >/dev/null
      run "$top_builddir/himeno-predict" --model linked.json -s S -n 2 --against s.json --within 1
      expect_status 0
      [[ $output == *"1 of 1 predicted"* ]]
    done
  done
}

@test "a network with too little between its switches costs time, in a tree and in a dragonfly" {
  for network in fat-tree dragonfly; do
    for taper in 1 60; do
      "$sim" --model "$model" -s M -w -n 64 -p 4x4x4 --per-host 2 --leaf 2 --network $network --taper $taper --passes 2 --json $network-$taper.json >/dev/null
    done
    [ "$("$PYTHON" -c 'import json,sys; a,b=(json.load(open(p))["runs"][0]["phases"]["sweep"]["max"] for p in sys.argv[1:]); print(b > 1.2*a)' $network-1.json $network-60.json)" = True ]
  done
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
  "$sim" --model "$model" -s S -n 12 --keep files >/dev/null
  [ "$(wc -l <files/hosts)" -eq 12 ]
  [ "$(grep -c '<host id' files/platform.xml)" -eq 12 ]
  grep -q '<link id="peer-0-7" bandwidth="12000000000Bps"' files/platform.xml
  grep -q '<link id="card-1-3" bandwidth="20000000000Bps"' files/platform.xml
}

# simulates SIGNAL: sends it in the midst of a simulation, whose exit code is then in code; nothing of it is left.
simulates() {
  export TMPDIR=$PWD/files
  mkdir -p files
  "$sim" --model "$model" -s L -n 512 --passes 1000 >/dev/null 2>said 3>&- &
  pid=$!
  for _ in $(seq 600); do [ -e files/*/log ] && break; sleep 0.1; done
  sleep 0.5
  kill -"$1" $pid
  code=0
  wait $pid || code=$?
  for _ in $(seq 100); do [ -z "$(ls files)" ] && ! pgrep -f "$PWD/files" >/dev/null && return; sleep 0.1; done
  echo "left after $1: $(ls files) $(pgrep -af "$PWD/files")"
  return 1
}

@test "a simulation that is stopped leaves no process and no file behind" {
  for signal in TERM HUP; do
    simulates $signal
    [ $code -eq 7 ] || { echo "exit code $code"; cat said; return 1; }
    grep -q "stopped by signal $(kill -l $signal)" said
  done
}

@test "a simulation whose program is killed leaves none either" {
  simulates KILL
  [ $code -eq 137 ]
}

# halts PASSES SECONDS [-o]: stops a simulation, or with -o its launcher alone while it goes on to its end; it is waited for two seconds,
# and all is over after SECONDS.
halts() {
  local pid halted begin
  export TMPDIR=$PWD/files
  mkdir -p files
  timeout -k 1 90 "$sim" --model "$model" -s L -n 512 --passes "$1" --timeout 2 >/dev/null 2>said 3>&- &
  pid=$!
  for _ in $(seq 600); do [ -e files/*/log ] && break; sleep 0.1; done
  for _ in $(seq 100); do halted=$(pgrep $3 -f "$PWD/files") && break; sleep 0.1; done
  begin=$SECONDS
  kill -STOP $halted
  code=0
  wait $pid || code=$?
  [ $code -eq 6 ] && [ $((SECONDS - begin)) -lt "$2" ] || { echo "exit code $code"; cat said; return 1; }
  grep -q 'waited 2 s for the simulation of 512 ranks, which computes nothing: process [0-9]* (.*) is stopped' said
  [ -z "$(ls files)" ] && ! pgrep -f "$PWD/files"
}

@test "a simulation that does not go on is waited for as long as --timeout says, and leaves nothing behind" {
  halts 1000 15
  halts 3 60 -o
}

@test "a signal that is ignored stays so" {
  mkdir files
  TMPDIR=$PWD/files bash -c 'trap "" HUP; exec "$@"' ignores "$sim" --model "$model" -s S -n 64 --passes 20 --json s.json >/dev/null 3>&- &
  pid=$!
  for _ in $(seq 600); do [ -e files/*/log ] && break; sleep 0.1; done
  kill -HUP $pid
  wait $pid
  [ -s s.json ] && [ -z "$(ls files)" ]
}

@test "a folder to keep files in loses nothing that it had" {
  mkdir keep
  echo mine >keep/result.json
  echo theirs >theirs
  ln theirs keep/hosts
  "$sim" --model "$model" -s S -n 12 --keep keep >/dev/null
  [ "$(cat keep/result.json)" = mine ] && [ "$(cat theirs)" = theirs ]
  [ "$(wc -l <keep/hosts)" -eq 12 ]
  [ "$(ls keep | tr '\n' ' ')" = 'hosts log plan.json platform.xml result.json ' ]
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
  says 2 '--ranks 0: allowed' --model "$model" -n 0
  says 2 '--between 5: wanted are two numbers' --model "$model" --between 5
  says 2 '--between 5,0: wanted are two numbers' --model "$model" --between 5,0
  says 2 '--between 5,20,3: wanted are two numbers' --model "$model" --between 5,20,3
  says 2 'himeno-sim: .*[Rr]ank' --model "$model" -s 8x8x8 -n 4096
  says 3 'none: ' --model none
  says 3 'no/such.json' --model "$model" --json no/such.json
}
