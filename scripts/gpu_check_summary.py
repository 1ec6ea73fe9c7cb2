#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes summary.txt and summary.json of scripts/gpu-check from its steps' outcomes and its JSON
documents.

Usage: gpu_check_summary.py OUTCOMES FOLDER   exit status 1 when a step failed or none passed
"""

import json
import pathlib
import platform
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "shared"))
sys.dont_write_bytecode = True
from files import read_document  # noqa: E402

SIZES = ("XL", "L", "M")
# Targets of the sweep and of the ceiling: a kernel that reads 13 arrays can be as fast as a copy.
CEILING_TARGET = {"XL": 0.99, "L": 0.99, "M": 0.97}
COPY_TARGET = 0.99
BEST_COPY_TARGET = 0.97
OPENCL_TARGET = 0.97
# Targets relative to the ceiling, of the best kernel with several sweeps per pass by backend and
# size, and (TWO_SWEEPS_TARGET) of the kernel with two sweeps per pass.
TEMPORAL_TARGETS = {
    "cuda-XL": 2.5,
    "cuda-L": 2.3,
    "cuda-M": 1.8,
    "opencl-XL": 1.5,
    "opencl-L": 1.5,
    "cpu-L": 1.5,
}
H200_TARGETS = {"cuda-XL": 2.2}
TWO_SWEEPS_TARGET = 1.8
# Targets relative to cuBLAS on the same operands.
TENSOR_TARGETS = {
    "tensor-wgmma-f16-4096": 1.00,
    "tensor-wgmma-f16-8192": 1.02,
    "tensor-wgmma-f16-4095x4097x4099": 0.9,
    "tensor-wgmma-bf16-4095x4097x4099": 0.9,
    "tensor-wgmma-f16-8191": 0.9,
    "tensor-wgmma-bf16-4096": 1.00,
    "tensor-wgmma-bf16-8192": 1.02,
    "tensor-wgmma-bf16-8191": 0.9,
    "tensor-wgmma-tf32-4096": 1.00,
    "tensor-wgmma-tf32-8192": 1.00,
    "tensor-wmma-f16-f16-8192": 0.55,
    "tensor-dmma-f64-1024": 0.9,
    "tensor-dmma-f64-2048": 0.95,
    "tensor-dmma-f64-4096": 0.95,
    "tensor-dmma-f64-8192": 0.95,
}
# Targets of the best rung relative to cuBLAS, and of OpenCL's best rung relative to CUDA's.
PRODUCT_TARGETS = {1024: 0.95, 4096: 1.00, 8192: 1.00}
PRODUCT_OPENCL_TARGET = 0.85


def read_steps(path, folder):
    steps = []
    for line in path.read_text().splitlines():
        name, outcome, seconds, limit = line.split("\t")
        note = folder / "notes" / name
        steps.append(
            {
                "name": name,
                "outcome": outcome,
                "seconds": int(seconds),
                "limit": int(limit),
                "note": note.read_text().strip() if note.exists() else "",
                "log": f"logs/{name}.log",
            }
        )
    return steps


def read_runs(folder):
    """Return {name: document, its file, and the command line that wrote it}."""
    runs = {}
    for path in sorted((folder / "json").glob("*.cmd")):
        document = path.with_suffix(".json")
        if document.exists():
            runs[path.stem] = {
                "file": f"json/{document.name}",
                "command": path.read_text().strip(),
                "document": read_document(document),
            }
    return runs


def document_of(runs, name):
    return (runs.get(name) or {}).get("document") or {}


def result(runs, name):
    return document_of(runs, name).get("result") or {}


def copy_rates(runs):
    return {copy["size"]: copy["gbps"] for copy in document_of(runs, "copy-rate").get("copies", [])}


def copy_share(runs):
    """Return the smallest ratio, over sizes, of mem-gpu's copy to the faster of cudaMemcpy and
    BabelStream."""
    document = document_of(runs, "memory")
    copies = (document.get("copies") or {}).get("ways", [])
    return min((copy["share"] for copy in copies), default=None)


def figure(name, value, target=None):
    verdict = None if target is None else ("met" if value >= target else "slow")
    return {"name": name, "value": value, "target": target, "verdict": verdict}


def temporal_figures(runs):
    for name, target in TEMPORAL_TARGETS.items():
        document = document_of(runs, f"ladder-{name}")
        shares = {
            rung["kernel"]: rung["ceiling_share"]
            for rung in document.get("rungs", [])
            if rung["class"] == "temporal" and rung["verdict"] == "pass" and rung["ceiling_share"]
        }
        if not shares:
            continue
        if "H200" in str(document["config"].get("device")):
            target = H200_TARGETS.get(name)
        best = max(shares, key=shares.get)
        yield figure(f"{name}: {best} / ceiling", shares[best], target)
        if name == "cuda-XL" and "temporal2" in shares:
            yield figure(
                f"{name}: temporal2 / ceiling",
                shares["temporal2"],
                TWO_SWEEPS_TARGET if target == TEMPORAL_TARGETS[name] else None,
            )


def tensor_figures(runs):
    for name, target in TENSOR_TARGETS.items():
        document = document_of(runs, name)
        for library in document.get("yardsticks", []):
            if library.get("ours_share"):
                yield figure(
                    f"{name[len('tensor-') :]} / {library['kernel']}",
                    library["ours_share"],
                    target,
                )


def best_products(runs, backend):
    """Return {size: GFLOPS of the fastest rung, and of each reference library}."""
    document = document_of(runs, f"products-{backend}")
    sizes = {}
    for size in document.get("sizes", []):
        passed = [rung for rung in size["rungs"] if rung["verdict"] == "pass"]
        ours = [rung["gflops"] for rung in passed if not rung["yardstick"]]
        if ours:
            sizes[size["m"]] = {
                "best": max(ours),
                "libraries": {
                    rung["kernel"]: rung["gflops"] for rung in passed if rung["yardstick"]
                },
            }
    return sizes


def product_figures(runs):
    cuda, opencl = best_products(runs, "cuda"), best_products(runs, "opencl")
    for size, one in cuda.items():
        for name, rate in one["libraries"].items():
            yield figure(
                f"{size}: CUDA product / {name}", one["best"] / rate, PRODUCT_TARGETS.get(size)
            )
    for size in sorted(cuda.keys() & opencl.keys()):
        yield figure(
            f"{size}: OpenCL product / CUDA product",
            opencl[size]["best"] / cuda[size]["best"],
            PRODUCT_OPENCL_TARGET,
        )


def figures(runs):
    found, copies, share = [], copy_rates(runs), copy_share(runs)
    if share:
        found.append(figure("mem-gpu copy / best other, least", share, BEST_COPY_TARGET))
    for size in SIZES:
        cuda, opencl = result(runs, f"run-cuda-{size}"), result(runs, f"run-opencl-{size}")
        for backend, one in (("CUDA", cuda), ("OpenCL", opencl)):
            if one:
                found.append(figure(f"{size}: {backend} stream, GFLOPS", one["gflops"]))
        if cuda.get("ceiling_share"):
            found.append(
                figure(
                    f"{size}: CUDA stream / ceiling", cuda["ceiling_share"], CEILING_TARGET[size]
                )
            )
        if cuda.get("ceiling_gbps") and size in copies:
            found.append(
                figure(
                    f"{size}: ceiling / device-to-device copy",
                    cuda["ceiling_gbps"] / copies[size],
                    COPY_TARGET,
                )
            )
        if cuda and opencl:
            found.append(
                figure(
                    f"{size}: OpenCL stream / CUDA stream",
                    opencl["gflops"] / cuda["gflops"],
                    OPENCL_TARGET,
                )
            )
    found += temporal_figures(runs)
    found += product_figures(runs)
    found += tensor_figures(runs)
    return found


def text(summary):
    yield f"gpu-check on {summary['host']}, {summary['time']}: {summary['verdict']}"
    yield ""
    for step in summary["steps"]:
        yield f"  {step['name']:<20} {step['outcome']:<8} {step['seconds']:4d} s  {step['note']}"
    yield ""
    for one in summary["figures"]:
        target = "" if one["target"] is None else f"  target {one['target']:.2f}  {one['verdict']}"
        digits = 1 if one["target"] is None else 4
        yield f"  {one['name']:<36} {one['value']:9.{digits}f}{target}"
    yield ""
    counts = {
        kind: sum(step["outcome"] == kind for step in summary["steps"])
        for kind in ("pass", "fail", "timeout", "skip")
    }
    yield ", ".join(f"{count} {kind}" for kind, count in counts.items())


def main():
    outcomes, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
    steps, runs = read_steps(outcomes, folder), read_runs(folder)
    failed = any(step["outcome"] in ("fail", "timeout") for step in steps)
    passed = any(step["outcome"] == "pass" for step in steps)
    found = figures(runs)
    slow = any(one["verdict"] == "slow" for one in found)
    summary = {
        "schema": "himeno-gpu-check/1",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "host": platform.node(),
        "verdict": "fail" if failed or not passed else "pass, slow" if slow else "pass",
        "steps": steps,
        "figures": found,
        "runs": [
            {"name": name, "file": run["file"], "command": run["command"]}
            for name, run in runs.items()
        ],
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    (folder / "summary.txt").write_text("\n".join(text(summary)) + "\n")
    print("\n".join(text(summary)))
    return int(failed or not passed)


if __name__ == "__main__":
    sys.exit(main())
