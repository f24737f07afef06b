package gnnmg

import (
	"context"
	"runtime"

	"gnnmg/internal/raw"
)

// AllReduce reduces the tensors of all ranks, element by element; every rank's tensor gets the same
// result. They are of one shape and type.
func (c *Comm) AllReduce(ctx context.Context, t *Tensor, operation Reduce) error {
	address, done, err := t.lend()
	if err != nil {
		return err
	}
	defer done()
	return c.await(ctx, func(timeoutMs int64) raw.Result {
		return raw.CommAllReduce(c.token(), address, int32(operation), timeoutMs)
	})
}

// Broadcast copies the tensor of rank `root` to all. They are of one shape and type.
func (c *Comm) Broadcast(ctx context.Context, t *Tensor, root int) error {
	address, done, err := t.lend()
	if err != nil {
		return err
	}
	defer done()
	return c.await(ctx, func(timeoutMs int64) raw.Result {
		return raw.CommBroadcast(c.token(), address, narrow(root), timeoutMs)
	})
}

// AllGather gives every rank the tensors of all ranks: outputs[r] has the shape and type of rank
// r's input.
func (c *Comm) AllGather(ctx context.Context, input *Tensor, outputs []*Tensor) error {
	if err := c.oneEach("outputs", outputs); err != nil {
		return err
	}
	address, done, err := input.lend()
	if err != nil {
		return err
	}
	defer done()
	out, done, err := lendAll(outputs)
	if err != nil {
		return err
	}
	defer done()
	return c.await(ctx, func(timeoutMs int64) raw.Result {
		return raw.CommAllGather(c.token(), address, &out[0], timeoutMs)
	})
}

// AllToAll sends each rank a tensor and gets one from each rank. Outputs have the shape and type of
// the received tensors.
func (c *Comm) AllToAll(ctx context.Context, inputs, outputs []*Tensor) error {
	if err := c.oneEach("inputs", inputs); err != nil {
		return err
	}
	if err := c.oneEach("outputs", outputs); err != nil {
		return err
	}
	in, done, err := lendAll(inputs)
	if err != nil {
		return err
	}
	defer done()
	out, done, err := lendAll(outputs)
	if err != nil {
		return err
	}
	defer done()
	return c.await(ctx, func(timeoutMs int64) raw.Result {
		return raw.CommAllToAll(c.token(), &in[0], &out[0], timeoutMs)
	})
}

// oneEach checks that there is a tensor for each rank.
func (c *Comm) oneEach(argument string, tensors []*Tensor) error {
	defer runtime.KeepAlive(c)
	size, err := c.WorldSize()
	if err == nil && len(tensors) != size {
		err = refuse(ErrInvalidArgument, "%s has %d tensors, expected one a rank: %d", argument, len(tensors), size)
	}
	return err
}

// lendAll is lend for several tensors.
func lendAll(tensors []*Tensor) (addresses []uintptr, done func(), err error) {
	var all []func()
	done = func() {
		for _, f := range all {
			f()
		}
	}
	for _, t := range tensors {
		address, end, err := t.lend()
		if err != nil {
			done()
			return nil, nil, err
		}
		addresses, all = append(addresses, address), append(all, end)
	}
	return addresses, done, nil
}
