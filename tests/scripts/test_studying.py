#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of functions for studies, plots and reports: which change is slower, and what is drawn."""

import contextlib
import io
import json
import math
import os
import pathlib
import random
import re
import statistics

import helper
import chapter
import compare
import content
import launch
import scaling
import store


def row_of(size, time, transport="none", ranks=1):
    row = {"scaling": "strong", "kernel": "stream", "procs": f"{ranks}x1x1", "ranks": ranks}
    return {**row, "size": size, "transport": transport, "seconds_a_sweep": time}


class Studying(helper.Case):
    def test_a_study_is_compared_point_by(self):
        """studies are compared point by point, by the noise of both and the number of points, with
        the direction and an exit status"""

        def rows(*groups):
            return [row_of(size, time) for size, times in groups for time in times]

        def verdicts(before, after):
            found = compare.compare(rows(*before), rows(*after), 0.005)
            with contextlib.redirect_stdout(io.StringIO()):
                code = compare.show(found, 0.005)
            return [entry["verdict"] for entry in found["entries"]], code

        quiet, slower, noisy = (1.0, 1.0001, 0.9999), (1.05, 1.0501, 1.0499), (0.9, 1.0, 1.1)
        self.assertEqual(verdicts([("L", quiet)], [("L", slower)]), (["slower"], 5))
        self.assertEqual(verdicts([("L", slower)], [("L", quiet)]), (["faster"], 0))
        self.assertEqual(verdicts([("L", quiet)], [("L", quiet)]), (["same"], 0))
        self.assertEqual(verdicts([("L", noisy)], [("L", (1.1, 1.1001, 1.0999))]), (["same"], 0))
        self.assertEqual(verdicts([("L", quiet)], [("L", noisy)]), (["same"], 0))
        # If only one point is compared, a change is certain that would not be among twenty points.
        before, after = (1.0, 1.01, 0.99), (1.035, 1.045, 1.025)
        self.assertEqual(verdicts([("L", before)], [("L", after)])[0], ["slower"])
        alike = [(str(n), (1.0, 1.02, 0.98)) for n in range(20)]
        self.assertNotIn("slower", verdicts([("L", before), *alike], [("L", after), *alike])[0])

    def test_noise_is_a_transport_s_own(self):
        """each transport has its own noise; points without repeats are not judged; the change that
        would be found is shown"""

        def rows(times):
            return [
                row_of(str(n), time, transport, 2)
                for transport, groups in times.items()
                for n, group in enumerate(groups)
                for time in group
            ]

        def shown(before, after):
            found = compare.compare(rows(before), rows(after), 0.01)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = compare.show(found, 0.01)
            return out.getvalue(), code

        quiet, noisy = [(1.0, 1.001, 0.999)] * 18, [(0.9, 1.0, 1.1)] * 18
        slower = [tuple(1.05 * time for time in group) for group in quiet]
        once = [(1.0,)] * 3
        for name, before, after, wanted in (
            ("noisy", {"p2p": quiet, "staged": noisy}, {"p2p": slower, "staged": noisy}, 5),
            # Without repeats, the assumed minimum variation is no measurement.
            ("once", {"p2p": once}, {"p2p": [(1.5,)] * 3}, 0),
            # The noise of one study is used for the other.
            ("unknown", {"p2p": quiet[:3]}, {"p2p": [(1.05,)] * 3}, 5),
            ("missing", {"p2p": quiet[:3], "none": quiet}, {"p2p": quiet[:2], "ipc": once}, 0),
        ):
            text, code = shown(before, after)
            self.assertEqual(code, wanted)
            self.as_before(f"compare {name}", text)
        # Quantiles are those of Student's t. Nine of ten changes of the printed size are found.
        for chance, freedom, value in (
            (0.05, 1, 12.7062),
            (0.05, 2, 4.3027),
            (0.005, 3, 7.4533),
            (0.001, 5, 6.8688),
            (0.05, 30, 2.0423),
        ):
            self.assertTrue(abs(compare.student(chance, freedom) / value - 1) < 1e-4)
        random.seed(1)

        def compared(shift):
            def made(shift):
                return {
                    "p2p": [
                        tuple(math.exp(shift * (n == 0) + random.gauss(0, 0.01)) for _ in range(3))
                        for n in range(6)
                    ]
                }

            return compare.compare(rows(made(0)), rows(made(shift)), 0.01)["entries"][0]

        effect = sorted(compared(0)["found"] for _ in range(200))[100]
        hits = sum(compared(math.log1p(effect))["verdict"] == "slower" for _ in range(400))
        self.assertTrue(0.85 < hits / 400 < 0.95, (effect, hits))

    def test_recorded_noise_of_each_transport(self):
        """a slowdown of p2p by 2% is found although staged runs scatter; one of staged by 5% is
        not found"""
        rows = []
        for one in self.recorded("h200-x4-2026-11/repeated").values():
            config, ranks = one["config"], len(one["ranks"])
            seconds = statistics.median(one["result"]["samples"]) / config["block"]
            rows.append(
                {
                    "scaling": "weak" if config["weak"] else "strong",
                    "ranks": ranks,
                    "transport": config["transport"] if ranks > 1 else "none",
                    "procs": "x".join(map(str, config["procs"])),
                    "seconds_a_sweep": seconds,
                    **{name: config[name] for name in ("size", "kernel")},
                }
            )

        def slower(transport, factor, before=rows):
            """Return how many points of the transport, and of others, are slower if all its runs
            are slower by `factor`; and the noise and the changes that the text shows."""
            after = [dict(row) for row in before]
            for row in after:
                row["seconds_a_sweep"] *= factor if row["transport"] == transport else 1
            found = compare.compare(before, after, 0.01)
            text = compare.noise_text(transport, found["noises"][transport], found["entries"])
            verdicts = [
                (one["key"][compare.TRANSPORT] == transport, one["verdict"] == "slower")
                for one in found["entries"]
            ]
            shown = " ".join(re.findall(r"[\d.]+%", text))
            return verdicts.count((True, True)), verdicts.count((False, True)), shown

        others = [row for row in rows if row["transport"] != "staged"]
        self.assertEqual(slower("p2p", 1.02), (36, 0, "0.32% 0.32% 1.6% 2.2% 90%"))
        self.assertEqual(slower("p2p", 1.02, others)[:2], (36, 0))
        self.assertEqual(slower("staged", 1.05)[0], 0)
        self.assertEqual(slower("staged", 1.25), (36, 0, "2.53% 2.53% 13.3% 19.3% 90%"))

    def test_a_point_is_finished_by_a(self):
        """a point is finished by a correct run with its settings, and its time is the median
        block's"""
        os.mkdir("runs")
        point = {"name": "one", "kind": "run", "size": "L", "ranks": 1, "scaling": "strong"}

        def finished(verdict, **config):
            document = {
                "schema": "himeno-gpu/1",
                "config": {"size": "L", "weak": False, **config},
                "ranks": [{}],
                "phases": {"interior": {"median": 1}},
                "result": {"verdict": verdict, "seconds": 1},
            }
            with open("runs/one.json", "w") as file:
                json.dump(document, file)
            return store.finished(".", point) is not None

        self.assertEqual(list(map(finished, ("pass", "slow", "wrong"))), [True, True, False])
        self.assertFalse(finished("pass", size="M") or finished("pass", weak=True))

        def time(samples):
            return store.seconds_a_sweep(
                {"result": {"samples": samples, "seconds": 9}, "config": {"block": 2, "sweeps": 3}}
            )

        self.assertEqual((time([9, 2, 4]), time([8, 2, 4, 6]), time([])), (2, 2.5, 3))

    def test_a_study_that_is_not_finished(self):
        """an unfinished study ends with the exit status of its worst point"""
        os.mkdir("runs")
        study = {
            "points": [
                {"name": name, "kind": "run", "size": "L", "ranks": 1, "scaling": "strong"}
                for name in "ab"
            ]
        }

        def verdict():
            with contextlib.redirect_stderr(io.StringIO()) as said:
                return launch.verdict(".", study), said.getvalue()

        found = [verdict()]
        for name, code in (("a", 4), ("b", 6)):
            store.log_add(
                ".", {"point": name, "exit": code, "finished": False, "took": code, "why": ""}
            )
        self.as_before("study: verdicts", [*found, verdict()])
        self.replace(launch, "run", lambda *_: 6)
        with self.assertRaisesRegex(chapter.Trouble, "^cpu: some runs failed: the same"):
            chapter.finished("cpu", study, False)
        self.assertEqual(launch.expected(".", study, [{"ranks": 1}, {"ranks": 2}]), 10)
        pathlib.Path("lock").write_text("left by a killed run")
        store.lock(".", print).close()
        self.assertEqual(pathlib.Path("lock").read_text(), str(os.getpid()))
        self.assertEqual(launch.verdict(".", {"points": []}), 0)

    def test_plots_of_several_cuts_the_fastest(self):
        """plots take the fastest of several process grids, and divide by ranks only in strong
        scaling"""

        def point(ranks, procs, seconds, mode="strong"):
            key = "L", "stream", "staged" if ranks > 1 else None
            return dict(
                kind=scaling.MEASURED, mode=mode, key=key, ranks=ranks, procs=procs, seconds=seconds
            )

        points = [
            point(1, "1x1x1", 8),
            point(2, "2x1x1", 5),
            point(2, "1x2x1", 4),
            point(2, "1x1x2", 6),
            point(2, "2x1x1", 10, "weak"),
            {**point(2, "1x2x1", 1), "key": ("L", "temporal4", "staged")},
        ]
        strong, weak = (
            scaling.of_series(points, scaling.MEASURED, mode, ("L", "stream", "staged"))
            for mode in ("strong", "weak")
        )
        self.assertEqual([(one["procs"], one["seconds"]) for one in strong[2]], [("1x2x1", 4)])
        self.assertEqual(scaling.efficiencies(strong, "strong"), {1: 1, 2: 1})
        self.assertEqual(scaling.efficiencies(weak, "weak"), {1: 1, 2: 0.8})
        # A panel has one mode, kernel and transport, and up to four sizes, small ones first.
        points = [
            {**point(ranks, "", seconds, mode), "key": (size, kernel, path)}
            for seconds, size in enumerate("edcba")
            for kernel, paths in (("wide", ("p2p",)), ("long", ("p2p", "ipc")))
            for mode, ranks in (("weak", 4), ("strong", 2), ("strong", 1))
            for path in (paths if ranks > 1 else (None,))
        ]
        self.assertEqual(
            [
                (mode, name, "".join(key[0] for key in keys))
                for mode, name, keys in scaling.groups(points)
            ],
            [
                (mode, name, sizes)
                for mode in ("strong", "weak")
                for name in ("ipc, long", "p2p, long", "p2p, wide")
                for sizes in ("edcb", "a")
            ],
        )

    def test_a_report_has_efficiency_by_ranks(self):
        """a report shows efficiency by ranks, repeats that differ, and runs that were compared with
        nothing"""

        def row(ranks, time, verified="known"):
            one = row_of("L", time, "staged", ranks) | dict.fromkeys(("imax", "jmax", "kmax"), 4)
            one |= {"procs": "auto", "ceiling_share": 0.9, "gflops": 1, "class": "classic"}
            return one | {"verified": verified}

        class Study:
            predictions, drawn, documents, products = None, [], [{"ranks": [{"uuid": ""}]}], False

            def __init__(self, *rows):
                self.rows, self.study, self.points = rows, {}, [{"kind": "run"}] * len(rows)
                self.study = {"points": self.points}

            def unfinished(self):
                return []

        rows = row(1, 8e-6), row(1, 8e-6), row(2, 5e-6) | {"ceiling_share": None}
        found = [content.measurements(Study(*some)) for some in (rows, rows[1:])]
        for some in ((row(1, 1.0), row(1, 1.04)), (row(1, 1.0), row(1, 1.06), row(2, 1.0, "no"))):
            found.append(list(content.verdicts(Study(*some))))
        self.as_before("measurements", found)
        self.assertEqual(content.best_efficiencies(Study(row(1, 1e-6))), ({}, None))


if __name__ == "__main__":
    helper.main()
