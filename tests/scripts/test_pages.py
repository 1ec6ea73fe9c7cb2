#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report, accept.html and the metrics, parsed and compared with the documents that they are of.
Each page is made twice, with ordinary and with hostile names: both must have the same elements."""

import html.parser
import json
import pathlib
import re
import statistics
import types

import helper
import handover
import published

HOSTILE = {
    "HOST": "<b>&\"'n1",
    "DEVICE": "</td><script>alert('x')</script>",
    "FOLDER": 'it\'s <i>"so" &amp; {0}',
    "WHY": "a < b && 'c' \"d\"\\\nnext",
}
VOID = {"meta"}


class Page(html.parser.HTMLParser):
    look = ""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.rows, self.open, self.shown = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, tuple(name for name, _ in attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            look = dict(attributes).get("class", "")
            self.look = f" [{look}]" if look and (tag == "th" or "mark" in look) else ""
        self.texts.append("")

    def handle_endtag(self, tag):
        last = self.open.pop()
        assert last == tag, (last, tag)

    def handle_data(self, data):
        is_cell = self.open and self.open[-1] in ("td", "th")
        if is_cell:
            self.rows[-1][-1] += data
        self.texts.append(data)
        if data.strip() and self.open[-1] not in ("style", "script"):
            self.shown.append(data + self.look * is_cell)

    def table(self, *first):
        """Return the rows, as {head: cell}, of the table whose head begins with these cells."""
        at = next(place for place, row in enumerate(self.rows) if row[: len(first)] == list(first))
        head = self.rows[at]
        return [dict(zip(head, row)) for row in self.rows[at + 1 :] if len(row) == len(head)]

    def said(self):
        """Return all texts, with the classes of heads and marked cells."""
        return "\n".join(self.shown)

    def facts(self):
        """Return {name: text} of the rows with two cells."""
        return dict(row for row in self.rows if len(row) == 2)


def hostile(value):
    text = json.dumps(value)
    for name, other in HOSTILE.items():
        text = text.replace(name, json.dumps(other)[1:-1])
    return json.loads(text)


class Same(helper.Case):
    def same(self, ordinary, strange):
        """Both pages must have the same elements and, except for names, the same text."""
        ordinary, strange = Page(ordinary), Page(strange)
        self.assertEqual(ordinary.tags, strange.tags)
        self.assertEqual("\n".join(hostile(ordinary.texts)), "\n".join(strange.texts))
        return strange


def check(name, margin, **others):
    found = {"check": name, "title": f"{name} of WHY", "unit": "", "value": 0.5, "limit": 0.25}
    found |= {"at_most": False, "margin": margin, "outcome": "pass", "rank": None, "why": ""}
    return found | {"from": "WHY"} | others


class Acceptance(Same):
    measured = [
        dict(host=host, gflops=gflops, errors=errors, outliers=outliers, verdict=verdict)
        | dict(ceiling_share=0.75, theory_share=None, exchange_seconds=12.34e-6, celsius=61)
        | dict(pair_seconds=None, watts=412.0, gflops_per_watt=1.25, sm_mhz=1410)
        for host, gflops, errors, outliers, verdict in (
            ("HOST", 1234.5, 0, [], "pass"),
            ("n2", 617.25, 3, ["gflops", "errors"], "slow"),
        )
    ]
    document = {
        **dict(schema="himeno-accept/1", time="2026-11-23T12:04:18Z", accepted=False, policy="WHY"),
        **dict(conclusion="WHY it is", hosts=["HOST", "n2"], tested=["HOST", "n2"], level=2),
        **dict(drain={"n2": ["WHY"]}, drain_list="n2 HOST", run_again={}, run_again_list=""),
        **dict(suspect={}, not_judged=[], set_up=["WHY of all"], measured=measured, seconds=2.9),
        **dict(unchecked={"speed": ["HOST", "n2"]}, left_out=[], ignored=[]),
        **dict(command="accept 'FOLDER'", durations={"alone": {"steps": 3, "seconds": 12.4}}),
        "machine": {
            "models": {"DEVICE": 2},
            "driver": {"WHY": "HOST", "driver 580.1": "n2"},
            "mpi": {"Open MPI 4": "HOST"},
            "kernel": {},
            "suite": {"0.2.0": "HOST"},
        },
        "devices": [
            dict(host=host, rank=0, model="DEVICE", uuid=f"GPU-{host}", serial=None, gflops=gflops)
            | dict(ceiling_gbps=2345.6, celsius=61, watts=None, corrected=7)
            for host, gflops in (("HOST", 1234.5), ("n2", 617.25))
        ],
        "drift": {
            "time": "2024-11-23T12:04:18Z",
            "notes": ["WHY it moved"],
            "hosts": [dict(host="HOST", before=1300.0, gflops=1234.5, percent=-5.04, noise=1.25)],
            "devices": [
                dict(host="HOST", rank=0, uuid=None, before=1300.0, gflops=1234.5, percent=-5.04)
                | dict(noise=1.25, corrected_per_day=0.5, outcome="slower")
            ],
        },
        "findings": [
            dict(kind="wrong", hosts=["HOST", "n2"], device="DEVICE", serial="165", why="WHY")
            | dict(command="run 'FOLDER'", step="alone", severity="drain", cause="WHY it failed")
            | dict(percent_from_limit=-12.34, percent_from_peers=None, next_step="replace DEVICE")
        ],
    }
    checks = [
        check("speed", 0.25),
        check("heat", -3.0, at_most=True, value=None, outcome="unknown"),
        check("ecc", 0, unit="yes/no", value=0.0, limit=1.0, outcome="fail"),
    ]

    def made(self, change):
        """Return (document, page, metrics) with the limits that have the smallest margin in the
        steps of scripts/accept."""
        document, checks = change(self.document), change(self.checks)
        better = {"policy": "x", "checks": [checks[0] | {"margin": 0.5, "value": 0.75}]}
        steps = {"one": better, "two": {"policy": "WHY", "checks": checks}}
        run = types.SimpleNamespace(
            done={name: {"hosts": document["hosts"][:1], "command": "true"} for name in steps},
            document=lambda name: {"result": {"accept": steps[name]}},
        )
        document["limits"] = handover.limits(run)
        return document, published.html(document), published.prometheus(document, 1764000000.5)

    def test_page(self):
        """accept.html agrees with the document, on hosts of any name"""
        document, strange, _ = self.made(hostile)
        page = self.same(self.made(lambda value: value)[1], strange)
        self.as_before("accept.html", page.said())
        units = {"GFLOPS": ("gflops", 1), "ceiling": ("ceiling_share", 100), "°C": ("celsius", 1)}
        units |= {"W": ("watts", 1), "exch. µs": ("exchange_seconds", 1e6), "MHz": ("sm_mhz", 1)}
        units |= {"GFLOPS/W": ("gflops_per_watt", 1), "errors": ("errors", 1)}
        for row, one in zip(page.table("host", "GFLOPS"), document["measured"], strict=True):
            self.assertEqual((row["host"], row["verdict"]), (one["host"], one["verdict"]))
            self.assertEqual(set(row), {"host", "verdict", *units})
            for head, (key, factor) in units.items():
                wanted = factor * one[key]
                self.assertAlmostEqual(float(row[head].rstrip("%")), wanted, delta=5e-3 * wanted)
        (row,), (one,) = page.table("severity", "hosts"), document["findings"]
        self.assertEqual(row["hosts"], ", ".join(one["hosts"]))
        self.assertEqual(list(row.values())[2], f"{one['device']}, serial {one['serial']}")
        self.assertEqual(list(row.values())[-1], f"{one['cause']}. Next: {one['next_step']}")
        for row, one in zip(page.table("host", "rank"), document["devices"], strict=True):
            cells = (one["host"], one["model"], one["uuid"], f"{one['gflops']:g}")
            self.assertEqual(tuple(row[key] for key in ("host", "model", "UUID", "GFLOPS")), cells)
        facts, host = page.facts(), HOSTILE["HOST"]
        self.assertEqual(
            (facts["policy"], facts["command"]), (document["policy"], document["command"])
        )
        self.assertEqual(facts["GPU model"], f"2 × {HOSTILE['DEVICE']}")
        wanted = {f"accepted: {'yes' if document['accepted'] else 'no'}", f"drain: n2 {host}"}
        self.assertLessEqual(wanted | {document["conclusion"]}, set(page.texts))

    def test_metrics(self):
        """the metrics are those of the document, on hosts of any name"""
        document, _, text = self.made(hostile)
        self.as_before("metrics", text)
        found, label = {}, r'\w+="((?:[^"\\]|\\[\\"n])*)"'
        for line in (one for one in text.splitlines() if not one.startswith("#")):
            name, labels, value = re.fullmatch(
                rf"himeno_accept_(\w+)((?:\{{{label}(?:,{label})*\}})?) (\S+)", line
            ).group(1, 2, 5)
            names = (
                re.sub(r"\\(.)", lambda c: c[1].replace("n", "\n"), one)
                for one in re.findall(label, labels)
            )
            found[(name, *names)] = float(value)
        units = {"flops_per_second": ("gflops", 1e9), "ceiling_ratio": ("ceiling_share", 1)}
        units |= {"exchange_seconds": ("exchange_seconds", 1), "power_watts": ("watts", 1)}
        units |= {"temperature_celsius": ("celsius", 1), "clock_hertz": ("sm_mhz", 1e6)}
        units |= {"flops_per_joule": ("gflops_per_watt", 1e9), "errors": ("errors", 1)}
        wanted = {("level",): 2, ("accepted",): 0, ("duration_seconds",): document["seconds"]}
        wanted["end_timestamp_seconds",] = 1764000000.5
        for one in document["measured"]:
            host = one["host"]
            wanted["host_passed", host] = one["verdict"] == "pass"
            wanted["host_drain", host] = host in document["drain"]
            for name, (key, factor) in units.items():
                wanted[f"host_{name}", host] = factor * one[key]
                wanted["host_outlier", host, name] = key in one["outliers"]
        self.assertEqual(found, wanted)


class Report(Same):
    def study(self, folder, change):
        """Return the report of golden/documents/study, with these names of hosts and devices."""
        golden = helper.DOCUMENTS / "study"
        (folder / "runs").mkdir(parents=True)
        for path in (one for one in golden.glob("**/*") if one.is_file()):
            text = path.read_text()
            if path.parent.name == "runs" and path.suffix == ".json":
                document = json.loads(text)
                for at, rank in enumerate(document["ranks"]):
                    rank |= change({"host": "HOST", "device": "DEVICE", "driver": ""})
                    rank["uuid"] = f"uuid{at}"
                text = json.dumps(document)
            (folder / path.relative_to(golden)).write_text(
                text.replace("--json study", f"--json '{folder.name}'")
            )
        output = pathlib.Path(f"{folder.name}.html")
        self.run_or_skip(helper.SCRIPTS / "report", folder, "-o", output)
        return output.read_text()

    def test_page(self):
        """the report agrees with the documents, with devices and folders of any name"""
        strange = self.study(pathlib.Path(HOSTILE["FOLDER"]), hostile)
        page = self.same(self.study(pathlib.Path("FOLDER"), lambda value: value), strange)
        self.as_before("report", page.said())
        runs = pathlib.Path(HOSTILE["FOLDER"], "runs").glob("*.json")
        documents = {
            len(one["ranks"]): one for one in (json.loads(run.read_text()) for run in runs)
        }
        rows = {int(row["ranks"]): row for row in page.table("scaling", "size")}
        self.assertEqual(rows.keys(), documents.keys())
        seconds = {
            ranks: statistics.median(one["result"]["samples"]) / one["config"]["block"]
            for ranks, one in documents.items()
        }
        for ranks, one in documents.items():
            row, config = rows[ranks], one["config"]
            flops = 34 * (config["imax"] - 2) * (config["jmax"] - 2) * (config["kmax"] - 2)
            for head, wanted in (
                ("µs per sweep", 1e6 * seconds[ranks]),
                ("GFLOPS", flops / seconds[ranks] / 1e9),
                ("efficiency", 100 * seconds[1] / seconds[ranks] / ranks),
                ("% of ceiling", 100 * one["result"]["ceiling_share"]),
            ):
                self.assertAlmostEqual(float(row[head].rstrip("%")) / wanted, 1, delta=2e-3)
            self.assertEqual((row["size"], row["kernel"]), (config["size"], config["kernel"]))
            self.assertEqual(row["division"], "x".join(map(str, config["procs"])))
        facts = page.facts()
        self.assertEqual((facts["hosts"], facts["devices"]), (HOSTILE["HOST"], HOSTILE["DEVICE"]))
        self.assertEqual(
            (facts["version"], facts["UUIDs"]), (documents[1]["version"], "uuid0, uuid1")
        )
        commands = next(
            text for text in page.texts if text.startswith("mpirun") and "--json" in text
        )
        self.assertEqual(commands.count(f"--json '{HOSTILE['FOLDER']}'/runs/strong-18x18x34"), 2)


if __name__ == "__main__":
    helper.main()
