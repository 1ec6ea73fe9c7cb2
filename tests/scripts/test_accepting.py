#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judging of scripts/accept, function by function: which host is accused, which result is
accepted."""

import argparse
import contextlib
import html
import io
import json
import os
import pathlib
import re
import types
import unittest.mock

import helper  # before the others: it adds their folders
import counts
import drift
import hosts
import levels
import measured
import published
import report
import soaking
import stages
import steps
import timing


class Accepting(helper.Case):
    def test_lists_of_hosts_keep_their_zeros(self):
        """lists of hosts keep their zeros"""
        for names, folded in (
            (["n01", "n02", "n03", "m1"], "m1,n[01-03]"),
            (["n09"], "n09"),
            (["n1", "n3", "n04"], "n04,n[1,3]"),
            (["n08", "n09", "n10", "n12"], "n[08-10,12]"),
        ):
            self.assertEqual(hosts.fold(names), folded)
            self.assertEqual(sorted(hosts.expand(folded)), sorted(names))

    def test_a_soak_reports_what_its_clean(self):
        """a soak reports what its clean slices exclude together, and which work was hardest"""
        self.replace(soaking.stages, "alone", lambda run, names: names)
        self.replace(soaking, "after_failure", lambda run, step, names: names[1:])

        def judged(outcomes, documents):
            with contextlib.redirect_stdout(io.StringIO()) as text:
                soaking.soak(helper.Run(outcomes, documents))
            return text.getvalue().replace("\n      ", " ")

        documents = {
            f"soak-{n:04d}-{kind}": made(days, share)
            for n, (kind, days, share) in enumerate(
                (("memory", 1, 0.7), ("compute", 2, 0.93), ("memory", 1, 0.6), ("compute", 4, 0.89))
            )
            for made in [
                {
                    "memory": lambda days, share: {
                        "result": {"soak": {"device_days": days, "power_share": share}}
                    },
                    "compute": lambda days, share: {
                        "worth": {"device_days": days, "power_share": share}
                    },
                }[kind]
            ]
        }
        self.assertIn(
            "fewer than 374 wrong blocks per 1000 device-days, from 8 device-days",
            all_four := judged({}, documents),
        )
        self.assertIn("load: 0.91 of the power limit by compute\n", all_four)
        documents["soak-0003-compute"]["worth"]["power_share"] = 0.79
        self.assertIn(
            "load: 0.86 of the power limit by compute: NOT STRESSED", judged({}, documents)
        )
        documents["soak-0003-compute"]["worth"]["power_share"] = None
        self.assertIn(
            "load: 0.65 of the power limit by memory: NOT STRESSED", judged({}, documents)
        )
        del documents["soak-0003-compute"]["worth"]
        self.assertIn("from 4 device-days", judged({}, documents))
        documents["soak-0003-compute"]["worth"] = {"device_days": 4, "power_share": None}
        wrong = judged({"soak-0001-compute": {"outcome": "wrong", "seconds": 25}}, documents)
        self.assertIn("from 6 device-days", wrong)
        # A clean slice of memory, with an episode and counted errors: said, and no finding. A host
        # has the name that the launcher got.
        documents["soak-0002-memory"].update(
            episodes=[{"rank": 1, "of": "compute", "slowness": 1.25, "begin": 20, "end": 35.04}],
            ranks=[
                {"host": "n1", "uuid": "GPU-0", "counted": {"xids": 0, "pcie_replays": None}},
                {"host": "n2", "uuid": "", "counted": {"xids": 1, "nvlink_crc": 7}},
            ],
        )
        lines = [line for line in judged({}, documents).splitlines() if line.startswith("  soak-")]
        self.assertEqual(
            lines,
            [
                "  soak-0002-memory: SLOW ONCE  rank 1 on b, device without a UUID: "
                "compute was 1.25 times its usual from second 20.0 to 35.0",
                "  soak-0002-memory: ERRORS     rank 1 on b, device without a UUID: "
                "xids 1, nvlink_crc 7",
            ],
        )
        run = helper.Run()
        self.assertEqual(soaking.hotter(run, 600), ["--block", "1", "--beta", "1"])
        self.assertEqual(soaking.hotter(run, 5), ["--block", "0.25", "--beta", "1"])
        run.a.gemm_options = ["--block=2", "--beta", "0"]
        self.assertEqual(soaking.hotter(run, 600), [])

    def test_brackets_of_any_number_are_counted(self):
        """brackets of any number are counted as Slurm counts them, and lists without end are
        refused"""
        for text, names in (
            ("rack[1-2]n[1-2]", "rack1n1 rack1n2 rack2n1 rack2n2"),
            ("a[08-10]b,c", "a08b a09b a10b c"),
            ("[1,3]x[2-3]y", "1x2y 1x3y 3x2y 3x3y"),
            ("", ""),
        ):
            self.assertEqual(hosts.expand(text), names.split())
        for text in (
            "n[1-9999]m[1-9999]",
            "n[1-200000]",
            "n[1-60000],m[1-60000]",
            "n[]",
            "n[1,]",
            "n[1-2",
            "n]",
            "n[[1]]",
            "n[2-1]m[1]",
            "n[1]/..",
            "-[1-2]",
        ):
            try:
                raise AssertionError((text, hosts.expand(text)[:3]))
            except hosts.BadInput:
                pass

    def test_a_device_that_the_ranks_of(self):
        """a device that the ranks of a host share is tried once, and each of several"""
        for uuids, launched in (
            (("x", "x"), []),
            (("x", "y"), ["device-a-0", "device-a-1"]),
            (("", ""), ["device-a-0", "device-a-1"]),
            ((), ["device-a-0", "device-a-1"]),
        ):
            run = helper.Run(documents={"alone-a": {"ranks": [{"uuid": uuid} for uuid in uuids]}})
            run.a.devices = dict.fromkeys(run.a.names, 2)
            run.find("slow", ["a"], "", {})
            stages.devices(run, run.a.names)
            self.assertEqual(run.launched, launched)

    def test_waiting_for_a_late_neighbour_is(self):
        """waiting for a late neighbour is no exchange, and the slowest rank counts"""
        phases = (
            "interior",
            "boundary",
            "pack",
            "d2h",
            "wait",
            "transfer",
            "h2d",
            "unpack",
            "reduce",
            "exposed",
        )
        ranks = [
            {"phases": {name: scale * 2**place for place, name in enumerate(phases)}}
            for scale in (1, 3, 2)
        ]
        self.assertEqual(
            stages.exchange_of({"ranks": ranks, "result": {"samples": [1, 1, 1]}}),
            3 * (4 + 8 + 32 + 64 + 128),
        )
        self.assertEqual(
            stages.exchange_of({"ranks": ranks, "result": {"samples": [1, 1, 4]}}),
            3 * (4 + 8 + 32 + 64 + 128) / 2,
        )
        self.assertIsNone(stages.exchange_of(None))

    def test_a_pair_is_tried_again_alone(self):
        """a pair is tried again alone, a host is accused by all of its partners, else the path
        between two is"""

        def document(seconds):
            return {
                "ranks": [
                    {"phases": {"pack": 0, "d2h": 0, "transfer": seconds, "h2d": 0, "unpack": 0}}
                ],
                "result": {"samples": [1, 1, 1]},
            }

        run = helper.Run(
            documents={"again-a-b": document(9), "again-a-c": document(1), "again-a-d": document(2)}
        )
        kept = stages.again_alone(run, [("a", "b"), ("a", "c"), ("a", "d")], 2)
        self.assertEqual(list(kept), [("a", "b")])
        self.assertEqual(kept["a", "b"][0], 9)
        met = {"a": 2, "b": 2, "c": 2, "d": 2}
        step = {"command": "", "name": ""}
        run = helper.Run()
        self.assertEqual(stages.accuse(run, {("a", "b"): (9, step)}, 2, 1, met), set())
        self.assertEqual(run.found(), [("path", "a", "b")])
        run = helper.Run()
        self.assertEqual(
            stages.accuse(run, {("a", "b"): (9, step), ("a", "c"): (9, step)}, 2, 1, met), {"a"}
        )
        self.assertEqual(run.found(), [("slow", "a")])
        run = helper.Run()
        self.assertEqual(
            stages.accuse(
                run, {("a", "b"): (9, step), ("a", "c"): (9, step)}, 2, 1, {**met, "a": 3}
            ),
            set(),
        )
        self.assertEqual(run.found(), [("path", "a", "b"), ("path", "a", "c")])

    def test_a_device_that_is_a_twentieth(self):
        """a device that is a twentieth slower at products than its equals is slow, and one within
        their spread is not"""
        steps = {name: {"command": "", "name": name} for name in "abcde"}

        def documents(starved, samples=(1, 1, 1)):
            return {
                name: {
                    "ranks": [{"starved": None}, {}, {"starved": starved}],
                    "result": {"samples": list(samples)},
                }
                for name in "abcde"
            }

        for rates, slow in (
            ((100, 100, 100.1, 99.9, 94), {"e"}),
            ((100, 100, 100.1, 99.9, 96), set()),
            ((100, 110, 120, 90, 80), set()),
            ((100, 101, 80), set()),
        ):
            self.assertEqual(
                stages.slow_at_products(
                    helper.Run(documents=documents(0.05)),
                    {(name, "gpu"): rate for name, rate in zip("abcde", rates)},
                    steps,
                ),
                slow,
            )
        for kind, why, document in (
            ("slow", "limit 95.0", documents(0.05)),
            ("noisy", "a rank waited 6.0% for a core", documents(0.06)),
            ("noisy", "too few blocks to judge", documents(0, [1, 1])),
            ("noisy", "its blocks vary by up to 75.6%", documents(0, [1, 1.1, 0.9])),
        ):
            run = helper.Run(documents=document)
            self.assertEqual(
                stages.slow_at_products(
                    run,
                    {(name, "gpu"): rate for name, rate in zip("abcde", (100, 100, 100, 100, 94))},
                    steps,
                ),
                {"e"},
            )
            self.assertEqual(run.found(), [(kind, "e")])
            self.assertTrue(run.findings[0]["why"].endswith(why), run.findings)

    def test_products_of_tensor_cores(self):
        """devices of CUDA multiply bf16 too, and a slow one is drained by it; one without such a
        kernel is not judged"""

        def judged(outcomes=(), options=(), backend="cuda", slow=()):
            documents = {
                f"products{of}-{name}": {
                    "config": {"backend": backend},
                    "result": {"samples": [1] * 9},
                    "ranks": [
                        {
                            "rank": 0,
                            "uuid": "",
                            "gflops": 90 if (of, name) in slow else 100,
                            "starved": 0,
                        }
                    ],
                }
                for of in ("", "-bf16")
                for name in "abcd"
            }
            run = helper.Run(
                {f"products-bf16-{name}": outcome for name, outcome in outcomes}, documents
            )
            run.a.gemm_options = list(options)
            left = stages.products(run, ["a", "b", "c", "d"])
            return (
                "".join(left),
                len(run.launched),
                [(one["kind"], *one["hosts"], *one["checks"]) for one in run.findings],
                run.notes,
            )

        self.assertEqual(judged(), ("abcd", 8, [], []))
        self.assertEqual(judged(backend="cpu"), ("abcd", 4, [], []))
        self.assertEqual(judged(options=["--type=f16"]), ("abcd", 4, [], []))
        self.assertEqual(
            judged(slow=[("-bf16", "c")]), ("abd", 8, [("slow", "c", "rate of bf16 products")], [])
        )
        self.assertEqual(
            judged(slow=[("", "c")]), ("abd", 7, [("slow", "c", "rate of products")], [])
        )
        self.assertEqual(
            judged([("b", {"outcome": "wrong"})]),
            ("acd", 8, [("wrong", "b", "gemm-gpu: wrong")], []),
        )
        none = {
            "outcome": "usage",
            "why": "backend cuda has no kernel for this product: "
            "its last one does not take type bf16",
        }
        self.assertEqual(
            judged([("b", none), ("d", none)]),
            ("abcd", 8, [], ["not judged: bf16 products on b,d"]),
        )

    def test_how_long_it_takes(self):
        """how long it takes: steps by stage and in waves, what remains by the pace so far, and no
        more than the budget"""
        self.assertEqual(
            [timing.text(one) for one in (0, 99, 100, 3600, 3660, 7800)],
            ["1 s", "99 s", "2 min", "1 h", "1 h 1 min", "2 h 10 min"],
        )

        def of(names, **more):
            given = {
                "seconds": 2,
                "parallel": 4,
                "rounds": 3,
                "leaves": {},
                "level": None,
                "soak": None,
                "budget": None,
                "stages": list(stages.NAMES),
                **more,
            }
            return types.SimpleNamespace(names=names, **given)

        self.assertEqual(
            timing.stages(of("abcdef", leaves={"x": "abc", "y": "de", "z": "abcdef"})),
            {
                "alone": (6, 20),
                "products": (6, 20),
                "pairs": (9, 30),
                "wires": (3, 20),
                "switches": (1, 10),
                "all": (1, 10),
            },
        )
        self.assertEqual(
            [timing.stages(of(names))["pairs"][0] for names in ("a", "ab", "abc", "abcd")],
            [0, 1, 3, 6],
        )
        self.assertEqual(timing.stages(of("a"))["all"], (0, 0))
        now = [100]
        self.replace(timing.time, "time", lambda: now[0])
        self.assertEqual(
            [
                timing.Timing(of("ab", **more)).expected()
                for more in ({}, {"budget": 25}, {"soak": 50})
            ],
            [60, 25, 60],
        )
        one = timing.Timing(of("ab", soak=50, stages=["alone", "all"], level=3))
        now[0] += 50
        one.ended("soak", 50, False)
        self.assertEqual(one.remaining(), 20)
        one.ended("alone", 1, True)  # kept: no pace
        self.assertEqual(one.remaining(), 15)
        now[0] += 10
        one.ended("alone", 10, False)  # 5 s were expected
        self.assertEqual(one.remaining(), 20)
        one.budget = 65
        self.assertEqual(one.remaining(), 5)

    def test_drift_of_devices_and_hosts(self):
        """drift: a change counts beyond its noise, a guaranteed rate is missed by what noise does
        not excuse, and counters begin again"""

        def row(gflops, noise=0.001, corrected=None):
            return {
                "host": "a",
                "rank": 0,
                "uuid": "",
                "gflops": gflops,
                "noise": noise,
                "corrected": corrected,
            }

        def judged(now, noise=0.001):
            return drift.change(row(100), row(now, noise), 10, drift.RATE_MIN)["outcome"]

        self.assertEqual(
            [judged(now) for now in (98.5, 99.5, 100.5, 101.5, 90.1, 89.9)],
            ["slower", "unchanged", "unchanged", "faster", "slower", "below the guaranteed rate"],
        )
        self.assertEqual(
            [judged(now, 0.02) for now in (95, 93, 105, 107, 89)],
            ["unchanged", "slower", "unchanged", "faster", "noisy"],
        )
        self.assertEqual(
            [judged(now, noise) for now, noise in ((89, 0.015), (80, 0.02))],
            ["below the guaranteed rate"] * 2,
        )
        self.assertEqual(
            [
                drift.change(row(1, corrected=old), row(1, corrected=new), 10, 0.9)[
                    "corrected_per_day"
                ]
                for old, new in ((10, 30), (30, 10), (None, 3))
            ],
            [2, 1, None],
        )
        hosts = [{**drift.change(row(100), row(now), 1, 0.9)} for now in (99, 80, 120)]
        self.assertEqual(
            [drift.of_host(hosts)[key] for key in ("gflops", "before", "percent", "outcome")],
            [80, 100, -20, "below the guaranteed rate"],
        )
        self.assertIsNone(drift.of_host([drift.change(row(1), None, 1, 0.9)]))
        # A device that two hosts had, or have, was not moved.
        for old, new, moved in (("a", "b", {"x": "a"}), ("ab", "c", {}), ("a", "bc", {})):
            before, now = ({(host, "x"): host for host in names} for names in (old, new))
            self.assertEqual(drift.move(before, now), moved)
            self.assertEqual(set(before), {("b", "x")} if moved else {(host, "x") for host in old})

    def test_a_larger_job_accuses_devices_that(self):
        """a larger job accuses devices that compute slowly, and leaves paths to the pairs"""
        run = helper.Run()
        # Ranks tell hosts, whatever name a host has for itself.
        slow = [
            {"rank": rank, "of": of, "host": "b", "words": "", "uuid": uuid}
            for rank, of, uuid in ((1, "compute", "x"), (3, "exchange", "y"))
        ]
        self.assertEqual(
            stages.stragglers(
                run, {"hosts": ["c", "a", "b"], "ranks": [1, 2, 1]}, {"stragglers": slow}
            ),
            {"a"},
        )
        self.assertEqual(run.found(), [("slow", "a")])
        self.assertEqual(run.findings[0]["device"], "x")

    def test_a_step_passes_that_ended_by(self):
        """a step passes that ended by itself with a document that passes"""
        open("log", "w").close()

        def judged(code, verdict="pass", **more):
            return steps.judge(code, {"result": {"verdict": verdict}, **more}, "log")[0]

        self.assertEqual(judged(0), "pass")
        self.assertEqual(judged(5, "slow"), "slow")
        self.assertEqual(judged(4, "wrong"), "wrong")
        self.assertEqual(judged(0, partial=True), "partial")
        self.assertEqual(judged(5, partial=True), "partial")
        self.assertEqual(judged(1), "fault")
        self.assertEqual(steps.judge(0, None, "log")[0], "not started")
        self.assertEqual(steps.judge(steps.STOPPED, None, "log")[0], "hang")

    def test_the_verdict_the_gravest_finding_is(self):
        """the verdict: the gravest finding is the exit status, evidence against one host drains it,
        the rest runs again, and what was left out is not accepted"""

        def judged(*findings, left_out=()):
            run = helper.Run()
            for kind, *on in findings:
                run.find(kind, on, "why", {})
            run.left_out = list(left_out)
            run.done = {"one": {"hosts": run.a.names, "command": "", "seconds": 1}}
            run.documents = {
                "one": {
                    "result": {
                        "accept": {
                            "policy": "default",
                            "checks": [
                                {
                                    "check": "ECC on",
                                    "outcome": "pass",
                                    "margin": None,
                                    "value": 1,
                                    "limit": 1,
                                    "unit": "",
                                    "at_most": False,
                                }
                            ],
                        }
                    }
                }
            }
            code = report.write(run)
            document = json.load(open("accept.json"))
            return (
                code,
                document["accepted"],
                sorted(document["drain"]),
                sorted(document["run_again"]),
            )

        self.assertEqual(judged(), (0, True, [], []))
        self.assertEqual(judged(left_out=["pair-a-b"]), (5, False, [], []))
        self.assertEqual(
            judged(("slow", "a"), ("wrong", "b"), ("environment", "c")),
            (4, False, ["a", "b"], ["c"]),
        )
        self.assertEqual(
            judged(("hang", "a"), ("wrong", "b"), ("fault", "c")), (7, False, ["b"], ["a", "c"])
        )
        self.assertEqual(judged(("slow", "a"), ("environment", "c")), (3, False, ["a"], ["c"]))
        self.assertEqual(
            judged(("lost", "a"), ("device hang", "b"), ("hang", "b")), (6, False, ["a", "b"], [])
        )
        self.assertEqual(judged(("path", "a", "b")), (5, False, [], []))
        self.assertEqual(judged(("suspect", "a")), (5, False, [], []))
        self.assertEqual(
            judged(("path", "a"), ("usage", "b"), ("hang", "c", "d")),
            (6, False, [], ["b", "c", "d"]),
        )

    def test_what_every_host_fails_of_those(self):
        """what every host fails of those that could be judged is no host's fault; what one passes,
        or one alone fails, is"""

        def shared(failed, passed=(), others=()):
            """Hosts with the checks that they fail, the documents of those that pass, and findings
            that tell nothing of a check."""
            run = helper.Run(
                documents={
                    name: {"result": {"accept": {"checks": [{"check": check, "outcome": "pass"}]}}}
                    for name, check in passed
                }
            )
            run.done = {name: {"hosts": [name]} for name, _ in passed}
            for name, checks in failed.items():
                run.find("slow", [name], "", {}, checks=checks)
            for kind, name in others:
                run.find(kind, [name], "", {})
            return stages.shared_checks(run)

        x, xy = ["x"], ["x", "y"]
        self.assertEqual(shared({"a": x, "b": xy, "c": x, "d": x}), {"x"})
        self.assertEqual(shared({"a": x, "b": x, "c": x}), set())
        self.assertEqual(
            shared({"a": x, "b": x}, others=[("not started", "c"), ("noisy", "d")]), {"x"}
        )
        self.assertEqual(
            shared(
                {"a": x}, others=[("not started", "b"), ("not started", "c"), ("not started", "d")]
            ),
            set(),
        )
        self.assertEqual(shared({"a": x, "b": x, "c": x, "d": x}, [("b", "x")]), {"x"})
        self.assertEqual(shared({"a": x, "b": x}, [("c", "x")]), set())
        self.assertEqual(
            shared({}, others=[("wrong", "a"), ("wrong", "b"), ("wrong", "c"), ("wrong", "d")]),
            {"wrong"},
        )
        self.assertEqual(
            shared({}, others=[("wrong", "a"), ("hang", "b"), ("wrong", "c"), ("wrong", "d")]),
            set(),
        )
        one = {"hosts": ["a"], "checks": xy}
        self.assertTrue(stages.is_set_up(one, {"x", "y"}))
        self.assertFalse(stages.is_set_up(one, {"x"}))

    def test_outliers_are_on_the_bad_side(self):
        """outliers are on the bad side, beyond five deviations and the least that counts, among
        four hosts at least"""
        keys = [column[0] for column in measured.COLUMNS]

        def marked(key, *values):
            rows = [
                {**dict.fromkeys(keys), "host": str(place), key: value}
                for place, value in enumerate(values)
            ]
            return [int(row["host"]) for row in measured.outliers(rows) if row["outliers"] == [key]]

        self.assertEqual(marked("gflops", 100, 100, 100, 96.9), [3])
        self.assertEqual(marked("gflops", 100, 100, 100, 97.1), [])
        self.assertEqual(marked("gflops", 100, 100, 100, 110), [])
        self.assertEqual(marked("gflops", 100, 100, 97), [])
        self.assertEqual(marked("gflops", 100, 100, None, 90), [])
        self.assertEqual(marked("gflops", 100, 101, 99, 102, 98, 92), [])
        self.assertEqual(marked("gflops", 100, 101, 99, 102, 98, 85), [5])
        self.assertEqual(marked("exchange_seconds", 1, 1, 1, 1.26), [3])
        self.assertEqual(marked("exchange_seconds", 1, 1, 1, 1.24, 0.5), [])
        self.assertEqual(marked("celsius", 50, 50, 50, 59), [3])
        self.assertEqual(marked("celsius", 50, 50, 50, 57, 30), [])
        self.assertEqual(marked("watts", 300, 300, 300, 300, 335, 265), [4, 5])
        self.assertEqual(marked("errors", 0, 0, 0, 1), [3])
        self.assertEqual(marked("sm_mhz", 1980, 1980, 1980, 1900), [3])

    def test_a_row_has_the_least_of(self):
        """a row has the least of the devices' values, and the most of the telemetry"""
        ranks = [
            {"gflops": 3, "ceiling_share": 0.9, "theory": {"share": 0.8}},
            {"gflops": 2, "ceiling_share": 0.95, "theory": {"share": None}},
            {"gflops": 4, "theory": None},
        ]
        row = measured.row_of(
            "n",
            {"ranks": ranks, "result": {"ceiling_share": 0.5, "energy": {"gflops_per_watt": 7}}},
            [
                {"celsius": [40, 60], "watts": [1, 9], "sm_mhz": [5, 8]},
                {"celsius": [30, 50], "watts": [2, 3], "sm_mhz": [6, 6]},
            ],
            [3, None, 1],
            [None, 2, 4],
        )
        fields = {
            key: row[key]
            for key in (
                "gflops",
                "ceiling_share",
                "theory_share",
                "gflops_per_watt",
                "celsius",
                "watts",
                "sm_mhz",
                "errors",
                "pair_seconds",
            )
        }
        self.assertEqual(list(fields.values()), [2, 0.9, 0.8, 7, 60, 9, 5, 3, 3])
        empty = measured.row_of("n", {}, [], [], [])
        self.assertEqual({empty[key] for key in empty if key != "host"}, {None})

    def test_shares_of_theory_and_gflops_w(self):
        """shares of theory and GFLOPS/W stand in the table, accept.json and the page, each by its
        host, and low ones are marked"""

        def made(name, theory, efficiency):
            ranks = [
                {"rank": rank, "gflops": 2500, "ceiling_share": 0.95, "host": name, "theory": share}
                for rank, share in enumerate(({"share": theory + 0.03}, {"share": theory}, None))
            ]
            return {
                "ranks": ranks,
                "result": {"energy": {"gflops_per_watt": efficiency, "joules_a_sweep": 3}},
            }

        rates = {"a": (0.90, 9.6), "b": (0.89, 9.5), "c": (0.70, 9.4), "d": (0.91, 7.25)}

        def accepted(rates):
            run = helper.Run(
                documents={
                    f"alone-{name}": made(name, *values)
                    if values
                    else {"ranks": [{"rank": 0, "gflops": 2500}]}
                    for name, values in rates.items()
                }
            )
            run.done = {
                f"alone-{name}": {
                    "hosts": [name],
                    "ranks": [3],
                    "command": "",
                    "outcome": "pass",
                    "seconds": 1,
                }
                for name in rates
            }
            with contextlib.redirect_stdout(io.StringIO()) as text:
                report.write(run)
            return (
                text.getvalue(),
                json.load(open("accept.json"))["measured"],
                open("accept.html", encoding="utf-8").read(),
            )

        text, rows, page = accepted(rates)
        self.assertEqual(
            [
                (row["host"], row["theory_share"], row["gflops_per_watt"], row["outliers"])
                for row in rows
            ],
            [
                ("a", 0.90, 9.6, []),
                ("b", 0.89, 9.5, []),
                ("c", 0.70, 9.4, ["theory_share"]),
                ("d", 0.91, 7.25, ["gflops_per_watt"]),
            ],
        )
        lines = [re.split("  +", line.strip()) for line in text.splitlines()]
        at = next(place for place, line in enumerate(lines) if line[:2] == ["host", "GFLOPS"])
        columns = [lines[at].index(head) for head in ("theory", "GFLOPS/W")]
        self.assertEqual(
            [[line[column] for column in columns] for line in lines[at + 1 : at + 5]],
            [["90.0%", "9.60"], ["89.0%", "9.50"], ["70.0%*", "9.40"], ["91.0%", "7.25*"]],
        )
        table = [
            re.findall("<t[hd]([^>]*)>(.*?)</t[hd]>", row)
            for row in re.findall("<tr>(.*?)</tr>", page, re.S)
        ]
        table = [[(html.unescape(cell), "mark" in of) for of, cell in row] for row in table]
        at = next(place for place, row in enumerate(table) if ("theory", False) in row)
        columns = [table[at].index((head, False)) for head in ("theory", "GFLOPS/W")]
        self.assertEqual(
            [[row[column] for column in columns] for row in table[at + 1 : at + 5]],
            [
                [("90.0%", False), ("9.60", False)],
                [("89.0%", False), ("9.50", False)],
                [("70.0%", True), ("9.40", False)],
                [("91.0%", False), ("7.25", True)],
            ],
        )
        self.assertEqual(sum(marked for row in table for _, marked in row), 2)
        # What no host tells has no column there, and is null.
        text, rows, page = accepted(dict.fromkeys(rates))
        self.assertEqual(
            {(row["theory_share"], row["gflops_per_watt"]) for row in rows}, {(None, None)}
        )
        self.assertNotIn("theory", text + page.split("</style>")[1])
        self.assertNotIn("GFLOPS/W  ", text)

    def test_metrics_escape_what_their_format_does(self):
        """metrics escape what their format does, and leave out unknown values"""
        row = {
            "theory_share": None,
            "gflops_per_watt": 50,
            "host": 'a"\\b',
            "gflops": 2,
            "ceiling_share": None,
            "exchange_seconds": None,
            "pair_seconds": None,
            "celsius": None,
            "watts": None,
            "sm_mhz": None,
            "errors": 0,
            "outliers": [],
            "verdict": "pass",
        }
        text = published.prometheus(
            {"measured": [row], "accepted": True, "seconds": 1.5, "drain": {}, "level": 2}, 7
        )
        self.assertIn("himeno_accept_level 2\n", text)
        self.assertIn('himeno_accept_host_flops_per_second{host="a\\"\\\\b"} 2000000000', text)
        self.assertIn("flops_per_joule{host", text)
        self.assertIn("} 50000000000", text)
        self.assertNotIn("celsius", text)
        self.assertIn("duration_seconds 1.5\n", text)
        self.assertIn("errors{host", text)
        self.assertIn("accepted 1\n", text)

    def test_a_soak_goes_on_for_the(self):
        """a soak goes on for the time that a slice did not have"""
        self.replace(soaking.stages, "alone", lambda run, names: names)
        self.replace(
            soaking,
            "after_failure",
            lambda run, step, names: [name for name in names if name != "a"],
        )
        run = helper.Run()
        soaking.soak(run)
        self.assertEqual(
            run.launched,
            ["soak-0000-memory", "soak-0001-compute", "soak-0002-memory", "soak-0003-compute"],
        )
        run = helper.Run({"soak-0001-compute": {"outcome": "wrong", "seconds": 1}})
        soaking.soak(run)
        self.assertEqual(len(run.launched), 5)

        # Products of a slice share its time: of each kernel a third at first, then what the slice
        # before has told; what it did not need is soaked later.
        class Timed(helper.Run):
            def together(self, what, jobs, width=None, **more):
                given.extend(
                    float(job["options"][job["options"].index(option) + 1].rstrip("s"))
                    for _, _, job in jobs
                    for option in ("-t", "--soak")
                    if option in job["options"]
                )
                return super().together(what, jobs, width, **more)

        for libraries, seconds in (
            ([], [25, 8 + 1 / 3, 25, 25, 16 + 2 / 3]),
            ([{"samples": [1]}, {"samples": []}], [25, 8 + 1 / 3, 25, 12.5, 8 + 1 / 3]),
        ):
            given = []
            soaking.soak(
                Timed(
                    documents={
                        f"soak-{n:04d}-compute": {"yardsticks": libraries} for n in (1, 3, 5)
                    }
                )
            )
            self.assertEqual([round(one, 3) for one in given], [round(one, 3) for one in seconds])

    def devices(self, **settings):
        """Counted for hosts n1 and n2 by a job with those variables; whether they are GPUs."""
        a = argparse.Namespace(names=["n1", "n2"], per_host=None, slots={}, expected={})
        with unittest.mock.patch.dict(
            os.environ, PATH=f"{os.getcwd()}:{os.environ['PATH']}", **settings
        ):
            counts.count(a)
        return a.devices and list(a.devices.values()), a.are_gpus

    def test_the_number_of_devices_by_each(self):
        """the number of a host's devices, by each of Slurm's variables"""
        pathlib.Path("scontrol").write_text("#!/bin/sh\ncat job\n")
        pathlib.Path("scontrol").chmod(0o755)
        pathlib.Path("job").touch()
        for name, values in {
            "SLURM_GPUS_PER_NODE": ("8", "h100:8", "h100:4,a100:4"),
            "SLURM_TRES_PER_NODE": ("gres:gpu:8", "gres/gpu:8", "nic:1,gres/gpu:h100=8"),
            "SLURM_GPUS_ON_NODE": ("8",),
            "SLURM_JOB_GPUS": ("0,1,2,3,4-7",),
            "SLURM_STEP_GPUS": ("0-7",),
        }.items():
            for value in values:
                self.assertEqual(self.devices(**{name: value}), ([8, 8], True), f"{name}={value}")
        self.assertEqual(
            self.devices(SLURM_GPUS="h100:16", SLURM_JOB_NUM_NODES="2"), ([8, 8], True)
        )
        self.assertEqual(self.devices(SLURM_NTASKS_PER_NODE="3"), ([3, 3], False))
        self.assertEqual(self.devices(SLURM_TRES_PER_NODE="gres/nic:2"), (None, False))
        # What a job got on each of its nodes comes first.
        pathlib.Path("job").write_text(
            "JobId=7\n   Nodes=n1 CPU_IDs=0-15 Mem=0 GRES=gpu:h100:8(IDX:0-7)\n"
            "   Nodes=n[2-3] CPU_IDs=0-15 Mem=0 GRES=gpu:h100:7(IDX:0-6),nic:1(IDX:0)\n"
        )
        self.assertEqual(self.devices(SLURM_JOB_ID="7", SLURM_GPUS_ON_NODE="8"), ([8, 7], True))

    def test_levels_end_in_time(self):
        """each level ends in time, and options that are given hold"""

        def at(level, *given):
            a = argparse.Namespace(
                level=level,
                given=dict.fromkeys(given),
                stages="all",
                seconds=9,
                limit=180,
                budget=None,
                rounds=3,
                soak=None,
            )
            levels.at_level(a)
            return a

        # A launcher may take 10 s to end, and what begins it a second.
        for level, limit in ((1, 59), (2, 599), (3, 4 * 3600)):
            self.assertLessEqual(at(level).budget + 10 + 1, limit)
        for level in 1, 2:
            self.assertLess(at(level).limit, at(level).budget)
        self.assertLess(at(3).soak, at(3).budget)
        self.assertEqual(
            (at(1).stages, at(2).stages, at(1).seconds, at(1, "--seconds").seconds),
            (["alone"], "all", 5, 9),
        )
        self.assertEqual(
            vars(at(None)),
            {
                **vars(at(None)),
                "seconds": 9,
                "budget": None,
                "block": None,
                "timeout": None,
                "soak": None,
            },
        )


if __name__ == "__main__":
    helper.main()
