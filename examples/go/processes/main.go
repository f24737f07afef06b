// One process of a job that a launcher has started (torchrun, srun, mpirun, a loop of the shell): they
// meet, add up a number, and leave together.
//
//	torchrun --nproc-per-node 3 --no-python ./processes
package main

import (
	"context"
	"fmt"
	"time"

	"gnnmg"
	. "gnnmg/examples/common"
)

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	// [join]
	comm := Get(gnnmg.NewCommFromEnv(Background, rt))
	defer comm.Close()
	rank, size := Get(comm.Rank()), Get(comm.WorldSize())
	// [join]

	sum := []float32{float32(rank + 1)}
	Check(comm.AllReduce(Background, gnnmg.TensorOf(sum), gnnmg.ReduceSum))
	fmt.Printf("process %d of %d: the sum is %.0f\n", rank, size, sum[0])

	// Without it the first process to leave would abort the others.
	leave, cancel := context.WithTimeout(Background, 30*time.Second)
	defer cancel()
	Check(comm.Shutdown(leave))
}
