# SPDX-License-Identifier: MIT
# Scripts that process the figures of a study with the virtual clock. Rank 1 is slower by a quarter.
load clock

setup_file() {
  [ -n "$MPIRUN" ] && [ "${SANITIZERS:-no}" = no ] || return 0
  export CLOCK_MACHINE="sweep=10 sweep@1=12.5 ceiling=7 pack=0.5 unpack=0.25 copy=1000 in=0.25 out=0.125 latency=2000 link=3 reduce=5000 barrier=4000"
  "$top_srcdir/scripts/scaling" run "$BATS_FILE_TMPDIR/study" --program "$top_builddir/tests/clock/himeno-gpu" --launcher "$MPIRUN -np {ranks}" \
    --options "-b null --block 10 --no-overlap" --kernels reference --sizes XS --ranks 1,2 --procs 2x1x1 --repeat 1 --seconds 0.012 --no-paths >/dev/null
  "$top_srcdir/scripts/scaling" run "$BATS_FILE_TMPDIR/ways" --program "$top_builddir/tests/clock/himeno-gpu" --launcher "$MPIRUN -np {ranks}" \
    --options "-b null --block 10" --kernels reference --sizes XS --ranks 2 --procs 2x1x1 --scaling strong --repeat 1 --seconds 0.012 --no-paths \
    --transports pageable-no-overlap,staged,nccl,p2p >/dev/null 2>&1 || true
}

setup() {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  without_sanitizers "scripts are the same without sanitizers"
  cd "$BATS_FILE_TMPDIR"
}

@test "strong and weak scaling: times, rates, efficiency and share, in the study's rows, its table and its plot" {
  "$PYTHON" -B - "$top_srcdir/scripts" <<'PY' >d.json
import csv, json, sys
sys.path[:0] = [f"{sys.argv[1]}/{folder}" for folder in ("reporting", "studying", "plotting", "shared")]
import content, scaling
study = content.Study("study", [])
points = scaling.read([("", document) for document in study.documents])
head, table = content.measurements(study)
lines = {mode: scaling.of_series(points, scaling.MEASURED, mode, next(key for key in scaling.names(points) if key[2] == "staged-no-overlap")) for mode in ("strong", "weak")}
json.dump({"rows": sorted(([row["scaling"], int(row["ranks"]), float(row["seconds_a_sweep"]), float(row["gflops"]), float(row["ceiling_share"])]
                           for row in csv.DictReader(open("study/study.csv"))), key=str),
           "table": [[row[head.index(name)] for name in ("scaling", "ranks", "µs per sweep", "GFLOPS", "efficiency", "% of ceiling")] for row in table],
           "plot": {mode: {str(ranks): share for ranks, share in scaling.efficiencies(line, mode).items()} for mode, line in lines.items()}}, sys.stdout)
PY
  figures <<'FIGURES'
d.rows = [["strong", 1, 558e-6, 3.4, 0.7], ["strong", 2, 363.4529e-6, 5.219933586993, 0.537346104543], ["weak", 2, 712.2029e-6, 5.327695239657, 0.548439215847]]
d.table = [["–", 1, "558.00", "3.4000", "100.0%", "70.0%"], ["strong", 2, "363.45", "5.2199", "76.8%", "53.7%"], ["weak", 2, "712.20", "5.3277", "78.3%", "54.8%"]]
d.plot = {"strong": {"1": 1.0, "2": 0.767637292204}, "weak": {"1": 1.0, "2": 0.783484594067}}
FIGURES
}

@test "transports compared: computing and communication, with overlap and without, and why one has not run" {
  "$PYTHON" -B - "$top_srcdir/scripts" <<'PY' >d.json
import json, sys
sys.path[:0] = [f"{sys.argv[1]}/{folder}" for folder in ("studying", "plotting", "shared")]
import transports
json.dump(transports.table({**transports.read(["ways"]), "report": transports.REPORT}), sys.stdout)
PY
  figures <<'FIGURES'
[(row.transport, row["us per sweep"], row["computing us"], row["communication us"], row.share, row.GFLOPS, row["of p2p"]) for row in d] = [("2009, four PCs by MPI", "44000", "43000", "1000", "0.0227", "25.5", ""), ("2009, four GPUs, predicted (over 2 ms)", "6600", "4300", "2300", "0.3485", "170", ""), ("pageable-no-overlap", "363.453", "348.75", "14.7", "0.0405", "5.2199", "0.9612"), ("staged", "361.021", "348.75", "12.27", "0.0340", "5.2551", "0.9677"), ("nccl", "", "", "", "", "", ""), ("p2p", "349.351", "348.75", "0.601", "0.0017", "5.4306", "1.0000")]
[row["moved by"] for row in d] = ["", "", "pageable", "staged, MPI", "", "p2p"]
[row["not run because"][:28] for row in d if row["not run because"]] = ["himeno-gpu: --transport nccl"]
FIGURES
}
