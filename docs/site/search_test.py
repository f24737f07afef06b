#!/usr/bin/env python3
"""Looks up words in the entries of the site's search, as site/search.js does: every word must begin a word of the section.
  search_test.py <folder of the site>
"""

import json
import os
import re
import sys

EXPECTED = {  # words: a section that they find
    'install': 'first_steps.html#first_steps_install',
    'predict': 'training.html#training_predict-results-for-all-nodes',
    'class weight': 'data.html#data_class-weights-nodes-that-count-more',
    'rare class': 'data.html#data_class-weights-nodes-that-count-more',
    'choices that matter': 'training.html#training_choices-that-matter',
    'cargo add': 'rust_gnnmg.html#rust_gnnmg_install',
    'go mod': 'go.html#go_setting-up',
    'pkg-config': 'julia.html#julia_setting-up',
    'handles': 'header.html',
    'num epochs': 'structgnnmg__trainer__config.html',
    'early stop': 'examples.html#examples_models-and-training',
    'trainer run': 'group__trainer.html',
    'heterogeneous': 'data.html#data_arrays-of-your-own-without-files',
}


def words(text):
    return re.split(r'[\W_]+', text.lower())


def main(site):
    with open(os.path.join(site, 'search_data.js'), encoding='utf-8') as file:
        data = json.loads(file.read().removeprefix('const SEARCH_DATA = ').rstrip(';\n'))
    indexed = [(entry['url'], set(words(entry['title'] + ' ' + entry['text']))) for entry in data]
    bad = 0
    for query, url in EXPECTED.items():
        found = [place for place, there in indexed if all(any(w.startswith(q) for w in there) for q in words(query))]
        if not any(place.startswith(url) for place in found):
            print(f'"{query}" does not find {url}, but {len(found)} other sections: {found[:5]}')
            bad += 1
    if not bad:
        print(f'{len(EXPECTED)} searches in {len(data)} sections find what they should')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
