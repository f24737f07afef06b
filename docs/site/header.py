"""The header as Doxygen reads it: gnnmg.h with all that its comments leave to its manual (names, parameters, threads, structs)
written out for each function, and an example of each.

    header.py [--check] <folder of the examples> <header>      prints it, as a filter of Doxygen; with --check only complaints

Fails if no example shows how a function is called, or if a parameter is described neither in its comment nor by its name.
"""

import os
import re
import sys

import examples

# Parameters that mean the same everywhere; section Parameters of the header.
PARAMETERS = {
    'config': 'settings, or NULL', 'settings': 'settings by name, or NULL', 'info': 'filled; `struct_size` set by the caller',
    'metrics': 'filled; `struct_size` set by the caller', 'node_type': 'index of the node type; 0 in graphs with one',
    'edge_type': 'index of the edge type; 0 in graphs with one', 'name': 'the name', 'key': 'the name',
    'dtype': 'type of the elements', 'num_dims': 'number of dimensions, at most 4', 'shape': 'sizes, rows first',
    'index': 'index, from 0', 'text': 'receives the text; may be NULL when `capacity` is 0',
    'capacity': 'bytes that may be written', 'needed': 'bytes of the whole text', 'function': 'the callback',
    'user_data': 'for the callback', 'release': 'called with `user_data` when it is no longer needed, or NULL',
    'timeout_ms': 'milliseconds; -1: until the configured deadlines', 'path': 'the file or folder', 'count': 'the number',
    'status': 'any number', 'value': 'the value', 'part': 'part of the split', 'rank': 'the rank', 'size': 'the number',
    'rate': 'the learning rate', 'activation': 'the function', 'transform': 'the operation', 'loss': 'the loss function',
    'device': 'the device', 'from': 'the source', 'to': 'the target', 'targets': 'target of each edge',
    'sources': 'source of each edge', 'edge_ids': 'id of each edge',
    'indptr': 'first entry of each row, [rows + 1]', 'indices': 'column of each entry', 'values': 'value of each entry',
    'num_columns': 'width of the dense form', 'record': 'the format',
    'operation': 'the operation', 'folder': 'the folder', 'sink': 'the sink of the callback',
    'source_type': 'node type of the sources', 'target_type': 'node type of the targets', 'target': 'the node',
    'task': 'meaning of the labels', 'num_classes': 'number of classes', 'position': 'index, from 0', 'step': 'step, from 0',
    'validation': 'ids, as `train`', 'test': 'ids, as `train`', 'number': 'any number', 'output': 'kind of the result',
    'epoch': 'epoch, from 0', 'epoch*': 'results of the epoch', 'layer': 'layer, from 0', 'layer*': 'the request',
}
RULES = {'(a)': 'At any time, on any thread', '(b)': 'Together with other calls that only read the object',
         '(c)': 'Alone on the object'}  # section Threads of the header
DECLARED = re.compile(r'^(?:GNNMG_API\s|typedef \w+ \(\*gnnmg_)', re.MULTILINE)
FUNCTION = re.compile(r'(/\*\*(?:(?!\*/).)*\*/)\n((?:GNNMG_API|typedef \w+ \(\*gnnmg_)[^;]*;)', re.DOTALL)


def lines_of(comment):
    body = re.sub(r'^/\*\*\s?|\s*\*/$', '', comment)
    return [re.sub(r'^ \* ?', '', line) for line in body.split('\n')]


def tags_of(comment):
    """(text before the first tag, [(tag, text)])"""
    text, tags = [], []
    for line in lines_of(comment):
        if line.startswith('@'):
            tags.append([*line.split(' ', 1)])
        elif tags:
            tags[-1][1] += '\n' + line
        else:
            text.append(line)
    return '\n'.join(text).strip(), [(tag, words.strip()) for tag, words in tags]


def parameters_of(declaration):
    """[(name, type)]"""
    inner = declaration[declaration.rindex('(') + 1:declaration.rindex(')')]
    if inner.strip() in ('', 'void'):
        return []
    found = []
    for parameter in inner.split(','):
        match = re.fullmatch(r'\s*(.*?)(\w+)\s*', ' '.join(parameter.split()))
        found.append((match[2], match[1].strip()))
    return found


def direction(kind):
    if '*' not in kind or re.fullmatch(r'const [^*]*\*( const\*)?|gnnmg_\w+\*|void\*', kind) and not kind.endswith('_info*'):
        return 'in'
    return 'in,out' if kind.endswith(('_info*', 'gnnmg_metrics*', 'gnnmg_model_config*')) else 'out'


def rule_of(name, parameters):
    """The rule of section Threads."""
    noun = name.split('_')[1]
    if noun in ('context', 'tensor', 'log', 'status', 'last', 'version', 'setting') or name.endswith(('_free', '_cancel', '_stop')):
        return '(a)'
    first = parameters[0][1]
    if first.startswith('const gnnmg_context'):
        return '(a)'
    return '(b)' if first.startswith('const ') else '(c)'


def calls(code, name):
    return re.search(r'(?<![A-Za-z0-9_])' + name + r'\(', re.sub(r'/\*.*?\*/', ' ', code, flags=re.DOTALL))


def marked_parts(folder):
    """[(file, mark, code)] of the examples that tests run, the shortest first."""
    with open(os.path.join(folder, 'CMakeLists.txt'), encoding='utf-8') as file:
        tested = re.findall(r'^ *gnnmg_add_example\((\w+)', file.read(), re.MULTILINE)
    found = []
    for name in tested:
        path = os.path.join(folder, name + '.c')
        if not os.path.exists(path):
            continue
        for mark in dict.fromkeys(re.findall(r'/\*! \[([^\]]+)\] \*/', examples.read(path))):
            code = examples.part('', path, mark)
            found.append((name + '.c', mark, code))
    return sorted(found, key=lambda part: (part[2].count('\n'), part[0], part[1]))


def complete(comment, declaration, parts, complaints):
    name = re.search(r'\b(gnnmg_\w+)\)?\(', declaration)[1]
    text, tags = tags_of(comment)
    parameters = parameters_of(declaration)
    told = {}
    for tag, words in tags:
        if tag == '@param':
            parameter, meaning = words.split(' ', 1)
            told[parameter] = meaning
    for unknown in told.keys() - {p for p, _ in parameters}:
        complaints.append(f'{name}: there is no parameter {unknown}')
    out = ['/**', ' * @brief ' + text.replace('\n', '\n * ')]
    for parameter, kind in parameters:
        meaning = told.get(parameter) or PARAMETERS.get(parameter + '*' * kind.count('*')) or PARAMETERS.get(parameter)
        noun = re.search(r'gnnmg_(\w+?)\*', kind)
        if not meaning and parameter.startswith('num_') and '*' not in kind:
            meaning = f'entries of `{parameter[4:]}`'
        if not meaning and kind == 'const char**':
            meaning = 'the text'
        if not meaning and noun:
            new = 'a new tensor' if noun[1] == 'tensor' else 'a new handle'
            meaning = new if kind.count('*') == 2 else f'a {noun[1]}, or NULL' if name.endswith('_free') else f'a {noun[1]}'
        if not meaning:
            complaints.append(f'{name}: nothing says what {parameter} is')
            continue
        out.append(f' * @param[{direction(kind)}] {parameter} ' + meaning.replace('\n', '\n * '))
    returned = next((words for tag, words in tags if tag == '@return'), '')
    if declaration.startswith('GNNMG_API GNNMG_MUST_USE') and '::GNNMG_OK' not in returned and \
            not re.match(r'as |errors as |with ', returned):
        returned = '::GNNMG_OK' + ('; ' + returned if returned else '')
    if returned:
        out.append(' * @return ' + returned.replace('\n', '\n * '))
    if declaration.startswith('GNNMG_API'):
        rule = next((words for tag, words in tags if tag == '@threading'), rule_of(name, parameters))
        out.append(f' * @par Threads\n * {RULES.get(rule, "Differs by object")}: @ref threads "rule {rule}".')
        part = next((part for part in parts if calls(part[2], name)), None)
        if part:
            out.append(f' * @par Example\n * @snippet {part[0]} {part[1]}')
        else:
            complaints.append(f'{name}: no marked lines of an example that a test runs call it')
    return '\n'.join(out + [' */']) + '\n' + declaration


def completed(header, folder):
    """The text of the header, and complaints."""
    complaints = []
    parts = marked_parts(folder)
    header = re.sub(r'^typedef int32_t (gnnmg_\w+);\n(?=enum \{)', r'typedef int32_t \1;\n\n/** Values of ::\1. */\n', header, flags=re.M)
    header = re.sub(r'^GNNMG_STATUS\s', 'GNNMG_API GNNMG_MUST_USE gnnmg_status ', header, flags=re.M)
    declared, described = len(DECLARED.findall(header)), len(FUNCTION.findall(header))
    if described != declared:
        complaints.append(f'{declared - described} of {declared} functions and callbacks have no comment directly above')
    text = FUNCTION.sub(lambda match: complete(match[1], match[2], parts, complaints), header)
    text = re.sub(r'(uint32_t struct_size;)(?!\s*/\*)', r'\1 /**< sizeof of this struct. */', text)
    text = re.sub(r'(int32_t padding\d?;)(?!\s*/\*)', r'\1 /**< 0. */', text)
    if '@{' not in text:  # a group ends where the next one begins
        text = re.sub(r'(/\* =+ \*/\n)?(/\*\* @defgroup (?:(?!\*/).)*\*/)', r'/** @} */\n\1\2\n/** @{ */', text, flags=re.DOTALL)
        text = text.replace('/** @} */\n', '', 1)
        text = re.sub(r'\n(?=#ifdef __cplusplus\n\})', '\n/** @} */\n', text)
    # The first paragraph of every other comment is its brief form.
    text = re.sub(r'/\*\* (?![@*]|Values of )', '/** @brief ', text)
    text = re.sub(r'\[([^\]]+)\]\((\w+)\.md\)', r'@ref \2 "\1"', text)  # links to pages of docs/
    return text, complaints


def main(arguments):
    folder, header = arguments[-2:]
    text, complaints = completed(examples.read(header), folder)
    if complaints:
        sys.exit('\n'.join(complaints))
    if arguments[0] != '--check':
        print(text, end='')
        return
    print(len(FUNCTION.findall(text)), 'functions and callbacks, each described and each function used in an example that a test runs')


if __name__ == '__main__':
    main(sys.argv[1:])
