# SPDX-License-Identifier: MIT
"""Finds the hot loop of a kernel, and the purpose of each of its instructions."""

import collections
import dataclasses
import re

CLASSES = ("arithmetic", "address", "load", "store", "scalar", "control", "wait", "move")
# Assumed number of iterations of a loop each time it is entered.
TRIPS = 10
# Weight of a matrix instruction relative to others: first of a warpgroup, then of a warp.
PRODUCTS = (
    (re.compile(r"[HIQ]GMMA|wgmma\.mma"), 100),
    (re.compile(r"[HIDQ]MMA|mma\.sync|wmma\.mma"), 8),
)


@dataclasses.dataclass
class Block:
    first: int
    end: int
    next: list = dataclasses.field(default_factory=list)


def leaders(kernel):
    starts = {0}
    for place, one in enumerate(kernel.code):
        if one.target in kernel.labels:
            starts.add(kernel.labels[one.target])
        if one.ends or one.target:
            starts.add(place + 1)
    return sorted(start for start in starts if start < len(kernel.code))


def blocks(kernel):
    """Return the basic blocks of a kernel, with the edges between them."""
    starts = leaders(kernel)
    place = {start: index for index, start in enumerate(starts)}
    found = [Block(start, end) for start, end in zip(starts, starts[1:] + [len(kernel.code)])]
    for index, block in enumerate(found):
        last = kernel.code[block.end - 1]
        if last.target in kernel.labels and kernel.labels[last.target] in place:
            block.next.append(place[kernel.labels[last.target]])
        if (not last.ends or last.conditional) and index + 1 < len(found):
            block.next.append(index + 1)
    return found


def dominators(graph):
    """Return {block: set of the blocks on every path to it} and {block: its predecessors}, for the
    blocks that can be reached."""
    reached, rest = {0}, [0]
    while rest:
        for follower in graph[rest.pop()].next:
            if follower not in reached:
                reached.add(follower)
                rest.append(follower)
    before = {
        block: [other for other in reached if block in graph[other].next] for block in reached
    }
    over = {block: set(reached) for block in reached}
    over[0] = {0}
    changed = True
    while changed:
        changed = False
        for block in sorted(reached - {0}):
            new = {block} | set.intersection(*(over[other] for other in before[block]))
            changed |= new != over[block]
            over[block] = new
    return over, before


def loops(graph):
    """Return the natural loops as {head: its blocks}. A natural loop has an edge back to its head,
    which dominates the block at the edge's start."""
    over, before = dominators(graph)
    found = {}
    for block in over:
        for head in graph[block].next:
            if head not in over[block]:
                continue
            body, rest = {head, block}, [block]
            while rest:
                inner = rest.pop()
                for other in before[inner] if inner != head else ():
                    if other not in body:
                        body.add(other)
                        rest.append(other)
            found[head] = found.get(head, set()) | body
    return found


def weight_of(kernel, graph, some):
    """Return the estimated cost of executing these blocks once. A product counts as several."""

    def weigh(one):
        return next((weight for pattern, weight in PRODUCTS if pattern.match(one.op)), 1)

    return sum(
        weigh(one) for block in some for one in kernel.code[graph[block].first : graph[block].end]
    )


def own_blocks(head, found):
    """Return the blocks of a loop that are not in an inner loop."""
    within = [body for other, body in found.items() if other != head and body < found[head]]
    return found[head].difference(*within)


def hot_loop(kernel, graph):
    """Return the blocks of the loop with the most work, without its inner loops, and its depth. A
    kernel without loops is returned whole, with depth 0; the endless loop at its end is ignored."""
    found = {
        head: body
        for head, body in loops(graph).items()
        if sum(graph[block].end - graph[block].first for block in body) > 1
    }
    best = (0, set(dominators(graph)[0]), 0)
    for head in found:
        depth = sum(head in other for other in found.values())
        own = own_blocks(head, found)
        weight = weight_of(kernel, graph, own) * TRIPS**depth
        if weight > best[0]:
            best = (weight, own, depth)
    return best[1], best[2]


def sources(kernel, graph, some):
    """Return find(place, name), which lists the instructions that may have written a register last
    before an instruction. It searches backward through the blocks `some`, also from a loop's head
    to its end. A write under a predicate does not hide earlier ones."""
    block_of = {
        place: block for block in some for place in range(graph[block].first, graph[block].end)
    }
    before = {block: [other for other in some if block in graph[other].next] for block in some}

    def scan(block, end, name):
        """Return the writers in a block, last first, and True if earlier writers remain visible."""
        found = []
        for place in range(end - 1, graph[block].first - 1, -1):
            if name in kernel.code[place].writes:
                found.append(place)
                if not kernel.code[place].guard:
                    return found, False
        return found, True

    def find(place, name):
        block = block_of[place]
        found, open_ended = scan(block, place, name)
        seen, rest = set(), list(before[block]) if open_ended else []
        while rest:
            other = rest.pop()
            if other in seen:
                continue
            seen.add(other)
            more, open_ended = scan(other, graph[other].end, name)
            found += more
            rest += before[other] if open_ended else []
        return found

    return find


def slice_back(code, wanted, find, floating=True):
    """Return the instructions whose results reach the wanted (place, register) without passing
    through memory."""
    found, rest = set(), list(wanted)
    while rest:
        for place in find(*rest.pop()):
            one = code[place]
            if place not in found and not one.memory and (floating or not one.floating):
                found.add(place)
                rest += [(place, name) for name in one.reads + one.guard]
    return found


def classify(kernel, graph, some):
    """Return (class, instruction) for each instruction of the blocks `some`. The class is
    "address" if an address depends on the result, "control" if only branches depend on it."""
    find = sources(kernel, graph, some)
    code = kernel.code
    places = sorted(
        place for block in some for place in range(graph[block].first, graph[block].end)
    )
    address = slice_back(
        code,
        [
            (place, name)
            for place in places
            if code[place].space != "constant"
            for name in code[place].address
        ],
        find,
        floating=False,
    )
    control = slice_back(
        code,
        [
            (place, name)
            for place in places
            if code[place].unit == "branch"
            for name in code[place].guard + code[place].reads
        ],
        find,
    )
    data = slice_back(
        code,
        [
            (place, name)
            for place in places
            if code[place].memory == "store"
            for name in code[place].reads
        ],
        find,
    )

    def kind(place):
        one = code[place]
        if one.memory or one.unit in ("wait", "scalar"):
            return one.memory or one.unit
        if one.unit == "branch":
            return "control"
        if place in address:
            return "address"
        if place in control and place not in data:
            return "control"
        return "move" if one.unit == "move" else "arithmetic"

    return [(kind(place), code[place]) for place in places]


def widths(code, kind):
    """Return the number of accesses per space and width in bytes, such as {"global 16": 3}."""
    return dict(
        collections.Counter(f"{one.space} {one.width}" for one in code if one.memory == kind)
    )


def count(kernel):
    """Return the instruction counts of a kernel for the report."""
    graph = blocks(kernel)
    some, depth = hot_loop(kernel, graph)
    classified = classify(kernel, graph, some)
    classes = [name for name, _ in classified]
    code = [one for _, one in classified]
    return {
        "kernel": kernel.name,
        "isa": kernel.isa,
        "instructions": len(kernel.code),
        "depth": depth,
        "loop": len(code),
        "classes": {name: classes.count(name) for name in CLASSES},
        "shares": {name: classes.count(name) / len(code) for name in CLASSES},
        "loads": widths(code, "load"),
        "stores": widths(code, "store"),
        "words": sum(one.width for one in code if one.memory == "store" and one.space == "global")
        / 4,
        "text": [f"{name:10} {one.text}" for name, one in classified],
    }
