#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Simulations of scripts/accept-power."""

import re
import runpy
import shutil
import subprocess
import sys
import types

import helper  # first, because it makes other modules importable
import streams


def rows(text):
    """{(level, hosts and devices): cells}; a dash is infinite, or never."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in re.findall(r"^\| [123] \| \d+ × .*$", text, re.MULTILINE)
    ]
    return {(line[0], line[1]): line[2:] for line in cells}


def number(cell):
    return float("inf") if cell == "–" else float(re.match("[0-9.]+", cell)[0])


class Power(helper.Case):
    def simulated(self, *options):
        if not shutil.which("mpicc"):
            self.skipTest("there is no mpicc")
        for python in (sys.executable, "/usr/bin/python3"):
            command = [python, "-B", helper.SCRIPTS / "accept-power", *options]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode != 3:
                self.assertEqual(ended.returncode, 0, ended.stderr)
                return ended.stdout
        return self.skipTest(ended.stderr)

    def test_levels_find_what_is_promised(self):
        """levels 1 and 2 find what the documentation promises, and accuse no sound cluster"""
        page = helper.SOURCE / "doc/lab/acceptance-power.md"
        told = rows(page.read_text(encoding="utf-8"))
        found = {
            **rows(self.simulated("--level", "1", "--runs", "200", "--planted", "40")),
            **rows(self.simulated("--level", "2", "--runs", "20", "--planted", "20")),
        }
        self.assertEqual((len(found), set(found) - set(told)), (2, set()))
        for key, cells in found.items():
            alarms, _, of = told[key][0].split()[:3]
            self.assertLessEqual(int(cells[0].split()[0]), 1)
            self.assertLessEqual(int(alarms) * 1000, int(of))
            for said, seen in zip(told[key][1:6], cells[1:6]):
                self.assertLessEqual(number(seen), 1.5 * number(said), key)
            self.assertGreaterEqual(number(cells[6]), number(told[key][6]) / 2, key)

    def test_tables(self):
        """the tables of few simulated runs are those that the same seeds gave before"""
        for options in (
            "--level 1 --level 3 --runs 3 --planted 2 --hosts 4 --per-host 2",
            "--clean 4 --hosts 4 --per-host 2",
            "--streams --runs 2 --planted 2",
        ):
            self.as_before(f"accept-power {options}", self.simulated(*options.split()))

    def test_exchanges_have_the_times_of_their_fault(self):
        """simulated exchanges take the time of their path, fault and congestion"""
        power = runpy.run_path(str(helper.SCRIPTS / "accept-power"))
        for kind, concurrent, chance, factors in (
            (None, True, 0.03, (1, 1, 1)),
            (None, True, 0.01, (2, 2, 2)),
            (None, False, 0.01, (1, 1, 1)),
            ("cable", False, 0, (3, 3, 1)),
            ("path", False, 0, (3, 1, 1)),
        ):
            run = types.SimpleNamespace(paths={("n2", "n3"): 1}, plant=power["Plant"](kind, 3))
            run.dice = types.SimpleNamespace(
                random=lambda chance=chance: chance, gauss=lambda mean, deviation: mean - deviation
            )
            for pair, factor in zip((("n2", "n1"), ("n1", "n3"), ("n3", "n2")), factors):
                time = power["Cluster"].exchange(run, pair, concurrent)
                self.assertAlmostEqual(time / factor, 0.95 if "n1" not in pair else 0.95 * 1.03e-4)

    def test_streams_have_the_rates_of_their_fault(self):
        """simulated streams have the rates of their paths, cards and faults"""

        def flows(*arguments, gauss=0):
            dice = types.SimpleNamespace(gauss=lambda *_: gauss)
            return {
                (one["from"], to, one["shift"]): (round(one["alone"], 2), one["all"])
                for to, row in enumerate(streams.flows(*arguments, dice))
                for one in row["fabric"]
            }

        good = {(0, 1, 1): (100, 100), (1, 2, 1): (100, 100), (2, 0, 1): (100, 100)}
        good.update({(0, 2, 2): (100, 100), (1, 0, 2): (100, 100), (2, 1, 2): (100, 100)})
        self.assertEqual(flows(3, 1, 0, None, 2), good)
        self.assertEqual(flows(3, 1, 0, "link", 2), {**good, (0, 1, 1): (100, 50)})
        slow = {ends: (50, 50) if 2 in ends[:2] else (100, 100) for ends in good}
        self.assertEqual(flows(3, 1, 0, "host", 2), slow)
        self.assertEqual(set(flows(2, 2, 0, None, 1)), {(0, 2, 1), (1, 3, 1), (2, 0, 1), (3, 1, 1)})
        self.assertEqual({shift for _, _, shift in flows(10, 1, 0, None, 1)}, {1, 3, 5, 7, 9})
        # The path has 97 of 100; errors add 3% or 10%; with 10%, only large differences are known.
        many = flows(2, 1, 0.1, "link", 4, gauss=1)
        self.assertEqual(many[1, 0, 1], (99.91, None))
        self.assertAlmostEqual(many[0, 1, 1][1], 26.675)
        self.assertAlmostEqual(flows(2, 1, 0.03, None, 1, gauss=1)[0, 1, 1][1], 99.91)

        dice = types.SimpleNamespace(gauss=lambda *_: 1)
        wires = [row["wire"] for row in streams.wires(2, "card", 2, dice)]
        self.assertEqual([wire["peer"] for wire in wires], [2, 3, 0, 1])
        self.assertEqual([wire["card"] for wire in wires], ["mlx5_0/1", "mlx5_1/1"] * 2)
        for mode in ("out", "out_all"):
            for wire, rate in zip(wires, (0.4850508, 0.9701016, 0.9701016, 0.9701016)):
                self.assertAlmostEqual(wire[mode], rate)


if __name__ == "__main__":
    helper.main()
