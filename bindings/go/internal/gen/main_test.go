package main

import (
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
	header := headerPath
	if _, err := os.Stat(header); err != nil {
		header = "../raw/gnnmg.h" // a module without its repository
	}
	files, err := generate(read(t, header))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if have := read(t, "../../"+name); have != string(want) {
			t.Errorf("%s is not what the header gives: run go generate", name)
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

/** Settings of a sampler. */
typedef struct gnnmg_sampler_config {
  uint32_t struct_size; /**< sizeof of this struct. */
  int32_t num_hops;     /**< Hops. 2. */
} gnnmg_sampler_config;

/**
 * @brief Counts nodes.
 * @param[in] graph a graph
 * @param[out] count the number
 * @return ::GNNMG_OK
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_num_nodes(const gnnmg_graph* graph,
                                                            int64_t* count);

/**
 * @brief Frees a graph.
 * @param[in] graph a graph
 */
GNNMG_API void gnnmg_graph_free(gnnmg_graph* graph);
`

// A default stands last in the header's words, thousands apart.
func TestDefaultsAreNamed(t *testing.T) {
	for comment, want := range map[string]string{
		"int64_t n; /**< Nodes. 2 449 029. */":                          "// Nodes. Default: 2449029.",
		"int64_t n; /**< 1 to 65535. Default 2. */":                     "// 1 to 65535. Default: 2.",
		"int64_t n; /**< At 3 hops, 10 to 600 000. 50. */":              "// At 3 hops, 10 to 600 000. Default: 50.",
		"double n; /**< Share. -0.5. */":                                "// Share. Default: -0.5.",
		"int64_t wait_ms; /**< How long, milliseconds. 30 000. */":      "// How long. Default: 30s.",
		"int64_t wait_ms; /**< How long, milliseconds. 600 000. */":     "// How long. Default: 10m.",
		"int64_t wait_ms; /**< How often, milliseconds. 500. */":        "// How often. Default: 500ms.",
		"int64_t wait_ms; /**< How long, milliseconds. 3 600 000. */":   "// How long. Default: 1h.",
		"int64_t wait_ms; /**< How long, milliseconds. 90 000. */":      "// How long. Default: 1m30s.",
		"int64_t wait_ms; /**< How long, milliseconds, 10 to 99. 0. */": "// How long, 10 to 99. Default: 0s.",
	} {
		header := strings.Replace(smallHeader, "int32_t num_hops;     /**< Hops. 2. */", comment, 1)
		files, err := generate(header)
		if err != nil || !strings.Contains(string(files["configs.gen.go"]), want+"\n") {
			t.Errorf("%s is not %q: %v\n%s", comment, want, err, files["configs.gen.go"])
		}
	}
}

// A new kind of declaration is an error; the generator never omits it silently.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	if _, err := generate(smallHeader); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"a field of another type":    {"int32_t num_hops;", "long num_hops;"},
		"an array":                   {"int32_t num_hops;", "int64_t num_hops[3];"},
		"a field without a comment":  {"num_hops;     /**< Hops. 2. */", "num_hops;"},
		"a value without a comment":  {"GNNMG_TASK_NONE = 0,      /**< No labels. */", "GNNMG_TASK_NONE = 0,"},
		"an enumeration of no type":  {"typedef int32_t gnnmg_task;", "typedef int64_t gnnmg_task;"},
		"a parameter of a new type":  {"int64_t* count)", "short* count)"},
		"a function with a result":   {"GNNMG_API void gnnmg_graph_free", "GNNMG_API int gnnmg_graph_free"},
		"a parameter without @param": {" * @param[out] count the number\n", ""},
	} {
		changed := strings.Replace(smallHeader, change[0], change[1], 1)
		if changed == smallHeader {
			t.Fatalf("%s: the header has no %q", what, change[0])
		}
		if _, err := generate(changed); err == nil {
			t.Errorf("%s is no error", what)
		}
	}
}

// Every function of the header is in the table.
func TestTableHasAllFunctions(t *testing.T) {
	text := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(read(t, "../raw/gnnmg.h"), "")
	declared := regexp.MustCompile(`GNNMG_API[^;(]*?\b(gnnmg_\w+)\(`).FindAllStringSubmatch(text, -1)
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
