# SPDX-License-Identifier: MIT
# scripts/accept and the batch scripts under a slurmctld and several slurmd of this machine's own. Steps of one host go through srun as on any
# cluster; several hosts are one machine here, which Open MPI cannot tell apart, so their ranks are played by tests/sites/fake-cluster.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  cd "$BATS_TEST_TMPDIR"
  export MPIRUN HIMENO_SOURCE=$top_srcdir OMP_NUM_THREADS=1
  echo '{"name": "site", "noise_max": 100}' >site.json
  options=(--per-host 2 --program "$himeno" --size 18x18x34 --seconds 0.05 --policy site.json --limit 20)
}

# in_slurm NODES SCRIPT: runs the shell script under a Slurm of that many nodes; skips where there is none.
in_slurm() {
  local nodes=$1
  echo "$2" >script
  mkdir -p slurm
  run --separate-stderr "$top_srcdir/tests/sites/slurm-here" slurm "$nodes" bash script
  [ "$status" -ne 77 ] || skip "${stderr##*slurm-here: }"
}

@test "in an allocation each host gets a step; one whose slurmd is dead is named and the others pass" {
  in_slurm 4 "salloc -N 4 --exclusive bash -c '
    pkill -KILL -f \"[s]lurmd -D -N h3\"
    \"$top_srcdir/scripts/accept\" out ${options[*]} --options \"-b null --block 5\" --stages alone
    code=\$?
    sed -n \"s/^. \(srun.* --kill-on-bad-exit=1\).*/\1/p\" out/steps/alone-h1.log | sed \"s/.*/& printenv SLURM_CPUS_ON_NODE/\" | sh | sort -u >cores
    exit \$code'"
  expect_status 7
  [ "$(cat cores)" = 16 ]
  grep -q '  drain: h3' <<<"$output"
  grep -q 'h\[1-2,4\]: 3 pass' <<<"$output"
  grep -q 'srun .*--nodelist=h3' <<<"$output"
}

@test "all stages, with the leaf switches that scontrol tells, find a slow device" {
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

@test "the batch script accepts its allocation" {
  in_slurm 2 "export HIMENO_POLICY=$PWD/site.json
    export HIMENO_ACCEPT_OPTIONS='--per-host 2 --program $himeno --size 18x18x34 --seconds 0.05 --stages alone --options=-bnull'
    sbatch -W -N 2 -o batch.out \"$top_srcdir/scripts/sites/accept.sbatch\"
    code=\$?
    cat batch.out
    exit \$code"
  expect_status 0
  grep -q '  ACCEPTED' <<<"$output"
}
