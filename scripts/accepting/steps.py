# SPDX-License-Identifier: MIT
"""Steps: one start of a program on some hosts, never repeated. Files of an acceptance:

plan.json        the options; other options need another folder
steps/NAME.json  the outcome of a finished step
steps/NAME.doc   its document
steps/NAME.log   its command and output
accept.json      the verdict"""

import argparse
import concurrent.futures
import fcntl
import json
import math
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
import time

import hosts
import timing
from endings import BadInput, Trouble
from files import read_document, write_whole
from processes import STOPPED, end, last_words, launched, say

LOCK_TENTHS = 50  # time to wait for the lock, in tenths of a second
# The kernel ends a launched program when this process ends, even if it is killed.
LEASH = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
JUDGE_SECONDS = 30
STEP_BYTES = 65536  # disk space for a document, its log and its outcome, in bytes
COLUMNS = 100
PARTIAL_CODES = (0, 5, 8)
INSTALLATION = "rate of installation"  # name of the check that compares with an earlier acceptance
UNJUDGED = ("usage", "environment")  # outcomes of wires and fabric that are no finding
# Names of steps whose results are compared only later. Until then "pass" would be premature.
COMPARED = ("inventory-", "pair-", "again-", "path-")
WORDS = {
    0: "pass",
    2: "usage",
    3: "environment",
    4: "wrong",
    5: "slow",
    6: "hang",
    7: "fault",
    8: "partial",
}
# Matches the error about a device that the PCI bus or a driver lists, and that cannot be opened. A
# memory limit of the job is no fault of the device.
LOST = re.compile(
    r"^(?!.*too little host memory).*(on the PCI bus cannot be used|but the PCI bus lists \d"
    r"|\bdevice \d+ \(.*\) cannot be opened)"
)
# Matches output about a rank that waited for its own device: only such a hang is a host's fault.
DEVICE_HANG = re.compile(r"waits? for its own device|waiting for its own device")


def say_wrapped(text):
    """Print a line, wrapped if it is too long. Further lines are indented more."""
    indent = re.match(" *", text)[0]
    say(
        textwrap.fill(
            text.strip(),
            COLUMNS,
            initial_indent=indent,
            subsequent_indent="      ",
            break_on_hyphens=False,
            break_long_words=False,
        )
    )


def write_document(path, document):
    write_whole(path, json.dumps(document, indent=1))


def needs_space(folder):
    """Raise Trouble if the folder cannot be written: then the failure is no host's fault."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(STEP_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise Trouble(f"{folder}: {error.strerror}") from error


def hosts_of(step):
    """Return the host of each rank of a step; ranks are in the order of the launcher's hosts."""
    return [name for name, count in zip(step["hosts"], step.get("ranks", ())) for _ in range(count)]


def device_of(row):
    """Return a device's name for findings and reports: its UUID, or its rank."""
    return row.get("uuid") or f"rank {row['rank']}"


def rows_by_host(step, document):
    """Return {host: rows of its ranks}. Hosts are found by rank, because a host may call itself by
    another name."""
    given, found = hosts_of(step), {}
    for row in (document or {}).get("ranks") or []:
        if row["rank"] < len(given):
            found.setdefault(given[row["rank"]], []).append(row)
    return found


def contents(path):
    """Return the text of a policy's file, or None for a built-in policy."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(STEP_BYTES) if os.path.isfile(path) else None
    except OSError:
        return None


class Run:
    """An acceptance: its options, finished steps, findings and timing."""

    def __init__(self, a):
        self.a = a
        self.begin = time.time()
        self.command = shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
        self.findings, self.left_out, self.tested, self.notes = [], [], [], []
        self.done, self.own_names, self.drift, self.ended = {}, {}, None, ""
        self.unverified_passes = (read_document(a.policy) or {}).get("unverified_passes") is True
        os.makedirs(os.path.join(a.folder, "steps"), exist_ok=True)
        self.lock = open(os.path.join(a.folder, ".lock"), "w", encoding="utf-8")
        self.take_lock()
        self.plan_check()
        self.kept = {
            name[:-5]
            for name in os.listdir(os.path.join(a.folder, "steps"))
            if name.endswith(".json")
        }
        self.timing = timing.Timing(a)
        self.processes, self.ending = set(), False

    def take_lock(self):
        """Lock the folder. Steps hold the lock too; those of a killed run end within seconds."""
        for tenths in range(LOCK_TENTHS, -1, -1):
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError as error:
                if not tenths:
                    raise Trouble(f"{self.a.folder}: in use by another run") from error
                time.sleep(0.1)

    def plan_check(self):
        keys = (
            "names",
            "per_host",
            "policy",
            "size",
            "seconds",
            "rounds",
            "options",
            "gemm_options",
            "launcher",
            "program",
            "leaves",
            "soak",
            "slice",
            "stages",
        )
        plan = {
            **{key: getattr(self.a, key) for key in keys},
            "limits of the policy": contents(self.a.policy),
        }
        if self.a.level:
            plan["level"] = self.a.level
        if self.a.inventory or self.a.write_inventory:
            plan["inventory"] = self.a.expected
        path = os.path.join(self.a.folder, "plan.json")
        before = read_document(path)
        if before is None:
            write_document(path, plan)
        elif before != plan:
            other = ", ".join(key.replace("_", " ") for key in plan if before.get(key) != plan[key])
            raise BadInput(
                f"{self.a.folder}: another acceptance in it ({other} differ): use another folder"
            )

    def announce(self):
        """Print the expected duration."""
        level = (
            f"level {self.a.level}"
            if self.a.level
            else "a soak"
            if self.a.soak
            else f"stages {', '.join(self.a.stages)}"
        )
        hosts_ = f"{len(self.a.names)} host{'s' * (len(self.a.names) != 1)}"
        most = f", at most {timing.text(self.a.budget)}" if self.a.budget is not None else ""
        expected = f"about {timing.text(self.timing.expected())} expected{most}"
        say_wrapped(f"  {level} on {hosts_}: {expected}")
        say("")

    def time_left(self):
        return math.inf if self.a.budget is None else self.begin + self.a.budget - time.time()

    def path(self, name, kind):
        return os.path.join(self.a.folder, "steps", f"{name}.{kind}")

    def has(self, program):
        """Return True if himeno-gpu's folder has this program of the suite."""
        return os.access(os.path.join(os.path.dirname(self.a.program), program), os.X_OK)

    def counts(self, on, per_host=None):
        """Return the ranks of each host. The numbers differ only if the launcher has {slots}."""
        found = [per_host or self.a.devices[name] for name in on]
        return found if "{slots}" in self.a.launcher else [min(found)] * len(on)

    def words(self, on, counts, program, options, target):
        path = os.path.join(os.path.dirname(self.a.program), program)
        return [
            *shlex.split(hosts.filled(self.a.launcher, on, counts)),
            path,
            *options,
            "--json",
            target,
        ]

    # ---- one step ----

    def launch(self, words, log, limit):
        """Return the exit status, or STOPPED if the limit was exceeded."""
        try:
            return launched(LEASH + words, log, limit, self.lock, self.processes)
        except OSError as error:
            log.write(f"{words[0]}: {error.strerror}\n")
            return 3

    def step(self, name, on, per_host=None, program="himeno-gpu", options=(), limit=None):
        """Run a step unless it has been run; return the contents of steps/NAME.json. Returns None
        if the budget ended the step."""
        done = read_document(self.path(name, "json"))
        if done:
            self.check_places(done)
            self.done[name] = done
            return done
        counts, limit = self.counts(on, per_host), limit or self.a.limit
        words = self.words(on, counts, program, options, self.path(name, "doc"))
        begin = time.time()
        # Concurrent launchers sometimes disturb each other. If a host is down, both tries fail.
        for tries, mode in (1, "w"), (2, "a"):
            ended = self.tried(name, words, limit, mode)
            if self.ending or not ended and tries == 1:
                return None
            if ended:  # if the budget ended the second try, the first one counts
                outcome, why = ended
            if outcome not in ("not started", "partial"):
                break
        done = {
            "name": name,
            "hosts": on,
            "ranks": counts,
            "outcome": outcome,
            "why": why,
            "tries": tries,
            "seconds": round(time.time() - begin, 3),
            "command": shlex.join(words[:-2]),
        }
        self.check_places(done)
        write_document(self.path(name, "json"), done)
        self.done[name] = done
        return done

    def tried(self, name, words, limit, mode):
        """Launch once; return (outcome, reason), or None if the budget left too little time."""
        left = self.time_left()
        if left <= 0 or self.ending:
            return None
        if os.path.exists(self.path(name, "doc")):
            os.remove(self.path(name, "doc"))
        with open(self.path(name, "log"), mode, encoding="utf-8", errors="surrogateescape") as log:
            code = self.launch(words, log, min(limit, left))
        if code == STOPPED and left < limit:
            return None
        if (
            code == 0
            and name.startswith(("products", "wires", "fabric"))
            and self.has("himeno-judge")
        ):
            code = self.judge_step(name)
        if code != 0:
            needs_space(self.a.folder)
        return judge(
            code,
            read_document(self.path(name, "doc")),
            self.path(name, "log"),
            limit,
            self.unverified_passes,
        )

    def judge_step(self, name):
        """Judge a document by the policy; return himeno-judge's exit status and verdict."""
        program = os.path.join(os.path.dirname(self.a.program), "himeno-judge")
        document = self.path(name, "doc")
        words = [program, document, "--policy", self.a.policy, "--json", document]
        with open(self.path(name, "log"), "a", encoding="utf-8") as log:
            return self.launch(words, log, JUDGE_SECONDS)

    def check_places(self, done):
        """Change the outcome of a step whose ranks ran on wrong hosts: it is no evidence."""
        reported = {
            name: {row["host"] for row in rows}
            for name, rows in rows_by_host(done, self.document(done["name"])).items()
        }
        met = {}
        for name, own in reported.items():
            before, other = self.own_names.get(name, own), met.setdefault(min(own), name)
            if len(own) > 1 or before != own:
                why = f"ranks of {name} ran on {' and '.join(sorted(own | before))}"
            elif other != name and not {other, name} <= set(self.own_names):
                why = f"ranks of {other} and of {name} ran on {min(own)}"
            else:
                continue
            done.update(
                outcome="environment",
                why=f"the launcher placed ranks on other hosts than requested: {why}",
            )
            return
        if len(reported) == 1:
            self.own_names.update(reported)

    def document(self, name):
        found = read_document(self.path(name, "doc"))
        return found if found and not found.get("partial") else None

    # ---- many ----

    def left_text(self, what, found, total):
        """Return text with the estimated remaining time, or "" if nothing is known to follow."""
        left = self.timing.remaining()
        # Hosts that fail the first stage skip the later ones.
        over = (
            self.a.write_inventory
            or len(found) == total
            and not any(what != "alone" or one["outcome"] == "pass" for one in found.values())
        )
        return f", about {timing.text(left)} left" if left > 0 and not over else ""

    def together(self, what, jobs, width=None, stage=None):
        """Run [(name, hosts, keywords)] concurrently, and return {name: outcome}. Steps that no
        longer fit the budget are listed in left_out. `stage` is the stage whose estimated time
        includes the steps; by default it is `what`."""
        found, total = {}, len(jobs)
        width_of_names = max((len(job[0]) for job in jobs), default=0)
        with concurrent.futures.ThreadPoolExecutor(
            max_workers=max(1, min(width or self.a.parallel, total or 1))
        ) as pool:
            waiting = {
                pool.submit(self.step, name, on, **keywords): name for name, on, keywords in jobs
            }
            try:
                for future in concurrent.futures.as_completed(waiting):
                    name, done = waiting[future], future.result()
                    if done is None:
                        self.left_out.append(name)
                        continue
                    found[name] = done
                    again = " (second try)" if done.get("tries") == 2 else ""
                    self.timing.ended(stage or what, done["seconds"], name in self.kept)
                    outcome = done["outcome"]
                    if what in ("wires", "fabric") and outcome in UNJUDGED:
                        outcome = "not judged"
                    elif outcome == "pass" and name.startswith(COMPARED):
                        outcome = "done"
                    say_wrapped(
                        f"[{what}: step {len(found):>{len(str(total))}} of {total}"
                        f"{self.left_text(what, found, total)}] {name:<{width_of_names}}  "
                        f"{outcome + again:<4}  {done['why']}"
                    )
            except BaseException:
                self.ending = True  # a step that a signal ends has no outcome, and no second try
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list(self.processes):
                    end(process, 5)
                raise
        return found

    def find(
        self, kind, on, why, step, device=None, checks=None, value=None, limit=None, usual=None
    ):
        """Add a finding about the hosts `on`. `kind` is an outcome, "path", "fabric", "suspect" or
        "lost". `checks` are the failed checks, by default the kind. `value` is compared with
        `limit` and `usual`, which by default are those of the step's first failed check."""
        if limit is None:
            failed = [
                check
                for check in checks_of(self.document(step["name"]))
                if check["outcome"] == "fail" and not is_flag(check)
            ]
            value, limit = (failed[0]["value"], failed[0]["limit"]) if failed else (None, None)
        self.findings.append(
            {
                "kind": kind,
                "hosts": on,
                "device": device,
                "why": why,
                "checks": checks or [kind],
                "command": step["command"],
                "step": step["name"],
                "percent_from_limit": percent_from(value, limit),
                "percent_from_peers": percent_from(value, usual),
            }
        )


class Finished(Run):
    """A finished acceptance, read from its folder. `a` has the options of a command that continues
    the acceptance, or is None to only read it."""

    def __init__(self, folder, a=None):
        plan, document = (
            read_document(os.path.join(folder, name)) for name in ("plan.json", "accept.json")
        )
        if not plan or not document:
            raise BadInput(f"{folder}: holds no finished acceptance")
        self.a = a or argparse.Namespace()
        policy = a.policy if "--policy" in getattr(a, "given", {}) else document["policy"]
        vars(self.a).update(
            folder=folder,
            names=plan["names"],
            policy=policy,
            level=document.get("level"),
            ignored=document["ignored"],
        )
        self.begin, self.ended = time.time() - document["seconds"], document["time"]
        self.command = document.get("command", "unknown")
        self.findings = [
            {"percent_from_limit": None, "percent_from_peers": None, **one}
            for one in document["findings"]
            if one["checks"] != [INSTALLATION]
        ]
        self.left_out, self.tested = document["left_out"], document["tested"]
        self.notes, self.drift = document.get("not_judged", []), None
        names = sorted(
            name[:-5]
            for name in os.listdir(os.path.join(folder, "steps"))
            if name.endswith(".json")
        )
        self.done = {
            name: done
            for name, done in ((name, read_document(self.path(name, "json"))) for name in names)
            if done
        }
        if a:
            self.lock = open(os.path.join(folder, ".lock"), "w", encoding="utf-8")
            self.take_lock()


def percent_from(value, usual):
    return round(100 * (value / usual - 1), 2) if value is not None and usual else None


def judge(code, document, log, limit=math.inf, unverified_passes=False):
    """Return (outcome, reason) of a step. A step without a document did not start, or broke off."""
    said = last_words(log, leave=("$ ", "stopped after"))
    if code in (6, STOPPED) and DEVICE_HANG.search(said):
        return "device hang", said
    if code == STOPPED:
        return "hang", f"did not end within {limit:g} s" + (
            f"; last output: {said}" if said else ""
        )
    if document and document.get("partial") and code in PARTIAL_CODES:
        return "partial", "ended early by a signal"
    if document is None or document.get("partial"):
        if code == 3 and LOST.search(said):
            return "lost", said
        if code in (2, 3, 4, 6, 7, 8) and said.startswith(
            ("himeno-gpu:", "gemm-gpu:", "comm-gpu:")
        ):
            return WORDS[code], said
        return "not started", said or f"exit status {code}"
    verdict = document.get("result", {}).get("verdict", WORDS.get(code, "fault"))
    if code in (0, 2, 3, 5) and is_unverified(document) and not unverified_passes:
        return "unverified", "its result was not verified"
    if (code, verdict) == (3, "noisy"):
        return "noisy", reason(document) or said
    if (code, verdict) == (2, "usage") and not is_unverified(document):
        return "pass", "no check of the policy applies here"
    outcome = WORDS.get(code, "fault") if code not in (0, 1) else verdict
    return (
        ("pass", "")
        if outcome == "pass" and code == 0
        else (
            outcome if outcome != "pass" else "fault",
            is_wrong(document) and said or reason(document) or said,
        )
    )


def is_unverified(document):
    result = document.get("result", {})
    return result.get("verified") == "no" or (result.get("check") or {}).get("how") == "no"


def checks_of(document):
    return (document or {}).get("result", {}).get("accept", {}).get("checks", [])


def titles(run):
    return {
        check["check"]: title(check)
        for name in list(run.done)
        for check in checks_of(run.document(name))
    }


def failed_checks(document):
    """Return the names of failed checks, or [] for a wrong result, which is a finding by itself."""
    if is_wrong(document):
        return []
    return [check["check"] for check in checks_of(document) if check["outcome"] == "fail"]


def is_wrong(document):
    return (document or {}).get("result", {}).get("verdict") == "wrong"


def title(check):
    """Return a check's name for reports; documents of earlier versions have only the key."""
    return check.get("title", check["check"])


def reason(document):
    failed = [check for check in checks_of(document) if check["outcome"] in ("fail", "noisy")]
    return "; ".join(
        f"{title(check)}{':' if is_flag(check) else ' ='} {shown(check, 'value')}, "
        f"required{side(check)} {shown(check, 'limit')}"
        f"{' (' + check['why'] + ')' if check['why'] else ''}"
        for check in failed
    )


def side(check):
    """Return the sign before a limit: <= for a maximum, >= for a minimum, ":" for no number."""
    if is_flag(check) or check["value"] is None:
        return ":"
    return " <=" if check["at_most"] else " >="


def is_flag(check):
    return check["unit"] == "yes/no"


def shown(check, key):
    value = check[key]
    return (
        "unknown"
        if value is None
        else f"{value:.4g}"
        if not is_flag(check)
        else "yes"
        if value
        else "no"
    )
