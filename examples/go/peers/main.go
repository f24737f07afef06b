// One model trained by several processes that name each other themselves, without a launcher:
//
//	peers <host> <port> <processes> <number of this one> [<token file>]
//
// Another address than this machine's own needs the token: 32 secret bytes in a file of mode 0600.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"gnnmg"
	. "gnnmg/examples/common"
)

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "peers <host> <port> <processes> <number of this one> [<token file>]")
		os.Exit(1)
	}
	rt := OpenRuntime()
	defer CloseRuntime(rt)

	// [join]
	at := gnnmg.Meeting{Host: os.Args[1]}
	if len(os.Args) > 5 {
		at.TokenFile = os.Args[5]
	}
	comm := Get(gnnmg.NewComm(Background, rt, at, func(c *gnnmg.CommConfig) {
		c.Port = Get(strconv.Atoi(os.Args[2])) // address of process 0
		c.NumProcesses = Get(strconv.Atoi(os.Args[3]))
		c.ProcessRank = Get(strconv.Atoi(os.Args[4]))
	}))
	// [join]
	defer comm.Close()

	data, graph := PlantedData(rt, 4000) // the same on each
	trainer := Get(gnnmg.NewTrainer(SmallModel(rt, data), data, Get(gnnmg.NewSampler(graph)), comm,
		func(c *gnnmg.TrainerConfig) { c.NumEpochs, c.BatchSize = 5, 256 }))
	Check(trainer.Run(Background, nil))                          // steps are shared by all
	metrics := Get(trainer.Evaluate(Background, gnnmg.PartTest)) // equal on all
	fmt.Printf("process %s of %s: test accuracy %.4f\n", os.Args[4], os.Args[3], metrics.Accuracy)

	Check(trainer.Close())
	leave, cancel := context.WithTimeout(Background, 30*time.Second)
	defer cancel()
	Check(comm.Shutdown(leave)) // else the first to leave would abort the others
	Expect(metrics.Accuracy > 0.5)
}
