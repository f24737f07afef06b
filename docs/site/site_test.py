#!/usr/bin/env python3
"""Tests of the scripts that make the site: the pages of pages.py, and links.py with planted mistakes."""

import json
import os
import re
import tempfile
import unittest

import examples
import header
import links
import markdown
import pages
import settings

PROGRAMS = {'examples/c/save.c': '/* A program. */\nint main(void) {\n  /*! [save] */\n  save();\n  /*! [save] */\n}\n',
            'examples/rust/save.rs': 'fn main() {\n    // [save]\n    save()?;\n    // [save]\n}\n',
            'examples/go/save/main.go': 'func main() {\n\t// [save]\n\tsave()\n\t// [save]\n}\n',
            'examples/julia/save.jl': '# [save]\nsave()\n# [save]\n'}
FILES = {**PROGRAMS, 'include/gnnmg.h': 'void gnnmg_graph_free(gnnmg_graph* graph);\n', 'src/README.md': '# The rooms\n',
         'bindings/README.md': '# Languages\n', 'docs/index.md': '# The library\n\n## Start\n',
         'docs/guide/parts.md': '# Parts\n\n## One part\n\nA [row](#one-part).\n'}


class Tree(unittest.TestCase):
    """A source tree in a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = folder.name
        for path, text in FILES.items():
            self.write(path, text)

    def write(self, path, text):
        full = os.path.join(self.source, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        pages.write(full, text)


class Pages(Tree):
    def page(self, text, path='docs/guide/page.md'):
        self.write(path, text)
        self.out = os.path.join(self.source, 'pages')
        pages.Site(self.source).make(self.out)
        return examples.read(os.path.join(self.out, pages.page_name(path) + '.md'))

    def sections(self):
        with open(os.path.join(self.out, 'sections.json'), encoding='utf-8') as file:
            return [section for section in json.load(file) if section['url'].startswith('page.html')]

    def test_links_lead_to_pages_headings_names_and_programs(self):
        text = self.page('# Page\n\n[a](parts.md), [b](parts.md#one-part), [c](../../include/gnnmg.h#gnnmg_graph_free), '
                         '[`d`](../../examples/c/save.c), [e](../../examples/go), [f](../../src), [g](https://a.b/c.md)\n')
        self.assertIn('[a](parts.html), [b](parts.html#parts_one-part), [c](@ref gnnmg_graph_free), '
                      '[`d`](example_save.html), [e](examples.html), f, [g](https://a.b/c.md)', text)

    def test_code_is_left_alone(self):
        text = self.page('# Page\n\n`[a](parts.md)`\n\n```\n[a](parts.md)\n# no heading\n```\n')
        self.assertEqual(text.count('[a](parts.md)'), 2)
        self.assertEqual([section['title'] for section in self.sections()], ['Page'])

    def test_headings_have_addresses_that_the_search_knows(self):
        self.page('# Page\n\nFirst.\n\n## Save, `load`\n\nA **row** of [parts](parts.md).\n')
        self.assertEqual([(s['title'], s['url'], s['text'].strip()) for s in self.sections()],
                         [('Page', 'page.html', 'First.'), ('Save, load', 'page.html#page_save-load', 'A row of parts.')])

    def test_a_link_to_marked_lines_shows_them_in_every_language(self):
        text = self.page('# Page\n\n[save.c: save](../../examples/c/save.c "save")\n')
        self.assertEqual([text.count(f'<section title="{name}">') for name in examples.LANGUAGES], [1, 1, 1, 1])
        self.assertIn('```{.c}\nsave();\n```', text)
        self.assertNotIn('[save]', text)

    def test_a_mark_that_a_language_lacks_is_named(self):
        self.write('examples/julia/save.jl', 'save()\n')
        with self.assertRaisesRegex(ValueError, r'examples/julia/save.jl has the mark \[save\] 0 times, expected 2'):
            self.page('# Page\n\n[save.c: save](../../examples/c/save.c "save")\n')

    def test_codes_below_names_of_languages_get_tabs(self):
        text = self.page('# Page\n\nRun it:\n\n**C**\n\n```sh\n./first\n```\n\n**Go**\n\n```sh\ngo run .\n```\n\nIt ends.\n')
        self.assertEqual(text.count('<div class="languages">'), 1)
        self.assertEqual([text.count(f'<section title="{name}">') for name in ('C', 'Go')], [1, 1])
        self.assertNotIn('**C**', text)
        self.assertLess(text.index('</div>'), text.index('It ends.'))

    def test_lines_that_rustdoc_hides_are_hidden(self):
        self.assertNotIn('hidden', self.page('# Page\n\n```rust,no_run\n# hidden();\nshown();\n```\n'))


class Links(Tree):
    def setUp(self):
        super().setUp()
        self.write('site/index.html', '<a href="a.html#x">a</a> <a href="https://b.c/d">b</a>')
        self.write('site/a.html', '<h2 id="x">A</h2> <a href="#x">x</a> <img src="a.svg"/>')
        self.write('site/a.svg', '')

    def complaints(self):
        walk = links.Walk()
        links.walk_site(os.path.join(self.source, 'site'), walk)
        for path in links.markdown_files(self.source):
            links.walk_markdown(self.source, path, walk)
        return walk.bad

    def test_all_is_well(self):
        self.assertEqual(self.complaints(), [])

    def test_mistakes_of_the_site(self):
        for mistake, complaint in {'<a href="gone.html">': 'b.html: there is no gone.html',
                                   '<a class="x" href="a.html#y">': 'b.html: a.html has no #y',
                                   '<a href="#z">': 'b.html: b.html has no #z',
                                   '<script src="gone.js">': 'b.html: there is no gone.js',
                                   '<code>@par\\ilinebr</code>': 'b.html: an alias of Doxygen is shown as text'}.items():
            self.write('site/b.html', mistake)
            self.assertEqual(self.complaints(), [complaint], mistake)

    def test_a_page_that_the_menu_lacks(self):
        listed = ['index', 'parts', 'languages', 'rooms']
        for names, complaints in ((listed, []), (listed[1:], ['docs/index.md: the menu in docs/site/layout.xml.in has no line for '
                                                              'this page'])):
            self.write('site/navtreedata.js', json.dumps([['', name + '.html'] for name in names]))
            walk = links.Walk()
            links.walk_menu(self.source, os.path.join(self.source, 'site'), walk)
            self.assertEqual(walk.bad, complaints)

    def test_mistakes_of_the_menu(self):
        self.write('site/menu.js', '["Gone", "gone.html#x"]')
        self.assertEqual(self.complaints(), ['menu.js: there is no gone.html'])

    def test_no_site(self):
        os.remove(os.path.join(self.source, 'site/index.html'))
        self.assertRegex(self.complaints()[0], 'holds no site')

    def test_mistakes_of_a_page(self):
        for mistake, complaint in {'[a](gone.md)': 'there is no gone.md',
                                   '[a](guide/parts.md#two-parts)': 'docs/guide/parts.md has no #two-parts',
                                   '[a](../include/gnnmg.h#gnnmg_gone)': 'include/gnnmg.h has no #gnnmg_gone',
                                   '[a\nb](gone)': 'there is no gone',
                                   '@snippet a.c b': '@snippet is for Doxygen; a forge shows it as it is',
                                   '[a](@ref b)': '@ref is for Doxygen; a forge shows it as it is'}.items():
            self.write('docs/page.md', f'# Page\n\n{mistake}\n')
            self.assertIn(f'docs/page.md: {complaint}', self.complaints(), mistake)

    def test_no_mistakes_of_a_page(self):
        for text in ('[a](guide/parts.md#one-part)', '[a](../include/gnnmg.h#gnnmg_graph_free)', '`@snippet a.c b`',
                     '```\n@snippet a.c b\n[a](gone.md)\n```', '`[a](gone.md)`', '[a](https://gone.md)'):
            self.write('docs/page.md', f'# Page\n\n{text}\n')
            self.assertEqual(self.complaints(), [], text)


class Header(Tree):
    HEADER = '/** Frees it. */\nGNNMG_API void gnnmg_graph_free(gnnmg_graph* graph);\n'

    def setUp(self):
        super().setUp()
        self.write('c/CMakeLists.txt', 'gnnmg_add_example(run EXPECT "all is well")\nadd_executable(idle idle.c)\n')
        self.example('gnnmg_graph_free(graph);')

    def example(self, code, name='run'):
        self.write(f'c/{name}.c', f'int main(void) {{\n  /*! [free] */\n  {code}\n  /*! [free] */\n}}\n')

    def completed(self, text=HEADER):
        return header.completed(text, os.path.join(self.source, 'c'))

    def test_what_the_manual_says_is_written_out(self):
        self.example('gnnmg_graph_free(graph); gnnmg_graph_read(graph, 0, &count);')
        text, complaints = self.completed(
            self.HEADER + '/** Opens it.\n * @param mode a number\n * @return ::GNNMG_END */\nGNNMG_API GNNMG_MUST_USE gnnmg_status '
            'gnnmg_graph_read(const gnnmg_graph* graph, int32_t mode,\n   int64_t* count);\ntypedef struct gnnmg_x {\n'
            '  uint32_t struct_size;\n} gnnmg_x;\n')
        self.assertEqual(complaints, [])
        for line in ('@brief Opens it.', '@param[in] graph a graph', '@param[in] mode a number', '@param[out] count the number',
                     '@return ::GNNMG_OK; ::GNNMG_END', '@par Threads\n * Together with other calls that only read the object: '
                     '@ref threads "rule (b)".', 'At any time, on any thread: @ref threads "rule (a)".',
                     '@par Example\n * @snippet run.c free',
                     'uint32_t struct_size; /**< sizeof of this struct. */'):
            self.assertIn(line, text)

    def test_a_group_ends_where_the_next_one_begins(self):
        rule = '/* ' + '=' * 9 + ' */\n'
        text = self.completed('int a;\n\n' + rule + '/** @defgroup a A\n * One. */\n' + self.HEADER + '\n' + rule +
                              '/** @defgroup b B\n * Two. */\nint b;\n\n#ifdef __cplusplus\n}\n#endif\n')[0]
        marks = [mark for mark in re.findall(r'defgroup \w|@[{}]|int \w', text)]
        self.assertEqual(marks, ['int a', 'defgroup a', '@{', '@}', 'defgroup b', '@{', 'int b', '@}'])

    def test_the_shortest_lines_that_call_it_are_shown(self):
        self.example('gnnmg_graph_free(graph);\n  gnnmg_other();')
        self.write('c/CMakeLists.txt', 'gnnmg_add_example(run EXPECT "a")\ngnnmg_add_example(brief EXPECT "b")\n')
        self.example('gnnmg_graph_free(graph);', 'brief')
        self.assertIn('@snippet brief.c free', self.completed()[0])

    def test_functions_without_an_example(self):
        for code in ('gnnmg_context_free(context);', 'my_gnnmg_graph_free(graph);', '/* gnnmg_graph_free(graph) would free it. */'):
            self.example(code)
            self.assertRegex(self.completed()[1][0], 'gnnmg_graph_free: no marked lines', code)

    def test_an_example_that_no_test_runs_does_not_count(self):
        self.example('nothing();')
        self.example('gnnmg_graph_free(graph);', 'idle')
        self.assertRegex(self.completed()[1][0], 'gnnmg_graph_free: no marked lines')

    def test_a_function_without_a_comment(self):
        for text in ('GNNMG_API void gnnmg_graph_free(gnnmg_graph* graph);\n',
                     '/** Frees it. */\n\nGNNMG_STATUS gnnmg_graph_free(gnnmg_graph* graph);\n'):
            self.assertEqual(self.completed(text)[1], ['1 of 1 functions and callbacks have no comment directly above'])

    def test_parameters(self):
        for comment, declared, complaint in (('Frees it.', 'int32_t mode', 'nothing says what mode is'),
                                             ('Frees it.\n * @param gone a number', 'gnnmg_graph* graph', 'there is no parameter gone')):
            text = f'/** {comment} */\nGNNMG_API void gnnmg_graph_free({declared});\n'
            self.assertEqual(self.completed(text)[1], ['gnnmg_graph_free: ' + complaint])


class Settings(Tree):
    def test_the_page_shows_all(self):
        rows = {subject: [] for subject in settings.SUBJECTS}
        rows['model'] = [{'name': 'heads', 'type': 'integer', 'values': '1 to 64', 'default': '1', 'help': 'A | B', 'field': True}]
        self.assertIn('| **`heads`** | integer | 1 to 64 | `1` | A \\| B |', settings.page(rows))
        with self.assertRaisesRegex(ValueError, 'no heading for the subject gone'):
            settings.page({**rows, 'gone': []})


class Menu(unittest.TestCase):
    def test_has_every_page(self):
        here = os.path.dirname(os.path.abspath(__file__))
        menu = examples.read(os.path.join(here, 'layout.xml.in'))
        names = pages.find_pages(os.path.dirname(os.path.dirname(here))).values()
        self.assertEqual([name for name in names if f'"@ref {name}"' not in menu and f'"{name}.html"' not in menu], [])


class Slugs(unittest.TestCase):
    def test_are_those_of_a_forge(self):
        for heading, slug in {'What was made': 'what-was-made', 'Save, `load`': 'save-load', 'R-MAT & 2': 'r-mat--2',
                              'A [link](b.md) here': 'a-link-here', 'snake_case': 'snake_case'}.items():
            self.assertEqual(markdown.slug(heading), slug)


if __name__ == '__main__':
    unittest.main()
