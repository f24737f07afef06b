package main

import (
	"regexp"
	"strings"
)

// spellings are the parts of names that Go writes otherwise than with one capital.
var spellings = map[string]string{
	"adamw": "AdamW", "auc": "AUC", "bf16": "BF16", "coo": "COO", "cpu": "CPU", "csc": "CSC", "csr": "CSR", "cuda": "CUDA",
	"dgl": "DGL", "dlpack": "DLPack", "dtype": "DType", "elu": "ELU", "gat": "GAT", "gatv2": "GATv2", "gcn": "GCN",
	"gelu": "GELU", "gin": "GIN", "gine": "GINE", "gnnmg": "GNNMG", "graphconv": "GraphConv", "id": "ID", "ids": "IDs", "io": "IO",
	"json": "JSON", "lstm": "LSTM", "mae": "MAE", "metis": "METIS", "mlp": "MLP", "nan": "NaN", "npy": "NPY",
	"numpy": "NumPy", "ogb": "OGB", "pna": "PNA", "prelu": "PReLU", "pth": "PTH", "pyg": "PyG",
	"relu": "ReLU", "rgcn": "RGCN", "rmse": "RMSE", "roc": "ROC", "sage": "SAGE", "set2set": "Set2Set", "sgd": "SGD",
	"silu":        "SiLU",
	"tensorboard": "TensorBoard", "tls": "TLS", "tu": "TU",
}

// goName turns "num_nodes" or "TASK_NONE" into "NumNodes" or "TaskNone".
func goName(name string) string {
	var b strings.Builder
	for _, part := range strings.Split(strings.ToLower(name), "_") {
		if spelling, ok := spellings[part]; ok {
			b.WriteString(spelling)
		} else if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// paramName turns "num_nodes" into "numNodes".
func paramName(name string) string {
	first, rest, _ := strings.Cut(name, "_")
	return first + goName(rest)
}

var (
	constantPattern = regexp.MustCompile(`(?:::|\b)GNNMG_([A-Z0-9_]+)`)
	typePattern     = regexp.MustCompile(`(?:::|\b)gnnmg_([a-z0-9_]+)\b(\(\))?`)
	flagPattern     = regexp.MustCompile(`(^|[:;.] )1(:| keeps| looks)`)
	namePattern     = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|\\b[a-z0-9]+(?:_[a-z0-9]+)+\\b")
)

// isFlag tells the int32_t fields that are 0 or 1 by how the header describes them.
func isFlag(f field) bool {
	return f.ctype == "int32_t" && flagPattern.MatchString(f.doc) && !strings.Contains(f.doc, "-1:")
}

// functions are the Go names of functions that the header's comments on settings, facts and constants
// speak of.
var functions = map[string]string{
	"comm_create":              "NewComm",
	"dataset_add_random_split": "Dataset.AddRandomSplit",
	"dataset_create":           "NewDataset",
	"dataset_open_parts":       "OpenParts",
	"dataset_open_served":      "OpenServed",
	"dataset_save":             "Dataset.Save",
	"dataset_save_parts":       "Dataset.SaveParts",
	"graph_create_transformed": "Graph.Transformed",
	"graph_generate":           "Generate",
	"loader_create_from_seeds": "NewSeedLoader",
	"loader_next":              "Loader.Next",
	"model_add_conv":           "Model.AddConv",
	"model_embed":              "Model.Embed",
	"model_evaluate":           "Model.Evaluate",
	"model_get_settings":       "Model.Settings",
	"model_open":               "OpenModel",
	"model_save":               "Model.Save",
	"optimizer_load":           "Optimizer.Load",
	"optimizer_save":           "Optimizer.Save",
	"server_shutdown":          "Server.Shutdown",
	"trainer_set_checkpoints":  "Trainer.SetCheckpoints",
	"trainer_step":             "Trainer.Step",
}

var callPattern = regexp.MustCompile(`gnnmg_([a-z0-9_]+)\(\)`)

// fields are the names of all fields and settings, which are written in Go's way.
var fields = map[string]bool{}

// goDoc rewrites a comment of the header: its constants, types and fields by their Go names.
func goDoc(doc string) string {
	doc = constantPattern.ReplaceAllStringFunc(doc, func(m string) string {
		return "[" + goName(constantPattern.FindStringSubmatch(m)[1]) + "]"
	})
	doc = typePattern.ReplaceAllStringFunc(doc, func(m string) string {
		parts := typePattern.FindStringSubmatch(m)
		if parts[2] == "" {
			return "[" + goName(parts[1]) + "]"
		}
		if name, ok := functions[parts[1]]; ok {
			return "[" + name + "]"
		}
		return m
	})
	return namePattern.ReplaceAllStringFunc(doc, func(m string) string {
		name := strings.Trim(m, "`")
		if !fields[name] {
			return m // a text in quotes, a word of a setting, an expression of another language
		}
		return goName(name)
	})
}

var (
	setPattern   = regexp.MustCompile(`(^|: |; |\. )1: `)
	unsetPattern = regexp.MustCompile(`(: |; |\. )0: `)
)

// flagDoc writes flags as Go does, true and false.
func flagDoc(doc string) string {
	doc = setPattern.ReplaceAllString(doc, "${1}true: ")
	doc = unsetPattern.ReplaceAllString(doc, "${1}false: ")
	return strings.ReplaceAll(doc, "Default 0.", "Default false.")
}

// fieldDoc is goDoc for a field.
func fieldDoc(f field) string {
	doc := f.doc
	if isFlag(f) {
		doc = flagDoc(doc)
	}
	return goDoc(doc)
}

// comment wraps a text at 96 columns with the prefix "// ".
func comment(text, indent string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	line := indent + "//"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 98 {
			b.WriteString(line + "\n")
			line = indent + "//"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
	return b.String()
}
