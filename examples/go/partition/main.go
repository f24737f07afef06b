// Divides a data set into parts, for graphs that are too large for one machine: prints the cut, the
// balance of the parts, and the rows that a mini-batch of each part would read from the others.
//
//	partition [<data set> [<new folder> [<parts>]]]       generates a graph without arguments
//
// After an interruption run the program again with the same arguments to continue.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"gnnmg"
	. "gnnmg/examples/common"
)

func printLog(rt *gnnmg.Runtime) {
	for message, err := range rt.Messages() {
		Check(err)
		fmt.Printf("  %s\n", message.Text)
	}
}

func main() {
	folder, numParts := "parts", 4
	if len(os.Args) > 2 {
		folder = os.Args[2]
	}
	if len(os.Args) > 3 {
		numParts = Get(strconv.Atoi(os.Args[3]))
	}
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	var data *gnnmg.Dataset
	if len(os.Args) > 1 {
		data = Get(gnnmg.OpenDataset(Background, rt, os.Args[1]))
	} else {
		data, _ = PlantedData(rt, 5000)
	}

	// [save]
	saved := make(chan error)
	go func() {
		saved <- data.SaveParts(Background, folder, nil, func(c *gnnmg.PartsConfig) {
			c.NumParts, c.Fanouts, c.BatchSize = numParts, []int64{15, 10, 5}, 256
		})
	}()
	for waiting := true; waiting; {
		select {
		case err := <-saved:
			Check(err)
			waiting = false
		case <-time.After(500 * time.Millisecond):
		}
		printLog(rt) // prints each step
	}
	// [save]

	// [facts]
	// All parts in one process: the same data set as before.
	whole := Get(gnnmg.OpenDataset(Background, rt, folder))
	all := Get(whole.PartsInfo())
	fmt.Printf("%d parts, %.1f %% of %d edges cut\n", all.NumParts, 100*all.Cut, all.NumEdges)
	fmt.Printf("largest part / mean: nodes %.3f, edges %.3f, training ids %.3f\n", all.NodeBalance, all.EdgeBalance,
		all.TrainBalance)
	// [facts]

	// [part]
	cacheRows := all.NumNodes / 5
	for p, part := range Get(whole.Parts(cacheRows)) {
		fmt.Printf("part %d: %d nodes, %d edges, %d training ids", p, part.NumNodes, part.NumEdges, part.NumTrain)
		if part.Hotness {
			fmt.Printf("; a mini-batch reads %.0f rows, %.0f of other parts, a cache of %d rows has %.0f %%",
				part.BatchRows, part.RemoteRows, cacheRows, 100*part.HitRate)
		}
		fmt.Println()
	}
	// [part]

	// [book]
	partOf := Get(gnnmg.Copy[int32](Get(whole.Book())))
	last := len(partOf) - 1
	fmt.Printf("node 0 is in part %d, node %d in part %d\n", partOf[0], last, partOf[last])
	// [book]

	// [share]
	// Trains as `whole` does; without a job it has all parts.
	share := Get(gnnmg.OpenParts(Background, rt, nil, folder, func(c *gnnmg.OpenPartsConfig) {
		c.CacheBytes = 64 << 20 // size of the cache for rows of other parts
	}))
	Expect(Get(share.PartsInfo()).OwnParts == all.NumParts)
	// [share]
}
