#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the modules that all scripts use."""

import contextlib
import io
import json
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys

import helper
import files
import gpu_check_summary
import gpus
import processes
import settings
from endings import Trouble


def text(path):
    with open(path) as file:
        return file.read()


class Driver:
    """CUDA and OpenCL with these numbers of devices per platform, and 9 CPUs on each platform."""

    def __init__(self, error, *devices):
        self.error, self.devices = error, devices

    def cuInit(self, _):
        return self.error

    def cuDeviceGetCount(self, count):
        count._obj.value = sum(self.devices)
        return 0

    def clGetPlatformIDs(self, most, found, count):
        count._obj.value = len(self.devices)
        found[: len(self.devices)] = range(1, len(self.devices) + 1)

    def clGetDeviceIDs(self, platform, kind, most, _, count):
        count._obj.value = self.devices[platform.value - 1] if kind.value == 28 else 9
        return self.error


class Shared(helper.Case):
    def test_why_a_step_did_not_start(self):
        """the reason of a step that did not start: the program's last error, else the beginning of
        a launcher's framed message, else the last line"""
        rule = "-" * 74

        def said(*lines):
            with open("log", "w") as log:
                log.write("\n".join(("$ mpirun true", *lines)) + "\n")
            return processes.last_words("log")

        framed = "mpirun has found|too few slots. Ask for fewer.||Or name more hosts.".split("|")
        framed = (rule, *framed, rule)
        self.assertEqual(said(*framed), "mpirun has found too few slots.")
        device = "himeno-gpu: no such device"
        self.assertEqual(said("himeno-gpu: warning: a", device, *framed), device)
        self.assertEqual(said("one", "two", rule), "two")
        self.assertEqual(said(*framed, "bash: line 1", "bash: gone"), "bash: gone")

    def test_settings(self):
        """a session has its programs' versions; launchers need neither ssh nor rsh"""
        for name in ("one", "ucx_info"):  # the latter fails, because it is given -v
            pathlib.Path(name).write_text('#!/bin/sh\necho "#\n# a 1.0"\n[ $1 = --version ]\n')
            os.chmod(name, 0o755)
        self.replace(os, "environ", {**os.environ, "PATH": os.getcwd()})
        found = [settings.gather({"program": one, "launcher": "one -n"}) for one in ("./one", "no")]
        for name, one in zip("ab", found):
            one.update(environment={"UCX_TLS": name, f"OMP_{name}": "1"}, host="n1", kernel="6")
        self.as_before("settings", [*found, settings.differences(*found)])
        for name in ("ssh", "rsh", ""):
            self.replace(processes.shutil, "which", lambda program, name=name: program == name)
            self.assertEqual("PRTE_MCA_plm_ssh_agent" in processes.environment(), not name)

    def test_disk_full(self):
        """a file is replaced completely: if the disk is full, the old one stays"""
        files.write_whole("file", "old")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        with self.assertRaises(Trouble):
            files.write_whole("file", "new" * 1000)
        self.assertEqual(text("file"), "old")

    def test_links_and_permissions(self):
        """a file is replaced where symbolic links lead, and keeps its permissions; other targets,
        such as a pipe, are written to"""
        os.symlink("there", "link")
        files.write_whole("link", "one")
        self.assertTrue(os.path.islink("link"))
        self.assertEqual(text("there"), "one")
        os.chmod("there", 0o640)
        files.write_whole("link", b"two")
        self.assertTrue(os.path.islink("link"))
        self.assertEqual((text("there"), stat.S_IMODE(os.stat("there").st_mode)), ("two", 0o640))
        ended = self.python(
            'import files; print("before"); '
            'files.write_whole("/dev/stdout", "two\\n"); print("after")'
        )
        self.assertEqual(ended, (0, "before\ntwo\nafter\n", ""))
        os.symlink("round", "round")
        said = []
        for path in ("/dev/full", ".", "none/x", "there/x", "round"):
            with self.assertRaises(Trouble) as raised:
                files.write_whole(path, "three")
            said.append(str(raised.exception))
        self.as_before("files that cannot be written", "\n".join(said))
        self.assertEqual((text("there"), sorted(os.listdir())), ("two", ["link", "round", "there"]))

    def test_written_in_place(self):
        """a file that cannot be replaced is overwritten, with a warning; a script does not wait for
        a pipe's reader"""
        for broken in (
            "os.fchmod = refuse",
            "os.replace = refuse",
            "os.open, real = (lambda path, flags, *mode: "
            "refuse() if len(mode) else real(path, flags)), os.open",
        ):
            with open("file", "w") as file:
                file.write("older and longer")
            ended = self.python(
                "import os, files\ndef refuse(*_): raise PermissionError(1, 'no')\n"
                f"{broken}\nfiles.write_whole('file', 'new')"
            )
            warning = "-c: warning: file: overwritten in place, because it cannot be replaced: no\n"
            self.assertEqual((text("file"), ended), ("new", (0, "", warning)))
        if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode == 0:
            open("mounted", "w").close()
            code, _, errors = self.python(
                "import ctypes, subprocess, files\nctypes.CDLL(None).unshare(0x20000) # CLONE_NEWNS"
                "\nsubprocess.run(['mount', '--make-rprivate', '/'], check=True)"
                "\nsubprocess.run(['mount', '--bind', 'mounted', 'file'], check=True)"
                "\nfiles.write_whole('file', 'mounted')"
            )
            self.assertEqual((code, text("mounted")), (0, "mounted"))
            self.assertRegex(errors, "in place, .*busy")
        os.mkfifo("pipe")
        with self.assertRaisesRegex(Trouble, "^pipe: no process reads this pipe$"):
            files.write_whole("pipe", "x")
        with open("read", "wb") as read, subprocess.Popen(["cat", "pipe"], stdout=read):
            files.write_whole("pipe", "y" * 200000)
        self.assertEqual(os.path.getsize("read"), 200000)

    def test_signals(self):
        """a signal during a script's write leaves the older file, and no draft"""
        with open("file", "w") as file:
            file.write("older")
        for nameless in (True, False):
            for name in ("SIGHUP", "SIGINT", "SIGTERM"):
                ended = self.python(
                    "import os, signal, endings, files\nendings.end_cleanly()\n"
                    + "os.O_TMPFILE = os.O_CREAT | os.O_EXCL\n" * (not nameless)
                    + f"os.fsync = lambda descriptor: os.kill(os.getpid(), signal.{name})\n"
                    "files.write_whole('file', 'new')"
                )
                self.assertEqual(ended, (128 + getattr(signal, name), "", ""))
                self.assertEqual((text("file"), os.listdir()), ("older", ["file"]))

    def test_summary(self):
        """the summary of a recorded check has its figures, steps and verdict"""
        self.assertEqual(
            [gpu_check_summary.figure("", value, 0.99)["verdict"] for value in (0.989, 0.99, 1)],
            ["slow", "met", "met"],
        )
        runs = self.recorded("h100-2026-11-check")
        os.mkdir("json")
        os.mkdir("notes")
        for name, document in runs.items():
            pathlib.Path(f"json/{name}.json").write_text(json.dumps(document))
            pathlib.Path(f"json/{name}.cmd").write_text(f"{name} -n\n")
        for steps, code, verdict in (
            ("one pass 3 9,two skip 0 9", 0, "pass, slow"),
            ("one pass 3 9,two timeout 0 9", 1, "fail"),
            ("one pass 3 9,two fail 0 9", 1, "fail"),
            ("one skip 3 9", 1, "fail"),
        ):
            pathlib.Path("steps").write_text(steps.replace(" ", "\t").replace(",", "\n"))
            pathlib.Path("notes/one").write_text("as told\n")
            self.replace(sys, "argv", ["", "steps", "."])
            with contextlib.redirect_stdout(io.StringIO()) as out:
                self.assertEqual(gpu_check_summary.main(), code)
            found = json.loads(text("summary.json"))
            self.assertEqual((found["verdict"], out.getvalue()), (verdict, text("summary.txt")))
        lines = out.getvalue().splitlines()
        self.assertRegex(lines[0], r"^gpu-check on \S+, 2\S+Z: fail$")
        self.as_before("gpu-check", "\n".join(lines[1:]))
        step = {"name": "one", "outcome": "skip", "seconds": 3, "limit": 9, "note": "as told"}
        self.assertEqual(found["steps"], [{**step, "log": "logs/one.log"}])
        one = {"name": "auto-cuda-L", "file": "json/auto-cuda-L.json", "command": "auto-cuda-L -n"}
        self.assertEqual((found["runs"][0], len(found["runs"])), (one, len(runs)))
        # The target of TF32 is newer than the record, and that of sgemm-tc is gone.
        new, old = (
            [one for one in of["figures"] if not re.search("tf32|sgemm-tc", one["name"])]
            for of in (found, runs["summary"])
        )
        self.assertEqual((new, len(new)), (old, 38))
        runs["ladder-cuda-XL"]["config"]["device"] = "NVIDIA H200"
        library = {"yardsticks": [{"kernel": "cublas", "ours_share": 1}]}
        runs.update(dict.fromkeys(gpu_check_summary.TENSOR_TARGETS, library))
        named = {name: {"document": document} for name, document in runs.items()}
        self.as_before("gpu-check: figures", list(gpu_check_summary.figures(named)))

    def test_gpus_of_drivers(self):
        """a GPU is found if CUDA has a device, or a platform of OpenCL a device that is no CPU"""
        for library, *why in (
            (None, "there is no libcuda.so.1", "there is no libOpenCL.so.1"),
            (Driver(100), "error 100", "0 platforms without a GPU"),
            (Driver(0, 0), "no device", "1 platform without a GPU"),
            (Driver(-1, 0, 1), "error -1", "2 platforms without a GPU"),
            (Driver(0, 0, 1), None, None),
        ):

            def opened(name, library=library):
                if not library or name not in ("libcuda.so.1", "libOpenCL.so.1"):
                    raise OSError
                return library

            self.replace(gpus.ctypes, "CDLL", opened)
            self.assertEqual([gpus.cuda(), gpus.opencl()], why)


if __name__ == "__main__":
    helper.main()
