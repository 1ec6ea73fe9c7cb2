# SPDX-License-Identifier: MIT
"""Rows of the table of sites: sound sites, and faults of devices, host names, environments,
launchers and resources."""

import dataclasses

from rig import accept, here, in_slurm, job, mounted, shell, starved, with_bus, without_chmod

ANY = {1, 2, 3, 4, 5, 6, 7, 8}  # any exit status but 0
XS = "-b null -s XS -n 5"
SPEED = '{"device_gflops_min": 1e-9}'  # which every device reaches
GPU = "0000:17:00.0"
TERM = "timeout --foreground --preserve-status -s TERM"


@dataclasses.dataclass
class Row:
    name: str
    play: object
    exit: object  # an exit status, or a set of possible ones
    sick: str = ""
    drain: str = ""
    again: object = ""  # None: either
    says: tuple = ()  # regular expressions
    never: tuple = ()
    quick: bool = False


def slow_host(names, last, **more):
    """Return a row whose last host, with a slow device, is drained under the requested name."""
    return Row(
        f"hosts named {names}",
        accept(names, faults=[f"slow {last} 1 1.1"]),
        5,
        sick=last,
        drain=last,
        **more,
    )


SOUND = [
    Row("four sound hosts", accept("n[1-4]", stages="alone,pairs,all"), 0, quick=True),
    Row("one sound host", accept("n1", stages="alone"), 0),
    Row(
        "a host without a GPU",
        with_bus(here(words="--block 5", per_host=1, stages="alone", policy=SPEED)),
        0,
    ),
    Row(
        "no GPU on the bus: a CPU run, and the report says so",
        with_bus(shell('"$himeno" -s XS -n 2')),
        0,
        says=("backend +cpu",),
    ),
    Row("a GPU on the bus, and -b cpu", with_bus(shell('"$himeno" -b cpu -s XS -n 2'), GPU), 0),
]

STUB = 'cc -shared -fPIC -o libcuda.so.1 stub.c || exit 77; LD_LIBRARY_PATH=$PWD "$himeno" -s XS'
STUB_SOURCE = "int cuInit(unsigned flags) { (void)flags; return 34; }\n"
SALLOC = """salloc -N 2 --exclusive --gres=gpu:2 $source/scripts/accept out --program $clocked \\
  --size 18x18x34 --seconds 0.05 --policy site.json --options '-b null --block 5' --stages alone \\
  --launcher "$source/tests/sites/fake-cluster {list} {per_host}" """
DEVICES = [
    Row(
        "one host without its devices",
        accept("n[1-3]", faults=["as n2 env HIMENO_NULL_DEVICES=0"]),
        3,
        sick="n2",
        drain="n2",
        quick=True,
    ),
    Row(
        "one host with one device of two",
        accept("n[1-3]", faults=["as n2 env HIMENO_NULL_DEVICES=1"]),
        ANY,
        sick="n2",
        drain="n2",
        quick=True,
    ),
    Row(
        "no host has devices",
        accept("n[1-3]", faults=[f"as n{n} env HIMENO_NULL_DEVICES=0" for n in (1, 2, 3)]),
        3,
        sick="n[1-3]",
    ),
    Row(
        "one rank sees no device",
        job(XS, "HIMENO_NULL_DEVICES=0 " + XS),
        3,
        sick="rank 1",
        says=(r"rank 1\b.*HIMENO_NULL_DEVICES",),
    ),
    Row(
        "a GPU on the bus that no driver opens",
        with_bus(shell('"$himeno" -s XS -n 2'), GPU),
        3,
        sick="this",
        says=("17:00",),
        quick=True,
    ),
    Row(
        "a GPU on the bus, by gemm-gpu",
        with_bus(shell('"$build/gemm-gpu" -s 64 -t 0.1'), GPU),
        3,
        sick="this",
        says=("17:00",),
    ),
    Row(
        "a GPU on the bus, by comm-gpu",
        with_bus(shell('"$build/comm-gpu" --parts host --max 4K --samples 3'), GPU),
        3,
        sick="this",
        says=("17:00",),
    ),
    Row(
        "a GPU on the bus, by mem-gpu",
        with_bus(shell('"$build/mem-gpu" -t 0.1'), GPU),
        3,
        sick="this",
        says=("17:00",),
    ),
    Row(
        "a GPU on the bus, by scripts/accept",
        with_bus(here(words="--block 5", per_host=1, stages="alone"), GPU),
        3,
        sick="localhost",
        drain="localhost",
    ),
    Row(
        "a stub driver",
        with_bus(shell(STUB, needs=("CUDA",), files={"stub.c": STUB_SOURCE}), GPU),
        3,
        sick="this",
        says=("17:00",),
    ),
    Row(
        "a hostfile with slots",
        accept(
            "",
            "--hostfile",
            "hosts",
            per_host=0,
            files={"hosts": "n1 slots=2\nn2 slots=2\n"},
            faults=["slow n2 1 1.1"],
        ),
        5,
        sick="n2",
        drain="n2",
        quick=True,
    ),
    Row(
        "a Slurm gres",
        in_slurm(2, SALLOC, gpus="2", faults=["slow h2 1 1.1"]),
        5,
        sick="h2",
        drain="h2",
    ),
]

NAMES = [
    slow_host("n[1-4].cluster.example", "n4.cluster.example", quick=True),
    slow_host("10.77.0.[1-4]", "10.77.0.4"),
    slow_host("fe80::1,fe80::2,fe80::3,fe80::4", "fe80::4"),
    slow_host("rack1.n1,rack1.n2,rack2.n1,rack2.n2", "rack2.n2"),
    slow_host("N1,N2,N3,N4", "N4"),
    slow_host("n1,n1,n2,n3,n2,n4,n4", "n4"),
    slow_host("gpu-01,gpu-02,GPU-03,gpu-04", "gpu-04"),
    slow_host("node_1,node_2,node_3,node_4", "node_4"),
    Row(
        "control characters in the name of a host",
        job("SLURMD_NODENAME='n1\x1b[31m' " + XS),
        0,
        never=("\x1b\\[31m",),
    ),
    Row(
        "bytes that are not UTF-8 in the name of a host",
        job("SLURMD_NODENAME=caf\udce9 " + XS + " --json run.json"),
        0,
        never=("out of host memory",),
    ),
]

SURROUNDINGS = [
    Row(
        "a locale that is not UTF-8: sound",
        accept("n1", env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}),
        0,
        never=("Traceback",),
    ),
    Row(
        "a locale that is not UTF-8: sick",
        here(policy='{"device_gflops_min": 1e9}', env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}),
        5,
        sick="localhost",
        drain="localhost",
        never=("Traceback",),
        quick=True,
    ),
    Row(
        "bytes that are not UTF-8 in a hostfile",
        accept("", "--hostfile", "hosts", files={"hosts": b"# caf\xe9\nn1\nn2\n"}),
        0,
        never=("Traceback",),
    ),
    Row("a folder without chmod", without_chmod(here(stages="alone")), 0),
    Row(
        "a full disk below the folder",
        mounted(
            accept("n[1-2]"),
            "mkdir out",
            "mount -t tmpfs -o size=64k none out",
            "head -c 48k /dev/zero >out/filler",
        ),
        ANY,
    ),
    Row(
        "a read-only folder",
        mounted(accept("n[1-2]"), "mkdir out", "mount -t tmpfs -o ro none out"),
        3,
    ),
    Row(
        "a document on a bind-mounted file",
        mounted(
            shell(
                '"$himeno" -b null -s XS -n 5 --json run.json && grep -q checksum run.json',
                files={"run.json": "", "real.json": ""},
            ),
            "mount --bind real.json run.json",
        ),
        0,
    ),
    Row(
        "a full disk below a document",
        mounted(
            shell('"$himeno" -b null -s XS -n 5 --json full/run.json', files={"full/.keep": ""}),
            "mount -t tmpfs -o size=16k none full",
            "head -c 16k /dev/zero >full/filler || :",
        ),
        3,
    ),
]

LAUNCHERS = [
    Row("a launcher that is missing", accept("n[1-2]", launcher="/missing {list}"), 3),
    Row(
        "a launcher that fails at once",
        accept("n[1-2]", launcher="false {list}"),
        ANY,
        again="n[1-2]",
    ),
    Row(
        "a launcher that does nothing and ends with 0",
        accept("n[1-2]", launcher="true {list}"),
        ANY,
        again="n[1-2]",
        quick=True,
    ),
    Row(
        "a launcher that fails for one host", accept("n[1-3]", faults=["dead n2"]), ANY, again="n2"
    ),
    Row(
        "a launcher that fails for the only host",
        accept("n2", stages="alone", faults=["dead n2"]),
        ANY,
        again="n2",
    ),
    Row(
        "a launcher that never ends for one host",
        accept("n[1-2]", "--limit", "3", stages="alone", faults=["hang n2"]),
        ANY,
        again="n2",
    ),
    Row(
        "hosts that compute alone and not together",
        accept("n[1-2]", faults=["apart n2"]),
        ANY,
        again="n[1-2]",
    ),
    Row(
        "a step that a signal ends",
        accept(
            "n[1-2]",
            "--seconds",
            "9",
            "--limit",
            "120",
            stages="alone",
            faults=[f"as n2 {TERM} 1"],
            limit=300,
        ),
        ANY,
        again="n2",
    ),
]

RESOURCES = [
    Row(
        "a host with too little memory",
        accept("n[1-2]", stages="alone", faults=["as n2 prlimit --as=60000000"]),
        ANY,
        again="n2",
    ),
    Row(
        "a limit of memory",
        shell('ulimit -v 700000; "$himeno" -b cpu -s L -n 1'),
        3,
        says=("limit",),
    ),
    Row(
        "a host that cannot compute the reference in time",
        starved(
            here(
                "--size", "130x130x258", "--limit", "6", words="-b null --block 20", stages="alone"
            ),
            20,
        ),
        ANY,
        again="localhost",
    ),
    Row(
        "a CPU of which others take most",
        starved(
            here(
                "--size",
                "34x34x66",
                "--seconds",
                "0.5",
                words="-b cpu --block 20",
                stages="alone",
                policy='{"noise_max": 0.05}',
            ),
            30,
        ),
        {0, *ANY},
        again=None,
    ),
]

ROWS = [*SOUND, *DEVICES, *NAMES, *SURROUNDINGS, *LAUNCHERS, *RESOURCES]
