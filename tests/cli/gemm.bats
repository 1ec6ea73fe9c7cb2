# SPDX-License-Identifier: MIT
# gemm-gpu: verified products of any shape, documents that match the run, one line per error.
load ../helper
bats_require_minimum_version 1.5.0

gemm=$top_builddir/gemm-gpu
quick="-t 0.01 --no-reference"

valid() {
  local schema=gemm
  ! grep -q '"schema": "gemm-ladder/' "$1" || schema=gemm-ladder
  follows "$schema" "$@"
}

# expect_error CODE PATTERN ARGUMENT...: gemm-gpu must end with CODE and print only one line, which matches PATTERN.
expect_error() {
  local code=$1 pattern=$2
  shift 2
  run --separate-stderr ${ranks:+on "$ranks"} "$gemm" -b cpu "$@"
  expect_status "$code"
  one_error "$pattern" gemm-gpu:
  [ -z "$output" ]
}

setup() { document=$BATS_TEST_TMPDIR/result.json; }

@test "a product is verified, element by element; --verify off reports that nothing was" {
  run "$gemm" -b cpu -s 65x33x129 -t 0.02 --json "$document"
  expect_status 0
  [[ $output == *"verdict    PASS: all elements agree with float64"* ]]
  [ "$(json "$document" 'd["result"]["verdict"], d["result"]["check"]["how"], d["result"]["check"]["compared"], 0 < d["result"]["check"]["element_error"] <= d["result"]["check"]["element_bound"]')" = "pass full 2145 True" ]
  run "$gemm" -b cpu -s 32 $quick --verify off
  expect_status 0
  [[ $output == *"NOT VERIFIED"* ]]
}

@test "products of float64 are verified in double-double, alone and over four ranks" {
  for kernel in naive simd; do
    run "$gemm" -b cpu -k $kernel --type f64 -s 65x33x129 --trans TN --alpha 0.3 --beta -1.1 -t 0.02 --json "$document"
    expect_status 0
    [[ $output == *"verdict    PASS: all elements agree with double-double"* ]]
    [ "$(json "$document" 'd["config"]["type"], d["config"]["alpha"], d["result"]["check"]["element_bound"] < 6e-15')" = "f64 0.3 True" ]
  done
  "$gemm" -b cpu -k simd --type f64 -s 40x30x1100 -t 0.02 --json "$document" >/dev/null
  [ "$(json "$document" 'd["result"]["check"]["arithmetic"]')" = native ]
  "$gemm" -b cpu -k simd --type f64 --data wide -s 40x30x1100 -t 0.02 --json "$document" >/dev/null
  [ "$(json "$document" '"arithmetic" in d["result"]["check"]')" = False ]
  OMP_NUM_THREADS=1 run on 4 "$gemm" -b cpu --distributed -p 2x2 --panel 40 --type f64 -s 90x70x130 $quick
  expect_status 0
  [[ $output == *"verdict    PASS: all elements agree with double-double"* ]]
}

# spoilt FLIP OPTION...: runs four ranks; in the C of one of them, a bit flips in memory.
spoilt() {
  HIMENO_GEMM_FLIP=$1 HIMENO_NULL_DEVICES=4 OMP_NUM_THREADS=1 run --separate-stderr on 4 "$gemm" -b null -s 64 -t 0.05 --json "$document" "${@:2}"
}

@test "a wrong rank is reported, with host, device and error, and the others pass: at the first product, and in a later block" {
  local look why
  for look in 1:'1 of 4096 elements' 3:'block 2 differs from the first'; do
    why=${look#*:}
    spoilt "2 3,40 30 ${look%%:*}"
    expect_status 4
    grep -Eq "wrong      rank 2 on .*, device .*: $why" <<<"$output"
    grep -q 'verdict    WRONG: 1 of 4 ranks' <<<"$output"
    [ "$(grep -c '^gemm-gpu: rank 2, host .*, device .*wrong result' <<<"$stderr")" = 1 ]
    [ "$(json "$document" 'd["result"]["verdict"], [r["verdict"] for r in d["ranks"]]')" = "wrong ['pass', 'pass', 'wrong', 'pass']" ]
    [ "$(json "$document" 'd["ranks"][2]["why"].startswith("'"$why"'"), "why" in d["ranks"][1]')" = "True False" ]
    [ "$(json "$document" 'd["system"]["settings"]["HIMENO_GEMM_FLIP"][:6]')" = "2 3,40" ]
  done
  [ "$(json "$document" 'all(0 < r["element_error"] <= d["result"]["check"]["element_bound"] for r in d["ranks"])')" = True ]
}

@test "a library compared with the kernel: ours_share is the kernel's rate over the library's" {
  "$gemm" --list | grep -q 'reference  cblas' || skip "no CBLAS was found"
  "$gemm" -b cpu -k naive -s 256 -t 0.05 --json "$document" >/dev/null
  [ "$(json "$document" '[abs(y["ours_share"] * y["gflops"] / d["result"]["gflops"] - 1) < 1e-9 for y in d["yardsticks"]]')" = "[True]" ]
}

# worn FLIP OPTION...: two ranks on the CPU run a library and the kernel; in the memory of one rank,
# a bit flips.
worn() {
  "$gemm" --list | grep -q 'reference  cblas' || skip "no CBLAS was found"
  HIMENO_GEMM_FLIP=$1 OMP_NUM_THREADS=1 run --separate-stderr on 2 "$gemm" -q -b cpu -t 0.03 --json "$document" "${@:2}"
}

@test "a library's wrong block is a warning, and with --accept exit status 4: its first product, any block, its last" {
  local when
  for when in 2 cblas:2 cblas:last; do
    worn "1 3,40 30 $when" -s 64
    expect_status 0
    [ -z "$stderr" ]
    grep -Eq 'WARNING    WRONG on rank 1 on .*, device .*: reference cblas: ' <<<"$output"
    grep -Eq 'reference  library cblas: .*(WRONG|wrong result)' <<<"$output"
    refute grep -q 'cannot run' <<<"$output"
    [ "$(json "$document" 'd["result"]["verdict"], d["yardsticks"][0]["verdict"], [r["verdict"] for r in d["ranks"]], ["warning" in r for r in d["ranks"]]')" = \
      "pass wrong ['pass', 'pass'] [False, True]" ]
    [ "$(json "$document" 'd["yardsticks"][0]["why"].startswith("gives a wrong result: rank 1, ")')" = True ]
    worn "1 3,40 30 $when" -s 64 --accept
    expect_status 4
    grep -q 'verdict    WRONG: 1 of 2 ranks' <<<"$output"
    [ "$(grep -c '^gemm-gpu: rank 1, .*kernel cblas: wrong result' <<<"$stderr")" = 1 ]
    [ "$(json "$document" 'd["config"]["accept"], d["result"]["verdict"], [r["verdict"] for r in d["ranks"]], d["ranks"][1]["why"][:16], d["result"]["why"] == "rank 1: " + d["ranks"][1]["why"]')" = \
      "True wrong ['pass', 'wrong'] reference cblas: True" ]
    [ "$(json "$document" 'd["worth"]["excluded_per_1000_device_days"]')" = None ]
  done
  has_jsonschema
  valid "$document" 'd["config"]["accept"] = 1' 'd["ranks"][0]["warning"] = ""'
}

@test "a long k is added up in parts and is right, and a flipped bit in the first tile of C is found" {
  run "$gemm" -b cpu -s 8x8x200000 -t 0.01 --no-reference
  expect_status 0
  HIMENO_GEMM_FLIP='0 3,10 0 simd:2' run "$gemm" -q -b cpu -s 300x300x8 -t 0.01 --block 0.001 --no-reference
  expect_status 4
}

@test "a library that is wrong in a ladder is a warning, and with --accept exit status 4" {
  worn '0 3,10 30 cblas:1' --ladder --sizes 32,48
  expect_status 0
  grep -q 'WARNING    reference cblas at 32 x 32 x 32 gives a wrong result: rank 0, ' <<<"$output"
  [ "$(json "$document" '[[r["verdict"] for r in s["rungs"]] for s in d["sizes"]]')" = "[['pass', 'pass', 'pass', 'wrong'], ['pass', 'pass', 'pass', 'pass']]" ]
  has_jsonschema
  valid "$document"
  worn '0 3,10 30 cblas:1' --ladder --sizes 32,48 --accept
  expect_status 4
}

@test "a change of A or B in device memory is blamed on the device, whichever kernel multiplies next, also after the last product" {
  local fault
  for fault in 'A 0,0 0 simd:2=row 0, column 0 it is 0.951143444, must be 0.951143384' 'B 63,63 0 cblas:last=row 63, column 63 it is -0.331229478, must be -0.331229448' 'A 3,40 30 cblas:1=row 3, column 40 it is -2.50943302e.37'; do
    worn "1 ${fault%=*}" -s 64 -k simd
    expect_status 4
    grep -Eq "wrong      rank 1 on .*: ${fault%% *} changed in device memory: at stored ${fault#*=}" <<<"$output"
    [ "$(json "$document" 'd["result"]["verdict"], [r["verdict"] for r in d["ranks"]]')" = "wrong ['pass', 'wrong']" ]
  done
  has_jsonschema
  valid "$document"
}

@test "several bits, a warp's elements and a fault that comes back are found in blocks of a soak" {
  local warp="" k
  for k in $(seq 0 31); do warp+="1 7,$k 14 simd:2; "; done
  worn "${warp}1 9,5 3 simd:2; 1 9,5 4 simd:2" -s 64 -k simd --accept
  expect_status 4
  grep -q 'wrong      rank 1 on .*: block 2 differs from the first product: 33 of 4096 elements' <<<"$output"
  worn '1 7,3 14 simd:3; 1 7,3 14 simd:7; 1 7,3 14 simd:11' -s 64 -k simd
  expect_status 4
  grep -q 'wrong      rank 1 on .*: block 3 differs from the first product: 1 of 4096 elements' <<<"$output"
  HIMENO_GEMM_FLIP='0 3,4 30 1; ' expect_error 2 'HIMENO_GEMM_FLIP=.* must be' -s 8
  HIMENO_GEMM_FLIP="0 3,4 30 1$(yes '; 0 3,4 30 1' | head -64 | tr -d '\n')" expect_error 2 'at most 64 of these, separated by ;' -s 8
  HIMENO_GEMM_FLIP='0 3,4 30 1; 0 8,0 0 1' expect_error 2 'is not in a C of 8 x 8 elements of 32 bits' -s 8
}

@test "a planted fault that the run never reaches is reported" {
  HIMENO_GEMM_FLIP='0 3,4 30 simd:999999' run --separate-stderr "$gemm" -b cpu -s 16 -k simd $quick
  expect_status 0
  grep -q 'warning: HIMENO_GEMM_FLIP: nothing was flipped, rank 0 had no such look' <<<"$stderr"
}

@test "an invalid HIMENO_GEMM_FLIP is refused" {
  local text
  for text in '2 3,40 30' '2 3,40 30 0' '2 3,40 32 1' '-1 3,40 30 1' '2 3,40 30 1 x' '2 D 3,40 30 1' '2 3,40 30 simd' \
    '2 3,40 30 simd:-1' '2 3,40 30 simd:first' '2 3,40 30 simd:1 x' '2 3,40 30 :1' '2 3,40 30 simd:trial' '2 3,40 30 simd:trial0'; do
    HIMENO_GEMM_FLIP=$text expect_error 2 'HIMENO_GEMM_FLIP=.* must be' -s 8
  done
  for text in '0 8,0 0 1' '0 0,8 0 1'; do
    HIMENO_GEMM_FLIP=$text expect_error 2 'is not in a C of 8 x 8 elements of 32 bits' -s 8
  done
  HIMENO_GEMM_FLIP='0 B 0,8 0 simd:1' expect_error 2 'is not in a B of 8 x 8 elements of 32 bits' -s 8
  HIMENO_GEMM_FLIP='1 0,0 0 1' expect_error 2 'HIMENO_GEMM_FLIP: there is no rank 1, only 1' -s 8
}

@test "NaN, infinities, leading dimensions, factors and transposition are verified" {
  for trans in NN NT TN TT; do
    "$gemm" -b cpu -s 17x23x31 --trans $trans --lda 40 --ldb 41 --ldc 42 --alpha -1.5 --beta 0.75 --data special $quick
    "$gemm" -b cpu -s 70 --trans $trans -k naive --data special $quick
  done
}

@test "sampled verification accepts a correct large product" {
  local kernel=()
  [ "${SANITIZERS:-no}" = no ] || ! "$gemm" --list | grep -q 'reference  cblas' || kernel=(-k cblas) # under sanitizers our kernel takes 20 s
  run "$gemm" -b cpu -s 1500 "${kernel[@]}" -t 0.01 --no-reference --json "$document"
  expect_status 0
  [ "$(json "$document" 'd["result"]["check"]["how"]')" = sampled ]
}

@test "a device that fails ends the run with one message" {
  local n
  for n in "4 -s 8" "9 -s 8" "12 -s 8" "15 -s 8" "12 --ladder"; do
    HIMENO_NULL_FAIL=${n%% *} run --separate-stderr "$gemm" -b null ${n#* } $quick
    [ "$status" -eq 3 ] || [ "$status" -eq 7 ]
    [ "$(grep -c '^gemm-gpu:' <<<"$stderr")" = 1 ]
  done
}

@test "the ladder: every rung is correct, with the model's estimate" {
  run "$gemm" -b cpu --ladder --sizes 64,48x80x33 -t 0.01 --json "$document"
  expect_status 0
  [ "$(grep -cE '^ +[123]  (naive|blocked|simd) .* correct' <<<"$output")" = 6 ]
  [ "$(json "$document" '[[s["m"], s["n"], s["k"]] for s in d["sizes"]], [r["kernel"] for r in d["sizes"][1]["rungs"] if not r["yardstick"]]')" = "[[64, 64, 64], [48, 80, 33]] ['naive', 'blocked', 'simd']" ]
  [ "$(json "$document" 'all(r["gflops"] > 0 and r["predicted"]["gflops"] > 0 for s in d["sizes"] for r in s["rungs"] if not r["yardstick"])')" = True ]
}

@test "a ladder has the kernels that cannot run here, and ends at a size that does not fit" {
  run "$gemm" -b cpu --ladder --trans TN --sizes 16,2000000 -t 0.01
  expect_status 3
  [[ $output == *"2  blocked "*"cannot run here"*"does not take transposed matrices"*"3  simd "*"size 2000000x"* ]]
}

# naive reads 8 bytes per 2 operations, so that 10 GB/s allow 2.5 GFLOPS. The launch adds 5 us.
@test "the ladder predicts for the device that --ceilings describes" {
  run "$gemm" -b cpu --ladder --sizes 16,256 -t 0.01 --no-reference --ceilings 100,10,1000,4 --json "$document"
  expect_status 0
  [[ $output == *"shares of 100.0 GFLOPS"*"memory 10.0 GB/s, local memory"*"1000 GB/s, 4 compute units"* ]]
  [ "$(json "$document" '[(round(p["gflops"], 3), round(p["peak_share"], 5)) for p in [d["sizes"][1]["rungs"][0]["predicted"]]]')" = "[(2.499, 0.02499)]" ]
  grep -Eq '^      naive          *[0-9.]+ \([0-9.]+\)  *[0-9.]+ \(2\.5\) *$' <<<"$output"
  local wrong
  "$gemm" -b cpu --ladder --sizes 16 -t 0.01 --ceilings 0.001,0.001,1000000000,1
  for wrong in 100 100,10,1000 100,10,1000,4,5 100,10,1000,0.5 100,10,1000,4.5 100,10,1000,0 0.0009,10,1000,4 100,10,1000000001,4 100,10,x,4; do
    run "$gemm" -b cpu --ladder --sizes 16 --ceilings "$wrong"
    expect_status 2
    [[ $output == *"--ceilings $wrong: must be four positive numbers"* ]]
  done
  run "$gemm" -b cpu -s 16 --ceilings 100,10,1000,4
  expect_status 2
}

@test "the ladder of OpenCL" {
  run "$gemm" -b opencl --device 0 --ladder -s 96x64x40 --lda 41 --ldb 65 -t 0.01 --no-reference --json "$document"
  [ "$status" -ne 3 ] || skip "no OpenCL device"
  expect_status 0
  [ "$(json "$document" '{r["verdict"] for r in d["sizes"][0]["rungs"] if r["kernel"] != "panel"}, [(r["rung"], r["kernel"][:3]) for r in d["sizes"][0]["rungs"][:9]]')" = "{'pass'} [(1, 'nai'), (2, 'reg'), (3, 'loc'), (4, 'unr'), (5, 'pip'), (6, 'lds'), (7, 'sma'), (8, 'spl'), (9, 'pan')]" ]
}

@test "documents follow their schemas, which refuse invalid ones" {
  has_jsonschema
  for options in "-b cpu -s 33" "-b null -s 16 --verify off" "-b qpu -s 16x32x16" "-b cpu -s 32 --ladder" "-b qpu -s 16x32x16 --ladder"; do
    run "$gemm" $options -t 0.01 --json "$document"
    expect_status 0
    valid "$document"
  done
  for look in 1 3; do
    spoilt "1 3,40 30 $look"
    valid "$document" 'd["ranks"][1]["verdict"] = "fault"' 'd["ranks"][1]["why"] = ""'
  done
  "$gemm" -b cpu -s 16 --ladder -t 0.01 --json "$document" >/dev/null
  valid "$document" 'd["sizes"] = []' 'del d["sizes"][0]["rungs"][0]["step"]' 'd["sizes"][0]["rungs"][0]["gflops"] = "1"' \
    'd["extra"] = 1' 'd["sizes"][0]["rungs"][0]["samples"] = [-1]' 'd["sizes"][0]["rungs"][0]["verdict"] = "slow"' \
    'd["sizes"][0]["rungs"][0]["extra"] = 1' 'd["schema"] = "gemm-gpu/1"'
}

@test "the list names backends, kernels and types" {
  run "$gemm" --list
  expect_status 0
  [[ $output == *"kernel     simd"* && $output == *"bf16"* ]]
}

@test "an error that two ranks share is reported once" {
  ranks=2
  expect_error 2 '--size 0.*from 1 to' -s 0
  expect_error 3 'rank 0, host .*; rank 1, host .*: size 2000000x2000000x2000000 needs .* per rank, but only .* for 2 ranks; use a smaller --size' -s 2000000
}

@test "an acceptance without verification" { expect_error 2 '--accept needs a verified result: remove --verify off' --accept --verify off; }
@test "an unknown option" { expect_error 2 '--nonsense' --nonsense; }
@test "a size that is no size, or none" { for s in 0 4x4 4x4x4x4 x4x4 4x4x0 2147483648 99999999999999999999; do expect_error 2 "--size $s: must be N or MxNxK, each from 1 to 2147483647" -s $s; done; }
@test "bytes that overflow" { expect_error 2 'A is too large for 64-bit sizes' -s 2147483647x1x2147483647 --lda 2147483647 --type f32; }
@test "an instruction set of other kernels" { HIMENO_CPU_SIMD=sse2 expect_error 3 'HIMENO_CPU_SIMD=sse2: this CPU does not have it, or kernel simd' -s 8; }
@test "an unknown kernel" { expect_error 2 '--kernel magic: no backend has' -k magic; }
@test "another backend's kernel" { expect_error 2 '--kernel lds-pipeline: backend cpu has no such' -k lds-pipeline; }
@test "a leading dimension that is too small for a ladder's second size" { expect_error 2 '--lda 8: too small.*A has 9' --ladder --sizes 8,9 --lda 8; }
@test "a leading dimension that is too small" { expect_error 2 '--lda 9: too small.*A has 10' -s 10 --lda 9; }
@test "a leading dimension that is too small for what is stored" { expect_error 2 '--ldb 19: too small.*B has 30' -s 10x20x30 --trans NT --ldb 19; }
@test "a factor that is no number" { expect_error 2 '--alpha' --alpha nan; }
@test "limits of the emulated QPU are reported, and it takes transposed matrices" {
  export HIMENO_QPU=emulator
  run "$gemm" -b qpu --data special --beta 0.5 -s 8
  expect_status 2
  [[ $output == *"--data special: backend qpu has neither NaN nor infinities"* ]]
  run "$gemm" -b qpu --type f64 -s 8
  expect_status 3
  [ "$output" = "gemm-gpu: backend qpu has no kernel for this product: its last one does not take type f64" ]
  for trans in NT TN TT; do
    "$gemm" -b qpu -s 17x23x31 --trans $trans --beta 0.5 >/dev/null
  done
}

@test "special data that nobody reads" { expect_error 2 '--data special' --data special --alpha 0 -s 8; }
@test "a type that no kernel takes" { expect_error 3 'no kernel for this product: its last one does not take type bf16' --type bf16 -s 8; }
@test "a transposition that the kernel does not take" { expect_error 3 '--kernel blocked.*transposed' -k blocked --trans NT -s 8; }
@test "matrices that do not fit" { expect_error 3 'size 2000000x2000000x2000000 needs 101\.9 TiB per rank, but only .* can be used: .* free .*; use a smaller --size' -s 2000000; }
@test "blocks of no length" { expect_error 2 '--block "0": must be' --block 0 -s 8; }
@test "--sizes without --ladder" { expect_error 2 '--sizes: only with --ladder' --sizes 8,9; }
@test "--sizes with --size" { expect_error 2 '--sizes and --size' --ladder --sizes 8,9 -s 8; }
@test "--ladder with --kernel" { expect_error 2 '--ladder and --kernel' --ladder -k simd; }
@test "a list of sizes with a hole" { expect_error 2 '--sizes.*from 1 to' --ladder --sizes 8,,9; }
@test "too many sizes" { expect_error 2 '--sizes 1,.*: must be up to 32 sizes, N or MxNxK, separated by commas' --ladder --sizes $(seq -s, 33); }
@test "a JSON path in a folder that is not there" { expect_error 3 'none/such.json' --json none/such.json -s 8; }
@test "a device that is not there" { expect_error 3 '--device 77' --device 77 -s 8; }
@test "fragments of another backend" { expect_error 2 '--backend cpu: WMMA fragments are CUDA' --fragment-map; }

# ---- distributed: one product over many ranks ----

distributed() { OMP_NUM_THREADS=1 HIMENO_NULL_DEVICES=8 run --separate-stderr on "$1" "$gemm" --distributed -t 0.02 "${@:2}"; }

@test "one product over four ranks: the document has its grid, panels, phases and paths" {
  distributed 4 -b cpu -s 90x70x130 -p 2x2 --panel 40 -x staged --json "$document"
  expect_status 0
  [[ $output == *"90 x 70 x 130 (m x n x k)"*"one product divided 2x2"*"4, each 40 wide along k, broadcast"*"transport  staged (as requested)"* ]]
  [[ $output == *"verdict    PASS: all elements agree with float64"*"8 paths through shared memory"* ]]
  [ "$(json "$document" 'd["config"]["distributed"], d["config"]["m"], d["config"]["n"]')" = "{'procs': [2, 2], 'weak': False, 'panel': 40, 'panels': 4, 'transport': 'staged'} 90 70" ]
  [ "$(json "$document" '[(p["rank"], p["peer"], p["face"], p["bytes"]) for p in d["paths"]][:4]')" = "[(0, 1, 'j+', 5888), (0, 2, 'i+', 10240), (1, 0, 'j+', 5888), (1, 3, 'i+', 10240)]" ]
  [ "$(json "$document" 'all(d["phases"][p]["max"] > 0 for p in ("compute", "pack", "exposed"))')" = True ]
  has_jsonschema
  valid "$document" 'd["phases"]["packing"] = d["phases"]["pack"]' 'd["paths"][0]["face"] = "k+"' 'd["config"]["distributed"]["procs"] = [4]' 'del d["config"]["distributed"]["panel"]'
}

@test "--help and the page have the widest panels" {
  local half float cpu page
  read -r cpu float half <<<"$("$gemm" --help | tr -s ' \n' ' ' | sed -n 's/.*panels of at most \([0-9]*\) on a CPU; on a GPU \([0-9]*\), or \([0-9]*\) for half types.*/\1 \2 \3/p')"
  page=$(tr -s ' \n' ' ' <"$top_srcdir/doc/explanation/gemm-distributed.md")
  [[ $page == *"by default equal ones of at most $half for half types and $float for others on a GPU, $cpu on a CPU)"* ]]
  # With k = WIDTH the backend uses one panel, with k = WIDTH + 1 two.
  for panels in "null $float 1" "null $((float + 1)) 2" "cpu $cpu 1" "cpu $((cpu + 1)) 2"; do
    set -- $panels
    distributed 1 -b $1 -s "1x1x$2" --json "$document"
    expect_status 0
    [ "$(json "$document" 'd["config"]["distributed"]["panels"]')" = $3 ]
  done
}

@test "slices of a megabyte and more go by copies, and incorrect ones are reported" {
  distributed 4 -b cpu -s 264x264x4096 -p 2x2 --panel 2048 -x p2p --verify full --json "$document"
  expect_status 0
  [ "$(json "$document" 'min(p["bytes"] for p in d["paths"]) >= 2 ** 20')" = False ]
  distributed 4 -b cpu -s 264x264x4096 -p 2x2 --panel 4096 -x p2p --beta 0.5 --json "$document"
  expect_status 0
  [ "$(json "$document" 'min(p["bytes"] for p in d["paths"]) >= 2 ** 20')" = True ]
  HIMENO_HALO_CORRUPT=2:1 distributed 4 -b cpu -s 264x264x4096 -p 2x2 --panel 4096 -x p2p
  expect_status 4
  [[ $stderr == *"rank 2, "*"wrong result"* && $output == *"verdict    WRONG: 1 of 4 ranks"*"wrong      rank 2 on"* ]]
}

@test "with --weak each rank has a C of SIZE, and k stays that of SIZE" {
  distributed 6 -b cpu -s 20x30x40 -w -p 2x3 -x staged --json "$document"
  expect_status 0
  [ "$(json "$document" 'd["config"]["m"], d["config"]["n"], d["config"]["k"], d["config"]["distributed"]["weak"]')" = "40 90 40 True" ]
  ranks=2 expect_error 2 '--weak: C of all 2x1 ranks is too large for 64-bit sizes' --distributed -w -p 2x1 -s 2000000000x1x1
}

@test "without --transport a trial product by each transport decides, and one rank needs none" {
  distributed 2 -b null -s 32 --json "$document"
  expect_status 0
  [[ $output == *"(fastest in a short trial)"* ]]
  distributed 1 -b cpu -s 32 --json "$document"
  expect_status 0
  [ "$(json "$document" 'd["config"]["distributed"]["transport"], d["paths"]')" = "None []" ]
}

@test "a slice that cannot take the transport is staged, and its path has the reason" {
  HIMENO_NULL_APART=0 distributed 2 -b null -s 32 -x p2p --json "$document"
  expect_status 0
  [ "$(json "$document" 'sorted(set((p["used"], p["why"], p["handover"]) for p in d["paths"]))')" = "[('staged', 'no peer access between the devices, on demand', 'shared memory')]" ]
  [[ $output == *"staged, because: no peer access"* ]]
}

@test "a bit of C flipped in a block over many ranks is reported with its rank, and only C can be flipped" {
  HIMENO_GEMM_FLIP="1 3,4 30 3" distributed 2 -b null -s 32 -x p2p
  expect_status 4
  [[ $output == *"wrong      rank 1 on"*"block 2 differs from the first"* ]]
  HIMENO_GEMM_FLIP="1 B 3,4 30 3" distributed 2 -b null -s 32 -x p2p
  expect_status 2
  [[ $stderr == *"HIMENO_GEMM_FLIP: with --distributed only C can be flipped"* ]]
}

@test "a rank whose device fails within a product, or within one over many ranks, ends the job with a message" {
  local call
  for call in "30" "90 --distributed -x staged" "100 --distributed -x staged" "110 --distributed -x staged"; do
    set -- $call
    run --separate-stderr on 3 env HIMENO_NULL_DEVICES=3 OMP_NUM_THREADS=1 bash -c '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" != 1 ] || export HIMENO_NULL_FAIL='$1'; exec "$@"' - "$gemm" -b null -s 32 -t 5 "${@:2}"
    [[ $status == [37] ]] || expect_status 7
    [[ $stderr == *"rank 1, "* ]]
  done
}

@test "a grid of other than all ranks" { ranks=3 expect_error 2 '--procs 2x2 needs 4 ranks, but there are 3' --distributed -p 2x2 -s 8; }
@test "a grid that is none" { for p in 2 2x 2x2x2 0x2 2x0 2x16777217; do expect_error 2 "--procs $p: must be auto or PxQ, each from 1 to 16777216" --distributed -p $p; done; }
@test "a product that does not fit its ranks" { ranks=2 expect_error 3 'size 200000x200000x200000 over 2x1 ranks needs 596\.9 GiB per rank, but only .* can be used: .* free on the host for 2 ranks' --distributed -s 200000 -p 2x1; }
@test "a transport that this device lacks" { ranks=2 expect_error 3 '--transport nccl: ' --distributed -x nccl -s 8; }
@test "a transport that there is not" { expect_error 2 '--transport stagd: .*staged' --distributed -x stagd; }
@test "panels too many to list" { expect_error 2 '--panel 1: cuts k 100000 into more than 65536 panels' --distributed --panel 1 -s 1x1x100000; }
@test "a ladder of many ranks" { expect_error 2 '--ladder and --distributed' --ladder --distributed; }
