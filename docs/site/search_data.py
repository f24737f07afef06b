#!/usr/bin/env python3
"""Writes the entries of the site's search: the sections of the pages, from pages.py, and Doxygen's data of the header.
  search_data.py <sections.json> <searchdata.xml> <new .js file>
"""

import json
import sys
import xml.etree.ElementTree as ElementTree

KINDS = {'function': 'function', 'struct': 'struct', 'group': 'functions by subject', 'enum': 'enumeration',
         'enumvalue': 'constant', 'define': 'constant', 'typedef': 'type', 'variable': 'field'}
MINOR = ('enumvalue', 'define', 'typedef', 'variable')


def of_header(path):
    for doc in ElementTree.parse(path).getroot():
        entry = {field.get('name'): field.text or '' for field in doc}
        found = {'url': entry['url'], 'title': entry['name'], 'text': entry['text']}
        if entry['name'] == 'header':
            yield {**found, 'title': 'The header as a manual', 'page': '', 'boost': 3}
        elif entry['type'] in KINDS and not entry['name'].startswith('@'):  # a nameless enumeration
            yield {**found, 'page': KINDS[entry['type']], 'boost': 0.5 if entry['type'] in MINOR else 1}


def main(sections_file, doxygen_file, out):
    with open(sections_file, encoding='utf-8') as file:
        sections = json.load(file)
    entries = {entry['url']: entry for entry in [*sections, *of_header(doxygen_file)]}  # a struct's typedef has its address
    with open(out, 'w', encoding='utf-8') as file:
        file.write('const SEARCH_DATA = ' + json.dumps(list(entries.values()), ensure_ascii=False) + ';\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
