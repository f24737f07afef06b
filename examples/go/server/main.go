// Serves all parts of a graph to trainers on other machines until its input ends, like the program
// gnnmg-server.
//
//	server [<folder of parts> [<address> [<token file> [<certificate> <key> <authority>]]]]
//
// Without arguments it generates a graph, divides it into four parts, and trains in this process
// with all data from the server.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"gnnmg"
	. "gnnmg/examples/common"
)

// trainBeside is a trainer as on any machine: it needs the addresses of the servers and no file of
// the graph.
func trainBeside(rt *gnnmg.Runtime, port int) {
	addresses := fmt.Sprintf("127.0.0.1:%d", port)
	// [served]
	data := Get(gnnmg.OpenServed(Background, rt, addresses, "", func(c *gnnmg.ServedConfig) { c.Patience = time.Minute }))
	defer data.Close()
	// [served]
	sampler := Get(gnnmg.NewSampler(Get(data.Graph())))
	trainer := Get(gnnmg.NewTrainer(SmallModel(rt, data), data, sampler, nil, func(c *gnnmg.TrainerConfig) {
		c.Evaluation, c.NumEpochs = gnnmg.EvaluationSampled, 20
	}))
	defer trainer.Close()
	Check(trainer.Run(Background, nil))
	metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest))
	fmt.Printf("test accuracy over the server %.3f\n", metrics.Accuracy)
}

func main() {
	given := len(os.Args) - 1
	arguments := []string{"parts", "127.0.0.1:0", "", "", "", ""} // port 0: a free one
	copy(arguments, os.Args[1:])
	folder, address, tokenFile := arguments[0], arguments[1], arguments[2]
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	if given == 0 {
		data, _ := PlantedData(rt, 2000)
		Check(data.SaveParts(Background, folder, nil, func(c *gnnmg.PartsConfig) { c.NumParts, c.Fanouts = 4, nil }))
	}

	// [create]
	server := Get(gnnmg.NewServer(Background, rt, folder, nil, address, tokenFile))
	defer server.Close()
	// [create]
	// [tls]
	if given > 5 {
		Check(server.SetTLS(arguments[3], arguments[4], arguments[5]))
	}
	// [tls]
	// [start]
	Check(server.Start())
	// [start]

	// [info]
	info := Get(server.Info())
	fmt.Printf("serving %d of %d parts\n", info.NumServed, info.NumParts)
	if given > 1 { // else it is another each time
		fmt.Printf("at port %d\n", info.Port)
	}
	// [info]
	if given == 0 {
		trainBeside(rt, info.Port)
	} else {
		io.Copy(io.Discard, os.Stdin)
	}

	// [shutdown]
	Check(server.Shutdown(Background))
	fmt.Printf("answered %d questions\n", Get(server.Info()).NumReads)
	// [shutdown]
}
