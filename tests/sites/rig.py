# SPDX-License-Identifier: MIT
"""Simulates the site of a row: a command and its faults, with its output and exit status."""

import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

source = pathlib.Path(__file__).resolve().parents[2]
build = pathlib.Path(os.environ.get("top_builddir") or source / "build").resolve()
himeno = f"{build}/himeno-gpu"
clocked = f"{build}/tests/clock/himeno-gpu"  # its null devices have equal speeds
SLOWNESS = int(os.environ.get("SLOWNESS") or 1)  # tests/settings.sh
SITE = '{"name": "site", "device_gflops_min": 11.5, "noise_max": 0.2, "stragglers_max": 0}'


@dataclasses.dataclass
class Play:
    """A command, and the site on which it runs. Paths are relative to the row's folder."""

    words: list
    faults: tuple = ()  # lines for fake-cluster
    files: dict = dataclasses.field(default_factory=dict)  # {name: contents as text or bytes}
    env: dict = dataclasses.field(default_factory=dict)  # None removes a variable
    needs: tuple = ()  # names of NEEDS
    prepare: str = ""  # shell script that runs before the command
    limit: float = 90

    def on(self, prefix, **more):
        """Return the same command with the words `prefix` before it, and with other fields."""
        fields = {
            name: {**getattr(self, name), **value} if isinstance(value, dict) else value
            for name, value in more.items()
        }
        return dataclasses.replace(self, words=[*prefix, *self.words], **fields)


# ---- commands ----


def program_of(words):
    return clocked if "-b null" in words else himeno


def accept(
    hosts,
    *options,
    per_host=2,
    stages="alone,all",
    policy=SITE,
    words="-b null --block 5",
    faults=(),
    launcher="",
    **more,
):
    """Return a Play of scripts/accept on hosts of fake-cluster."""
    given = ["--hosts", hosts] if hosts else []
    given += ["--per-host", str(per_host)] if per_host else []
    launcher = launcher or f"{source}/tests/sites/fake-cluster {{list}} {{per_host}}"
    more["files"] = {"site.json": policy, **more.get("files", {})}
    return Play(
        [
            f"{source}/scripts/accept",
            "out",
            *given,
            "--program",
            program_of(words),
            "--size",
            "18x18x34",
            "--seconds",
            "0.05",
            "--limit",
            str(30 * SLOWNESS),
            "--rounds",
            "3",
            "--parallel",
            "2",
            "--gemm-options",
            "-s 64",
            "--policy",
            "site.json",
            "--stages",
            stages,
            "--options",
            words,
            "--launcher",
            launcher,
            *options,
        ],
        faults=tuple(faults),
        **more,
    )


def here(*options, **more):
    """Return a Play of scripts/accept on this host only, with mpirun as the launcher."""
    return accept(
        "localhost",
        *options,
        launcher=f"{os.environ.get('MPIRUN') or 'mpirun'} -np {{ranks}} --host {{slots}}",
        **more,
    )


def job(*ranks, program="himeno-gpu", **more):
    """Return a Play of mpirun with one rank per text. A text has NAME=VALUE for its environment,
    ./NAME for another program, and options."""
    words = [os.environ.get("MPIRUN") or "mpirun"]
    for n, text in enumerate(ranks):
        given = shlex.split(text)
        settings = [word for word in given if re.match(r"[A-Z_]+=", word)]
        own = [word for word in given if word not in settings and not word.startswith("./")]
        path = next((word for word in given if word.startswith("./")), f"{build}/{program}")
        words += [*([":"] if n else []), "-np", "1", "env", *settings, path, *own]
    return Play(words, **more)


def shell(script, **more):
    """Return a Play of a bash script, which may use $himeno, $source and $build."""
    return Play(["bash", "-c", script], **more)


# ---- sites ----


def mounted(play, *mounts):
    """Return the Play in a separate mount namespace, after these shell commands."""
    return play.on(
        ["unshare", "--mount", "sh", "-c", " && ".join([*mounts, 'exec "$@"']), "sh"],
        needs=(*play.needs, "mounts"),
    )


GPU_FILES = {
    "class": "0x030200",
    "vendor": "0x10de",
    "device": "0x2330",
    "numa_node": "-1",
    "subsystem_vendor": "0x10de",
    "subsystem_device": "0x16c1",
}


def with_bus(play, *gpus):
    """Return the Play on a host whose PCI bus has only NVIDIA GPUs, at these addresses."""
    files = {
        f"bus/{address}/{name}": f"{text}\n" for address in gpus for name, text in GPU_FILES.items()
    }
    there = dataclasses.replace(
        play,
        files={**play.files, "bus/.keep": "", **files},
        env={**play.env, "HWLOC_XMLFILE": None},
        needs=(*play.needs, "no GPU"),
    )
    return mounted(there, "mount --bind bus /sys/bus/pci/devices")


def starved(play, percent):
    """Return the Play with this share of one core, in per cent, for all its processes."""
    script = f"""folder=/sys/fs/cgroup/cpu/sites-$$
if [ -d /sys/fs/cgroup/cpu ]; then
  mkdir $folder && echo 100000 >$folder/cpu.cfs_period_us &&
    echo {percent * 1000} >$folder/cpu.cfs_quota_us
else
  folder=/sys/fs/cgroup/sites-$$
  mkdir $folder && echo "{percent * 1000} 100000" >$folder/cpu.max
fi || exit 77
(sh -c 'echo $PPID' >$folder/cgroup.procs || exit 77; exec "$@")
code=$?
sleep 0.2
rmdir $folder 2>/dev/null
exit $code"""
    return play.on(["bash", "-c", script, "bash"], needs=(*play.needs, "cgroups"))


NO_CHMOD = """#include <errno.h>
int chmod(void) { errno = EPERM; return -1; }
int fchmod(void) { errno = EPERM; return -1; }
int fchmodat(void) { errno = EPERM; return -1; }
"""


def without_chmod(play):
    """Return the Play as on a file system that refuses to change permissions."""
    script = 'cc -shared -fPIC -o chmod.so chmod.c || exit 77; LD_PRELOAD=$PWD/chmod.so exec "$@"'
    return play.on(["bash", "-c", script, "bash"], files={"chmod.c": NO_CHMOD})


def in_slurm(nodes, script, gpus="", policy=SITE, **more):
    """Return a Play of a shell script under a Slurm of `nodes` nodes on this machine (h1, h2, …),
    which list `gpus`."""
    return shell(
        f'chmod 755 .; exec "$source/tests/sites/slurm-here" slurm {nodes} bash script',
        files={"site.json": policy, "script": script},
        env={"SLURM_HERE_GPUS": gpus},
        limit=240,
        **more,
    )


# ---- what a row needs ----


def gpu_here():
    devices = pathlib.Path("/sys/bus/pci/devices").glob("*")
    return any(
        (one / "class").read_text().startswith("0x03")
        and (one / "vendor").read_text().strip() == "0x10de"
        for one in devices
    )


def runs(*words):
    return (
        bool(shutil.which(words[0]))
        and subprocess.run(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        ).returncode
        == 0
    )


NEEDS = {
    "root": lambda: os.geteuid() == 0,
    "mounts": lambda: runs("unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"),
    "cgroups": lambda: any(
        os.access(f"/sys/fs/cgroup/{name}", os.W_OK) for name in ("cpu", "cgroup.procs")
    ),
    "no GPU": lambda: not gpu_here(),
    "CUDA": lambda: os.environ.get("HAVE_CUDA") == "1",
    "Open MPI": lambda: os.environ.get("MPI_FLAVOUR") == "openmpi",
}


def lacks(play):
    return next((need for need in play.needs if not NEEDS[need]()), None)


# ---- running ----


@dataclasses.dataclass
class Ended:
    code: int
    output: str
    seconds: float = 0

    def listed(self, what):
        """Return the hosts in lines like `drain: …`. A reason may follow them in parentheses."""
        return ",".join(re.findall(rf"^\s*{what}: (\S+)", self.output, re.M))

    @property
    def accepted(self):
        return bool(re.search(r"^\s*(ACCEPTED|verdict +PASS|.*: accepted)\b", self.output, re.M))


def environment(play, folder):
    given = {
        "FAULTS": f"{folder}/faults",
        "himeno": himeno,
        "clocked": clocked,
        "source": str(source),
        "build": str(build),
        "top_srcdir": str(source),
        "top_builddir": str(build),
        "OMP_NUM_THREADS": "1",
        "HIMENO_QUIET": "1",
        "HIMENO_NULL_DEVICES": "16",
        **play.env,
    }
    return {
        **{name: value for name, value in os.environ.items() if name not in given},
        **{name: value for name, value in given.items() if value is not None},
    }


def write(folder, play):
    for name, text in {
        "faults": "".join(f"{line}\n" for line in play.faults),
        **play.files,
    }.items():
        path = os.path.join(os.fsencode(folder), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())


def run(play):
    """Run the Play in a separate folder; return how it ended."""
    with tempfile.TemporaryDirectory(prefix="site-") as folder:
        write(folder, play)
        env = environment(play, folder)
        if play.prepare:
            subprocess.run(["bash", "-ec", play.prepare], cwd=folder, env=env, check=True)
        with open(f"{folder}/said", "wb") as said:
            process = subprocess.Popen(
                play.words,
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(play.limit * SLOWNESS)
            except subprocess.TimeoutExpired:
                code = None
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        if os.path.isdir(f"{folder}/out/steps"):
            subprocess.run(
                [f"{source}/tests/replayed", "--steps", "out"], cwd=folder, env=env, check=True
            )
        with open(f"{folder}/said", encoding="utf-8", errors="surrogateescape") as said:
            return Ended(code, said.read())
