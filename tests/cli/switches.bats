# SPDX-License-Identifier: MIT
# Variables HIMENO_*: the table made by the build, doc/reference/switches.md and the sources have the same names; documents list
# those that were set.
load ../helper
bats_require_minimum_version 1.5.0

setup() { cd "$top_srcdir"; }
directories=(base judge gpu comm suite himeno gemm tools)

# names: prints each name in standard input once.
names() { grep -oE 'HIMENO_[A-Z0-9_]+' | sort -u; }

declared() { names <"$top_builddir/base/switch_table.h"; }

# same WHAT FOUND: the names FOUND must be those of the table.
same() {
  diff <(declared) - <<<"$2" >"$BATS_TEST_TMPDIR/differs" || { echo "< the table, > $1"; cat "$BATS_TEST_TMPDIR/differs"; return 1; }
}

@test "every switch of the table is on its page, and no other" {
  [ "$(declared | wc -l)" -ge 30 ]
  same doc/reference/switches.md "$(grep -E '^\| `HIMENO_' doc/reference/switches.md | names)"
}

@test "the table has every line SWITCH, by kind and name, each once" {
  same 'the sources' "$(grep -rhoE --include='*.[ch]' --include='*.sbatch' '^(# )?SWITCH\("HIMENO_[A-Z0-9_]+"' "${directories[@]}" scripts | names)"
  [ "$(declared | wc -l)" = "$(wc -l <"$top_builddir/base/switch_table.h")" ]
}

@test "every switch of the table is read, and no other" {
  same 'the sources' "$({
    grep -rhoE --include='*.c' 'switch_(text|number|pair|cache)\("HIMENO_[A-Z0-9_]+"' "${directories[@]}"
    grep -rhoE '\$\{?HIMENO_[A-Z0-9_]+' scripts
  } | names)"
}

@test "no source, script or test reads or sets a switch that is not in the table" {
  ! grep -rnE --include='*.[ch]' --include='*.cu' '"HIMENO_[A-Z0-9_]+"' "${directories[@]}" | grep -vE 'SWITCH\("HIMENO_|switch_(text|number|pair|cache)\("HIMENO_' || false
  ! grep -rnE --include='*.c' '(getenv|environment_number)\("HIMENO_' tests || false
  # Scripts and tests may set and read only existing switches.
  [ -z "$(comm -13 <(declared) <(grep -rhoE '(^|[^A-Za-z_$])HIMENO_[A-Z0-9_]+=' scripts tests/cli tests/fault tests/mpi tests/clock tests/sites tests/hosts .ci | names))" ]
  [ -z "$(comm -13 <(declared) <(grep -rhoE "(environ|getenv).*HIMENO_[A-Z0-9_]+" scripts --include='*.py' | grep -oE 'HIMENO_[A-Z0-9_]+' | names))" ]
}

@test "documents name the pages that describe a switch" {
  [ -z "$(comm -13 <(declared) <(grep -rhoE '\bHIMENO_[A-Z0-9_]+=' README.md doc/*/*.md | names))" ]
  grep -q 'doc/reference/switches.md' README.md
}

@test "every program's document has the switches that were set, and no others" {
  local program unknown=HIMENO_UNKNOWN
  cd "$BATS_TEST_TMPDIR"
  unset HIMENO_QUIET
  export HIMENO_CPU_CACHE=1048576 HIMENO_OPENCL_WIDE=0 HIMENO_SOAK= HIMENO_NVML=/nonexistent OMP_NUM_THREADS=1
  export "$unknown=1"
  document() {
    program=$1
    shift
    run "$top_builddir/$program" "$@" --json d.json
    expect_status 0
    "$PYTHON" -c "import json
s = json.load(open('d.json'))['system']['settings']
print('$program', s)
assert {k: v for k, v in s.items() if k.startswith('HIMENO_')} == {
    'HIMENO_CPU_CACHE': '1048576', 'HIMENO_OPENCL_WIDE': '0', 'HIMENO_NVML': '/nonexistent'}"
  }
  document himeno-gpu -b cpu -s XS -n 1 -k reference
  document himeno-gpu -b null -s XS --ladder -n 1 --verify off
  document himeno-gpu -b null -s XS --soak 0.01 --block 2
  document gemm-gpu -b cpu -s 16 -t 0.01 -k naive --no-reference
  document gemm-gpu -b cpu --ladder --sizes 16 -t 0.01
  document mem-gpu -b cpu --mixes -t 0.02 --sizes 64K
  document comm-gpu -b cpu --parts host --max 64 --samples 3
}

@test "variables that nothing reads are named in one warning, once for all ranks" {
  local program one=HIMENO_CPU_SMID two=HIMENO_ warning
  warning='warning: HIMENO_CPU_SMID, HIMENO_: nothing reads a variable of that name, see doc/reference/switches.md'
  for program in himeno-gpu gemm-gpu comm-gpu; do
    run --separate-stderr on 2 env "$one=avx2" "$two=1" "${one}S=" HIMENO_CPU_SIMD=generic "$top_builddir/$program" --list
    expect_status 0
    [ "$(grep warning <<<"$stderr")" = "$program: $warning" ] || { echo "$program: $stderr"; return 1; }
  done
  run --separate-stderr env "$one=avx2" "$two=1" "$top_builddir/mem-gpu" --list
  [ "$(grep warning <<<"$stderr")" = "mem-gpu: $warning" ]
}

# reads OPTION...: prints how often each of two ranks reads a switch.
reads() {
  rm -f reads
  on 2 env LD_PRELOAD="$top_builddir/tests/fault/switch_reads.so" SWITCH_READS="$PWD/reads" "$himeno" -s XS --verify off --no-tune "$@" >/dev/null
  grep -v '^0$' reads | sort
}

@test "neither a sweep nor an exchange reads a switch" {
  without_sanitizers "their library has to come first"
  local way few more
  cd "$BATS_TEST_TMPDIR"
  for way in '-b null -x staged' '-b null -x p2p' '-b cpu -k stream -x staged'; do
    few=$(reads $way -n 3)
    [ "$(wc -l <<<"$few")" = 2 ] || { echo "$way: $few"; return 1; }
    # Telemetry is read as often as time allows. One more read per sweep or exchange would be 27 more per rank.
    more=$(reads $way -n 30)
    [ $(($(paste -sd+ <<<"$more") - ($(paste -sd+ <<<"$few")))) -lt 20 ] || { echo "$way: $few, and of more sweeps $more"; return 1; }
  done
}
