# SPDX-License-Identifier: MIT
# The scripts that users and the build run.
load ../helper
bats_require_minimum_version 1.5.0

@test "quickstart and test describe what they do, and name a wrong option" {
  for script in quickstart test; do
    expect 0 "$top_srcdir/scripts/$script" --help
    [[ $output == "Usage: scripts/$script [OPTION]..."*--no-install* ]]
    expect 2 "$top_srcdir/scripts/$script" --fast
    [ "$output" = "$script: unknown option \"--fast\": see --help" ]
  done
}

@test "scripts for developers know their version" {
  for script in accept-power cross-armhf dram-traffic fuzz gpu-check mutate portability quickstart test; do
    [ "$("$top_srcdir/scripts/$script" --version)" = "$script $("$himeno" --version | cut -d ' ' -f 2)" ]
  done
}

@test "scripts of the build have a usage line and write nothing then" {
  cd "$BATS_TEST_TMPDIR"
  for script in check-style compile-commands install-tools make-deb schemas; do
    expect 0 "$top_srcdir/scripts/$script" --help </dev/null
    [[ ${output,,} == "usage: "*"scripts/$script"* ]]
  done
  [ -z "$(ls -A)" ]
}

@test "quickstart builds what the run needs, runs it, then builds the rest, for the GPUs that are here, with the same options the next time" {
  mkdir -p "$BATS_TEST_TMPDIR"/{scripts,bin}
  cd "$BATS_TEST_TMPDIR"
  cp "$top_srcdir"/scripts/{quickstart,lib.sh} scripts
  cat >configure <<'SH'
#!/bin/sh
echo "configure $*" >>../calls
mkdir tests
echo "MPIRUN=launch MPI_FLAVOUR=other" >tests/env.sh
printf 'all first:\n\t@echo make $@ >>../calls\n' >Makefile
printf '#!/bin/sh\necho "config.status $*" >>../calls\n' >config.status
chmod +x config.status
SH
  printf '#!/bin/sh\necho "$*" >>calls\nexit 5\n' >bin/launch
  printf '#!/bin/sh\n' >bin/nvidia-smi
  chmod +x configure bin/*
  PATH=$PWD/bin:$PATH expect 5 scripts/quickstart --no-install
  [[ $output == *"The first verified report comes after about "*" s from here"*"configuring"* ]]
  [ "$(cat calls)" = $'configure --with-cuda-arch=native\nmake first\n-np 2 ./build/himeno-gpu\nmake all' ] ||
    [ "$(cat calls)" = $'configure --with-cuda-arch=native\nmake first\n-np 2 --oversubscribe ./build/himeno-gpu\nmake all' ]
  for words in --no-run '--without-cuda --no-run' --with-cuda-arch=80; do
    rm -rf build calls
    PATH=$PWD/bin:$PATH run scripts/quickstart --no-install $words
    refute grep native calls
  done
  # Options are used again the next time.
  rm -rf build calls
  scripts/quickstart --no-install --no-run --with-cuda-arch=75,90 NVCC=none
  scripts/quickstart --no-install --no-run
  [ "$(sed '/make/d' calls)" = $'configure --with-cuda-arch=75,90 NVCC=none\nconfig.status --recheck\nconfig.status ' ]
}

@test "the tests show progress and failures at once, and --long adds the long ones" {
  cd "$BATS_TEST_TMPDIR"
  mkdir -p tree/scripts bin
  cp "$top_srcdir/scripts/test" "$top_srcdir/scripts/lib.sh" tree/scripts
  printf '#!/bin/sh\n' >tree/configure
  cat >bin/make <<'MAKE'
#!/bin/sh
case "$*" in
  *print-tests*) echo 7; exit ;;
  *check*) ;;
  *) exit ;;
esac
echo "make $*" >>"$MADE"
printf '%s\n' 'begun quick' 'begun slow' 'failed quick: not ok 3 what it is to do' 'ended quick 7 5' >>"$TEST_PROGRESS"
[ -z "$SAID" ] || for _ in $(seq 600); do ! grep -q 'are done' "$SAID" || break; sleep 0.1; done
printf '# PASS:  5\n# FAIL:  1\n# ERROR: 0\n# XPASS: 0\n# SKIP:  0\n' >build/test-suite.log
MAKE
  chmod +x tree/configure bin/make
  SAID=$PWD/said MADE=$PWD/made PROGRESS_SECONDS=1 PATH=$PWD/bin:$PATH expect 1 bash -c 'tree/scripts/test --no-install --quick | tee "$SAID"; exit "${PIPESTATUS[0]}"'
  [[ $output == *"  FAIL: quick: not ok 3 what it is to do"*" s: 1 of 7 tests are done, 1 cases failed; now  slow"* ]]
  [ "${lines[-1]}" = "5 passed, 1 failed" ]
  [[ $output == *"  quick: 7 s, 5 s of processors"* ]]
  refute grep LONG_TESTS made
  MADE=$BATS_TEST_TMPDIR/made PATH=$BATS_TEST_TMPDIR/bin:$PATH run tree/scripts/test --no-install --quick --long
  [ "${lines[-1]}" = "10 passed, 2 failed" ]
  grep -qF 'TESTS=$(LONG_TESTS)' made
}

@test "make check shows why a case failed, of that case alone, and the log" {
  cd "$BATS_TEST_TMPDIR"
  printf '#!/bin/sh\necho 1..3\necho ok 1 - a\necho "# fine"\necho not ok 2 - b\necho "# b is 1"\necho ok 3 - c\necho "# quiet"\nexit 1\n' >t.sh
  chmod +x t.sh
  TEST_PROGRESS=/dev/null "$top_srcdir/tests/tap" ./t.sh 9>shown >tap
  [ "$(cat shown)" = $'  ./t.sh: not ok 2 - b\n  # b is 1\n  log: ./t.log' ]
  [ "$(grep -c '^ok' tap)" = 2 ]
}

@test "flags that configure takes reach a compiler or a linker" {
  local names name unused=
  names=$(sed -n 's/^S\["\([A-Z_]*\(FLAGS\|LIBS\)\)"\].*/\1/p' "$top_builddir/config.status")
  [ "$(wc -w <<<"$names")" -ge 20 ]
  for name in $names; do
    grep -qF "\$($name)" "$top_builddir/Makefile" || unused+=" $name"
  done
  [ -z "$unused" ] || { echo "never used:$unused"; return 1; }
}

@test "an embedded OpenCL source has the same bytes in C" {
  mkdir -p "$BATS_TEST_TMPDIR/room/opencl"
  cd "$BATS_TEST_TMPDIR"
  printf '%s\n' '// "quoted" \ \n \\' '#define F(x) \' '	(x) % 2 ?? 1 : 0 /* π */' '' 'x' >room/opencl/two-words.cl
  "$top_srcdir/scripts/embed-cl" room/opencl/two-words.cl two_cl.h
  printf '#include "two_cl.h"\n#include <stdio.h>\nint main(void) { return fputs(room_two_words_cl, stdout) < 0; }\n' >main.c
  ${CC:-cc} main.c -o main
  ./main | cmp - room/opencl/two-words.cl
}

@test "names with bytes that are not UTF-8 are no traceback, in a study, its page and its plot" {
  local folder=$BATS_TEST_TMPDIR/$'n\xff' script
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  mkdir "$folder"
  "$top_srcdir/scripts/scaling" run "$folder/study" --program "$himeno" --launcher "$MPIRUN -np {ranks}" --kernels reference --sizes 18x18x34 --ranks 1,2 \
    --scaling strong --seconds 0.01 --repeat 1 --options "-b null --block 5" --no-paths >/dev/null
  "$top_srcdir/scripts/scaling" compare "$folder/study" "$folder/study" >/dev/null
  if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
    "$PYTHON" "$top_srcdir/scripts/report" "$folder/study" --title $'t\xff' -o "$folder/page.html" >/dev/null
    "$PYTHON" -c 'import sys; assert "t\\udcff" in open(sys.argv[1], encoding="utf-8").read()' "$folder/page.html"
    "$PYTHON" "$top_srcdir/scripts/plot" scaling "$folder/study" -o "$folder/plot" >/dev/null
  fi
  printf '.version 8.0\n.target sm_90\n.visible .entry k()\n{\nret;\n}\n' >"$folder/x.ptx"
  "$top_srcdir/scripts/isa-report" "$folder/x.ptx" --json "$folder/isa.json" >/dev/null
  "$PYTHON" -c 'import json, sys; assert json.load(open(sys.argv[1], encoding="utf-8"))["kernels"][0]' "$folder/isa.json"
  ! grep -q udcff "$folder/isa.json"
}

@test "isa-report does not overwrite its input" {
  cd "$BATS_TEST_TMPDIR"
  echo x >x.ptx
  ln x.ptx hard
  ln -s x.ptx soft
  for path in x.ptx ./x.ptx hard soft; do
    expect 2 "$top_srcdir/scripts/isa-report" x.ptx --json $path
    [[ "$output" = "isa-report: $path: is also read, as x.ptx" && "$(cat x.ptx)" = x ]]
  done
}

# a_tree_of_its_own: copies the style check into a new tree with the directories that it checks.
a_tree_of_its_own() {
  mkdir -p "$BATS_TEST_TMPDIR"/{base,gpu,comm,himeno,scripts,tests,m4,doc}
  cd "$BATS_TEST_TMPDIR"
  cp "$top_srcdir/ruff.toml" .
  cp "$top_srcdir"/scripts/{check-style,quickstart,test} scripts
  cp "$top_srcdir/.clang-format" .
  printf '# SPDX-License-Identifier: MIT\nSOURCES = base/good.c\n' | tee base/Makefile.am >scripts/Makefile.am
  printf '/* SPDX-License-Identifier: MIT */\nint one(void)\n{\n  return 1;\n}\n' >base/good.c
}

@test "the style check names each place that breaks a rule, and passes what is in style" {
  a_tree_of_its_own
  expect 0 scripts/check-style lengths comments licences lists
  mkdir -p comm/halo comm/ranks comm/transports
  printf '#include "comm/ranks/a.h"\n' >comm/halo/a.c
  printf '#include "comm/transports/b.h"\n#include "base/b.h"\n' >comm/ranks/a.h
  expect 0 scripts/check-style includes asserts
  # Now the directories include each other, and one includes a later one.
  printf '#include "comm/halo/a.h"\n' >comm/transports/b.h
  printf '#include "himeno/run/a.h"\n' >base/b.h
  local wide
  wide=$(yes word | head -n 20 | tr '\n' ' ')
  { echo 'int f(void)'; echo '{'; yes '  g();' | head -n 99; echo '}'; } >base/function.c
  yes '' | head -n 501 >base/file.c
  printf '/* %s */\n' "$wide" >base/one.c
  printf '/* first\n * %s\n */\n' "$wide" >base/inside.c
  printf 'int x; // %s\n' "$wide" >base/behind.c
  printf 'char *t = "/* %s";\n/* %s */\n' "$wide" "$(yes × | head -n 45 | tr '\n' ' ')" >base/text.c
  # Assertions whose failure ends no test, and one at the end of a function, whose failure does.
  printf '%s\n' 'f() {' '  ! grep x y' '  [ a ] && [ b ]' '  [ a ] && [ b ] || return 1' '  [ a ] && skip' '  [[ a && b ]]' '  ! grep x y' '}' >tests/a.bats
  expect 1 scripts/check-style lengths comments includes asserts
  [ "$(sed 's/other: .*/other: .../' <<<"$output")" = "base/file.c: over 500 lines
base/function.c:2: function over 100 lines
base/behind.c:1: a comment beyond column 100
base/inside.c:2: a comment beyond column 100
base/one.c:1: a comment beyond column 100
directories that include each other: ...
base includes himeno/run, which comes after it
tests/a.bats:2: asserts nothing: write refute COMMAND, or one line each
tests/a.bats:3: asserts nothing: write refute COMMAND, or one line each" ]
  [[ "$(grep other <<<"$output") " == *" comm/"*" comm/"*" comm/"* ]]
  rm -r base/*.h base/[!g]*.c comm/* tests/*
  echo 'int x;' >base/bare.c
  expect 1 scripts/check-style licences lists
  [ "$output" = $'base/bare.c: no SPDX line\nbase/bare.c: not in a Makefile.am of base/' ]
}

@test "the style check names a file that is not formatted by .clang-format" {
  a_tree_of_its_own
  run scripts/check-style format
  [ "$status" -eq 77 ] && skip "$output"
  expect_status 0
  echo 'int  x ;' >base/loose.c
  expect 1 scripts/check-style format
  [[ $output == *base/loose.c* ]]
}

@test "the style check names a local name that hides another in device code, and a source that was not read to its end" {
  a_tree_of_its_own
  [ -e "${CUDA_HOME:-/usr/local/cuda}/include/cuda_runtime.h" ] || skip "no CUDA headers were found"
  printf '__global__ void k(float *to, int step)\n{\n  to[threadIdx.x] = step;\n}\n' >gpu/good.cu
  expect 0 scripts/check-style shadows
  printf '__device__ int f(int step)\n{\n  for (int step = 0; step < 3; step++);\n  return step;\n}\n' >gpu/hides.cu
  printf '#include "nowhere.h"\n' >gpu/torn.cu
  expect 1 scripts/check-style shadows
  [[ ${#lines[@]} -eq 2 && $output == *"gpu/hides.cu:3:12: "*"shadows a parameter"*"gpu/torn.cu: gcc did not read it to its end" ]]
}

@test "the style check names undefined names and unused imports of Python" {
  a_tree_of_its_own
  printf '# SPDX-License-Identifier: MIT\nimport os\n\nprint(os.name)\n' >scripts/good.py
  run scripts/check-style python
  [ "$status" -eq 77 ] && skip "$output"
  expect_status 0
  printf '#!/usr/bin/env python3\nimport os\nprint(nowhere)\n' >scripts/bad.py
  expect 1 scripts/check-style python
  [[ $output == *"scripts/bad.py:2:8: F401 "* && $output == *"scripts/bad.py:3:7: F821 "* && $output != *good.py* ]]
}

@test "installed scripts run on Python 3.8, report an older one in a line, and know their version" {
  local script old version
  version=$("$himeno" --version)
  for script in accept isa-report plot report scaling; do
    run -3 "$PYTHON" - "$top_srcdir/scripts/$script" <<'PY'
import runpy, sys
sys.argv = sys.argv[1:]
sys.version_info = (3, 7, 16, "final", 0)
runpy.run_path(sys.argv[0], run_name="__main__")
PY
    [ "$("$PYTHON" "$top_srcdir/scripts/$script" --version)" = "$script ${version##* }" ]
    [[ ${#lines[@]} -eq 1 && $output == *"scripts/$script: needs Python 3.8 or later, and "*" is 3.7" ]]
    old=$(python3.8 -c 'import sys; print(sys.executable)' 2>/dev/null) || continue
    "$old" "$top_srcdir/scripts/$script" --help >/dev/null
  done
}

# warns NAMES ASKED SCRIPT WORD...: the script prints one warning about options, however it ends.
warns() {
  local names=$1 asked=$2 script=$3
  shift 3
  run --separate-stderr "$top_srcdir/scripts/$script" "$@"
  [ "$(grep -o 'warning: .*' <<<"$stderr")" = "warning: $names: ignored, not read by $asked" ] || { echo "$script $*: $stderr"; return 1; }
}

@test "options that a stage, a study or an input never reads are named, and each option must say where it is read" {
  cd "$BATS_TEST_TMPDIR"
  printf '%s\n' '.visible .entry k(){' ' ret;' '}' >k.ptx
  none=(--launcher no-such-launcher)
  warns '--rounds, --stages, --topology' --soak accept out "${none[@]}" --hosts a --soak 10 --slice 5 --gemm-options '-s 64' --rounds 3 --stages alone --topology f
  warns '--size, --policy, --slice' '--stages products' accept out "${none[@]}" --hosts a --stages products --seconds 5 --size L --policy p --slice 5m
  warns '--poll, --here, --sbatch, --per-host, --paths-options' 'a study without --slurm, with --no-paths, launched by false' scaling run study --program "$himeno" \
    --sizes XS --ranks 1 --repeat 1 --no-paths --poll 3 --here --sbatch=-p --per-host 2 --paths-options=-x --launcher false
  [ "$("$PYTHON" -c 'import json; print(len(json.load(open("study/study.json"))["ignored"]))')" = 5 ]
  warns '--arch, -D, --listing' 'a count of .ptx as --json -' isa-report --arch sm_80 -D A=1 --listing -k k --json - k.ptx
  [ "$("$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["ignored"])' <<<"$output")" = "['--arch', '-D', '--listing']" ]
  warns '--kernel, --listing' '--pairs of .ptx' isa-report --pairs -k k --listing k.ptx
  warns '--only, --seconds' --steps gpu-check --only machine --steps --seconds 3
  run "$PYTHON" -c 'import sys; sys.path.insert(0, sys.argv[1]); import options; options.Parser().add_argument("--new")' "$top_srcdir/scripts/shared"
  [[ $status -eq 1 && $output == *"--new: who reads it?" ]]
}

@test "every mutant of tests/mutants is found exactly once in the tree, and has tests" {
  [ -z "${MUTATE_TRIAL-}" ] || skip "the one that is planted is not found"
  expect 0 "$top_srcdir/scripts/mutate" --check
  [[ $output == *" mutants, 0 not found" ]]
}

# a_tree_to_mutate: makes a tree of a function, a test of it, and a configure that is fast.
a_tree_to_mutate() {
  mkdir -p "$BATS_TEST_TMPDIR"/{base,scripts,tests/unit,tests/mutants}
  cd "$BATS_TEST_TMPDIR"
  cp -r "$top_srcdir"/scripts/{mutate,mutating,shared} scripts
  cp "$top_srcdir/CITATION.cff" .
  cp "$top_srcdir/tests/tap" tests
  printf 'int one(int x)\n{\n  return x + 1; /* x + 1 */\n}\n' >base/one.c
  printf 'int one(int);\nint main(void)\n{\n  return one(1) != 2;\n}\n' >tests/unit/test_one.c
  : >tests/settings.sh
  cat >configure <<'SH'
#!/bin/sh
mkdir -p tests/unit && echo "BATS=$BATS" >tests/env.sh
mkdir -p base/.deps
printf 'check_PROGRAMS = tests/unit/test_one\nall:\ntests/unit/test_one: base/one.o tests/unit/test_one.o\n' >Makefile
printf '\tcc -o $@ $^ && printf "#!/bin/sh\\n./$@.bin && echo ok 1 || echo not ok 1 - one\\n" >$@.sh && mv $@ $@.bin && mv $@.sh $@ && chmod +x $@\n' >>Makefile
printf 'base/one.o: ../tree/base/one.c\n\tcc -c -MD -MF base/.deps/one.Po -o $@ $<\ntests/unit/test_one.o: ../tree/tests/unit/test_one.c\n\tcc -c -o $@ $<\n' >>Makefile
SH
  chmod +x configure
  export BATS
}

# mutant NAME TO [TEST]: adds a mutant of one(), which only this test tries.
mutant() { printf '%s: a lie\n  in one\n  from x+1\n  to %s\n  tests %s\n\n' "$1" "$2" "${3-tests/unit/test_one}" >>tests/mutants/one.txt; }

@test "mutate reports mutants that are killed, hang, survive and are not built, and leaves the tree alone" {
  a_tree_to_mutate
  sed -i 's,/\* x + 1 \*/,,' base/one.c
  cp base/one.c before.c
  mutant changed 'x + 2'
  mutant same '1 + x'
  mutant broken 'x +'
  mutant endless '({ for (;;); x; })'
  mkdir tests/cli
  printf '@test "it adds" {\n  tests/unit/test_one | grep -q "^ok"\n}\n' >tests/cli/one.bats
  mutant shown 'x + 3' tests/cli/one.bats
  expect 1 scripts/mutate --patience 5
  [[ $output == *"killed "*changed*"tests/unit/test_one: 1 - one"* ]]
  [[ $output == *"survived: same: a lie (base/one.c, one)"* ]]
  [[ $output == *"not built: broken"* ]]
  [[ $output == *"killed "*endless*"tests/unit/test_one: took over "* ]]
  [[ $output == *"killed "*shown*"tests/cli/one.bats: 1 it adds"* ]]
  [[ $output == *"3 killed, 1 survived, 1 not built, 0 not tried, 75.0% killed" ]]
  cmp base/one.c before.c
  expect 0 scripts/mutate --resume changed
  [[ $output == *"1 killed, 0 survived, 0 not built, 0 not tried, 100.0% killed" ]]
}

@test "a sample counts what it kills, resumes, and leaves out what is not built, the same or reviewed" {
  a_tree_to_mutate
  mkdir tests/cli
  rm scripts/shared/{floor,gpus,naming,processes}.py # nothing here tests them
  cat >>base/one.c <<'C'
int unchecked(int x)
{
  return x == 7 * 1; /* 7 == 7 */
}
struct pair { int a; } pair_of(struct pair p)
{
  return p;
}
C
  printf '#!/bin/sh\n# if [ 1 -gt 2 ]\n[ "$1" -gt 2 ] && echo more\n' >scripts/hello
  printf 'def half(x):\n    """if x > 1: return 2"""\n    return x / 2\n' >scripts/half.py
  printf '@test "hello" {\n  [ "$(sh "$top_srcdir/scripts/hello" 3)" = more ] && ! sh "$top_srcdir/scripts/hello" 2\n}\n' >tests/cli/scripts.bats
  sample() { run scripts/mutate --sample "$@" --results r.jsonl; }
  sample 1000
  expect_status 1
  [[ $output == *"killed "*"base/one.c:3: return x + 1; /* x + 1 */ -> return x - 1; /* x + 1 */  tests/unit/test_one: 1 - one"* ]]
  [[ $output == *"killed "*'scripts/hello:3: [ "$1" -gt 2 ] && echo more -> [ "$1" -ge 2 ] && echo more  tests/cli/scripts.bats'* ]]
  [[ $output == *"survived: base/one.c:7: return x == 7 * 1; /* 7 == 7 */ -> return x != 7 * 1; /* 7 == 7 */ (comparison; 1 tests)"* ]]
  [[ $output == *"survived: scripts/half.py:3: return x / 2 -> return x * 2 (arithmetic; 1 tests)"* ]]
  [[ $output == *"not built "*"base/one.c:11: return p; -> return 0;"* ]]
  [[ $output == *"same code "*"base/one.c:7: return x == 7 * 1; /* 7 == 7 */ -> return x == 7 / 1; /* 7 == 7 */"* ]]
  [[ $output == *"all: 7 of 15 killed, 46.7% (95% interval 24.8% to 69.9%)"* ]]
  [[ $output == *"not counted: 0 equivalent, 0 speed, 2 same code, 1 not built, "*" not tried" ]]
  whole=${output##*$'\n\n'}
  # An interrupted run has written nine lines and a part of the next.
  head -n 9 r.jsonl >some && head -c 20 r.jsonl >>some && cp some r.jsonl
  sample 1000 --resume
  [ "${output##*$'\n\n'}" = "$whole" ]
  names() { python3 -c 'for line in open("r.jsonl"): print(__import__("json").loads(line)["name"])' | head -n 3; }
  sample 3
  first=$(names)
  sample 5
  [ "$(names)" = "$first" ]
  sample 5 --seed 2
  [ "$(names)" != "$first" ]
  sample 1000 --files 'base/*' --files '*/half.py'
  [[ $output == *" mutants in 2 files; "*"all: 4 of 12 "* ]]
  printf 'speed: it takes longer\n  scripts/half.py: return x / 2 -> return x * 2\n' >tests/mutants/reviewed
  sample 1000
  [[ $output == *"speed: scripts/half.py:3: return x / 2 -> return x * 2 (arithmetic; it takes longer)"*"all: 7 of 14 killed"* ]]
  expect 0 scripts/mutate --check
  sed -i 's/return x/return 2 * x/' scripts/half.py
  expect 1 scripts/mutate --check
  [[ $output == *"tests/mutants/reviewed: no operator makes scripts/half.py: return x / 2 -> return x * 2"* ]]
}

@test "mutate names a mutant that is found nowhere or twice, and an unknown one" {
  a_tree_to_mutate
  mutant twice 'x + 2'
  expect 1 scripts/mutate --check
  [[ $output == *'twice: "x+1" stands 2 times in one'* ]]
  sed -i 's/in one/in two/' tests/mutants/one.txt
  expect 1 scripts/mutate --check
  [[ $output == *"twice: no two was found"* ]]
  expect 2 scripts/mutate nothing
  [ "$output" = 'mutate: no mutant is called "nothing": see --list' ]
  expect 2 scripts/mutate --sample 3 twice
  [ "$output" = 'mutate: --sample takes a number from 1, and neither NAME, --list nor --check' ]
}

@test "an archive of fuzz inputs has the same bytes if packed again, and a truncated one fails" {
  . "$top_srcdir/scripts/lib.sh"
  mkdir -p "$BATS_TEST_TMPDIR/tests/fuzz"
  for archive in "$top_srcdir"/tests/fuzz/*.tar; do
    name=$(basename "$archive" .tar)
    mkdir "$BATS_TEST_TMPDIR/$name"
    tar -C "$BATS_TEST_TMPDIR/$name" -xf "$archive"
    pack_inputs "$BATS_TEST_TMPDIR/$name" "$BATS_TEST_TMPDIR/first.tar"
    touch "$BATS_TEST_TMPDIR/$name"/*
    chmod 600 "$BATS_TEST_TMPDIR/$name"/*
    pack_inputs "$BATS_TEST_TMPDIR/$name" "$BATS_TEST_TMPDIR/again.tar"
    cmp "$BATS_TEST_TMPDIR"/{first,again}.tar # that in the tree may be from another version of tar, with other headers
    [ "$(tar -xOf "$archive" | cksum)" = "$(tar -xOf "$BATS_TEST_TMPDIR/again.tar" | cksum)" ]
    head -c $((20 * 512)) "$archive" >"$BATS_TEST_TMPDIR/tests/fuzz/$name.tar"
  done
  top_srcdir=$BATS_TEST_TMPDIR expect 1 "$top_builddir/tests/fuzz/replay_size"
  [[ $output == *"Bail out! the archive ends within an input"* ]]
}
