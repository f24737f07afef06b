package gnnmg

import (
	"context"
	"runtime"

	"gnnmg/internal/raw"
)

// A Comm is one rank's end of a communicator, for collective operations. All ranks call the same
// operations in the same order. After a failure other than [ErrInvalidArgument] or [ErrBusy] a
// communicator is spent: every later call is [ErrAborted] with the first cause. The end of a
// context is such a failure once the operation has begun.
type Comm struct{ handle }

func adoptComm(token uintptr) *Comm {
	c := &Comm{}
	return adopt(c, &c.handle, token, raw.CommFree)
}

// NewCommGroup makes a communicator among goroutines of this process, for custom loops: one
// end a rank, each to be used by one goroutine at a time.
func NewCommGroup(rt *Runtime, worldSize int, options ...func(*CommConfig)) ([]*Comm, error) {
	defer runtime.KeepAlive(rt)
	config := configure[raw.CommConfig](options)
	const most = 256 // ranks of a group, so that the library never writes past the tokens
	if worldSize < 1 || worldSize > most {
		return nil, refuse(ErrInvalidArgument, "worldSize is %d, expected 1 to %d", worldSize, most)
	}
	tokens := make([]uintptr, worldSize)
	if err := failure(raw.CommCreateGroup(rt.token(), int32(worldSize), config, &tokens[0])); err != nil {
		return nil, err
	}
	all := make([]*Comm, worldSize)
	for rank, token := range tokens {
		all[rank] = adoptComm(token)
	}
	return all, nil
}

// A Meeting is the meeting point of the processes of a job.
type Meeting struct {
	Host      string // name or address of process 0's machine; "": "127.0.0.1"
	Interface string // network interface whose address this process uses; "": the one that leads to process 0
	TokenFile string // the job's secret, 32 to 1024 bytes in a file of mode 0600; "": none
}

// NewComm joins a job of many processes, of which the settings name port, number and count. Any
// address but one of this machine alone needs the token. Close without Shutdown aborts the others.
func NewComm(ctx context.Context, rt *Runtime, at Meeting, options ...func(*CommConfig)) (*Comm, error) {
	host, err := nameOrNone("Host", at.Host)
	if err != nil {
		return nil, err
	}
	iface, err := nameOrNone("Interface", at.Interface)
	if err != nil {
		return nil, err
	}
	tokenFile, err := nameOrNone("TokenFile", at.TokenFile)
	if err != nil {
		return nil, err
	}
	return join(ctx, rt, options, func(config *raw.CommConfig, timeoutMs int64) (raw.Result, uintptr) {
		return raw.CommCreate(rt.token(), host, iface, tokenFile, config, timeoutMs)
	})
}

// NewCommFromEnv joins the job that a launcher has started: torchrun, Open MPI or Slurm.
func NewCommFromEnv(ctx context.Context, rt *Runtime, options ...func(*CommConfig)) (*Comm, error) {
	return join(ctx, rt, options, func(config *raw.CommConfig, timeoutMs int64) (raw.Result, uintptr) {
		return raw.CommCreateFromEnv(rt.token(), config, timeoutMs)
	})
}

func join(ctx context.Context, rt *Runtime, options []func(*CommConfig),
	call func(config *raw.CommConfig, timeoutMs int64) (raw.Result, uintptr)) (*Comm, error) {
	defer runtime.KeepAlive(rt)
	if rt == nil {
		return nil, errNil("Runtime")
	}
	config := configure[raw.CommConfig](options)
	var token uintptr
	err := rt.await(ctx, func(timeoutMs int64) (r raw.Result) {
		r, token = call(config, timeoutMs)
		return r
	})
	if err != nil {
		return nil, err
	}
	return adoptComm(token), nil
}

// Close frees the end. Without an earlier Shutdown this is an abort: operations of the other ranks
// end with [ErrAborted].
func (c *Comm) Close() error {
	if c == nil {
		return nil
	}
	return c.end()
}

// Rank is this end's rank.
func (c *Comm) Rank() (int, error) {
	defer runtime.KeepAlive(c)
	r, rank := raw.CommRank(c.token())
	return int(rank), failure(r)
}

// WorldSize is the number of ranks.
func (c *Comm) WorldSize() (int, error) {
	defer runtime.KeepAlive(c)
	r, size := raw.CommWorldSize(c.token())
	return int(size), failure(r)
}

// Cancel ends the operation that runs with [ErrCancelled] here and [ErrAborted] on the other ranks.
// The communicator is spent.
func (c *Comm) Cancel() {
	defer runtime.KeepAlive(c)
	raw.CommCancel(c.token())
}

// await makes a collective call, which the end of `ctx` cancels.
func (c *Comm) await(ctx context.Context, call func(timeoutMs int64) raw.Result) error {
	defer runtime.KeepAlive(c)
	if c == nil {
		return errNil("Comm")
	}
	_, err := await(ctx, c.Cancel, call)
	return err
}

// Barrier returns when all ranks have called it.
func (c *Comm) Barrier(ctx context.Context) error {
	return c.await(ctx, func(timeoutMs int64) raw.Result { return raw.CommBarrier(c.token(), timeoutMs) })
}

// Shutdown is the orderly end: it waits until all ranks have called it. Afterwards there is only
// Close.
func (c *Comm) Shutdown(ctx context.Context) error {
	return c.await(ctx, func(timeoutMs int64) raw.Result { return raw.CommShutdown(c.token(), timeoutMs) })
}
