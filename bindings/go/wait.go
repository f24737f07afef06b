package gnnmg

import (
	"context"
	"errors"

	"gnnmg/internal/raw"
)

// A call in progress is looked after this often, milliseconds: a cancel that came before the
// library had begun to wait is repeated then.
const slice = 100

// await makes a call that can wait until it has an answer. When `ctx` ends, `cancel` ends the work
// and the error tells both.
func await(ctx context.Context, cancel func(), call func(timeoutMs int64) raw.Result) (int32, error) {
	if ctx.Err() != nil {
		return 0, ended(ctx)
	}
	if ctx.Done() == nil {
		r := call(-1)
		return r.Status, failure(r)
	}
	return awaitStarted(ctx, cancel, call)
}

// awaitStarted is await for work that has begun and has to be seen through, whatever `ctx` says.
func awaitStarted(ctx context.Context, cancel func(), call func(timeoutMs int64) raw.Result) (int32, error) {
	cancelled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cancelled)
		cancel()
	})
	r := call(slice)
	for r.Status == raw.Pending {
		if ctx.Err() != nil {
			cancel()
		}
		r = call(slice)
	}
	if !stop() {
		<-cancelled // a late cancel must not hit the next call
	}
	err := failure(r)
	if r.Status == int32(ErrCancelled) && ctx.Err() != nil {
		err = withCause(err, contextCauses(ctx)...)
	}
	return r.Status, err
}

// await is await for work that the library can only cancel together with all other work of the
// runtime: work that a cancel hit which was not meant for it begins anew. Once the runtime is closed
// nothing on it can be cancelled; then the end of `ctx` ends the waiting, and the work goes on.
func (r *Runtime) await(ctx context.Context, call func(timeoutMs int64) raw.Result) error {
	if r == nil || r.lease == nil {
		return refuse(ErrHandle, "the object was not made by a function of this package")
	}
	for {
		before := r.cancels.Load()
		_, err := await(ctx, func() { raw.ContextCancel(r.token()) }, func(timeoutMs int64) raw.Result {
			result := call(timeoutMs)
			if result.Status == raw.Pending && ctx.Err() != nil && r.lease.done.Load() {
				return raw.Result{Status: int32(ErrCancelled), Failure: &raw.Failure{Rank: -1,
					Text: "the runtime is closed, so the work goes on and nobody waits for it"}}
			}
			return result
		})
		if !errors.Is(err, ErrCancelled) || ctx.Err() != nil || r.cancels.Load() != before {
			return err
		}
	}
}
