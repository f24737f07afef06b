package main

import (
	"fmt"
	"go/token"
	"strings"
)

// Functions with callbacks, or without a status: calls.go of the raw package has them.
var byHand = map[string]bool{
	"version": true, "status_name": true, "last_error": true, "last_error_info": true,
	"tensor_create": true, "sampler_create_custom": true, "trainer_start": true, "trainer_run": true,
	"trainer_set_loss": true,
}

var goScalars = map[string]string{"int32_t": "int32", "int64_t": "int64", "uint64_t": "uint64",
	"size_t": "uint64", "double": "float64", "float": "float32", "gnnmg_status": "int32"}

// An argument is a parameter on its way from Go to C. One that comes out by value has no `goType`
// among the parameters of the Go function but `goOut` among its results.
type argument struct {
	name, goName  string
	cType, goType string // types of the C shim's and the Go function's parameter
	pass          string // Go: argument of the call
	use           string // C: argument that the shim passes on
	cOut, goOut   string // types of the result
	take          string // Go: the result from r.NAME
	local         string // C: declaration of the variable that the result is put into, if any
	give          string // C: how it gets from there into the result
}

func (h *header) argument(f function, p param) (argument, error) {
	a := argument{name: p.name, goName: paramName(p.name), use: p.name}
	constant := strings.HasPrefix(p.ctype, "const ")
	base := strings.TrimPrefix(p.ctype, "const ")
	stars := strings.Count(base, "*")
	base = strings.TrimSpace(strings.TrimRight(strings.Replace(base, "* const*", "**", 1), "*"))
	noun := strings.TrimPrefix(base, "gnnmg_")
	in := func(cType, goType, pass string) { a.cType, a.goType, a.pass = cType, goType, pass }
	list := isList(f, p)
	isHandle := h.handles[noun] && base != noun
	switch {
	case isHandle && stars == 1:
		in("uintptr_t", "uintptr", "C.uintptr_t("+a.goName+")")
		a.use = "(" + p.ctype + ")" + p.name
	case isHandle && (list || strings.Contains(p.ctype, "const*")):
		in("uintptr_t*", "*uintptr", "(*C.uintptr_t)("+a.goName+")")
		a.use = "(" + p.ctype + ")" + p.name
	case isHandle:
		a.cOut, a.goOut, a.take = "uintptr_t", "uintptr", "uintptr(r."+p.name+")"
		a.local = base + "* " + p.name + " = NULL;"
		a.give = "r." + p.name + " = (uintptr_t)" + p.name + ";"
		a.use = "&" + p.name
		if optional[f.name+"."+p.name] {
			a.goName = "want" + goName(p.name)
			in("int32_t", "bool", "wanted("+a.goName+")")
			a.name = "want_" + p.name
			a.use = "want_" + p.name + " ? &" + p.name + " : NULL"
		}
	case base == "char" && stars == 2:
		a.cOut, a.goOut, a.take = "const char*", "string", "C.GoString(r."+p.name+")"
		a.use = "&r." + p.name
	case base == "char":
		in(p.ctype, "*byte", "(*C.char)(unsafe.Pointer("+a.goName+"))")
	case base == "void" || strings.HasPrefix(base, "struct ") && stars == 1:
		in("void*", "unsafe.Pointer", a.goName)
	case strings.HasPrefix(base, "struct "):
		a.cOut, a.goOut, a.take = "void*", "unsafe.Pointer", "r."+p.name
		a.local = base + "* " + p.name + " = NULL;"
		a.give = "r." + p.name + " = " + p.name + ";"
		a.use = "&" + p.name
	case h.hasStruct(noun) && stars == 1:
		in(p.ctype, "*"+goName(noun), "(*C."+base+")(unsafe.Pointer("+a.goName+"))")
	case stars == 0:
		cType, goType := base, goScalars[base]
		if h.isEnum(base) {
			cType, goType = "int32_t", "int32"
		}
		if goType == "" {
			return a, fmt.Errorf("gnnmg_%s: parameter %s: no Go type for %s", f.name, p.name, p.ctype)
		}
		in(cType, goType, "C."+cType+"("+a.goName+")")
	case goScalars[base] != "" && !list && !constant:
		a.cOut, a.goOut, a.take = base, goScalars[base], goScalars[base]+"(r."+p.name+")"
		a.use = "&r." + p.name
	case goScalars[base] != "":
		in(p.ctype, "*"+goScalars[base], "(*C."+base+")("+a.goName+")")
	default:
		return a, fmt.Errorf("gnnmg_%s: parameter %s: no Go type for %s", f.name, p.name, p.ctype)
	}
	if strings.HasPrefix(a.pass, "(*C.") && !strings.Contains(a.pass, "unsafe") {
		a.pass = strings.Replace(a.pass, ")("+a.goName+")", ")(unsafe.Pointer("+a.goName+"))", 1)
	}
	return a, nil
}

// Outputs that a caller may do without.
var optional = map[string]bool{"model_forward.logits": true, "batch_export_block.edge_ids": true,
	"model_evaluate.confusion": true, "trainer_evaluate.confusion": true, "model_embed.rows": true, "trainer_embed.rows": true}

// isList tells the arrays of the caller that a function fills.
func isList(f function, p param) bool {
	if f.name == "comm_create_group" {
		return p.name == "comms"
	}
	for _, other := range f.params {
		if other.name == "capacity" && other.ctype == "int64_t" {
			return p.name != "needed"
		}
	}
	return false
}

func (h *header) hasStruct(name string) bool {
	for _, s := range h.structs {
		if s.name == name {
			return true
		}
	}
	return false
}

// rawOutput is the four files of the raw package.
type rawOutput struct{ header, source, calls, structs string }

// emitRaw writes the shims, by which a call, its results, and the text of its error cross at once.
func emitRaw(h *header) (rawOutput, error) {
	var head, source, calls strings.Builder
	head.WriteString(strings.ReplaceAll(notice, "\n\n", "\n") + "/* clang-format off */\n" +
		"#ifndef GNNMG_GO_SHIMS_H\n#define GNNMG_GO_SHIMS_H\n\n#include \"load.h\"\n\n")
	source.WriteString(strings.ReplaceAll(notice, "\n\n", "\n") + "/* clang-format off */\n#include \"shims.gen.h\"\n\n")
	calls.WriteString(notice + "package raw\n\n// #include \"shims.gen.h\"\nimport \"C\"\n\nimport \"unsafe\"\n\n" +
		"// Functions are the names of all functions of the header, in its order.\nvar Functions = [...]string{\n")
	for _, f := range h.functions {
		fmt.Fprintf(&calls, "\t\"gnnmg_%s\",\n", f.name)
	}
	calls.WriteString("}\n\n")
	for index, f := range h.functions {
		if byHand[f.name] {
			fmt.Fprintf(&calls, "const index%s = %d\n\n", goName(f.name), index)
			continue
		}
		if err := h.emitFunction(index, f, &head, &source, &calls); err != nil {
			return rawOutput{}, err
		}
	}
	head.WriteString("#endif\n")
	return rawOutput{head.String(), source.String(), calls.String(), h.emitRawStructs()}, nil
}

func (h *header) emitFunction(index int, f function, head, source, calls *strings.Builder) error {
	var cParams, uses, goParams, goResults, passes, takes, locals, gives, outs []string
	for _, p := range f.params {
		a, err := h.argument(f, p)
		if err != nil {
			return err
		}
		if a.goType != "" {
			cParams = append(cParams, a.cType+" "+a.name)
			goParams = append(goParams, a.goName+" "+a.goType)
			passes = append(passes, a.pass)
		}
		if a.cOut != "" {
			outs = append(outs, a.cOut+" "+p.name+";")
			goResults = append(goResults, a.goOut)
			takes = append(takes, a.take)
		}
		if a.local != "" {
			locals = append(locals, "  "+a.local+"\n")
			gives = append(gives, "  "+a.give+"\n")
		}
		uses = append(uses, a.use)
	}
	list := strings.Join(cParams, ", ")
	if list == "" {
		list = "void"
	}
	goList := strings.Join(goParams, ", ")
	name := goName(f.name)
	calls.WriteString(comment(name+": "+goDoc(f.brief), ""))
	if f.result == "void" {
		fmt.Fprintf(head, "void shim_%s(%s);\n\n", f.name, list)
		fmt.Fprintf(source, "void shim_%s(%s) {\n  if (gnnmg_loaded) gnnmg_table.%s(%s);\n}\n\n", f.name, list, f.name, strings.Join(uses, ", "))
		fmt.Fprintf(calls, "func %s(%s) {\n\treach(%d)\n\tC.shim_%s(%s)\n}\n\n", name, goList, index, f.name, strings.Join(passes, ", "))
		return nil
	}
	if f.result != "gnnmg_status" {
		return fmt.Errorf("gnnmg_%s returns %s: write its call by hand", f.name, f.result)
	}
	result, status := "outcome", "r"
	if len(outs) > 0 {
		result, status = "struct r_"+f.name, "r.outcome"
		fmt.Fprintf(head, "struct r_%s { outcome outcome; %s };\n", f.name, strings.Join(outs, " "))
	}
	fmt.Fprintf(head, "%s shim_%s(%s);\n\n", result, f.name, list)
	fmt.Fprintf(source, "%s shim_%s(%s) {\n  %s r = {0};\n%s  %s = GNNMG_CALL(%s, %s);\n%s  return r;\n}\n\n", result, f.name, list,
		result, strings.Join(locals, ""), status, f.name, strings.Join(uses, ", "), strings.Join(gives, ""))
	results := append([]string{"Result"}, goResults...)
	fmt.Fprintf(calls, "func %s(%s) (%s) {\n\treach(%d)\n\tr := C.shim_%s(%s)\n\treturn %s\n}\n\n", name, goList,
		strings.Join(results, ", "), index, f.name, strings.Join(passes, ", "),
		strings.Join(append([]string{"finish(" + status + ")"}, takes...), ", "))
	return nil
}

// emitRawStructs writes the structs as Go lays them out, and has the compiler hold that against C.
func (h *header) emitRawStructs() string {
	var b, checks strings.Builder
	b.WriteString(notice + "package raw\n\n// #include \"shims.gen.h\"\nimport \"C\"\n\nimport \"unsafe\"\n\n")
	for _, s := range h.structs {
		name := goName(s.name)
		fmt.Fprintf(&b, "// %s is gnnmg_%s.\ntype %s struct {\n", name, s.name, name)
		fmt.Fprintf(&checks, "\t_ [unsafe.Sizeof(C.gnnmg_%s{})]byte = [unsafe.Sizeof(%s{})]byte{}\n", s.name, name)
		for _, f := range s.fields {
			goType := goScalars[f.ctype]
			switch {
			case h.isEnum(f.ctype):
				goType = "int32"
			case f.ctype == "uint32_t":
				goType = "uint32"
			case strings.HasSuffix(f.ctype, "*"):
				goType = "unsafe.Pointer"
			case f.ctype == "char":
				goType = "byte"
			case h.hasStruct(strings.TrimPrefix(f.ctype, "gnnmg_")):
				goType = goName(strings.TrimPrefix(f.ctype, "gnnmg_"))
			}
			if f.length != "" {
				goType = "[" + f.length + "]" + goType
			}
			fmt.Fprintf(&b, "\t%s %s\n", goName(f.name), goType)
			cName := f.name
			if token.IsKeyword(cName) {
				cName = "_" + cName // cgo's
			}
			fmt.Fprintf(&checks, "\t_ [unsafe.Offsetof(C.gnnmg_%s{}.%s)]byte = [unsafe.Offsetof(%s{}.%s)]byte{}\n", s.name, cName, name, goName(f.name))
		}
		b.WriteString("}\n\n")
	}
	b.WriteString("// A line here that does not compile is a struct that Go and C lay out in two ways.\nvar (\n" +
		checks.String() + ")\n")
	return b.String()
}
