#!/usr/bin/env bash
# Finds phrases that plain American English does without, in comments and pages, and prints file and line.
#   english.sh <top of the source tree>    checks every file that has prose
#   english.sh --sample <file>...          prints file, line and pattern of every phrase of these files
set -euo pipefail
exec python3 - "$@" <<'PYTHON'
import os
import re
import sys

# Words that open no comment that stands on its own. A sentence may begin with "For" or "In"; a comment after code may not.
PRONOUNS = (
    r"it|its|they|their|them|he|she|his|her|one (?:of|that|who|whose|which)|"
    r"(?:this|that|these|those) (?:of|that|in|on|is|are|was|were)"
)
QUESTIONS = r"what|whatever|whether|who|whoever|whom|whose|which|where|when|how|why"
CASES = r"of|by(?! \*)|from|as|to(?! =)|into|at(?! most| least)|among|between|beside|behind(?!\()|over|under"
PREPOSITIONS = CASES + r"|in(?!-)|on|for|with|without|like|after|before"
OPENING = rf"(?:{PRONOUNS}|{QUESTIONS}|{CASES})\b"
TRAILING = rf"(?:{PRONOUNS}|{QUESTIONS}|{PREPOSITIONS})\b"

BRITISH = (
    r"\w*neighbour\w*|\w*behaviour\w*|colour\w*|favour\w*|honour\w*|grey|centred?|centres|centring|catalogue\w*|labelled|"
    r"labelling|modell(?:ed|ing)|travell\w+|signall\w+|totall(?:ed|ing)|fulfils?|judgement|artefacts?|whilst|amongst|learnt|spelt|"
    r"burnt|defence|offence|analyse[ds]?|programmes?|(?:kilo|milli)?metres?|"
    r"(?:optim|recogn|initial|normal|serial|organ|quant|synchron|minim|maxim|summar|util|vector|parallel|general|special|"
    r"material|emphas|capital|standard|real|author|custom|final|symmetr|random|token|local|categor|penal|priorit|stabil)"
    r"is(?:e|es|ed|er|ers|ing|ation|ations)"
)

# name: (where, expression). The places are "prose" (comments and pages), "opening" (the first words of a comment that
# fills its line) and "trailing" (the first words of a comment after code).
PATTERNS = {
    "behind": ("prose", r"\bbehind\b(?!\()"),
    "opening": ("opening", OPENING),
    "trailing": ("trailing", TRAILING),
    "what": ("prose", r"\bwhat\b"),
    "who": ("prose", r"\b(?:who|whom|whoever)\b"),
    "idiom": (
        "prose",
        r"\b(?:desks?|slates?|doors?|guests?|turn(?:s|ed|ing)? round|let(?:s|ting)? go|com(?:e|es|ing) to rest|came to rest|"
        r"beforehand|at all times|all the same)\b",
    ),
    "British": ("prose", rf"(?<![\[_-])\b(?:{BRITISH})\b"),
}
COMPILED = {name: (place, re.compile(expression, re.IGNORECASE)) for name, (place, expression) in PATTERNS.items()}

SLASHES = (".h", ".c", ".cpp", ".cu", ".cuh", ".rs", ".go")
HASHES = (".sh", ".py", ".jl", ".cmake", "CMakeLists.txt")
PAGES = (".md",)
FOLDERS = ("src", "tests", "include", "examples", "bindings", "docs")
# Generated files take their words from include/gnnmg.h.
GENERATED = re.compile(
    r"/target/|\.gen\.|/internal/raw/|gnnmg-sys/src/bindings\.rs|rust/gnnmg/src/generated/|julia/src/lib/"
)

# Comments, and the strings and characters that can contain their signs. Every branch begins with a plain character, for speed.
STRING = r'"(?:[^"\\\n]|\\.)*"'
IN_SLASHES = re.compile(
    rf"""(?://(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|R"(?P<raw>\w*)\(.*?\)(?P=raw)"|`[^`]*`|{STRING}|'(?:[^'\\\n]|\\.)')""",
    re.DOTALL,
)
IN_HASHES = re.compile(rf'''(?:"""(?P<block>.*?)"""|\#(?P<line>[^\n]*)|{STRING}|'(?:[^'\\\n]|\\.)*')''', re.DOTALL)
FENCE = re.compile(r"^\s*(?:```|~~~)")
CODE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)|<[^>\n]*>")


def comments(text, expression):
    """Yields (line, whether it opens a comment, whether code precedes it, text) for each line of each comment."""
    next_of_last = None  # the line and column at which the last comment would continue
    line, position = 0, 0
    for match in expression.finditer(text):
        kind = match.lastgroup
        if kind not in ("line", "block"):
            continue
        start = match.start()
        line += text.count("\n", position, start)
        position = start
        before = text[text.rfind("\n", 0, start) + 1 : start]
        if kind == "line" and text[start] == "#" and before and not before[-1].isspace():
            continue  # ${name#prefix}
        if kind == "block" and text[start] == '"' and before.strip():
            continue  # a long string, not a description
        words = match.group(kind)
        follows = bool(before.strip())
        if kind == "line":
            yield line, follows or (line, len(before)) != next_of_last, follows, words
            next_of_last = line + 1, len(before)
        else:
            for offset, part in enumerate(words.split("\n")):
                yield line + offset, offset == 0, follows, part


def page(text):
    """Yields the lines of a page without its code, as comments() does."""
    fenced = False
    for line, words in enumerate(text.split("\n")):
        if FENCE.match(words):
            fenced = not fenced
        elif not fenced:
            yield line, False, False, words


def phrases(path, text):
    """Yields (pattern, line, text) for each phrase of a file."""
    if path.endswith(PAGES):
        lines = page(text)
    else:
        lines = comments(text, IN_SLASHES if path.endswith(SLASHES) else IN_HASHES)
    for line, opens, follows, words in lines:
        words = CODE.sub("``", words)
        opening = words.lstrip("/!*#< \t")
        for name, (place, expression) in COMPILED.items():
            if place == "prose":
                for _ in expression.findall(words):
                    yield name, line + 1, words.strip()
            elif opens and follows == (place == "trailing") and expression.match(opening):
                yield name, line + 1, words.strip()


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def sources(top):
    for folder in FOLDERS:
        for path, folders, names in os.walk(os.path.join(top, folder)):
            folders[:] = sorted(f for f in folders if f not in ("build", "target", ".deps", "corpus"))
            for name in sorted(names):
                full = os.path.relpath(os.path.join(path, name), top)
                if name.endswith(SLASHES + HASHES + PAGES) and not GENERATED.search("/" + full):
                    yield full
    yield "README.md"


def check(top):
    files, found = 0, []
    for path in sources(top):
        files += 1
        for name, line, words in phrases(path, read(os.path.join(top, path))):
            found.append(f"{path}:{line}: {name}: {words}")
    print("\n".join(found))
    print(f"{files} files, {len(found)} phrases to say in plain English (docs/contributing.md)")
    return bool(found)


if sys.argv[1] == "--sample":
    for path in sys.argv[2:]:
        for name, line, words in phrases(path, read(path)):
            print(f"{os.path.basename(path)}:{line}: {name}")
else:
    sys.exit(check(sys.argv[1]))
PYTHON
