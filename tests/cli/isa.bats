# SPDX-License-Identifier: MIT
# isa-report finds the hot loop, classifies instructions, and fails if a compiler spoils a kernel.
load ../helper
bats_require_minimum_version 1.5.0

report="$top_srcdir/scripts/isa-report"
setup() { cd "$BATS_TEST_TMPDIR"; }

# value FILE EXPRESSION: prints an expression of the document d and of k, its first kernel.
value() {
  "$PYTHON" -c 'import json,sys; d=json.load(open(sys.argv[1])); k=d.get("kernels", [None])[0]; print(eval(sys.argv[2]))' "$1" "$2"
}

# as_before NAME FILE...: compares these files, and what `run` printed, with tests/golden/said.jsonl (see tests/scripts/helper.py).
as_before() {
  { echo "${output-}"; cat "${@:2}"; } |
    PYTHONPATH=$top_srcdir/tests/scripts "$PYTHON" -Bc 'import helper, sys; helper.Case().as_before(sys.argv[1], sys.stdin.read())' "$1"
}

# needs_gcn: skips a test without clang and its libraries. needs_nvcc: skips it without nvcc.
needs_gcn() {
  "$report" --isa gcn --json probe.json "$top_srcdir/doc/pairs.cl" >probe 2>&1 || skip "$(cat probe)"
}
needs_nvcc() { command -v nvcc >/dev/null || skip "there is no nvcc"; }

# sass_listing: prints a kernel as nvdisasm does: instructions before an outer loop with an inner
# loop, and an endless loop after the end.
sass_listing() {
  cat <<'END'
	.section	.text.nested,"ax",@progbits
.text.nested:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/                   IMAD.WIDE R2, R0, 0x4, R8 ;
.L_x_1:
        /*0020*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0030*/                   VIADD R20, R20, 0x1 ;
.L_x_0:
        /*0040*/                   LDS.64 R10, [R12+0x80] ;
        /*0050*/                   FFMA R14, R10, R11, R14 ;
        /*0060*/                   VIADD R12, R12, 0x8 ;
        /*0070*/                   IADD3 R16, R16, 0x1, RZ ;
        /*0080*/                   ISETP.NE.AND P0, PT, R16, 0x20, PT ;
        /*0090*/                   UIADD3 UR6, UR6, 0x1, URZ ;
        /*00a0*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00b0*/               @P0 BRA `(.L_x_0) ;
        /*00c0*/                   STG.E desc[UR4][R2.64], R14 ;
        /*00d0*/                   ISETP.NE.AND P1, PT, R20, 0x9, PT ;
        /*00e0*/               @P1 BRA `(.L_x_1) ;
        /*00f0*/                   EXIT ;
.L_x_2:
        /*0100*/                   BRA `(.L_x_2);
END
}

# expect_nested FILE: the report must have the inner loop of sass_listing, with these counts.
expect_nested() {
  [ "$(value "$1" 'k["loop"], k["depth"], k["isa"]')" = "(8, 2, 'SASS')" ]
  [ "$(value "$1" '{n: c for n, c in k["classes"].items() if c}')" = \
    "{'arithmetic': 1, 'address': 1, 'load': 1, 'scalar': 1, 'control': 3, 'wait': 1}" ]
  [ "$(value "$1" 'k["loads"], k["stores"], round(sum(k["shares"].values()), 9)')" = "({'shared 8': 1}, {}, 1.0)" ]
}

@test "SASS: the innermost hot loop by its back edge, and each instruction by what its result reaches" {
  sass_listing >nested.sass
  expect 0 "$report" --json out.json --listing nested.sass
  as_before "isa: SASS" out.json
}

@test "SASS as cuobjdump writes it, with addresses for labels" {
  { echo '		Function : nested'; sass_listing | sed -n '/\/\*/p' | sed 's/`(.L_x_0)/0x40/; s/`(.L_x_1)/0x20/; s/`(.L_x_2)/0x100/'; } >nested.sass
  "$report" --json out.json nested.sass >/dev/null
  expect_nested out.json
}

@test "PTX: loads of several words, waits, and a loop's counter that is also its address" {
  cat >one.ptx <<'END'
.visible .entry one(
	.param .u64 one_param_0
)
{
	.reg .pred 	%p<3>;
	ld.param.u64 	%rd1, [one_param_0];
$L__BB0_1:
	ld.global.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd1+16];
	fma.rn.f32 	%f5, %f1, %f2, %f5;
	bar.sync 	0;
	ld.f64 	%fd1, [%rd1+32];
	ldmatrix.sync.aligned.m8n8.x4.b16 	{%r1, %r2, %r3, %r4}, [%rd1];
	ldmatrix.sync.aligned.m8n8.x2.shared.b16 	{%r1, %r2}, [%rd1];
	ldmatrix.sync.aligned.m8n8.x1.b16 	{%r1}, [%rd1];
	ld.param.u64 	%rd2, [one_param_0];
	ld.const.u32 	%r5, [%rd2];
	ld.local.u8 	%rs1, [%rd2];
	st.global.f32 	[%rd1], %f5;
	add.s64 	%rd1, %rd1, 16;
	setp.lt.s64 	%p1, %rd1, 4096;
	@%p1 bra 	$L__BB0_1;
	ret;
}
END
  run "$report" --listing --json out.json one.ptx
  as_before "isa: PTX" out.json
}

@test "GCN: scalar and vector work separately, a register that is used twice for different ends" {
  cat >one.s <<'END'
one:
	.amd_kernel_code_t
		amd_code_version_major = 1
	.end_amd_kernel_code_t
	s_load_dwordx2 s[0:1], s[4:5], 0x0
.LBB0_1:
	v_lshlrev_b32_e32 v5, 2, v0
	global_load_dwordx2 v[2:3], v5, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v5, v2, v3
	global_store_dword v0, v5, s[0:1]
	s_add_u32 s6, s6, 1
	s_cmp_lt_u32 s6, s7
	s_cbranch_scc1 .LBB0_1
	s_endpgm
END
  run "$report" --listing --json out.json one.s
  as_before "isa: GCN" out.json
}

@test "a short loop of matrix products is hotter than a long one around it" {
  {
    printf '.visible .entry product(\n)\n{\n$L__BB0_1:\n'
    for n in $(seq 40); do printf '\tadd.s32 \t%%r%d, %%r%d, 1;\n' "$n" "$n"; done
    printf '$L__BB0_2:\n\tmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%%f1}, {%%r1}, {%%r2}, {%%f1};\n'
    printf '\t@%%p1 bra $L__BB0_2;\n\t@%%p2 bra $L__BB0_1;\n\tret;\n}\n'
  } >product.ptx
  run "$report" --listing --json out.json product.ptx
  as_before "isa: products" out.json
}

@test "a kernel without a loop is counted as a whole" {
  sass_listing | grep -v 'BRA `(.L_x_[01])' >straight.sass
  expect 0 "$report" straight.sass
  as_before "isa: no loop"
}

@test "GCN: of each pair the second kernel takes no more instructions than the first" {
  needs_gcn
  expect 0 "$report" --isa gcn --pairs --json gcn.json
  [ "$(value gcn.json '[p["pair"] for p in d["inputs"][0]["pairs"] if p["asserted"] and p["after"] <= p["before"]]')" = \
    "['pointer', 'row', 'column', 'scalar', 'byte', 'shared']" ]
  run "$report" --isa gcn --arch tahiti --pairs
  local row rows
  # These are the figures in doc/lab/then-and-now.md.
  for row in "scalar address +5.00 +3.00 v_" "scalar address +7.00 +11.00 s_" "byte pointer +5.00 +1.00 v_" "byte pointer +7.00 +6.00 s_"; do
    grep -qE "vector address, $row instructions a word" <<<"$output" || { echo "$row: $output"; return 1; }
  done
  rows=$output
  command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || return 0
  expect 0 "$report" --pairs
  [[ $output == *"Kernel pairs, "[SP]*"$rows" ]]
  [ "$(value gcn.json '[p["after"] < p["before"] for p in d["inputs"][0]["pairs"] if p["asserted"] and p["pair"] in ("row", "scalar", "byte")]')" = "[True, True, True]" ]
}

@test "PTX of clang: of each pair the second kernel takes no more instructions than the first" {
  needs_gcn
  "$report" --isa ptx --pairs --json ptx.json "$top_srcdir/doc/pairs.cl"
  [ "$(value ptx.json 'all(p["after"] <= p["before"] for p in d["inputs"][0]["pairs"] if p["asserted"])')" = True ]
}

@test "PTX of nvcc: of each pair the second kernel takes no more instructions than the first" {
  needs_nvcc
  "$report" --isa ptx --pairs --json ptx.json
  [ "$(value ptx.json '[p["after"] < p["before"] for p in d["inputs"][0]["pairs"] if p["asserted"]]')" = "[True, True, True, True]" ]
}

@test "without a disassembler SASS becomes PTX, and the report says so" {
  needs_nvcc
  command -v nvdisasm >/dev/null || command -v cuobjdump >/dev/null && skip "there is a disassembler"
  expect 0 "$report" --isa sass --pairs
  [[ $output == *"PTX and not SASS: neither cuobjdump nor nvdisasm was found"* ]]
}

@test "a pair that a compiler spoiled ends with 5, and is named" {
  {
    for name in pointer_before pointer_after row_before row_after column_after scalar_before scalar_after byte_after shared_before shared_after; do
      printf 'pair_%s:\n\t.amd_kernel_code_t\n.L%s:\n\tglobal_store_dword v[0:1], v2, off\n' $name $name
      [ $name != pointer_after ] || printf '\tv_add_u32_e32 v0, 8, v0\n'
      printf '\ts_cbranch_scc1 .L%s\n\ts_endpgm\n' $name
    done
  } >spoiled.s
  expect 5 --separate-stderr "$report" --pairs --json out.json spoiled.s
  as_before "isa: pairs" out.json
  [[ $stderr == "isa-report: spoiled.s, GCN: index product, pointer increment: 3.00 after 2.00 instructions a word" ]]
}

@test "kernels of the suite that CI can compile: the sweep and the product in OpenCL" {
  needs_gcn
  "$report" --isa gcn --json suite.json "$top_srcdir"/himeno/kernels/opencl/{naive,stream}.cl "$top_srcdir"/gemm/kernels/opencl/pipeline.cl >/dev/null
  [ "$(value suite.json 'sorted({r["kernel"] for r in d["kernels"]} & {"sweep", "gemm"})')" = "['gemm', 'sweep']" ]
  # stream loads its arrays 16 bytes at a time; naive does not.
  [ "$(value suite.json '[r["loads"].get("global 16", 0) >= 13 for r in d["kernels"] if r["kernel"] == "sweep"]')" = "[False, True]" ]
}

# expect_error CODE PATTERN ARGUMENT...
expect_error() {
  local code=$1 pattern=$2
  shift 2
  run --separate-stderr "$report" "$@"
  expect_status "$code"
  [ "$(wc -l <<<"$stderr")" -eq 1 ]
  grep -Eq -- "^isa-report: .*$pattern" <<<"$stderr" || { printf '%s\ndoes not match %s\n' "$stderr" "$pattern"; return 1; }
}

@test "bad input: no such file, no code in it, the wrong kind, no such kernel" {
  sass_listing >nested.sass
  echo 'nothing' >empty.ptx
  expect_error 2 'none.cu: there is no such file' none.cu
  expect_error 2 'empty.ptx: no kernel was found in it' empty.ptx
  expect_error 2 'no kernel is named other' -k other nested.sass
  expect_error 2 'nested.sass: it has no pair_pointer_before: --pairs compares' --pairs nested.sass
  expect 2 "$report" --isa arm
}

@test "a result that cannot be written" {
  sass_listing >nested.sass
  expect_error 3 'none/out.json' --json none/out.json nested.sass
}
