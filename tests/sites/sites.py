#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of sites with and without faults.

Each row simulates a site, and states what an administrator expects: the exit status, the hosts to
drain, the hosts to run again, and words of the report. `sick` lists what has a fault. No site with
a fault may be accepted, and no host without a fault may be drained.

usage: sites.py [--all] [PATTERN]   prints TAP: the quick selection, all rows, or the rows with
                                    PATTERN in their name"""

import re
import sys
import time

from rig import accept, build, job, lacks, run, shell, source
from setups import ANY, ROWS as SETUPS, SPEED, TERM, XS, Row

sys.dont_write_bytecode = True
sys.path[:0] = [f"{source}/scripts/{folder}" for folder in ("accepting", "shared")]
import hosts  # noqa: E402

AMONG = '{"stragglers_max": 0, "device_spread_max": 0.05}'  # compares devices only with each other
N1_N3 = r"n1 and n3|n1,n3|n\[1,3\]"
OTHER_VERSION = """python3 - "$himeno" <<'END'
import subprocess, sys
version = subprocess.run([sys.argv[1], "--version"], capture_output=True,
    text=True).stdout.split()[1].encode()
open("other", "wb").write(open(sys.argv[1], "rb").read().replace(version, b"9" + version[1:]))
END
chmod +x other"""


def differ(first, second, option, common="-b null -n 5", **more):
    """Return a row of two ranks with different options: exit status 2, with the option's name."""
    return Row(
        f"different options: {first or 'none'} and {second}",
        job(f"{common} {first}", f"{common} {second}", **more),
        2,
        sick="options",
        says=(option,),
        quick=option == "--size" and not more,
    )


SPEEDS = [
    Row(
        "one device 10% slow",
        accept("n[1-4]", faults=["slow n3 1 1.1"]),
        5,
        sick="n3",
        drain="n3",
        quick=True,
    ),
    Row(
        "one device 5% slow among others",
        accept("n[1-6]", faults=["slow n3 1 1.05"], policy='{"stragglers_max": 0}'),
        5,
        sick="n3",
        drain="n3",
    ),
    Row("one host 10% slow", accept("n[1-4]", faults=["host n3 1.1"]), 5, sick="n3", drain="n3"),
    Row(
        "one of two hosts 15% slow",
        accept("n[1-2]", stages="alone,pairs,all", policy=AMONG, faults=["host n2 1.15"]),
        5,
        sick="n2",
        says=("suspect.*n2",),
    ),
    Row(
        "two of four hosts 20% slow",
        accept(
            "n[1-4]", stages="alone,pairs,all", policy=AMONG, faults=["host n3 1.2", "host n4 1.2"]
        ),
        5,
        sick="n[3-4]",
        says=(r"suspect.*n\[3-4\]",),
        quick=True,
    ),
    Row(
        "all hosts below the policy",
        accept("n[1-3]", policy='{"device_gflops_min": 1000}'),
        5,
        sick="n[1-3]",
        says=("policy or set-up",),
    ),
    Row("a noisy host", accept("n[1-3]", faults=["noisy n2 all 2"]), 3, again="n2"),
    Row(
        "a bad link among four hosts",
        accept("n[1-4]", stages="alone,pairs", faults=["link n1 n3 3"]),
        5,
        sick="n[1,3]",
        says=(N1_N3,),
    ),
    Row(
        "a bad link among three hosts",
        accept("n[1-3]", stages="alone,pairs", faults=["link n1 n3 2.5"]),
        5,
        sick="n[1,3]",
        says=(N1_N3,),
        quick=True,
    ),
    Row(
        "a bad link among three hosts, and a slow host",
        accept("n[1-4]", stages="alone,pairs", faults=["host n4 1.2", "link n1 n3 2.5"]),
        5,
        sick="n[1,3-4]",
        drain="n4",
        says=(N1_N3,),
    ),
    Row(
        "all links of one of three hosts are bad",
        accept("n[1-3]", stages="alone,pairs", faults=["link n2 all 2.5"]),
        5,
        sick="n2",
        drain="n2",
    ),
    Row(
        "all links of one of four hosts are bad",
        accept("n[1-4]", stages="alone,pairs", faults=["link n2 all 3"]),
        5,
        sick="n2",
        drain="n2",
    ),
    Row(
        "the only link of two hosts",
        accept("n[1-2]", stages="alone,pairs", faults=["link n1 n2 2.5"]),
        {0, 5},
        says=("not judged.*2 hosts",),
    ),
]

NVML = {"HIMENO_NVML": f"{build}/tests/unit/fake_nvml.so"}
SILENT = """"$MPIRUN" -np 2 \\
  env LD_PRELOAD="$LD_PRELOAD:$build/tests/fault/stop_at.so" STOP_AT=1:12 \\
  "$himeno" -b null -s XS -t 1 -x staged --timeout 2"""
SHORT = """"$MPIRUN" -np 2 env LD_PRELOAD="$LD_PRELOAD:$build/tests/fault/short_message.so" \\
  "$himeno" -b null -s XS -n 200 -x staged-mpi --timeout 5"""
RESULTS = [
    Row(
        "wrong results on one host",
        accept("n[1-3]", faults=["flip n2 9,9,9"]),
        4,
        sick="n2",
        drain="n2",
        quick=True,
    ),
    Row(
        "wrong products on one device beside others",
        accept("n[1-3]", "--soak", "2s", "--slice", "0.5s", faults=["worn n2"]),
        4,
        sick="n2",
        drain="n2",
    ),
    Row(
        "uncorrected errors on one host",
        accept(
            "n[1-3]",
            faults=["as n2 env FAKE_NVML=broken=3"],
            policy='{"device_gflops_min": 1e-9, "ecc_uncorrected_max": 0}',
            env=NVML,
        ),
        5,
        sick="n2",
        drain="n2",
    ),
    Row(
        "a device call that fails",
        accept("n[1-3]", faults=["as n2 env HIMENO_NULL_FAIL=400"]),
        7,
        sick="n2",
        again="n2",
    ),
    # The message does not distinguish such a device from a failure of the suite itself.
    Row(
        "a device that cannot be opened",
        accept("n[1-3]", faults=["as n2 env HIMENO_NULL_FAIL=1"]),
        3,
        sick="n2",
        again="n2",
    ),
    Row(
        "a hung device",
        accept(
            "n[1-2]",
            stages="alone",
            words="-b null --block 5 --timeout 2",
            faults=["as n2 env HIMENO_NULL_RANK=1 HIMENO_NULL_HANG=400"],
        ),
        6,
        sick="n2",
        drain="n2",
    ),
    # No other rank can report this rank's hang: its launcher is stopped without a reason.
    Row(
        "the only device of a host hangs",
        accept(
            "n[1-2]",
            "--limit",
            "8",
            per_host=1,
            stages="alone",
            words="-b null --block 5 --timeout 2",
            faults=["as n2 env HIMENO_NULL_HANG=400"],
        ),
        ANY,
        sick="n2",
        again="n2",
    ),
    Row("a rank that is silent", shell(SILENT), 6, sick="rank 1", says=("silent: rank 1",)),
    *(
        Row(
            f"message {n} of halos arrives short",
            shell(SHORT, env={"SHORT_MESSAGE": f"{n}:7"}),
            4,
            sick="rank 1",
            says=("rank 1",),
        )
        for n in (4, 12, 30, 60, 100)
    ),
    Row(
        "a halo arrives with a wrong bit",
        job(XS + " -x staged", "HIMENO_HALO_CORRUPT=1:2 " + XS + " -x staged"),
        {2, 4},
        sick="rank 1",
    ),
]

AGREEMENT = [
    differ("-s XS", "-s S", "--size"),
    differ("-s XS", "-s XS --data dense", "--data"),
    differ("-s XS", "-s XS -k reference", "--kernel"),
    differ("-s XS", "-s XS -n 6", "--sweeps|-n", common="-b null"),
    differ("-s XS", "-s XS --verify off", "--verify"),
    differ("-s XS -x staged", "-s XS -x p2p", "--transport"),
    differ("-s XS", "-s XS --json run.json", "--json"),
    differ("-s 64", "-s 65", "--size", common="-b null -t 0.1", program="gemm-gpu"),
    differ("-s 64", "-s 65", "--size", common="-b null -t 0.1 --distributed", program="gemm-gpu"),
    differ(
        "--max 4K",
        "--max 8K",
        "--max",
        common="-b null --parts pairs --samples 3",
        program="comm-gpu",
    ),
    Row(
        "different backends",
        job("-b cpu -s XS -n 5", XS),
        {2, 3},
        sick="options",
        says=("cpu.*null|null.*cpu|--backend",),
    ),
    Row(
        "different binaries",
        job(XS, "./other " + XS, prepare=OTHER_VERSION),
        2,
        sick="options",
        says=("version",),
    ),
    Row(
        "one host with other options",
        accept("n[1-3]", policy=SPEED, faults=["words n2 --data dense"]),
        ANY,
        again=None,
    ),
    Row(
        "hosts that agree on all options but the device",
        job(XS + " --device 0", XS + " --device 1"),
        0,
    ),
]

SIGNALS = [
    *(
        Row(
            f"SIGTERM to {what}",
            shell(f'{TERM} 2 "$himeno" -b null -s XS {words}', files={"site.json": SPEED}),
            8,
            sick="unfinished",
        )
        for what, words in (
            ("a soak", "--soak 1h"),
            ("blocks", "-t 1000"),
            ("a run with a policy", "-t 1000 --block 5 --accept site.json"),
            ("a ladder", "-t 1000 --ladder"),
        )
    ),
    Row(
        "SIGTERM to a ladder of gemm-gpu",
        shell(f'{TERM} 2 "$build/gemm-gpu" -b null --ladder --sizes 64,128 -t 1000'),
        8,
        sick="unfinished",
    ),
]
ROWS = [*SETUPS, *SPEEDS, *RESULTS, *AGREEMENT, *SIGNALS]


def expanded(text):
    """Return the hosts of a list. If the text is not a host list, split it at commas."""
    try:
        return set(hosts.expand(text))
    except hosts.BadInput:
        return set(text.split(","))


def wrong(row, ended):
    """Return the differences between the row and the result."""
    exits = row.exit if isinstance(row.exit, set) else {row.exit}
    found = [] if ended.code in exits else [f"exit status {ended.code}, not of {exits}"]
    for what, wanted in (("drain", row.drain), ("run again", row.again)):
        listed = ended.listed(what)
        if wanted is not None and expanded(listed) != expanded(wanted):
            found.append(f"{what}: {listed or 'nobody'}, not {wanted or 'nobody'}")
    if row.sick and ended.accepted:
        found.append("a sick site is accepted")
    if not expanded(ended.listed("drain")) <= expanded(row.sick):
        found.append("a sound host is drained")
    output = ended.output.replace("\n      ", " ")  # joins lines that scripts/accept has wrapped
    found += [f"does not say {text}" for text in row.says if not re.search(text, output)]
    return found + [f"says {text}" for text in row.never if re.search(text, output)]


def tried(row):
    """Return (text for TAP, list of differences, output)."""
    missing = lacks(row.play)
    if missing:
        return f"SKIP lacks: {missing}", [], ""
    begin = time.time()
    ended = run(row.play)
    if ended.code == 77:
        return "SKIP " + (ended.output.splitlines() or [""])[-1], [], ""
    return f"{time.time() - begin:.1f} s", wrong(row, ended), ended.output


def main():
    every = "--all" in sys.argv
    pattern = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    rows = [row for row in ROWS if (every or pattern or row.quick) and pattern in row.name]
    print(f"1..{len(rows)}", flush=True)
    failed = 0
    for number, row in enumerate(rows, 1):
        comment, amiss, output = tried(row)
        failed += bool(amiss)
        lines = [f"{'not ok' if amiss else 'ok'} {number} {row.name} # {comment}"]
        if amiss:
            lines += [f"# {line}" for line in [*amiss, *output.splitlines()[-25:]]]
        print("\n".join(lines).encode("ascii", "backslashreplace").decode(), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
