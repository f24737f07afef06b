package gnnmg_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// Every exported name has a comment, and every example belongs to an existing name.
func TestEverythingIsDocumented(t *testing.T) {
	entries, err := os.ReadDir(".")
	ok(t, err)
	var files []*ast.File
	set := token.NewFileSet()
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".go") {
			file, err := parser.ParseFile(set, entry.Name(), nil, parser.ParseComments)
			ok(t, err)
			files = append(files, file)
		}
	}
	pages, err := doc.NewFromFiles(set, files, "gnnmg")
	ok(t, err)
	named := 0
	check := func(name, text string) {
		if named++; strings.TrimSpace(text) == "" {
			t.Errorf("%s has no comment", name)
		}
	}
	examples := len(pages.Examples)
	functions := func(of string, all []*doc.Func) {
		for _, f := range all {
			check(of+f.Name, f.Doc)
			examples += len(f.Examples)
		}
	}
	check("the package", pages.Doc)
	functions("", pages.Funcs)
	for _, object := range pages.Types {
		check(object.Name, object.Doc)
		functions("", object.Funcs)
		functions(object.Name+".", object.Methods)
		examples += len(object.Examples)
	}
	written := 0
	for _, e := range doc.Examples(files...) {
		if written++; e.Output == "" {
			t.Errorf("the output of Example%s is not checked", e.Name)
		}
	}
	equal(t, examples, written)
	t.Logf("%d names, %d examples", named, examples)
}
