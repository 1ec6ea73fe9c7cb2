# SPDX-License-Identifier: MIT
"""Parses machine code as text: the inputs, outputs and successors of each instruction."""

import dataclasses
import re


@dataclasses.dataclass
class Instruction:
    op: str
    text: str
    writes: tuple = ()
    reads: tuple = ()  # registers that are read, except those of an address
    address: tuple = ()  # registers that form the address of a memory access
    guard: tuple = ()  # predicates that decide if the instruction executes
    memory: str = ""  # "load" or "store"
    space: str = ""  # "global", "shared", "constant", "local"
    width: int = 0  # bytes per thread
    unit: str = ""  # "scalar", "wait", "branch", "move"
    target: str = ""  # label of a branch
    conditional: bool = False
    ends: bool = False  # True if only the branch's target can follow

    @property
    def floating(self):
        """Return True if it computes with floating-point numbers, and so never an address."""
        return bool(
            re.match(r"[FDH](?!LO)[A-Z0-9]+|MUFU|[HIQ]?G?MMA", self.op)
            or re.search(r"[._](f|bf|tf)(16|32|64)(x2)?\b", self.op)
        )


@dataclasses.dataclass
class Kernel:
    name: str
    isa: str
    code: list = dataclasses.field(default_factory=list)
    # {label: index of the instruction that follows it}
    labels: dict = dataclasses.field(default_factory=dict)


def split_operands(text):
    """Split at commas that are not inside brackets."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            parts.append(text[begin:place].strip())
            begin = place + 1
    parts.append(text[begin:].strip())
    return [part for part in parts if part]


# ---- SASS, as printed by nvdisasm -c or cuobjdump --dump-sass ----

SASS_LINE = re.compile(
    r"/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P[0-9T]+)\s+)?([A-Z][A-Z0-9_.x]*)\s*(.*?)\s*;"
)
SASS_REGISTER = re.compile(r"\b(U?R\d+|U?P\d+)(\.64)?")
SASS_LOADS = {
    "LDG": "global",
    "LD": "global",
    "LDS": "shared",
    "LDSM": "shared",
    "LDL": "local",
    "LDC": "constant",
    "LDGSTS": "global",
    "UBLKCP": "global",
    "UTMALDG": "global",
    "ATOM": "global",
    "ATOMG": "global",
    "ATOMS": "shared",
    "TLD": "global",
    "TEX": "global",
}
SASS_STORES = {
    "STG": "global",
    "ST": "global",
    "STS": "shared",
    "STSM": "shared",
    "STL": "local",
    "RED": "global",
    "REDG": "global",
    "UTMASTG": "global",
}
SASS_WAITS = {
    "BAR",
    "DEPBAR",
    "LDGDEPBAR",
    "WARPSYNC",
    "SYNCS",
    "MEMBAR",
    "FENCE",
    "ERRBAR",
    "NOP",
    "NANOSLEEP",
    "YIELD",
    "CCTL",
    "ARRIVES",
    "WARPGROUP",
    "UCGABAR_ARV",
    "UCGABAR_WAIT",
    "ACQBULK",
    "UTMACMDFLUSH",
}
SASS_BRANCHES = {
    "BRA",
    "BRX",
    "JMP",
    "JMX",
    "EXIT",
    "RET",
    "CALL",
    "BSSY",
    "BSYNC",
    "BREAK",
    "BMOV",
    "KILL",
    "BPT",
}
# Their result follows a predicate, as in SHFL.BFLY PT, R1, R2, 0x1.
SASS_RESULT_SECOND = ("SHFL", "ATOM", "ATOMG", "ATOMS")
SASS_ENDS = {"BRA", "BRX", "JMP", "JMX", "EXIT", "RET"}
SASS_WIDTHS = (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("U8", 1), ("S8", 1))


def sass_registers(operand):
    found = []
    for name, wide in SASS_REGISTER.findall(operand):
        found.append(name)
        if wide:
            found.append(following(name, 1))
    return found


def following(name, n):
    letters = name.rstrip("0123456789")
    return f"{letters}{int(name[len(letters) :]) + n}"


def sass_width(op):
    parts = op.split(".")
    if parts[0] in ("LDSM", "STSM"):
        return 4 * int(parts[-1]) if parts[-1] in ("2", "4") else 4
    for suffix, width in SASS_WIDTHS:
        if suffix in parts[1:]:
            return width
    return 4


def sass_writes(op, operands):
    """Return the registers written: the first operand, and the predicates that follow it. A wide
    result is listed by its first register only."""
    writes = sass_registers(operands[0])
    count = 1
    while count < len(operands) and re.fullmatch(r"U?P[0-9T]+", operands[count]):
        writes += sass_registers(operands[count])
        count += 1
    parts = op.split(".")
    if parts[0] in SASS_RESULT_SECOND and re.fullmatch(r"P[0-9T]+", operands[0]):
        writes += sass_registers(operands[count])
        count += 1
    registers = (
        max(sass_width(op) // 4, 1)
        if op.startswith(("LD", "UL"))
        else 2
        if "WIDE" in parts or parts[-1] == "64" or re.match(r"D(ADD|MUL|FMA)", op)
        else 1
    )
    if writes and "P" not in writes[0]:
        writes += [following(writes[0], n) for n in range(1, registers)]
    return writes, count


def sass_instruction(guard, op, rest):
    base = op.split(".")[0]
    one = Instruction(op, f"{op} {rest}".strip(), guard=tuple(sass_registers(guard or "")))
    operands = split_operands(rest)
    bracketed = [
        operand
        for operand in operands
        if re.search(r"(?<![a-z])\[|desc\[", operand) and not re.match(r"-?\|?c\[", operand)
    ]
    one.address = tuple(
        name
        for operand in bracketed
        for name in sass_registers(re.sub(r"desc\[UR\d+\]", "", operand))
    )
    plain = [operand for operand in operands if operand not in bracketed]
    if base in SASS_STORES:
        one.memory, one.space, one.width = "store", SASS_STORES[base], sass_width(op)
        one.reads = tuple(name for operand in plain for name in sass_registers(operand))
        return one
    if base in SASS_LOADS:
        one.memory, one.space, one.width = "load", SASS_LOADS[base], sass_width(op)
    if base in SASS_BRANCHES:
        return sass_branch(one, base, operands)
    if base in SASS_WAITS:
        one.unit = "wait"
    elif base.startswith("U") or base in ("R2UR", "S2UR", "VOTEU"):
        one.unit = "scalar"
    elif base in ("MOV", "MOV32I") or op.startswith("IMAD.MOV"):
        one.unit = "move"
    if plain and base != "LDGSTS":
        writes, count = sass_writes(op, plain)
        one.writes = tuple(writes)
        one.reads = tuple(sass_reads(op, plain[count:]))
    return one


def sass_reads(op, operands):
    """Return the registers read. Doubles and the addend of .WIDE are listed with both registers."""
    reads = [name for operand in operands for name in sass_registers(operand)]
    if ".WIDE" in op and operands and re.fullmatch(r"-?R\d+", operands[-1]):
        reads.append(following(reads[-1], 1))
    if re.match(r"D(ADD|MUL|FMA|SETP|MNMX)", op):
        reads += [following(name, 1) for name in reads if name[0] == "R"]
    return reads


def sass_branch(one, base, operands):
    one.unit = "branch"
    one.reads = tuple(name for operand in operands[:-1] for name in sass_registers(operand))
    one.conditional = bool(one.guard) or (base == "BRA" and len(operands) > 1)
    one.ends = base in SASS_ENDS
    if base == "BRA":
        found = re.search(r"(\.L[\w.]+|0x[0-9a-f]+)", operands[-1])
        one.target = found.group(1) if found else ""
    return one


def read_sass(text):
    kernels, kernel = [], Kernel("", "SASS")  # lines before the first kernel belong to none
    for line in text.splitlines():
        name = re.match(r"\s*(?:\.text\.(\S+):|Function : (\S+))\s*$", line)
        if name:
            kernel = Kernel(name.group(1) or name.group(2), "SASS")
            kernels.append(kernel)
            continue
        label = re.match(r"\s*(\.L[\w.]+):", line)
        if label:
            kernel.labels[label.group(1)] = len(kernel.code)
        found = SASS_LINE.search(line)
        if found:
            kernel.labels[f"0x{int(found.group(1), 16):x}"] = len(kernel.code)
            kernel.code.append(sass_instruction(*found.group(2, 3, 4)))
    return kernels


# ---- PTX ----

PTX_REGISTER = re.compile(r"%\w+(?:\.[xyz])?")
PTX_BITS = re.compile(r"\.(?:[bsuf]|bf|tf)(\d+)(?:x2)?\b")
PTX_WAITS = (
    "bar",
    "barrier",
    "membar",
    "fence",
    "mbarrier",
    "griddepcontrol",
    "nanosleep",
    "cp.async.wait",
    "cp.async.commit",
    "wgmma.fence",
    "wgmma.commit",
    "wgmma.wait",
)
PTX_BRANCHES = ("bra", "brx", "ret", "exit", "call", "trap")


def ptx_width(op):
    many = 4 if ".v4" in op else 2 if ".v2" in op else 1
    if op.startswith(("ldmatrix", "stmatrix")):
        return 16 if ".x4" in op else 8 if ".x2" in op else 4
    bits = PTX_BITS.findall(op)
    return many * int(bits[-1]) // 8 if bits else 4


def ptx_space(op):
    for space in ("global", "shared", "local", "param", "const"):
        if f".{space}" in op:
            return {"param": "constant", "const": "constant"}.get(space, space)
    return "shared" if op.startswith(("ldmatrix", "stmatrix")) else "global"


def ptx_memory(op):
    if op.startswith(
        ("ld.", "ldu.", "ldmatrix", "tex.", "atom.", "wmma.load", "cp.async.c", "cp.async.bulk")
    ):
        return "load"
    return "store" if op.startswith(("st.", "red.", "stmatrix", "wmma.store")) else ""


def ptx_instruction(guard, op, rest):
    one = Instruction(op, f"{op} {rest}".strip(), guard=tuple(PTX_REGISTER.findall(guard or "")))
    operands = split_operands(rest)
    bracketed = [operand for operand in operands if operand.startswith("[")]
    plain = [operand for operand in operands if operand not in bracketed]
    one.address = tuple(name for operand in bracketed for name in PTX_REGISTER.findall(operand))
    if op.startswith(PTX_WAITS):
        one.unit = "wait"
        one.address = ()
        return one
    if op.split(".")[0] in PTX_BRANCHES:
        one.unit, one.conditional, one.ends = (
            "branch",
            bool(guard),
            op.split(".")[0] in ("bra", "ret", "exit", "brx", "trap"),
        )
        one.target = operands[0] if op.startswith("bra") else ""
        return one
    one.memory = ptx_memory(op)
    if one.memory:
        one.space, one.width = ptx_space(op), 16 if op.startswith("cp.async") else ptx_width(op)
    elif op.startswith("mov"):
        one.unit = "move"
    first = 0 if one.memory == "store" or op.startswith("cp.async") else 1
    one.writes = tuple(name for operand in plain[:first] for name in PTX_REGISTER.findall(operand))
    one.reads = tuple(name for operand in plain[first:] for name in PTX_REGISTER.findall(operand))
    return one


def ptx_statements(text):
    """Yield the statements and labels of a PTX body, one string each."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    for line in re.split(r"(?<=;)|(?<=:)\s*\n|\n(?=\s*[{}]\s*\n)", text):
        line = " ".join(line.split()).strip()
        line = re.sub(r"^[{}]\s+(?=[.@a-z])", "", line)
        if line:
            yield line


def read_ptx(text):
    kernels = []
    for found in re.finditer(r"\.entry\s+(\S+?)\s*\((.*?)\)[^;{]*\{(.*?)\n\}", text, flags=re.S):
        kernel = Kernel(found.group(1), "PTX")
        for line in ptx_statements(found.group(3)):
            label = re.match(r"(\$?[\w$]+):$", line)
            if label:
                kernel.labels[label.group(1)] = len(kernel.code)
                continue
            parts = re.match(r"(?:@(!?%\w+)\s+)?([a-z][\w.:]*)\s*(.*?)\s*;$", line)
            if parts and not line.startswith("."):
                kernel.code.append(ptx_instruction(*parts.groups()))
        kernels.append(kernel)
    return kernels


# ---- GCN, as clang writes it ----

GCN_RANGE = re.compile(r"\b([vsa])\[(\d+):(\d+)\]|\b([vsa]\d+)\b|\b(vcc|exec|scc|m0)\b")
GCN_WIDTHS = (
    ("x4", 16),
    ("x3", 12),
    ("x2", 8),
    ("b128", 16),
    ("b96", 12),
    ("b64", 8),
    ("ubyte", 1),
    ("sbyte", 1),
    ("byte", 1),
    ("ushort", 2),
    ("sshort", 2),
    ("short", 2),
    ("u8", 1),
    ("u16", 2),
)
GCN_CARRY = re.compile(
    r"s_(add|sub|addc|subb|and|or|xor|andn2|orn2|lshl|lshr|ashr|min|max|not|cmp|bitcmp)"
)


def gcn_registers(operand):
    found = []
    for letter, first, last, single, special in GCN_RANGE.findall(operand):
        if letter:
            found += [f"{letter}{n}" for n in range(int(first), int(last) + 1)]
        else:
            found.append(single or special)
    return found


def gcn_width(op):
    width = next((width for part, width in GCN_WIDTHS if part in op), 4)
    return 2 * width if "read2" in op or "write2" in op else width


def gcn_memory(one, operands):
    """If the instruction accesses memory, parse its operands and return True. A load has its result
    first, a store its address or data."""
    op = one.op
    families = {
        "global_": "global",
        "flat_": "global",
        "buffer_": "global",
        "ds_": "shared",
        "scratch_": "local",
        "s_load": "constant",
        "s_buffer_load": "constant",
    }
    space = next((space for start, space in families.items() if op.startswith(start)), None)
    if space is None or op.startswith(
        ("buffer_wb", "buffer_gl", "ds_swizzle", "ds_bpermute", "ds_permute")
    ):
        return False
    registers = [gcn_registers(operand) for operand in operands]
    one.space, one.width = space, gcn_width(op)
    one.memory = (
        "store" if "store" in op or "write" in op or "atomic" in op or "_add_" in op else "load"
    )
    if one.memory == "load":
        one.writes, one.address = (
            tuple(registers[0]),
            tuple(name for some in registers[1:] for name in some),
        )
    elif op.startswith("buffer_"):
        one.reads, one.address = (
            tuple(registers[0]),
            tuple(name for some in registers[1:] for name in some),
        )
    else:
        one.address = tuple(
            registers[0] + (registers[2] if len(registers) > 2 and not op.startswith("ds_") else [])
        )
        one.reads = tuple(
            name for some in registers[1 : 2 if not op.startswith("ds_") else None] for name in some
        )
    return True


def gcn_branch(one, operands):
    one.unit = "branch"
    one.conditional = one.op.startswith("s_cbranch")
    one.ends = one.op in ("s_branch", "s_endpgm", "s_setpc_b64") or one.conditional
    one.target = operands[0] if operands and one.op.startswith(("s_branch", "s_cbranch")) else ""
    one.guard = tuple(name for name in ("vcc", "exec", "scc") if name in one.op)


def gcn_instruction(op, rest):
    one = Instruction(op, f"{op} {rest}".strip())
    operands = split_operands(rest)
    if gcn_memory(one, operands):
        return one
    if op.startswith(("s_branch", "s_cbranch", "s_endpgm", "s_setpc", "s_swappc")):
        gcn_branch(one, operands)
        return one
    if op.startswith(("s_waitcnt", "s_barrier", "s_nop", "s_sleep")):
        one.unit = "wait"
        return one
    first = (
        0
        if op.startswith(("s_cmp", "s_bitcmp"))
        else 2
        if re.match(r"v_(add|sub|addc|subb|subrev)_co", op)
        else 1
    )
    writes = [name for operand in operands[:first] for name in gcn_registers(operand)]
    reads = [name for operand in operands[first:] for name in gcn_registers(operand)]
    if op.startswith("s_"):
        one.unit = "scalar"
        writes += ["scc"] if GCN_CARRY.match(op) else []
        reads += ["scc"] if op.startswith(("s_addc", "s_subb", "s_cselect", "s_cmov")) else []
    if "saveexec" in op:
        writes.append("exec")
        reads.append("exec")
    if op.startswith(("v_mov", "v_accvgpr")):
        one.unit = "move"
    one.writes, one.reads = tuple(writes), tuple(reads)
    return one


def read_gcn(text):
    kernels, kernel = [], Kernel("", "GCN")  # lines outside of kernels belong to none
    for line in text.splitlines():
        line = line.split(";")[0].split("//")[0].rstrip()
        label = re.match(r"([.\w$]+):", line)
        if label and not label.group(1).startswith("."):
            kernel = Kernel(label.group(1), "GCN")
            if f".amdhsa_kernel {kernel.name}\n" in text:
                kernels.append(kernel)
        elif line.strip() == ".amd_kernel_code_t":
            kernels.append(kernel)
        elif label and label.group(1).startswith(".Lfunc_end"):
            kernel = Kernel("", "GCN")
        elif label:
            kernel.labels[label.group(1)] = len(kernel.code)
        found = re.match(r"\s+([a-z]+_\w+)(?:\s+(.*))?$", line)
        if found and " = " not in line:
            kernel.code.append(gcn_instruction(found.group(1), found.group(2) or ""))
    return [kernel for kernel in kernels if kernel.code]


READERS = {"sass": read_sass, "ptx": read_ptx, "gcn": read_gcn}
