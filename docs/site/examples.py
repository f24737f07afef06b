"""The example programs as the site shows them: whole or between two marks, in every language."""

import os
import re

LANGUAGES = {'C': 'c', 'Rust': 'rust', 'Go': 'go', 'Julia': 'julia'}  # tabs have this order; fences have these names
MARK = re.compile(r'^\s*(?:/\*! |// |# )\[([^\]]+)\](?: \*/)?$')


def path_of(language, name):
    """The path of a program in a language, relative to the top of the source tree."""
    return {'C': f'examples/c/{name}.c', 'Rust': f'examples/rust/{name}.rs', 'Go': f'examples/go/{name}/main.go',
            'Julia': f'examples/julia/{name}.jl'}[language]


def program_of(path):
    """The name of the program at a path relative to the top, in any language; None for other paths."""
    for language in LANGUAGES:
        match = re.fullmatch(re.escape(path_of(language, 'NAME')).replace('NAME', r'(\w+)'), path)
        if match:
            return match[1]
    return None


def programs(source):
    """The names of all programs: files of examples/c with a main()."""
    folder = os.path.join(source, 'examples', 'c')
    for file in sorted(os.listdir(folder)):
        if file.endswith('.c') and re.search(r'^int main\(', read(os.path.join(folder, file)), re.MULTILINE):
            yield file[:-2]


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def part(source, path, mark):
    """The lines of an example between its two marks, without other marks and moved to the left."""
    lines = read(os.path.join(source, path)).splitlines()
    places = [i for i, line in enumerate(lines) if (match := MARK.match(line)) and match[1] == mark]
    if len(places) != 2:
        raise ValueError(f'{path} has the mark [{mark}] {len(places)} times, expected 2')
    return without_marks(lines[places[0] + 1:places[1]])


def without_marks(lines):
    lines = [line for line in lines if not MARK.match(line)]
    indents = [re.match(r'\s*', line)[0] for line in lines if line.strip()]
    return '\n'.join(line.removeprefix(os.path.commonprefix(indents)) for line in lines)


def in_all_languages(source, name, mark=None):
    """(language, code) for every language: the lines between the marks, or the whole program."""
    paths = {language: path_of(language, name) for language in LANGUAGES}
    if mark:
        return [(language, part(source, path, mark)) for language, path in paths.items()]
    return [(language, without_marks(read(os.path.join(source, path)).splitlines())) for language, path in paths.items()]
