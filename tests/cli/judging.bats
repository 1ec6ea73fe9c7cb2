# SPDX-License-Identifier: MIT
# What scripts make of figures and outcomes, function by function: whom they accuse, what they accept, which way is slower.
load ../helper

setup() { cd "$BATS_TEST_TMPDIR"; }

# piece FOLDER <<PY: Python with that folder's modules.
piece() {
  { printf 'import sys\nsys.path[:0] = [f"%s/scripts/{folder}" for folder in ("%s", "shared", "")]\n' "$top_srcdir" "${1// /\", \"}" && cat; } >piece.py
  run "$PYTHON" -B piece.py
  expect_status 0
}

# A run of scripts/accept without hosts: what is found is kept, what is launched is made up.
a_run='
class Options:
    names, folder, soak, slice, limit, seconds, per_host, options, gemm_options, size = ["a", "b", "c", "d"], ".", 100, 25, 5, 1, 1, [], [], "XS"
    policy, ignored, prometheus, level, block, timeout, backend = "default", [], None, None, None, None, ""
    devices, listed, are_gpus, asked = dict.fromkeys(names, per_host), {}, False, False
class Run:
    def __init__(self, outcomes=None, documents=None):
        self.a, self.findings, self.left_out, self.begin, self.outcomes, self.documents, self.launched = Options(), [], [], 0, outcomes or {}, documents or {}, []
        self.tested, self.notes, self.done, self.unverified_passes = self.a.names, [], {}, False
    def has(self, program):
        return program != "comm-gpu"
    def path(self, name, kind):
        return f"{name}.{kind}"
    def document(self, name):
        return self.documents.get(name)
    def together(self, what, jobs, width=None):
        self.launched += [name for name, _, _ in jobs]
        return {name: {"name": name, "outcome": "pass", "why": "", "seconds": 1, "command": name, "hosts": hosts,
                       "ranks": [job.get("per_host") or self.a.devices[host] for host in hosts], **self.outcomes.get(name, {})}
                for name, hosts, job in jobs}
    def find(self, kind, on, why, step, device=None, checks=None):
        self.findings.append({"kind": kind, "hosts": on, "device": device, "why": why, "checks": checks or [kind], "command": "", "step": ""})
    def found(self):
        return sorted((one["kind"], *one["hosts"]) for one in self.findings)
'

@test "lists of hosts keep their zeros" {
  piece accepting <<'PY'
import hosts
for names, folded in ((["n01", "n02", "n03", "m1"], "m1,n[01-03]"), (["n09"], "n09"), (["n1", "n3", "n04"], "n04,n[1,3]"), (["n08", "n09", "n10", "n12"], "n[08-10,12]")):
    assert hosts.fold(names) == folded, (names, hosts.fold(names))
    assert sorted(hosts.expand(folded)) == sorted(names)
PY
}

@test "a soak says what its clean slices exclude together, and which work was hardest" {
  piece accepting <<PY
$a_run
import contextlib, io, soaking
soaking.stages.alone = lambda run, names: names
soaking.after_failure = lambda run, step, names: names[1:]
def told(outcomes, documents):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        soaking.soak(Run(outcomes, documents))
    return text.getvalue()
documents = {f"soak-{n:04d}-{kind}": made(days, share) for n, (kind, days, share) in enumerate(
    (("memory", 1, 0.7), ("compute", 2, 0.93), ("memory", 1, 0.6), ("compute", 4, 0.89)))
    for made in [{"memory": lambda days, share: {"result": {"soak": {"device_days": days, "power_share": share}}},
                  "compute": lambda days, share: {"worth": {"device_days": days, "power_share": share}}}[kind]]}
assert "fewer than 374 wrong blocks per 1000 device-days, from 8 device-days" in (all_four := told({}, documents)), all_four
assert "load: 0.91 of the power limit by compute\n" in all_four, all_four
documents["soak-0003-compute"]["worth"]["power_share"] = 0.79
assert "load: 0.86 of the power limit by compute: NOT STRESSED" in told({}, documents)
documents["soak-0003-compute"]["worth"]["power_share"] = None
assert "load: 0.65 of the power limit by memory: NOT STRESSED" in told({}, documents)
del documents["soak-0003-compute"]["worth"]
assert "from 4 device-days" in told({}, documents)
documents["soak-0003-compute"]["worth"] = {"device_days": 4, "power_share": None}
wrong = told({"soak-0001-compute": {"outcome": "wrong", "seconds": 25}}, documents)
assert "from 6 device-days" in wrong, wrong
# A clean slice of memory, with an episode and counted errors: said, and no finding. A host has the name that the launcher got.
documents["soak-0002-memory"].update(episodes=[{"rank": 1, "of": "compute", "slowness": 1.25, "begin": 20, "end": 35.04}], ranks=[
    {"host": "n1", "uuid": "GPU-0", "counted": {"xids": 0, "pcie_replays": None}}, {"host": "n2", "uuid": "", "counted": {"xids": 1, "nvlink_crc": 7}}])
lines = [line for line in told({}, documents).splitlines() if line.startswith("  soak-")]
assert lines == ["  soak-0002-memory: SLOW ONCE  rank 1 on b, device without a UUID: compute was 1.25 times its usual from second 20.0 to 35.0",
                 "  soak-0002-memory: ERRORS     rank 1 on b, device without a UUID: xids 1, nvlink_crc 7"], lines
run = Run()
assert soaking.hotter(run, 600) == ["--block", "1", "--beta", "1"] and soaking.hotter(run, 5) == ["--block", "0.25", "--beta", "1"]
run.a.gemm_options = ["--block=2", "--beta", "0"]
assert soaking.hotter(run, 600) == []
PY
}

@test "brackets of any number are counted as Slurm counts them, and lists without end are refused" {
  piece accepting <<'PY'
import hosts
for text, names in (("rack[1-2]n[1-2]", "rack1n1 rack1n2 rack2n1 rack2n2"), ("a[08-10]b,c", "a08b a09b a10b c"), ("[1,3]x[2-3]y", "1x2y 1x3y 3x2y 3x3y"), ("", "")):
    assert hosts.expand(text) == names.split(), (text, hosts.expand(text))
for text in ("n[1-9999]m[1-9999]", "n[1-200000]", "n[1-60000],m[1-60000]", "n[]", "n[1,]", "n[1-2", "n]", "n[[1]]", "n[2-1]m[1]", "n[1]/..", "-[1-2]"):
    try:
        raise AssertionError((text, hosts.expand(text)[:3]))
    except hosts.BadInput:
        pass
PY
}

@test "a device that the ranks of a host share is tried once, and each of several" {
  piece accepting <<PY
import stages
$a_run
for uuids, steps in ((("x", "x"), []), (("x", "y"), ["device-a-0", "device-a-1"]), (("", ""), ["device-a-0", "device-a-1"]), ((), ["device-a-0", "device-a-1"])):
    run = Run(documents={"alone-a": {"ranks": [{"uuid": uuid} for uuid in uuids]}})
    run.a.devices = dict.fromkeys(run.a.names, 2)
    run.find("slow", ["a"], "", {})
    stages.devices(run, run.a.names)
    assert run.launched == steps, (uuids, run.launched)
PY
}

@test "waiting for a late neighbour is no exchange, and the slowest rank counts" {
  piece accepting <<'PY'
import stages
phases = ("interior", "boundary", "pack", "d2h", "wait", "transfer", "h2d", "unpack", "reduce", "exposed")
ranks = [{"phases": {name: scale * 2**place for place, name in enumerate(phases)}} for scale in (1, 3, 2)]
assert stages.exchange_of({"ranks": ranks, "result": {"samples": [1, 1, 1]}}) == 3 * (4 + 8 + 32 + 64 + 128)
assert stages.exchange_of({"ranks": ranks, "result": {"samples": [1, 1, 4]}}) == 3 * (4 + 8 + 32 + 64 + 128) / 2
assert stages.exchange_of(None) is None
PY
}

@test "a pair is tried again alone, a host is accused by all of its partners, else the way between two is" {
  piece accepting <<PY
import stages
$a_run
def document(seconds):
    return {"ranks": [{"phases": {"pack": 0, "d2h": 0, "transfer": seconds, "h2d": 0, "unpack": 0}}], "result": {"samples": [1, 1, 1]}}
run = Run(documents={"again-a-b": document(9), "again-a-c": document(1), "again-a-d": document(2)})
kept = stages.again_alone(run, [("a", "b"), ("a", "c"), ("a", "d")], 2)
assert list(kept) == [("a", "b")] and kept["a", "b"][0] == 9, kept
met = {"a": 2, "b": 2, "c": 2, "d": 2}
step = {"command": "", "name": ""}
run = Run()
assert stages.accuse(run, {("a", "b"): (9, step)}, 2, met) == set()
assert run.found() == [("path", "a", "b")]
run = Run()
assert stages.accuse(run, {("a", "b"): (9, step), ("a", "c"): (9, step)}, 2, met) == {"a"}
assert run.found() == [("slow", "a")]
run = Run()
assert stages.accuse(run, {("a", "b"): (9, step), ("a", "c"): (9, step)}, 2, {**met, "a": 3}) == set()
assert run.found() == [("path", "a", "b"), ("path", "a", "c")]
PY
}

@test "a device that is a twentieth slower at products than its equals is slow, and one within their spread is not" {
  piece accepting <<PY
import stages
$a_run
steps = {name: {"command": "", "name": name} for name in "abcde"}
def documents(starved, samples=(1, 1, 1)):
    return {name: {"ranks": [{"starved": None}, {}, {"starved": starved}], "result": {"samples": list(samples)}} for name in "abcde"}
for rates, slow in (((100, 100, 100.1, 99.9, 94), {"e"}), ((100, 100, 100.1, 99.9, 96), set()), ((100, 110, 120, 90, 80), set()), ((100, 101, 80), set())):
    assert stages.slow_at_products(Run(documents=documents(0.05)), {(name, "gpu"): rate for name, rate in zip("abcde", rates)}, steps) == slow, rates
for kind, why, document in (("slow", "limit 95.0", documents(0.05)), ("noisy", "a rank waited 6.0% for a core", documents(0.06)),
                            ("noisy", "too few blocks to judge", documents(0, [1, 1])), ("noisy", "its blocks vary by up to 75.6%", documents(0, [1, 1.1, 0.9]))):
    run = Run(documents=document)
    assert stages.slow_at_products(run, {(name, "gpu"): rate for name, rate in zip("abcde", (100, 100, 100, 100, 94))}, steps) == {"e"}
    assert run.found() == [(kind, "e")] and run.findings[0]["why"].endswith(why), run.findings
PY
}

@test "a larger job accuses devices that compute slowly, and leaves ways to the pairs" {
  piece accepting <<PY
import stages
$a_run
run = Run()
# Ranks tell hosts, whatever name a host has for itself.
slow = [{"rank": rank, "of": of, "host": "b", "words": "", "uuid": uuid} for rank, of, uuid in ((1, "compute", "x"), (3, "exchange", "y"))]
assert stages.stragglers(run, {"hosts": ["c", "a", "b"], "ranks": [1, 2, 1]}, {"stragglers": slow}) == {"a"}
assert run.found() == [("slow", "a")] and run.findings[0]["device"] == "x"
PY
}

@test "a step passes that ended by itself with a document that passes" {
  piece accepting <<'PY'
import steps
open("log", "w").close()
def judged(code, verdict="pass", **more):
    return steps.judge(code, {"result": {"verdict": verdict}, **more}, "log")[0]
assert judged(0) == "pass" and judged(5, "slow") == "slow" and judged(4, "wrong") == "wrong"
assert judged(0, partial=True) == "partial" and judged(5, partial=True) == "partial" and judged(1) == "fault"
assert steps.judge(0, None, "log")[0] == "not started" and steps.judge(steps.STOPPED, None, "log")[0] == "hang"
PY
}

@test "why a step did not start: the program's last error, else how a launcher's framed message begins, else the last line" {
  piece shared <<'PY'
import processes
rule = "-" * 74
def said(*lines):
    with open("log", "w") as log:
        log.write("\n".join(("$ mpirun true", *lines)) + "\n")
    return processes.last_words("log")
framed = rule, "mpirun has found", "too few slots. Ask for fewer.", "", "Or name more hosts.", rule
assert said(*framed) == "mpirun has found too few slots."
assert said("himeno-gpu: warning: a", "himeno-gpu: no such device", *framed) == "himeno-gpu: no such device"
assert said("one", "two", rule) == "two" and said(*framed, "bash: line 1", "bash: gone") == "bash: gone"
PY
}

@test "the verdict: the gravest finding is the exit status, evidence against one host drains it, the rest runs again, and what was left out is not accepted" {
  piece "accepting reporting" <<PY
import json, report
$a_run
def told(*findings, left_out=()):
    run = Run()
    for kind, *on in findings:
        run.find(kind, on, "why", {})
    run.left_out = list(left_out)
    run.done = {"one": {"hosts": run.a.names, "command": ""}}
    run.documents = {"one": {"result": {"accept": {"policy": "default", "checks": [{"check": "ECC on", "outcome": "pass", "margin": None,
        "value": 1, "limit": 1, "unit": "", "at_most": False}]}}}}
    code = report.write(run)
    document = json.load(open("accept.json"))
    return code, document["accepted"], sorted(document["drain"]), sorted(document["run_again"])
assert told() == (0, True, [], [])
assert told(left_out=["pair-a-b"]) == (5, False, [], [])
assert told(("slow", "a"), ("wrong", "b"), ("environment", "c")) == (4, False, ["a", "b"], ["c"])
assert told(("hang", "a"), ("wrong", "b"), ("fault", "c")) == (7, False, ["b"], ["a", "c"])
assert told(("slow", "a"), ("environment", "c")) == (3, False, ["a"], ["c"])
assert told(("lost", "a"), ("device hang", "b"), ("hang", "b")) == (6, False, ["a", "b"], [])
assert told(("path", "a", "b")) == (5, False, [], []) and told(("suspect", "a")) == (5, False, [], [])
assert told(("path", "a"), ("usage", "b"), ("hang", "c", "d")) == (6, False, [], ["b", "c", "d"])
PY
}

@test "what every host fails of those that could be told is no host's fault; what one passes, or one alone fails, is" {
  piece accepting <<PY
import stages
$a_run
def shared(failed, passed=(), others=()):
    """Hosts with the checks that they fail, the documents of those that pass, and findings that tell nothing of a check."""
    run = Run(documents={name: {"result": {"accept": {"checks": [{"check": check, "outcome": "pass"}]}}} for name, check in passed})
    run.done = {name: {"hosts": [name]} for name, _ in passed}
    for name, checks in failed.items():
        run.find("slow", [name], "", {}, checks=checks)
    for kind, name in others:
        run.find(kind, [name], "", {})
    return stages.shared_checks(run)
x, xy = ["x"], ["x", "y"]
assert shared({"a": x, "b": xy, "c": x, "d": x}) == {"x"}
assert shared({"a": x, "b": x, "c": x}) == set() and shared({"a": x, "b": x}, others=[("not started", "c"), ("noisy", "d")]) == {"x"}
assert shared({"a": x}, others=[("not started", "b"), ("not started", "c"), ("not started", "d")]) == set()
assert shared({"a": x, "b": x, "c": x, "d": x}, [("b", "x")]) == {"x"} and shared({"a": x, "b": x}, [("c", "x")]) == set()
assert shared({}, others=[("wrong", "a"), ("wrong", "b"), ("wrong", "c"), ("wrong", "d")]) == {"wrong"}
assert shared({}, others=[("wrong", "a"), ("hang", "b"), ("wrong", "c"), ("wrong", "d")]) == set()
one = {"hosts": ["a"], "checks": xy}
assert stages.is_set_up(one, {"x", "y"}) and not stages.is_set_up(one, {"x"})
PY
}

@test "outliers lie on the bad side, beyond five deviations and the least that counts, among four hosts at least" {
  piece accepting <<PY
import measured
keys = [column[0] for column in measured.COLUMNS]
def marked(key, *values):
    rows = [{**dict.fromkeys(keys), "host": str(place), key: value} for place, value in enumerate(values)]
    return [int(row["host"]) for row in measured.outliers(rows) if row["outliers"] == [key]]
assert marked("gflops", 100, 100, 100, 96.9) == [3] and marked("gflops", 100, 100, 100, 97.1) == [] and marked("gflops", 100, 100, 100, 110) == []
assert marked("gflops", 100, 100, 97) == [] and marked("gflops", 100, 100, None, 90) == []
assert marked("gflops", 100, 101, 99, 102, 98, 92) == [] and marked("gflops", 100, 101, 99, 102, 98, 85) == [5]
assert marked("exchange_seconds", 1, 1, 1, 1.26) == [3] and marked("exchange_seconds", 1, 1, 1, 1.24, 0.5) == []
assert marked("celsius", 50, 50, 50, 59) == [3] and marked("celsius", 50, 50, 50, 57, 30) == []
assert marked("watts", 300, 300, 300, 300, 335, 265) == [4, 5] and marked("errors", 0, 0, 0, 1) == [3] and marked("sm_mhz", 1980, 1980, 1980, 1900) == [3]
PY
}

@test "a row has the least of the devices' values, and the most of the telemetry" {
  piece accepting <<'PY'
import measured
ranks = [{"gflops": 3, "ceiling_share": 0.9, "theory": {"share": 0.8}}, {"gflops": 2, "ceiling_share": 0.95, "theory": {"share": None}}, {"gflops": 4, "theory": None}]
row = measured.row_of("n", {"ranks": ranks, "result": {"ceiling_share": 0.5, "energy": {"gflops_per_watt": 7}}},
                      [{"celsius": [40, 60], "watts": [1, 9], "sm_mhz": [5, 8]}, {"celsius": [30, 50], "watts": [2, 3], "sm_mhz": [6, 6]}], [3, None, 1], [None, 2, 4])
told = {key: row[key] for key in ("gflops", "ceiling_share", "theory_share", "gflops_per_watt", "celsius", "watts", "sm_mhz", "errors", "pair_seconds")}
assert list(told.values()) == [2, 0.9, 0.8, 7, 60, 9, 5, 3, 3], told
empty = measured.row_of("n", {}, [], [], [])
assert {empty[key] for key in empty if key != "host"} == {None}, empty
PY
}

@test "shares of theory and GFLOPS/W stand in the table, accept.json and the page, each by its host, and low ones are marked" {
  piece "accepting reporting" <<PY
$a_run
import contextlib, html, io, json, re, report
def made(name, theory, efficiency):
    ranks = [{"rank": rank, "gflops": 2500, "ceiling_share": 0.95, "host": name, "theory": share}
             for rank, share in enumerate(({"share": theory + 0.03}, {"share": theory}, None))]
    return {"ranks": ranks, "result": {"energy": {"gflops_per_watt": efficiency, "joules_a_sweep": 3}}}
told = {"a": (0.90, 9.6), "b": (0.89, 9.5), "c": (0.70, 9.4), "d": (0.91, 7.25)}
def accepted(told):
    run = Run(documents={f"alone-{name}": made(name, *values) if values else {"ranks": [{"rank": 0, "gflops": 2500}]} for name, values in told.items()})
    run.done = {f"alone-{name}": {"hosts": [name], "ranks": [3], "command": "", "outcome": "pass", "seconds": 1} for name in told}
    with contextlib.redirect_stdout(io.StringIO()) as text:
        report.write(run)
    return text.getvalue(), json.load(open("accept.json"))["measured"], open("accept.html", encoding="utf-8").read()
text, rows, page = accepted(told)
assert [(row["host"], row["theory_share"], row["gflops_per_watt"], row["outliers"]) for row in rows] == \\
    [("a", 0.90, 9.6, []), ("b", 0.89, 9.5, []), ("c", 0.70, 9.4, ["theory_share"]), ("d", 0.91, 7.25, ["gflops_per_watt"])], rows
lines = [re.split("  +", line.strip()) for line in text.splitlines()]
at = next(place for place, line in enumerate(lines) if line[:2] == ["host", "GFLOPS"])
columns = [lines[at].index(head) for head in ("of theory", "GFLOPS/W")]
assert [[line[column] for column in columns] for line in lines[at + 1:at + 5]] == \\
    [["90.0%", "9.60"], ["89.0%", "9.50"], ["70.0%*", "9.40"], ["91.0%", "7.25*"]], text
table = [re.findall("<t[hd]([^>]*)>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*?)</tr>", page, re.S)]
table = [[(html.unescape(cell), "mark" in of) for of, cell in row] for row in table]
at = next(place for place, row in enumerate(table) if ("of theory", False) in row)
columns = [table[at].index((head, False)) for head in ("of theory", "GFLOPS/W")]
assert [[row[column] for column in columns] for row in table[at + 1:at + 5]] == \\
    [[("90.0%", False), ("9.60", False)], [("89.0%", False), ("9.50", False)], [("70.0%", True), ("9.40", False)], [("91.0%", False), ("7.25", True)]], table
assert sum(marked for row in table for _, marked in row) == 2
# What no host tells has no column there, and is null.
text, rows, page = accepted(dict.fromkeys(told))
assert {(row["theory_share"], row["gflops_per_watt"]) for row in rows} == {(None, None)}, rows
assert "of theory" not in text + page.split("</style>")[1] and "GFLOPS/W  " not in text, text
PY
}

@test "metrics escape what their format does, and leave out what nothing told" {
  piece "accepting reporting" <<PY
import published
row = {"theory_share": None, "gflops_per_watt": 50, "host": 'a"\\\\b', "gflops": 2, "ceiling_share": None, "exchange_seconds": None, "pair_seconds": None, "celsius": None, "watts": None, "sm_mhz": None,
       "errors": 0, "outliers": [], "verdict": "pass"}
text = published.prometheus({"measured": [row], "accepted": True, "seconds": 1.5, "drain": {}}, 7)
assert 'himeno_accept_host_flops_per_second{host="a\\\\"\\\\\\\\b"} 2000000000' in text, text
assert 'flops_per_joule{host' in text and "} 50000000000" in text and "celsius" not in text and "duration_seconds 1.5\n" in text and 'errors{host' in text and "accepted 1\n" in text, text
PY
}

@test "a soak goes on for the time that a slice did not have" {
  piece accepting <<PY
import soaking
$a_run
soaking.stages.alone = lambda run, names: names
soaking.after_failure = lambda run, step, names: [name for name in names if name != "a"]
run = Run()
soaking.soak(run)
assert run.launched == ["soak-0000-memory", "soak-0001-compute", "soak-0002-memory", "soak-0003-compute"], run.launched
run = Run({"soak-0001-compute": {"outcome": "wrong", "seconds": 1}})
soaking.soak(run)
assert len(run.launched) == 5, run.launched
# Products of a slice share its time: of each kernel a third at first, then what the slice before has told; what it did not need is soaked later.
for libraries, kept, seconds in (([], 4, [25, 8 + 1 / 3, 25, 25, 16 + 2 / 3]), ([{"samples": [1]}, {"samples": []}], 4, [25, 8 + 1 / 3, 25, 12.5, 8 + 1 / 3])):
    class Timed(Run):
        def together(self, what, jobs, width=None):
            given.extend(float(keywords["options"][keywords["options"].index(option) + 1].rstrip("s"))
                         for _, _, keywords in jobs for option in ("-t", "--soak") if option in keywords["options"])
            return super().together(what, jobs, width)
    given = []
    soaking.soak(Timed(documents={f"soak-{n:04d}-compute": {"yardsticks": libraries} for n in (1, 3, 5)}))
    assert [round(one, 3) for one in given] == [round(one, 3) for one in seconds], (libraries, given)
PY
}

@test "a study is compared point by point: noise of both, the number of points, which way, and the exit status" {
  piece studying <<'PY'
import compare, contextlib, io
def rows(*groups):
    return [{"scaling": "strong", "size": size, "ranks": 1, "kernel": "stream", "transport": "none", "procs": "1x1x1", "seconds_a_sweep": time}
            for size, times in groups for time in times]
def verdicts(before, after):
    found = compare.compare(rows(*before), rows(*after), 0.005)
    with contextlib.redirect_stdout(io.StringIO()):
        code = compare.show(found, 0.005)
    return [entry["verdict"] for entry in found["entries"]], code
quiet, slower, noisy = (1.0, 1.0001, 0.9999), (1.05, 1.0501, 1.0499), (0.9, 1.0, 1.1)
assert verdicts([("L", quiet)], [("L", slower)]) == (["slower"], 5)
assert verdicts([("L", slower)], [("L", quiet)]) == (["faster"], 0)
assert verdicts([("L", quiet)], [("L", quiet)]) == (["same"], 0)
assert verdicts([("L", noisy)], [("L", (1.1, 1.1001, 1.0999))]) == (["same"], 0)
assert verdicts([("L", quiet)], [("L", noisy)]) == (["same"], 0)
# What one point makes certain, twenty do not.
before, after = (1.0, 1.01, 0.99), (1.035, 1.045, 1.025)
assert verdicts([("L", before)], [("L", after)])[0] == ["slower"]
alike = [(str(n), (1.0, 1.02, 0.98)) for n in range(20)]
assert "slower" not in verdicts([("L", before), *alike], [("L", after), *alike])[0]
PY
}

@test "noise is a transport's own; what has no repeats is not judged; and the change that would be found is" {
  piece studying <<'PY'
import compare, contextlib, io, math, random
def rows(times):
    return [{"scaling": "strong", "size": str(n), "ranks": 2, "kernel": "stream", "transport": transport, "procs": "2x1x1", "seconds_a_sweep": time}
            for transport, groups in times.items() for n, group in enumerate(groups) for time in group]
def shown(before, after):
    found = compare.compare(rows(before), rows(after), 0.01)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = compare.show(found, 0.01)
    return found, out.getvalue(), code
quiet, noisy = [(1.0, 1.001, 0.999)] * 18, [(0.9, 1.0, 1.1)] * 18
slower = [tuple(1.05 * time for time in group) for group in quiet]
found, text, code = shown({"p2p": quiet, "staged": noisy}, {"p2p": slower, "staged": noisy})
assert [entry["verdict"] for entry in found["entries"]].count("slower") == 18 and code == 5, text
assert "by p2p runs vary by 0.10% and 0.10% (before and after, taken as at least 0.2%)" in text, text
assert "by staged runs vary by 10.0" in text
# Once each: a floor is no measurement.
once = [(1.0,)] * 3
found, text, code = shown({"p2p": once}, {"p2p": [(1.5,)] * 3})
assert [entry["verdict"] for entry in found["entries"]] == ["not judged"] * 3 and code == 0
assert "by p2p no configuration was repeated" in text and "3 not judged" in text
# What one study knows stands for the other.
found, text, code = shown({"p2p": quiet[:3]}, {"p2p": [(1.05,)] * 3})
assert "vary by 0.10% and unknown" in text and code == 5
# The table of Student's t, and of the power of a test: nine of ten such changes are found.
for chance, freedom, value in ((0.05, 1, 12.7062), (0.05, 2, 4.3027), (0.005, 3, 7.4533), (0.001, 5, 6.8688), (0.05, 30, 2.0423)):
    assert abs(compare.student(chance, freedom) / value - 1) < 1e-4
random.seed(1)
def compared(shift):
    def made(shift):
        return {"p2p": [tuple(math.exp(shift * (n == 0) + random.gauss(0, 0.01)) for _ in range(3)) for n in range(6)]}
    return compare.compare(rows(made(0)), rows(made(shift)), 0.01)["entries"][0]
told = sorted(compared(0)["found"] for _ in range(200))[100]
hits = sum(compared(math.log1p(told))["verdict"] == "slower" for _ in range(400))
assert 0.85 < hits / 400 < 0.95, (told, hits)
PY
}

@test "a point is finished by a right run of its own, its time is the median block's, and one rank is one point" {
  piece studying <<'PY'
import json, os, plan, store
os.mkdir("runs")
point = {"name": "one", "kind": "run", "size": "L", "ranks": 1, "scaling": "strong"}
def finished(verdict, **config):
    document = {"schema": "himeno-gpu/1", "config": {"size": "L", "weak": False, **config}, "ranks": [{}], "phases": {"interior": {"median": 1}},
                "result": {"verdict": verdict, "seconds": 1}}
    with open("runs/one.json", "w") as file:
        json.dump(document, file)
    return store.finished(".", point) is not None
assert finished("pass") and finished("slow")
assert not finished("wrong") and not finished("pass", size="M") and not finished("pass", weak=True)
def time(samples):
    return store.seconds_a_sweep({"result": {"samples": samples, "seconds": 9}, "config": {"block": 2, "sweeps": 3}})
assert (time([9, 2, 4]), time([8, 2, 4, 6]), time([])) == (2, 2.5, 3)
options = {"sizes": ["L"], "ranks": [1, 2], "kernels": ["stream"], "transports": ["staged", "p2p"], "scaling": ["strong", "weak"], "procs": ["auto"], "program": "himeno-gpu"}
assert len(plan.points_of(options)) == 1 + 4
PY
}

@test "a study that is not finished ends as its worst point did" {
  piece studying <<'PY'
import contextlib, io, launch, os, store
os.mkdir("runs")
study = {"points": [{"name": name, "kind": "run", "size": "L", "ranks": 1, "scaling": "strong"} for name in "ab"]}
def verdict():
    with contextlib.redirect_stderr(io.StringIO()):
        return launch.verdict(".", study)
assert verdict() == 3
for name, code in (("a", 4), ("b", 6)):
    store.log_add(".", {"point": name, "exit": code, "finished": False, "took": 1, "why": ""})
assert verdict() == 6
assert launch.verdict(".", {"points": []}) == 0
PY
}

@test "plots: of several cuts the fastest, efficiency by ranks in strong scaling alone, what passed, and the ceiling in operations" {
  piece "plotting studying" <<'PY'
import documents, scaling
def point(ranks, procs, seconds, mode="strong"):
    return {"kind": scaling.MEASURED, "mode": mode, "key": ("L", "stream", "staged" if ranks > 1 else None), "ranks": ranks, "procs": procs, "seconds": seconds}
points = [point(1, "1x1x1", 8), point(2, "2x1x1", 5), point(2, "1x2x1", 4), point(2, "1x1x2", 6), point(2, "2x1x1", 10, "weak"),
          {**point(2, "1x2x1", 1), "key": ("L", "temporal4", "staged")}]
strong, weak = (scaling.of_series(points, scaling.MEASURED, mode, ("L", "stream", "staged")) for mode in ("strong", "weak"))
assert [(one["procs"], one["seconds"]) for one in strong[2]] == [("1x2x1", 4)]
assert scaling.efficiencies(strong, "strong") == {1: 1, 2: 1} and scaling.efficiencies(weak, "weak") == {1: 1, 2: 0.8}
rung = {"kernel": "stream", "class": "classic", "gflops": 1, "ceiling_share": 0.9, "ceiling_gbps": 560, "verified": "known", "verdict": "pass"}
config = {"backend": "cpu", "size": "L", "ranks": 1, "data": "dense", "imax": 4, "jmax": 4, "kmax": 4, "device": "it"}
found = documents.ladder({"config": config, "rungs": [rung, {**rung, "verdict": "wrong"}], "time": "2026-01-01", "version": "1"})
assert len(found["rungs"]) == 1 and abs(found["rungs"][0]["ceiling"] - 340) < 1e-9
PY
}

@test "a report tells efficiency by ranks, repeats that differ, and runs that were compared with nothing" {
  piece "reporting studying plotting" <<'PY'
import content
def row(ranks, time, verified="known"):
    return {"scaling": "strong", "size": "L", "ranks": ranks, "kernel": "stream", "transport": "staged", "procs": "auto", "imax": 4, "jmax": 4, "kmax": 4,
            "seconds_a_sweep": time, "ceiling_share": 0.9, "gflops": 1, "verified": verified, "class": "classic"}
class Study:
    predictions, drawn, documents, products = None, [], [{"ranks": [{"uuid": ""}]}], False
    def __init__(self, *rows):
        self.rows, self.study, self.points = rows, {}, [{"kind": "run"}] * len(rows)
        self.study = {"points": self.points}
    def unfinished(self):
        return []
head, table = content.measurements(Study(row(1, 8e-6), row(2, 5e-6)))
assert [line[head.index("efficiency")] for line in table] == ["100.0%", "80.0%"], table
assert [line[head.index("(max − min) / median")] for line in table] == ["–", "–"], table
head, table = content.measurements(Study(row(1, 8e-6), row(1, 8e-6), row(2, 5e-6) | {"ceiling_share": None}))
assert [line[head.index("(max − min) / median")] for line in table] == ["0.0%", "–"] and [line[head.index("% of ceiling")] for line in table] == ["90.0%", "–"], table
def good(*rows):
    return {name: verdict for name, verdict, _ in content.verdicts(Study(*rows))}
assert good(row(1, 1.0), row(1, 1.04)) == {"complete": True, "correct": True, "repeatable": True}
assert good(row(1, 1.0), row(1, 1.06), row(2, 1.0, "no")) == {"complete": True, "correct": None, "repeatable": False}
PY
}

@test "a file is replaced whole: where there is no room the old one stays" {
  piece shared <<'PY'
import resource
from files import Trouble, write_whole
write_whole("file", "old")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_whole("file", "new" * 1000)
    raise AssertionError
except Trouble:
    pass
assert open("file").read() == "old"
PY
}

@test "a figure that misses its target is slow" {
  piece "" <<'PY'
import gpu_check_summary
assert [gpu_check_summary.figure("", value, 0.99)["verdict"] for value in (0.989, 0.99, 1)] == ["slow", "met", "met"]
assert gpu_check_summary.figure("", 1)["verdict"] is None
PY
}
