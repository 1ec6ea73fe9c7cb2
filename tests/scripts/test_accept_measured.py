#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of tables, metrics and drift of scripts/accept."""

import contextlib
import html
import io
import json
import re

import helper  # first, because it makes other modules importable
import drift
import measured
import published
import report


class Measured(helper.Case):
    def test_drift_of_devices_and_hosts(self):
        """drift: only a change beyond its noise counts, a rate below the guaranteed one is noisy
        only if noise explains it, and counters may restart"""

        def row(gflops, noise=0.001, corrected=None):
            device = {"host": "a", "rank": 0, "uuid": ""}
            return {**device, "gflops": gflops, "noise": noise, "corrected": corrected}

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
        # without both rates and both noises nothing is compared
        some = (row(None), row(0), row(1, None))
        pairs = [(one, row(1)) for one in some] + [(row(1), one) for one in some]
        pairs += [(row(1), None), (None, row(1))]
        self.assertEqual(
            [drift.change(*pair, 0, 0.9)["outcome"] for pair in pairs],
            ["unknown"] * 6 + ["vanished", "new"],
        )
        hosts = [{**drift.change(row(100), row(now), 1, 0.9)} for now in (99, 80, 120)]
        self.assertEqual(
            [drift.of_host(hosts)[key] for key in ("gflops", "before", "percent", "outcome")],
            [80, 100, -20, "below the guaranteed rate"],
        )
        self.assertIsNone(drift.of_host([drift.change(row(1), None, 1, 0.9)]))
        # If two hosts have had, or have, a device, it was not moved.
        for old, new, moved in (("a", "b", {"x": "a"}), ("ab", "c", {}), ("a", "bc", {})):
            before, now = ({(host, "x"): host for host in names} for names in (old, new))
            self.assertEqual(drift.move(before, now), moved)
            self.assertEqual(set(before), {("b", "x")} if moved else {(host, "x") for host in old})

    def test_outliers_are_on_the_bad_side(self):
        """outliers are on the bad side, and beyond five deviations and a minimum distance, among at
        least four hosts"""
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
        """a row has the worst of the devices' values, and the extremes of the telemetry"""
        phases = dict.fromkeys(("pack", "d2h", "transfer", "h2d", "unpack"), 1)
        ranks = [
            {"gflops": 3, "ceiling_share": 0.9, "theory": {"share": 0.8}, "phases": phases},
            {"gflops": 2, "ceiling_share": 0.95, "theory": {"share": None}, "phases": phases},
            {"gflops": 4, "theory": None, "phases": {**phases, "d2h": 3}},
        ]
        results = (
            [
                {"celsius": [40, 60], "watts": [1, 9], "sm_mhz": [5, 8]},
                {"celsius": [30, 50], "watts": [2, 3], "sm_mhz": [6, 6]},
            ],
            [3, None, 1],
            [None, 2, 4],
        )

        def row(*ranks, **result):
            return measured.row_of("n", {"ranks": ranks, "result": result}, *results)

        result = {"ceiling_share": 0.5, "energy": {"gflops_per_watt": 7}, "samples": [1]}
        wanted = dict(host="n", gflops=2, ceiling_share=0.9, theory_share=0.8, exchange_seconds=7)
        wanted.update(pair_seconds=3, celsius=60, watts=9, gflops_per_watt=7, sm_mhz=5, errors=3)
        self.assertEqual(row(*ranks, **result), wanted)
        wanted.update(gflops=4, ceiling_share=0.5, theory_share=None, exchange_seconds=None)
        self.assertEqual(row(ranks[2], **result), wanted)
        still = {"gflops": 4, "phases": dict.fromkeys(phases, 0)}
        self.assertEqual(row(still, still, **result), wanted)
        empty = measured.row_of("n", {}, [], [], [])
        self.assertEqual({empty[key] for key in empty if key != "host"}, {None})

    def test_shares_of_theory_and_gflops_w(self):
        """shares of theory and GFLOPS/W are in the table, accept.json and the page, at the right
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
            step = {"ranks": [3], "command": "", "outcome": "pass", "seconds": 1}
            run.done = {f"alone-{name}": {**step, "hosts": [name]} for name in rates}
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
        # A figure that no host has gets no column in the table, and is null in accept.json.
        text, rows, page = accepted(dict.fromkeys(rates))
        self.assertEqual(
            {(row["theory_share"], row["gflops_per_watt"]) for row in rows}, {(None, None)}
        )
        self.assertNotIn("theory", text + page.split("</style>")[1])
        self.assertNotIn("GFLOPS/W  ", text)

    def test_metrics_escape_what_their_format_does(self):
        """metrics escape characters as their format requires, and leave out unknown values"""
        row = dict.fromkeys(column[0] for column in measured.COLUMNS)
        row.update(
            gflops_per_watt=50, host='a"\\b', gflops=2, errors=0, outliers=[], verdict="pass"
        )
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


if __name__ == "__main__":
    helper.main()
