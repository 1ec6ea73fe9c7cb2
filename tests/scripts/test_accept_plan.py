#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of hosts, devices, times, levels and soaks of scripts/accept."""

import argparse
import contextlib
import io
import os
import pathlib
import types
import unittest.mock

import helper  # first, because it makes other modules importable
import counts
import hosts
import levels
import soaking
import stages
import steps
import timing


HOST_FILES = {
    "file": "\ufeffn1 slots=2 # x; ; n2 max_slots = 3; n3:4; n4 xslots=5 slots=6x; n5; n5; "
    "n[6-7] max-slots=8 slots=1; fe80::1:2; [::1]; n1:1",
    "zero": "n1:0 slots=2",
    "topology": "SwitchName=s1 Level=0 Nodes=n[1-2]; SwitchName=s2 Level=0 Nodes=n9; SwitchName=s3 "
    "Level=1 Nodes=n1; SwitchName=s4 Level=0; Level=0 Nodes=n1; SwitchName=s5 Level=0 Nodes=::1,n5",
}


class Plan(helper.Case):
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

    def test_brackets_of_any_number_are_counted(self):
        """brackets with any numbers are expanded as by Slurm, and lists that are too long are
        refused"""
        for text, names in (
            ("rack[1-2]n[1-2]", "rack1n1 rack1n2 rack2n1 rack2n2"),
            ("a[08-10]b,c", "a08b a09b a10b c"),
            ("[1,3]x[2-3]y", "1x2y 1x3y 3x2y 3x3y"),
            ("", ""),
        ):
            self.assertEqual(hosts.expand(text), names.split())
        endless = "n[1-9999]m[1-9999] n[1-200000] n[1-60000],m[1-60000]"
        for text in (endless + " n[] n[1,] n[1-2 n] n[[1]] n[2-1]m[1] n[1]/.. -[1-2]").split():
            with self.assertRaises(hosts.BadInput, msg=text):
                hosts.expand(text)

    def test_hosts_of_each_source(self):
        """hosts, slots, launchers, leaf switches and durations are those of each source"""
        for name, text in HOST_FILES.items():
            pathlib.Path(name).write_text(text.replace("; ", "\n"))
        self.replace(hosts, "checked_launcher", lambda text, names: f"{text} #{len(names)}")
        a, lines = argparse.Namespace(topology="topology"), []
        for nodes, a.hosts, a.hostfile, a.launcher in (
            *((None, *of, None) for of in ((None, None), ("n1", "file"), (None, "zero"), ("", ""))),
            ("", "n2,n1,n2", None, None),
            *(("m[1-2]", text, None, None) for text in (None, "", "n2,n1,n2", "n5,fe80::1:2")),
            *((None, None, "file", launcher) for launcher in (None, "go {list}")),
        ):
            more = {"SLURM_JOB_NODELIST": nodes, "SLURM_JOB_ID": "7"} if nodes else {}
            self.replace(os, "environ", {"MPIRUN": "run"} if nodes == "" else more)
            try:
                a.names = hosts.names(a)
                lines += [a.names, a.slots, hosts.leaves(a)]
                lines.append(hosts.filled(hosts.launcher(a), a.names[:2], [2, 3]))
            except hosts.BadInput as error:
                lines.append(error)
        lines += map(hosts.duration, ("90", "1.5m", ".5h", "2d", "1s"))
        for text in ("0", "1w", "1.5.1", "m"):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, f"^{text}: must be a positive"):
                hosts.duration(text)
        self.as_before("hosts", "\n".join(map(str, lines)))

    def devices(self, given=(), **settings):
        """Return the devices of n1 and n2 in such a job, True if they are GPUs, and --per-host."""
        a = {"names": ["n1", "n2"], "per_host": None, "slots": {}, "expected": {}, **dict(given)}
        a = argparse.Namespace(**a)
        with unittest.mock.patch.dict(
            os.environ, PATH=f"{os.getcwd()}:{os.environ['PATH']}", **settings
        ):
            counts.count(a)
        return [settings, a.devices, a.are_gpus, a.per_host]

    def test_the_number_of_devices_by_each(self):
        """each of Slurm's variables gives the number of a host's devices"""
        pathlib.Path("scontrol").write_text("#!/bin/sh\ncat job\n")
        pathlib.Path("scontrol").chmod(0o755)
        pathlib.Path("job").touch()
        found = [self.devices(SLURM_GPUS="h100:16", SLURM_JOB_NUM_NODES="2")]
        for name, values in {
            "SLURM_GPUS_PER_NODE": ("8", "h100:8", "h100:4,a100:4"),
            "SLURM_TRES_PER_NODE": ("gres:gpu:8", "gres/gpu:8", "nic:2", "nic:1,gres/gpu:h100=8"),
            "SLURM_GPUS_ON_NODE": ("8",),
            "SLURM_JOB_GPUS": ("0,1,2,3,4-7",),
            "SLURM_STEP_GPUS": ("0-7",),
            "SLURM_NTASKS_PER_NODE": ("3",),
        }.items():
            found += [self.devices(**{name: value}) for value in values]
        # A job's devices on each node take precedence over the other variables.
        pathlib.Path("job").write_text(
            "JobId=7\n   Nodes=n1 CPU_IDs=0-15 Mem=0 GRES=gpu:h100:8(IDX:0-7)\n"
            "   Nodes=n[2-3] CPU_IDs=0-15 Mem=0 GRES=gpu:h100:7(IDX:0-6),nic:1(IDX:0)\n"
        )
        found.append(self.devices(SLURM_JOB_ID="7", SLURM_GPUS_ON_NODE="8"))
        slots, listed = {"n1": 3, "n2": 5}, {"n1": {"gpus": [{"count": 6}, {}]}, "n2": {}}
        for given in ({}, {"slots": slots}, {"slots": slots, "expected": listed}, {"per_host": 1}):
            found.append(self.devices(given, SLURM_JOB_ID="7"))
        with self.assertRaisesRegex(hosts.BadInput, "^--per-host 0: must be at least 1$"):
            self.devices({"per_host": 0})
        self.as_before("devices by Slurm", "\n".join(map(str, found)))

        run = helper.Run()
        for name, uuids in zip("abc", ("xy", "zz", "")):
            run.documents[f"alone-{name}"] = {"ranks": [{"uuid": uuid} for uuid in uuids]}
        run.a.devices = dict.fromkeys("abc", 2)
        self.assertEqual(counts.short(run, "abc"), {"b": "1 of 2 GPUs are usable, all on a"})
        run.a.listed = run.a.devices
        self.assertEqual(counts.short(run, "bcd"), {"b": "1 of 2 GPUs are usable"})
        run.documents["alone-a"].update(config={"backend": "qpu"})
        self.assertEqual(counts.short(run, "ab"), {"b": "1 of 2 GPUs are usable"})
        run.a.are_gpus = True
        self.assertEqual(list(counts.short(run, "ab")), ["a", "b"])
        run.a.backend = "cpu"
        self.assertEqual(counts.short(run, "ab"), {})
        unused = {"ranks": [{}, {"host_devices_unused": 3}, {"host_devices_unused": 2}]}
        self.assertEqual(
            [counts.seen_by(one) for one in (None, {"ranks": [{}]}, unused)], [1, 1, 4]
        )

    def test_locked(self):
        """a folder that another run uses is refused"""
        self.replace(steps, "LOCK_TENTHS", 0)
        with open("lock", "w") as mine, open("lock", "w") as other:
            run = types.SimpleNamespace(lock=mine, a=types.SimpleNamespace(folder="out"))
            steps.Run.take_lock(run)
            run.lock = other
            with self.assertRaisesRegex(steps.Trouble, "^out: in use by another run$"):
                steps.Run.take_lock(run)

    def test_how_long_it_takes(self):
        """the estimated duration counts steps by stage and in waves, follows the pace so far, and
        is at most the budget"""
        texts = list(map(timing.text, (0, 99, 100, 3600, 3660, 7800)))
        self.assertEqual(texts, ["1 s", "99 s", "2 min", "1 h", "1 h 1 min", "2 h 10 min"])

        def of(names, **more):
            given = {"seconds": 2, "parallel": 4, "rounds": 3, "leaves": {}, **more}
            unset = dict.fromkeys(("level", "soak", "budget"))
            return types.SimpleNamespace(
                names=names, **{**unset, "stages": list(stages.NAMES), **given}
            )

        leaves = {"x": "abc", "y": "de", "z": "abcdef"}
        self.as_before("timing", timing.stages(of("abcdef", leaves=leaves)))
        steps_of_pairs = [timing.stages(of("abcd"[:n]))["pairs"][0] for n in (1, 2, 3, 4)]
        self.assertEqual(steps_of_pairs, [0, 1, 3, 6])
        self.assertEqual(timing.stages(of("a"))["all"], (0, 0))
        now = [100]
        self.replace(timing.time, "time", lambda: now[0])
        some = of("ab"), of("ab", budget=25), of("ab", soak=50)
        self.assertEqual([timing.Timing(one).expected() for one in some], [80, 25, 60])
        run = types.SimpleNamespace(a=types.SimpleNamespace(write_inventory=None))
        run.timing = types.SimpleNamespace(remaining=lambda: 9)
        passed, slow = {"a": {"outcome": "pass"}}, {"a": {"outcome": "slow"}}
        left = (("alone", slow, 2), ("alone", passed, 1), ("alone", slow, 1), ("pairs", slow, 1))
        left = [steps.Run.left_text(run, *of) for of in left]
        self.assertEqual(left, [", about 9 s left"] * 2 + ["", ", about 9 s left"])
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

    def test_levels_end_in_time(self):
        """each level ends in time, and given options are kept"""

        def at(level, *given):
            a = argparse.Namespace(level=level, given=dict.fromkeys(given), stages="all", seconds=9)
            a.limit, a.budget, a.rounds, a.soak = 180, None, 3, None
            levels.at_level(a)
            return a

        # 10 s to stop the launcher, and 1 s to start the script.
        for level, limit in ((1, 59), (2, 599), (3, 4 * 3600)):
            self.assertLessEqual(at(level).budget + 10 + 1, limit)
        for level in 1, 2:
            self.assertLess(at(level).limit, at(level).budget)
        self.assertLess(at(3).soak, at(3).budget)
        found = at(1).stages, at(2).stages, at(1).seconds, at(1, "--seconds").seconds
        self.assertEqual(found, (["alone"], "all", 5, 9))
        none = vars(at(None))
        unset = dict.fromkeys(("budget", "block", "timeout", "soak"))
        self.assertEqual(none, {**none, **unset, "seconds": 9})

    def test_a_soak_reports_what_its_clean(self):
        """a soak reports the rate of errors that its clean slices exclude, and the work with the
        most power"""
        self.replace(soaking.stages, "alone", lambda run, names: names)
        self.replace(soaking, "after_failure", lambda run, step, names: names[1:])

        def judged(outcomes, documents):
            with contextlib.redirect_stdout(io.StringIO()) as text:
                soaking.soak(helper.Run(outcomes, documents))
            return text.getvalue().replace("\n      ", " ")

        def worth(kind, of):
            return {"result": {"soak": of}} if kind == "memory" else {"worth": of}

        documents = {
            f"soak-{n:04d}-{kind}": worth(kind, {"device_days": days, "power_share": share})
            for n, (kind, days, share) in enumerate(
                (("memory", 1, 0.7), ("compute", 2, 0.93), ("memory", 1, 0.6), ("compute", 4, 0.89))
            )
        }
        texts, last = [judged({}, documents)], documents["soak-0003-compute"]
        for share in (0.79, None):
            last["worth"]["power_share"] = share
            texts.append(judged({}, documents))
        del last["worth"]
        texts.append(judged({}, documents))
        last["worth"] = {"device_days": 4, "power_share": None}
        texts.append(judged({"soak-0001-compute": {"outcome": "wrong", "seconds": 25}}, documents))
        # A clean slice of memory has a transient slowdown and error counters: they are printed, but
        # no finding. The host's name is the one given to the launcher.
        documents["soak-0002-memory"].update(
            episodes=[{"rank": 1, "of": "compute", "slowness": 1.25, "begin": 20, "end": 35.04}],
            ranks=[
                {"host": "n1", "uuid": "GPU-0", "counted": {"xids": 0, "pcie_replays": None}},
                {"host": "n2", "uuid": "", "counted": {"xids": 1, "nvlink_crc": 7}},
            ],
        )
        self.as_before("soak", "\n".join([*texts, judged({}, documents)]))
        run = helper.Run()
        self.assertEqual(soaking.hotter(run, 600), ["--block", "1", "--beta", "1"])
        self.assertEqual(soaking.hotter(run, 5), ["--block", "0.25", "--beta", "1"])
        run.a.gemm_options = ["--block=2", "--beta", "0"]
        self.assertEqual(soaking.hotter(run, 600), [])

    def test_a_soak_goes_on_for_the(self):
        """a soak uses the time that a slice left over"""
        self.replace(soaking.stages, "alone", lambda run, names: names)
        self.replace(soaking, "after_failure", lambda run, step, names: names[names[0] == "a" :])
        run = helper.Run()
        soaking.soak(run)
        slices = "0000-memory 0001-compute 0002-memory 0003-compute".split()
        self.assertEqual(run.launched, [f"soak-{one}" for one in slices])
        run = helper.Run()
        run.a.soak = 10
        soaking.soak(run)
        self.assertEqual(run.launched, ["soak-0000-memory"])
        run = helper.Run({"soak-0001-compute": {"outcome": "wrong", "seconds": 1}})
        soaking.soak(run)
        self.assertEqual(len(run.launched), 5)

        # Products in a slice share its time: at first each kernel gets a third, and later the share
        # that the previous slice showed to be enough. The remaining time is used later.
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


if __name__ == "__main__":
    helper.main()
