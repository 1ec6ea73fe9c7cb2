# SPDX-License-Identifier: MIT
# --ladder runs every kernel from the simplest to the best, and verifies each.
load ../helper
bats_require_minimum_version 1.5.0

setup() { document=$BATS_TEST_TMPDIR/ladder.json; }

@test "an unverified rung does not pass, and a wrong one sets the ladder's exit code" {
  run --separate-stderr on 1 "$himeno" -b cpu -s XS --ladder -t 0.02 --block 10 --verify off
  expect_status 0
  [ "$(grep -cE '^ +[1-5]  .*% +not verified' <<<"$output")" = 5 ]
  HIMENO_FLIP="a0 5,6,7 20 1" run --separate-stderr on 1 "$himeno" -b cpu -s XS --ladder -t 0.02 --block 10 --json "$document"
  expect_status 4
  [ "$(grep -cE '^ +1  .*– +– +WRONG' <<<"$output")" = 1 ]
  [ "$(json "$document" '[r["verdict"] for r in d["rungs"]]')" = "['wrong', 'pass', 'pass', 'pass', 'pass']" ]
}

@test "on two ranks each rung gives the same bits as the reference on one" {
  on 2 "$himeno" -b cpu -s XS --ladder -t 0.01 --block 3 --data dense --json "$document" >/dev/null
  on 1 "$himeno" -b cpu -s XS -k reference -n 3 --data dense --json "$BATS_TEST_TMPDIR/one.json" >/dev/null
  [ "$(json "$document" '{r["checksum"] for r in d["rungs"]}')" = "{'$(json "$BATS_TEST_TMPDIR/one.json" 'd["result"]["checksum"]')'}" ]
  [ "$(json "$document" 'd["config"]["ranks"]')" = 2 ]
}

@test "the document follows its schema, which refuses what is no ladder" {
  has_jsonschema
  for options in "-b cpu -w --data dense --verify off" "-b opencl"; do
    run on 2 "$himeno" $options -s XS --ladder -t 0.01 --block 3 --json "$document"
    [ "$status" -eq 3 ] && [[ $options == *opencl* ]] && continue
    expect_status 0
    follows ladder "$document"
  done
  on 1 "$himeno" -b cpu -s XS --ladder -t 0.01 --block 3 --json "$document" >/dev/null
  follows ladder "$document" 'd["rungs"] = []' 'del d["rungs"][0]["step"]' 'd["rungs"][0]["gflops"] = -1' 'd["rungs"][1]["checksum"] = "9"' \
    'd["extra"] = 1' 'd["config"]["ranks"] = "2"' 'd["rungs"][0]["class"] = "other"' 'd["schema"] = "himeno-gpu/1"'
}
