"""Counts the hand-written files that a new setting of the trainer, or a new kind of layers, takes: adds one in a copy of the
tree, builds the few files that read it into a library beside the built one, runs the generators, and looks for it in all places
that users see.

    touched.py <source> <build> <new folder> option|layer
"""

import filecmp
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

SOURCE, BUILD, COPY = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
COPIED = ['src', 'include', 'bindings', 'docs', 'examples/c']
GENERATED = re.compile(r'bindings/(settings\.json|go/(\w+\.gen\.go|internal/raw/.*)|julia/src/lib/.*|'
                       r'rust/gnnmg-sys/src/bindings\.rs|rust/gnnmg/src/generated/.*)|docs/settings\.md')

OPTION = {
    'src/train/config.h': [
        ('struct TrainerConfig {\n', 'after', '  int64_t rest_steps = 7;\n')],
    'src/train/setting_list.h': [
        ('SETTING(num_epochs, ', 'before',
         'SETTING(rest_steps, rest_steps, kAll, kFrom0, always, "Steps between two rests.") \\\n  ')],
}
LAYER = {
    'include/gnnmg.h': [
        ('  GNNMG_ARCHITECTURE_EDGE = 11', 'before', '  GNNMG_ARCHITECTURE_LONE = 12, /**< Mean of the neighbors alone. */\n')],
    'src/nn/config/layer_list.h': [
        ('  KIND(kEdge, ', 'last', '  KIND(kLone, lone, LONE, "LoneConv", false, "mean of the neighbors alone.")\n')],
    'src/nn/config/layer_traits.cpp': [
        ('const LayerTraits kLayers{};\n', 'before', 'const LayerTraits kLone{};\n')],
}
LONE_CONV = '''// A linear map of the mean of the neighbors.
#include "nn/conv/make_conv.h"

namespace gnnmg::nn {
namespace {

class LoneConv final : public Conv {
 public:
  LoneConv(const ModelConfig& config, const ConvWidths& widths)
      : in_(widths.in), out_(widths.out), bias_(config.bias) {}
  void declare(ParameterList& list) override { list.linear("lin", out_, in_, bias_, map_); }
  int64_t output_width() const override { return out_; }
  int64_t transformed_width() const override { return out_; }
  bool transforms(bool, const sample::BlockView&) const override { return true; }
  at::Tensor transform(const ConvInput& in, int64_t count, const Execution& e) const override {
    return times(in, count, {map_.weight, {}}, e);
  }
  at::Tensor combine(const at::Tensor& rows, bool, int64_t, const ConvInput& own,
                     const ConvPass& pass) const override {
    return complete(aggregate(rows, pass.block, Reduce::kMean, pass.execution), own, pass,
                    map_.bias);
  }

 private:
  int64_t in_, out_;
  bool bias_;
  Linear map_;
};

}  // namespace

const MakeConv makers::kLone = [](const ModelConfig& config, const ConvWidths& widths,
                                  at::Tensor*) -> std::unique_ptr<Conv> {
  return std::make_unique<LoneConv>(config, widths);
};

}  // namespace gnnmg::nn
'''


def fail(text):
    sys.exit(f'touched.py: {text}')


def run(command, where=None, **environment):
    done = subprocess.run(command, cwd=where, env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        fail(f'{" ".join(map(str, command))[-300:]} failed:\n{done.stdout[-4000:]}')
    return done.stdout


def copy_tree():
    shutil.rmtree(COPY, ignore_errors=True)
    for folder in COPIED:
        shutil.copytree(SOURCE / folder, COPY / folder, symlinks=True,
                        ignore=shutil.ignore_patterns('target', '__pycache__', 'node_modules'))


def files(root):
    return {path.relative_to(root).as_posix() for folder in COPIED for path in (root / folder).rglob('*') if path.is_file()}


def changed():
    """Files of the copy that the source has otherwise, or has not."""
    return sorted(name for name in files(COPY) if '__pycache__' not in name and
                  not ((SOURCE / name).is_file() and filecmp.cmp(SOURCE / name, COPY / name, shallow=False)))


def patch(edits):
    for name, places in edits.items():
        path = COPY / name
        text = path.read_text()
        for mark, where, added in places:
            if text.count(mark) != 1:
                fail(f'{name}: expected {mark!r} once')
            if where == 'last':  # a list in a macro ends before an empty line or a comment
                begin = text.index(mark)
                end = begin + re.search(r'[^\\\n]\n', text[begin:]).end()
                text = f'{text[:end - 1]} \\\n{added}{text[end:]}'
            else:
                text = text.replace(mark, mark + added if where == 'after' else added + mark)
        path.write_text(text)


def compile_all(names):
    """The library with these files of the copy in place of its own."""
    def commands(target):
        text = run(['ninja', '-C', BUILD, '-t', 'commands', target]).splitlines()
        return next(line for line in reversed(text) if target in line)
    unit = 'src/capi/CMakeFiles/gnnmg_capi.dir/capi_1.cpp.o'
    if not (BUILD / unit).exists():  # not built in batches
        unit = 'src/capi/CMakeFiles/gnnmg_capi.dir/arguments.cpp.o'
    words = shlex.split(commands(unit))
    compiler = next(i for i, word in enumerate(words) if re.search(r'/(c\+\+|g\+\+|clang\+\+)[^/]*$', word))
    flags = words[compiler:compiler + 1]
    for word, following in zip(words[compiler + 1:], words[compiler + 2:]):  # skip flags that only cost time
        if word == '-isystem':
            flags += [word, following]
        elif re.match('-D|-I|-std=|-f(PIC|visib)', word):
            flags.append(word.replace(f'-I{SOURCE}/', f'-I{COPY}/'))
    objects = []
    for name in names:
        objects.append(COPY / (name.replace('/', '_') + '.o'))
        run([*flags, '-O0', '-c', COPY / name, '-o', objects[-1]])
    library = COPY / 'libgnnmg.so.0'
    link = commands(next(path.name for path in BUILD.glob('libgnnmg.so.*.*.*')))
    added = ' '.join(map(str, objects))
    link = re.sub(r' -o \S+', lambda _: f' -o {library} -Wl,--allow-multiple-definition {added}', link, count=1)
    run(['bash', '-c', link.split(' && :')[0]], BUILD)
    return library


def generate(library, of_go):
    """All generated files of the copy, as far as there are the tools."""
    settings = COPY / 'bindings/settings.json'
    settings.write_text(run([BUILD / 'bindings/describe_settings'], LD_PRELOAD=str(library)))
    run([sys.executable, '-B', COPY / 'docs/site/settings.py', COPY])
    run([sys.executable, '-B', COPY / 'bindings/julia/generate.py'])
    made = {'docs/settings.md', 'bindings/settings.json', 'bindings/julia/src/lib/comments.jl'}
    rust = pathlib.Path(os.environ.get('CARGO_TARGET_DIR', BUILD / 'bindings/rust')) / 'debug/gnnmg-generate'
    if rust.exists():  # the test of the crates builds it
        run([rust, COPY / 'bindings/rust'])
        made.add('bindings/rust/gnnmg/src/generated/settings.rs')
    go = shutil.which('go') or shutil.which('go', path='/usr/local/go/bin')
    if go:
        run([go, 'run', './internal/gen', COPY / 'include/gnnmg.h', settings], COPY / 'bindings/go')
        made.add(of_go)
    print('generated:', ', '.join(sorted(made)))
    return made


def contains(name, *words):
    text = (COPY / name).read_text()
    for word in words:
        if not re.search(word, text):
            fail(f'{name} does not have {word}')


def check(edited, limit, made):
    others = [name for name in changed() if name not in edited and not GENERATED.fullmatch(name)]
    others = [name for name in others if not name.endswith('.o')]
    if others:
        fail(f'the generators have changed {", ".join(others)}')
    missing = sorted(made - set(changed()))
    if missing:
        fail(f'generated files without the addition: {", ".join(missing)}')
    print(f'{len(edited)} files: {", ".join(edited)}')
    if len(edited) != limit:
        fail(f'expected {limit} files')


def add_option():
    patch(OPTION)
    edited = changed()
    library = compile_all(['src/capi/train_settings.cpp'])
    made = generate(library, 'bindings/go/settings.gen.go')
    contains('bindings/settings.json', r'"name": "rest_steps", "type": "integer", "default": "7", "values": "0 or more"')
    contains('docs/settings.md', r'\| `rest_steps` \| integer \| 0 or more \| `7` \| Steps between two rests\. \|')
    contains('bindings/julia/src/lib/comments.jl', r'"rest_steps = 7"')
    if 'bindings/rust/gnnmg/src/generated/settings.rs' in made:
        contains('bindings/rust/gnnmg/src/generated/settings.rs', r'rest_steps\(usize\) = "rest_steps"')
    if 'bindings/go/settings.gen.go' in made:
        contains('bindings/go/settings.gen.go', r'RestSteps +\S*int64')
    said = run([BUILD / 'examples/c/train', '--help=training'], LD_PRELOAD=str(library))
    if '--rest-steps  integer, 0 or more (7)\n      Steps between two rests.\n' not in said:
        fail('the help of train does not have --rest-steps')
    check(edited, 2, made)


def add_layer():
    patch(LAYER)
    (COPY / 'src/nn/conv/lone_conv.cpp').write_text(LONE_CONV)
    edited = changed()
    library = compile_all(['src/nn/config/choices.cpp', 'src/nn/config/option_check.cpp', 'src/nn/conv/make_conv.cpp',
                           'src/nn/conv/lone_conv.cpp', 'src/nn/config/layer_traits.cpp', 'src/capi/model_config.cpp'])
    made = generate(library, 'bindings/go/enums.gen.go')
    contains('bindings/settings.json', r'"values": "sage, [^"]*, edge, lone"')
    contains('docs/settings.md', r'lone: mean of the neighbors alone\.')
    contains('bindings/julia/src/lib/enums.jl', r':lone=>12')
    if 'bindings/rust/gnnmg/src/generated/settings.rs' in made:
        contains('bindings/rust/gnnmg/src/generated/enums.rs', r'Lone = GNNMG_ARCHITECTURE_LONE "lone"')
    if 'bindings/go/enums.gen.go' in made:
        contains('bindings/go/enums.gen.go', r'ArchitectureLone')
    train = BUILD / 'examples/c/train'
    if not re.search(r'sage, .*, lone \(sage\)', run([train, '--help=model'], LD_PRELOAD=str(library))):
        fail('the help of train does not have the layer')
    said = run([train, '--model', 'lone', '--epochs', '2', '--device', 'cpu', 'planted:2000'], LD_PRELOAD=str(library))
    if not re.search(r'model   lone, 2 layers(?s:.*)epoch +2/2 ', said):
        fail(f'train --model lone printed\n{said}')
    check(edited, 4, made)


copy_tree()
{'option': add_option, 'layer': add_layer}[sys.argv[4]]()
shutil.rmtree(COPY)
