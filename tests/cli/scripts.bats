# SPDX-License-Identifier: MIT
# The scripts that users and the build start.
load ../helper

@test "quickstart and test say what they do" {
  for script in quickstart test; do
    run "$top_srcdir/scripts/$script" --help
    expect_status 0
    [[ $output == "Usage: scripts/$script [OPTION]..."* ]]
    [[ $output == *--no-install* ]]
  done
}

@test "a wrong option of quickstart or test is named and changes nothing" {
  for script in quickstart test; do
    run "$top_srcdir/scripts/$script" --fast
    expect_status 2
    [ "$output" = "$script: unknown option \"--fast\": see --help" ]
  done
}

@test "quickstart hands on options of configure, and later takes the same again" {
  mkdir "$BATS_TEST_TMPDIR/scripts"
  cd "$BATS_TEST_TMPDIR"
  cp "$top_srcdir"/scripts/{quickstart,lib.sh} scripts
  cat >configure <<'SH'
#!/bin/sh
echo "configure $*" >>../calls
printf '#!/bin/sh\necho "config.status $*" >>../calls\n' >config.status
chmod +x config.status
printf 'all:\n' >Makefile
SH
  chmod +x configure
  scripts/quickstart --no-install --no-run --with-cuda-arch=75,90 NVCC=none
  scripts/quickstart --no-install --no-run
  [ "$(sed -n 1,2p calls)" = $'configure --with-cuda-arch=75,90 NVCC=none\nconfig.status --recheck' ]
}

@test "an OpenCL source arrives in C as it is" {
  mkdir -p "$BATS_TEST_TMPDIR/room/opencl"
  cd "$BATS_TEST_TMPDIR"
  printf '%s\n' '// "quoted" \ \n \\' '#define F(x) \' '	(x) % 2 ?? 1 : 0 /* π */' '' 'x' >room/opencl/two-words.cl
  "$top_srcdir/scripts/embed-cl" room/opencl/two-words.cl two_cl.h
  printf '#include "two_cl.h"\n#include <stdio.h>\nint main(void) { return fputs(room_two_words_cl, stdout) < 0; }\n' >main.c
  ${CC:-cc} main.c -o main
  ./main | cmp - room/opencl/two-words.cl
}

# Copies the style check into a folder of its own, with the rooms that it looks into.
a_tree_of_its_own() {
  mkdir -p "$BATS_TEST_TMPDIR"/{base,gpu,comm,himeno,scripts,tests,m4,doc}
  cd "$BATS_TEST_TMPDIR"
  cp "$top_srcdir"/scripts/{check-style,quickstart,test} scripts
  cp "$top_srcdir/.clang-format" .
  printf '# SPDX-License-Identifier: MIT\nSOURCES = base/good.c\n' | tee base/Makefile.am >scripts/Makefile.am
  printf '/* SPDX-License-Identifier: MIT */\nint one(void)\n{\n  return 1;\n}\n' >base/good.c
}

@test "the style check passes what is in style" {
  a_tree_of_its_own
  run scripts/check-style lengths licences lists
  expect_status 0
}

@test "the style check names a file that is too long, and a function" {
  a_tree_of_its_own
  { echo 'int f(void)'; echo '{'; yes '  g();' | head -n 99; echo '}'; } >base/function.c
  yes '' | head -n 501 >base/file.c
  run scripts/check-style lengths
  expect_status 1
  [[ $output == *"base/file.c: over 500 lines"* ]]
  [[ $output == *"base/function.c:2: function over 100 lines"* ]]
  [[ $output != *good* ]]
}

@test "the style check names a file without a licence, and one that no release would have" {
  a_tree_of_its_own
  echo 'int x;' >base/bare.c
  run scripts/check-style licences lists
  expect_status 1
  [[ $output == *"base/bare.c: no SPDX line"* ]]
  [[ $output == *"base/bare.c: not in base/Makefile.am"* ]]
}

@test "the style check names a file that is set otherwise" {
  a_tree_of_its_own
  run scripts/check-style format
  [ "$status" -eq 77 ] && skip "$output"
  expect_status 0
  echo 'int  x ;' >base/loose.c
  run scripts/check-style format
  expect_status 1
  [[ $output == *base/loose.c* ]]
}
