// A data set from a text with one edge per line: opens it with settings, reads it, writes a result
// with the nodes' names, saves all of it in the library's own format, and opens that, which is
// faster.
//
//	edge_list [<text> [<new folder>]]       writes a small text without arguments
package main

import (
	"fmt"
	"os"
	"strings"

	"gnnmg"
	. "gnnmg/examples/common"
)

// Seven people by their names, as an export of a database has them.
const smallText = `who;whom;since
ada;bob;2019
bob;cleo;2020
cleo;ada;2020
dan;bob;2021
eve;dan;2022
fay;eve;2023
gus;fay;2023
gus;bob;2024
`

func describe(data *gnnmg.Dataset) gnnmg.DatasetInfo {
	names, info := Get(data.Names()), Get(data.Info())
	orNone := func(text string) string {
		if text == "" {
			return "none"
		}
		return text
	}
	fmt.Printf("%s: %d nodes, %d edges, features %s (%d), labels %s, %d splits\n", names.Name, info.NumNodes,
		info.NumEdges, orNone(names.Features), info.FeatureDim, orNone(names.Labels), info.NumSplits)
	return info
}

// The nodes' names in the text: one zero-terminated row each, or numbers.
func namesInText(graph *gnnmg.Graph) (all []string) {
	names, err := graph.NodeTensor(0, "original_name")
	if err != nil { // all were integers
		for _, id := range Get(gnnmg.Copy[int64](Get(graph.NodeTensor(0, "original_id")))) {
			all = append(all, fmt.Sprint(id))
		}
		return all
	}
	bytes, width := Get(gnnmg.Copy[uint8](names)), names.Shape()[1]
	for begin := int64(0); begin < int64(len(bytes)); begin += width {
		all = append(all, strings.TrimRight(string(bytes[begin:begin+width]), "\x00"))
	}
	return all
}

// One line per node: its name in the text, and its number of edges.
func writeResults(graph *gnnmg.Graph, names []string, path string) {
	var lines strings.Builder
	for node, name := range names {
		sources, _, err := graph.InEdges(0, int64(node))
		Check(err)
		fmt.Fprintf(&lines, "%s\t%d\n", name, len(sources))
	}
	Check(os.WriteFile(path, []byte(lines.String()), 0o666))
	fmt.Printf("edges of %d nodes written to %s\n", len(names), path)
}

func main() {
	text, folder := "follows.csv", "follows"
	if len(os.Args) > 1 {
		text = os.Args[1]
	} else {
		Check(os.WriteFile(text, []byte(smallText), 0o666))
	}
	if len(os.Args) > 2 {
		folder = os.Args[2]
	}
	rt := OpenRuntime()
	defer CloseRuntime(rt)

	// [open]
	data := Get(gnnmg.OpenDataset(Background, rt, text, func(c *gnnmg.DatasetConfig) {
		c.Format, c.Undirected = gnnmg.FormatEdges, 1
		c.Relabel = true // names, or numbers of any size, become 0, 1, 2, ...
	}))
	// [open]
	before := describe(data)
	graph := Get(data.Graph())
	names := namesInText(graph)
	fmt.Printf("node 0 is %s in the text\n", names[0])
	writeResults(graph, names, "results.tsv")

	// [save]
	Check(data.Save(Background, folder))                    // whole or not at all
	again := Get(gnnmg.OpenDataset(Background, rt, folder)) // mapped, not parsed
	// [save]
	after := describe(again)
	Expect(len(os.Args) > 1 || before.NumNodes == 7 && before.NumEdges == 16)
	Expect(after.NumNodes == before.NumNodes && after.NumEdges == before.NumEdges)
}
