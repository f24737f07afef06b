package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A setting is one of settings.json, as gnnmg_setting_get_info() tells it.
type setting struct {
	Name, Type, Default, Values, Help string
}

// Subjects with settings by name: a struct of the package for each, with its comment.
var subjects = []struct{ name, doc string }{
	{"dataset", "holds settings of [OpenDataset]."},
	{"split", "holds settings of [Dataset.AddRandomSplit]."},
	{"folds", "holds settings of [Dataset.AddFolds]."},
	{"parts", "holds settings of [Dataset.SaveParts]."},
	{"served", "holds settings of [OpenServed]."},
	{"sampler", "holds settings of a sampler."},
	{"loader", "holds settings of a loader."},
	{"model", "holds settings of a model. A setting that names architectures, a norm or a readout applies only to " +
		"these; for others it must not be set."},
	{"norm", "holds settings of [Model.AddNorm]."},
	{"model_file", "holds settings of files of weights, and of optimizers for PyTorch."},
	{"optimizer", "holds settings of an optimizer."},
	{"trainer", "holds settings of a trainer."},
	{"predictor", "holds settings of a predictor."},
	{"planted", "holds settings of a generator: an undirected graph of nodes in classes, with node tensors \"x\" of " +
		"float32 (a class center plus noise) and \"y\" of int64."},
	{"log_normal", "holds settings of a generator: a graph with log-normal in-degrees and communities, with node " +
		"tensors \"x\" of float32 and \"y\" of int64."},
	{"rmat", "holds settings of a generator: an R-MAT graph (Chakrabarti, Zhan, Faloutsos 2004), without tensors."},
	{"erdos_renyi", "holds settings of a generator: a graph whose edges are drawn uniformly, self-loops and duplicates " +
		"included, without tensors."},
}

// Subjects whose settings a struct of the header, or a function with a key and a value, sets.
var otherSubjects = []string{"context"}

// Names of the types of choices that are not the names of their settings.
var choiceTypes = map[string]string{"optimizer": "optimizer_kind", "device": "device_type", "method": "parts_method",
	"reading": "parts_reading", "held_out": "part", "best_by": "metric", "affine": "norm_affine",
	"model_file.format": "model_format", "reductions": "pna_reduction", "scalers": "pna_scaler"}

// A choice is a type whose values are words.
type choice struct {
	name, help string
	words      []string
}

// settingsPage is configs.gen.go while it is written.
type settingsPage struct {
	h       *header
	choices map[string]choice // types that the header has no enumeration for
	enums   map[string]bool   // enumerations of the header that settings have
	types   strings.Builder
}

// readSettings reads settings.json.
func readSettings(text []byte) (all map[string][]setting, err error) {
	if err = json.Unmarshal(text, &all); err != nil {
		err = fmt.Errorf("settings: %w", err)
	}
	return all, err
}

func emitSettings(h *header, all map[string][]setting) (*settingsPage, error) {
	page := &settingsPage{h: h, choices: map[string]choice{}, enums: map[string]bool{}}
	for _, subject := range subjects {
		if len(all[subject.name]) == 0 {
			return nil, fmt.Errorf("settings: there is nothing of %s", subject.name)
		}
		if err := page.emitSubject(subject.name, subject.doc, all[subject.name]); err != nil {
			return nil, err
		}
	}
	if n := len(subjects) + len(otherSubjects); len(all) != n {
		return nil, fmt.Errorf("settings: there are %d subjects, expected %d", len(all), n)
	}
	return page, nil
}

func (p *settingsPage) emitSubject(subject, doc string, settings []setting) error {
	name := goName(subject) + "Config"
	var fields, defaults strings.Builder
	for _, s := range settings {
		field, goType, value := goName(s.Name), "", ""
		zero := []string{"", "0", "false", `""`, "0*time.Millisecond"} // values that need no line
		var err error
		switch s.Type {
		case "flag":
			goType = "bool"
			if value = "false"; s.Default == "1" {
				value = "true"
			}
		case "integer":
			if strings.HasSuffix(s.Name, "_ms") {
				field, goType = strings.TrimSuffix(field, "Ms"), "time.Duration"
				value = s.Default + "*time.Millisecond"
			} else {
				goType, value = p.integerType(subject, s), s.Default
			}
		case "number":
			goType, value = "float64", s.Default
		case "text":
			goType, value = "string", strconv.Quote(s.Default)
		case "integers":
			goType = "[]int64"
		case "choice", "choices":
			var first string
			if goType, value, first, err = p.choice(subject, s); err != nil {
				return err
			}
			zero = append(zero, first)
			if s.Type == "choices" {
				goType = "[]" + goType
			}
		default:
			return fmt.Errorf("settings: %s.%s has the type %q", subject, s.Name, s.Type)
		}
		if s.Type == "integers" {
			value = s.Default
		}
		if strings.HasPrefix(goType, "[]") && s.Default != "" {
			value = goType + "{" + value + "}"
		}
		if !slices.Contains(zero, value) {
			fmt.Fprintf(&defaults, "%s: %s,\n", field, value)
		}
		tag := s.Name
		if goType == "uint64" {
			tag += ",string" // other readers of JSON would lose digits
		}
		fmt.Fprintf(&fields, "%s\t%s %s `json:\"%s\"`\n", comment(settingDoc(s, goType, value), "\t"), field, goType, tag)
	}
	fmt.Fprintf(&p.types, "%stype %s struct {\n%s}\n\n", comment(name+" "+doc, ""), name, fields.String())
	fmt.Fprintf(&p.types, "func (*%s) subject() string { return %q }\n\n", name, subject)
	fmt.Fprintf(&p.types, "func (c *%s) setDefaults() {\n*c = %s{\n%s}\n}\n\n", name, name, defaults.String())
	return nil
}

var mostPattern = regexp.MustCompile(`to (\d+)$`)

// integerType is that of the field which the header's struct has, else by the range.
func (p *settingsPage) integerType(subject string, s setting) string {
	for _, structure := range p.h.structs {
		for _, f := range structure.fields {
			if structure.name == subject+"_config" && f.name == s.Name {
				return goIntegers[f.ctype]
			}
		}
	}
	if s.Name == "seed" {
		return "uint64"
	}
	if m := mostPattern.FindStringSubmatch(s.Values); m != nil && !strings.HasSuffix(s.Name, "_dim") {
		if most, err := strconv.ParseInt(m[1], 10, 32); err == nil && most < math.MaxInt32 {
			return "int"
		}
	}
	return "int64"
}

// choice returns the type of a choice, the constant of its default (of a list those of its entries), and
// that of the zero value if there is one.
func (p *settingsPage) choice(subject string, s setting) (goType, value, zero string, err error) {
	name := s.Name
	for _, key := range []string{s.Name, subject + "." + s.Name} {
		if renamed, ok := choiceTypes[key]; ok {
			name = renamed
		}
	}
	words := strings.Split(s.Values, ", ")
	if s.Type == "choice" && !slices.Contains(words, s.Default) {
		return "", "", "", fmt.Errorf("settings: %s.%s is %q by default, which is none of %q", subject, s.Name, s.Default, words)
	}
	constants := map[string]string{}
	at := slices.IndexFunc(p.h.enums, func(e enum) bool { return e.name == name })
	if at >= 0 {
		e := p.h.enums[at]
		p.enums[name] = true
		for _, v := range e.values {
			constants[e.word(v)] = goName(v.name)
			if v.number == "0" {
				zero = goName(v.name)
			}
		}
	} else {
		for _, word := range words {
			constants[word] = goName(name + "_" + word)
		}
		if before, ok := p.choices[name]; ok && !slices.Equal(before.words, words) {
			return "", "", "", fmt.Errorf("settings: %s.%s has other words than %s elsewhere", subject, s.Name, name)
		} else if !ok {
			p.choices[name] = choice{name, s.Help, words}
		}
	}
	for _, word := range words {
		if constants[word] == "" {
			return "", "", "", fmt.Errorf("settings: %s.%s has the word %q, for which gnnmg_%s has no value", subject, s.Name, word, name)
		}
	}
	var defaults []string
	for _, word := range strings.Split(s.Default, ",") {
		defaults = append(defaults, constants[word])
	}
	return goName(name), strings.Join(defaults, ", "), zero, nil
}

// meanings takes the lines "word: meaning" out of the help of a choice.
func meanings(help string, words []string) (rest string, of map[string]string) {
	of = map[string]string{}
	var lines []string
	for _, line := range strings.Split(help, "\n") {
		if word, meaning, ok := strings.Cut(line, ": "); ok && slices.Contains(words, word) {
			of[word] = strings.ToUpper(meaning[:1]) + meaning[1:]
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " "), of
}

// settingDoc is the library's help, with range and default in Go's words.
func settingDoc(s setting, goType, value string) string {
	doc, _ := meanings(s.Help, strings.Split(s.Values, ", "))
	if doc != "" && !strings.HasSuffix(doc, ".") {
		doc += "."
	}
	numbers := s.Type == "integer" || s.Type == "number"
	if numbers && s.Values != "" && !strings.Contains(doc, s.Values) {
		doc += " " + strings.ToUpper(s.Values[:1]) + s.Values[1:] + "."
	}
	if s.Type == "flag" {
		doc = flagDoc(doc)
	}
	doc = goDoc(doc)
	switch {
	case goType == "time.Duration":
		doc = inTime(doc + " Default: " + s.Default + ".")
	case s.Type == "choice":
		doc += " Default: [" + value + "]."
	case strings.HasPrefix(goType, "[]") && s.Default != "":
		doc += " Default: " + strings.ReplaceAll(strings.TrimPrefix(value, goType), ",", ", ") + "."
	case numbers || s.Type == "flag":
		doc += " Default: " + value + "."
	}
	return strings.TrimSpace(doc)
}

// text is the file: the structs, then the choices.
func (p *settingsPage) text() string {
	var b strings.Builder
	b.WriteString(notice + "package gnnmg\n\nimport \"time\"\n\n" + p.types.String())
	for _, name := range slices.Sorted(maps.Keys(p.choices)) {
		c := p.choices[name]
		doc, of := meanings(c.help, c.words)
		fmt.Fprintf(&b, "%stype %s string\n\n// Values of [%s].\nconst (\n", comment(goName(name)+": "+goDoc(doc), ""),
			goName(name), goName(name))
		for _, word := range c.words {
			fmt.Fprintf(&b, "%s\t%s %s = %q\n", comment(goDoc(of[word]), "\t"), goName(name+"_"+word), goName(name), word)
		}
		b.WriteString(")\n\n")
	}
	return b.String()
}

// word is that of a value in texts of settings.
func (e enum) word(v enumValue) string {
	prefix := e.values[0].name
	for _, other := range e.values {
		for !strings.HasPrefix(other.name, prefix) {
			prefix = prefix[:strings.LastIndex(strings.TrimSuffix(prefix, "_"), "_")+1]
		}
	}
	if len(e.values) == 1 {
		prefix = strings.ToUpper(e.name) + "_"
	}
	return strings.ToLower(strings.TrimPrefix(v.name, prefix))
}
