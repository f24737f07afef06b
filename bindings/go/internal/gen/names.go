package main

import (
	"regexp"
	"strings"
)

// spellings are the parts of names that Go writes otherwise than with one capital.
var spellings = map[string]string{
	"adamw": "AdamW", "auc": "AUC", "bf16": "BF16", "coo": "COO", "cpu": "CPU", "csc": "CSC", "csr": "CSR", "cuda": "CUDA",
	"dgl": "DGL", "dtype": "DType", "elu": "ELU", "gat": "GAT", "gatv2": "GATv2", "gcn": "GCN",
	"gelu": "GELU", "gin": "GIN", "gine": "GINE", "gnnmg": "GNNMG", "graphconv": "GraphConv", "id": "ID", "ids": "IDs", "io": "IO",
	"json": "JSON", "lstm": "LSTM", "mae": "MAE", "metis": "METIS", "mlp": "MLP", "nan": "NaN", "npy": "NPY",
	"numpy": "NumPy", "ogb": "OGB", "pna": "PNA", "prelu": "PReLU", "pth": "PTH", "pyg": "PyG",
	"relu": "ReLU", "rgcn": "RGCN", "rmse": "RMSE", "roc": "ROC", "sage": "SAGE", "set2set": "Set2Set", "sgd": "SGD",
	"silu":        "SiLU",
	"tensorboard": "TensorBoard", "tu": "TU",
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
	constantPattern  = regexp.MustCompile(`::GNNMG_([A-Z0-9_]+)`)
	typePattern      = regexp.MustCompile(`::gnnmg_([a-z0-9_]+)`)
	defaultPattern   = regexp.MustCompile(`^(.*?\S )??(?:Default )?(-?(?:\d{1,3}(?: \d{3})+|\d+)(?:\.\d+)?(?:e-?\d+)?|2\^20|::GNNMG_\w+|10, 10|F32|"")\.$`)
	flagPattern      = regexp.MustCompile(`(^|[:;.] )1(:| keeps| looks)`)
	fieldNamePattern = regexp.MustCompile(`^[a-z0-9_]+$`)
	namePattern      = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|\\b[a-z0-9]+(?:_[a-z0-9]+)+\\b")
)

// isFlag tells the int32_t fields that are 0 or 1 by how the header describes them.
func isFlag(f field) bool {
	return f.ctype == "int32_t" && flagPattern.MatchString(f.doc) && !strings.Contains(f.doc, "-1:")
}

// functions are the Go names of functions that the header's comments on settings, facts and constants
// speak of.
var functions = map[string]string{
	"comm_create":                    "NewComm",
	"dataset_add_folds":              "Dataset.AddFolds",
	"dataset_add_random_split":       "Dataset.AddRandomSplit",
	"dataset_open":                   "OpenDataset",
	"dataset_open_parts":             "OpenParts",
	"dataset_open_served":            "OpenServed",
	"dataset_save":                   "Dataset.Save",
	"dataset_save_parts":             "Dataset.SaveParts",
	"graph_create_erdos_renyi":       "NewErdosRenyi",
	"graph_create_log_normal":        "NewLogNormal",
	"graph_create_planted_partition": "NewPlantedPartition",
	"graph_create_rmat":              "NewRmat",
	"graph_create_transformed":       "Graph.Transformed",
	"loader_next":                    "Loader.Next",
	"model_add_conv":                 "Model.AddConv",
	"model_add_norm":                 "Model.AddNorm",
	"model_load":                     "Model.Load",
	"model_save":                     "Model.Save",
	"optimizer_load":                 "Optimizer.Load",
	"optimizer_save":                 "Optimizer.Save",
	"server_shutdown":                "Server.Shutdown",
	"trainer_create":                 "NewTrainer",
	"trainer_get_memory_info":        "Trainer.MemoryInfo",
	"trainer_get_rank_info":          "Trainer.RankInfo",
	"trainer_load_optimizer":         "Trainer.LoadOptimizer",
	"trainer_progress":               "Trainer.Progress",
	"trainer_save_optimizer":         "Trainer.SaveOptimizer",
	"trainer_set_learning_rate":      "Trainer.SetLearningRate",
	"trainer_set_loss":               "SetLoss",
	"trainer_set_checkpoints":        "Trainer.SetCheckpoints",
}

var callPattern = regexp.MustCompile(`gnnmg_([a-z0-9_]+)\(\)`)

// goDoc rewrites a comment of the header: its constants, types and fields by their Go names.
func goDoc(doc string) string {
	doc = constantPattern.ReplaceAllStringFunc(doc, func(m string) string {
		return "[" + goName(m[len("::GNNMG_"):]) + "]"
	})
	doc = typePattern.ReplaceAllStringFunc(doc, func(m string) string {
		return "[" + goName(m[len("::gnnmg_"):]) + "]"
	})
	doc = callPattern.ReplaceAllStringFunc(doc, func(m string) string {
		if name, ok := functions[callPattern.FindStringSubmatch(m)[1]]; ok {
			return "[" + name + "]"
		}
		return m
	})
	return namePattern.ReplaceAllStringFunc(doc, func(m string) string {
		name := strings.Trim(m, "`")
		if strings.HasPrefix(name, "gnnmg_") || !fieldNamePattern.MatchString(name) {
			return m // a text in quotes, a function, an expression of another language
		}
		return goName(name)
	})
}

// fieldDoc is goDoc for a setting: the default, which the header puts last, is named as such, and
// flags are true and false.
func fieldDoc(f field, setting bool) string {
	doc := f.doc
	value := ""
	if m := defaultPattern.FindStringSubmatch(doc); setting && m != nil {
		doc, value = strings.TrimSpace(m[1]), m[2]
		if strings.Trim(value, "0123456789 ") == "" {
			value = strings.ReplaceAll(value, " ", "") // thousands are apart in the header
		}
	}
	if isFlag(f) {
		doc = regexp.MustCompile(`(^|: |; )1: `).ReplaceAllString(doc, "${1}true: ")
		doc = regexp.MustCompile(`(: |; )0: `).ReplaceAllString(doc, "${1}false: ")
		doc = strings.ReplaceAll(doc, ": 1 ", ": true ")
		value = map[string]string{"0": "false", "1": "true"}[value]
	}
	if value == "10, 10" {
		value = "{10, 10}"
	}
	if value == "F32" {
		value = "::GNNMG_DTYPE_F32"
	}
	if value != "" {
		doc = strings.TrimSpace(doc + " Default: " + value + ".")
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
