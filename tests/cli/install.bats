# SPDX-License-Identifier: MIT
# Files of `make install` and `make deb` must work without the source tree, in any directory.
load ../helper
bats_require_minimum_version 1.5.0

# make_there TARGET...: runs make in the build folder, not as part of the make of these tests.
make_there() {
  env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$top_builddir" -s "$@" >"$BATS_FILE_TMPDIR/log" 2>&1 ||
    { tail -n 20 "$BATS_FILE_TMPDIR/log"; return 1; }
}

# Install under one path and move the files to another, so that a stored path would be wrong.
setup_file() {
  make_there install prefix="/opt/himeno é" DESTDIR="$BATS_FILE_TMPDIR/stage"
  mv "$BATS_FILE_TMPDIR/stage/opt/himeno é" "$BATS_FILE_TMPDIR/moved ö"
}

setup() {
  prefix="$BATS_FILE_TMPDIR/moved ö"
  share=$prefix/share/himeno-gpu
  PATH=$prefix/bin:$PATH
  cd "$BATS_TEST_TMPDIR"
}

@test "every program and script is there with a man page, and no text leads back into the source tree" {
  local name page
  for name in comm-gpu gemm-gpu himeno-gpu himeno-judge mem-gpu himeno-accept himeno-isa himeno-plot himeno-report himeno-scaling; do [ -x "$prefix/bin/$name" ]; done
  refute grep -rIlF -e "$top_srcdir" -e "$BATS_FILE_TMPDIR" "$prefix"
  refute grep -rnE '(^|[ `])(scripts/(accept|plot|report|scaling|isa-report)|build/[a-z]+-gpu)( |`|$)' "$share"/{README.md,doc,scripts/*/*.py}
  [ -d "$prefix/share/man" ] || skip "python3 was not found by configure"
  for name in "$prefix"/bin/*; do
    page=$prefix/share/man/man1/${name##*/}.1
    [ "$(sed -n 's/^\.SH //p' "$page" | grep -v COMMANDS | paste -sd,)" = \
      "NAME,SYNOPSIS,DESCRIPTION,EXIT STATUS,ENVIRONMENT,FILES,EXAMPLES,SEE ALSO" ] || { echo "$page"; return 1; }
    grep -qE '^\.TH [A-Z-]+ 1 20[0-9]{2}-[01][0-9]-[0-3][0-9] ' "$page"
    refute grep -E '(^| )scripts/(accept|plot|report|scaling)' "$page"
    # The man page must have all options and exit statuses of --help, each example in a paragraph.
    "$name" --help | grep -oE -- '^ {2,6}(-[A-Za-z]( [A-Z.]+)?, )?--[a-z0-9-]+' | grep -oE -- '--.*' | while read -r option; do
      grep -qF -- "\\fB${option//-/\\-}" "$page" || grep -qF -- "${option//-/\\-}" <(grep '^.fB' "$page") || { echo "$page $option"; return 1; }
    done
    [ "$(sed -n '/^\.SH EXIT STATUS/,/^\.SH ENV/s/^.fB\([0-9]\).fR$/\1/p' "$page" | sort)" = \
      "$("$name" --help | sed -n '/^Exit status/,$p' | tr '\n' ' ' | grep -oE '(status: |[;:] )[0-9] [a-z]' | grep -oE '[0-9]' | sort)" ]
    ! command -v mandoc >/dev/null || mandoc -T lint -W warning "$page"
  done
  page=$prefix/share/man/man1/himeno-accept.1
  [ "$(sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$page" | grep -A 1 '^\.TP' | grep -c '^.fB.*himeno\\-accept FOLDER \\-\\-')" = 6 ]
  grep -A 1 '^.SS "compare"' "$prefix/share/man/man1/himeno-scaling.1" | grep -q '^himeno\\-scaling compare \[\\-h\]'
  # The man page must explain variables as the table of switches does.
  while read -r name words; do
    grep -F "| \`$name\` |" "$top_srcdir/doc/reference/switches.md" | tr -d '`' | grep -qF "| $words"
  done < <(sed -n '/^\\fBHIMENO_/ { N; s/\n/ /; s/\\f[BR]//g; s/\\//g; p; }' "$prefix/share/man/man1/himeno-gpu.1" | tee variables)
  [ "$(wc -l <variables)" -ge 12 ]
}

@test "installed scripts find each other's modules and the programs of their directory" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  PATH=${PATH#"$prefix/bin:"}
  echo '{"name": "any", "device_gflops_min": 1e-9}' >any.json
  run "$prefix/bin/himeno-accept" out --hosts localhost --stages alone --size 18x18x34 --seconds 0.05 --policy any.json --options '-b null --block 5'
  expect_status 0
  grep -qF "$prefix/bin/himeno-gpu" out/steps/*.log
  run "$prefix/bin/himeno-scaling" run study --sizes 18x18x34 --ranks 1 --repeat 1 --seconds 0.02 --options "-b cpu --block 5" --no-paths
  expect_status 0
  run "$prefix/bin/himeno-scaling" compare study study
  [ "$status" -le 5 ]
  for words in "report study" "plot sizes study/runs/strong-18x18x34-1-stream-none-1x1x1-r1.json -o plot"; do
    run "$prefix/bin/himeno-"$words
    [[ $status = 0 || $status = 3 && $output == *"needs matplotlib"* ]]
  done
  [[ $status = 3 || -s study/report.html && -s plot.svg ]]
  run "$prefix/bin/himeno-isa" --nonsense
  expect_status 2
  [[ ${lines[-1]} == "himeno-isa: error: "* ]]
}

@test "kernels' sources are there with all that they include, for himeno-isa" {
  "$PYTHON" - "$share" <<'PY'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
todo = list(root.glob("*/kernels/cuda/**/*.cu")) + list(root.glob("tools/memory/cuda/*.cu"))
assert len(todo) > 20, todo
seen = set(todo)
while todo:
    file = todo.pop()
    for name in re.findall(r'^#\s*include\s+"([^"]+)"', file.read_text(), re.M):
        found = next((path for path in (root / name, file.parent / name) if path.exists()), None)
        assert found or name == "config.h", f"{file}: {name}"
        if found and found not in seen:
            seen.add(found)
            todo.append(found)
PY
  find "$share" -name '*.cl' | grep -q .
}

@test "schemas, templates and recipes are installed, and so is everything that they name" {
  for document in "$share"/doc/*.json; do "$PYTHON" -m json.tool "$document" >/dev/null; done
  for name in result accept comm gemm gemm-ladder ladder mem predict soak; do [ -s "$share/doc/$name.schema.json" ]; done
  run "$prefix/bin/himeno-judge" "$top_srcdir/tests/golden/documents/himeno-gpu-2.json" --policy "$share/doc/policy-template.json"
  [[ "$status" -eq 5 && $output == *"our nodes"* ]]
  [[ -e "$prefix/share/doc/himeno-gpu/README.md" && -e "$prefix/share/doc/himeno-gpu/doc/explanation/method.md" ]]
  "$PYTHON" - "$share" <<'PY'
import pathlib, re, sys
pages = list(pathlib.Path(sys.argv[1]).rglob("*.md"))
links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)\s#]+)", re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S))]
gone = [(page, link) for page, link in links if ":" not in link and not (page.parent / link).exists()]
assert len(links) > 200 and not gone, gone
PY
  # Checks of a node must find their modules: the only error here is the missing folder for state.
  run "$PYTHON" -I "$share/scripts/sites/node.py" active --nonsense
  [[ $output != *"No module"* && $output == *"himeno: active: "* ]]
}

@test "shells find completion of every program" {
  local name
  for name in "$prefix"/bin/*; do
    name=${name##*/}
    bash -c '. "$1" && complete -p "$2"' bash "$prefix/share/bash-completion/completions/$name" "$name"
    [ -e "$prefix/share/fish/vendor_completions.d/$name.fish" ]
    grep -qE "^#compdef .*\<$name( |$)" "$prefix/share/zsh/site-functions/_himeno-gpu"
  done
  bash=$prefix/share/bash-completion/completions/himeno-accept
  [ "$(bash -c '. "$1"; _himeno_gpu himeno-accept --pol x; echo "${COMPREPLY[*]}"' bash "$bash")" = --policy ]
  # The other shells ask bash, and find its file by its place.
  if command -v fish >/dev/null; then
    in_fish() { XDG_DATA_DIRS=$prefix/share HOME=$PWD fish -c 'complete -C "$argv"' "$@" | tr '\n' ' '; }
    in_fish "himeno-gpu --so" | grep -q -- '--soak '
    [ "$(in_fish 'himeno-accept --level ')" = "1 2 3 " ]
    [ "$(in_fish 'himeno-scaling st')" = "status " ]
    [ "$(in_fish 'comm-gpu --parts host,pa')" = "host,pairs " ]
  fi
  if command -v zsh >/dev/null; then
    in_zsh() {
      zsh -fc 'fpath=($1 $fpath); shift; autoload -U _himeno-gpu; compadd() { print -r -- ${(P)2}; }
        words=("$@") CURRENT=$# PREFIX=${@[-1]}; _himeno-gpu' zsh "$prefix/share/zsh/site-functions" "$@"
    }
    [ "$(in_zsh himeno-accept --level '')" = "1 2 3" ]
    [ "$(in_zsh himeno-scaling st)" = status ]
    [ "$(in_zsh comm-gpu --parts host,pa)" = host,pairs ]
  fi
}

@test "a Debian package is installed, runs, and is removed whole" {
  command -v dpkg-shlibdeps >/dev/null || skip "there is no dpkg-dev"
  [ "$(id -u)" = 0 ] || skip "dpkg installs as root"
  mkdir -p root/var/lib/dpkg/{updates,info} built
  : >root/var/lib/dpkg/status
  make_there deb DEB_FOLDER="$PWD/built"
  package=$(echo built/himeno-gpu_*.deb)
  dpkg-deb -f "$package" Depends | grep -qE "libjansson4.*, ($MPI_FLAVOUR-bin|mpich), python3"
  ! command -v lintian >/dev/null || lintian --allow-root --fail-on error,warning "$package"
  there() { dpkg --root="$PWD/root" --path-include='*' --force-depends --force-script-chrootless --log=/dev/null "$@" >log 2>&1; }
  there -i "$package"
  [ -e root/usr/share/doc/himeno-gpu/copyright ]
  gzip -t root/usr/share/man/man1/himeno-accept.1.gz
  PATH=/usr/bin:/bin root/usr/bin/himeno-gpu -b null -s XS -n 5 --verify off >run.log
  PATH=/usr/bin:/bin root/usr/bin/himeno-isa --help | grep -q '^usage: himeno-isa'
  there -P himeno-gpu
  [ -z "$(find root/usr root/opt -type f -o -type l 2>/dev/null)" ]
}

@test "make sbom lists each program with its checksum and libraries, with the same bytes each time" {
  make_there sbom && mv "$top_builddir"/himeno-gpu-*.spdx.json first.json
  make_there sbom && cmp first.json "$top_builddir"/himeno-gpu-*.spdx.json
  "$PYTHON" - "$top_builddir" <<'PY'
import hashlib, json, pathlib, sys
document = json.load(open("first.json"))
files = {file["fileName"]: file for file in document["files"]}
assert {"./himeno-gpu", "./gemm-gpu", "./mem-gpu", "./comm-gpu", "./himeno-judge"} <= set(files), files
for name, file in files.items():
    data = pathlib.Path(sys.argv[1], name).read_bytes()
    assert {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()} in file["checksums"], name
links = [(one["spdxElementId"], one["relatedSpdxElement"]) for one in document["relationships"]]
assert any(a == "SPDXRef-File-himeno-judge" and b.startswith("SPDXRef-Library-libjansson") for a, b in links), links
assert {b for _, b in links} <= {one["SPDXID"] for one in document["packages"]}
PY
}

@test "make uninstall leaves nothing" {
  make_there install prefix=/usr DESTDIR="$PWD/stage"
  make_there uninstall prefix=/usr DESTDIR="$PWD/stage"
  [ -z "$(find stage -type f -o -type l)" ] || { find stage -type f -o -type l; return 1; }
}

@test "a tarball's bytes depend on its contents alone, and its path may have spaces and letters beyond ASCII" {
  make_there dist
  mkdir "tar ball é" && tar xzf "$top_builddir"/himeno-gpu-*.tar.gz -C "tar ball é" --strip-components=1
  umask 077
  mkdir "tar ball é/out" && cd "tar ball é/out"
  ../configure CC="${CC:-mpicc}" --prefix="$PWD/to ü" --without-cuda --without-opencl --without-cblas MPIRUN=none >configure.log 2>&1
  for program in himeno-gpu gemm-gpu mem-gpu comm-gpu himeno-judge himeno-predict; do old+=(-o $program); done
  old+=(MAKE="make ${old[*]}") # nothing is compiled
  env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s dist "${old[@]}" >log 2>&1 || { tail log; return 1; }
  cmp "$top_builddir"/himeno-gpu-*.tar.gz himeno-gpu-*.tar.gz
  rm ../doc/man/himeno-plot.1
  env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s install-data "${old[@]}" >log 2>&1 || { tail log; return 1; }
  "to ü/bin/himeno-plot" --help | grep -q '^usage: himeno-plot'
  [ -s "to ü/share/man/man1/himeno-plot.1" ]
}

@test "compile_commands.json has each C source once, as it is compiled" {
  make_there compile_commands.json
  "$PYTHON" - "$top_builddir/compile_commands.json" <<'PY'
import json, os, subprocess, sys
commands = {command["file"]: command for command in json.load(open(sys.argv[1]))}
for name in "base/file.c judge/policy.c tools/network/pairs.c tests/unit/test_decomp.c tests/mpi/matrix.c".split():
    found = [file for file in commands if file.endswith("/" + name)]
    assert len(found) == 1, (name, found)
assert all(os.path.exists(os.path.join(command["directory"], file)) for file, command in commands.items())
command = next(command for file, command in commands.items() if file.endswith("/base/file.c"))
words = command["arguments"][:command["arguments"].index("-MT")]
subprocess.run([*words, "-fsyntax-only", command["file"]], cwd=command["directory"], check=True)
PY
}
