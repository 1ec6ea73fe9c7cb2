# SPDX-License-Identifier: MIT
# scripts/accept and the batch scripts under a separate Slurm with one slurmctld and several slurmd
# on this machine. Steps of one host use srun as on any cluster. For several hosts, which Open MPI
# cannot distinguish on one machine, tests/sites/fake-cluster simulates the ranks.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  cd "$BATS_TEST_TMPDIR"
  export MPIRUN HIMENO_SOURCE=$top_srcdir OMP_NUM_THREADS=1
  himeno=$top_builddir/tests/clock/himeno-gpu # a simulated clock, so that all hosts have the same speed
  echo '{"name": "site", "noise_max": 100}' >site.json
  options=(--per-host 2 --program "$himeno" --size 18x18x34 --seconds 0.05 --policy site.json --limit $((20 * SLOWNESS)))
}

# in_slurm NODES SCRIPT: runs a shell script under a Slurm of NODES nodes; skips the test if Slurm is not installed.
in_slurm() {
  local nodes=$1
  echo "$2" >script
  mkdir -p slurm
  run --separate-stderr "$top_srcdir/tests/sites/slurm-here" slurm "$nodes" bash script
  [ "$status" -ne 77 ] || skip "${stderr##*slurm-here: }"
}

@test "in an allocation each host gets a step; one whose slurmd is dead is named and the others pass" {
  in_slurm 4 "salloc -N 4 --exclusive bash -c '
    kill -KILL \$(cat slurm/slurmd-h3.pid)
    \"$top_srcdir/scripts/accept\" out ${options[*]} --options \"-b null --block 5\" --stages alone
    code=\$?
    sed -n \"s/^.* \(srun.* --kill-on-bad-exit=1\).*/\1/p\" out/steps/alone-h1.log | sed \"s/.*/& printenv SLURM_CPUS_ON_NODE/\" | sh | sort -u >cores
    exit \$code'"
  expect_status 7
  [ "$(cat cores)" = 16 ]
  grep -q '  run again: h3 (not started' <<<"$output"
  refute grep -q 'drain: h' <<<"$output"
  grep -q 'passed: h\[1-2,4\] (3 hosts)' <<<"$output"
  grep -q 'srun .*--nodelist=h3' <<<"$output"
}

@test "all stages, with the leaf switches that scontrol reports, find a slow device" {
  echo 'slow h5 1 1.1' >faults
  echo '{"name": "site", "device_gflops_min": 11.5}' >site.json
  in_slurm 6 "export FAULTS=$PWD/faults OMPI_MCA_plm=^slurm OMPI_MCA_ras=^slurm
    salloc -N 6 --exclusive \"$top_srcdir/scripts/accept\" out ${options[*]} --options '-b null --block 5' --rounds 1 --parallel 2 --stages alone,pairs,switches,all,devices \
      --launcher 'srun --overlap --nodelist={list} --nodes={hosts} --ntasks=1 --mpi=none $top_srcdir/tests/sites/fake-cluster {list} {per_host}'"
  expect_status 5
  grep -q '  drain: h5' <<<"$output"
  [ -s out/steps/switch-leaf1.json ]
  [ ! -e out/steps/switch-spine.json ]
  grep -q 'device-h5-1 .*slow' <<<"$output"
}

@test "the batch scripts find the program in their directory, pass on their arguments as they are, and evaluate nothing" {
  # Two trees, one of which has a space in its path. The scripts in the first run; those in the second print their arguments.
  mkdir -p "a tree/scripts/sites"
  cp "$top_srcdir"/scripts/sites/*.sbatch "a tree/scripts/sites"
  printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' | tee "a tree/scripts/accept" >"a tree/scripts/scaling"
  chmod +x "a tree"/scripts/{accept,scaling}
  # A build outside the tree must be found on PATH.
  mkdir bin
  ln -s "$himeno" bin/himeno-gpu
  unset HIMENO_SOURCE
  in_slurm 2 "export PATH=$PWD/bin:\$PATH HIMENO_POLICY=$PWD/site.json
    sbatch -W -N 2 -o accept.out \"$top_srcdir/scripts/sites/accept.sbatch\" --seconds 0.05 --stages alone --per-host 2 --size 18x18x34 --options '-b null --block 5'
    code=\$?
    for recipe in accept soak scaling; do
      export HIMENO_{ACCEPT,SCALING}_OPTIONS='\$(touch evaluated)'
      sbatch -N 2 -o \$recipe.words \"a tree/scripts/sites/\$recipe.sbatch\" --options '-x p2p' --kernels 'two words' '' '\$(touch evaluated)'
    done
    for n in \$(seq $((100 * SLOWNESS))); do [ -z \"\$(squeue -h)\" ] && break; sleep 0.1; done
    cat accept.out
    exit \$code"
  expect_status 0
  [ -z "$(find . -name evaluated)" ]
  grep -q '  ACCEPTED' <<<"$output"
  grep -q -- "srun .*-b null --block 5" accept-*/steps/alone-h1.log
  grep -qx '<accept-[0-9]*><--policy><.*site.json><--budget><50m><--options><-x p2p><--kernels><two words><><\$(touch evaluated)>' accept.words
  grep -qx '<soak-[0-9]*><--soak><8h><--options><-x p2p><--kernels><two words><><\$(touch evaluated)>' soak.words
  grep -qx '<run><scaling-[0-9]*><--sizes><L,XL><--ranks><1,2><--per-host><1><--slurm><allocation><--here><--options><-x p2p><--kernels><two words><><\$(touch evaluated)>' \
    scaling.words
}
