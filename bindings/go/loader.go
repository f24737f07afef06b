package gnnmg

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"unsafe"

	"gnnmg/internal/raw"
)

// A Loader makes the mini-batches of an epoch ahead, on threads of its own: which seeds, in which
// order, in which mini-batches. A step is a number of mini-batches, which ranks share; each gets at
// least one, an empty one if need be.
type Loader struct {
	handle
	sampler *Sampler
}

func adoptLoader(s *Sampler, r raw.Result, token uintptr) (*Loader, error) {
	if err := failure(r); err != nil {
		return nil, err
	}
	l := &Loader{sampler: s}
	return adopt(l, &l.handle, token, raw.LoaderFree), nil
}

// NewLoader makes a loader of a part of the data set's split.
func NewLoader(d *Dataset, s *Sampler, options ...func(*LoaderConfig)) (*Loader, error) {
	defer runtime.KeepAlive(d)
	defer runtime.KeepAlive(s)
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.LoaderCreate(d.token(), s.token(), nil, words)
	return adoptLoader(s, r, token)
}

// NewSeedLoader makes a loader of given seeds. Features and labels are those of the data set; nil:
// none.
func NewSeedLoader(d *Dataset, s *Sampler, seeds []int64, options ...func(*LoaderConfig)) (*Loader, error) {
	defer runtime.KeepAlive(d)
	defer runtime.KeepAlive(s)
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.LoaderCreateFromSeeds(d.token(), s.token(), 0, unsafe.SliceData(seeds), int64(len(seeds)), nil, nil, words)
	return adoptLoader(s, r, token)
}

// Close ends the loader; a call of Next that waits ends with [ErrCancelled]. Batches stay valid.
func (l *Loader) Close() error {
	if l == nil {
		return nil
	}
	return l.end()
}

// Info describes the epoch that the next mini-batch belongs to.
func (l *Loader) Info() (LoaderInfo, error) {
	defer runtime.KeepAlive(l)
	return fetch[LoaderInfo](func(info *raw.LoaderInfo) raw.Result {
		return raw.LoaderGetInfo(l.token(), info)
	})
}

// Start goes to a step of an epoch. It is also the way on after an error, a cancel, or a context
// that has ended.
func (l *Loader) Start(epoch, step int64) error {
	defer runtime.KeepAlive(l)
	if l != nil && l.sampler != nil {
		l.sampler.callback.forget()
	}
	return failure(raw.LoaderStart(l.token(), epoch, step))
}

// Next is the next mini-batch of this rank, [io.EOF] once at the end of each epoch; the call after
// it begins the next one. When `ctx` ends the loader is cancelled.
func (l *Loader) Next(ctx context.Context) (*Batch, error) {
	defer runtime.KeepAlive(l)
	if l == nil {
		return nil, errNil("Loader")
	}
	var r raw.Result
	var token uintptr
	status, err := await(ctx, l.Cancel, func(timeoutMs int64) raw.Result {
		r, token = raw.LoaderNext(l.token(), timeoutMs)
		return r
	})
	switch {
	case err != nil:
		return nil, l.sampler.blame(err)
	case status == raw.End:
		return nil, io.EOF
	}
	return adoptBatch(r, token)
}

// All iterates over the rest of the epoch. It closes a batch, and with it the slices of its
// tensors, after the body of the loop; an error, with a nil batch, ends the loop.
//
//	for batch, err := range loader.All(ctx) {
func (l *Loader) All(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for {
			batch, err := l.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			more := yield(batch, err)
			if err != nil {
				return
			}
			if batch.Close(); !more {
				return
			}
		}
	}
}

// Cancel ends the work of the loader's threads; Next returns [ErrCancelled] until Start.
func (l *Loader) Cancel() {
	defer runtime.KeepAlive(l)
	raw.LoaderCancel(l.token())
}
