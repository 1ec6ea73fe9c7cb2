#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fit Extra-P (pip install extrap==4.2.5) to the runs of each size and transport that are cut along
i, without those on the most ranks. Arguments: RUNS.jsonl RANKS KERNEL."""

import collections
import json
import statistics
import sys

from extrap.entities.callpath import Callpath
from extrap.entities.coordinate import Coordinate
from extrap.entities.measurement import Measurement
from extrap.entities.metric import Metric
from extrap.modelers.single_parameter.basic import SingleParameterModeler

study, most, kernel = sys.argv[1], int(sys.argv[2]), sys.argv[3]
series, alone, errors = (
    collections.defaultdict(lambda: collections.defaultdict(list)),
    collections.defaultdict(list),
    collections.defaultdict(list),
)
with open(study, encoding="utf-8") as file:
    documents = [json.loads(line)["document"] for line in file]
for found in documents:
    config = found["config"]
    ranks, seconds = (
        len(found["ranks"]),
        statistics.median(found["result"]["samples"]) / config["block"],
    )
    if config["kernel"] == kernel and ranks == 1:
        alone[config["size"]].append(seconds)
    elif config["kernel"] == kernel and config["procs"][0] == ranks:
        series[config["size"], config["weak"], config["transport"]][ranks].append(seconds)
for (size, _, transport), of in series.items():
    fitted = sorted({1, *of} - {most})
    if most in of and size in alone and len(fitted) > 1:
        points = [
            Measurement(
                Coordinate(ranks),
                Callpath("sweep"),
                Metric("time"),
                alone[size] if ranks == 1 else of[ranks],
            )
            for ranks in fitted
        ]
        modeler = SingleParameterModeler()
        modeler.allow_negative_exponents = True
        guess = modeler.create_model(points).hypothesis.function.evaluate(float(most))
        errors[transport].append(100 * abs(guess / statistics.median(of[most]) - 1))
for transport, off in sorted(errors.items()):
    print(
        f"{transport}: {len(off)} series, half within {statistics.median(off):.1f}%, "
        f"worst {max(off):.1f}%"
    )
