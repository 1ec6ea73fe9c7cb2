# SPDX-License-Identifier: MIT
"""The plan of a scaling study: its points in random order, and the file that stores them."""

import itertools
import json
import os
import random
import re

import distributed
from endings import BadInput, Trouble
from files import read_parsed, write_whole
from processes import say

SCHEMA = "himeno-study/1"
# Types of the fields in a study's file, per kind of entry.
PATHS = {"name": str, "ranks": int, "repeat": int}
POINT = {**PATHS, "size": str, "kernel": str, "transport": str, "scaling": str, "procs": str}
OPTIONS = {
    "program": str,
    "program_options": list,
    "launcher": str,
    "per_host": int,
    "paths_options": list,
    "limit": (int, float),
    "seconds": (int, float),
    "repeat": int,
    "seed": int,
    "slurm": (str, type(None)),
    "sbatch_options": list,
}
NAMED_SIZES = ("XS", "S", "M", "L", "XL")


def words(option, text, allowed=None):
    """Return the words of a list separated by commas, without duplicates."""
    found = list(dict.fromkeys(word for word in text.split(",") if word))
    if not found:
        raise BadInput(f"{option}: empty list")
    for word in found:
        if allowed and not re.fullmatch(allowed, word):
            raise BadInput(f"{option} {text}: {word!r} is not allowed")
    return found


def sizes(text, of_products=False):
    if of_products:
        return list(dict.fromkeys(distributed.size(size) for size in words("--sizes", text)))
    found = [
        size.upper() if size.upper() in NAMED_SIZES else size for size in words("--sizes", text)
    ]
    for size in found:
        if size not in NAMED_SIZES and not re.fullmatch(r"\d+x\d+x\d+", size):
            raise BadInput(f"--sizes {size}: must be {', '.join(NAMED_SIZES)} or IxJxK")
    return list(dict.fromkeys(found))


def ranks(text):
    return sorted({int(word) for word in words("--ranks", text, r"[1-9]\d{0,6}")})


def cuts(count, wanted, of_products=False):
    """Return the process grids of `count` ranks, as -p of himeno-gpu, or gemm-gpu, takes them."""
    if of_products:
        return distributed.grids(count, wanted)
    if count == 1:
        return ["1x1x1"]
    found = []
    for word in wanted:
        if word == "auto":
            found.append("auto")
        elif word in ("i", "j", "k"):
            found.append("x".join(str(count) if word == axis else "1" for axis in "ijk"))
        elif word == "all":
            found += [
                f"{p}x{q}x{count // p // q}"
                for p, q in itertools.product(range(1, count + 1), repeat=2)
                if count % (p * q) == 0
            ]
        elif word.count("x") != 2:
            raise BadInput(f"--procs {word}: PxQ is gemm-gpu's; himeno-gpu takes PxQxR")
        else:
            p, q, r = (int(part) for part in word.split("x"))
            found += [word] if p * q * r == count else []
    return list(dict.fromkeys(found))


def points_of(options):
    """Return each combination once. One rank has no neighbours, so that it has one point for all
    transports and both kinds of scaling."""
    found = {}
    for size, count, kernel in itertools.product(
        options["sizes"], options["ranks"], options["kernels"]
    ):
        for transport, scaling, cut in itertools.product(
            options["transports"],
            options["scaling"],
            cuts(count, options["procs"], distributed.is_of(options)),
        ):
            if count == 1:
                transport, scaling = "none", "strong"
            name = f"{scaling}-{size}-{count}-{kernel}-{transport}-{cut}"
            found[name] = {
                "size": size,
                "ranks": count,
                "kernel": kernel,
                "transport": transport,
                "scaling": scaling,
                "procs": cut,
            }
    return found


def suffice(options):
    """Yield (options, reason) of the additional points that a prediction of options["predict"]
    ranks needs."""
    wanted, count, products = (
        options["predict"],
        min([ranks for ranks in options["ranks"] if ranks > 1], default=2),
        distributed.is_of(options),
    )
    first = min(
        (NAMED_SIZES.index(size) for size in options["sizes"] if size in NAMED_SIZES), default=0
    )
    # A named size has as many points as one of eight ranks has of the next size.
    steps = 2 if len(options["sizes"]) < 3 else int(wanted > max(options["ranks"]))
    smaller = [] if products else list(NAMED_SIZES[max(0, first - steps) : first])
    if smaller:
        yield (
            {"sizes": smaller},
            "smaller sizes, which show the cost of a sweep without points and of messages, and "
            "have as few points per rank as more ranks",
        )
    sizes = options["sizes"] + smaller
    if 1 not in options["ranks"]:
        yield (
            {"sizes": sizes, "ranks": [1]},
            "one rank of each size, relative to which efficiency is predicted",
        )
    if wanted > count:
        yield (
            {
                "sizes": sizes,
                "ranks": [count],
                "procs": ["i", "j"] if products else ["i", "j", "k"],
                "scaling": ["strong"],
            },
            f"a division of {count} ranks along each dimension: {wanted} ranks are divided along "
            "several, and one that no run has is refused",
        )
    if (
        options["per_host"]
        and wanted > options["per_host"]
        and "staged" not in options["transports"]
    ):
        yield (
            {"sizes": sizes, "ranks": [count], "transports": ["staged"]},
            f"transport staged: {wanted} ranks are on several hosts of {options['per_host']}, "
            "between which halos may go by it",
        )


def make(options):
    """Return a new study. Points and repeats are shuffled, so that a slow hour affects all."""
    single = points_of(options)
    for more, reason in suffice(options) if options.get("predict") else ():
        added = {
            name: point
            for name, point in points_of({**options, **more}).items()
            if name not in single
        }
        if added:
            say(f"{len(added) * options['repeat']} more runs: {reason}")
        single.update(added)
    if not single:
        raise BadInput("--procs: none of the cuts fits any of --ranks")
    runs = [
        {"name": f"{name}-r{repeat}", "kind": "run", "repeat": repeat, **point}
        for name, point in single.items()
        for repeat in range(1, options["repeat"] + 1)
    ]
    random.Random(options["seed"]).shuffle(runs)
    most = max(options["ranks"])
    if options["paths"] and most > 1:
        runs.insert(0, {"name": "paths", "kind": "paths", "repeat": 1, "ranks": most})
    return {"schema": SCHEMA, "options": options, "points": runs}


def read(folder):
    """Return the study in a folder; None if there is none."""
    path = os.path.join(folder, "study.json")
    try:
        study = read_parsed(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error
    if not isinstance(study, dict) or study.get("schema") != SCHEMA:
        raise BadInput(f"{path}: not a study of scripts/scaling")
    check(path, study)
    return study


def check(path, study):
    """Check the type of each field. Some fields become parts of file names."""
    options, points = study.get("options"), study.get("points")
    if not isinstance(options, dict) or not isinstance(points, list):
        raise BadInput(f"{path}: not as scripts/scaling writes it: options or points are missing")
    for place, one in enumerate(points):
        if not isinstance(one, dict) or one.get("kind") not in ("run", "paths"):
            raise BadInput(f"{path}: points[{place}] is neither a run nor paths")
        fields(path, f"points[{place}]", one, POINT if one["kind"] == "run" else PATHS)
        if not re.fullmatch(r"[\w.-]+", one["name"]):
            raise BadInput(
                f"{path}: points[{place}].name is {one['name']!r:.80}, no name of a file"
            )
    fields(path, "options", options, OPTIONS)


def fields(path, where, found, wanted):
    for name, kind in wanted.items():
        if not isinstance(found.get(name), kind) or (
            isinstance(found[name], bool) and kind is not bool
        ):
            raise BadInput(
                f"{path}: {where}.{name} is {found.get(name)!r:.80}, not as scripts/scaling "
                "writes it"
            )


def write(folder, study):
    os.makedirs(os.path.join(folder, "runs"), exist_ok=True)
    write_whole(os.path.join(folder, "study.json"), json.dumps(study, indent=1) + "\n")
