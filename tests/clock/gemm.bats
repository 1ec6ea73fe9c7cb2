# SPDX-License-Identifier: MIT
# gemm-gpu with the virtual clock. A multiplication and an addition take 4 ns together, so a device
# has 0.5 GFLOPS of a peak of 8.
load clock

@test "a block has as many short products as fill --block, and the document holds it" {
  export CLOCK_MACHINE="product=4"
  local block launches samples
  while read -r block launches samples; do
    clocked 1 gemm-gpu -b null -s 16 --block $block -t 0.0105
    figures <<FIGURES
d.config.block_seconds = $block
d.result.launches = $launches
d.result.seconds = 1.6384e-05
d.result.gflops = 0.5
[r.gflops for r in d.ranks] = [0.5]
sorted(set(round(s, 12) for s in d.result.samples)) = [$samples]
FIGURES
  done <<<$'0.001 62 0.001015808\n0.002 123 0.002015232'
}

@test "SIGTERM to one rank ends all after their block with what they have: exit 8, incomplete" {
  export CLOCK_MACHINE="product=4 stop@1=9500000"
  clocked_to 8 2 gemm-gpu -b null -s 64 --block 0.001 -t 100
  report_has "verdict    INCOMPLETE: a signal ended the run early; its 3 blocks passed verification"
  figures <<'FIGURES'
(d.partial, d.result.verdict) = (True, "incomplete")
[r.verdict for r in d.ranks] = ["incomplete", "incomplete"]
len(d.result.samples) = 3
FIGURES
  follows gemm d.json 'd["partial"] = 1' 'd["result"]["why"] = None'
  CLOCK_MACHINE="product=4 stop@1=1" clocked_to 8 2 gemm-gpu -b null -s 64 --block 0.001 -t 100
}

@test "SIGTERM ends a ladder with the kernels that were timed" {
  export CLOCK_MACHINE="product=4 stop=9500000"
  clocked_to 8 1 gemm-gpu -b null --ladder --sizes 64,96 --block 0.001 -t 20
  report_has "INCOMPLETE: a signal ended the ladder early"
  figures <<'FIGURES'
d.partial = True
[(s.m, [(r.kernel, r.verdict, len(r.samples)) for r in s.rungs]) for s in d.sizes] = [(64, [("naive", "pass", 3)])]
FIGURES
  follows gemm-ladder d.json
}

@test "an acceptance reports which rate its compared products exclude, and their load" {
  export CLOCK_MACHINE="product=4" HIMENO_NULL_DEVICES=2 HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so
  for beta in 0 1; do
    FAKE_NVML="milliwatts=665000 milliwatts@1=$((637000 - 21000 * beta))" clocked 2 gemm-gpu -b null -s 16 --beta $beta --block 0.001 -t 0.1 --accept
    figures <<FIGURES
round(d.worth.device_days * 86400 / (2 * sum(d.result.samples) * ($beta or 1 / d.result.launches)), 9) = 1.0
round(d.worth.excluded_per_1000_device_days * d.worth.device_days / 2995.732273554, 9) = 1.0
round(d.worth.power_share, 9) = 0.91 - 0.03 * $beta
FIGURES
    [ "$(grep -c 'NOT STRESSED' <<<"$output")" = $beta ]
  done
  HIMENO_NVML=/nonexistent HIMENO_SYSFS=/nonexistent clocked 2 gemm-gpu -b null -s 16 -t 0.1 --accept
  report_has "load       unknown: a device reports no power or no power limit"
  clocked 2 gemm-gpu -b null -s 16 -t 0.1
  refute grep -q 'confidence 95\|  load \|worth' <<<"$output$(cat d.json)"
}

@test "a ladder whose blocks differ is called noisy, and shows progress" {
  export CLOCK_MACHINE="product=4000 jitter=0.03" LC_ALL=C
  clocked 1 gemm-gpu -b null --ladder --sizes 16,64 -t 8
  report_has "1  naive               0.0  +-4.4%" "WARNING    noisy: blocks of naive at m = 64 vary by 6.6%, smaller differences are noise"
  grep -qx " *about 19 s expected" <<<"$stderr"
  grep -qx "  size 1 of 2: timing, 1[0-9] s left" <<<"$stderr"
  grep -qx "  size 2 of 2: timing, [0-9] s left" <<<"$stderr"
}

@test "a trial takes the transport with the shortest product, and does not count packing" {
  export CLOCK_MACHINE="product=4 pack=100 reduce=5000 barrier=4000"
  clocked 2 gemm-gpu --distributed -b null -s 64 -p 1x2 --block 0.001 -t 0.0125
  report_has "transport  p2p (fastest in a short trial)"
  # Each rank packs two of three slices of B per panel, each of 16 x 32 floats; 8 bytes per float are read and written.
  CLOCK_MACHINE="product=4 pack=0.5" clocked 3 gemm-gpu --distributed -b null -s 64 -p 3x1 --panel 16 -x staged --block 0.001 -t 0.0125
  figures <<'FIGURES'
round(d.phases.pack.max * 1e9) = 4 * 2 * 16 * 32 * 8 / 2
FIGURES
}
