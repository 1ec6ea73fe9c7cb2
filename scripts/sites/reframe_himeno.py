# SPDX-License-Identifier: MIT
"""ReFrame tests of himeno-gpu: correct results, and speed as a share of the memory bandwidth.

    reframe -c scripts/sites/reframe_himeno.py -r -S program=/opt/himeno/bin/himeno-gpu

The reference is a share of the ceiling that the same run measures, so one number fits every
device. The program is by default himeno-gpu on PATH, or the one built in this tree; further options
are given as -S options="-x p2p"."""

import pathlib
import shutil

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (
    parameter,
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)


@rfm.simple_test
class HimenoGpu(rfm.RunOnlyRegressionTest):
    descr = "himeno-gpu: verified sweeps against the memory's ceiling"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    size = parameter(["M", "L"])
    program = variable(str, value="")
    options = variable(str, value="")
    backend = variable(str, value="auto")
    ranks = variable(int, value=1)
    ranks_per_host = variable(int, value=1)
    seconds = variable(float, value=5.0)
    policy = variable(str, value="")
    # Expected share of the ceiling, and tolerance relative to it.
    share = variable(float, value=0.95)
    tolerance = variable(float, value=-0.05)
    document = "result.json"
    keep_files = ["result.json"]

    @run_after("init")
    def set_up(self):
        beside = pathlib.Path(__file__).resolve().parents[2] / "build" / "himeno-gpu"
        self.executable = self.program or (
            str(beside) if beside.exists() and not shutil.which("himeno-gpu") else "himeno-gpu"
        )
        self.num_tasks = self.ranks
        self.num_tasks_per_node = self.ranks_per_host
        self.executable_opts = [
            "-s",
            self.size,
            "-b",
            self.backend,
            "-t",
            str(self.seconds),
            "--no-tune",
            "--json",
            self.document,
        ]
        if self.policy:
            self.executable_opts += ["--accept", self.policy]
        self.executable_opts.append(self.options)

    @run_before("performance")
    def set_reference(self):
        self.reference = {"*": {"share_of_ceiling": (self.share, self.tolerance, None, "1")}}

    def found(self, name):
        return sn.extractsingle(rf'"{name}": ([0-9.eE+-]+)', self.document, 1, float)

    @sanity_function
    def is_right(self):
        return sn.all(
            [
                sn.assert_found(r"^  verdict +PASS", self.stdout),
                sn.assert_found(r'"partial": false', self.document),
            ]
        )

    @performance_function("1")
    def share_of_ceiling(self):
        return self.found("ceiling_share")

    @performance_function("GFLOPS")
    def rate(self):
        return sn.extractsingle(r"speed +([0-9.]+) GFLOPS", self.stdout, 1, float)
