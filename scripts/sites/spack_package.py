# Not built with Spack yet: neither PyPI nor Debian has it. The tests load it with a stand-in.
# SPDX-License-Identifier: MIT
"""Spack recipe: put it into a repository of your own, as packages/himeno_gpu/package.py
(older Spack: packages/himeno-gpu)."""

from spack.package import *


class HimenoGpu(AutotoolsPackage, CudaPackage):
    """Himeno benchmark for GPU clusters: correctness, speed and scaling."""

    git = "file:///path/to/himeno-gpu"  # replace it by the path of your clone
    # For `make dist`: spack checksum himeno-gpu 0.2.0 gives the line version("0.2.0", sha256=...).
    url = "file:///path/to/himeno-gpu-0.2.0.tar.gz"
    tags = ["e4s", "benchmark"]

    license("MIT", checked_by="himeno-gpu")
    version("main", branch="main")

    variant("opencl", default=False, description="OpenCL devices, through an ICD loader")
    variant("blas", default=True, description="OpenBLAS as gemm-gpu's reference library on CPUs")
    variant("predict", default=True, description="himeno-predict, which needs cminpack")
    variant("nccl", default=True, when="+cuda", description="NCCL as one more transport (-x nccl)")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("autoconf@2.69:", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hwloc@2:")
    depends_on("jansson")
    depends_on("opencl", when="+opencl")
    depends_on("openblas threads=openmp", when="+blas")
    depends_on("cminpack", when="+predict")
    depends_on("cuda@12:", when="+cuda")
    # NCCL is opened at run time. A link dependency adds the run path by which programs find it.
    depends_on("nccl", when="+nccl")

    def autoreconf(self, spec, prefix):
        Executable("./autogen.sh")()

    def configure_args(self):
        spec = self.spec
        args = [f"MPICC={spec['mpi'].mpicc}", "--without-clblast"]
        args += self.with_or_without("opencl")
        args += self.with_or_without("cblas", variant="blas")
        args += self.with_or_without("cminpack", variant="predict")
        if not spec.satisfies("+cuda"):
            return args + ["--without-cuda"]
        args.append(f"--with-cuda={spec['cuda'].prefix}")
        chosen = [arch for arch in spec.variants["cuda_arch"].value if arch != "none"]
        return args + ([f"--with-cuda-arch={' '.join(chosen)}"] if chosen else [])

    def test_main(self):
        """two ranks on the CPU: verified sweeps"""
        with working_dir(self.test_suite.stage):
            which(self.spec["mpi"].prefix.bin.mpirun)(
                "-np", "2", self.prefix.bin.join("himeno-gpu"), "-b", "cpu", "-s", "XS", "-n", "10"
            )
