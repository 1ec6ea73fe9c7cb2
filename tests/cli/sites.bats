# SPDX-License-Identifier: MIT
# Files for sites: completion, recipes, and a ReFrame test.
load ../helper
bats_require_minimum_version 1.5.0

sites=$top_srcdir/scripts/sites

# completes WORD BEFORE [PROGRAM [COMMAND]]: prints the completions of WORD after the word BEFORE, by default of himeno-gpu.
completes() {
  bash -c '. "$1"; COMPREPLY=(); _himeno_gpu "$2" "$3" "$4" "$5"; printf "%s\n" "${COMPREPLY[@]}"' bash \
    "$sites/completion.bash" "$top_builddir/${3:-himeno-gpu}" "$1" "$2" "${4-}"
}

@test "completion asks the program itself" {
  completes --so x | grep -qx -- --soak
  completes --so x | grep -qx -- --soak-log
  completes str -k | grep -qx stream
  [ "$(completes st -x | tr '\n' ' ')" = "staged staged-mpi " ]
  [ -z "$(completes mov -x)" ] # words that only explain a transport are not offered
  completes X -s | grep -qx XL
  [ "$(completes '' --bind | tr '\n' ' ')" = "auto keep share " ]
  [ "$(completes --bind=k x)" = --bind=keep ]
  [ "$(completes host,pa --parts comm-gpu)" = host,pairs ]
  [ "$(completes f16 --type gemm-gpu | tr '\n' ' ')" = "f16 f16-f16 " ]
  [ "$(completes --sw -q)" = --sweeps ] # a flag has no value, so an option follows
  [ -z "$(completes '' -n)" ]
  [ -z "$(completes --nonsense x)" ]
}

@test "completion knows the commands, levels and values of scripts" {
  for name in accept plot scaling; do ln -sf "$top_srcdir/scripts/$name" "$BATS_TEST_TMPDIR/himeno-$name"; done
  ln -sf "$top_builddir/himeno-gpu" "$BATS_TEST_TMPDIR/himeno-gpu"
  cd "$BATS_TEST_TMPDIR"
  completes() { bash "$sites/completion.bash" "$@" | sort | tr '\n' ' '; }
  [ "$(completes ./himeno-accept --level '')" = "1 2 3 " ]
  # The completions are the stages and parts that the programs list.
  [ "$(completes ./himeno-accept --stages '')" = "$("$PYTHON" -c 'import sys; sys.path[:0] = sys.argv[1:]; import stages; print(*sorted(stages.NAMES))' \
    "$top_srcdir"/scripts/{accepting,shared}) " ]
  [ "$(completes ./himeno-accept --stages alone,p)" = "alone,pairs alone,products " ]
  [ "$(completes "$top_builddir/comm-gpu" --parts '')" = "$(sed -n '/bench_part_names\[/,/;/p' "$top_srcdir/tools/network/cmdline.c" | grep -o '"[a-z]*"' | tr -d '"' | sort | tr '\n' ' ')" ]
  [[ "$(completes ./himeno-accept --policy '')" == "default h100 h200 " ]]
  [ "$(completes ./himeno-scaling c)" = "chapter-2009 compare csv " ]
  [ "$(completes ./himeno-scaling run --scaling '')" = "both strong weak " ]
  [ "$(completes ./himeno-scaling run --transports staged,p2)" = "staged,p2p " ]
  [ "$(completes ./himeno-scaling compare --)" = "--help --least --version " ]
  [ "$(completes ./himeno-plot lat)" = "latency " ]
  [ ! -x "$top_builddir/himeno-predict" ] || [ "$(completes "$top_builddir/himeno-predict" --network 2,2)$(completes "$top_builddir/himeno-predict" --include o)" = "2,25 outliers " ]
}

@test "completion offers every option of every program, and files where an option takes one" {
  cd "$BATS_TEST_TMPDIR"
  touch known.json
  for program in himeno-gpu gemm-gpu mem-gpu comm-gpu himeno-judge himeno-predict; do
    [ -x "$top_builddir/$program" ] || continue
    [ "$("$top_builddir/$program" --help | grep -oE -- '^ {2,6}(-[A-Za-z], )?--[^][ =]+' | grep -o -- '--.*' | sort -u)" = \
      "$(completes -- x "$program" | sort -u)" ]
    completes known --json "$program" | grep -qx known.json
  done
  completes known --soak-log | grep -qx known.json
  completes known --kernels mem-gpu | grep -qx known.json
  completes known known.json himeno-judge | grep -qx known.json
  [ ! -x "$top_builddir/himeno-predict" ] || completes known --study himeno-predict | grep -qx known.json
}

@test "recipes are Python, and name this version" {
  for recipe in "$sites"/*.py "$sites"/*.eb; do "$PYTHON" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipe"; done
  version=$("$himeno" --version | cut -d' ' -f2)
  run ! grep -rn 'example\.org' "$sites" "$top_srcdir"/{README.md,CITATION.cff,configure.ac}
  grep -q "version = '$version'" "$sites"/*.eb
  [ "$(grep -c -e without-cminpack -e bin/himeno-predict "$sites"/*.eb)" = 1 ] # one excludes the other
  grep -q "^version: $version" "$top_srcdir/CITATION.cff"
  grep -q "\"version\": \"$version\"" "$top_srcdir/codemeta.json"
  grep -q "^himeno-gpu ($version)" "$sites/debian/changelog"
  for script in "$sites"/*.sbatch; do bash -n "$script"; done
}

@test "options that the recipes give to configure exist" {
  help=$("$top_srcdir/configure" --help)
  arguments=$("$PYTHON" "$top_srcdir/tests/cli/spack_stub.py" "$sites/spack_package.py")
  grep -q -- "'--with-cuda=/cuda' '--with-cuda-arch=80 90'" <<<"$arguments"
  grep -q -- "'MPICC=/mpi/bin/mpicc'.*'--without-cuda'" <<<"$arguments"
  for option in $(cat - "$sites"/*.eb <<<"$arguments" | grep -oE -- '--with(out)?-[a-z-]+' | sort -u); do
    name=${option#--without-}
    grep -qE -- "--with-${name#--with-}($|[^a-z-])" <<<"$help" || { echo "configure has no $option"; return 1; }
  done
}

@test "the easyconfig is one that EasyBuild can resolve" {
  eb=$(command -v eb) || skip "there is no eb"
  [ "$(id -u)" != 0 ] || skip "eb does not run as root"
  run "$eb" --dry-run --robot "$sites"/*.eb
  expect_status 0
  grep -q 'module: Jansson/' <<<"$output"
}

@test "the container recipes build with the script that the README names, and clean up" {
  for recipe in "$sites/Containerfile" "$sites/himeno-gpu.def"; do
    grep -q 'scripts/quickstart --no-run' "$recipe"
    grep -q 'make -C build install' "$recipe"
  done
  "$top_srcdir/scripts/quickstart" --help | grep -q -- --no-run
  # The sections of the Apptainer definition must be valid shell, and include a test.
  for section in post test runscript; do sed -n "/^%$section/,/^\$/p" "$sites/himeno-gpu.def" | sed 1d | sh -n; done
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
  run "$reframe" "${words[@]}" -S share=0.01 -S options='--data dense --block 30'
  expect_status 0
  grep -q 'PASSED.*1/1' <<<"$output"
  grep -h 'himeno-gpu ' output/*/*/*/*/rfm_job.sh | grep -q -- '--data dense --block 30'
  run "$reframe" "${words[@]}" -S share=50
  [ "$status" -ne 0 ]
  grep -q 'share_of_ceiling' <<<"$output"
}
