#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of tables, metrics and drift of scripts/accept."""

import helper  # first, because it makes other modules importable
import drift
import measured


class Measured(helper.Case):
    def test_drift_of_devices_and_hosts(self):
        """drift: only a change beyond its noise counts, a rate below the guaranteed one is noisy
        only if noise explains it, and counters may restart"""

        def row(gflops, noise=0.001, corrected=None):
            device = {"host": "a", "rank": 0, "uuid": ""}
            return {**device, "gflops": gflops, "noise": noise, "corrected": corrected}

        def judged(now, noise=0.001):
            return drift.change(row(100), row(now, noise), 10, drift.RATE_MIN)["outcome"]

        found = [judged(now) for now in (98.5, 99.5, 100.5, 101.5, 90.1, 89.9)]
        found += [judged(now, 0.02) for now in (95, 93, 105, 107, 89, 80)] + [judged(89, 0.015)]
        for old, new in ((10, 30), (30, 10), (None, 3)):
            found.append(drift.change(row(1, corrected=old), row(1, corrected=new), 10, 0.9))
        some = (row(None), row(0), row(1, None))
        pairs = [(one, row(1)) for one in some] + [(row(1), one) for one in some]
        pairs += [(row(1), None), (None, row(1))]
        found += [drift.change(*pair, 0, 0.9)["outcome"] for pair in pairs]
        hosts = [drift.change(row(100), row(now), 1, 0.9) for now in (99, 80, 120)]
        self.as_before("drift", [*found, *hosts, drift.of_host(hosts)])
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
        still = {"gflops": 4, "phases": dict.fromkeys(phases, 0)}
        rows = [row(*ranks, **result), row(ranks[2], **result), row(still, still, **result)]
        self.as_before("measured", rows)
        empty = measured.row_of("n", {}, [], [], [])
        self.assertEqual({empty[key] for key in empty if key != "host"}, {None})


if __name__ == "__main__":
    helper.main()
