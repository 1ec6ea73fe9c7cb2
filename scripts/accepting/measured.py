# SPDX-License-Identifier: MIT
"""One row of measurements per host, and its outliers."""

import statistics

import noise
import pairs
from steps import rows_by_host

LOW, HIGH, EITHER = -1, 1, 0
# A table omits these columns if they have no value; it always has the other columns.
IF_KNOWN = ("theory_share", "pair_seconds", "gflops_per_watt")
# Each entry: key, head, description, factor and format of the printed value, bad side (LOW or
# HIGH), and the minimum distance of an outlier, relative and absolute.
COLUMNS = (
    ("gflops", "GFLOPS", "compute rate of the slowest device", 1, "{:#.5g}", LOW, 0.03, 0),
    (
        "ceiling_share",
        "ceiling",
        "bandwidth of the slowest device while computing, as a share of the bandwidth measured "
        "in the same run",
        100,
        "{:.1f}%",
        LOW,
        0.03,
        0,
    ),
    (
        "theory_share",
        "theory",
        "that bandwidth relative to the data sheet",
        100,
        "{:.1f}%",
        LOW,
        0.03,
        0,
    ),
    (
        "exchange_seconds",
        "exch. µs",
        "halo exchange per sweep among the host's own devices",
        1e6,
        "{:#.3g}",
        HIGH,
        pairs.LEAST,
        0,
    ),
    (
        "pair_seconds",
        "pairs µs",
        "halo exchange per sweep with other hosts, median of its pairs",
        1e6,
        "{:#.3g}",
        HIGH,
        pairs.LEAST,
        0,
    ),
    ("celsius", "°C", "highest temperature of a device after a block", 1, "{:.0f}", HIGH, 0, 8),
    ("watts", "W", "highest power of a device", 1, "{:.0f}", EITHER, 0.10, 0),
    (
        "gflops_per_watt",
        "GFLOPS/W",
        "rate per power of all devices, without idle power",
        1,
        "{:#.3g}",
        LOW,
        0.10,
        0,
    ),
    ("sm_mhz", "MHz", "lowest clock of a device after a block", 1, "{:.0f}", LOW, 0.03, 0),
    ("errors", "errors", "ECC errors and retired pages of all devices", 1, "{:.0f}", HIGH, 0, 0),
)
RULE = (
    f"worse than the median of the hosts by more than {noise.SIGMAS} standard deviations (1.4826 "
    "MAD) and by more than a minimum. Minimum: 3% (GFLOPS, shares, MHz), 25% (exchange), 10% "
    "(GFLOPS/W, and W in either direction) or 8 °C. Errors are outliers above the median. "
    f"Outliers are marked only among {noise.MEDIAN_MIN} or more hosts"
)


def legend(columns):
    return "; ".join(f"{column[1]}: {column[2]}" for column in columns)


def shown(key, value):
    scale, form = next(column[3:5] for column in COLUMNS if column[0] == key)
    if value is None:
        return "–"
    text = form.format(scale * value)
    return f"{scale * value:.0f}" if "e+" in text else text.rstrip(".")


# ---- measurements of a host ----


def most(values, best=max):
    known = [value for value in values if value is not None]
    return best(known) if known else None


def errors_of(ranks):
    """Return the number of errors of all devices of a host; None if no device reports them."""
    reported = [(rank.get("telemetry") or {}).get("ecc") or {} for rank in ranks]
    counts = [
        ecc[key]
        for ecc in reported
        for key in ("corrected", "uncorrected", "retired")
        if ecc.get(key) is not None
    ]
    return sum(counts) if counts else None


def share_of(document):
    """Return the devices' lowest share of the ceiling, or the run's if no device has one."""
    return most(
        (rank.get("ceiling_share") for rank in document.get("ranks", [])), min
    ) or document.get("result", {}).get("ceiling_share")


def by_host(run):
    """Return {host: (telemetry of its ranks in all steps, number of errors per step that ran only
    on this host, exchange times with other hosts)}. Reads each document once."""
    found = {name: ([], [], []) for name in run.a.names}
    for step, done in run.done.items():
        document = run.document(step) or {}
        alone = done["hosts"][0] if len(done["hosts"]) == 1 else None
        for name, ranks in rows_by_host(done, document).items():
            found[name][0].extend(rank["telemetry"] for rank in ranks if rank.get("telemetry"))
        if alone in found:
            found[alone][1].append(errors_of(document.get("ranks", [])))
        elif step.startswith("pair-"):
            for name in done["hosts"]:
                found[name][2].append(pairs.exchange_of(document))
    return found


def row_of(name, document, telemetry, errors, pair_times):
    ranks = document.get("ranks", [])
    return {
        "host": name,
        "gflops": most([rank.get("gflops") or None for rank in ranks], min),
        "ceiling_share": share_of(document),
        "theory_share": most(((rank.get("theory") or {}).get("share") for rank in ranks), min),
        # The value is None if kernels exchange halos within the sweep, because the time is 0 then.
        "exchange_seconds": len(ranks) > 1 and pairs.exchange_of(document) or None,
        "pair_seconds": most(pair_times, statistics.median),
        "celsius": most(max(one["celsius"]) for one in telemetry if one.get("celsius")),
        "watts": most(max(one["watts"]) for one in telemetry if one.get("watts")),
        "gflops_per_watt": (document.get("result", {}).get("energy") or {}).get("gflops_per_watt"),
        "sm_mhz": most((min(one["sm_mhz"]) for one in telemetry if one.get("sm_mhz")), min),
        "errors": most(errors),
    }


# ---- outliers ----


def outliers(rows):
    """Add the keys of its outliers to each row."""
    for row in rows:
        row["outliers"] = []
    for key, *_, side, share, least in COLUMNS:
        known = [row for row in rows if row[key] is not None]
        if len(known) < noise.MEDIAN_MIN:
            continue
        middle, spread = noise.spread_of([row[key] for row in known])
        limit = max(noise.SIGMAS * spread, share * abs(middle), least)
        for row in known:
            off = row[key] - middle
            if (side * off if side else abs(off)) > limit:
                row["outliers"].append(key)
    return rows


def rows_of(run):
    return outliers(
        [
            row_of(name, run.document(f"alone-{name}") or {}, *results)
            for name, results in by_host(run).items()
        ]
    )
