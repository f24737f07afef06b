#!/usr/bin/env python3
"""Writes the misuse sweep: for every function of gnnmg.h a test that hands in each kind of bad handle,
leaves each output out, gives structs of no size, of garbage sizes and of a later version, settings that
are none, settings given twice, time limits below -1, lists of negative length, lists that are NULL, and
values that an enumeration does not have.

    misuse.py <gnnmg.h> <out.cpp>

A parameter may be NULL if its documentation mentions NULL. The objects and
arrays that make a call right up to its one fault are those of misuse_world.h."""
import re
import sys


class Parameter:
    def __init__(self, text, doc, handles):
        text = " ".join(text.split())
        callback = re.match(r"(.*\(\*)(\w+)(\).*)", text)
        match = re.match(r"(.*?)(\w+)$", text)
        self.type, self.name = match.group(1).strip(), match.group(2)
        assert not callback, "callbacks have typedefs: " + text
        self.doc = doc.get(self.name, "")
        self.may_be_null = "NULL" in self.doc
        self.base = re.sub(r"\b(const|struct)\b|\*", " ", self.type).split()[0]
        self.stars = self.type.count("*")
        self.is_handle = self.base in handles and self.stars == 1
        if self.stars == 1:
            self.is_out = not self.type.startswith("const") and not self.is_handle and self.base not in ("DLManagedTensorVersioned", "void")
        else:
            self.is_out = self.stars == 2 and not self.type.endswith("const*")


class Function:
    def __init__(self, result, name, parameters):
        self.result, self.name, self.parameters = result, name, parameters


def read_header(path):
    text = open(path, encoding="utf-8").read().replace("\nGNNMG_STATUS ", "\nGNNMG_API gnnmg_status ")
    handles = re.findall(r"^typedef struct (gnnmg_\w+) \1;", text, re.M)
    structs = re.findall(r"^\} (gnnmg_\w+);", text, re.M)
    callbacks = re.findall(r"^typedef \w+ \(\*(gnnmg_\w+)\)", text, re.M)
    enums = set(re.findall(r"^typedef int32_t (gnnmg_\w+);\nenum \{", text, re.M))
    functions = []
    pattern = r"/\*\*((?:(?!\*/).)*)\*/\s*GNNMG_API\s+(?:GNNMG_MUST_USE\s+)?([^;(]*?)\s*\b(gnnmg_\w+)\s*\(([^;]*)\)\s*;"
    for comment, result, name, parameters in re.findall(pattern, text, re.S):
        lines = " ".join(re.sub(r"^\s*\* ?", "", line) for line in comment.splitlines())
        doc = {}
        for key, words in re.findall(r"@param(?:\[[\w,]+\])? (\w+)((?:(?!@(?:param|return|threading|owns)).)*)", lines):
            doc[key] = words
        parts = [] if parameters.strip() == "void" else parameters.split(",")
        for sentence in lines.split("@")[0].split(". "):
            told = [part for part in parts if f"`{part.split()[-1].lstrip('*')}`" in sentence and "NULL" in sentence]
            assert not told, f"{name}: say in @param what NULL means: {sentence.strip()}"
        functions.append(Function(" ".join(result.split()), name, [Parameter(p, doc, handles) for p in parts]))
    declared = text.count("\nGNNMG_API")
    assert len(functions) == declared, f"{len(functions)} functions were understood of {declared}"
    return functions, set(structs), set(callbacks), enums


# Values that the types alone do not give, by function and parameter; see misuse_world.h.
SPECIAL = {
    ("gnnmg_context_create", "header_version"): "GNNMG_VERSION",
    ("gnnmg_comm_create_group", "comms"): "world.comm_slots",
    ("gnnmg_comm_create_group", "world_size"): "2",
    ("gnnmg_context_set_option", "key"): '"log_level"',
    ("gnnmg_context_set_option", "value"): '"debug"',
    ("gnnmg_context_get_option", "key"): '"log_level"',
    ("gnnmg_trainer_create", "comm"): "nullptr",
    ("gnnmg_graph_generate", "generator"): '"planted"',
    ("gnnmg_dataset_generate", "generator"): '"planted"',
    ("gnnmg_model_add_conv", "model"): "world.stack",
    ("gnnmg_model_add_norm", "model"): "world.stack",
    ("gnnmg_model_add_norm", "norm"): "GNNMG_NORM_BATCH",
    ("gnnmg_setting_get_info", "subject"): '"model"',
    ("gnnmg_predictor_run", "out"): "nullptr",
    ("gnnmg_model_embed", "path"): "nullptr",
    ("gnnmg_trainer_embed", "path"): "nullptr",
    ("gnnmg_comm_all_gather", "outputs"): "world.tensor_list",
    ("gnnmg_comm_all_to_all", "inputs"): "world.tensor_list",
    ("gnnmg_comm_all_to_all", "outputs"): "world.tensor_list",
}


# Subjects of settings whose function does not have their name.
SUBJECTS = {
    "gnnmg_dataset_open": "dataset",
    "gnnmg_dataset_add_random_split": "split",
    "gnnmg_dataset_add_folds": "folds",
    "gnnmg_dataset_save_parts": "parts",
    "gnnmg_dataset_open_served": "served",
    "gnnmg_graph_generate": "planted",
    "gnnmg_dataset_generate": "planted",
    "gnnmg_model_create": "model",
    "gnnmg_model_add_conv": "model",
    "gnnmg_model_add_norm": "norm",
}


def subject_of(name):
    if re.search(r"_(save|load)$", name):
        return "model_file"
    return SUBJECTS.get(name, name.split("_")[1])


class Writer:
    def __init__(self, structs, callbacks, enums):
        self.structs, self.callbacks, self.enums = structs, callbacks, enums
        self.lines = []

    def declare(self, function, p):
        """A variable that holds a right value for the parameter."""
        special = SPECIAL.get((function.name, p.name))
        if special:
            return f"    {p.type} {p.name} = {special};"
        if p.is_handle:
            return f"    {p.type} {p.name} = world.live<{p.base}>();"
        if p.base in self.structs and p.stars == 1:
            size = f"{p.name}_value.struct_size = sizeof {p.name}_value;"
            return f"    {p.base} {p.name}_value{{}}; {size} {p.type} {p.name} = &{p.name}_value;"
        if p.is_out and p.stars:
            inner = re.sub(r"\*$", "", p.type).strip()
            if p.base == "char" and p.stars == 1:
                return f"    {p.type} {p.name} = nullptr;"
            return f"    {inner} {p.name}_value = garbage<{inner}>(); {p.type} {p.name} = &{p.name}_value;"
        if p.name == "settings":
            return f"    {p.type} {p.name} = nullptr;"
        if p.base == "char":
            return f'    {p.type} {p.name} = "x";'
        if p.base in self.callbacks:
            return f"    {p.type} {p.name} = {'nullptr' if p.base == 'gnnmg_release_fn' else 'misuse_' + p.base};"
        if p.base == "void" or p.stars:
            return f"    {p.type} {p.name} = nullptr;"
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
        capacity = any(p.name == "capacity" for p in function.parameters)
        for p in function.parameters:
            if p.is_out and p.stars and p.base not in self.structs and p.base != "char":
                array = capacity and p.name != "needed"
                if not array:
                    checks.append(f"    if ({p.name} != nullptr) {{ EXPECT_FALSE(*{p.name}) << \"{p.name}\"; }}")
        return checks

    def write(self, function):
        for p in function.parameters:
            if p.is_handle:
                self.bad_handles(function, p)
            elif p.base in self.structs and p.stars == 1 and function.result == "gnnmg_status":
                self.bad_struct(function, p)
            if p.is_out and p.stars and not p.may_be_null and function.result == "gnnmg_status":
                if p.name != "text":
                    self.missing(function, p)
            if p.name == "timeout_ms":
                self.negative_timeouts(function, p)
            if p.name == "settings" and p.stars == 1:
                self.bad_settings(function, p)
            if any(q.base == "gnnmg_sink" or q.name == "graph_ptr" for q in function.parameters):
                continue  # there is no live sink, and graph_ptr is NULL: refused before the others
            if p.base in self.enums and not p.stars and function.result == "gnnmg_status":
                self.refused(function, p, p.name, ["-1", "9999", "INT32_MIN"])
            if p.name.startswith("num_") and any(q.name == p.name[4:] for q in function.parameters):
                self.refused(function, p, p.name[4:], ["-1", "INT64_MIN", "3", "INT64_MAX"])

    def refused(self, function, p, told, values):
        """Values that are wrong whatever else is given; arrays are NULL (declare()). The text names `told`."""
        self.test(function, "bad_" + p.name, [
            f"  for (const int64_t bad : std::initializer_list<int64_t>{{{', '.join(values)}}}) {{",
            f"    {p.name} = static_cast<{p.type}>(bad);",
            f"    EXPECT_EQ({self.call(function)}, GNNMG_ERR_INVALID_ARGUMENT) << bad << gnnmg_last_error();",
            f"    EXPECT_NE(std::string(gnnmg_last_error()).find(\"{told}\"), std::string::npos)",
            "        << bad << gnnmg_last_error();"] + self.zero_checks(function) + ["  }", "  world.expect_untouched();"])

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

    def bad_settings(self, function, p):
        self.test(function, p.name, [
            f'  for (const std::string& bad : bad_settings("{subject_of(function.name)}")) {{',
            f"    {p.name} = bad.c_str();",
            f"    EXPECT_EQ({self.call(function)}, GNNMG_ERR_INVALID_ARGUMENT)",
            "        << bad.substr(0, 100) << ' ' << gnnmg_last_error();",
            f"    EXPECT_NE(std::string(gnnmg_last_error()).find(\"{p.name}\"), std::string::npos)",
            "        << gnnmg_last_error();"] + self.zero_checks(function) + ["  }", "  world.expect_untouched();"])
        config = next((q for q in function.parameters if q.name == "config"), None)
        if config is None or function.name.startswith("gnnmg_sampler_create_"):
            return
        self.test(function, "both_ways", [
            f"  {p.name} = set_both_ways({config.name}_value);",
            f"  EXPECT_EQ({self.call(function)}, GNNMG_ERR_INVALID_ARGUMENT) << gnnmg_last_error();",
            f"  EXPECT_NE(std::string(gnnmg_last_error()).find({p.name}), std::string::npos) << gnnmg_last_error();",
        ] + self.zero_checks(function) + ["  world.expect_untouched();"])


def main():
    functions, structs, callbacks, enums = read_header(sys.argv[1])
    writer = Writer(structs, callbacks, enums)
    for function in functions:
        writer.write(function)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write('#include "misuse_world.h"\n\n')
        out.write("\n".join(writer.lines))
        swept = {f.name for f in functions}
        out.write(f"// {len(swept)} functions\n")


main()
