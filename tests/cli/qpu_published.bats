# SPDX-License-Identifier: MIT
# The script that runs published programs, on programs of our own in their forms.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  published=("$top_srcdir/scripts/qpu-published" --build "$top_builddir")
  folder=$BATS_TEST_TMPDIR/folder
  mkdir -p "$folder"
  cd "$BATS_TEST_TMPDIR" || exit 1
}

# Writes the first uniform to sixteen words at the second: the words as C, and a program that runs them by the mailbox.
mailbox_program() {
  printf '%s\n' 'mov r0, unif' 'ldi vw_setup, 0x1a00' 'mov vpm, r0' 'ldi vw_setup, 0x80904000' 'mov vw_addr, unif' 'mov -, vw_wait' \
    'mov r0, r0; mov r0, r0; thrend' 'nop' 'nop' >fill.qasm
  "$top_builddir/gpu/qpu/qpu-as" -i fill.qasm -f hex -o fill.hex
  cat >"$folder/$1.c" <<END
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
static const uint32_t code[] = {
$(cat fill.hex)
};
static int box;
static uint32_t call(uint32_t tag, uint32_t a, uint32_t b, uint32_t c)
{
  uint32_t words[32] = {sizeof words, 0, tag, 16, 16, a, b, c, 1000};
  return ioctl(box, _IOWR(100, 0, char *), words) || words[1] != 0x80000000u ? 0x80000000u : words[5];
}
int main(void)
{
  box = open("/dev/vcio", 0);
  int memory = open("/dev/mem", O_RDWR | O_SYNC);
  uint32_t handle = call(0x3000c, 8192, 4096, 12), bus = call(0x3000d, handle, 0, 0);
  uint32_t *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, memory, bus & 0x3fffffff);
  memcpy(p, code, sizeof code);
  p[512] = 42;
  p[513] = $2;
  p[600] = bus + 2048;
  p[601] = bus;
  uint32_t bad = call(0x30011, 1, bus + 2400, 0);
  return bad || p[1024] != 42 || p[1039] != 42 || p[1040] != 0;
}
END
}

# A program as a Pi's Python ran it: longs of 32 bits, nose, numpy 1, and an argument that says what to do.
python_program() {
  mkdir -p "$folder/qmkl/src/blas" "$folder/py-videocore"
  cat >"$folder/py-videocore/numpy.py" <<'END'
all = all
def array(values, copy=True):
    if copy is False: raise ValueError("numpy 2 must copy")
    return list(values)
END
  cat >"$folder/qmkl/src/blas/sgemm_$1.py" <<END
import ctypes, os, struct, sys
import numpy
from nose.tools import assert_raises, raises
raises(ValueError)(lambda: int("no number"))()
assert_raises(AssertionError, raises(ValueError)(lambda: int("1")))
assert numpy.array((1, 2), copy=False) == numpy.array((1, 2)) == [1, 2] and numpy.alltrue([1, 1])
assert_raises(struct.error, struct.pack, "L", -1)
assert struct.unpack("L", struct.pack("f", 1.0)) == (0x3f800000,) and struct.unpack("=Ll", bytes(8)) == (0, 0)
assert sys.argv[1] != "qbin" and os.open("/dev/vcio", os.O_RDONLY) > 0
print("$2")
END
}

@test "programs written for a Pi's mailbox run as they are" {
  mailbox_program good 'bus + 4096'
  python_program RNN "maximum absolute error: 1.5e-05"
  run --separate-stderr "${published[@]}" "$folder"
  expect_status 0
  [[ $output == *"qmkl                        1 of 1 right"*"C programs                  1 of 1 right"* ]]
  mailbox_program bad 'bus + 8192'
  python_program RTT "maximum absolute error: 2.5"
  python_program RNT "maximum absolute error: nan"
  python_program RTN "nothing of an error"
  run --separate-stderr "${published[@]}" "$folder"
  expect_status 4
  [[ $output == *"wrong: sgemm_RNT.py"*"wrong: sgemm_RTN.py"*"wrong: sgemm_RTT.py"*"wrong: bad.c"*"C programs                  1 of 2 right"* ]]
}

@test "QPULib's examples are compared with its own emulator, but for the times that they print" {
  command -v "${CXX:-g++}" >/dev/null || skip "no C++ compiler"
  mkdir -p "$folder/QPULib/Lib" "$folder/QPULib/Examples"
  printf '#include <bcm_host.h>\nint number() { return bcm_host_get_peripheral_size() >> 24; }\n' >"$folder/QPULib/Lib/map.cpp"
  printf 'int number();\nint kernel() { return 41 + number(); }\n' >"$folder/QPULib/Examples/Kernels.cpp"
  for kind in 'Same|"%d\n"|kernel()|7' 'Other|"%d\n"|mode|42' 'Timed|"%.0s"|""|3'; do
    IFS='|' read -r name form value time <<<"$kind"
    cat >"$folder/QPULib/Examples/$name.cpp" <<END
#include <stdio.h>
int kernel();
#ifdef QPU_MODE
static int mode = 1;
#else
static int mode = 2;
#endif
int main() { printf($form "%d.%06ds\\n", $value, mode, $time); }
END
  done
  echo 'int main() { return missing(); }' >"$folder/QPULib/Examples/Unbuilt.cpp"
  run --separate-stderr "${published[@]}" "$folder"
  expect_status 4
  [[ $output == *"wrong: Other"*"not compared: Timed"*"left out: Unbuilt does not compile here"*"QPULib's examples           1 of 2 right"* ]]
}

@test "sources are assembled and compared word for word" {
  printf 'fadd r1, r1, r3;\n;fmul r2, r1, r0\nmov ra0, 5\nthrend\nnop\nnop\n' >"$folder/one.qasm"
  "$top_builddir/gpu/qpu/qpu-as" -u -i "$folder/one.qasm" -f hex -o "$folder/one.hex"
  sed -i '2s/0x15/0x14/' "$folder/one.hex"
  run "${published[@]}" "$folder"
  expect_status 0
  [[ $output == *"one.qasm: 4 of 5 words as published, 5 made"*"sources assembled           1 of 1 right"* ]]
  echo 'fmul r0>>1, r1, r2' >"$folder/two.qasm"
  run "${published[@]}" "$folder"
  expect_status 4
  [[ $output == *"wrong: qpu-as:"*"two.qasm:1:"*"1 of 2 right"* ]]
}

@test "what it cannot do is said" {
  run "${published[@]}"
  expect_status 2
  run "${published[@]}" "$folder"
  expect_status 2
  [[ $output == *"nothing in"*"that it knows"* ]]
  run "${published[0]}" --build "$folder" "$folder"
  expect_status 3
}
