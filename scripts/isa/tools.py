# SPDX-License-Identifier: MIT
"""Converts a source, an object or a program to machine code as text, with tools that it finds."""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import listing
from endings import BadInput, Trouble

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = {".sass": "sass", ".ptx": "ptx", ".s": "gcn"}
# Distributions keep libclc, which has get_global_id and similar functions, in these directories.
CLC_FOLDERS = ("/usr/lib/clc", "/usr/share/clc", "/usr/local/share/clc", "/usr/lib64/clc")
DEFAULT_CHIP = {"sass": "sm_90", "ptx": "sm_90", "gcn": "gfx906"}
# Default chips for kernels that exist in CUDA and OpenCL. AMD's is the chip of the article.
PAIRS_CHIP = {"gcn": "tahiti"}
CLANG_CHIP = "sm_70"  # a chip that every supported clang knows

# Files that the host prepends to an OpenCL source, and macros with the values that GPUs use.
OPENCL_DIRECTORIES = {
    "himeno/kernels/opencl": (
        ("common.cl", "field.cl"),
        "GROUP_K=64 GROUP_J=4 FIELD_GROUP=256 REDUCE_GROUP=256",
    ),
    "gemm/kernels/opencl": (
        ("common.cl",),
        "GROUP_M=128 GROUP_N=128 GROUP_K=8 ITEM_M=8 ITEM_N=8 TRANS_A=0 TRANS_B=0 "
        "LANES=4 OFFSET=uint ALIGNED=1",
    ),
    "tools/memory/opencl": (
        ("common.cl",),
        "LINE=128 SUM_GROUP=256 TILE_GROUP=256 TILE_WORDS=8",
    ),
    "comm/halo/opencl": ((), "GROUP=256 EACH=4"),
}
OPENCL_OWN = {"block16.cl": "GROUP_K=16 GROUP_J=16"}
OPENCL_TILED = ("unroll.cl", "pipeline.cl", "lds_pipeline.cl")
# OpenCL sources without kernels of their own, for a user's source, or for CPUs.
OPENCL_PARTS = ("common.cl", "field.cl", "tile.cl", "shape.cl", "user.cl", "panel.cl", "combine.cl")


def find_nvidia(name):
    found = shutil.which(name)
    if found:
        return found
    nvcc = shutil.which("nvcc")
    beside = os.path.join(os.path.dirname(nvcc), name) if nvcc else f"/usr/local/cuda/bin/{name}"
    return beside if os.access(beside, os.X_OK) else None


def has_clang():
    names = [os.environ.get("CLANG", ""), "clang", *(f"clang-{n}" for n in range(21, 12, -1))]
    return next((name for name in names if name and shutil.which(name)), None)


def find_clang():
    if has_clang():
        return has_clang()
    raise Trouble(
        "clang was not found: it compiles OpenCL sources (Debian and Ubuntu: clang-14 libclc-14)"
    )


def run(command, what):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = [
            line for line in (done.stderr or done.stdout).splitlines() if "error" in line.lower()
        ]
        raise BadInput(
            f"{what}: {os.path.basename(command[0])} "
            f"failed: {said[0] if said else 'no reason given'}"
        )
    return done.stdout


# ---- CUDA ----


def disassembler():
    """Return ("nvdisasm" or "cuobjdump", its path), or None."""
    for name in ("nvdisasm", "cuobjdump"):
        path = find_nvidia(name)
        if path:
            return name, path
    return None


def cuda_compiled(source, kind, chip, folder):
    nvcc = find_nvidia("nvcc")
    if not nvcc:
        raise Trouble(f"nvcc was not found: it compiles {source}")
    target = os.path.join(folder, f"code.{kind}")
    code = re.sub(r"^sm_", "", chip)
    # Instructions specific to Hopper need machine code for exactly that chip (sm_90a).
    hopper = code == "90" and re.search(
        "wgmma|HAVE_SM90A", pathlib.Path(source).read_text(encoding="utf-8")
    )
    own = "a" if hopper else ""
    run(
        [
            nvcc,
            "-std=c++17",
            "-fmad=false",
            f"-I{ROOT}",
            *(["-DHAVE_SM90A"] if hopper else []),
            f"-gencode=arch=compute_{code}{own},"
            f"code={'sm' if kind == 'cubin' else 'compute'}_{code}{own}",
            f"-{kind}",
            "-o",
            target,
            source,
        ],
        source,
    )
    return target


def sass_of_source(source, chip, folder):
    cubin = cuda_compiled(source, "cubin", chip, folder)
    name, path = disassembler()
    return run([path, "-c", cubin] if name == "nvdisasm" else [path, "--dump-sass", cubin], source)


def sass_of_binary(binary):
    """Return the machine code of a program, library, object or single cubin. nvdisasm reads only a
    cubin."""
    with open(binary, "rb") as file:
        head = file.read(20)
    if head[:4] not in (b"\x7fELF", b"!<ar"):
        raise BadInput(
            f"{binary}: neither a source (.cu, .cl), a listing (.sass, .ptx, .s), "
            f"nor a program, library or object"
        )
    cubin = head[18:20] == b"\xbe\x00"
    path = find_nvidia("cuobjdump")
    if path:
        return run([path, "--dump-sass", binary], binary)
    path = find_nvidia("nvdisasm")
    if cubin and path:
        return run([path, "-c", binary], binary)
    raise Trouble(f"{binary}: cuobjdump was not found: it reads machine code out of programs")


# ---- OpenCL ----


def clc_library(chip, target):
    names = (
        [f"{chip}-{target}.bc"]
        if target.startswith("amdgcn")
        else ["nvptx64--nvidiacl.bc", "nvptx64-nvidia-nvidiacl.bc"]
    )
    for folder in CLC_FOLDERS + tuple(
        sorted(glob.glob("/usr/lib/llvm-*/share/clc") + glob.glob("/usr/lib/clang/*/lib/clc"))
    ):
        for name in names:
            if os.path.exists(os.path.join(folder, name)):
                return os.path.join(folder, name)
    raise Trouble(
        f"libclc's {names[0]} was not found: clang takes get_global_id from it "
        f"(Debian and Ubuntu: libclc-14)"
    )


def opencl_parts(source):
    """Return the sources, of which the last is `source`, and the -D options that it needs."""
    path = pathlib.Path(source).resolve()
    directory = next(
        (directory for directory in OPENCL_DIRECTORIES if path.parent == ROOT / directory), None
    )
    if directory is None:
        return [path], []
    before, defines = OPENCL_DIRECTORIES[directory]
    parts = [path.parent / name for name in before if name != path.name]
    if path.name in OPENCL_TILED:
        parts.append(path.parent / "tile.cl")
    names = dict(one.split("=") for one in f"{defines} {OPENCL_OWN.get(path.name, '')}".split())
    return parts + [path], [f"-D{name}={value}" for name, value in names.items()]


def opencl_compiled(source, isa, chip, defines, folder):
    clang = find_clang()
    target = "amdgcn-mesa-mesa3d" if isa == "gcn" else "nvptx64-nvidia-cuda"
    parts, numbers = opencl_parts(source)
    text = os.path.join(folder, os.path.basename(source))
    with open(text, "w", encoding="utf-8") as file:
        for part in parts:
            file.write(f'#line 1 "{part.name}"\n{part.read_text(encoding="utf-8")}')
    library = clc_library(chip, target)
    return run(
        [
            clang,
            "-x",
            "cl",
            "-cl-std=CL1.2",
            "-target",
            target,
            f"-mcpu={chip}" if isa == "gcn" else f"-march={chip}",
            "-O3",
            "-nogpulib",
            "-Xclang",
            "-finclude-default-header",
            "-Xclang",
            "-mlink-builtin-bitcode",
            "-Xclang",
            library,
            *numbers,
            *defines,
            "-S",
            "-o",
            "-",
            text,
        ],
        source,
    )


# ---- any of them ----


def suite_sources(isa):
    directories = (
        ("himeno/kernels/cuda", "gemm/kernels/cuda", "tools/memory/cuda", "comm")
        if isa != "gcn"
        else tuple(OPENCL_DIRECTORIES)
    )
    found = [
        str(path)
        for directory in directories
        for path in sorted((ROOT / directory).glob("*.cu" if isa != "gcn" else "*.cl"))
    ]
    return [path for path in found if os.path.basename(path) not in OPENCL_PARTS]


def choose_isa(source, wanted):
    """Return the instruction set in which to count an input, and a note if it is not the preferred
    one."""
    ending = os.path.splitext(source)[1]
    if ending in TEXTS:
        if wanted not in ("auto", TEXTS[ending]):
            raise BadInput(f"{source}: it is {TEXTS[ending].upper()}, not {wanted.upper()}")
        return TEXTS[ending], ""
    if ending == ".cl":
        return ("gcn", "") if wanted == "auto" else (wanted, "")
    if wanted == "gcn":
        raise BadInput(f"{source}: GCN is made from OpenCL sources")
    if ending == ".cu" and wanted in ("auto", "sass") and not disassembler():
        return "ptx", "PTX and not SASS: neither cuobjdump nor nvdisasm was found"
    return ("sass", "") if wanted == "auto" else (wanted, "")


def kernels_of(source, isa, chip, defines):
    """Return the kernels of an input, read from its machine code."""
    ending = os.path.splitext(source)[1]
    chip = chip or (CLANG_CHIP if ending == ".cl" and isa == "ptx" else DEFAULT_CHIP[isa])
    with tempfile.TemporaryDirectory() as folder:
        if ending in TEXTS:
            text = pathlib.Path(source).read_text(encoding="utf-8", errors="replace")
        elif ending == ".cl":
            if isa == "sass":
                raise BadInput(f"{source}: SASS is made from CUDA sources")
            text = opencl_compiled(source, isa, chip, defines, folder)
        elif ending == ".cu" and isa == "ptx":
            text = pathlib.Path(cuda_compiled(source, "ptx", chip, folder)).read_text(
                encoding="utf-8"
            )
        elif ending == ".cu":
            text = sass_of_source(source, chip, folder)
        elif isa == "sass":
            text = sass_of_binary(source)
        else:
            raise BadInput(f"{source}: {isa.upper()} is made from sources, or read from a listing")
    return listing.READERS[isa](text)


def plain_names(names):
    """Return the names, demangled if c++filt is available."""
    filter_path = shutil.which("c++filt") or find_nvidia("cu++filt")
    if not filter_path or not names:
        return names
    done = subprocess.run(
        [filter_path], input="\n".join(names), capture_output=True, text=True, check=False
    )
    plain = done.stdout.splitlines()
    return (
        [re.sub(r"^void |\(.*\)$", "", name) for name in plain]
        if len(plain) == len(names)
        else names
    )
