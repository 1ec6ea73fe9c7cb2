# SPDX-License-Identifier: MIT
# mem-gpu: its measurements, the detection of damaged data, and its errors about bad input.
load ../helper
bats_require_minimum_version 1.5.0

mem=$top_builddir/mem-gpu
export OMP_NUM_THREADS=2 POCL_MAX_PTHREAD_COUNT=1

setup() { cd "$BATS_TEST_TMPDIR"; }

# quick ARGUMENT...: runs mem-gpu briefly, so that it is fast under sanitizers.
quick() { "$mem" -t 0.02 "$@"; }

follows_schema() { has_jsonschema && follows mem "$1"; }

@test "copies, mixes, latency and host of the CPU: a report with every part, and a document that follows its schema" {
  run --separate-stderr quick -b cpu --copies --mixes --latency --host --sizes 64K,1M --footprint 1M --json cpu.json
  expect_status 0
  follows_schema cpu.json
  [ "$(json cpu.json '{(p["streams"], p["paced"]) for p in d["copies"]["points"]} == {(s, p) for s in (1, 2, 4, 8, 16) for p in (False, True)},
    {h["access"] for h in d["host"]}  == {"COPY", "TRIADD", "READ", "MEMCPY"}, d["roofline"], d["result"]["verdict"]')" = "True True None pass" ]
}

@test "OpenCL devices, if present: every section, and each distribution of elements" {
  run --separate-stderr quick -b opencl --copies --mixes --latency --roofline --sizes 64K --streams 16 --footprint 16K --json cl.json
  [ "$status" -ne 3 ] || skip "$stderr"
  expect_status 0
  follows_schema cl.json
  [ "$(json cl.json '{(p["assign"], p["width"], p["paced"]) for p in d["copies"]["points"]} == {(a, w, p) for a in ("cyclic", "block", "group") for w in (4, 16) for p in (False, True)}')" = True ]
}

@test "the roofline has ceilings, points from 1/16 to 512 operations a byte, and kernels of other documents" {
  needs_results
  recorded h100-2026-11-check/runs.jsonl ladder-cuda-L run-cuda-XL ./
  run --separate-stderr quick -b cpu --roofline --sizes 64M,64K --kernels ladder-cuda-L.json,run-cuda-XL.json --json roof.json
  expect_status 0
  [[ $stderr == *'warning: --sizes: --roofline uses only the first, 64.0 MiB' ]]
  follows_schema roof.json
  [ "$(json roof.json '[p["intensity"] for p in d["roofline"]["points"]] == [2.0 ** e for e in range(-4, 10)], max(p["gflops"]["median"] for p in d["roofline"]["points"]) == d["roofline"]["peaks"][0]["gflops"],
    {v["bytes"] for v in d["roofline"]["levels"]} - {16 << 10, 64 << 20} <= {d["device"]["cache_bytes"] // 4 >> 16 << 16}')" = "True True True" ]
  # A kernel with three sweeps per pass has three times the operations per byte.
  [ "$(json roof.json 'sorted({(k["name"].split()[0], round(k["intensity"] * 56)) for k in d["roofline"]["kernels"]} & {("stream", 34), ("temporal2", 68), ("temporal3", 102)})')" = \
    "[('stream', 34), ('temporal2', 68), ('temporal3', 102)]" ]
}

@test "kernels of other documents are placed by their rate and traffic, and by measured traffic wherever its document is among them" {
  echo '{"schema": "himeno-traffic/1", "kernels": [{"kernel": "t3", "size": "L", "bytes_a_point": 68}]}' >a
  echo '{"schema": "himeno-gpu/2", "config": {"kernel": "t2", "size": "M", "class": "temporal", "T": 2}, "result": {"gflops": 90}, "ranks": [1, 2, 3]}' >b
  echo '{"schema": "himeno-ladder/1", "config": {"size": "L", "ranks": 2}, "rungs": [{"verdict": "wrong"}, {"verdict": "pass", "kernel": "t3", "T": 3, "gflops": 8}]}' >c
  echo '{"schema": "gemm-gpu/1", "config": {"type": "bf16", "m": 2, "n": 4, "k": 8}, "ranks": [1, 2], "result": {"gflops": 9}, "yardsticks": [{"kernel": "y", "verdict": "pass", "gflops": 6}]}' >d
  echo '{"schema": "gemm-ladder/2", "config": {"type": "tf32", "ranks": 4}, "sizes": [{}, {"m": 1, "n": 7, "k": 1, "rungs": [{"verdict": "pass"}, {"kernel": "z", "verdict": "pass", "gflops": 8, "predicted": {"device_intensity": 5}}]}]}' >e
  quick -b cpu --roofline --sizes 1M --kernels a,b,c,d,e --json roof.json >/dev/null
  [ "$(json roof.json '*["%s, %s: %.4f, %g, %s" % (*[k[x] for x in ("name", "type", "intensity", "gflops")], k["traffic"][:30]) for k in d["roofline"]["kernels"]]')" = \
    "t2 M, fp32: 1.2143, 30, 56 bytes per point and pass of t3 L, fp32: 1.5000, 4, 68.0 bytes per point and pass, y bf16 4, bf16: 1.1429, 3, A, B and C move once z tf32 7, tf32: 5.0000, 2, its blocks read their rows and" ]
}

@test "dram-traffic without ncu or a program; it adds up what the counters saw" {
  dram=$top_srcdir/scripts/dram-traffic
  mkdir bin && printf '#!/bin/sh\necho "no such thing" >&2\nexit 1\n' >bin/ncu && chmod +x bin/ncu
  python=$(command -v python3)
  run --separate-stderr env PATH=/nowhere "$python" "$dram" -o out.json "$himeno"
  expect_status 3
  [[ $stderr == "dram-traffic: ncu was not found"* ]]
  PATH=$PWD/bin:$PATH run --separate-stderr "$dram" -o out.json none
  expect_status 2
  PATH=$PWD/bin:$PATH run --separate-stderr "$dram" -k stream -o out.json "$himeno"
  expect_status 7
  [[ $stderr == "dram-traffic: stream: no such thing" && ! -e out.json ]]
  cat >bin/ncu <<'END'
#!/bin/sh
for last; do :; done
echo '{"config": {"size": "T", "imax": 12, "jmax": 12, "kmax": 12, "T": 2}}' >"$last"
cat <<'CSV'
==PROF== Connected
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","temporal_kernel","dram__bytes_read.sum","Kbyte","52.5"
"0","temporal_kernel","dram__bytes_write.sum","byte","4,000"
"1","temporal_kernel","dram__bytes_read.sum","Kbyte","51.5"
"1","temporal_kernel","dram__bytes_write.sum","byte","4,000"
CSV
END
  PATH=$PWD/bin:$PATH "$top_srcdir/scripts/dram-traffic" -s T -k temporal2 -o out.json "$himeno"
  [ "$(json out.json 'd["schema"], round(d["kernels"][0]["bytes_a_point"], 6), d["kernels"][0]["launches"]')" = 'himeno-traffic/1 56.0 2' ]
}

@test "each section by itself: its document alone goes to standard output" {
  for section in copies mixes latency host roofline; do
    quick -b cpu --$section --sizes 1M --footprint 16K --json - >section.json 2>report
    grep -q '^  verdict    PASS: ' report
    [ "$(json section.json '[s for s in ("copies", "mixes", "latency", "host", "roofline") if d[s] is not None]')" = "['$section']" ]
  done
}

@test "if the Nth comparison finds a flipped bit in a copy, a mix, a chase, host memory or the roofline the run ends with 4 and one line" {
  while IFS='|' read -r n arguments pattern; do
    HIMENO_MEM_CORRUPT=$n run --separate-stderr quick -b cpu $arguments
    expect_status 4
    one_error "$pattern" .
    [[ $output == *WRONG* ]]
  done <<'END'
2|--copies --sizes 64K|study copy of 64.0 KiB, 1 stream.*: 1 of 16384 words are wrong, the first is word 8192
1|--mixes --sizes 64K|1 reads and 0 writes: the sum is
5|--mixes --sizes 64K|13 reads and 1 writes: 1 of 16384 words
3|--latency --footprint 16K|chase of stride .*: the chase ended at
4|--host --sizes 64K|host memory, TRIADD, .*1 of 16384 words .4 bytes. are wrong|host memory, TRIADD with
1|--roofline --sizes 1M|reading from L1: the sum is
9|--roofline --sizes 1M|multiply-adds for each 16 bytes: the sum is
END
}

@test "without --sizes copies are from an eighth of the cache to four times it, all kinds of them at one size; mixes are of 64 MiB" {
  quick -b cpu --copies --mixes --streams 1 --pace free --json sizes.json >/dev/null
  [ "$(json sizes.json '[(at[0] <= cache / 8 < 2 * at[0], {b / a for a, b in zip(at, at[1:-1])}, 2 <= at[-1] / at[-2] < 8, at[-1] == max(4 * cache, 64 << 20))
    for at, cache in [([p["bytes"] for p in d["copies"]["points"] if (p["assign"], p["threads"]) == ("cyclic", 2)], d["device"]["cache_bytes"])]]')" = "[(True, {4.0}, True, True)]" ]
  [ "$(json sizes.json '[(p["assign"], p["threads"]) for p in d["copies"]["points"] if p["bytes"] == max(q["bytes"] for q in d["copies"]["points"] if q["bytes"] <= 1 << 30)],
    len(d["copies"]["points"]) - len(d["copies"]["ways"]), {m["bytes"] for m in d["mixes"]}')" = "[('cyclic', 2), ('block', 2), ('cyclic', 1)] 2 {67108864}" ]
}

@test "host memory with the requested threads and sizes, each by itself" {
  run --separate-stderr env OMP_NUM_THREADS=3 "$mem" -t 0.02 -b cpu --host --threads 2,3 --sizes 64K,1M,128K --json host.json
  expect_status 0
  follows_schema host.json
  [ "$(json host.json 'sorted({(h["bytes"], h["threads"]) for h in d["host"]}), len(d["host"]) // 6 == len({(h["access"], h["streaming"]) for h in d["host"]})')" = \
    "[(65536, 2), (65536, 3), (131072, 2), (131072, 3), (1048576, 2), (1048576, 3)] True" ]
  [ "$(grep -c 'host memory, arrays of' <<<"$output")" = 3 ]
  # --host measures one thread and all, by default. A size that is too large is left out if another size remains.
  run --separate-stderr quick -b cpu --host --sizes 64K,4T --json host.json
  expect_status 0
  [[ $stderr == *'warning: --sizes 4.0 TiB: not measured by --host: 3 arrays of it need more than the '* ]]
  [ "$(json host.json 'sorted({(h["bytes"], h["threads"]) for h in d["host"]})')" = "[(65536, 1), (65536, 2)]" ]
}

@test "threads of the host's memory that there are not, or that OpenMP does not give, are an error" {
  run --separate-stderr quick -b cpu --host --sizes 64K --threads 3
  expect_status 3
  [[ $stderr == *'--threads 3: '*' takes at most 2'* ]]
  OMP_THREAD_LIMIT=1 run --separate-stderr quick -b cpu --host --sizes 64K --threads 2
  expect_status 3
  [[ $stderr == *'--threads 2: '*' takes at most 1'* ]]
  OMP_THREAD_LIMIT=1 OMP_NUM_THREADS=2 run quick -b cpu --host --sizes 64K --json host.json
  expect_status 0
  [ "$(json host.json '{h["threads"] for h in d["host"]}')" = '{1}' ]
  OMP_DYNAMIC=true run quick -b cpu --host --sizes 64K --threads 2
  expect_status 0
}

# expect_error CODE PATTERN ARGUMENT...: must end with CODE and print one error with PATTERN, and nothing else.
expect_error() {
  local code=$1 pattern=$2
  shift 2
  run --separate-stderr quick "$@"
  expect_status "$code"
  one_error "^mem-gpu: .*$pattern" .
  [ -z "$output" ]
}

@test "a footprint or a copy larger than the memory; a stride of 0, one that is no multiple of 8, one that does not fit the footprint" {
  expect_error 3 'too little host memory: 100.0 TiB more needed, .* free' -b cpu --latency --footprint 100T
  expect_error 3 'too little host memory: 1.0 TiB more needed, .* free' -b cpu --copies --sizes 1T
  expect_error 3 'too little host memory: 4.0 TiB more needed' -b cpu --host --sizes 4T
  expect_error 3 'too little host memory: 4.0 TiB more needed, .* free .*; by --sizes' -b cpu --mixes --sizes 4T
  expect_error 3 'too little host memory: 4.0 TiB more needed' -b cpu --roofline --sizes 4T
  expect_error 2 '--strides 0: must be sizes .* from 8 B in steps of 8 B' --strides 0
  expect_error 2 '--strides 64,7: must be' --strides 64,7
  expect_error 2 '--strides 1.0 MiB: a footprint of 2.0 MiB does not hold four' -b cpu --latency --strides 1M --footprint 2M
}
@test "no device; values that options or the device do not take: backends, streams, sizes, threads, widths, pace, assignment, time; words" {
  expect_error 3 '--device 9: none of the 1 device of backend cpu has that position, UUID or name' -b cpu --device 9
  CUDA_VISIBLE_DEVICES='' expect_error 3 'backend cuda: ' -b cuda --mixes
  OCL_ICD_VENDORS=/nowhere OCL_ICD_FILENAMES='' expect_error 3 'backend opencl: ' -b opencl --mixes
  expect_error 3 'backend qpu has no memory kernels|backend qpu: ' -b qpu --mixes
  expect_error 2 '--backend tpu: must be one of auto, cuda, opencl, cpu' -b tpu
  expect_error 2 '--backend null: must be one of auto, cuda, opencl, cpu' -b null
  for n in 0 3 17 x 1,,2; do expect_error 2 "--streams $n: must be" --streams "$n"; done
  for size in 0 100 64Q -64K 1e400; do expect_error 2 "--sizes $size: must be sizes such as 64K" --sizes "$size"; done
  expect_error 2 '--threads 0: must be numbers from 1 to 1024' --threads 0
  expect_error 3 '--threads 1024: .* takes at most' -b cpu --copies --threads 1024
  expect_error 2 '--blocks 1025: must be numbers from 1 to 1024' --blocks 1025
  expect_error 2 '--assign group: backend cpu has one block' -b cpu --copies --assign group
  expect_error 2 '--widths 8: must be 4, 16 or 4,16' --widths 8
  expect_error 2 '--pace "often": must be both, free or paced' --pace often
  expect_error 2 '--assign "odd": must be all, cyclic, block or group' --assign odd
  expect_error 2 '--time is given twice' -t 1
  expect_error 2 '--sizes needs a value' --sizes ''
  expect_error 2 '--footprint 1K: must be' --footprint 1K
  expect_error 2 '--footprint 1M,2M: must be one size' --footprint 1M,2M
  expect_error 2 'unknown option "--nonsense"' --nonsense
  expect_error 2 'unknown argument "word"' word
}
@test "documents that cannot be placed" {
  expect_error 2 '--kernels goes with --roofline' --kernels some.json
  expect_error 3 '--kernels none.json: the file cannot be read' -b cpu --roofline --kernels none.json
  while IFS='|' read -r document pattern; do
    echo "$document" >k.json
    expect_error 2 "--kernels k.json: $pattern" -b cpu --roofline --kernels k.json
  done <<'END'
{"schema": "comm-gpu/1"}|no document of himeno-gpu or gemm-gpu
{"schema": "himeno-gpu/1", "config": {"kernel": "x"}}|it has no class, T and rate
{"schema": "gemm-gpu/1", "config": {"m": 1, "n": 1, "k": 0}, "result": {"gflops": 1}}|it has no sizes and rate of a product
{"schema": "gemm-gpu/1", "config": {"m": 1, "n": 1, "k": 1}, "result": {"gflops": 0}}|it has no sizes and rate of a product
{"schema": "gemm-ladder/2", "sizes": [{"m": 0, "n": 1, "k": 1}]}|it has no size
{"schema": "himeno-traffic/1", "kernels": [{"bytes_a_point": 0}]}|it has no bytes per point of a kernel
no JSON|'\[' or '\{' expected near 'no'
END
}
@test "a JSON path in a folder that is not there" { expect_error 3 'none/such.json' -b cpu --mixes --json none/such.json; }

@test "the list shows devices, and why one is missing; help names the exit codes and the variable for tests" {
  run "$mem" --list
  expect_status 0
  [[ $output == *"cpu: "*"device 0"* && $output != *null:* ]]
  [[ $("$mem" --help) == *HIMENO_MEM_CORRUPT*"Exit status: 0 pass; 2 wrong option"* ]]
}
