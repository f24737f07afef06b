// Collectives of ranks, one goroutine each: broadcast, all-gather, all-to-all, barrier; and the
// error on the others when one of them finds bad data and gives up.
package main

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gnnmg"
	. "gnnmg/examples/common"
)

const ranks = 3

var wrong atomic.Int64 // results that were not as expected

func expect(good bool) {
	if !good {
		wrong.Add(1)
	}
}

// work is one rank's part, with its ends of two communicators.
func work(comm, other *gnnmg.Comm) {
	rank, size := Get(comm.Rank()), Get(comm.WorldSize())

	seed := []int64{0}
	if rank == 0 {
		seed[0] = 42
	}
	Check(comm.Broadcast(Background, gnnmg.TensorOf(seed), 0)) // rank 0's to all
	expect(seed[0] == 42)

	own, found := make([]int64, rank+1), make([][]int64, size) // any sizes
	for i := range own {
		own[i] = int64(rank)
	}
	theirs := make([]*gnnmg.Tensor, size)
	for r := range theirs {
		found[r] = make([]int64, r+1)
		theirs[r] = gnnmg.TensorOf(found[r])
	}
	Check(comm.AllGather(Background, gnnmg.TensorOf(own), theirs))
	for r := range found {
		for _, v := range found[r] {
			expect(v == int64(r))
		}
	}

	out, in := make([]int64, size), make([]int64, size)
	to, from := make([]*gnnmg.Tensor, size), make([]*gnnmg.Tensor, size)
	for r := range size {
		out[r] = int64(10*rank + r) // row of rank r
		to[r], from[r] = gnnmg.TensorOf(out[r:r+1]), gnnmg.TensorOf(in[r:r+1])
	}
	Check(comm.AllToAll(Background, to, from))
	for r := range size {
		expect(in[r] == int64(10*r+rank))
	}

	Check(comm.Barrier(Background))  // waits until all ranks are here
	Check(comm.Shutdown(Background)) // all leave together

	if rank == 1 {
		other.Cancel() // this rank cannot go on: nobody shall wait for it
		return
	}
	err := other.Barrier(Background)
	var e *gnnmg.Error
	if errors.As(err, &e) {
		fmt.Printf("rank %d: %s: %s\n", rank, e.Status.String(), e.Text)
	}
	expect(errors.Is(err, gnnmg.ErrAborted))
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	comms := Get(gnnmg.NewCommGroup(rt, ranks, func(c *gnnmg.CommConfig) {
		c.Deadline = time.Minute // a later rank is named in an error
	}))
	others := Get(gnnmg.NewCommGroup(rt, ranks))

	var all sync.WaitGroup
	for rank := range ranks {
		all.Add(1)
		go func() {
			defer all.Done()
			work(comms[rank], others[rank])
		}()
	}
	all.Wait()
	fmt.Printf("%d results are wrong\n", wrong.Load())
	Expect(wrong.Load() == 0)
}
