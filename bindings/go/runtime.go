package gnnmg

import (
	"context"
	"iter"
	"runtime"
	"sync/atomic"

	"gnnmg/internal/raw"
)

// A Runtime is where everything else comes from: threads, a memory limit, options, messages. The C
// API calls it a context, a word that is taken in Go. Runtimes share nothing, and objects of two do
// not mix. It may be used by many goroutines at once.
type Runtime struct {
	handle
	cancels atomic.Int64 // calls of Cancel
}

// NewRuntime loads the library, once, and makes a runtime.
//
// The library is taken from the installed or built tree that the environment variable GNNMG_DIR
// names, else from where the loader or pkg-config looks. One of another version is refused with
// [ErrDependency].
func NewRuntime(options ...func(*RuntimeConfig)) (*Runtime, error) {
	if err := raw.Load(); err != nil {
		return nil, refuse(ErrDependency, "%v", err)
	}
	config := configure[raw.ContextConfig](options)
	r, token := raw.ContextCreate(raw.HeaderVersion, config)
	if err := failure(r); err != nil {
		return nil, err
	}
	rt := &Runtime{}
	return adopt(rt, &rt.handle, token, raw.ContextFree), nil
}

// Close frees the runtime. Objects made from it live on; lent goroutines return.
func (r *Runtime) Close() error {
	if r == nil {
		return nil
	}
	return r.end()
}

// Info tells threads, cores and memory.
func (r *Runtime) Info() (RuntimeInfo, error) {
	defer runtime.KeepAlive(r)
	return fetch[RuntimeInfo](func(info *raw.ContextInfo) raw.Result {
		return raw.ContextGetInfo(r.token(), info)
	})
}

// Devices lists the GPUs that this process sees, with their current free memory. None is no error:
// why then names the missing driver, plug-in or GPU, and a remedy.
func (r *Runtime) Devices() (devices []DeviceInfo, why string, err error) {
	defer runtime.KeepAlive(r)
	result, count, why := raw.ContextNumDevices(r.token())
	if err := failure(result); err != nil {
		return nil, "", err
	}
	for i := range count {
		device, err := r.Device(int(i))
		if err != nil {
			return nil, "", err
		}
		devices = append(devices, device)
	}
	return devices, why, nil
}

// Device tells of one GPU, as Devices does of all.
func (r *Runtime) Device(index int) (DeviceInfo, error) {
	defer runtime.KeepAlive(r)
	return fetch[DeviceInfo](func(info *raw.DeviceInfo) raw.Result {
		return raw.ContextGetDeviceInfo(r.token(), int64(index), info)
	})
}

// HeaderVersion is the version of the library that this package was made for: 10000 * major +
// 100 * minor + patch.
const HeaderVersion = int(raw.HeaderVersion)

// Version is the version of the library, as "0.2.0", or "" when it is not there.
func Version() string {
	if raw.Load() != nil {
		return ""
	}
	return versionText(raw.Version())
}

// SetOption sets one of the rare knobs, which [Settings] lists as those of "context".
func (r *Runtime) SetOption(key, value string) error {
	defer runtime.KeepAlive(r)
	k, err := name("key", key)
	if err != nil {
		return err
	}
	v, err := name("value", value)
	if err != nil {
		return err
	}
	return failure(raw.ContextSetOption(r.token(), k, v))
}

// Option is the value of one of the rare knobs.
func (r *Runtime) Option(key string) (string, error) {
	defer runtime.KeepAlive(r)
	k, err := name("key", key)
	if err != nil {
		return "", err
	}
	return growing(func(text *byte, capacity uint64) (raw.Result, uint64) {
		return raw.ContextGetOption(r.token(), k, text, capacity)
	})
}

// growing reads a text of which the library tells how long it is.
func growing(read func(text *byte, capacity uint64) (raw.Result, uint64)) (string, error) {
	buffer := make([]byte, 128)
	for {
		result, needed := read(&buffer[0], uint64(len(buffer)))
		if result.Status != raw.OK {
			return "", failure(result)
		}
		if needed <= uint64(len(buffer)) {
			return textOf(buffer), nil
		}
		buffer = make([]byte, needed)
	}
}

// Lend lends a thread for callbacks until `ctx` ends or the runtime is closed, so that custom
// samplers run on more than the one that waits. It returns nil in both cases.
func (r *Runtime) Lend(ctx context.Context) error {
	defer runtime.KeepAlive(r)
	if r == nil {
		return refuse(ErrHandle, "the Runtime is nil")
	}
	for ctx.Err() == nil {
		result := raw.ContextLend(r.token(), slice)
		switch result.Status {
		case raw.OK, int32(ErrCancelled): // a cancel of other work calls the threads back too
		case raw.End, int32(ErrHandle):
			return nil
		default:
			return failure(result)
		}
	}
	return nil
}

// Cancel ends work of the runtime itself with [ErrCancelled]: opening and saving data sets,
// [Model.Evaluate], [Model.Embed] and its twin, joining processes. Later calls are not affected.
func (r *Runtime) Cancel() {
	defer runtime.KeepAlive(r)
	if r == nil {
		return
	}
	r.cancels.Add(1)
	raw.ContextCancel(r.token())
}

// Messages takes the messages out of the queue, the oldest first, until it is empty.
func (r *Runtime) Messages() iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		defer runtime.KeepAlive(r)
		for {
			m, more, err := r.nextMessage()
			if !more && err == nil || !yield(m, err) || err != nil {
				return
			}
		}
	}
}
