# SPDX-License-Identifier: MIT
"""Computes doc/devices.json from doc/results. A device's value is the median over its runs of
himeno-gpu on CUDA in which each device had a whole grid of size L or XL. A row has the number of
devices of one type, and the minimum, median and maximum of their values. GFLOPS are those of kernel
stream. The ceiling's share of the theoretical bandwidth is from all kernels, with the bandwidth
that documents of that type of device have."""

import glob
import json
import statistics
import sys

OTHERS_ON_IT = "accept-slow"  # name of a run during which another program used one of the devices


def runs(folder):
    lines = [
        line
        for path in sorted(glob.glob(f"{folder}/**/*.jsonl", recursive=True))
        for line in open(path, encoding="utf-8")
    ]
    for one in map(json.loads, lines):
        document = one["document"]
        if (
            one["name"] == OTHERS_ON_IT
            or str(one["command"]).startswith("with ")
            or not str(document.get("schema")).startswith("himeno-gpu/")
        ):
            continue
        whole = document["config"]["size"] in ("L", "XL") and (
            document["config"]["weak"] or len(document["ranks"]) == 1
        )
        if document["config"]["backend"] == "cuda" and whole and document["result"]["ceiling_gbps"]:
            # these transports wait for neighbours within a rank's own time
            waits = len(document["ranks"]) > 1 and document["config"]["transport"] in (
                "ipc",
                "nccl",
            )
            if (
                not waits
                and not document["config"].get("pad")
                and not any(rank["device_shared"] for rank in document["ranks"])
            ):
                yield document


def three(values):
    return [round(value, 3) for value in (min(values), statistics.median(values), max(values))]


def table(folder):
    gflops, ceilings, theory = {}, {}, {}
    for document in runs(folder):
        config, ranks = document["config"], document["ranks"]
        for rank in ranks:
            device, uuid = rank["device"], rank["uuid"]
            ceilings.setdefault(device, {}).setdefault(uuid, []).append(
                document["result"]["ceiling_gbps"] / len(ranks)
            )
            if rank.get("theory"):
                assert (
                    theory.setdefault(device, rank["theory"]["gbps"]) == rank["theory"]["gbps"]
                ), device
            if config["kernel"] == "stream":
                gflops.setdefault(device, {}).setdefault(uuid, []).append(rank["gflops"])

    def of(values, unit=1):
        return {
            "devices": len(values),
            "least_median_greatest": three(
                [statistics.median(one) / unit for one in values.values()]
            ),
        }

    return {
        device: {
            "gflops": of(gflops[device]),
            "ceiling_of_theory": of(ceilings[device], theory[device]),
        }
        for device in sorted(ceilings)
    }


if __name__ == "__main__":
    lines = [
        f"{json.dumps(device)}: {json.dumps(row)}" for device, row in table(sys.argv[1]).items()
    ]
    print("{" + ",\n ".join(lines) + "}")
