package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A header has the declarations of gnnmg.h for the generator.
type header struct {
	handles   map[string]bool // "graph" for gnnmg_graph
	enums     []enum
	structs   []structure
	functions []function
}

type enum struct {
	name, doc string // name "task" for gnnmg_task
	values    []enumValue
}

type enumValue struct {
	name, number, doc string // name "TASK_NONE", without GNNMG_
}

type structure struct {
	name, doc string // name "sampler_config"
	fields    []field
}

type field struct {
	ctype, name, doc string
	length           string // array length, or ""
}

type function struct {
	name, result, brief string // name "graph_num_nodes"
	params              []param
}

type param struct{ ctype, name string }

var (
	handlePattern   = regexp.MustCompile(`(?m)^typedef struct gnnmg_(\w+) gnnmg_\w+;`)
	aliasPattern    = regexp.MustCompile(`(?s)/\*\*((?:[^*]|\*[^/])*)\*/\s*typedef int32_t gnnmg_(\w+);`)
	enumPattern     = regexp.MustCompile(`(?s)/\*\* Values of ::gnnmg_(\w+)((?:[^*]|\*[^/])*)\*/\s*enum \{(.*?)\};`)
	valuePattern    = regexp.MustCompile(`(?s)GNNMG_(\w+)\s*=\s*(-?\d+),?\s*/\*\*<(.*?)\*/`)
	structPattern   = regexp.MustCompile(`(?s)/\*\*((?:[^*]|\*[^/])*)\*/\s*typedef struct gnnmg_(\w+) \{(.*?)\n\} gnnmg_\w+;`)
	fieldPattern    = regexp.MustCompile(`(?s)([\w ]+?\*?)\s+(\w+)(?:\[(\d+)\])?;(?:\s*/\*\*<(.*?)\*/)?`)
	enumStart       = regexp.MustCompile(`(?m)^typedef int32_t gnnmg_(\w+);\nenum \{`)
	functionPattern = regexp.MustCompile(`(?s)/\*\*((?:[^*]|\*[^/])*)\*/\s*GNNMG_API (?:GNNMG_MUST_USE )?([\w ]+?\*?)\s+gnnmg_(\w+)\(([^;]*)\);`)
	commentPattern  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	spacePattern    = regexp.MustCompile(`\s+`)
)

// oneLine joins the lines of a comment.
func oneLine(comment string) string {
	lines := strings.Split(comment, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(line), "* ")
	}
	return strings.Trim(spacePattern.ReplaceAllString(strings.Join(lines, " "), " "), " *")
}

// parse reads the header. Whatever it does not understand is an error, so that nothing new in the
// header goes past the bindings in silence.
func parse(text string) (*header, error) {
	text = enumStart.ReplaceAllString(text, "typedef int32_t gnnmg_$1;\n/** Values of ::gnnmg_$1. */\nenum {")
	text = strings.ReplaceAll(text, "\nGNNMG_STATUS ", "\nGNNMG_API GNNMG_MUST_USE gnnmg_status ")
	h := &header{handles: map[string]bool{}}
	for _, m := range handlePattern.FindAllStringSubmatch(text, -1) {
		h.handles[m[1]] = true
	}
	docs := map[string]string{}
	for _, m := range aliasPattern.FindAllStringSubmatch(text, -1) {
		docs[m[2]] = oneLine(m[1])
	}
	for _, m := range enumPattern.FindAllStringSubmatch(text, -1) {
		e := enum{name: m[1], doc: docs[m[1]]}
		for _, v := range valuePattern.FindAllStringSubmatch(m[3], -1) {
			e.values = append(e.values, enumValue{v[1], v[2], oneLine(v[3])})
		}
		if len(e.values) != strings.Count(withoutComments(m[3]), "=") {
			return nil, fmt.Errorf("enum of gnnmg_%s: not every value was understood", e.name)
		}
		h.enums = append(h.enums, e)
	}
	if len(h.enums) != len(docs) {
		return nil, fmt.Errorf("%d enumerations have values, %d are declared", len(h.enums), len(docs))
	}
	for _, m := range structPattern.FindAllStringSubmatch(text, -1) {
		s := structure{name: m[2], doc: oneLine(m[1])}
		for _, f := range fieldPattern.FindAllStringSubmatch(m[3], -1) {
			s.fields = append(s.fields, field{strings.TrimSpace(f[1]), f[2], oneLine(f[4]), f[3]})
			if f[4] == "" && !isHidden(f[2]) {
				return nil, fmt.Errorf("gnnmg_%s.%s has no comment", s.name, f[2])
			}
		}
		if len(s.fields) != strings.Count(withoutComments(m[3]), ";") {
			return nil, fmt.Errorf("gnnmg_%s: not every field was understood", s.name)
		}
		h.structs = append(h.structs, s)
	}
	for _, m := range functionPattern.FindAllStringSubmatch(text, -1) {
		h.functions = append(h.functions, parseFunction(m))
	}
	if n := strings.Count(text, "\nGNNMG_API "); n != len(h.functions) {
		return nil, fmt.Errorf("%d functions are declared, %d were understood", n, len(h.functions))
	}
	return h, nil
}

// isHidden tells the fields that are no facts or settings.
func isHidden(name string) bool { return name == "struct_size" || strings.HasPrefix(name, "padding") }

func withoutComments(text string) string { return commentPattern.ReplaceAllString(text, "") }

func parseFunction(match []string) function {
	brief, _, _ := strings.Cut(match[1], "\n *\n")
	brief, _, _ = strings.Cut(oneLine(brief), " @")
	f := function{name: match[3], result: match[2], brief: brief}
	if strings.TrimSpace(match[4]) == "void" {
		return f
	}
	for _, text := range strings.Split(spacePattern.ReplaceAllString(match[4], " "), ",") {
		text = strings.TrimSpace(text)
		cut := strings.LastIndexAny(text, " *") + 1
		f.params = append(f.params, param{strings.TrimSpace(text[:cut]), text[cut:]})
	}
	return f
}
