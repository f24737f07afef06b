package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Structs that the package has its own types for.
var notPublic = map[string]bool{"error_info": true, "tensor_info": true, "log_info": true,
	"loss_batch": true, "setting_info": true}

// emitEnums writes the enumerations of the package: a type each, its constants, its String, and, where
// settings have them, their words.
func emitEnums(h *header, words map[string]bool) string {
	var b strings.Builder
	b.WriteString(notice + "package gnnmg\n\nimport \"strconv\"\n\n")
	for _, e := range h.enums {
		name := goName(e.name)
		b.WriteString(comment(name+": "+goDoc(e.doc), ""))
		fmt.Fprintf(&b, "type %s int32\n\n", name)
		fmt.Fprintf(&b, "// Values of [%s].\nconst (\n", name)
		for _, v := range e.values {
			if e.name == "status" && !strings.HasPrefix(v.name, "ERR_") {
				continue // not errors, so they do not come out of the package
			}
			b.WriteString(comment(goDoc(v.doc), "\t"))
			fmt.Fprintf(&b, "\t%s %s = %s\n", goName(v.name), name, v.number)
		}
		b.WriteString(")\n\n")
		if e.name == "status" {
			b.WriteString("// statusNames is for when there is no library to ask.\nvar statusNames = map[Status]string{\n")
			for _, v := range e.values {
				if strings.HasPrefix(v.name, "ERR_") {
					fmt.Fprintf(&b, "\t%s: %q,\n", goName(v.name), v.name)
				}
			}
			b.WriteString("}\n\n")
			continue
		}
		fmt.Fprintf(&b, "// String is the name of the value, or its number where this version has no name for it.\n"+
			"func (v %s) String() string {\n\tswitch v {\n", name)
		for _, v := range e.values {
			fmt.Fprintf(&b, "\tcase %s:\n\t\treturn %q\n", goName(v.name), goName(v.name))
		}
		fmt.Fprintf(&b, "\t}\n\treturn \"%s(\" + strconv.Itoa(int(v)) + \")\"\n}\n\n", name)
		if words[e.name] {
			list := make([]string, len(e.values))
			for i, v := range e.values {
				list[i] = strconv.Quote(e.word(v))
			}
			fmt.Fprintf(&b, "var words%s = [...]string{%s}\n\n"+
				"// MarshalText returns the word of the value in texts of settings.\n"+
				"func (v %s) MarshalText() ([]byte, error) { return wordOf(words%s[:], int(v)), nil }\n\n"+
				"// UnmarshalText sets the value of a word.\n"+
				"func (v *%s) UnmarshalText(text []byte) error { return setWord(words%s[:], (*int32)(v), text) }\n\n",
				name, strings.Join(list, ", "), name, name, name, name)
		}
	}
	return b.String()
}

// A member is a field in Go, and how its value gets there and back.
type member struct{ goField, goType, doc, from, to string }

// isMember tells the structs that are fields of others.
func (h *header) isMember(name string) bool {
	for _, s := range h.structs {
		for _, f := range s.fields {
			if strings.TrimSuffix(strings.TrimPrefix(f.ctype, "const "), "*") == "gnnmg_"+name {
				return true
			}
		}
	}
	return false
}

func (h *header) isEnum(ctype string) bool {
	for _, e := range h.enums {
		if ctype == "gnnmg_"+e.name {
			return true
		}
	}
	return false
}

// publicField is how a field looks in Go.
func publicField(h *header, s structure, f field) (member, error) {
	name, doc := goName(f.name), fieldDoc(f)
	noun := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(f.ctype, "const "), "gnnmg_"), "*")
	get, put := "r."+name, "r."+name+" = %s(c."+name+")\n"
	plain := func(goType, convert string) member {
		return member{name, goType, doc, goType + "(" + get + ")", fmt.Sprintf(put, convert)}
	}
	switch {
	case isHidden(f.name):
		return member{}, nil
	case f.ctype == "char" && f.length != "":
		return member{name, "string", doc, "textOf(" + get + "[:])", ""}, nil
	case f.length != "":
		return member{}, fmt.Errorf("gnnmg_%s.%s is an array: no Go type for it", s.name, f.name)
	case isFlag(f):
		return member{name, "bool", doc, get + " != 0", "r." + name + " = flag(c." + name + ")\n"}, nil
	case strings.HasSuffix(f.name, "_ms"):
		short := strings.TrimSuffix(name, "Ms")
		return member{short, "time.Duration", inTime(doc), "fromMilliseconds(" + get + ")",
			"r." + name + " = milliseconds(c." + short + ")\n"}, nil
	case h.isEnum(f.ctype):
		return plain(goName(strings.TrimPrefix(f.ctype, "gnnmg_")), "int32"), nil
	case h.hasStruct(noun):
		inner := goName(noun)
		if !strings.HasSuffix(f.ctype, "*") {
			return member{name, inner, doc, "read" + inner + "(&" + get + ")", ""}, nil
		}
		return member{name, "*" + inner, doc, "optional((*raw." + inner + ")(" + get + "), read" + inner + ")", ""}, nil
	}
	convert := "narrow"
	goType := goIntegers[f.ctype]
	if goType != "int" {
		convert = goType
	}
	if f.ctype == "double" {
		goType, convert = "float64", "float64"
	}
	if goType == "" {
		return member{}, fmt.Errorf("gnnmg_%s.%s: no Go type for %s", s.name, f.name, f.ctype)
	}
	return plain(goType, convert), nil
}

var goIntegers = map[string]string{"int32_t": "int", "int64_t": "int64", "uint64_t": "uint64", "size_t": "uint64"}

var timePattern = regexp.MustCompile(`Default:? ([\d ]*\d)\.`)

// inTime writes the default of a time, in milliseconds, as Go writes it: "30s" for "30 000".
func inTime(doc string) string {
	doc = strings.Replace(doc, ", milliseconds", "", 1)
	return timePattern.ReplaceAllStringFunc(doc, func(m string) string {
		number := strings.ReplaceAll(timePattern.FindStringSubmatch(m)[1], " ", "")
		n, _ := strconv.ParseInt(number, 10, 64)
		text := (time.Duration(n) * time.Millisecond).String()
		return "Default " + regexp.MustCompile(`([hm])0[ms].*$`).ReplaceAllString(text, "$1") + "." // "10m0s" is no word of a person's
	})
}

// structDoc begins as Go's comments do, with the name.
func structDoc(name, doc string) string {
	doc = strings.Replace(doc, ": `{sizeof config}` is complete", "", 1) // remove C's notation
	for _, start := range []string{"Settings of ", "Facts about "} {
		if rest, ok := strings.CutPrefix(doc, start); ok {
			return name + " holds " + strings.ToLower(start[:1]) + start[1:] + goDoc(rest)
		}
	}
	return name + ": " + goDoc(doc)
}

// Go names of the configs that have no settings by name: the package makes their structs.
var structConfigs = map[string]string{"context_config": "RuntimeConfig", "comm_config": "CommConfig",
	"served_config": "OpenPartsConfig", "checkpoint_config": "CheckpointConfig", "server_config": "ServerConfig"}

// emitStructs writes the facts of the package, and those of its settings that only structs have.
func emitStructs(h *header) (string, error) {
	var b strings.Builder
	for _, s := range h.structs {
		rawName := goName(s.name)
		name, isConfig := rawName, strings.HasSuffix(s.name, "_config")
		if isConfig {
			name = structConfigs[s.name]
		}
		name = strings.Replace(name, "Context", "Runtime", 1) // "context" is taken in Go
		if notPublic[s.name] || name == "" {
			continue
		}
		var fields, from, to strings.Builder
		for _, f := range s.fields {
			p, err := publicField(h, s, f)
			if err != nil {
				return "", err
			}
			if p.goField == "" {
				continue
			}
			fields.WriteString(comment(p.doc, "\t") + "\t" + p.goField + " " + p.goType + "\n")
			fmt.Fprintf(&from, "\tc.%s = %s\n", p.goField, p.from)
			to.WriteString("\t" + p.to)
		}
		b.WriteString(comment(structDoc(name, s.doc), ""))
		fmt.Fprintf(&b, "type %s struct {\n%s}\n\n", name, fields.String())
		if isConfig {
			fmt.Fprintf(&b, "func (c *%s) to(r *raw.%s) {\n%s}\n\n", name, rawName, to.String())
		} else {
			fmt.Fprintf(&b, "func (c *%s) from(r *raw.%s) {\n%s}\n\n", name, rawName, from.String())
		}
		if h.isMember(s.name) {
			fmt.Fprintf(&b, "func read%s(r *raw.%s) (c %s) {\n\tc.from(r)\n\treturn c\n}\n\n", name, rawName, name)
		}
	}
	return notice + "package gnnmg\n\nimport (\n\"time\"\n\n\"gnnmg/internal/raw\"\n)\n\n" + b.String(), nil
}
