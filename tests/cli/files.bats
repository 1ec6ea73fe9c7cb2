# SPDX-License-Identifier: MIT
# Files that output options of any program name: they are replaced completely or stay unchanged, and
# input files are never overwritten. (unit/test_file.c tests the functions that write.)
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  export OMP_NUM_THREADS=1
  export model=$top_srcdir/tests/golden/model.json
  printf 'mov r0, 3\nthrend\nnop\nnop\n' >count.qasm
  mkdir out
}

# commands: prints each output option, as a command to which a file's name is appended.
commands() {
  local b=$top_builddir
  echo "$b/himeno-gpu -b null -k reference -s XS -n 1 --verify off --json"
  echo "$b/gemm-gpu -b null -s 16 -t 0.01 --no-reference --verify off --json"
  echo "$b/comm-gpu -b null --samples 1 --max 1K -s XS --json"
  alone
}

# alone: prints the commands without MPI, which start at once and under any limit.
alone() {
  local b=$top_builddir
  echo "$b/mem-gpu -b cpu -t 0.001 --mixes --sizes 64K --json"
  [ "$HAVE_CMINPACK" = 0 ] || echo "$b/himeno-predict --model $model -s L -n 2 --json"
  echo "$b/gpu/qpu/qpu-as -i count.qasm -o"
}

# refused STATUS PATTERN COMMAND...: ends with STATUS and a line with PATTERN; out stays unchanged.
refused() {
  local code=$1 pattern=$2 before
  shift 2
  before=$(ls -lAi --time-style=full-iso out; cat out/* 2>/dev/null || true)
  run --separate-stderr "$@"
  expect_status "$code" || { echo "of $*: $stderr"; return 1; }
  stderr=$(grep -E '^(himeno|gemm|comm|mem|qpu)-[a-z]+: ' <<<"$stderr")
  [ "$(wc -l <<<"$stderr")" -eq 1 ] && grep -Eq -- "$pattern" <<<"$stderr" || { printf '%s: not one line with %s:\n%s\n' "$*" "$pattern" "$stderr"; return 1; }
  [ "$before" = "$(ls -lAi --time-style=full-iso out; cat out/* 2>/dev/null || true)" ] || { ls -lA out; return 1; }
}

@test "a symbolic link stays, even a dangling one, and its target gets the document" {
  local command
  while read -r -u 4 command; do
    rm -rf out link
    mkdir out
    ln -s out/target link
    $command link >/dev/null
    [[ -L link && "$(ls -A out)" = target ]]
    chmod 640 out/target
    cp out/target before
    : >out/target
    $command link >/dev/null
    [[ -L link && "$(ls -A out)" = target && "$(stat -c %a out/target)" = 640 ]]
    [ "$(wc -c <out/target)" -gt 30 ]
  done 4< <(commands)
}

@test "an output that is a device file is written to, and is not replaced" {
  local command
  [ -w /dev/full ] || skip "there is no /dev/full"
  while read -r -u 4 command; do
    mkdir -p dev
    rm -f dev/full
    target=/dev/full
    [ "$(id -u)" -ne 0 ] || ! mknod dev/full c 1 7 2>/dev/null || ! { : >dev/full; } 2>/dev/null || target=dev/full
    refused 3 "cannot write \"$target\": No space left on device" $command $target
    [ -c $target ]
    $command /dev/null >/dev/null
    [ -c /dev/null ]
  done 4< <(alone)
}

@test "a mounted file, which cannot be replaced, is overwritten with one warning" {
  local command
  unshare -m true 2>/dev/null || skip "no mount namespace is allowed here"
  while read -r -u 4 command; do
    printf older >under
    : >out/file
    unshare -m bash -c 'mount --bind under out/file && exec "$@" >/dev/null 2>said' mounted $command out/file || { echo "$command"; cat said; return 1; }
    [ "$(grep -c 'warning: "out/file" is overwritten in place' said)" = 1 ] || { echo "$command"; cat said; return 1; }
    refute grep -q older under
    [[ -s under && ! -s out/file && "$(ls -A out)" = file ]]
  done 4< <(commands)
}

@test "a pipe that nobody reads is refused at the start, and one that is read gets all" {
  local command
  mkfifo pipe
  while read -r -u 4 command; do
    refused 3 'cannot write "pipe": no process reads this pipe' timeout $((60 * SLOWNESS)) $command pipe
    cat pipe >read 3>&- &
    timeout $((60 * SLOWNESS)) $command pipe >/dev/null
    wait $!
    [[ "$(wc -c <read)" -gt 30 && -p pipe ]]
  done 4< <(commands)
}

@test "a file keeps its contents if a size limit refuses the new ones" {
  local command
  printf older >out/file
  chmod 600 out/file
  while read -r -u 4 command; do
    # Messages go through a pipe, because the limit applies to files.
    refused 3 'File too large' bash -c '(ulimit -f 0; exec "$@" 2>&1 >/dev/null) | cat >&2; exit ${PIPESTATUS[0]}' limit $command out/file
  done 4< <(alone)
}

@test "a folder, a loop of links, a missing folder, or a file as a folder is refused as output" {
  local command
  printf older >out/file
  ln -s round out/round
  while read -r -u 4 command; do
    refused 3 'cannot write "out": Is a directory' $command out
    refused 3 'cannot write "out/none/x": No such file' $command out/none/x
    refused 3 'cannot write "out/file/x": Not a directory' $command out/file/x
    rm out/round
    ln -s round out/round
    refused 3 'cannot write "out/round": Too many levels' $command out/round
  done 4< <(alone)
}

@test "an input is never overwritten, whatever name the output has" {
  local b=$top_builddir command name read
  cp count.qasm out/read.qasm
  cp "$model" out/read
  printf '{"stragglers_max": 0}' >out/policy
  ln out/read out/hard
  ln -s read out/soft
  ln out/read.qasm out/hard.qasm
  ln -s read.qasm out/soft.qasm
  for name in read ./read hard soft ../out/read; do
    refused 2 "--json \"out/$name\" is also the file of --kernels" "$b/mem-gpu" -b cpu --kernels "none,out/read" --json "out/$name"
    refused 2 "is also the file of --reference" "$himeno" -b null --reference out/read --json "out/$name"
    refused 2 "is also the file of --kernel-file" "$himeno" -b null --kernel-file out/read --json "out/$name"
    refused 2 "\"out/$name\" is also the file of --accept" "$himeno" -b null --soak 1 --accept out/read --soak-log "out/$name"
    if [ "$HAVE_CMINPACK" = 1 ]; then
      refused 2 "--json \"out/$name\" is also the file of --model" "$b/himeno-predict" --model out/read --json "out/$name"
    fi
  done
  for name in read.qasm ./read.qasm hard.qasm soft.qasm; do
    refused 2 "--output \"out/$name\" is also the file of --input" "$b/gpu/qpu/qpu-as" -i out/read.qasm -o "out/$name"
  done
  refused 2 'is also the file of --json' "$himeno" -b null --soak 1 --soak-log out/new --json ./out/new
  refused 2 'is also the file of' on 2 "$himeno" -b null --reference out/read --json out/hard
}

@test "a pipe without a writer is no document, a late writer is waited for, and a byte order mark is accepted" {
  [ "$HAVE_CMINPACK" = 1 ] || skip "no himeno-predict"
  mkfifo pipe
  refused 3 'pipe: not a JSON document' timeout $((60 * SLOWNESS)) "$top_builddir/himeno-predict" --model pipe -s L -n 2
  { printf '\xef\xbb\xbf'; cat "$model"; } >marked
  "$top_builddir/himeno-predict" --model marked -s L -n 2 >/dev/null
  "$top_builddir/himeno-predict" --model <(sleep 3; cat marked) -s L -n 2 >/dev/null
  (sleep 1; cat marked >pipe) 3>&- &
  "$top_builddir/himeno-predict" --model pipe -s L -n 2 >/dev/null
  printf '\xef\xbb\xbf{"stragglers_max": 0, "unknown_fails": 7}' >policy
  refused 2 'unknown_fails' "$himeno" -b null -s XS -n 1 --accept policy
}

@test "a file that an input includes is not overwritten either" {
  printf '.include "part.qinc"\nthrend\nnop\nnop\n' >out/whole.qasm
  echo 'mov r0, 3' >out/part.qinc
  refused 2 '"out/part.qinc" is not written: it is an input' "$top_builddir/gpu/qpu/qpu-as" -i out/whole.qasm -o out/part.qinc
}

@test "an error in a QPU source leaves the older output" {
  echo 'mov r0, nowhere' >wrong.qasm
  printf older >out/file
  refused 2 'nowhere' "$top_builddir/gpu/qpu/qpu-as" -i wrong.qasm -o out/file
  [ ! -w /dev/full ] || refused 2 'nowhere' "$top_builddir/gpu/qpu/qpu-as" -i wrong.qasm -o /dev/full
  refused 3 'cannot read none' "$top_builddir/gpu/qpu/qpu-as" -i none -o out/file
}

@test "standard output gets the report and one document, by any of its names, even if it is a file" {
  local name
  for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    "$himeno" -b null -k reference -s XS -t 1.2 --json $name >file
    [ "$(grep -c '"schema"' file)" = 1 ]
    grep -q 'verdict *PASS' file
    "$top_builddir/gpu/qpu/qpu-as" -i count.qasm -o $name >file
    grep -q 'count\|program' file
  done
  "$himeno" -b null -k reference -s XS -t 1.2 --json /dev/stdout | cat >file
  [ "$(grep -c '"schema"' file)" = 1 ]
  grep -q 'verdict *PASS' file
  "$top_builddir/gpu/qpu/qpu-as" -i count.qasm -o - >file
  grep -q program file
  [ ! -e ./- ]
}

# only_json FILE: the file is one JSON document, and nothing else.
only_json() { "$PYTHON" -c 'import json, sys; assert "schema" in json.load(open(sys.argv[1]))' "$1" || { cat "$1"; return 1; }; }

@test "standard output carries one document and nothing that a library prints, on any rank" {
  local command name chatty=$top_builddir/tests/fault/chatty.so
  while read -r -u 4 command; do
    case $command in
      */qpu-as*) LD_PRELOAD=$chatty $command - 2>said | cmp - <($command -) ;;
      *) LD_PRELOAD=$chatty $command - >file 2>said; only_json file ;;
    esac
    [ "$(grep -c 'chatty: ' said)" -ge 9 ] || { echo "$command"; cat said; return 1; }
  done 4< <(commands)
  on 3 env LD_PRELOAD="$chatty" "$himeno" -b null -k reference -s XS -n 1 --verify off --json - >file 2>said
  only_json file
  [ "$(grep -c 'chatty: in MPI_Init' said)" = 3 ]
  for name in /dev/stdout /proc/self/fd/1 /dev/../dev//fd/1; do
    LD_PRELOAD=$chatty "$top_builddir/himeno-gpu" -b null -k reference -s XS -n 1 --verify off --json $name 2>said | tee file | sed -n '/^{/,$p' >document
    only_json document
    refute grep -q chatty file
  done
}

@test "if the report's reader leaves early the document is written, and a message says so" {
  local command
  mkfifo pipe
  while read -r -u 4 command; do
    [[ $command != *gpu/qpu/qpu-as* ]] || continue # says nothing
    exec 5<>pipe 6>pipe 5<&- # the pipe has no reader
    refused 3 'cannot write "standard output": Broken pipe' bash -c 'exec "$@" >&6 6>&-' nobody $command other
    exec 6>&-
    [ -s other ]
    rm other
  done 4< <(commands)
}

@test "with closed standard descriptors, files get only their documents" {
  local command
  while read -r -u 4 command; do
    [[ $command != *qpu-* ]] || continue
    rm -f out/file
    for open in '' '<&- 2>&-'; do
      code=0
      bash -c "exec \"\$@\" >&- $open" closed $command out/file 2>said || code=$?
      [ $code -eq 3 ] || { echo "$command: $code"; cat said; return 1; }
      "$PYTHON" -c 'import json; json.load(open("out/file"))'
      [ "$open" ] || grep -q 'cannot write "standard output": Bad file descriptor' said
    done
    [ "$(ls -A out)" = file ]
  done 4< <(commands)
}
