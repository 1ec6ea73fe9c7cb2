# SPDX-License-Identifier: MIT
"""What the steps measured of each host, a row each, and which values lie apart from the other hosts'."""
import statistics

import stages
from steps import rows_by_host

LOW, HIGH, EITHER = -1, 1, 0
WHERE_TOLD = ("theory_share", "pair_seconds", "gflops_per_watt")  # the other columns stand in every table
# Key, head, what it is, factor and form for readers, the bad side, and the least distance that counts: a share of the median, or so much.
COLUMNS = (
    ("gflops", "GFLOPS", "of the slowest device by its own compute time", 1, "{:#.5g}", LOW, 0.03, 0),
    ("ceiling_share", "share", "of the ceiling, in the same run", 100, "{:.1f}%", LOW, 0.03, 0),
    ("theory_share", "of theory", "the ceiling's share of what the data sheet says", 100, "{:.1f}%", LOW, 0.03, 0),
    ("exchange_seconds", "exchange µs", "a sweep, among the host's own devices", 1e6, "{:.1f}", HIGH, stages.LEAST, 0),
    ("pair_seconds", "pairs µs", "a sweep, of exchange with other hosts, the median of its pairs", 1e6, "{:.1f}", HIGH, stages.LEAST, 0),
    ("celsius", "°C", "the hottest device after a block", 1, "{:.0f}", HIGH, 0, 8),
    ("watts", "W", "the most of a device", 1, "{:.0f}", EITHER, 0.10, 0),
    ("gflops_per_watt", "GFLOPS/W", "of all devices, idle power apart", 1, "{:#.3g}", LOW, 0.10, 0),
    ("sm_mhz", "MHz", "the lowest clock after a block", 1, "{:.0f}", LOW, 0.03, 0),
    ("errors", "errors", "of ECC and retired memory, all devices", 1, "{:.0f}", HIGH, 0, 0),
)
RULE = (f"on the bad side of the median by more than {stages.SIGMAS} times 1.4826 MAD of the hosts, and by more than 3% (GFLOPS, shares, MHz), 25% (exchange), "
        f"10% (GFLOPS/W; W, either way) or 8 °C; of errors any more; from {stages.PAIRS_MIN} hosts on")


def shown(key, value):
    scale, form = next(column[3:5] for column in COLUMNS if column[0] == key)
    return "–" if value is None else form.format(scale * value).rstrip(".")


# ---- what the documents say of a host ----

def most(values, best=max):
    known = [value for value in values if value is not None]
    return best(known) if known else None


def errors_of(ranks):
    """Of all devices of a host; None where no device tells."""
    told = [(rank.get("telemetry") or {}).get("ecc") or {} for rank in ranks]
    counts = [ecc[key] for ecc in told for key in ("corrected", "uncorrected", "retired") if ecc.get(key) is not None]
    return sum(counts) if counts else None


def share_of(document):
    """The least of the devices', where each was told one."""
    return most((rank.get("ceiling_share") for rank in document.get("ranks", [])), min) or document.get("result", {}).get("ceiling_share")


def by_host(run):
    """{host: (telemetry of its ranks in all steps, errors in each step of its own, exchanges with others)}; each document is read once."""
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
                found[name][2].append(stages.exchange_of(document))
    return found


def row_of(name, document, telemetry, errors, pairs):
    ranks = document.get("ranks", [])
    return {
        "host": name,
        "gflops": most([rank.get("gflops") for rank in ranks], min),
        "ceiling_share": share_of(document),
        "theory_share": most(((rank.get("theory") or {}).get("share") for rank in ranks), min),
        "exchange_seconds": (stages.exchange_of(document) or None) if len(ranks) > 1 else None,  # 0: within the sweep
        "pair_seconds": most(pairs, statistics.median),
        "celsius": most(max(one["celsius"]) for one in telemetry if one.get("celsius")),
        "watts": most(max(one["watts"]) for one in telemetry if one.get("watts")),
        "gflops_per_watt": (document.get("result", {}).get("energy") or {}).get("gflops_per_watt"),
        "sm_mhz": most((min(one["sm_mhz"]) for one in telemetry if one.get("sm_mhz")), min),
        "errors": most(errors),
    }


# ---- what lies apart ----

def outliers(rows):
    """Adds to each row the keys of those of its values that lie apart from the other hosts'."""
    for row in rows:
        row["outliers"] = []
    for key, *_, side, share, least in COLUMNS:
        known = [row for row in rows if row[key] is not None]
        if len(known) < stages.PAIRS_MIN:
            continue
        middle, spread = stages.spread_of([row[key] for row in known])
        limit = max(stages.SIGMAS * spread, share * abs(middle), least)
        for row in known:
            off = row[key] - middle
            if (side * off if side else abs(off)) > limit:
                row["outliers"].append(key)
    return rows


def rows_of(run):
    return outliers([row_of(name, run.document(f"alone-{name}") or {}, *told) for name, told in by_host(run).items()])
