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
	"loss_batch": true}

// emitEnums writes the enumerations of the package: a type each, its constants, its String.
func emitEnums(h *header) string {
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
	}
	return b.String()
}

// A special is a field whose Go form is not that of its C type alone.
type special struct{ goField, goType, doc, from, to string }

var specials = map[string]special{
	"sampler_config.num_fanouts": {},
	"sampler_config.fanouts": {"Fanouts", "[]int64",
		"Neighbors per node at each hop, beginning next to the seeds, one hop per layer of the model, " +
			"1 to 16 of them; -1: all, 0: none. Default: {10, 10}.",
		"append([]int64(nil), r.Fanouts[:r.NumFanouts]...)",
		"if len(c.Fanouts) > len(r.Fanouts) {\nreturn tooLong(\"SamplerConfig.Fanouts\", len(c.Fanouts), len(r.Fanouts))\n}\n" +
			"r.Fanouts = [len(r.Fanouts)]int64{}\nr.NumFanouts = int32(copy(r.Fanouts[:], c.Fanouts))\n"},
	"trainer_config.num_devices": {},
	"trainer_config.devices": {"Devices", "[]int",
		"Numbers of GPUs, each once: rank r computes on the r-th. At most 16 of them. Default: none, the GPUs that this process sees, from the first on.",
		"intsOf(r.Devices[:r.NumDevices])",
		"if len(c.Devices) > len(r.Devices) {\nreturn tooLong(\"TrainerConfig.Devices\", len(c.Devices), len(r.Devices))\n}\n" +
			"r.Devices = [len(r.Devices)]int32{}\nr.NumDevices = int32(len(c.Devices))\nfor i, device := range c.Devices {\nr.Devices[i] = narrow(device)\n}\n"},
	"device_info.name": {"Name", "string", "The maker's: \"NVIDIA H100 80GB HBM3\".", "textOf(r.Name[:])", ""},
	"device_info.bus_id": {"BusID", "string", "\"0000:19:00.0\": its place, the same in every process.",
		"textOf(r.BusID[:])", ""},
	"model_file_config.first_layer": {"FirstLayer", "string",
		"Saving: the name of the first layer, whose number counts up, in place of \"convs.0\" or " +
			"\"layers.0\", as in \"conv1\"; loading finds such names by itself. At most 35 bytes.",
		"textOf(r.FirstLayer[:])",
		"if len(c.FirstLayer) >= len(r.FirstLayer) {\nreturn tooLong(\"ModelFileConfig.FirstLayer\", len(c.FirstLayer), len(r.FirstLayer)-1)\n}\n" +
			"r.FirstLayer = [len(r.FirstLayer)]byte{}\ncopy(r.FirstLayer[:], c.FirstLayer)\n"},
	"model_file_config.dict": {"Dict", "string",
		"Loading a .pth that holds several dicts of tensors, as a checkpoint of a training does: which, as in \"model\", " +
			"or with dots \"averages.model\"; \"\": the whole file, or the only one. At most 63 bytes.",
		"textOf(r.Dict[:])",
		"if len(c.Dict) >= len(r.Dict) {\nreturn tooLong(\"ModelFileConfig.Dict\", len(c.Dict), len(r.Dict)-1)\n}\n" +
			"r.Dict = [len(r.Dict)]byte{}\ncopy(r.Dict[:], c.Dict)\n"},
}

func (h *header) isEnum(ctype string) bool {
	for _, e := range h.enums {
		if ctype == "gnnmg_"+e.name {
			return true
		}
	}
	return false
}

// publicField is how a field looks in Go and how its value gets there and back.
func publicField(h *header, s structure, f field, setting bool) (special, error) {
	if sp, ok := specials[s.name+"."+f.name]; ok {
		return sp, nil
	}
	name, doc := goName(f.name), fieldDoc(f, setting)
	get, put := "r."+name, "r."+name+" = %s(c."+name+")\n"
	plain := func(goType, convert string) special {
		return special{name, goType, doc, goType + "(" + get + ")", fmt.Sprintf(put, convert)}
	}
	switch {
	case f.name == "struct_size" || strings.HasPrefix(f.name, "padding") || strings.HasPrefix(f.name, "reserved"):
		return special{}, nil
	case f.length != "" && (f.ctype == "int32_t" || h.isEnum(f.ctype)):
		element := "int"
		if h.isEnum(f.ctype) {
			element = goName(strings.TrimPrefix(f.ctype, "gnnmg_"))
		}
		doc = strings.NewReplacer("up to the first 0; all 0: ", "none: ", "Up to the first 0: ", "").Replace(doc)
		doc = strings.ToUpper(doc[:1]) + strings.TrimSuffix(doc[1:], " Default: 0.") + " At most " + f.length + " of them. Default: none."
		return special{name, "[]" + element, doc, "listOf[" + element + "](r." + name + "[:])",
			fmt.Sprintf("if err := setList(%q, r.%s[:], c.%s); err != nil {\nreturn err\n}\n", goName(s.name)+"."+name, name, name)}, nil
	case f.length != "":
		return special{}, fmt.Errorf("gnnmg_%s.%s is an array: say in specials what it is in Go", s.name, f.name)
	case isFlag(f):
		return special{name, "bool", doc, get + " != 0", "r." + name + " = flag(c." + name + ")\n"}, nil
	case strings.HasSuffix(f.name, "_ms"):
		short := strings.TrimSuffix(name, "Ms")
		doc = strings.Replace(doc, ", milliseconds", "", 1)
		doc = strings.Replace(doc, "milliseconds, ", "", 1)
		if before, value, ok := strings.Cut(doc, "Default: "); ok {
			doc = before + "Default: " + duration(strings.TrimSuffix(value, ".")) + "."
		}
		return special{short, "time.Duration", doc, "fromMilliseconds(" + get + ")",
			"r." + name + " = milliseconds(c." + short + ")\n"}, nil
	case h.isEnum(f.ctype):
		return plain(goName(strings.TrimPrefix(f.ctype, "gnnmg_")), "int32"), nil
	}
	goType, ok := map[string][2]string{"int32_t": {"int", "narrow"}, "int64_t": {"int64", "int64"},
		"uint64_t": {"uint64", "uint64"}, "size_t": {"uint64", "uint64"}, "double": {"float64", "float64"}}[f.ctype]
	if !ok {
		return special{}, fmt.Errorf("gnnmg_%s.%s: no Go type for %s", s.name, f.name, f.ctype)
	}
	return plain(goType[0], goType[1]), nil
}

// duration writes a default of the header's, in milliseconds, as Go writes times: "30s" for "30000".
func duration(milliseconds string) string {
	n, err := strconv.ParseInt(milliseconds, 10, 64)
	if err != nil {
		return milliseconds + "ms"
	}
	text := (time.Duration(n) * time.Millisecond).String()
	return regexp.MustCompile(`([hm])0[ms].*$`).ReplaceAllString(text, "$1") // "10m0s" is no word of a person's
}

// defaults returns the code that fills settings with the library's defaults: their _init function,
// or zeros if the header has none.
func (h *header) defaults(s structure) string {
	for _, f := range h.functions {
		if f.name == s.name+"_init" {
			return "return raw." + goName(s.name) + "Init(r, uint64(unsafe.Sizeof(*r)))"
		}
	}
	return "sized(r); return raw.Result{}"
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

// emitStructs writes the settings (configs) or the facts (infos) of the package.
func emitStructs(h *header, configs bool) (string, error) {
	var b strings.Builder
	for _, s := range h.structs {
		isConfig := strings.HasSuffix(s.name, "_config")
		if notPublic[s.name] || isConfig != configs {
			continue
		}
		rawName := goName(s.name)
		name := strings.Replace(rawName, "Context", "Runtime", 1) // "context" is taken in Go
		var fields, from, to strings.Builder
		for _, f := range s.fields {
			p, err := publicField(h, s, f, isConfig)
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
		fmt.Fprintf(&b, "func (c *%s) from(r *raw.%s) {\n%s}\n\n", name, rawName, from.String())
		if isConfig {
			fmt.Fprintf(&b, "func (c *%s) to(r *raw.%s) error {\n%s\treturn nil\n}\n\n", name, rawName, to.String())
			fmt.Fprintf(&b, "// default%s is the library's defaults as the options change them.\n"+
				"func default%s(options []func(*%s)) (*raw.%s, error) {\n"+
				"\tvar c %s\n\tr := new(raw.%s)\n"+
				"\tinit := func() raw.Result { %s }\n"+
				"\treturn r, configure(init, &c, r, options)\n}\n\n", name, name, name, rawName, name, rawName, h.defaults(s))
		}
	}
	body := b.String()
	head := notice + "package gnnmg\n\nimport (\n"
	if strings.Contains(body, "time.Duration") {
		head += "\"time\"\n"
	}
	if strings.Contains(body, "unsafe.Sizeof") {
		head += "\"unsafe\"\n"
	}
	return head + "\n\"gnnmg/internal/raw\"\n)\n\n" + body, nil
}
