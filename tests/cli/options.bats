# SPDX-License-Identifier: MIT
# One warning, and the document, list the options that the selected mode or parts never read.
load ../helper
bats_require_minimum_version 1.5.0

setup() { cd "$BATS_TEST_TMPDIR"; }
export OMP_NUM_THREADS=1

# ignores LIST ASKED COMMAND...: the command passes, and its one warning about options has this list and this reason.
ignores() {
  local list=$1 asked=$2 warned
  shift 2
  rm -f x.json
  run --separate-stderr "$@"
  expect_status 0
  warned=$(grep -o 'warning: .*: ignored, .*' <<<"$stderr") || true
  [ "$warned" = "${list:+warning: $list: ignored, not read by $asked}" ] || { echo "$*: $warned$stderr"; return 1; }
  [ ! -e x.json ] || [ "$("$PYTHON" -c 'import json; print(", ".join(json.load(open("x.json"))["ignored"]))')" = "$list" ]
}

@test "himeno-gpu: every mode names what it does not read" {
  run_options=(-s XS -b cpu --bind keep --expect 1 --timeout 60 -x auto -p auto --no-overlap --pad 0 --array-pad 0 --json x.json)
  ignores '' '' "$himeno" "${run_options[@]}" -t 0.01 --block 2 -k stream --data dense --verify full --no-tune
  ignores --verify --soak "$himeno" "${run_options[@]}" -k stream --block 2 --soak 0.01 --soak-every 2 --verify full
  ignores --no-tune --soak "$himeno" "${run_options[@]}" --block 2 --soak 0.01 --no-tune
  ignores '' '' "$himeno" "${run_options[@]}" --ladder -n 1 --data dense --verify off --no-tune
  ignores '' '' "$himeno" "${run_options[@]}" --official -t 0.01 -k stream --verify off
  ignores '--size, --soak, --verify, --json' --list "$himeno" --list -b cpu -s XS --soak 1 --verify off --json x.json
  [ ! -e x.json ]
}

@test "himeno-gpu: an option that would matter with more ranks is not named as unread, and several ranks warn once" {
  ignores '' '' "$himeno" -b cpu -s XS -n 1 -k stream -x mpi --no-overlap -p 1x1x1 -w --json x.json
  ignores --verify --soak on 3 "$himeno" -b cpu -s XS --soak 0.01 --block 2 --verify off --json x.json
}

@test "gemm-gpu: every mode names what it does not read" {
  product=(-b cpu --type f32 --trans NT --alpha 2 --beta 1 --lda 64 --ldb 64 --ldc 64 --data wide --no-reference --bind keep --expect 1 -t 0.01
    --block 0.01 --verify full --json x.json)
  ignores '' '' "$top_builddir/gemm-gpu" "${product[@]}" -s 64 -k naive
  ignores '' '' "$top_builddir/gemm-gpu" "${product[@]}" --ladder --sizes 64
  ignores '--time, --block' 'an emulated run' "$top_builddir/gemm-gpu" -b qpu -s 16 -t 1 --block 1 --json x.json
  ignores '--size, --ladder, --json' --list "$top_builddir/gemm-gpu" --list -s 64 --ladder --json x.json
  run --separate-stderr "$top_builddir/gemm-gpu" --fragment-map --ladder -s 64 --verify off --device 0
  [[ $stderr == *"warning: --ladder, --size, --verify: ignored, not read by --fragment-map"* ]]
}

@test "a previous name of an option still works, with a warning that has the new one" {
  local old
  for old in 'gemm-gpu --no-yardstick --no-reference -b cpu -s 16 -t 0.01' 'himeno-predict --sweeps-a-pass=2 --sweeps-per-pass' \
    'himeno-predict --between=5,20 --network' 'himeno-predict --keep=outliers --include'; do
    read -r program name new more <<<"$old"
    [ -x "$top_builddir/$program" ] || continue
    run --separate-stderr "$top_builddir/$program" $name $more
    [[ $stderr == *"$program: warning: ${name%%=*} is deprecated: use $new"* && $stderr != *"unknown option"* ]]
  done
}

@test "comm-gpu: every part names what it does not read" {
  all=(-b cpu -x mpi --min 1K --max 2K --step 2 --samples 3 -s XS -w -p auto --depth 2 --timeout 60 --bind keep --json x.json)
  comm=$top_builddir/comm-gpu
  ignores '' '' on 2 "$comm" "${all[@]}"
  ignores '--transport, --size, --weak, --procs, --depth' '--parts host' "$comm" "${all[@]}" --parts host
  ignores '--size, --weak, --procs, --depth' '--parts host,pairs' "$comm" "${all[@]}" --parts pairs,host
  ignores '--min, --max, --step' '--parts halo' on 2 "$comm" "${all[@]}" --parts halo
  ignores '--transport, --min, --size, --weak, --procs, --depth' '--parts allreduce' "$comm" "${all[@]}" --parts allreduce
  ignores '--parts, --depth' --list "$comm" --list --parts host --depth 2
}

@test "mem-gpu: every section names what it does not read, and on a CPU the options for blocks of threads" {
  mem=("$top_builddir/mem-gpu" -b cpu -t 0.001 --json x.json)
  ignores '' '' "${mem[@]}" --copies --mixes --latency --host --streams 1 --sizes 64K --pace free --assign cyclic --threads 1 \
    --strides 64 --footprint 64K
  ignores '--widths, --blocks, --strides, --footprint' '--copies on a CPU' "${mem[@]}" --copies --streams 1 --sizes 64K --pace free --widths 4 \
    --threads 1 --blocks 1 --strides 64 --footprint 64K
  ignores '--streams, --pace, --assign, --widths' --host "${mem[@]}" --host --sizes 64K --threads 1 --streams 1 --pace free --assign block --widths 4
  ignores '--sizes, --threads' --latency "${mem[@]}" --latency --footprint 64K --sizes 64K --threads 1
  ignores --threads --mixes "${mem[@]}" --mixes --sizes 64K --threads 1
  ignores '--roofline, --kernels' --list "$top_builddir/mem-gpu" -b cpu --roofline --kernels none --list
}
