# SPDX-License-Identifier: MIT
"""Load the Spack recipe as Spack does, for the features that it uses: `spack_stub.py RECIPE`.
Record directives, check that conditions name variants, and print configure's arguments, one line
per choice of variants."""

import itertools
import re
import runpy
import sys
import types

noted = {"variant": {}, "depends_on": [], "version": [], "license": []}
package = types.ModuleType("spack.package")


def directive(name):
    def note(first, *rest, **keywords):
        if name == "variant":
            noted[name][first] = keywords
        else:
            noted[name].append((first, keywords))

    return note


class CudaPackage:
    variants = ("cuda", "cuda_arch")


class AutotoolsPackage:
    def with_or_without(self, name, variant=None):
        assert (variant or name) in noted["variant"], variant or name
        return [f"--{'with' if self.spec.on[variant or name] else 'without'}-{name}"]


class Spec(dict):
    on = {}

    def satisfies(self, condition):
        return self.on[condition[1:]] == (condition[0] == "+")


for name in noted:
    setattr(package, name, directive(name))
package.AutotoolsPackage, package.CudaPackage = AutotoolsPackage, CudaPackage
package.Executable = lambda path: None
sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), package
recipe = runpy.run_path(sys.argv[1])["HimenoGpu"]()
known = set(noted["variant"]) | set(CudaPackage.variants)
conditions = [
    words["when"]
    for _, words in noted["depends_on"] + list(noted["variant"].items())
    if "when" in words
]
assert conditions and all(re.fullmatch(r"[+~](\w+)", one)[1] in known for one in conditions), (
    conditions
)
assert noted["version"] and noted["license"]
bools = sorted(set(noted["variant"]) | {"cuda"})
for choice in itertools.product((False, True), repeat=len(bools)):
    recipe.spec = Spec(
        mpi=types.SimpleNamespace(mpicc="/mpi/bin/mpicc"),
        cuda=types.SimpleNamespace(prefix="/cuda"),
    )
    recipe.spec.on = dict(zip(bools, choice))
    recipe.spec.variants = {
        "cuda_arch": types.SimpleNamespace(value=("80", "90") if choice[0] else ("none",))
    }
    print(" ".join(repr(one) for one in recipe.configure_args()))
