"""Writes docs/settings.md: all settings, from bindings/settings.json, the list of gnnmg_setting_get_info().

    settings.py [--check] <source>      --check writes nothing, and fails if the page would change
"""

import json
import os
import re
import sys

SUBJECTS = {
    'context': 'Options of a context: gnnmg_context_set_option()', 'dataset': 'Data sets: gnnmg_dataset_open()',
    'split': 'Random splits: gnnmg_dataset_add_random_split()', 'folds': 'Folds: gnnmg_dataset_add_folds()',
    'planted': 'Generator "planted": gnnmg_graph_generate()', 'log_normal': 'Generator "log_normal"',
    'rmat': 'Generator "rmat"', 'erdos_renyi': 'Generator "erdos_renyi"', 'sampler': 'Samplers: gnnmg_sampler_create()',
    'loader': 'Loaders: gnnmg_loader_create()', 'model': 'Models: gnnmg_model_create(), gnnmg_model_add_conv()',
    'norm': 'Norms: gnnmg_model_add_norm()', 'model_file': 'Files of weights: gnnmg_model_save(), gnnmg_model_load()',
    'optimizer': 'Optimizers: gnnmg_optimizer_create()', 'trainer': 'Trainers: gnnmg_trainer_create()',
    'predictor': 'Predictors: gnnmg_predictor_create()',
    'parts': 'Parts: gnnmg_dataset_save_parts()', 'served': 'Graph servers: gnnmg_dataset_open_served()',
}
HEAD = '''# Settings

All settings by name. A text of settings has words `name=value` with blanks between them; how values are written is in the
section Settings of [the header](../include/gnnmg.h). Settings in **bold** are fields of a config too. This page is made from
the library's own list (gnnmg_setting_get_info()) by `docs/site/settings.py`.
'''


def cell(text):
    return re.sub(r'\s+', ' ', text).replace('|', '\\|').strip()


def page(settings):
    out = [HEAD]
    for subject in settings.keys() - SUBJECTS.keys():
        raise ValueError(f'settings.py has no heading for the subject {subject}')
    for subject, heading in SUBJECTS.items():
        out.append(f'\n## {heading}\n')
        out.append('| Setting | Type | Values | Default | |\n|---|---|---|---|---|')
        for setting in settings[subject]:
            name = f'**`{setting["name"]}`**' if setting['field'] else f'`{setting["name"]}`'
            default = f'`{setting["default"]}`' if setting['default'] else ''
            out.append(f'| {name} | {setting["type"]} | {cell(setting["values"])} | {default} | {cell(setting["help"])} |')
    return '\n'.join(out) + '\n'


def main(arguments):
    check = arguments[0] == '--check'
    source = arguments[-1]
    with open(os.path.join(source, 'bindings', 'settings.json'), encoding='utf-8') as file:
        text = page(json.load(file))
    path = os.path.join(source, 'docs', 'settings.md')
    if not check:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return
    with open(path, encoding='utf-8') as file:
        if file.read() != text:
            sys.exit('docs/settings.md is not what bindings/settings.json gives: run docs/site/settings.py .')


if __name__ == '__main__':
    main(sys.argv[1:])
