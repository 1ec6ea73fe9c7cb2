#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares whole texts and documents of scripts with tests/golden/said.jsonl."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import types

import helper  # first, because it makes other modules importable
import drift
import flow
import inventory
import launch
import listing
import plan
import report
import slurm
import stages
import store
import tools
from endings import BadInput, Trouble
from hosts import expand, fold
from test_pages import Page

NOW = 1764000000.5
# files below /sys by folder; ~ is a space
SYSFS = {
    "bus/pci/devices/0000:0a:00.0": "vendor=0x10de class=0x030200 current_link_width=16",
    "bus/pci/devices/0000:0b:00.0": "vendor=0x10de class=0x030000 current_link_width=8",
    "bus/pci/devices/0000:0c:00.0": "vendor=0x1002 class=0x120000 device=0x740f "
    "vbios_version=113-D mem_info_vram_total=68702699520",
    "bus/pci/devices/0000:0d:00.0": "vendor=0x1a03 class=0x030000",
    "class/infiniband/mlx5_0": "ports/1/rate=400~Gb/sec~(4X~NDR) ports/1/state=4:~ACTIVE "
    "ports/2/rate=100~Gb/sec ports/2/state=1:~DOWN fw_ver=28.39 device/current_link_width=16",
    "class/net/eth0": "device/current_link_width=4 speed=25000 operstate=up",
    "class/net": "lo/operstate=unknown ib0/device/infiniband/mlx5_0= ib0/operstate=up",
    "devices/system/cpu": "cpu0/topology/physical_package_id=0 cpu1/topology/x= "
    "cpu2/topology/physical_package_id=1",
    ".": "devices/system/node/node0/x= devices/system/node/node1/x= module/amdgpu/version=6.7",
}
SMI = """#!/bin/sh
case "$*" in
  *name*) echo "00000000:0A:00.0, NVIDIA H100, 81559, 96.00.30, GPU-9a, 165" ;;
  nvlink*) printf 'GPU 0: NVIDIA H100 (UUID: GPU-9a)\\n\\t Link 0: 26.562 GB/s\\n' ;;
  *ecc*) echo "00000000:0A:00.0, 3, Yes" ;;
  -i*) echo "firmware-version: 20.8.4 more" ;;
esac
"""
BODIES = {
    "sass": ".text.some:\n.L_x_1:\n%s",
    "loop": ".text.some:\n%s",
    "ptx": ".visible .entry some(\n)\n{\n$L:\n%s\n}",
    "gcn": "some:\n\t.amd_kernel_code_t\n.L:\n%s\n",
}


def read(path):
    return json.loads((helper.DOCUMENTS / path).read_text())


class Said(helper.Case):
    def run_of(self, rates, **more):
        """Return a run of four hosts with these rates and noises of their two devices."""
        run = helper.Run(documents=more)
        for host, (gflops, noise) in zip("abcd", rates):
            document = read("accept/steps/alone-n1.doc")
            ranks = json.loads(json.dumps(document["ranks"][:1] * 2))
            for at, rank in enumerate(ranks):
                rank.update(rank=at, uuid=f"GPU-{host}{at}", gflops=gflops + at, noise=noise)
                rank.update(compute_gflops=None, driver="driver 58" + host)
                rank.update(device="NVIDIA H100", ceiling_gbps=3e3, ceiling_share=0.9 + 0.01 * at)
                rank.update(host_devices_unused=2 * (host == "c"), pci=f"0000:{host}{at}:00.0")
                rank["theory"] = {"share": 0.8 - 0.1 * (host == "c")}
                telemetry = {"celsius": [40, 50 + gflops], "watts": [300, 400], "sm_mhz": [9, 8]}
                if (host, at) == ("d", 1):  # its temperature, power and clock are unknown
                    telemetry = {"celsius": None, "watts": [], "sm_mhz": None}
                rank["telemetry"] = {**telemetry, "ecc": {"corrected": 3 * at, "uncorrected": 0}}
            document.update(ranks=ranks, version="0.1.0")
            document["result"]["energy"] = {"gflops_per_watt": 9 - 2 * (host == "b")}
            run.documents[f"alone-{host}"] = document
            inventory = {**read("himeno-inventory-1.json"), "mpi": "Open MPI 4"}
            inventory["gpus"] = [{"uuid": f"GPU-{host}0", "serial": 16}]
            run.documents[f"inventory-{host}"] = inventory
            for kind in ("alone", "inventory"):
                name = f"{kind}-{host}"
                step = {"name": name, "hosts": [host], "ranks": [2], "outcome": "pass", "why": ""}
                run.done[name] = {**step, "seconds": 1.25, "command": f"run {name}"}
        run.ended, run.begin, run.earlier = "2026-11-23T12:04:18Z", NOW - 90, None
        return run

    def said(self, name, run, *files):
        """The printed report, accept.json, and these other files must be as before."""
        self.replace(report.time, "time", lambda: NOW)
        run.a.prometheus = "metrics"
        with contextlib.redirect_stdout(io.StringIO()) as text:
            if run.earlier:
                self.replace(drift, "Finished", lambda folder: run.earlier)
                drift.compare_with(run, "earlier")
            code = report.write(run)
        self.as_before(f"accept {name}", f"{code}\n{text.getvalue()}")
        for file in ("accept.json", *files):
            found = pathlib.Path(file).read_text(encoding="utf-8")
            if file == "accept.html":
                found = Page(found).said()
            self.as_before(f"accept {name}: {file}", found)

    def test_reports(self):
        """an acceptance prints and stores what it did before"""
        rates = (100, 0.001), (101, 0.001), (99, 0.001), (90, 0.04)
        self.said("good", self.run_of(rates))
        run = self.run_of(rates)
        for kind, on, why, step, device, checks in (
            ("wrong", "a", "rank 1 on a, GPU-a1: differs", "alone-a", None, ["field"]),
            ("slow", "d", "GFLOPS of GPU-d0 = 90, required >= 95", "alone-d", "GPU-d0", ["x", "y"]),
            ("hang", "b", "did not end within 9 s", "alone-b", None, None),
            ("path", "bc", "pair is slow", "alone-b", None, None),
            ("fabric", "", "streams are slow", "alone-b", None, None),
            ("suspect", "c", "inventory: GPUs 1, most have 2", "alone-c", None, ["inventory"]),
        ):
            run.find(kind, list(on), why, run.done[step], device, checks)
            run.findings[-1].update(command=f"run {step}", step=step)
        run.a.level, run.left_out, run.notes = 2, ["all", "pair-a-b"], ["not judged: c (noise)"]
        run.tested = ["a", "b", "c"]
        run.earlier = self.run_of(((120, 0.001), (100, 0.001), (99, 0.001), (91, 0.001)))
        run.earlier.ended = "2026-11-13T12:04:18Z"
        run.earlier.documents["alone-a"]["version"] = "0.0.9"
        run.documents["alone-b"]["version"] = None  # no change
        self.said("bad", run, "accept.html", "metrics")
        run = self.run_of(rates)
        checks = {**report.tally(run), "failed": 2, "failing": {"b", "d"}, "unchecked": {}}
        (named,) = checks["passing"]
        some = {**checks, "failed": 0, "unchecked": {named: run.tested, "x": ["a", "b"]}}
        self.replace(report, "titles", lambda run: {named: "the title", "x": "other"})
        gone, lines = {"kind": "not started"}, []
        for run.a.level, run.left_out, run.findings, alike, counted in (
            *((2, ["all"], [1] * count, [], checks) for count in (0, 1, 2)),
            *((None, [], [], [], counted) for counted in (None, checks, some)),
            *((1, [], [1], alike, checks) for alike in ([gone], [gone, {"kind": "slow"}])),
        ):
            lines.append(report.conclusion(run, alike, counted))
        self.as_before("accept: conclusions", "\n".join(lines))
        run = self.run_of(rates)
        for name in run.a.names:
            run.find("slow", [name], f"GFLOPS of {name}", run.done[f"alone-{name}"], None, ["x"])
        self.said("alike", run)
        run.findings = [{**run.findings[0], "kind": "hang"}]
        self.said("hang", run, "accept.html")

    def test_stages(self):
        """stages launch the same jobs, and find and note the same, as before"""

        class Played(helper.Run):
            has, time_left = (lambda self, program: True), (lambda self: 100)

            def document(self, name):
                seconds = self.slow.get(name, 1e-6 * bool(self.slow))  # 0 if none is slow
                phases = dict.fromkeys(("pack", "d2h", "transfer", "h2d", "unpack"), seconds)
                wire = {"share": 0.5, "card": "mlx5_0/1"}
                other = {
                    "ranks": [{"rank": 0, "gflops": 9, "phases": phases, "wire": wire}],
                    "result": {"samples": [1, 2, 1]},
                }
                return self.documents.get(name) or (other if "-" in name else None)

            def together(self, what, jobs, width=None, stage=None):
                self.words += [f"{what} {width} {stage} {job}" for job in jobs]
                found = super().together(what, jobs, width)
                self.done.update(found)
                return found

        pathlib.Path("device-a-0.doc").write_text('{"ranks": [{"uuid": "GPU-x"}]}')
        four = "noisy", "unverified", "slow", "hang"
        for name, slow, outcomes in (
            (
                "a path",
                "pair-b-c again-b-c",
                {"wires-a-d": "hang", "switch-s": "slow", "all": "slow"},
            ),
            (
                "a host",
                "pair-a-b again-a-b pair-a-c again-a-c pair-a-d again-a-d",
                {"fabric": "noisy"},
            ),
            (
                "pairs",
                "",
                {f"pair-{pair}": why for pair, why in zip(("a-b", "a-c", "d-b", "c-d"), four)},
            ),
            (
                "alone",
                "",
                {"alone-a": "slow", "alone-b": "noisy", "products-c": "hang", "device-a-0": "hang"},
            ),
            ("a card", "", {"wires-a-d": "slow", "wires-d-c": "slow"}),
            ("lost", "", {"alone-b": "environment, backend cuda: none", "alone-d": "wrong"}),
            ("none", "", {f"alone-{host}": "environment" for host in "abcd"}),
        ):
            made, run = self.run_of([(100 - at, 0.001) for at in range(4)]), Played()
            run.slow = dict.fromkeys(slow.split(), 1)
            run.documents, run.words, run.a.given = made.documents, [], {}
            run.outcomes = {
                step: dict(zip(("outcome", "why"), (*words.split(", "), "it is")))
                for step, words in outcomes.items()
            }
            run.a.leaves, run.a.rounds, run.a.parallel = {"s": list("abc"), "t": ["d"]}, 3, 4
            run.a.inventory, run.a.expected, run.a.launcher = None, dict.fromkeys("abcd", {}), "go"
            for host in "abcd":
                cards = [{"state": "active", "rate_gbps": rate} for rate in (400, 200, 100)]
                run.documents[f"inventory-{host}"].update(network=cards)
            run.a.stages = stages.NAMES
            run.a.options = ["--backend=null"] if slow else ["-x", "-b", "null"]
            with contextlib.redirect_stdout(io.StringIO()) as said:
                stages.all_of_them(run)
            lines = [*run.words, *map(str, run.findings), *run.notes, said.getvalue()]
            self.as_before(f"stages: {name}", "\n".join(lines).replace(str(helper.SOURCE), "."))

    def test_report(self):
        """the report of recorded runs, with predictions, shows what it did before"""
        self.recorded("hosts-x8-2026-11")
        os.symlink(helper.SOURCE / "doc/results/hosts-x8-2026-11", "runs")
        prediction = helper.DOCUMENTS / "himeno-predict-1.json"
        self.run_or_skip(helper.SCRIPTS / "report", "runs", prediction, "-o", "a.html")
        page = Page(pathlib.Path("a.html").read_text(encoding="utf-8"))
        self.as_before("report of recorded runs", page.said())

    def test_traffic(self):
        """dram-traffic profiles each kernel and stores the bytes that its counters had"""
        config = {"size": "XS", "T": 2, "imax": 12, "jmax": 12, "kmax": 12}
        pathlib.Path("ncu").write_text(f"""#!/usr/bin/env python3
import sys
open("words", "a").write(" ".join(sys.argv[1:-1]) + "\\n")
if sys.argv[-1] == "none" or "broken" in sys.argv:
    sys.exit("no luck\\nno such kernel")
open(sys.argv[-1], "w").write('{json.dumps({"config": config})}')
print('==PROF== x\\n"ID","Metric Name","Metric Unit","Metric Value"')
for launch in "0", "1":
    for name, value in ("read", '"Kbyte","1,020.5"'), ("write", '"byte","100"'):
        "idle" in sys.argv or print(f'"{{launch}}","dram__bytes_{{name}}.sum",{{value}}')
print('"0","other","byte","7"\\n==ERROR== ERR_NVGPUCTRPERM == no permission')
""")
        os.chmod("ncu", 0o755)
        environment = {**os.environ, "PATH": f"{os.getcwd()}:{os.environ['PATH']}"}
        for kernels, code in (("stream,temporal2-wide", 0), ("idle", 3), ("broken", 7)):
            words = [helper.SCRIPTS / "dram-traffic", "-s", "XS", "-k", kernels, "-o", "out", "ncu"]
            ended = subprocess.run(words, env=environment, capture_output=True, text=True)
            self.assertEqual(ended.returncode, code, ended.stderr)
            self.as_before(f"dram-traffic {kernels}", ended.stdout + ended.stderr)
        document = json.loads(pathlib.Path("out").read_text())
        self.assertRegex(document.pop("time"), r"^20[-\d]+T[:\d]+Z$")
        self.as_before("dram-traffic: document", document)
        words = pathlib.Path("words").read_text().replace(os.getcwd(), ".")
        self.as_before("dram-traffic: profiler", words)

    def test_inventories(self):
        """differences between inventories, and errors in a file of inventories, are named"""
        (listed, everywhere) = read("himeno-inventory-1.json")["hosts"].values()
        gpu, card = listed["gpus"][0], listed["network"][0]
        hosts = {name: {**listed, **everywhere} for name in "abcde"}
        hosts["b"].update(gpus=[{**gpu, "count": 7}], memory_gib=1990, driver="580.1")
        hosts["c"].update(gpus=[{**gpu, "count": 6, "pci": "x"}, {**gpu, "vbios": "1", "count": 2}])
        hosts["d"].update(network=[{**card, "name": "m0", "state": "down"}, card], memory_gib=1900)
        hosts["e"].update(gpus=[{"count": 8, "model": "other"}])
        named = {**listed, "gpus": [{**gpu, "pci": pci} for pci in "wxyz"]}
        types = [sorted(one) for one in inventory.of_one_type({**hosts, "f": {"gpus": []}})]
        texts = [types, *inventory.unlike(hosts, fold), inventory.summary(hosts["c"])]
        texts += [
            inventory.differences(one, host) for one in (listed, named) for host in hosts.values()
        ]
        inventory.write("file", hosts, fold)
        texts.append(pathlib.Path("file").read_text())
        for document in (
            *([], {"schema": 1}, {"schema": inventory.SCHEMA}, {"hosts": {}, "x": 1}),
            *({"schema": inventory.SCHEMA, "hosts": {"a": host}} for host in (1, {"gpu": []})),
            *(
                {"schema": inventory.SCHEMA, "hosts": {"n[1-2]": {"gpus": gpus}, "*": {}}}
                for gpus in (
                    1,
                    [1],
                    [{"name": 1}],
                    [{"count": 0}],
                    [{"count": 1.5}],
                    [{"count": 1}],
                )
            ),
        ):
            try:
                texts.append(inventory.checked(document, expand))
            except ValueError as error:
                texts.append(error)
        self.as_before("inventories", "\n".join(map(str, texts)))

    def test_hardware(self):
        """an inventory has what /sys, nvidia-smi and ethtool report, and no virtual network card"""
        for folder, files in SYSFS.items():
            for name, text in (file.split("=") for file in files.split()):
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text.replace("~", " ") + "\n")
        pathlib.Path("smi").write_text(SMI)
        os.chmod("smi", 0o755)
        found = [inventory.hardware(".", tool, tool) for tool in ("./smi", None)]
        for one in found:
            for key in ("cpu", "cpus", "memory_gib", "kernel"):
                del one[key]  # those of this host
        self.as_before("hardware", found)

    def test_tools(self):
        """isa-report compiles and disassembles with the tools that are there"""
        files = {"a.cu": b"HAVE_SM90A", "e.cubin": b"\x7fELF".ljust(18) + b"\xbe\0", "f": b"!<ar"}
        for name in ("a.cu", "b.cu", "c.cl", "d.ptx", "e.cubin", "f", "g"):
            pathlib.Path(name).write_bytes(files.setdefault(name, b""))
        lines, there = [], []

        def played(command, what):
            for option, path in zip(command, command[1:]):
                if option == "-o" and path != "-":
                    pathlib.Path(path).touch()
            lines.append("  " + " ".join(map(str, (*command, what))))
            return ""

        self.replace(tools, "run", played)
        self.replace(tools, "CLC_FOLDERS", ("none", "."))
        self.replace(tools.glob, "glob", lambda _: [])
        for library in ("gfx906-amdgcn-mesa-mesa3d.bc", "nvptx64-nvidia-nvidiacl.bc"):
            pathlib.Path(library).touch()
        self.replace(tools.shutil, "which", lambda name: f"/a/{name}" * (f"/a/{name}" in there))
        self.replace(tools.os, "access", lambda path, _: path in there)
        chips = {str(helper.SOURCE / "himeno/kernels/opencl/block16.cl"): "tahiti", "b.cu": "sm_70"}
        both, clang = "/a/nvcc /a/cuobjdump", "/usr/local/cuda/bin/cuobjdump /a/clang"
        for some in ("/a/nvcc /a/nvdisasm", clang, "/a/nvcc", both):
            there[:] = some.split()
            for source in {**files, **chips}:
                for isa in ("auto", "sass", "ptx", "gcn"):
                    try:
                        isa, note = tools.choose_isa(source, isa)
                        lines.append(f"{some}: {source}: {isa} {note}")
                        tools.kernels_of(source, isa, chips.get(source), ["-DA=1"])
                    except (BadInput, Trouble) as error:
                        lines.append(f"  {error}")
        text = "\n".join(lines).replace(str(helper.SOURCE), ".")
        self.as_before("isa: tools", re.sub(rf"{tempfile.gettempdir()}/\w+/", "", text))

    def test_studies(self):
        """a study has its points, their commands and Slurm's, and the reasons of further points"""
        options = dict(program="himeno-gpu", program_options=["-b", "cpu"], per_host=4, predict=16)
        options.update(launcher="run {ranks} {hosts} {per_host}", paths=True, paths_options=["-x"])
        options.update(limit=9, seconds=0.5, repeat=2, seed=1, slurm="jobs", sbatch_options=["-p"])
        options.update(sizes=["M", "8x8x16"], ranks=[2, 6], kernels=["stream"], procs=["auto", "k"])
        options.update(transports=["p2p", "staged-no-overlap"], scaling=["strong", "weak"])
        products = dict(program="bin/gemm-gpu", sizes=["64"], ranks=[1, 6], kernels=["auto"])
        products.update(procs=["auto", "j", "all", "3x2"], transports=["auto", "staged"])
        jobs = []
        self.replace(slurm.subprocess, "run", lambda words, **_: jobs.append(words) or answer)
        for change in (
            {},
            {"procs": ["all", "3x2x1", "5x5x5"], "sizes": ["XL"], "predict": None},
            {"predict": 2, "sizes": ["S", "M", "L"], "transports": ["staged"], "per_host": 0},
            products,
            {**products, "predict": 4, "ranks": [2, 3], "procs": ["i"]},
        ):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                study = plan.make({**options, **change})
            answer = types.SimpleNamespace(returncode=0, stdout="7;x\n", stderr="")
            lines = [said.getvalue()]
            for point in study["points"]:
                lines.append(
                    " ".join([point["name"], *launch.command(study["options"], point, "t")])
                )
            if study["options"]["per_host"]:
                slurm.submit(study["options"], 6, "name", "log", ["run"])
                lines.append(" ".join(one for one in jobs.pop() if "wrap" not in one))
            self.as_before(f"study {change}", "\n".join(lines))
        study = plan.read(helper.DOCUMENTS / "study")
        self.as_before("study: rows", store.rows(helper.DOCUMENTS / "study", study))
        durations = [launch.duration(seconds) for seconds in (0, 59.4, 60, 3569, 3570, 3600, 9000)]
        self.assertEqual(
            durations, ["0 s", "59 s", "1 min", "59 min", "1 h 00 min", "1 h 00 min", "2 h 30 min"]
        )

    def test_instructions(self):
        """each instruction has its registers, memory, unit and class"""
        sass = "/*%04x*/ %s ;"
        for isa, form in ("sass", sass), ("ptx", "%.0s%s;"), ("gcn", "%.0s\t%s"), ("loop", sass):
            lines = (helper.SOURCE / "tests/golden/instructions.txt").read_text().splitlines()
            code = [
                one
                for line in lines
                if line.startswith(isa)
                for one in line.split(": ")[1].split(" ; ")
            ]
            text = "\n".join(form % (16 * place, one) for place, one in enumerate(code))
            (kernel,) = listing.READERS.get(isa, listing.read_sass)(BODIES[isa] % text)
            found = [vars(one) for one in kernel.code]
            self.assertEqual(len(found), len([one for one in code if ":" != one[-1]]))
            lines = [", ".join(f"{key}={one[key]}" for key in one if one[key]) for one in found]
            floating = "".join(str(int(one.floating)) for one in kernel.code)
            count = json.dumps(flow.count(kernel), indent=1)
            self.as_before(f"isa: {isa}", "\n".join([*lines, str(kernel.labels), floating, count]))


if __name__ == "__main__":
    helper.main()
