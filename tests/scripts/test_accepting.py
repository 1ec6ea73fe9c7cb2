#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests which host scripts/accept accuses, and which result it accepts."""

import itertools
import json
import re

import helper  # first, because it makes other modules importable
import fabric
import pairs
import report
import stages
import steps


class Accepting(helper.Case):
    def test_a_device_that_the_ranks_of(self):
        """a device that a host's ranks share is tested once, and each of several devices is"""
        for uuids, launched in (
            (("x", "x"), []),
            (("x", "y"), ["device-a-0", "device-a-1"]),
            (("", ""), ["device-a-0", "device-a-1"]),
            ((), ["device-a-0", "device-a-1"]),
        ):
            run = helper.Run(documents={"alone-a": {"ranks": [{"uuid": uuid} for uuid in uuids]}})
            run.a.devices = dict.fromkeys(run.a.names, 2)
            run.find("slow", ["a"], "", {})
            stages.devices(run, run.a.names)
            self.assertEqual(run.launched, launched)

    def test_devices_are_counted(self):
        """a host that does not answer has the most common number of devices"""
        for names, backend, counted in (
            ("abcd", "", [2, 2, 3, 2]),
            ("a", "", [2]),
            ("c", "qpu", [3]),
        ):
            run = helper.Run({"count-b": {"outcome": "hang"}})
            for name, unused in zip("abcd", (1, 5, 2, 1)):
                run.documents[f"count-{name}"] = {"ranks": [{"host_devices_unused": unused}]}
            run.a.names, run.a.backend, run.a.devices = list(names), backend, None
            stages.count(run)
            self.assertEqual(run.a.devices, dict(zip(names, counted)))
            self.assertEqual((run.a.asked, len(run.notes)), (True, len(names + backend) == 1))

    def test_two_names_of_one_host(self):
        """two names reach one host if host name and a device are equal, or a device is unknown"""
        for uuids, twice in (("xy xz", {"b"}), ("xy zw", set()), ("xy -", {"b"}), ("- xy", {"b"})):
            run = helper.Run()
            done = {name: {"name": name, "hosts": [name], "ranks": [2]} for name in "abc"}
            for name, devices in zip("abc", [*uuids.split(), "xy"]):
                host = "c" if name == "c" else "n"
                ranks = [
                    {"rank": rank, "host": host, "uuid": uuid.strip("-") or None}
                    for rank, uuid in enumerate(devices)
                ]
                run.documents[name] = {"ranks": ranks}
            self.assertEqual(stages.duplicates(run, done), twice)
            self.assertEqual(run.found(), [("duplicate", "a", name) for name in twice])

    def test_rounds_of_pairs(self):
        """in each round a host has one partner, and each two hosts meet once"""
        self.assertEqual(
            list(pairs.rounds_of("abcd", 2)), [[("a", "d"), ("b", "c")], [("a", "c"), ("d", "b")]]
        )
        for names in ("a", "ab", "abc", "abcdefg", "abcdefgh"):
            rounds = list(pairs.rounds_of(names, 99))
            met = sorted("".join(sorted(pair)) for matches in rounds for pair in matches)
            self.assertEqual(met, list(map("".join, itertools.combinations(names, 2))))
            for matches in rounds:
                self.assertEqual(len(set("".join(map("".join, matches)))), 2 * len(matches))

    def test_waiting_for_a_late_neighbour_is(self):
        """the time of an exchange is the slowest rank's, without its wait for a late neighbour"""
        phases = "interior boundary pack d2h wait transfer h2d unpack reduce exposed".split()
        ranks = [
            {"phases": {name: scale * 2**place for place, name in enumerate(phases)}}
            for scale in (1, 3, 2)
        ]
        self.assertEqual(
            pairs.exchange_of({"ranks": ranks, "result": {"samples": [1, 1, 1]}}),
            3 * (4 + 8 + 32 + 64 + 128),
        )
        self.assertEqual(
            pairs.exchange_of({"ranks": ranks, "result": {"samples": [1, 1, 4]}}),
            3 * (4 + 8 + 32 + 64 + 128) / 2,
        )
        self.assertIsNone(pairs.exchange_of(None))

    def test_of_a_fabric_that_is_slow_under_load(self):
        """if the fabric is slow under load, its leaf switches are named but no host; a host that is
        slow while the others are idle is drained"""
        rates = {("a", "c"): 20, ("b", "c"): 16}  # Gbit/s while all send; the other pairs have 40

        def document(*failed):
            rows = [
                {
                    "rank": rank,
                    "fabric": [
                        {"from": "abcd".index(one), "alone": 40, "all": rates.get((one, name), 40)}
                        for one in "abcd"
                        if one != name
                    ],
                }
                for rank, name in enumerate("abcd")
            ]
            checks = [
                {"check": check, "outcome": "fail", "value": 2.5, "limit": 1.5, "rank": rank}
                for check, rank in failed
            ]
            return {"ranks": rows, "result": {"accept": {"checks": checks}}}

        def stage(leaves, *failed):
            cards = {"network": [{"state": "up", "rate_gbps": 100}]}
            run = helper.Run(
                {"fabric": {"outcome": "slow"}},
                {"fabric": document(*failed), **{f"inventory-{name}": cards for name in "abcd"}},
            )
            run.has, run.a.leaves = lambda program: True, leaves
            return [fabric.fabric(run, run.a.names), run.findings, run.notes]

        load, alone = ("contention of fabric", None), ("spread of hosts", 3)
        leaves = {"s1": ["a", "b"], "s2": ["c"], "s3": ["d"]}
        other = {"s1": ["a"], "s2": ["b"], "s3": ["c", "d"]}
        found = [stage(leaves, load), stage(other, load), stage({}, load, alone)]
        found.append(stage({}, ("devices a host", 1)))
        for slow in "bd", "ad":
            rates[tuple(slow)] = 20
            found.append(stage(leaves, load))
        self.as_before("fabric", found)

    def test_a_pair_is_tried_again_alone(self):
        """a slow pair runs again alone; if a host is slow with all its partners it is accused,
        otherwise the path between the two hosts is accused"""

        def document(seconds):
            phases = {"pack": 0, "d2h": 0, "transfer": seconds, "h2d": 0, "unpack": 0}
            return {"ranks": [{"phases": phases}], "result": {"samples": [1, 1, 1]}}

        run = helper.Run(
            documents={"again-a-b": document(9), "again-a-c": document(1), "again-a-d": document(2)}
        )
        kept = pairs.again_alone(run, [("a", "b"), ("a", "c"), ("a", "d")], 2)
        self.assertEqual(list(kept), [("a", "b")])
        self.assertEqual(kept["a", "b"][0], 9)
        for partners, met, guilty, found in (
            ("b", 2, set(), [("path", "a", "b")]),
            ("bc", 2, {"a"}, [("slow", "a")]),
            ("bc", 3, set(), [("path", "a", "b"), ("path", "a", "c")]),
        ):
            run = helper.Run()
            slow = {("a", other): (9, {"command": "", "name": ""}) for other in partners}
            met = {"a": met, "b": 2, "c": 2, "d": 2}
            self.assertEqual(pairs.accuse(run, slow, 2, 1, met), guilty)
            self.assertEqual(run.found(), found)

    def test_a_device_that_is_a_twentieth(self):
        """a device that is 5% slower at products than its equals is reported, and one within
        their spread is not reported"""
        steps = {name: {"command": "", "name": name} for name in "abcde"}

        def documents(starved, samples=(1, 1, 1)):
            return {
                name: {
                    "ranks": [{"starved": None}, {}, {"starved": starved}],
                    "result": {"samples": list(samples)},
                }
                for name in "abcde"
            }

        def slow(run, *rates):
            rates = {(name, "gpu"): rate for name, rate in zip("abcde", rates)}
            return stages.slow_at_products(run, rates, steps)

        for rates, found in (
            ((100, 100, 100.1, 99.9, 94), {"e"}),
            ((100, 100, 100.1, 99.9, 96), set()),
            ((100, 110, 120, 90, 80), set()),
            ((100, 101, 80), set()),
        ):
            self.assertEqual(slow(helper.Run(documents=documents(0.05)), *rates), found)
        for kind, why, document in (
            ("slow", "limit 95.0", documents(0.05)),
            ("noisy", "a rank waited 6.0% for a core", documents(0.06)),
            ("noisy", "too few blocks to judge", documents(0, [1, 1])),
            ("noisy", "its blocks vary by up to 75.6%", documents(0, [1, 1.1, 0.9])),
        ):
            run = helper.Run(documents=document)
            self.assertEqual(slow(run, 100, 100, 100, 100, 94), {"e"})
            self.assertEqual(run.found(), [(kind, "e")])
            self.assertTrue(run.findings[0]["why"].endswith(why), run.findings)

    def test_products_of_tensor_cores(self):
        """CUDA's devices multiply bf16 too: a slow one is drained, and one without such a kernel is
        not judged"""

        rank = {"rank": 0, "uuid": "", "starved": 0}

        def judged(outcomes=(), options=(), backend="cuda", slow=()):
            documents = {
                f"products{of}-{name}": {
                    "config": {"backend": backend},
                    "result": {"samples": [1] * 9},
                    "ranks": [{**rank, "gflops": 90 if (of, name) in slow else 100}],
                }
                for of in ("", "-bf16")
                for name in "abcd"
            }
            run = helper.Run(
                {f"products-bf16-{name}": outcome for name, outcome in outcomes}, documents
            )
            run.a.gemm_options = list(options)
            left = stages.products(run, ["a", "b", "c", "d"])
            return ["".join(left), run.launched, run.findings, run.notes]

        why = "backend cuda has no kernel for this product: its last one does not take type bf16"
        none = {"outcome": "usage", "why": why}
        found = [judged(), judged(backend="cpu"), judged(options=["--type=f16"])]
        found += [judged(slow=[(of, "c")]) for of in ("-bf16", "")]
        found += [judged([("b", {"outcome": "wrong"})]), judged([("b", none), ("d", none)])]
        self.as_before("products", found)

    def test_a_larger_job_accuses_devices_that(self):
        """a larger job accuses devices that compute slowly, and leaves paths to the stage pairs"""
        run = helper.Run()
        # The host follows from the rank, whatever name a host calls itself by.
        slow = [
            {"rank": rank, "of": of, "host": "b", "words": "", "uuid": uuid}
            for rank, of, uuid in ((1, "compute", "x"), (3, "exchange", "y"))
        ]
        step = {"hosts": ["c", "a", "b"], "ranks": [1, 2, 1]}
        self.assertEqual(stages.stragglers(run, step, {"stragglers": slow}), {"a"})
        self.assertEqual(run.found(), [("slow", "a")])
        self.assertEqual(run.findings[0]["device"], "x")

    def test_a_step_passes_that_ended_by(self):
        """a step passes only if it ended by itself with a document that passes; the reason is the
        failed check, or the program's last words"""
        check = {"check": "ECC on", "unit": "yes/no", "value": 0, "limit": 1, "why": "rank 1"}
        ecc, ended = "ECC on: no, required: yes (rank 1)", "ended early by a signal"

        def judged(code, verdict="pass", outcome="pass", **more):
            checks = [{**check, "outcome": outcome}]
            result = {"verdict": verdict, "accept": {"checks": checks}}
            return steps.judge(code, {"result": result, **more}, "log")

        for said in ("", "himeno-gpu: it said"):
            with open("log", "w") as log:
                log.write(f"$ mpirun\n{said}\n")
            for given, wanted in (
                (judged(0), ("pass", "")),
                (judged(2, "usage"), ("pass", "no check of the policy applies here")),
                (judged(5, "slow", "fail"), ("slow", ecc)),
                (judged(5, "slow"), ("slow", said)),
                (judged(3, "noisy", "noisy"), ("noisy", ecc)),
                (judged(3, "noisy"), ("noisy", said)),
                (judged(4, "wrong", "fail"), ("wrong", said or ecc)),
                (judged(7, "fault"), ("fault", said)),
                (judged(0, partial=True), ("partial", ended)),
                (judged(5, partial=True), ("partial", ended)),
                (judged(1), ("fault", said)),
                (steps.judge(0, None, "log"), ("not started", said or "exit status 0")),
                (steps.judge(7, None, "log")[0], "fault" if said else "not started"),
            ):
                self.assertEqual(given, wanted)
            for result in {"verified": "no"}, {"check": {"how": "no"}}:
                judged_now = steps.judge(0, {"result": {"verdict": "pass", **result}}, "log")
                self.assertEqual(judged_now, ("unverified", "its result was not verified"))
            hang = "did not end within 9 s" + (f"; last output: {said}" if said else "")
            self.assertEqual(steps.judge(steps.STOPPED, None, "log", 9), ("hang", hang))

    def test_the_verdict_the_gravest_finding_is(self):
        """the verdict: the gravest finding gives the exit status, evidence against one host drains
        it, the others run again, and a run that left out a part is not accepted"""

        for findings, left_out, *wanted in (
            ("", [], 0, True, "", ""),
            ("", ["pair-a-b"], 5, False, "", ""),
            ("slow a, wrong b, environment c", [], 4, False, "ab", "c"),
            ("hang a, wrong b, fault c", [], 7, False, "b", "ac"),
            ("slow a, environment c", [], 3, False, "a", "c"),
            ("lost a, device hang b, hang b", [], 6, False, "ab", ""),
            ("path ab", [], 5, False, "", ""),
            ("suspect a", [], 5, False, "", ""),
            ("path a, usage b, hang cd", [], 6, False, "", "bcd"),
        ):
            run = helper.Run()
            for kind, on in re.findall(r"([a-z ]+) (\w+)(?:, )?", findings):
                run.find(kind, list(on), "why", {})
            run.left_out = left_out
            run.done = {"one": {"hosts": run.a.names, "command": "", "seconds": 1}}
            check = {"check": "ECC on", "outcome": "pass", "margin": None, "value": 1, "limit": 1}
            check.update(unit="", at_most=False)
            accept = {"policy": "default", "checks": [check]}
            run.documents = {"one": {"result": {"accept": accept}}}
            code = report.write(run)
            said = json.load(open("accept.json"))
            lists = ("".join(sorted(said[name])) for name in ("drain", "run_again"))
            self.assertEqual([code, said["accepted"], *lists], wanted)

    def test_what_every_host_fails_of_those(self):
        """a check that all judged hosts fail is no host's fault; if a host passes it, or only one
        host fails it, the hosts that fail it are to blame"""

        def shared(failed, passed=(), others=()):
            """Return the shared checks. `failed`: {host: checks}; `passed`: (host, check) that
            passed; `others`: (kind, host) of findings that concern no check."""
            run = helper.Run(
                documents={
                    name: {"result": {"accept": {"checks": [{"check": check, "outcome": "pass"}]}}}
                    for name, check in passed
                }
            )
            run.done = {name: {"hosts": [name]} for name, _ in passed}
            for name, checks in failed.items():
                run.find("slow", [name], "", {}, checks=checks)
            for kind, name in others:
                run.find(kind, [name], "", {})
            return stages.shared_checks(run)

        x, xy, cd = ["x"], ["x", "y"], [("not started", "c"), ("noisy", "d")]
        gone, wrong = ([(kind, name) for name in "abcd"] for kind in ("not started", "wrong"))
        for failed, passed, others, wanted in (
            ({"a": x, "b": xy, "c": x, "d": x}, [], [], {"x"}),
            ({"a": x, "b": x, "c": x}, [], [], set()),
            ({"a": x, "b": x}, [], cd, {"x"}),
            ({"a": x}, [], gone[1:], set()),
            ({"a": x, "b": x, "c": x, "d": x}, [("b", "x")], [], {"x"}),
            ({"a": x, "b": x}, [("c", "x")], [], set()),
            ({}, [], wrong, {"wrong"}),
            ({}, [], [("hang", "b"), *wrong[:1], *wrong[2:]], set()),
        ):
            self.assertEqual(shared(failed, passed, others), wanted)
        one = {"hosts": ["a"], "checks": xy}
        self.assertTrue(stages.is_set_up(one, {"x", "y"}))
        self.assertFalse(stages.is_set_up(one, {"x"}))


if __name__ == "__main__":
    helper.main()
