package gnnmg_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"gnnmg"
)

// onAll runs a function on each end of a group, one goroutine each.
func onAll(t *testing.T, comms []*gnnmg.Comm, run func(c *gnnmg.Comm, rank int)) {
	t.Helper()
	var all sync.WaitGroup
	for rank, c := range comms {
		all.Add(1)
		go func() {
			defer all.Done()
			run(c, rank)
		}()
	}
	all.Wait()
}

func group(t *testing.T, rt *gnnmg.Runtime, size int, options ...func(*gnnmg.CommConfig)) []*gnnmg.Comm {
	t.Helper()
	comms, err := gnnmg.NewCommGroup(rt, size, options...)
	ok(t, err)
	for _, c := range comms {
		closing(t, c, nil)
	}
	return comms
}

func TestCollectives(t *testing.T) {
	rt := made[*gnnmg.Runtime](t)(gnnmg.NewRuntime())
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	check := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	onAll(t, group(t, rt, 3), func(c *gnnmg.Comm, rank int) {
		mine, err := c.Rank()
		check(err)
		equal(t, mine, rank)
		size, err := c.WorldSize()
		check(err)
		equal(t, size, 3)

		sum := []float64{float64(rank), 1}
		check(c.AllReduce(ctx, gnnmg.TensorOf(sum), gnnmg.ReduceSum))
		equalSlices(t, sum, []float64{3, 3})
		seed := []int64{int64(42 * (1 - min(rank, 1)))}
		check(c.Broadcast(background, gnnmg.TensorOf(seed), 0))
		equal(t, seed[0], 42)

		own := make([]int64, rank+1) // sizes differ
		for i := range own {
			own[i] = int64(rank)
		}
		found := [][]int64{make([]int64, 1), make([]int64, 2), make([]int64, 3)}
		outputs := []*gnnmg.Tensor{gnnmg.TensorOf(found[0]), gnnmg.TensorOf(found[1]), gnnmg.TensorOf(found[2])}
		check(c.AllGather(ctx, gnnmg.TensorOf(own), outputs))
		equalSlices(t, found[2], []int64{2, 2, 2})
		fails(t, c.AllGather(ctx, gnnmg.TensorOf(own), outputs[:2]), gnnmg.ErrInvalidArgument)

		in, out := make([][]int32, 3), make([][]int32, 3)
		var to, from []*gnnmg.Tensor
		for r := range 3 {
			out[r], in[r] = []int32{int32(10*rank + r)}, make([]int32, 1)
			to, from = append(to, gnnmg.TensorOf(out[r])), append(from, gnnmg.TensorOf(in[r]))
		}
		check(c.AllToAll(ctx, to, from))
		for r := range 3 {
			equal(t, in[r][0], int32(10*r+rank))
		}
		fails(t, c.AllToAll(ctx, to, nil), gnnmg.ErrInvalidArgument)
		fails(t, c.AllToAll(ctx, nil, from), gnnmg.ErrInvalidArgument)
		fails(t, c.AllReduce(ctx, nil, gnnmg.ReduceSum), gnnmg.ErrInvalidArgument)
		fails(t, c.Broadcast(ctx, gnnmg.TensorOf(seed, 2), 0), gnnmg.ErrInvalidArgument)
		check(c.Barrier(ctx))
		check(c.Shutdown(ctx))
	})
	_, err := gnnmg.NewCommGroup(rt, 0)
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.NewCommGroup(rt, 1<<30)
	fails(t, err, gnnmg.ErrInvalidArgument)
}

// A rank that gives up, or whose context ends, aborts the others; the memory of a call that was given
// up is not written later.
func TestRanksThatGiveUp(t *testing.T) {
	rt := made[*gnnmg.Runtime](t)(gnnmg.NewRuntime())
	onAll(t, group(t, rt, 2), func(c *gnnmg.Comm, rank int) {
		if rank == 1 {
			time.Sleep(20 * time.Millisecond)
			c.Cancel()
			return
		}
		fails(t, c.Barrier(background), gnnmg.ErrAborted)
	})
	onAll(t, group(t, rt, 2), func(c *gnnmg.Comm, rank int) {
		if rank == 1 {
			time.Sleep(20 * time.Millisecond)
			c.Close()
			return
		}
		fails(t, c.Barrier(background), gnnmg.ErrAborted)
	})
	gaveUp := make(chan struct{})
	onAll(t, group(t, rt, 2), func(c *gnnmg.Comm, rank int) {
		data := []float32{1}
		if rank == 1 {
			<-gaveUp
			fails(t, c.AllReduce(background, gnnmg.TensorOf(data), gnnmg.ReduceSum), gnnmg.ErrAborted)
		} else {
			ctx, cancel := context.WithTimeout(background, 300*time.Millisecond)
			defer cancel()
			if err := c.AllReduce(ctx, gnnmg.TensorOf(data), gnnmg.ReduceSum); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			close(gaveUp)
		}
		equal(t, data[0], 1)
	})
	late := group(t, rt, 2, func(c *gnnmg.CommConfig) { c.Deadline = 50 * time.Millisecond })
	e := fails(t, late[0].Barrier(background), gnnmg.ErrTimeout)
	if e.Rank != 1 && e.Rank != -1 {
		t.Errorf("rank %d is blamed", e.Rank)
	}
}

// Two ranks with loops of their own, a goroutine each, stay equal.
func TestOwnLoopOfTwoRanks(t *testing.T) {
	w := newWorld(t)
	models := []*gnnmg.Model{w.model, made[*gnnmg.Model](t)(w.model.Copy())}
	comms := group(t, w.rt, 2)
	run := func(c *gnnmg.Comm, rank int) error {
		optimizer, err := gnnmg.NewOptimizer(models[rank])
		if err != nil {
			return err
		}
		defer optimizer.Close()
		gradients, err := models[rank].Gradients()
		if err != nil {
			return err
		}
		defer gradients.Close()
		loader, err := gnnmg.NewLoader(w.data, w.sampler, func(c *gnnmg.LoaderConfig) {
			c.BatchSize, c.Rank, c.WorldSize = 50, rank, 2
		})
		if err != nil {
			return err
		}
		defer loader.Close()
		for batch, err := range loader.All(background) {
			if err != nil {
				return err
			}
			if err := models[rank].Train(batch); err != nil {
				return err
			}
			if _, err := models[rank].Backward(gnnmg.LossAuto); err != nil {
				return err
			}
			if info, err := batch.Info(); err != nil || !info.LastOfStep {
				return errors.Join(err, errors.New("a step has one mini-batch a rank"))
			}
			if err := c.AllReduce(background, gradients, gnnmg.ReduceSum); err != nil {
				return err
			}
			if err := optimizer.Step(); err != nil {
				return err
			}
		}
		return c.Shutdown(background)
	}
	onAll(t, comms, func(c *gnnmg.Comm, rank int) {
		if err := run(c, rank); err != nil {
			t.Error(err)
		}
	})
	equalSlices(t, values[float32](t)(models[1].Parameters()), values[float32](t)(models[0].Parameters()))
}

// freePort is a port that was free a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Two runtimes of one process stand for two processes.
func TestProcessesTrainOneModel(t *testing.T) {
	port := freePort(t)
	token := filepath.Join(t.TempDir(), "token")
	ok(t, os.WriteFile(token, []byte("0123456789abcdef0123456789abcdef"), 0o600))
	results := make([][]float32, 2)
	var all sync.WaitGroup
	for process := range 2 {
		w := newWorld(t)
		all.Add(1)
		go func() {
			defer all.Done()
			err := func() error {
				ctx, cancel := context.WithTimeout(background, time.Minute)
				defer cancel()
				comm, err := gnnmg.NewComm(ctx, w.rt, gnnmg.Meeting{Host: "127.0.0.1", TokenFile: token},
					func(c *gnnmg.CommConfig) { c.Port, c.ProcessRank, c.NumProcesses = port, process, 2 })
				if err != nil {
					return err
				}
				defer comm.Close()
				trainer, err := gnnmg.NewTrainer(w.model, w.data, w.sampler, comm, plain,
					func(c *gnnmg.TrainerConfig) { c.NumEpochs, c.BatchSize = 2, 64 })
				if err != nil {
					return err
				}
				if err := trainer.Run(ctx, nil); err != nil {
					return err
				}
				parameters, err := w.model.Parameters()
				if err != nil {
					return err
				}
				if results[process], err = gnnmg.Copy[float32](parameters); err != nil {
					return err
				}
				return errors.Join(parameters.Close(), trainer.Close(), comm.Shutdown(ctx))
			}()
			if err != nil {
				t.Errorf("process %d: %v", process, err)
			}
		}()
	}
	all.Wait()
	equalSlices(t, results[1], results[0])
	if len(results[0]) == 0 {
		t.Error("no parameters")
	}
}

func TestJoiningEnds(t *testing.T) {
	rt := made[*gnnmg.Runtime](t)(gnnmg.NewRuntime())
	ctx, cancel := context.WithTimeout(background, 50*time.Millisecond)
	defer cancel()
	_, err := gnnmg.NewComm(ctx, rt, gnnmg.Meeting{}, func(c *gnnmg.CommConfig) { c.Port, c.NumProcesses = freePort(t), 2 })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	_, err = gnnmg.NewComm(background, rt, gnnmg.Meeting{}, func(c *gnnmg.CommConfig) {
		c.Port, c.NumProcesses, c.Join = freePort(t), 2, 50*time.Millisecond
	})
	fails(t, err, gnnmg.ErrTimeout)
	_, err = gnnmg.NewComm(background, nil, gnnmg.Meeting{})
	fails(t, err, gnnmg.ErrHandle)
	_, err = gnnmg.NewComm(background, rt, gnnmg.Meeting{Host: "a\x00"})
	fails(t, err, gnnmg.ErrInvalidArgument)
}

func TestJoinFromEnvironment(t *testing.T) {
	rt := made[*gnnmg.Runtime](t)(gnnmg.NewRuntime())
	for key, value := range map[string]string{"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0",
		"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": strconv.Itoa(freePort(t))} {
		t.Setenv(key, value)
	}
	comm := made[*gnnmg.Comm](t)(gnnmg.NewCommFromEnv(background, rt))
	size, err := comm.WorldSize()
	ok(t, err)
	equal(t, size, 1)
	ok(t, comm.Shutdown(background))
	t.Setenv("RANK", "seven")
	_, err = gnnmg.NewCommFromEnv(background, rt)
	fails(t, err, gnnmg.ErrInvalidArgument)
}
