#!/usr/bin/env python3
"""Checks every link of the new site and of the Markdown as a forge shows it, without the network.
  links.py <top of the source tree> <folder of the site>
  links.py <folder>                                        the Markdown of a folder alone, as of an installed tree
"""

import os
import re
import subprocess
import sys

import markdown

OUTSIDE = re.compile(r'^([a-z]+:|//)')  # other sites, mailto:, javascript:
TAG = re.compile(r'<[a-zA-Z][^<>]*>')
IN_TAG = re.compile(r'\s(href|src|id|name)="([^"]*)"')
IN_SCRIPT = re.compile(r'"([\w-]+\.html(?:#[\w-]*)?)"')  # the menu's tree
COMMAND = re.compile(r'[@\\](ref|snippet|include|page|subpage|section|copydoc|link|anchor|htmlonly)\b')
RUSTDOC = re.compile(r'^(crate|std|Self)::')  # links of pages in rustdoc, which checks them


class Walk:
    def __init__(self):
        self.count, self.bad = 0, []

    def expect(self, there, place, what):
        self.count += 1
        if not there:
            self.bad.append(f'{place}: {what}')


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def walk_site(folder, walk):
    pages, anchors = {}, {}
    for name in sorted(os.listdir(folder)):
        if name.endswith('.html'):
            text = read(os.path.join(folder, name))
            if 'ilinebr' in text:  # Doxygen replaces its aliases in code, too
                walk.bad.append(f'{name}: an alias of Doxygen is shown as text')
            found = [m.groups() for tag in TAG.finditer(text) for m in IN_TAG.finditer(tag[0])]
            pages[name] = [value for kind, value in found if kind in ('href', 'src')]
            anchors[name] = {value for kind, value in found if kind in ('id', 'name')}
        elif name.endswith('.js') and not name.startswith('navtreeindex'):  # the index has places in the menu, no links
            pages[name] = IN_SCRIPT.findall(read(os.path.join(folder, name)))
    for page, targets in pages.items():
        for target in targets:
            if OUTSIDE.match(target):
                continue
            file, _, end = target.partition('#')
            file = file or page
            walk.expect(file in pages or os.path.exists(os.path.join(folder, file)), page, f'there is no {file}')
            if end and file in anchors:
                walk.expect(end in anchors[file], page, f'{file} has no #{end}')
    if 'index.html' not in pages:
        walk.bad.append(f'{folder} holds no site')


def walk_menu(source, folder, walk):
    """Every page is in the menu, which layout.xml.in lists."""
    from pages import find_pages  # needs Pygments, as only the site does
    menu = set(IN_SCRIPT.findall(read(os.path.join(folder, 'navtreedata.js'))))
    for path, name in find_pages(source).items():
        walk.expect(f'{name}.html' in menu, path, 'the menu in docs/site/layout.xml.in has no line for this page')


def markdown_files(source, by_git=True):
    if by_git:
        listed = subprocess.run(['git', '-C', source, 'ls-files', '-co', '--exclude-standard', '*.md'], capture_output=True,
                                text=True)
        if listed.returncode == 0:
            return listed.stdout.split()
    return [os.path.relpath(os.path.join(folder, name), source) for folder, _, names in os.walk(source) for name in names
            if name.endswith('.md')]


def has_place(path, end):
    """True if a file has the heading, or the header the name, at the end of a link."""
    text = read(path)
    if path.endswith('.md'):
        return end in {markdown.slug(heading) for _, heading in markdown.headings(text)}
    return re.search(rf'\b{re.escape(end)}\b', text) is not None


def walk_markdown(source, path, walk):
    text = read(os.path.join(source, path))
    for target, _ in markdown.links(text):
        if OUTSIDE.match(target) or RUSTDOC.match(target):
            continue
        file, _, end = target.partition('#')
        full = os.path.normpath(os.path.join(source, os.path.dirname(path), file) if file else os.path.join(source, path))
        there = os.path.exists(full)
        walk.expect(there, path, f'there is no {target}')
        if there and end:
            walk.expect(has_place(full, end), path, f'{os.path.relpath(full, source)} has no #{end}')
    for language, block in markdown.blocks(text):
        if language is None:
            for command in COMMAND.finditer(markdown.LINK.sub(lambda m: '' if m['code'] else m[0], block)):
                walk.bad.append(f'{path}: {command[0]} is for Doxygen; a forge shows it as it is')


def main(source, site=None):
    walk = Walk()
    if site:
        walk_site(site, walk)
        walk_menu(source, site, walk)
    in_site, files = walk.count, markdown_files(source, by_git=site is not None)
    if not files:
        walk.bad.append(f'{source} holds no Markdown')
    for path in files:
        walk_markdown(source, path, walk)
    for line in walk.bad:
        print(line)
    if not walk.bad:
        print((f'{in_site} links of the site and ' if site else '') +
              f'{walk.count - in_site} links of {len(files)} Markdown files lead somewhere')
    return bool(walk.bad)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
