# SPDX-License-Identifier: MIT
# What sites take: completion, recipes, a ReFrame test.
load ../helper
bats_require_minimum_version 1.5.0

sites=$top_srcdir/scripts/sites

# completes WORD BEFORE: what completion offers for himeno-gpu.
completes() {
  bash -c '. "$1"; COMPREPLY=(); _himeno_gpu "$2" "$3" "$4"; printf "%s\n" "${COMPREPLY[@]}"' bash "$sites/completion.bash" "$himeno" "$1" "$2"
}

@test "completion asks the program itself" {
  completes --so x | grep -qx -- --soak
  completes --so x | grep -qx -- --soak-log
  completes str -k | grep -qx stream
  completes '' -x | grep -qx staged
  completes X -s | grep -qx XL
  [ -z "$(completes --nonsense x)" ]
}

@test "recipes are Python, and name this version" {
  for recipe in "$sites"/*.py "$sites"/*.eb; do "$PYTHON" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipe"; done
  version=$("$himeno" --version | cut -d' ' -f2)
  grep -q "version = '$version'" "$sites"/*.eb
  grep -q "^version: $version" "$top_srcdir/CITATION.cff"
  for script in "$sites"/*.sbatch; do bash -n "$script"; done
}

@test "options that the recipes give to configure exist" {
  help=$("$top_srcdir/configure" --help)
  for option in opencl cblas lapack cuda cuda-arch; do grep -q -- "--with-$option" <<<"$help"; done
}

@test "the ReFrame test runs, and fails below its reference" {
  reframe=$(command -v reframe) || skip "there is no reframe"
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  cd "$BATS_TEST_TMPDIR"
  cat >site.py <<'PY'
site_configuration = {"systems": [{"name": "here", "hostnames": [".*"], "partitions": [
    {"name": "cpu", "scheduler": "local", "launcher": "mpirun", "environs": ["builtin"]}]}],
    "environments": [{"name": "builtin", "cc": "gcc", "cxx": "", "ftn": ""}]}
PY
  export OMP_NUM_THREADS=1
  words=(-C site.py -c "$sites/reframe_himeno.py" -r -n 'size=M' -S program="$himeno" -S backend=cpu -S ranks=2 -S seconds=0.5)
  run "$reframe" "${words[@]}" -S share=0.01
  expect_status 0
  grep -q 'PASSED.*1/1' <<<"$output"
  run "$reframe" "${words[@]}" -S share=50
  [ "$status" -ne 0 ]
  grep -q 'share_of_ceiling' <<<"$output"
}
