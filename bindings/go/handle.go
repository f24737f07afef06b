package gnnmg

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// live counts the live handles and tensors of the library.
var live atomic.Int64

// A lease is one handle of the library's, freed once: by Close or by the garbage collector.
// Tokens of freed handles are harmless, so calls need no lock; only texts that are
// borrowed from the object are read under one.
type lease struct {
	texts sync.RWMutex
	token uintptr
	done  atomic.Bool
	free  func(uintptr)
}

func (l *lease) end() {
	if l.done.Swap(true) {
		return
	}
	l.texts.Lock()
	defer l.texts.Unlock()
	l.free(l.token)
	live.Add(-1)
}

// A handle is the part that all objects have in common.
type handle struct {
	lease   *lease
	cleanup runtime.Cleanup
}

// adopt makes `owner`, which contains `h`, the owner of a token.
func adopt[T any](owner *T, h *handle, token uintptr, free func(uintptr)) *T {
	live.Add(1)
	h.lease = &lease{token: token, free: free}
	h.cleanup = runtime.AddCleanup(owner, (*lease).end, h.lease)
	return owner
}

// unmade is the token of a zero value: of nothing that the library has, and not 0, which it takes for
// an object that is left out.
const unmade = 1

// tok returns the library's token of the object; [ErrHandle] for unmade and stale ones.
func (h *handle) tok() uintptr {
	if h.lease == nil {
		return unmade
	}
	return h.lease.token
}

func (h *handle) end() error {
	if h.lease != nil {
		h.cleanup.Stop()
		h.lease.end()
	}
	return nil
}

// reading runs a call that yields texts of the object's while no Close can take them away.
func (h *handle) reading(call func()) {
	if h.lease != nil {
		h.lease.texts.RLock()
		defer h.lease.texts.RUnlock()
	}
	call()
}

// The token of an object, 0 for nil, so that nil is an error and no panic.

func (r *Runtime) token() uintptr {
	if r == nil {
		return 0
	}
	return r.tok()
}

func (g *Graph) token() uintptr {
	if g == nil {
		return 0
	}
	return g.tok()
}

func (d *Dataset) token() uintptr {
	if d == nil {
		return 0
	}
	return d.tok()
}

func (s *Sampler) token() uintptr {
	if s == nil {
		return 0
	}
	return s.tok()
}

func (l *Loader) token() uintptr {
	if l == nil {
		return 0
	}
	return l.tok()
}

func (b *Batch) token() uintptr {
	if b == nil {
		return 0
	}
	return b.tok()
}

func (m *Model) token() uintptr {
	if m == nil {
		return 0
	}
	return m.tok()
}

func (o *Optimizer) token() uintptr {
	if o == nil {
		return 0
	}
	return o.tok()
}

func (c *Comm) token() uintptr {
	if c == nil {
		return 0
	}
	return c.tok()
}

func (p *Predictor) token() uintptr {
	if p == nil {
		return 0
	}
	return p.tok()
}

func (s *Server) token() uintptr {
	if s == nil {
		return 0
	}
	return s.tok()
}

func (t *Trainer) token() uintptr {
	if t == nil {
		return 0
	}
	return t.tok()
}

func (g *Graph) runtime() *Runtime {
	if g == nil {
		return nil
	}
	return g.rt
}

func (d *Dataset) runtime() *Runtime {
	if d == nil {
		return nil
	}
	return d.rt
}

func (m *Model) runtime() *Runtime {
	if m == nil {
		return nil
	}
	return m.rt
}
