#!/usr/bin/env python3
"""Makes the site's pages for Doxygen from the Markdown pages of the repository.
  pages.py <top of the source tree> <new folder>

The Markdown stays plain. This script adds the parts that only a site can have:
- every page gets the name of its file, every heading an anchor, and links lead to them;
- a paragraph that is a link to an example with a title, [partition.c](../../examples/c/partition.c "save"), becomes the lines
  between the marks [save] of that program, in every language, with tabs;
- fenced codes that follow each other, each after a line **C**, **Rust** and so on, get tabs as well;
- every example program gets a page;
- links to files that the site does not show become plain text.
The same folder gets sections.json: title, page, address, text and weight of each section, for the search.
"""

import json
import os
import re
import sys

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

import examples
import markdown

ROOTS = ('docs', 'bindings', 'src/README.md')
NAMES = {'bindings/README.md': 'languages', 'src/README.md': 'rooms',
         'docs/guide/callbacks.md': 'guide_callbacks'}  # pages with another name than their files
TITLES = {'bindings/rust/gnnmg/README.md': 'Rust', 'bindings/rust/README.md': 'Rust from the repository',
          'bindings/rust/gnnmg/docs/conventions.md': 'How the C API becomes Rust', 'bindings/julia/README.md': 'Julia',
          'bindings/julia/docs/conventions.md': 'How the C API becomes Julia'}  # titles that differ from those on a forge
NOT_SHOWN = 'bindings/rust/gnnmg-sys/README.md'
PROGRAM = re.compile(r'^\[[^\]]*\]\((\S+) "([^"]+)"\)$')
LANGUAGE = re.compile(r'(?:^|\n)\*\*(' + '|'.join(examples.LANGUAGES) + r')\*\*\s*$')


def find_pages(source):
    """{path from the top: name of the page} of every Markdown file that the site shows."""
    found = []
    for root in ROOTS:
        top = os.path.join(source, root)
        found += [top] if os.path.isfile(top) else [os.path.join(f, n) for f, _, names in os.walk(top) for n in names]
    paths = sorted(os.path.relpath(path, source) for path in found if path.endswith('.md'))
    pages = {path: NAMES.get(path) or page_name(path) for path in paths if path != NOT_SHOWN}
    if len(set(pages.values())) != len(pages):
        raise ValueError(f'two pages have one name: {sorted(pages.values())}')
    return pages


def page_name(path):
    parts = [part for part in path[:-3].split('/') if part not in ('docs', 'guide', 'bindings', 'README')]
    return '_'.join(parts).replace('-', '_')


def anchor(page, heading):
    return page + '_' + re.sub(r'[^a-z0-9_-]', '', markdown.slug(heading))


class Page:
    """One page: its text for Doxygen, and its sections for the search."""

    def __init__(self, site, path, name):
        self.site, self.path, self.name = site, path, name
        self.out, self.sections, self.tabs = [], [], []

    def write(self, text):
        for language, block in markdown.blocks(text):
            if language is None:
                self.write_prose(block)
            else:
                self.write_code(language, block)
        self.end_tabs()
        return '\n'.join(self.out) + '\n'

    def write_prose(self, block):
        language = LANGUAGE.search(block)
        before = block[:language.start()] if language else block
        if before.strip():
            self.end_tabs()
        for paragraph in before.split('\n\n'):
            self.write_paragraph(paragraph)
        if language:
            self.tabs.append((language[1], None))

    def write_paragraph(self, paragraph):
        shown = PROGRAM.match(paragraph.strip())
        program = shown and examples.program_of(self.resolve(shown[1]))
        if program:
            self.tabs = examples.in_all_languages(self.site.source, program, shown[2] if shown[2] != 'whole' else None)
            self.end_tabs()
            return
        lines = [self.heading(line) for line in paragraph.split('\n')]
        self.out.append(markdown.LINK.sub(self.link, '\n'.join(lines)) + '\n')
        if self.sections:
            text = ' '.join(line for line in paragraph.split('\n') if not re.match(r'#|\|[-|: ]*$', line))
            self.sections[-1]['text'] += ' ' + re.sub(r'[\s|]+', ' ', markdown.plain(text))

    def write_code(self, language, code):
        language = language.split(',')[0]
        if language == 'rust':  # rustdoc hides such lines
            code = re.sub(r'^# .*\n?', '', code, flags=re.MULTILINE)
        if self.tabs and self.tabs[-1][1] is None:
            self.tabs[-1] = (self.tabs[-1][0], code, language)
            return
        self.end_tabs()
        self.out.append(fragment(language, code))

    def end_tabs(self):
        if self.tabs:
            self.out.append(tabs(self.tabs))
            self.tabs = []

    def heading(self, line):
        match = markdown.HEADING.match(line)
        if not match:
            return line
        first = not self.sections
        place = self.name if first else anchor(self.name, match[2])
        url = f'{self.name}.html' + ('' if first else f'#{place}')
        self.sections.append({'title': markdown.plain(match[2]), 'url': url, 'text': '',
                              'page': markdown.plain(match[2]) if first else self.sections[0]['page'],
                              'boost': 3 if '/guide/' in self.path else 1.5})  # the guide comes first
        if self.name == 'index':  # Doxygen names its main page itself and would add its sections to the menu
            return line if first else raw(f'<h1 id="{place}">{markdown.plain(match[2])}</h1>')
        return f'{line} {{#{place}}}' + ('\n\n@tableofcontents\n' if first else '')

    def resolve(self, target):
        return os.path.normpath(os.path.join(os.path.dirname(self.path), target))

    def link(self, match):
        if match['code'] or re.match(r'[a-z]+://', match['target']):
            return match[0]
        path, _, end = match['target'].partition('#')
        address = self.site.address(self.resolve(path) if path else self.path, end)
        return f'[{match["text"]}]({address})' if address else match['text']


class Site:
    def __init__(self, source):
        self.source, self.pages = source, find_pages(source)
        self.programs = list(examples.programs(source))

    def address(self, path, end):
        """The address of a file, or of a heading or name in it, on the site; None if the site does not show it."""
        if path in self.pages:
            name = self.pages[path]
            return f'{name}.html' + (f'#{name}_{re.sub(r"[^a-z0-9_-]", "", end)}' if end else '')
        if path == 'include/gnnmg.h':
            return f'@ref {end or "header"}'
        program = examples.program_of(path)
        if program in self.programs:
            return f'example_{program}.html'
        return 'examples.html' if re.fullmatch(r'examples/(c|rust|go|julia)', path) else None

    def text_of(self, path):
        text = examples.read(os.path.join(self.source, path))
        return f'# {TITLES[path]}\n' + re.sub(r'^# .*\n', '\n', text) if path in TITLES else text

    def make(self, folder):
        os.makedirs(folder, exist_ok=True)
        sections = []
        for path, name in self.pages.items():
            page = Page(self, path, name)
            write(os.path.join(folder, name + '.md'), page.write(self.text_of(path)))
            sections += page.sections
        for name in self.programs:
            code = examples.in_all_languages(self.source, name)
            text = f'# {name} {{#example_{name}}}\n\nOne of the [example programs](examples.html).\n\n{tabs(code)}'
            write(os.path.join(folder, f'example_{name}.md'), text)
        write(os.path.join(folder, 'sections.json'), json.dumps(sections))


def fragment(language, code):
    """Doxygen formats code in C and links its names."""
    if language in ('c', ''):
        return f'```{{.{language or "unparsed"}}}\n{code}\n```\n'
    lines = highlight(code, get_lexer_by_name(language), HtmlFormatter(nowrap=True))
    lines = lines.replace('*/', '*&#47;').replace('/*', '&#47;*')  # comments to Doxygen
    return raw(f'<pre class="fragment">{lines}</pre>')


def raw(html):
    return f'@htmlonly[block]\n{html}\n@endhtmlonly\n'


def tabs(parts):
    """Codes with tabs: (name of the language, code) or (name of the language, code, kind of code)."""
    out = [raw('<div class="languages">')]
    for name, code, *kind in parts:
        out += [raw(f'<section title="{name}">'), fragment(kind[0] if kind else examples.LANGUAGES[name], code),
                raw('</section>')]
    return '\n'.join(out + [raw('</div>')])


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


if __name__ == '__main__':
    try:
        Site(sys.argv[1]).make(sys.argv[2])
    except ValueError as error:
        sys.exit(f'pages.py: {error}')
