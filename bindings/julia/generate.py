#!/usr/bin/env python3
"""Writes src/lib/*.jl, all that follows from gnnmg.h and settings.json: enumerations, structs, calls, and texts of settings.

    generate.py [--check]      --check writes nothing, and fails where a file would change
"""

import json
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
HEADER = HERE / "../../include/gnnmg.h"
SETTINGS = HERE / "../settings.json"
FOLDER = HERE / "src/lib"
NOTE = "# Written by generate.py from gnnmg.h and settings.json; changes here are lost.\n"

SCALARS = {
    "int32_t": "Int32", "int64_t": "Int64", "uint32_t": "UInt32", "uint64_t": "UInt64",
    "size_t": "Csize_t", "double": "Float64", "float": "Float32", "char": "UInt8",
    "gnnmg_status": "Int32", "void": "Cvoid",
}

KEYWORDS = {"begin", "const", "do", "end", "export", "function", "global", "let", "local", "module", "quote", "struct"}


def fail(text):
    sys.exit(f"generate.py: {text}")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


class Header:
    """The declarations of the header, in its order."""

    def __init__(self, text):
        text = re.sub(r"^GNNMG_STATUS ", "GNNMG_API GNNMG_MUST_USE gnnmg_status ", text, flags=re.M)
        self.version = {part: int(number) for part, number in
                        re.findall(r"#define GNNMG_VERSION_(\w+) (\d+)", text)}
        self.enums = self.read_enums(text)
        plain = without_comments(text)
        self.structs = [(name, self.read_fields(name, body)) for name, body in
                        re.findall(r"typedef struct (gnnmg_\w+) \{(.*?)\} \1;", text, flags=re.S)]
        self.opaque = re.findall(r"^(?:typedef )?struct (\w+)(?: gnnmg_\w+)?;", plain, flags=re.M)
        self.callbacks = re.findall(r"typedef \w+ \(\*(gnnmg_\w+)\)", plain)
        self.functions = re.findall(
            r"GNNMG_API (?:GNNMG_MUST_USE )?(const char\*|\w+)\s+(gnnmg_\w+)\(([^()]*)\);",
            re.sub(r"\s+", " ", plain))
        declared = len(re.findall(r"^GNNMG_API ", text, flags=re.M))
        if declared != len(self.functions):
            fail(f"{declared} functions are declared, {len(self.functions)} understood")

    @staticmethod
    def read_enums(text):
        """[(type, [(constant, value as a symbol, number)])]"""
        enums = []
        found = re.findall(r"^typedef int32_t (gnnmg_\w+);\nenum \{(.*?)\};", text, flags=re.S | re.M)
        if len(found) != len(re.findall(r"^enum \{", text, flags=re.M)):
            fail("an enum does not follow the typedef of its type")
        for name, body in found:
            members = re.findall(r"(GNNMG_\w+)\s*=\s*(-?\d+)", without_comments(body))
            first, last = min(members)[0], max(members)[0]
            same = next(i for i, (a, b) in enumerate(zip(first, last)) if a != b)
            prefix = len(first[: first.rindex("_", 0, same) + 1])
            enums.append((name, [(member, member[prefix:].lower(), int(number)) for member, number in members]))
        return enums

    @staticmethod
    def read_fields(struct, body):
        """[(name, C type, length or None, comment)]"""
        body = re.sub(r"\s+", " ", body)
        fields = [(name, kind + star, int(length) if length else None, comment.strip())
                  for kind, star, name, length, comment in
                  re.findall(r"(\w+) ?(\*?) ?(\w+)(?:\[(\d+)\])?; ?(?:/\*\*<(.*?)\*/)?", body)]
        if len(fields) != without_comments(body).count(";"):
            fail(f"a field of {struct} is not understood")
        return fields

    def julia_type(self, kind, stars, const=False):
        enums = [name for name, _ in self.enums]
        if stars == 0:
            if kind in self.callbacks:
                return "Ptr{Cvoid}"
            if kind in enums and kind != "gnnmg_status":
                return kind
            if kind in [name for name, _ in self.structs]:
                return kind
            return SCALARS.get(kind) or fail(f"type {kind} is not understood")
        if kind == "char" and const:
            return "Cstring" if stars == 1 else "Ptr{" * (stars - 1) + "Cstring" + "}" * (stars - 1)
        known = SCALARS.get(kind) or (kind if kind in self.opaque + [name for name, _ in self.structs] else None)
        return "Ptr{" * stars + (known or fail(f"type {kind} is not understood")) + "}" * stars


def enums_file(header):
    yield NOTE
    yield "const HEADER_VERSION = v\"{MAJOR}.{MINOR}.{PATCH}\"\n".format(**header.version)
    for name, members in header.enums:
        if name == "gnnmg_status":
            for constant, _, number in members:
                yield f"const {constant} = Int32({number})"
            yield ""
            continue
        yield f"primitive type {name} <: Enumeration 32 end"
        values = ", ".join(f":{symbol}=>{number}" for _, symbol, number in members)
        yield from textwrap.wrap(f"choices(::Type{{{name}}}) = ({values})", 96, subsequent_indent="    ")
        yield ""


def structs_file(header):
    yield NOTE
    for name in header.opaque:
        yield f"mutable struct {name} end"
    yield ""
    for name, fields in header.structs:
        yield f"struct {name}"
        for field, kind, length, _ in fields:
            pointer = kind.endswith("*")
            of = header.julia_type(kind.rstrip("*"), int(pointer))
            yield f"    {field}::" + (f"NTuple{{{length}, {of}}}" if length else of)
        yield "end\n"


def functions_file(header):
    yield NOTE
    yield "const FUNCTIONS = ["
    for _, name, _ in header.functions:
        yield f"    :{name},"
    yield "]\n"
    for number, (result, name, parameters) in enumerate(header.functions, 1):
        types, names = [], []
        for parameter in parameters.split(",") if parameters.strip() != "void" else []:
            words = re.findall(r"\w+", parameter)
            kind = next(word for word in words if word not in ("const", "struct"))
            types.append(header.julia_type(kind, parameter.count("*"), words[0] == "const"))
            names.append(words[-1] + "_" * (words[-1] in KEYWORDS))
        returns = "Cstring" if "char" in result else SCALARS[result]
        signature = ", ".join(types) + ("," if len(types) == 1 else "")
        arguments = "".join(f", {argument}" for argument in names)
        yield f"{name}({', '.join(names)}) ="
        call = f"ccall(entry({number}), {returns}, ({signature}){arguments})"
        yield from textwrap.wrap(call, 96, initial_indent="    ", subsequent_indent="          ",
                                 break_long_words=False)
    yield ""


def julia_value(setting):
    """The default of a setting as a keyword has it."""
    kind, value = setting["type"], setting["default"]
    if kind in ("integers", "choices"):
        words = value.split(",") if value else []
        return "[" + ", ".join(f":{word}" if kind == "choices" else word for word in words) + "]"
    return {"flag": {"0": "false", "1": "true"}.get(value), "choice": f":{value}", "text": f'"{value}"'}.get(kind, value)


def julia_help(setting):
    """The help of a setting, with its range or its words."""
    text, kind, values = setting["help"], setting["type"], setting["values"]
    if kind == "flag":
        text = re.sub(r"(^|: |; |\. |\n)([01]): ", lambda m: m[1] + ("true" if m[2] == "1" else "false") + ": ", text)
    if kind in ("integer", "number") and values and values not in text:
        text += f" {values[0].upper()}{values[1:]}."
    if kind in ("choice", "choices"):
        words = values.split(", ")
        text = re.sub(r"^(\w+): ", lambda m: f"`:{m[1]}`: " if m[1] in words else m[0], text, flags=re.M)
        if not all(f"`:{word}`" in text for word in words):
            text += " One of " + ", ".join(f"`:{word}`" for word in words) + "."
    return text


def comments_file(header):
    symbols = {constant: f"`:{symbol}`" for name, members in header.enums if name != "gnnmg_status"
               for constant, symbol, _ in members}

    def in_julia(comment):
        comment = re.sub(r"(?:::)?\b(GNNMG_\w+)", lambda match: symbols.get(match[1], match[1]), comment)
        comment = re.sub(r"(?:::)?\b(gnnmg_\w+)\b(?!\()", r"`\1`", re.sub(r"\s+", " ", comment))
        return comment.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")

    yield NOTE
    yield "const COMMENTS = Dict("
    for name, fields in header.structs:
        yield f"    :{name} => ["
        for field, _, _, comment in fields:
            if field != "struct_size" and not re.match(r"(padding|reserved)\d*$", field):
                yield f'        :{field} => "{in_julia(comment)}",'
        yield "    ],"
    for subject, settings in json.loads(SETTINGS.read_text()).items():
        yield f"    :{subject} => ["
        for setting in settings:
            name = in_julia(f'{setting["name"]} = {julia_value(setting)}')
            yield f'        "{name}" => "{in_julia(julia_help(setting))}",'
        yield "    ],"
    yield ")"


def main(arguments):
    if arguments not in ([], ["--check"]):
        fail(__doc__)
    header = Header(HEADER.read_text())
    changed = []
    for name, lines in (("enums", enums_file), ("structs", structs_file), ("functions", functions_file),
                        ("comments", comments_file)):
        path, text = FOLDER / f"{name}.jl", "\n".join(lines(header)).rstrip("\n") + "\n"
        if path.exists() and path.read_text() == text:
            continue
        changed.append(path.name)
        if not arguments:
            path.write_text(text)
    if arguments and changed:
        fail(f"not as header and settings have it: {', '.join(changed)}; run generate.py")


if __name__ == "__main__":
    main(sys.argv[1:])
