# SPDX-License-Identifier: MIT
"""Checks of a node for Slurm, between jobs. node.sh runs it as root.

usage: node.py health | prolog | epilog
       node.py submit | active [OPTION]...

health    look for faults; if there are any, drain the node and set the reason
prolog    look for faults; exit status 10 if there are any. epilog is the same
submit    submit an active check, with these options of an acceptance, to each idle node
active    run level 1 of an acceptance on this node, with these options, and keep the verdict

Root runs these programs and reads these files only if nobody else can change them. From the
environment come PATH, SLURM_CONF and SLURMD_NODENAME, Slurm's name of the node. Any failure of the
checks themselves is logged, and is not a fault of the node."""

import functools
import json
import os
import pathlib
import random
import re
import secrets
import shlex
import shutil
import stat
import subprocess
import sys
import syslog
import time

tree = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(tree / "accepting"), str(tree / "shared")]
sys.dont_write_bytecode = True
import floor  # noqa: E402, F401
import counts  # noqa: E402
import hosts  # noqa: E402
import inventory  # noqa: E402
from files import parsed  # noqa: E402

STATE = "/var/lib/himeno"  # the site's inventory.json, and active.json and reported.json, written
# here
FAULT = 10  # exit status
OWNERS = (0, os.geteuid())
NVIDIA_SECONDS = 1.5  # time limit of nvidia-smi; a whole passive check may take 2 s
ACTIVE_SECONDS = 20
SLURM_SECONDS = 10
SETTLED_SECONDS = 300  # time from the kernel's start until all network links should be up
FRESH_SECONDS = 20 * 3600  # an active check is not repeated within this time
# If these checks have drained this share of all nodes, the policy or the inventory may be wrong: no
# further node is drained.
SHARE_MAX = 0.2
STAGGER, STAGGER_MAX = 0.2, 30  # delay per node, and maximum; Slurm ends a health check after 60 s
REASON_MAX = 200
LINKS_MAX = 40
FILE_MAX = 1 << 20
# Xids, NVIDIA's error codes, that need a reset or a repair of the GPU. Programs cause other Xids.
XIDS = {
    46: "stopped processing",
    48: "uncorrected ECC error",
    62: "internal halt",
    64: "memory row not remapped",
    74: "NVLink error",
    79: "fallen off the bus",
    95: "uncontained ECC error",
    110: "security fault",
    119: "GSP timeout",
    120: "GSP error",
    140: "unrecovered ECC error",
}
# Reasons that these checks have set, or that Slurm sets if the prolog or the epilog fails.
OURS = re.compile(r"himeno: |(Prolog|Epilog) error")


class Trouble(Exception):
    """The checks cannot run. The text is one line for the administrator."""


def say(text):
    print(f"himeno: {text}", file=sys.stderr)
    syslog.syslog(syslog.LOG_WARNING, text)


# ---- what root may trust ----


def safe(status):
    """Return True if only root can change a file with this status. A sticky folder protects root's
    files in it."""
    writers = stat.S_IWOTH | (stat.S_IWGRP if status.st_gid else 0)
    sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    return status.st_uid in OWNERS and bool(
        sticky or stat.S_ISLNK(status.st_mode) or not status.st_mode & writers
    )


def trusted(path):
    """Return True if only root can change the file, and each folder and link in its path."""
    at, rest, links = "/", os.path.abspath(path).split("/")[::-1], 0
    while rest:
        at = os.path.normpath(os.path.join(at, rest.pop()))
        try:
            status = os.lstat(at)
            if not safe(status):
                return False
            if stat.S_ISLNK(status.st_mode):
                links += 1
                rest += os.readlink(at).split("/")[::-1]
                at = "/" if os.readlink(at).startswith("/") else os.path.dirname(at)
        except OSError:
            return False
        if links > LINKS_MAX:
            return False
    return True


@functools.lru_cache(maxsize=1)
def environment():
    """Return the environment for all programs that node.py runs."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin:/sbin:/bin".split(":")
    conf = os.environ.get("SLURM_CONF", "")
    more = {"SLURM_CONF": conf} if os.path.isabs(conf) and trusted(conf) else {}
    return {
        "PATH": ":".join(one for one in path if os.path.isabs(one) and trusted(one)),
        "LC_ALL": "C",
        **more,
    }


def program(name):
    """Return the path of a program if only root can change it, so that root may run it."""
    path = shutil.which(name, path=environment()["PATH"])
    return path if path and trusted(path) else None


def slurm(*words):
    """Return the output of a command of Slurm."""
    path = program(words[0])
    if not path:
        raise Trouble(f"{words[0]}: no such program that only root can change")
    try:
        done = subprocess.run(
            [path, *words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environment(),
            timeout=SLURM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Trouble(f"{words[0]}: no answer within {SLURM_SECONDS} s") from error
    if done.returncode:
        raise Trouble(f"{shlex.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


class State:
    """The folder STATE. It is opened once, so that all files are in the folder that was checked."""

    def __init__(self):
        if not os.path.lexists(STATE):
            os.mkdir(STATE, 0o755)
        self.folder = os.open(STATE, os.O_DIRECTORY | os.O_NOFOLLOW)
        status = os.fstat(self.folder)
        if not trusted(STATE) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Trouble(f"{STATE}: must be a folder that only root can change")

    def read(self, name):
        """Return the JSON object in a file; {} if there is no file."""
        try:
            descriptor = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self.folder
            )
        except FileNotFoundError:
            return {}
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or not safe(status):
                raise Trouble(f"{STATE}/{name}: must be a file that only root can change")
            try:
                found = parsed(file.read(FILE_MAX))
            except ValueError as error:
                raise Trouble(f"{STATE}/{name}: {error}") from error
        if not isinstance(found, dict):
            raise Trouble(f"{STATE}/{name}: must hold an object")
        return found

    def write(self, name, document):
        draft = f".{secrets.token_hex(8)}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=self.folder)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            json.dump(document, file)
        os.replace(draft, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)


# ---- passive checks: each returns (texts of faults, entries for reported.json) ----


def verdict(state, reported):
    """Return the fault that the last active check found, unless it was reported."""
    active = state.read("active.json")
    if active.get("outcome") != "fault" or active.get("time") == reported.get("active"):
        return [], {}
    return [str(active.get("reason"))], {"active": active.get("time")}


def kernel_log():
    """Return [(number, text)] of the messages that the kernel itself logged since it started."""
    descriptor, data = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK), b""
    try:
        while len(data) < 16 * FILE_MAX:
            try:
                record = os.read(descriptor, 8192)
            except BrokenPipeError:  # the message was overwritten before it was read
                continue
            except BlockingIOError:
                break
            if not record:
                break
            data += record
    finally:
        os.close(descriptor)
    # Messages with a level of 8 or more have a facility: services write them, and users through
    # services. They are skipped.
    return [
        (int(number), text)
        for level, number, text in re.findall(
            r"^(\d+),(\d+),[^;\n]*;(.*)$", data.decode(errors="replace"), re.M
        )
        if int(level) < 8
    ]


def xids(state, reported):
    """Return Xids after which the GPU needs a reset or a repair: unreported ones, newest first."""
    boot = inventory.line("/proc/sys/kernel/random/boot_id")
    after, found = reported.get("message", -1) if reported.get("boot") == boot else -1, {}
    for number, text in kernel_log():
        match = re.match(r"NVRM: Xid \(PCI:([0-9A-Fa-f:.]+)\): (\d+),", text)
        if match and number > after and int(match[2]) in XIDS:
            found[number] = f"GPU {match[1]}: Xid {match[2]}, {XIDS[int(match[2])]}"
    texts = list(dict.fromkeys(found[number] for number in sorted(found, reverse=True)))
    return texts, {"boot": boot, "message": max(found)} if found else {}


def expected(state, node):
    """Return what the site's inventory lists for the node; {} if it lists nothing."""
    document = state.read("inventory.json")
    try:
        listed = inventory.checked(document, hosts.expand) if document else {}
    except (ValueError, hosts.BadInput) as error:
        raise Trouble(f"{STATE}/inventory.json: {error}") from error
    return listed.get(node, listed.get("*", {}))


def equipment(state, node, found):
    """Return devices, links and memory that differ from the site's inventory."""
    texts, uptime = [], float(inventory.line("/proc/uptime").split()[0])
    for title, text in inventory.differences(expected(state, node), found):
        if inventory.is_software(title):
            say(f"{node}: {text}; software is not a fault")
        elif title.startswith("network") and uptime < SETTLED_SECONDS:
            say(f"{node}: {text}; the network may not be up yet")
        else:
            texts.append(text)
    return texts, {}


def memory(found):
    return [
        f"GPU {place}: {name} ({one['uuid']})"
        for place, one in enumerate(found["gpus"])
        for name in one.get("errors", ())
    ], {}


def faults(state, node):
    """Return the texts of the node's faults that were not reported before, and the new
    reported.json. If a check cannot run, the others still do."""
    smi = program("nvidia-smi")
    found = inventory.hardware(smi=smi, ethtool=None, seconds=NVIDIA_SECONDS)
    reported, texts, keep = state.read("reported.json"), [], {}
    for check in (
        lambda: verdict(state, reported),
        lambda: xids(state, reported),
        lambda: memory(found),
        lambda: equipment(state, node, found),
    ):
        try:
            more, kept = check()
        except (Trouble, OSError) as error:
            say(f"{node}: {error}")
            continue
        texts += more
        keep.update(kept)
    return texts, {**reported, **keep, "held": []}


def reasons():
    """Return {node: the reason why it is drained}."""
    return dict(re.findall(r"^(\S+) (.*)$", slurm("sinfo", "-h", "-N", "-o", "%N %E"), re.M))


def too_many():
    """Return text like "13 of 64" if these checks drained suspiciously many nodes, else ""."""
    # All nodes may check at the same time. After a random delay, later nodes see that others are
    # drained.
    time.sleep(random.uniform(0, min(STAGGER_MAX, STAGGER * len(reasons()))))
    found = reasons().values()
    drained = sum(bool(OURS.match(reason)) for reason in found)
    return f"{drained} of {len(found)}" if drained >= max(1, SHARE_MAX * len(found)) else ""


def health(state, node):
    """Drain the node if it has a fault, and set the reason unless an administrator has set one."""
    texts, keep = faults(state, node)
    if not texts:
        return
    reason = f"himeno: {texts[0]}" + (f" (+{len(texts) - 1} more)" if texts[1:] else "")
    reason = re.sub(r"[^ -~]|[\"\\]", "?", reason)[:REASON_MAX]
    shown = slurm("scontrol", "show", "node", node)
    is_drained = re.search(r"\bState=\S*DRAIN", shown)
    before = re.search(r"^ *Reason=(.*?)(?: \[[^\]]*\])?$", shown, re.M)
    if is_drained and before and (before[1] == reason or not OURS.match(before[1])):
        return
    many = "" if is_drained else too_many()
    if many:
        state.write("reported.json", {**state.read("reported.json"), "held": texts})
        raise Trouble(f"{reason[8:]}; not drained, because {many} nodes are: check the set-up")
    slurm("scontrol", "update", f"NodeName={node}", "State=DRAIN", f"Reason={reason}")
    for text in texts:
        say(f"{node}: {text}")
    say(f"{node} is drained; after the repair: scontrol update NodeName={node} State=RESUME")
    state.write("reported.json", keep)


def around_a_job(state, node):
    """Return FAULT if the node has a fault, unless `health` found it and did not drain the node."""
    texts, _ = faults(state, node)
    held = state.read("reported.json").get("held", ())
    for text in texts:
        say(f"{node}: {text}")
    return FAULT if any(text not in held for text in texts) else 0


# ---- active checks ----


def submit(options):
    """Submit an active check to each idle node. Slurm drops a job that it cannot start within
    minutes, because users' jobs have priority."""
    queued = slurm("squeue", "-h", "-n", "himeno-active", "-o", "%n").split()
    idle = slurm("sinfo", "-h", "-N", "-t", "idle", "-o", "%N %G")
    for name, gres in dict(re.findall(r"^(\S+) (\S+)$", idle, re.M)).items():
        number = counts.gpus_of(gres)
        if name not in queued:
            slurm(
                "sbatch",
                "--job-name=himeno-active",
                f"--nodelist={name}",
                "--exclusive",
                "--mem=0",
                "--time=1",
                "--deadline=now+3minutes",
                "--nice=10000",
                "--export=NONE",
                "--chdir=/",
                "--output=/dev/null",
                *([f"--gres=gpu:{number}"] if number else []),
                f"--wrap=exec {shlex.join([str(tree / 'sites/active.sh'), '--here', *options])}",
            )


def number_of_gpus(state, node):
    """Return the number of GPUs in the site's inventory or Slurm's configuration; the node itself
    may have lost one."""
    listed = expected(state, node)
    if "gpus" in listed:
        return inventory.number_in(listed["gpus"])
    gres = re.search(r"^ *Gres=(gpu\S*)", slurm("scontrol", "show", "node", node), re.M)
    return counts.gpus_of(gres[1]) if gres else 0


def himeno_gpu():
    for path in (
        program("himeno-gpu"),
        tree.parents[2] / "bin/himeno-gpu",
        tree.parent / "build/himeno-gpu",
        tree.parent / "himeno-gpu",
    ):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise Trouble("himeno-gpu was not found")


def active(state, node, options):
    """Test this node and store the verdict. If the test gives none, the previous verdict stays."""
    age = time.time() - state.read("active.json").get("time", 0)
    if 0 <= age < FRESH_SECONDS:
        return
    number = number_of_gpus(state, node)
    words = [
        "--level",
        "1",
        "--hosts",
        "localhost",
        "--seconds",
        "2",
        "--limit",
        "15",
        "--budget",
        "17",
        *(["--per-host", str(number)] if number else []),
        *([] if "--program" in options else ["--program", himeno_gpu()]),
        *options,
    ]
    for word in (tree / "accept", *words):
        if os.path.exists(word) and not trusted(word):
            raise Trouble(f"{word}: must be a file that only root can change")
    folder = f"{STATE}/active-{secrets.token_hex(8)}"
    os.mkdir(folder, 0o700)
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", str(tree / "accept"), f"{folder}/out", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            env={**environment(), "TMPDIR": folder},
        )
        try:
            status = process.wait(ACTIVE_SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()
            status = process.wait()
        found = outcome(folder, status)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    state.write("active.json", {"time": int(time.time()), **found})


def outcome(folder, status):
    """Return the outcome of an acceptance as active.json stores it."""
    try:
        document = parsed(pathlib.Path(folder, "out/accept.json").read_bytes())
    except (OSError, ValueError):
        raise Trouble(f"the active check has no verdict: exit status {status}") from None
    if document["accepted"]:
        return {"outcome": "pass"}
    if not document["drain"]:
        raise Trouble(f"the active check is inconclusive: {document['conclusion']}")
    finding = next(
        one for one in document["findings"] if one["why"] in document["drain"]["localhost"]
    )
    try:
        run = parsed(pathlib.Path(folder, f"out/steps/{finding['step']}.doc").read_bytes())
    except (OSError, ValueError):
        run = {}
    return {"outcome": "fault", "reason": reason_of(finding, run)}


def reason_of(finding, run):
    """Return the device of the first failed check. A slow rate is compared with peers or the
    limit."""
    checks = run.get("result", {}).get("accept", {}).get("checks", [])
    failed = [one for one in checks if one["outcome"] == "fail" and one["rank"] is not None]
    if not failed:
        return f"{finding['kind']}: {finding['why']}"
    check = failed[0]
    mine = next(one for one in run["ranks"] if one["rank"] == check["rank"])
    device = f"({mine['uuid'] or mine['pci']})"
    peers = sorted(one["gflops"] for one in run["ranks"] if one is not mine and one["gflops"])
    usual, rate = check["limit"], check["value"]
    if peers:
        usual, rate = peers[len(peers) // 2], mine["gflops"]
    if finding["kind"] == "slow" and rate and usual > rate:
        return f"GPU {check['rank']} slow {100 * (rate / usual - 1):.0f}% {device}"
    return f"GPU {check['rank']} {finding['kind']}: {check.get('title', check['check'])} {device}"


def main(mode, *options):
    if mode == "submit":
        return submit(options)
    name = os.environ.get("SLURMD_NODENAME") or os.uname().nodename.split(".")[0]
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise Trouble("SLURMD_NODENAME: is not the name of a node")
    if mode == "active":
        return active(State(), name, options)
    return (health if mode == "health" else around_a_job)(State(), name)


if __name__ == "__main__":
    syslog.openlog("himeno")
    try:
        sys.exit(main(*sys.argv[1:]))
    except Exception as error:  # a failure of the checks themselves is not a fault of the node
        say(f"{' '.join(sys.argv[1:2])}: {' '.join(str(error).split()) or type(error).__name__}")
        sys.exit(3)
