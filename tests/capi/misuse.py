#!/usr/bin/env python3
"""Writes the misuse sweep: for every function of gnnmg.h a test that hands in each kind of bad handle,
leaves each output out, gives structs of no size, of garbage sizes and of a later version, and time limits
below -1.

    misuse.py <gnnmg.h> <out.cpp>

A parameter may be NULL if its documentation mentions NULL. The objects and
arrays that make a call right up to its one fault are those of misuse_world.h."""
import re
import sys


class Parameter:
    def __init__(self, text, doc):
        text = " ".join(text.split())
        callback = re.match(r"(.*\(\*)(\w+)(\).*)", text)
        match = re.match(r"(.*?)(\w+)$", text)
        self.type, self.name = match.group(1).strip(), match.group(2)
        assert not callback, "callbacks have typedefs: " + text
        self.direction, self.doc = doc.get(self.name, ("", ""))
        self.may_be_null = "NULL" in self.doc
        self.base = re.sub(r"\b(const|struct)\b|\*", " ", self.type).split()[0]
        self.stars = self.type.count("*")

    @property
    def is_out(self):
        return "out" in self.direction

    def is_handle(self, handles):
        return self.base in handles and self.stars == 1


class Function:
    def __init__(self, result, name, parameters):
        self.result, self.name, self.parameters = result, name, parameters


def read_header(path):
    text = open(path, encoding="utf-8").read()
    handles = re.findall(r"^typedef struct (gnnmg_\w+) \1;", text, re.M)
    structs = re.findall(r"^\} (gnnmg_\w+);", text, re.M)
    callbacks = re.findall(r"^typedef \w+ \(\*(gnnmg_\w+)\)", text, re.M)
    functions = []
    pattern = r"/\*\*((?:(?!\*/).)*)\*/\s*GNNMG_API\s+(?:GNNMG_MUST_USE\s+)?([^;(]*?)\s*\b(gnnmg_\w+)\s*\(([^;]*)\)\s*;"
    for comment, result, name, parameters in re.findall(pattern, text, re.S):
        lines = " ".join(re.sub(r"^\s*\* ?", "", line) for line in comment.splitlines())
        doc = {}
        for direction, key, words in re.findall(r"@param\[([\w,]+)\] (\w+)((?:(?!@(?:param|return|threading)).)*)", lines):
            doc[key] = (direction, words)
        parts = [] if parameters.strip() == "void" else parameters.split(",")
        functions.append(Function(" ".join(result.split()), name, [Parameter(p, doc) for p in parts]))
    declared = text.count("\nGNNMG_API")
    assert len(functions) == declared, f"{len(functions)} functions were understood of {declared}"
    return functions, set(handles), set(structs), set(callbacks)


# Values that the types alone do not give, by function and parameter; see misuse_world.h.
SPECIAL = {
    ("gnnmg_context_create", "header_version"): "GNNMG_VERSION",
    ("gnnmg_comm_create_group", "comms"): "world.comm_slots",
    ("gnnmg_comm_create_group", "world_size"): "2",
    ("gnnmg_context_set_option", "key"): '"log_level"',
    ("gnnmg_context_set_option", "value"): '"debug"',
    ("gnnmg_context_get_option", "key"): '"log_level"',
    ("gnnmg_trainer_create", "comm"): "nullptr",
    ("gnnmg_predictor_run", "out"): "nullptr",
    ("gnnmg_comm_all_gather", "outputs"): "world.tensor_list",
    ("gnnmg_comm_all_to_all", "inputs"): "world.tensor_list",
    ("gnnmg_comm_all_to_all", "outputs"): "world.tensor_list",
}


class Writer:
    def __init__(self, handles, structs, callbacks):
        self.handles, self.structs, self.callbacks = handles, structs, callbacks
        self.lines = []

    def declare(self, function, p):
        """A variable that holds a right value for the parameter."""
        special = SPECIAL.get((function.name, p.name))
        if special:
            return f"    {p.type} {p.name} = {special};"
        if p.is_handle(self.handles):
            return f"    {p.type} {p.name} = world.live<{p.base}>();"
        if p.base == "DLManagedTensorVersioned" and p.stars == 1:
            return f"    {p.type} {p.name} = world.tensor;"
        if p.base in self.structs and p.stars == 1:
            size = f" {p.name}_value.struct_size = sizeof {p.name}_value;" if p.is_out else ""
            fill = "" if p.is_out else f" world.defaults(&{p.name}_value);"
            return f"    {p.base} {p.name}_value{{}};{size}{fill} {p.type} {p.name} = &{p.name}_value;"
        if p.is_out and p.stars:
            inner = re.sub(r"\*$", "", p.type).strip()
            if p.base == "char" and p.stars == 1:
                return f"    {p.type} {p.name} = nullptr;"
            return f"    {inner} {p.name}_value = garbage<{inner}>(); {p.type} {p.name} = &{p.name}_value;"
        if p.base == "char":
            return f'    {p.type} {p.name} = "x";'
        if p.base in self.callbacks:
            return f"    {p.type} {p.name} = {'nullptr' if p.base == 'gnnmg_release_fn' else 'misuse_' + p.base};"
        if p.base == "void" or p.stars:
            return f"    {p.type} {p.name} = nullptr;"
        if p.name == "struct_size":
            return f"    {p.type} {p.name} = 64;"
        return f"    {p.type} {p.name} = 0;"

    def test(self, function, title, body):
        self.lines.append(f"TEST_F(Misuse, {function.name[6:]}_{title}) {{")
        for p in function.parameters:
            self.lines.append(self.declare(function, p))
        for p in function.parameters:
            self.lines.append(f"    (void){p.name};")
        self.lines += body
        self.lines.append("}\n")

    def call(self, function):
        return f"{function.name}({', '.join(p.name for p in function.parameters)})"

    def zero_checks(self, function):
        """After a failure every output is NULL or 0."""
        checks = []
        for p in function.parameters:
            if p.is_out and p.stars and p.base not in self.structs and p.base != "char":
                array = "receives" in p.doc  # filled as far as its capacity goes
                if not array and not (p.base == "DLManagedTensorVersioned" and p.stars == 1):
                    checks.append(f"    if ({p.name} != nullptr) {{ EXPECT_FALSE(*{p.name}) << \"{p.name}\"; }}")
        return checks

    def write(self, function):
        for p in function.parameters:
            if p.is_handle(self.handles):
                self.bad_handles(function, p)
            elif p.base in self.structs and p.stars == 1 and function.result == "gnnmg_status":
                if not function.name.endswith("_config_init"):
                    self.bad_struct(function, p)
            if p.is_out and p.stars and not p.may_be_null and function.result == "gnnmg_status":
                if p.name not in ("text",) and not ("in," in p.direction and p.base == "DLManagedTensorVersioned"):
                    self.missing(function, p)
            if p.name == "timeout_ms":
                self.negative_timeouts(function, p)
        if function.name.endswith("_config_init"):
            self.init(function)

    def negative_timeouts(self, function, p):
        body = ["  for (int64_t bad : {int64_t{-2}, int64_t{-1000}, INT64_MIN}) {",
                f"    {p.name} = bad;",
                f"    EXPECT_EQ({self.call(function)}, GNNMG_ERR_INVALID_ARGUMENT) << bad << gnnmg_last_error();",
                f"    EXPECT_NE(std::string(gnnmg_last_error()).find(\"'{p.name}' is -\"), std::string::npos)",
                "        << gnnmg_last_error();"] + self.zero_checks(function) + ["  }", "  world.expect_untouched();"]
        self.test(function, "negative_" + p.name, body)

    def bad_handles(self, function, p):
        loop = f"world.bad<{p.base}>({'false' if p.may_be_null or function.result != 'gnnmg_status' else 'true'})"
        body = [f"  for (const void* bad : {loop}) {{",
                f"    {p.name} = static_cast<{p.type}>(const_cast<void*>(bad));"]
        if function.result == "gnnmg_status":
            body += [f"    EXPECT_EQ({self.call(function)}, GNNMG_ERR_HANDLE) << bad << gnnmg_last_error();",
                     f"    EXPECT_NE(std::string(gnnmg_last_error()).find(\"'{p.name}'\"), std::string::npos)",
                     "        << gnnmg_last_error();"]
            body += self.zero_checks(function)
        else:
            body += [f"    {self.call(function)};"]
        body += ["  }", "  world.expect_untouched();"]
        self.test(function, "bad_" + p.name, body)

    def missing(self, function, p):
        self.test(function, "without_" + p.name, [
            f"  {p.name} = nullptr;",
            f"  EXPECT_EQ({self.call(function)}, GNNMG_ERR_INVALID_ARGUMENT);",
            f"  EXPECT_NE(std::string(gnnmg_last_error()).find(\"'{p.name}'\"), std::string::npos)",
            "      << gnnmg_last_error();"] + self.zero_checks(function) + ["  world.expect_untouched();"])

    def bad_struct(self, function, p):
        body = [f"  for (uint32_t size : {{0u, 3u, static_cast<uint32_t>(sizeof(*{p.name})) - 1, 0x7fffffffu, 0xffffffffu}}) {{",
                f"    {p.name}_value.struct_size = size;",
                f"    EXPECT_EQ({self.call(function)}, GNNMG_ERR_INVALID_ARGUMENT) << size << gnnmg_last_error();",
                f"    EXPECT_NE(std::string(gnnmg_last_error()).find(\"struct_size\"), std::string::npos)",
                "        << gnnmg_last_error();"] + self.zero_checks(function) + ["  }"]
        if not p.is_out:
            body += [f"  Later<{p.base}> later({p.name}_value);",
                     f"  {p.name} = later.get();",
                     f"  EXPECT_EQ({self.call(function)}, GNNMG_ERR_VERSION) << gnnmg_last_error();"]
            body += self.zero_checks(function)
        body += ["  world.expect_untouched();"]
        self.test(function, "struct_" + p.name, body)

    def init(self, function):
        p = function.parameters[0]
        self.lines.append(f"TEST_F(Misuse, {function.name[6:]}) {{ check_init<{p.base}>({function.name}); }}\n")


def main():
    functions, handles, structs, callbacks = read_header(sys.argv[1])
    writer = Writer(handles, structs, callbacks)
    for function in functions:
        writer.write(function)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write('#include "misuse_world.h"\n\n')
        out.write("\n".join(writer.lines))
        swept = {f.name for f in functions}
        out.write(f"// {len(swept)} functions\n")


main()
