// A data set from a text with an edge a line: opened with settings, read, written in the library's own
// format, and opened again from there, which is the fast way from then on.
//
//	edge_list [<text> [<new folder>]]       without arguments a small text is made
package main

import (
	"fmt"
	"os"

	"gnnmg"
	. "gnnmg/examples/common"
)

// Seven people by their account numbers, as an export of a database has them.
const smallText = `who;whom;since
9000017;123;2019
123;4410;2020
4410;9000017;2020
55;123;2021
86;55;2022
7;86;2023
31;7;2023
31;123;2024
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

	data := Get(gnnmg.OpenDataset(Background, rt, text, func(c *gnnmg.DatasetConfig) {
		c.Format, c.Undirected = gnnmg.FormatEdges, 1
		c.Relabel = true // account numbers become 0, 1, 2, ...
	}))
	before := describe(data)
	graph := Get(data.Graph())
	ids := Get(gnnmg.Copy[int64](Get(graph.NodeTensor(0, "original_id"))))
	fmt.Printf("node 0 is %d in the text\n", ids[0])

	Check(data.Save(Background, folder))                    // whole or not at all
	again := Get(gnnmg.OpenDataset(Background, rt, folder)) // mapped, not parsed
	after := describe(again)
	Expect(len(os.Args) > 1 || before.NumNodes == 7 && before.NumEdges == 16)
	Expect(after.NumNodes == before.NumNodes && after.NumEdges == before.NumEdges)
}
