# SPDX-License-Identifier: MIT
load ../helper

follows() {
  run "$top_srcdir/scripts/check-style" "$1"
  [ "$status" -eq 77 ] && skip "$output"
  expect_status 0
}

@test "the layout of the code is that of .clang-format" {
  follows format
}

@test "files and functions are short" {
  follows lengths
}

@test "comments are narrow" {
  follows comments
}

@test "struct tags and static functions have names of their own" {
  follows names
}

@test "pages are narrow" {
  follows pages
}

@test "links of pages lead somewhere, and tables have a head" {
  follows links
}

@test "the site builds without a warning, and needs no other host" {
  command -v sphinx-build || [ -x "$top_srcdir/build-python/bin/sphinx-build" ] || skip "Sphinx was not found"
  run make -C "$top_builddir" -s site
  expect_status 0
  refute grep -rlE '<(script|link|img)[^>]*(src|href)="(https?:)?//' "$top_builddir/site" --include=*.html
}

@test "every source names its licence" {
  follows licences
}

@test "Python has no undefined names and no unused imports" {
  follows python
}

@test "every source is part of a release" {
  follows lists
}

@test "every document of a run with a policy is replayed" {
  follows replays
}
