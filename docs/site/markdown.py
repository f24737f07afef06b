"""The project's form of Markdown: separates code from text, finds headings and links. Used by pages.py and links.py."""

import re

# Code in backticks, or a link: text, target, title. Alternatives, so that a link within code is none.
LINK = re.compile(r'(?P<code>(`+)(?:(?!\n\n).)*?(?<!`)\2(?!`))'
                  r'|(?<!!)\[(?P<text>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<target>[^()\s]+)(?: "(?P<title>[^"]*)")?\)', re.DOTALL)
FENCE = re.compile(r'^(```+|~~~+)\s*([\w,+-]*)\s*$')
HEADING = re.compile(r'^(#+) (.*)$')


def blocks(text):
    """The text in order, in pairs: (None, some lines of prose) or (language, the lines of a fenced code)."""
    prose, lines = [], iter(text.splitlines())
    for line in lines:
        fence = FENCE.match(line)
        if not fence:
            prose.append(line)
            continue
        if prose:
            yield None, '\n'.join(prose)
            prose = []
        code = []
        for line in lines:
            if line.strip() == fence[1]:
                break
            code.append(line)
        yield fence[2], '\n'.join(code)
    if prose:
        yield None, '\n'.join(prose)


def plain(text):
    """A text without its markup."""
    text = LINK.sub(lambda m: m['code'].strip('`').strip() if m['code'] else plain(m['text']), text)
    return re.sub(r'\*\*|</?\w+>|`', '', text)


def slug(heading):
    """The end of a heading's address on a forge."""
    return re.sub(r'[^\w\- ]', '', plain(heading).lower()).replace(' ', '-')


def headings(text):
    """(level, heading) of every heading."""
    for language, block in blocks(text):
        if language is None:
            for line in block.splitlines():
                match = HEADING.match(line)
                if match:
                    yield len(match[1]), match[2]


def links(text):
    """(target, title) of every link."""
    for language, block in blocks(text):
        if language is None:
            yield from ((m['target'], m['title']) for m in LINK.finditer(block) if not m['code'])
