# SPDX-License-Identifier: MIT
"""Every mutant of a source by the standard operators: comparison, arithmetic, constant, condition,
return value, statement deletion.

An edit is (begin, end, new text, operator). C is read as tokens in the layout of clang-format,
Python by its ast module, shell by lines. A deletion keeps line ends, so that line numbers in the
object stay the same.
"""

import ast
import re

COMPARISON = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "in": ("not in",),
    "not in": ("in",),
    "is": ("is not",),
    "is not": ("is",),
}
ARITHMETIC = {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "*",
    "//": "*",
    "<<": ">>",
    ">>": "<<",
    "&": "|",
    "|": "&",
    "^": "&",
    "+=": "-=",
    "-=": "+=",
    "*=": "/=",
    "/=": "*=",
    "|=": "&=",
    "&=": "|=",
    "<<=": ">>=",
    ">>=": "<<=",
    "++": "--",
    "--": "++",
}
SHELL_TESTS = {
    "-eq": "-ne",
    "-ne": "-eq",
    "-lt": "-le",
    "-le": "-lt",
    "-gt": "-ge",
    "-ge": "-gt",
    "-z": "-n",
    "-n": "-z",
    "=": "!=",
    "==": "!=",
    "!=": "=",
    "&&": "||",
    "||": "&&",
}
MASKED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:define[ \t]+\w+(?:\([^)\n]*\))?)?", re.MULTILINE)
TOKEN = re.compile(
    r"[A-Za-z_]\w*|0[xX][\da-fA-F]+[uUlL]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uUlLfF]*|->|\+\+|--|<<=|>>=|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||[^\s\w]"
)
KEYWORDS = {
    "return",
    "case",
    "else",
    "do",
    "sizeof",
    "goto",
    "if",
    "for",
    "while",
    "switch",
    "break",
    "continue",
    "default",
    "typedef",
    "extern",
    "static",
    "const",
    "struct",
    "enum",
    "union",
}
ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
STOPS = ASSIGNS | {",", ";", "{", "}", "?", ":", "return", "&&", "||"}
FACTORS, TERMS = {"*", "/", "%"}, {"+", "-"}
ENDS_TERM = STOPS | set(COMPARISON) | TERMS | {"<<", ">>", "&", "|", "^"}
OPEN, CLOSE = "([{", ")]}"


def blank(text, filler=" "):
    return re.sub(r"[^\n]", filler, text)


def other_number(text):
    """Return a slightly different constant, such as a limit that is off by one or a wider
    tolerance, or "" if the text is no number."""
    digits = text.rstrip("uUlLfF" if not text.lower().startswith("0x") else "uUlL")
    try:
        value = (
            int(digits, 0) if digits.isdigit() or digits.lower().startswith("0x") else float(digits)
        )
    except ValueError:  # 010
        return ""
    if isinstance(value, int):
        return str(1 - value if value in (0, 1) else value + 1) + text[len(digits) :]
    return f"(2 * {text})" if value > 1 else f"({text} + 1)"


def c_tokens(text):
    """Return the tokens as (text, begin, end), without comments and directives, and a function that
    returns True if a position is in a macro. A string is one token."""
    code = MASKED.sub(
        lambda match: blank(match.group(), " " if match.group()[0] == "/" else "_"), text
    )
    macros = []
    for match in reversed(list(DIRECTIVE.finditer(code))):
        end = re.compile(r"(?:[^\n]*\\\n)*[^\n]*").match(code, match.end()).end()
        kept = match.end() if "define" in match.group() else end
        code = code[: match.start()] + blank(code[match.start() : kept]) + code[kept:]
        macros.append((match.start(), end))
    return [(match.group(), *match.span()) for match in TOKEN.finditer(code)], lambda at: any(
        begin <= at < end for begin, end in macros
    )


def operand(words, at, step, stops=STOPS):
    """Return the index of the last token of the operand next to `at`. `step` is 1 or -1."""
    depth, last = 0, at
    while 0 <= last + step < len(words):
        word = words[last + step][0]
        depth += (word in OPEN) - (word in CLOSE) if step > 0 else (word in CLOSE) - (word in OPEN)
        if depth < 0 or (depth == 0 and word in stops and last != at):
            break
        last += step
    return last


def c_expressions(text, words):
    for i, (word, begin, end) in enumerate(words):
        before, after = (
            (words[i - 1][0] if i else ""),
            (words[i + 1][0] if i + 1 < len(words) else ""),
        )
        binary = (
            text[begin - 1 : begin].isspace()
            and text[end : end + 1].isspace()
            and (re.fullmatch(r"\w+|[)\]]", before) and before not in KEYWORDS)
        )
        if word in COMPARISON and binary:
            yield from ((begin, end, new, "comparison") for new in COMPARISON[word])
        elif word in ARITHMETIC and (binary or word in ("++", "--")):
            yield begin, end, ARITHMETIC[word], "arithmetic"
            if word in FACTORS | TERMS:
                yield (
                    begin,
                    words[
                        operand(words, i, 1, ENDS_TERM | FACTORS if word in FACTORS else ENDS_TERM)
                    ][2],
                    "",
                    "arithmetic",
                )
        elif word in ("&&", "||"):
            yield begin, end, SHELL_TESTS[word], "condition"
            yield begin, words[operand(words, i, 1)][2], "", "condition"
            first = operand(words, i, -1)
            if words[first - 1][0] not in ("&&", "||"):
                yield words[first][1], words[i + 1][1], "", "condition"
        elif word == "!":
            yield begin, end, "", "condition"
        elif word == "?":
            first = words[operand(words, i, -1)][1]
            colon = operand(words, i, 1)
            yield first, begin, f"!({text[first:begin].strip()}) ", "condition"
            if words[colon + 1][0] == ":":  # only without a nested conditional before the colon
                yield first, words[colon + 2][1], "", "condition"
                yield (
                    first,
                    words[operand(words, colon + 1, 1, {",", ";", "{", "}"})][2],
                    text[words[i + 1][1] : words[colon][2]],
                    "condition",
                )
        elif word in ("if", "while") and after == "(":
            first, last = words[i + 1][1], words[closing_token(words, i + 1)][2]
            yield from (
                (first, last, new, "condition")
                for new in (f"(!{text[first:last]})", "(0)", *(("(1)",) if word == "if" else ()))
            )
        elif word == "return" and after != ";":
            last = next((j for j in range(i, len(words)) if words[j][0] == ";"), i)
            if last - i > 2 or not re.fullmatch(r"\d.*|NULL|true|false", after):
                yield words[i + 1][1], words[last][1], "0", "return value"
        elif word in ("true", "false"):
            yield begin, end, {"true": "false", "false": "true"}[word], "constant"
        elif (
            word[0].isdigit()
            and other_number(word)
            and not (i > 2 and before == "[" and words[i - 3][0] == "char")
        ):  # skip a buffer's size: a longer one changes nothing
            yield begin, end, other_number(word), "constant"


def closing_token(words, at):
    depth = 0
    for i in range(at, len(words)):
        depth += (words[i][0] in OPEN) - (words[i][0] in CLOSE)
        if depth == 0:
            return i
    return len(words) - 1


def c_statements(text, words):
    """Yield calls, assignments and jumps. Two words, or a keyword, begin a declaration."""
    braces = i = 0
    starts = False
    while i < len(words):
        word, begin, _ = words[i]
        if (
            starts
            and braces
            and (re.match(r"[A-Za-z_*(]|\+\+|--", word))
            and word not in KEYWORDS - {"break", "continue", "goto"}
        ):
            last = operand(words, i - 1, 1)
            while last + 1 < len(words) and words[last + 1][0] not in ";{}":
                last = operand(words, last + 1, 1)
            follows = words[i + 1][0]
            if (
                words[last + 1][0] == ";"
                and (
                    follows in ASSIGNS | {"(", "->", ".", "[", "++", "--", ";"}
                    or word in ("*", "(", "++", "--", "goto")
                )
                and not (word == "(" and follows == "void")
            ):
                yield (
                    begin,
                    words[last + 1][1],
                    blank(text[begin : words[last + 1][1]], ""),
                    "deletion",
                )
        braces += (word == "{") - (word == "}")
        if (
            word in ("if", "for", "while", "switch")
            and i + 1 < len(words)
            and words[i + 1][0] == "("
        ):
            i = closing_token(words, i + 1)
            starts = words[i + 1][0] != ";" if i + 1 < len(words) else False
        elif word == "(" or word == "[":
            i, starts = closing_token(words, i), False
        else:
            starts = word in (";", "{", "}", "else", "do") or (
                word == ":" and text[words[i][2] : words[i][2] + 1] == "\n"
            )
        i += 1


def c_edits(text):
    words, in_macro = c_tokens(text)
    device = [
        (
            match.start(),
            words[
                closing_token(
                    words,
                    next(
                        (
                            i
                            for i, word in enumerate(words)
                            if word[0] == "{" and word[1] > match.start()
                        ),
                        len(words) - 1,
                    ),
                )
            ][2],
        )
        for match in re.finditer(r"\b__(?:global|device)__\b", text)
    ]
    for edit in [
        *c_expressions(text, words),
        *(edit for edit in c_statements(text, words) if not in_macro(edit[0])),
    ]:
        if not any(begin <= edit[0] < end for begin, end in device):
            yield edit


def python_nodes(node, inside=False):
    """Yield (node, True if it is in a function) for all nodes. f-strings are left out, because
    Python before 3.12 gives them wrong positions."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.JoinedStr):
            within = inside or isinstance(node, (ast.FunctionDef, ast.Lambda))
            yield child, within
            yield from python_nodes(child, within)


def python_edits(text):
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def at(line, column):
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def span(node):
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    def between(left, right, table, name):
        begin, end = span(left)[1], span(right)[0]
        found = re.search(r"not\s+in|is\s+not|[a-z]+|[^\s\w()#]+", text[begin:end])
        for new in table.get(" ".join(found.group().split()), ()) if found else ():
            yield begin + found.start(), begin + found.end(), new, name

    def edits(node, inside):
        if isinstance(node, ast.Compare):
            for left, right in zip([node.left, *node.comparators], node.comparators):
                yield from between(left, right, COMPARISON, "comparison")
        elif isinstance(node, ast.BinOp) and not (
            isinstance(node.left, ast.JoinedStr)
            or isinstance(getattr(node.left, "value", None), str)
        ):
            yield from between(
                node.left,
                node.right,
                {old: (new,) for old, new in ARITHMETIC.items()},
                "arithmetic",
            )
            yield span(node.left)[1], span(node)[1], "", "arithmetic"
        elif isinstance(node, ast.AugAssign):
            yield from between(
                node.target,
                node.value,
                {old: (new,) for old, new in ARITHMETIC.items()},
                "arithmetic",
            )
        elif isinstance(node, ast.BoolOp):
            for i, (left, right) in enumerate(zip(node.values, node.values[1:])):
                yield from between(left, right, {"and": ("or",), "or": ("and",)}, "condition")
                yield span(left)[1], span(right)[1], "", "condition"
                if i == 0:
                    yield span(left)[0], span(right)[0], "", "condition"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield span(node)[0], span(node.operand)[0], "", "condition"
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            begin, end = span(node)
            yield (
                begin,
                end,
                str(not node.value)
                if isinstance(node.value, bool)
                else other_number(text[begin:end]) or "1",
                "constant",
            )
        elif (
            isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant)
        ):
            yield (*span(node.value), "None", "return value")
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            begin, end = span(node.test)
            yield from (
                (begin, end, new, "condition")
                for new in (
                    f"not ({text[begin:end]})",
                    "False",
                    *(("True",) if not isinstance(node, ast.While) else ()),
                )
            )
        elif isinstance(node, ast.comprehension):
            for begin, end in map(span, node.ifs):
                yield from (
                    (begin, end, new, "condition") for new in (f"not ({text[begin:end]})", "True")
                )
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if (
            isinstance(node, (ast.Expr, ast.Raise, ast.Break, ast.Continue, ast.Delete))
            and not docstring
            or isinstance(node, (ast.Assign, ast.AugAssign))
            and inside
        ):
            yield (*span(node), "pass", "deletion")

    for node, inside in python_nodes(ast.parse(text)):
        yield from edits(node, inside)


def shell_edits(text):
    code = re.sub(
        r"(?<!\S)#[^\n]*|'[^']*'|<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n.*?\n\s*\1(?=\n)",
        lambda match: blank(match.group()),
        text,
        flags=re.DOTALL,
    )
    for match in re.finditer(r"(?<=\s)(-[elgn][eqtn]|-[zn]|==?|!=|&&|\|\|)(?=\s)", code):
        if match.group() in SHELL_TESTS:
            yield (
                *match.span(),
                SHELL_TESTS[match.group()],
                "comparison" if match.group() not in ("&&", "||") else "condition",
            )
    for match in re.finditer(r"(?<=[\s=(\[])\d+(?=[\s;)\]]|$)", code, re.MULTILINE):
        yield (*match.span(), other_number(match.group()) or "1", "constant")
    for match in re.finditer(r"\b(?:if|elif|while) (! )?", code):
        yield (
            (match.start(1), match.end(1), "", "condition")
            if match.group(1)
            else (match.end(), match.end(), "! ", "condition")
        )
    joined = False
    for match in re.finditer(r"^([ \t]*)([^\n]*)\n", code, re.MULTILINE):
        line, goes_on = (
            match.group(2),
            re.search(r"(\\|&&|\|\|?|[{(]|\bin|\bdo|\bthen|\belse)$", match.group(2).rstrip()),
        )
        simple = re.match(r'[a-z_./"$]', line) and not re.match(
            r"(if|elif|else|then|fi|for|while|until|do|done|case|esac|"
            r"function)\b|\w+=\S*$|\w+\(\)|rm |trap ",
            line,
        )
        if (
            simple
            and not joined
            and not goes_on
            and line.count('"') % 2 == 0
            and not re.search(r"\brm -|\)\s*$|;;|\bdone\b|\bfi\b|\bEOF\b", line)
            and line.count("$(") == line.count(")")
        ):
            yield match.start(2), match.end(2), ":", "deletion"
        joined = bool(goes_on and re.search(r"(\\|&&|\|\|?)$", line.rstrip()))


def edits(file, text):
    """Return all edits of a file, without duplicates, in the order of their positions."""
    first = text[: text.find("\n")]
    read = (
        python_edits
        if file.endswith(".py") or "python" in first
        else shell_edits
        if file.endswith(".sh") or first.startswith("#!")
        else c_edits
    )
    return sorted({edit for edit in read(text) if text[edit[0] : edit[1]] != edit[2]})
