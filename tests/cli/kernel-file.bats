# SPDX-License-Identifier: MIT
# --kernel-file runs a user's OpenCL kernel, made from the template in doc/.
load ../helper
bats_require_minimum_version 1.5.0

setup_file() {
  export opencl_here=
  if on 1 "$himeno" -b opencl -s XS -n 1 --no-tune >/dev/null 2>&1; then opencl_here=yes; fi
}

setup() {
  [ -n "$opencl_here" ] || skip "no OpenCL device here"
  template=$top_srcdir/doc/kernel-template.cl
  mine=$BATS_TEST_TMPDIR/mine.cl
  document=$BATS_TEST_TMPDIR/result.json
}

# edited SCRIPT: writes the template to $mine, changed by a sed script that must change it.
edited() {
  sed "$1" "$template" >"$mine"
  ! cmp -s "$mine" "$template"
}

# sweeps FILE [OPTION]...: runs three sweeps of the kernel in FILE.
sweeps() {
  run --separate-stderr "$himeno" -b opencl -s XS -n 3 --kernel-file "$@"
}

# refused CODE PATTERN: the last run ended with CODE and one message, which contains PATTERN.
refused() {
  expect_status "$1"
  [ "$(grep -c '^himeno-gpu:' <<<"$stderr")" = 1 ]
  grep -Eq -e "$2" <<<"$stderr" || { printf 'not %s:\n%s\n' "$2" "$stderr"; return 1; }
}

# edited_is_refused SCRIPT PATTERN: refused 2 PATTERN, of the template changed by a sed script.
edited_is_refused() { edited "$1" && sweeps "$mine" && refused 2 "$2"; }

@test "in the templates, every line of a list has both columns where the others have them" {
  for one in "$top_srcdir"/doc/kernel-template.{cl,cu}; do
    awk '/^\/\/ What/ { list = 1; at = 0; lists++; next }
         !/^\/\/ +[^ ]/ { list = 0 }
         list && match($0, /^\/\/   [^ ]+(, [^ ]+)*   *[^ ]/) { if (!at) at = RLENGTH; whole = RLENGTH == at; rows++ }
         list && !RSTART { whole = at && match($0, /^\/\/ +[^ ]/) && RLENGTH == at } # goes on
         list && !whole { print FILENAME ": " $0; bad = 1 }
         END { exit bad || lists != 2 || rows < 10 }' "$one"
  done
}

@test "the template is right, with both data sets, and on two ranks and an odd grid" {
  for data in standard dense; do
    sweeps "$template" --data $data
    expect_status 0
    [[ $output == *"kernel-template.cl (classic: 1 sweep per pass over memory), as requested"* ]]
    [[ $output == *"PASS: all results match the stored checksum"* ]]
  done
  run --separate-stderr on 2 "$himeno" -b opencl -s 13x22x37 -n 3 --data dense --kernel-file "$template"
  expect_status 0
  [[ $output == *"PASS: all results match"* ]]
}

@test "the template is right without atomics and without doubles" {
  for setting in HIMENO_OPENCL_ATOMICS HIMENO_OPENCL_FP64; do
    (export $setting=0 && sweeps "$template" --data dense && expect_status 0)
  done
}

@test "a kernel file is the ladder's last rung" {
  run --separate-stderr on 1 "$himeno" -b opencl -s XS --ladder -t 0.01 --block 3 --kernel-file "$template" --json "$document" --verbose
  expect_status 0
  grep -A1 '^ *[0-9]*  kernel-template.cl .* correct ' <<<"$output" | grep -qE '^      (–|[0-9]+|-) registers, [0-9]+ bytes of shared memory, 256 threads, occupancy'
  [ "$("$PYTHON" -c 'import json,sys; r=json.load(open(sys.argv[1]))["rungs"][-1]; print(r["kernel"], r["verdict"], r["verified"])' \
    "$document")" = "kernel-template.cl pass known" ]
}

@test "groups may have three dimensions and any number of work-items" {
  edited 's/threads\[3\] = .*/threads[3] = {20, 3, 2};/; s/tile\[3\] = .*/tile[3] = {2, 3, 20};/
    s/get_group_id(2);/get_group_id(2) * 2 + get_local_id(2);/; s/get_group_id(1) \* 4/get_group_id(1) * 3/; s/get_group_id(0) \* 64/get_group_id(0) * 20/'
  sweeps "$mine" --data dense
  expect_status 0
}

# explains LINE...: each LINE must be a line on standard error, or the beginning of one.
explains() {
  local line
  for line; do
    grep -q "^himeno-gpu: $line" <<<"$stderr" || { printf 'not %s:\n%s\n' "$line" "$stderr"; return 1; }
  done
}

@test "a wrong bit or gosa ends with 4, and is explained" {
  edited 's/= relax(\(.*\));/= relax(\1) * (k == 7 ? j == 1 ? NAN : 1.0000001f : 1.0f);/'
  sweeps "$mine" --data dense
  expect_status 4
  [[ $output$stderr == *WRONG* ]]
  explains 'mine.cl: after 1 sweep 900 of 55800 points differ: all points at k = 7$' '  p at 1,1,7 is -*nan, must be 0.509058356, which is no number$' \
    '  p at 1,2,7 is 0.720987678, must be 0.720987618, 1 unit in the last place away$' '  p at 1,3,7 is 0.422387362, must be 0.422387302, 2 units in'
  [ "$(grep -c '^himeno-gpu:   p at ' <<<"$stderr")" = 3 ]
  run --separate-stderr on 1 "$himeno" -b opencl -s XS --ladder -t 0.01 --block 3 --kernel-file "$mine"
  expect_status 4
  edited 's/gosa = sum_square(ss);/gosa = sum_square(1.0001f * ss);/'
  sweeps "$mine"
  expect_status 4
  explains 'mine.cl: after 1 sweep every point is right, but gosa is [0-9.e+-]* and must be '
  HIMENO_FLIP="p 5,6,7 22 2" sweeps "$template"
  explains '  run again, the first sweeps were right: what is wrong comes and goes, or comes later'
}

@test "a kernel that is wrong on one rank only, at every third k, is explained so" {
  edited 's/= relax(\(.*\));/= relax(\1) * (pass.hi[0] - pass.lo[0] == 5 \&\& k % 3 == 0 ? 1.01f : 1.0f);/'
  run --separate-stderr on 2 "$himeno" -b opencl -s 13x22x37 -n 3 -p 2x1x1 --no-overlap --data dense --kernel-file "$mine"
  expect_status 4
  explains 'mine.cl: after 1 sweep [0-9]* of 7700 points differ: all points in the upper 5 of i (7 to 11), at every third k, from k = 3' \
    '  on rank 1 of 2 alone; of its own part all points at every third k, from k = 3$'
  edited 's/= relax(\(.*\));/= relax(\1) * (k % (pass.hi[0] - pass.lo[0] == 5 ? 3 : 4) == 0 ? 1.01f : 1.0f);/'
  run --separate-stderr on 2 "$himeno" -b opencl -s 13x22x37 -n 3 -p 2x1x1 --no-overlap --data dense --kernel-file "$mine"
  explains 'mine.cl: after 1 sweep 2060 of 7700 points differ: scattered, between i = 1 and 11, j = 1 and 20, k = 3 and 33$' '  on 2 of 2 ranks: 0, 1$' \
    '  p at 1,1,4 is 0.55829072, must be 0.552763104, 92738 units in the last place away$' '  p at 1,1,8 is ' '  p at 1,1,12 is '
}

@test "a point outside of the box ends with 4" {
  edited 's/in_box(pass, i, j, k)/in_box(pass, i, j, k) || (i == pass.lo[0] \&\& j == pass.lo[1] \&\& k == pass.hi[2])/'
  sweeps "$mine"
  expect_status 4
  explains "mine.cl: after 1 sweep 1 of the boundary's points differ, which no sweep may write: all points .* at the upper edge of k (k = 63)"
}

@test "a mistake in the source is named with its line" {
  edited_is_refused 's/float ss;/flaot ss;/' "--kernel-file .*/mine.cl does not compile: .*flaot"
  [[ $stderr == *"/mine.cl:$(grep -n 'flaot' "$mine" | cut -d: -f1):"* ]]
  run --separate-stderr on 1 "$himeno" -b opencl -s XS --ladder -t 0.01 --block 3 --kernel-file "$mine"
  refused 2 "--kernel-file .*/mine.cl does not compile"
}

@test "a missing kernel file, a folder or a kernel that cannot be launched is refused" {
  sweeps "$BATS_TEST_TMPDIR/none.cl"
  refused 3 '--kernel-file .*/none.cl: No such file'
  sweeps "$BATS_TEST_TMPDIR"
  refused 3 '--kernel-file .*: it cannot be read as a whole'
  edited_is_refused 's/void sweep(/void other(/' 'it has no kernel named sweep'
  edited_is_refused 's/void sweep(SWEEP_ARGUMENTS)/void sweep(SWEEP_ARGUMENTS, int more)/' 'the arguments of sweep must be SWEEP_ARGUMENTS'
}

@test "a wrong shape is refused" {
  edited_is_refused 's/threads\[3\] = .*/threads[3] = {0, 4, 1};/' 'threads \{0, 4, 1\}: must be 1 to [0-9]+ in all'
  edited_is_refused 's/threads\[3\] = .*/threads[3] = {65536, 65536, 1};/' 'threads \{65536, 65536, 1\}: must be'
  for tile in '0, 4, 64' '1, -4, 64' '1, 4, 0'; do
    edited_is_refused "s/tile\[3\] = .*/tile[3] = {$tile};/" "tile \\{$tile\\}: each must be at least 1"
  done
  edited_is_refused 's/tile\[3\] = .*/tile[2] = {1, 4};/' 'must be arrays of three ints'
  edited_is_refused '/^__constant int threads/d' "does not compile: .*threads"
  edited_is_refused 's/__kernel void/__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void/' 'must be \{8, 4, 1\}, the group size that the kernel requires'
}
