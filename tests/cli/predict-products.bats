# SPDX-License-Identifier: MIT
# himeno-predict on studies of products by gemm-gpu --distributed.
load predict

setup_file() { study_measured; }

# products_made: from one measured product of two ranks, makes a study on one to four ranks, and later runs on eight. Their times
# are computed: 1 us per launch, 10 ps per multiply-add, 20 us per step, 5 GB/s, and 1% of noise. truth.json has the times without
# noise.
products_made() {
  on 2 "$top_builddir/gemm-gpu" --distributed -b cpu -k simd -x staged -s 64 -t 0.05 --json product.json >/dev/null
  mkdir study later
  "$PYTHON" - "$measured/paths.json" <<'END'
import copy, json, random, sys
noise, truth = random.Random(7), {}
with open("product.json") as file:
    one = json.load(file)
with open(sys.argv[1]) as file:
    paths = json.load(file)
for pair in paths["pairs"]:
    pair["fit"] = {**(pair["fit"] or {"residual": 0}), "latency_seconds": 2.2e-5, "bytes_per_second": 4.6e9}
with open("paths.json", "w") as file:
    json.dump(paths, file)
def make(folder, size, p, q, weak):
    m, n, k = (size[0] * p, size[1] * q, size[2]) if weak else size
    width = min(k, 256)  # gemm-gpu's own on a CPU
    panels, rows, columns = k // width, -(-m // p), -(-n // q)
    multiply = p * q * 1e-6 + 1e-11 * rows * columns * width
    travel = (max(p, q) - 1) * 20e-6 + 4 * width * ((q - 1) * -(-rows // q) + (p - 1) * -(-columns // p)) / 5e9
    steps = max(p, q) - 1
    wait = max((travel * s / steps - min(1, s / p) * min(1, s / q) * multiply for s in range(1, steps + 1)), default=0)
    name = f"{'weak' if weak else 'strong'}-{'x'.join(map(str, size if len(set(size)) > 1 else size[:1]))}-{p}x{q}"
    truth[name] = panels * multiply + (panels - 1) * max(0, travel - multiply) + max(0, wait)
    d = copy.deepcopy(one)
    seconds = truth[name] * (1 + noise.gauss(0, 0.01))
    d["config"].update(m=m, n=n, k=k, lda=k, ldb=n, ldc=n)
    d["config"]["distributed"] = {"procs": [p, q], "weak": weak, "panel": width, "panels": panels, "transport": "staged" if p * q > 1 else None}
    d["ranks"] = [{**one["ranks"][0], "rank": rank, "numa": rank // 4} for rank in range(p * q)]
    d["paths"] = one["paths"] if p * q > 1 else []
    d["result"].update(seconds=seconds, launches=3, samples=[x * seconds for x in (1.5, 1.51, 1.52)])  # rank 0's take half as long
    with open(f"{folder}/{name}.json", "w") as file:
        json.dump(d, file)
for size in (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (1500, 1000, 2048), (2048, 2048, 2048):
    for p, q in (1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (4, 1):
        make("study", size, p, q, False)
        if p * q > 1:
            make("study", size, p, q, True)
    for p, q in (2, 4), (8, 1):
        make("later", size, p, q, False)
        make("later", size, p, q, True)
make("later", (1536, 1536, 1536), 2, 2, False)
with open("truth.json", "w") as file:
    json.dump(truth, file)
END
}

@test "products of gemm-gpu are predicted for more ranks and other sizes" {
  products_made
  run --separate-stderr "$predict" --study study --comm paths.json -s 512,1536 -n 1,4,8 --per-memory 4 --against later --json p.json
  expect_status 0
  [[ $output == *"  study      55 products of kernel simd, backend cpu, "*"a product still gets shorter up to the most ranks tried"* ]]
  follows_schema p.json
  "$PYTHON" - <<'END'
import json
d, truth = json.load(open("p.json")), json.load(open("truth.json"))
assert (d["config"]["program"], d["model"]["program"], d["model"]["product"]) == ("gemm-gpu", "gemm-gpu", {"type": "f32", "panel": 0, "on_cpu": True}), d["model"]
assert abs(d["model"]["terms"][1]["value"] / 1e-11 - 1) < 0.02, d["model"]["terms"]
assert {v["kind"] for v in d["validation"]["pairs"]} == {"cut", "ranks", "size"}
pairs = d["against"]["pairs"]
assert len(pairs) == 21 and sum(q["inside"] for q in pairs) >= 17, pairs
for q in pairs:
    assert abs(q["predicted"] / truth[f"{q['scaling']}-{q['size']}-{'x'.join(map(str, q['procs']))}"] - 1) < 0.08, q
assert len(d["predictions"]) == 12
for q in d["predictions"]:
    assert q["low"] < q["seconds"] < q["high"] < (1.5 if q["ranks"] < 8 else 2) * q["low"], q
    assert abs(q["gflops"] * q["seconds"] * 1e9 / (2 * q["m"] * q["n"] * q["k"]) - 1) < 1e-9, q
    times = q["procs"] if q["scaling"] == "weak" else (1, 1)
    assert (q["m"], q["n"], q["k"]) == (int(q["size"]) * times[0], int(q["size"]) * times[1], int(q["size"])), q
END
  run --separate-stderr "$predict" --model p.json -s 128,4096 -n 1
  [[ $output == *": fewer multiply-adds per rank than any run"*": more multiply-adds per rank than any run"* ]]
  [[ $output != *" points"* ]]
  "$predict" --study study --comm paths.json -s 512 -n 8 --per-memory 4 -p 2x4 --json q.json >/dev/null
  run "$predict" --check q.json --against later
  expect_status 0
  [[ $output == *"2 of 2 predicted, median error "[0-7]"."* ]]
  expect_error 2 '--procs 2x2x2: gemm-gpu cuts 2 dimensions' --model p.json -n 8 -p 2x2x2
  expect_error 2 '--size L: must be N or MxNxK' --model p.json -s L
  # C of both ranks would have more rows than 2^31 - 1
  expect_error 3 'C of all 2x1 ranks is too large' --model p.json -n 2 -p 2x1 --scaling weak -s 1073741824x64x64
  "$predict" --model p.json -n 2 -p 2x1 --scaling weak -s 1073741823x64x64 >/dev/null
  expect_error 2 '--sweeps-per-pass 2: gemm-gpu makes no sweeps' --model p.json --sweeps-per-pass 2
  expect_error 2 '--procs 2x4: himeno-gpu cuts 3 dimensions' --model "$top_srcdir/tests/golden/model.json" -n 8 -p 2x4
  expect_error 2 '--size 512: must be ' --model "$top_srcdir/tests/golden/model.json" -s 512
  expect_error 2 "--against .*: runs of himeno-gpu, but the model is one of gemm-gpu" --model p.json --against "$measured/study"
  sed 's/"program": "gemm-gpu"/"program": "mem-gpu"/' p.json >other.json
  expect_error 2 'program is none that is known' --model other.json
  sed 's/"type": "f32"/"type": "f31"/' p.json >other.json
  expect_error 2 'product.type is none that is known' --model other.json
}

@test "the whole report of products by a stored model, and the model in its document" {
  cp "$top_srcdir/tests/golden/product-model.json" .
  run --separate-stderr "$predict" --model product-model.json -s 512x512x512,640 -n 2,8 --per-host 4 --device-spread 1 --compute-time 0.5 --json p.json
  expect_status 0
  [ "$("$PYTHON" -c 'import json, sys; a, b = (json.load(open(path))["model"] for path in sys.argv[1:]); print([a == b, *(key for key in b if a.get(key) != b[key])])' \
    product-model.json p.json)" = "[True]" ]
  report_is <<'REPORT'
accuracy each group of runs, left out of the fit, is predicted to 6.2% (median; worst 37.5%) | intervals 87 of 97 predictions of left-out runs lie inside their 90% interval | left out by size 50 of 55, division 37 of 42; | of all staged 87 of 97 | model product-model.json
measured up to 4 ranks on 1 host, 4194300 to 8589930000 multiply-adds per rank | what if computing took 0.5 times as long, the exchange 1 times | Strong scaling of 640 by staged: at 8 ranks 606 us per product (392 ... 952),
27.0% efficiency (27.0% if the slowest device were as the others); | limited by the network between hosts; halving the message time would bring 38.5% (extrapolated) | Weak scaling of 640 by staged: at 8 ranks 1.98 ms per product (1.45 ... 2.77),
66.3% efficiency (67.2% if the slowest device were as the others); | limited by computing; halving the message time would bring 67.8% (extrapolated) | Strong scaling by staged, us per product | size ranks divided measured model (90%) GFLOPS eff. ideal links x2 longest
512 2 1x2 - 404.45 (393.7-415.5) 663.7 82.9% 82.9% +1.1% interior | 512 8 2x4 - 367.77 (263.8-516.2) 729.9 22.8% 22.8% +89.2% latency *ab | 640 2 1x2 - 786.56 (576.2-1074) 666.6 83.3% 83.3% +1.0% interior | 640 8 2x4 - 606.12 (392-951.8) 865.0 27.0% 27.0% +42.5% latency *ab
Weak scaling by staged, us per product | size ranks divided measured model (90%) GFLOPS eff. ideal links x2 longest | 512 2 1x2 - 796.38 (775.6-817.7) 674.1 84.3% 84.3% +0.6% interior | 512 8 1x8 - 992.53 (844.5-1376) 2163.6 67.6% 67.7% +18.5% latency *ab
640 2 1x2 - 1552.04 (1137-2118) 675.6 84.4% 84.4% +0.5% interior | 640 8 1x8 - 1975.77 (1447-2767) 2122.9 66.3% 67.2% +2.3% interior *ab | GFLOPS, eff. (efficiency): of the measured time where there is one | ideal: efficiency by the model if all devices are alike
(90%): interval that holds 90% of runs; longest: part of the time; latency, bandwidth: of exchange | links x2: how much faster if latency and time per byte between ranks were half of what they are | *a extrapolated: more ranks than any run | *b extrapolated: more hosts than any run
Where strong scaling ends | 512 by staged efficiency is 50% or more up to 4 ranks; a product is shortest on 4 (257.37 us) | 640 by staged efficiency is 50% or more up to 4 ranks; a product is shortest on 4 (530.87 us)
Model: seconds per product = interior + exchange that does not overlap + reduction | V: multiply-adds of the rank; +-: standard error; exchange and synchronisation: per exchange | interior = 1.766 us per launch (+- 0.64) | + 9.972 ps x V (+- 0.025)
+ 150 ps per element of C where k is in parts (+- 20) | reduction = 0.1893 us x log2(ranks) (+- 0.22) | exchange by staged = 0.2516 us per message (+- 0.36) | + 0.8829 x latency of the path (+- 0.043) | + 0.8467 x bytes of the rank / bandwidth of the path (+- 0.065)
+ 0.02195 x bytes of its host's ranks / bandwidth of the path (+- 0.027) | C is made in rounds of 4 tiles of 32x64 | a hidden second of an exchange that a host attends costs 0.0625 s | path by staged within a host: 22.00 us + bytes / 4.6 GB/s, through shared memory
path by staged between hosts: 50.00 us + bytes / 3 GB/s, through shared memory | each of 2 ranks on one memory takes 1.17 times as long per point | typical error of the fitted time of a run: 1.0%; staged 1.0%
REPORT
  [[ $("$predict" --model product-model.json -n 2) == *"Strong scaling of 256 by staged"* ]]
}

@test "products without --distributed or of another type are left out; runs of two programs are no study" {
  products_made
  "$top_builddir/gemm-gpu" -b cpu -k simd -s 64 -t 0.02 --json study/own.json >/dev/null
  sed 's/"type": "f32"/"type": "bf16"/' study/strong-512-2x2.json >study/half.json
  cp study/strong-512-2x2.json study/copy.json
  run "$predict" --study study --comm paths.json -s 512 -n 4 --json p.json
  expect_status 0
  [[ $output == *"    study/half.json: kernel simd, backend cpu, type bf16, "* ]]
  [[ $(json p.json '[l["why"] for l in d["config"]["left_out"] if l["as"] == "no run"]') == *"without --distributed"* ]]
  [[ $output == *"    study/strong-512-2x2.json: the same run as study/copy.json"* ]]
  cp "$measured/study/S-1.json" study/sweep.json
  expect_error 2 'a study is of one program' --study study --comm paths.json
  rm study/sweep.json
  for change in 's/"panel": [0-9]*/"panel": 0/' 's/"type": "f32"/"type": "f31"/'; do
    sed "$change" study/strong-512-2x2.json >study/half.json
    expect_error 2 'study/half.json: not as its schema says' --study study --comm paths.json
  done
}

@test "products on two H200 are predicted from tiles in rounds: half by p2p within 4%, by staged within 5%" {
  local stored=$top_srcdir/doc/results/h200-x2-products-2026-11
  run --separate-stderr "$predict" --study "$stored/runs.jsonl" --comm "$stored/paths.json" -k warptile -s 3072,6144,12288 -n 2 -p 1x2 \
    --scaling strong --per-host 2 --against "$stored/more.jsonl" --json h200.json
  expect_status 0
  report_is <<'REPORT'
...
Model: seconds per product = interior + exchange that does not overlap + reduction | V: multiply-adds of the rank; +-: standard error; exchange and synchronisation: per exchange | interior = 33.02 us per launch (+- 2.9) | + 0.03576 ps x V (+- 9.5e-05)
+ 3.585 ps per element of C where k is in parts (+- 1.4) | reduction = 0.05422 us x log2(ranks) (+- 0.11) | exchange by p2p = 1 x latency of the path (fixed) | + 1 x bytes of the rank / bandwidth of the path (+- 0.61)
+ 2.697 us to launch what computes and sends halos (+- 2.9) | exchange by staged = 8.942 us per message (+- 3.5) | + 0.7795 x latency of the path (+- 0.38) | + 0.3307 x bytes of the rank / bandwidth of the path (+- 0.11)
+ 0.2744 x bytes of its host's ranks / bandwidth of the path (+- 0.062) | C is made in rounds of 132 tiles of 128x256 | a hidden second of an exchange that a host attends costs 0.128 s
path by p2p within a host: 2.70 us + bytes / 315 GB/s | path by staged within a host: 19.29 us + bytes / 34 GB/s, through shared memory | typical error of the fitted time of a run: 1.0%; p2p 0.5%, staged 1.7%
...
size 4096 4096 strong 2 2x1 p2p 1330.26 1329.19 -0.1% | ... and 19 more: --json has them all | 27 of 39 predicted, median error 1.0%, worst 6.0%
Compared with measured runs (--against) | group size scaling ranks divided transport measured us predicted us error
1 rank 12288 strong 1 1x1 - 66736.70 66586.60 -0.2% | 1 rank 3072 strong 1 1x1 - 1177.65 1241.67 +5.4% | 1 rank 6144 strong 1 1x1 - 8591.20 8585.66 -0.1% | 2 ranks 12288 strong 2 1x2 p2p 33599.58 33392.42 -0.6%
2 ranks 12288 strong 2 2x1 p2p 33621.57 33392.42 -0.7% | 2 ranks 12288 strong 2 1x2 staged 35427.59 34395.61 -2.9% | 2 ranks 12288 strong 2 2x1 staged 35377.70 34395.61 -2.8% | 2 ranks 3072 strong 2 1x2 p2p 678.77 729.32 +7.4%
2 ranks 3072 strong 2 2x1 p2p 678.44 729.32 +7.5% | 2 ranks 3072 strong 2 1x2 staged 985.77 923.92 -6.3% | 2 ranks 3072 strong 2 2x1 staged 1028.01 923.92 -10.1% | 2 ranks 6144 strong 2 1x2 p2p 4618.50 4588.56 -0.6%
2 ranks 6144 strong 2 2x1 p2p 4609.49 4588.56 -0.5% | 2 ranks 6144 strong 2 1x2 staged 5353.98 4840.88 -9.6% outside its interval | 2 ranks 6144 strong 2 2x1 staged 4870.56 4840.88 -0.6% | 15 of 15 predicted, median error 2.8%, worst 10.1%
REPORT
  follows_schema h200.json
  sed 's/"multiprocessors": 132/"multiprocessors": 0/' h200.json >other.json
  expect_error 2 'multiprocessors is 0: must be whole numbers from 1 ' --model other.json -s 3072
}

@test "products over four H200 are predicted from one and two: half by p2p within 4%, by staged within 6%, with the host's share from both directions" {
  local stored=$top_srcdir/doc/results/h200-x4-products-2026-11
  products() { "$predict" --study "$stored/runs.jsonl" --comm "$1" -k warptile --fit-ranks 2 -n 4 -s 4096 -p 2x2 --per-host 4 --against "$stored/runs.jsonl" --json four.json >/dev/null; }
  errors() { json four.json "(lambda e: ($2))(sorted(abs(q['error']) for q in d['against']['pairs'] if q['ranks'] == 4 and q['transport'] == '$1'))"; }
  products "$stored/paths.json"
  [ "$(errors p2p 'len(e), e[3] < 0.04')" = "(7, True)" ]
  [ "$(errors staged 'len(e), e[6] < 0.06, e[11] < 0.15')" = "(13, True, True)" ]
  # Without pairs measured in one direction, only the prior is left.
  "$PYTHON" - "$stored/paths.json" <<'END' >both.json
import json, sys
d = json.load(open(sys.argv[1]))
d["pairs"] = [p for p in d["pairs"] if p["direction"] == "both"]
print(json.dumps(d))
END
  products both.json
  [ "$(errors staged 'e[6] > 0.15')" = True ]
}
