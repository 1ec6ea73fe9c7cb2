# SPDX-License-Identifier: MIT
# Runs the commands of the tutorials in doc/tutorials. They must print what the page shows; numbers may differ.
load ../helper

# follow PAGE: runs the commands of a page as it shows them, in a folder with this tree's scripts, tests and build.
follow() {
  cd "$BATS_TEST_TMPDIR"
  ln -s "$(realpath "$top_srcdir")"/{scripts,tests,doc} .
  ln -s "$(realpath "$top_builddir")" build
  "$PYTHON" - "$top_srcdir/doc/tutorials/$1" <<'END'
import re, subprocess, sys

blocks = [block.split("\n") for block in open(sys.argv[1]).read().split("\n\n")]
words = ("accept", "repair", "sed", "tar", "cp", "cut", "export", "mpirun", "sha256sum", ".", "tests/", "make", "scripts/", "build/")
shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
printed, status, commands, lines = "", "0", 0, 0

def plain(text):
    return re.sub(r"\d+(\.\d+)?", "#", " ".join(text.split()))

for block in blocks:
    if not block[0].startswith("    "):
        said = re.search(r"exit status is (\d)", " ".join(block))
        assert not said or said[1] == status, (block, status, printed)
    elif block[0].strip().split()[0].startswith(words):
        for command in block:
            if "quickstart" in command or command.strip().startswith("make"):
                continue  # the build of this test
            commands += 1
            shell.stdin.write(f"{{ {command.strip()}\n}} </dev/null\nstatus=$?; echo; echo DONE $status\n")
            shell.stdin.flush()
            printed = "" if command == block[0] else printed
            for line in shell.stdout:
                if line.startswith("DONE "):
                    status = line.split()[1]
                    break
                printed += line
    else:
        for line in block:
            lines += 1
            assert plain(line) in plain(printed), f"{line}\n{printed}"
assert commands >= 8 and lines >= 8, (commands, lines)
END
}

@test "accept a rack of GPU nodes in a day" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  follow accept-rack.md
}

@test "your first scaling study and prediction" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  [ "$HAVE_CMINPACK" = 1 ] || skip "himeno-predict was not built: no cminpack"
  follow scaling-study.md
}

@test "tune a GPU kernel in an hour" {
  on 1 "$himeno" -b opencl -s XS -n 1 --no-tune || skip "no OpenCL device here"
  follow tune-kernel.md
}
