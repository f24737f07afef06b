package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

const headerPath = "../../../../include/gnnmg.h"

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The committed files match the header of this tree.
func TestFilesFollowFromTheHeader(t *testing.T) {
	settings := "../../../settings.json"
	if _, err := os.Stat(settings); err != nil {
		t.Skip("a module without its repository")
	}
	files, err := generate(read(t, headerPath), []byte(read(t, settings)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if have := read(t, "../../"+name); have != string(want) {
			t.Errorf("%s is not what header and settings give: run go generate", name)
		}
	}
	if len(files) < 9 {
		t.Errorf("%d files", len(files))
	}
}

// One declaration of each kind in a header.
const smallHeader = `
typedef struct gnnmg_graph gnnmg_graph;

/** What labels are. */
typedef int32_t gnnmg_task;

/** Values of ::gnnmg_task. */
enum {
  GNNMG_TASK_NONE = 0,      /**< No labels. */
  GNNMG_TASK_REGRESSION = 1 /**< Numbers. */
};

/** Settings of a server. */
typedef struct gnnmg_server_config {
  uint32_t struct_size;
  int32_t threads;  /**< Threads. Default 2. */
  int64_t drain_ms; /**< How long, milliseconds. Default 90 000. */
} gnnmg_server_config;

/** Facts about a device. */
typedef struct gnnmg_device_info {
  uint32_t struct_size;
  char name[128]; /**< Its name. */
} gnnmg_device_info;

/** Counts nodes.
 * @param count the number */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_num_nodes(const gnnmg_graph* graph,
                                                            int64_t* count);

/** Frees a graph. */
GNNMG_API void gnnmg_graph_free(gnnmg_graph* graph);
`

// A setting of each type, of every subject.
func smallSettings() string {
	var b strings.Builder
	for _, subject := range subjects {
		fmt.Fprintf(&b, `, %q: [
  {"name": "deep", "type": "flag", "default": "1", "values": "0 or 1", "help": "1: so. 0: not so."},
  {"name": "wait_ms", "type": "integer", "default": "90000", "values": "0 or more", "help": "How long, milliseconds."},
  {"name": "heads", "type": "integer", "default": "1", "values": "1 to 64", "help": "How many."},
  {"name": "seed", "type": "integer", "default": "0", "values": "0 or more", "help": "Seed."},
  {"name": "rate", "type": "number", "default": "0.5", "values": "0 to below 1", "help": "Share."},
  {"name": "task", "type": "choice", "default": "regression", "values": "none, regression", "help": "What."},
  {"name": "skip", "type": "choice", "default": "none", "values": "none, linear", "help": "What."},
  {"name": "scalers", "type": "choices", "default": "", "values": "linear, none", "help": "Which."},
  {"name": "fanouts", "type": "integers", "default": "10,5", "values": "-1 or more", "help": "How many at each."},
  {"name": "dict", "type": "text", "default": "", "values": "", "help": "Which."}]`, subject.name)
	}
	for _, subject := range otherSubjects {
		fmt.Fprintf(&b, `, %q: []`, subject)
	}
	return "{" + b.String()[1:] + "}"
}

func TestSettingsAreGoLike(t *testing.T) {
	files, err := generate(smallHeader, []byte(smallSettings()))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\t// true: so. false: not so. Default: true.\n\tDeep bool `json:\"deep\"`\n",
		"\t// How long. 0 or more. Default 1m30s.\n\tWait time.Duration `json:\"wait_ms\"`\n",
		"\t// How many. 1 to 64. Default: 1.\n\tHeads int `json:\"heads\"`\n",
		"\tSeed uint64 `json:\"seed,string\"`\n",
		"\tRate float64 `json:\"rate\"`\n",
		"\t// What. Default: [TaskRegression].\n\tTask Task `json:\"task\"`\n",
		"\t// What. Default: [SkipNone].\n\tSkip Skip `json:\"skip\"`\n",
		"\tScalers []PNAScaler `json:\"scalers\"`\n",
		"\t// How many at each. Default: {10, 5}.\n\tFanouts []int64 `json:\"fanouts\"`\n",
		"\tDict string `json:\"dict\"`\n",
		"\t\tDeep:    true,\n\t\tWait:    90000 * time.Millisecond,\n\t\tHeads:   1,\n\t\tRate:    0.5,\n" +
			"\t\tTask:    TaskRegression,\n\t\tSkip:    SkipNone,\n\t\tFanouts: []int64{10, 5},\n",
		"type PNAScaler string\n",
		"\tSkipLinear Skip = \"linear\"\n",
	} {
		if !strings.Contains(string(files["settings.gen.go"]), want) {
			t.Errorf("%s is missing in\n%s", want, files["settings.gen.go"])
		}
	}
	for _, want := range []string{"\t// Threads. Default 2.\n\tThreads int\n", "\t// How long. Default 1m30s.\n\tDrain time.Duration\n",
		"type DeviceInfo struct {\n\t// Its name.\n\tName string\n}"} {
		if !strings.Contains(string(files["structs.gen.go"]), want) {
			t.Errorf("%s is missing in\n%s", want, files["structs.gen.go"])
		}
	}
}

// A new kind of declaration is an error; the generator never omits it silently.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	for what, change := range map[string][2]string{
		"a field of another type":   {"int32_t threads;", "long threads;"},
		"an array":                  {"int32_t threads;", "int64_t threads[3];"},
		"a field without a comment": {"int32_t threads;  /**< Threads. Default 2. */", "int32_t threads;"},
		"a value without a comment": {"GNNMG_TASK_NONE = 0,      /**< No labels. */", "GNNMG_TASK_NONE = 0,"},
		"an enumeration of no type": {"typedef int32_t gnnmg_task;", "typedef int64_t gnnmg_task;"},
		"a parameter of a new type": {"int64_t* count)", "short* count)"},
		"a function with a result":  {"GNNMG_API void gnnmg_graph_free", "GNNMG_API int gnnmg_graph_free"},
		"a setting of a new type":   {`"type": "flag"`, `"type": "color"`},
		"a word without a constant": {`"none, regression"`, `"none, regression, binary"`},
		"an unknown default":        {`"default": "none"`, `"default": "some"`},
		"other words elsewhere":     {`"values": "none, linear"`, `"values": "none"`},
		"a new subject":             {`"dataset":`, `"colors": [], "dataset":`},
		"a subject that has gone":   {`"model":`, `"models":`},
	} {
		header := strings.Replace(smallHeader, change[0], change[1], 1)
		settings := strings.Replace(smallSettings(), change[0], change[1], 1)
		if header == smallHeader && settings == smallSettings() {
			t.Fatalf("%s: there is no %q", what, change[0])
		}
		if _, err := generate(header, []byte(settings)); err == nil {
			t.Errorf("%s is no error", what)
		}
	}
}

// Every function of the header is in the table.
func TestTableHasAllFunctions(t *testing.T) {
	text := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(read(t, "../raw/gnnmg.h"), "")
	declared := regexp.MustCompile(`(?m)^GNNMG_(?:API|STATUS) [^;(]*?\b(gnnmg_\w+)\(`).FindAllStringSubmatch(text, -1)
	calls := read(t, "../raw/calls.gen.go")
	for _, m := range declared {
		if !strings.Contains(calls, "\t\""+m[1]+"\",\n") {
			t.Errorf("%s is not in the table", m[1])
		}
	}
	if n := strings.Count(calls, "\t\"gnnmg_"); n != len(declared) || n < 168 {
		t.Errorf("the table has %d functions, the header %d", n, len(declared))
	}
}
