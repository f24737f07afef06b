package gnnmg

import (
	"iter"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"gnnmg/internal/raw"
)

// Float16 is the bits of an IEEE half.
type Float16 uint16

// BFloat16 is the bits of a bfloat16.
type BFloat16 uint16

// An Element is an element type of tensors.
type Element interface {
	float32 | float64 | Float16 | BFloat16 | int64 | int32 | uint8 | bool
}

func dtypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return DTypeF32
	case float64:
		return DTypeF64
	case Float16:
		return DTypeF16
	case BFloat16:
		return DTypeBF16
	case int64:
		return DTypeI64
	case int32:
		return DTypeI32
	case uint8:
		return DTypeU8
	default:
		return DTypeBool
	}
}

// A Tensor is an array of at most 4 dimensions, contiguous, row by row: a slice of Go's, made by
// [TensorOf], or memory of the library's, which is shared without a copy. Tensors of a model or a
// mini-batch on a GPU are in its memory, and [Tensor.CopyFrom] copies them to main memory. Memory
// of the library's lives until Close, or until the tensor can no longer be reached; slices of it
// (see [Values]) must not be used after that.
type Tensor struct {
	dtype    DType
	shape    []int64
	readOnly bool
	gpu      int // number of the GPU that it lies on; -1: main memory
	data     unsafe.Pointer
	length   int
	memory   *memory // the library's; nil: a slice of Go's
	slice    any     // Go's
	err      error   // error of its construction; every use returns it
	cleanup  runtime.Cleanup
}

// A memory is a tensor of the library's, which is freed only when no call and no View uses it.
type memory struct {
	mu     sync.Mutex
	token  uintptr
	users  int
	closed bool
}

// acquire gives the token for the length of a call, 0 after a close.
func (m *memory) acquire() uintptr {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0
	}
	m.users++
	return m.token
}

func (m *memory) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users--
	m.freeIfUnused()
}

func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.freeIfUnused()
}

func (m *memory) freeIfUnused() {
	if m.closed && m.users == 0 && m.token != 0 {
		raw.TensorFree(m.token)
		m.token = 0
		live.Add(-1)
	}
}

// take gives the token to the library for good; giveBack undoes it when the library did not want
// it.
func (m *memory) take() (uintptr, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return 0, errTensorClosed()
	case m.users > 0:
		return 0, refuse(ErrBusy, "the tensor is in use by another call")
	}
	token := m.token
	m.token, m.closed = 0, true
	return token, nil
}

func (m *memory) giveBack(token uintptr) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.token, m.closed = token, false
}

func errTensorClosed() error {
	return refuse(ErrHandle, "the tensor was closed, or given to a graph")
}

// TensorOf makes a tensor of a slice, without copying it. Without a shape it has one dimension. A
// shape that does not fit is an error of whatever the tensor is given to.
func TensorOf[T Element](data []T, shape ...int64) *Tensor {
	if len(shape) == 0 {
		shape = []int64{int64(len(data))}
	}
	t := &Tensor{dtype: dtypeOf[T](), shape: slices.Clone(shape), gpu: -1, slice: data, length: len(data)}
	t.data = unsafe.Pointer(unsafe.SliceData(data))
	product := int64(1)
	for _, n := range shape {
		if n < 0 || n > 0 && product > int64(len(data)) {
			product = -1
			break
		}
		product *= n
	}
	if product != int64(len(data)) {
		t.err = refuse(ErrInvalidArgument, "a tensor of shape %v cannot be made of %d elements", shape, len(data))
	}
	return t
}

// adoptTensor owns the result of an export function.
func adoptTensor(r raw.Result, token uintptr) (*Tensor, error) {
	if err := failure(r); err != nil || token == 0 {
		return nil, err
	}
	var info raw.TensorInfo
	if err := failure(raw.TensorGetInfo(token, sized(&info))); err != nil {
		raw.TensorFree(token)
		return nil, err
	}
	t := &Tensor{dtype: DType(info.DType), readOnly: info.ReadOnly != 0, gpu: -1, data: info.Data,
		shape: slices.Clone(info.Shape[:info.NumDims]), length: int(info.NumElements),
		memory: &memory{token: token}}
	if DeviceType(info.DeviceType) == DeviceCUDA {
		t.gpu = int(info.DeviceIndex)
	}
	live.Add(1)
	t.cleanup = runtime.AddCleanup(t, (*memory).close, t.memory)
	return t, nil
}

// adoptTensors owns several of them, all or none; a tensor that was not there is nil.
func adoptTensors(r raw.Result, tokens ...uintptr) ([]*Tensor, error) {
	if err := failure(r); err != nil {
		return make([]*Tensor, len(tokens)), err
	}
	var first error
	all := make([]*Tensor, len(tokens))
	for i, token := range tokens {
		var err error
		if all[i], err = adoptTensor(r, token); err != nil && first == nil {
			first = err
		}
	}
	return all, first
}

// DType is the type of the elements.
func (t *Tensor) DType() DType { return t.orZero().dtype }

// Shape is the sizes, rows first.
func (t *Tensor) Shape() []int64 { return slices.Clone(t.orZero().shape) }

// Len is the number of elements.
func (t *Tensor) Len() int { return t.orZero().length }

// ReadOnly tells that the memory is shared and must not be written.
func (t *Tensor) ReadOnly() bool { return t.orZero().readOnly }

// GPU is the number of the GPU that the tensor lies on, -1 for main memory.
func (t *Tensor) GPU() int { return t.orZero().gpu }

// FromDLPack makes a tensor of another library's, in the same memory: the address of a
// DLManagedTensorVersioned of DLPack 1.x. The library calls its deleter later; on an error the
// tensor stays the caller's.
func FromDLPack(dlpack unsafe.Pointer) (*Tensor, error) {
	return adoptTensor(raw.TensorFromDLPack(dlpack))
}

// DLPack makes a tensor for another library, in the same memory: the address of a
// DLManagedTensorVersioned of DLPack 1.x, whose deleter that library calls. A slice of Go's stays
// pinned until then.
func (t *Tensor) DLPack() (unsafe.Pointer, error) {
	token, done, err := t.lend()
	if err != nil {
		return nil, err
	}
	defer done()
	if t.memory == nil { // pinned for longer than this call
		if token, err = t.wrap(); err != nil {
			return nil, err
		}
		defer raw.TensorFree(token)
	}
	r, dlpack := raw.TensorToDLPack(token)
	return dlpack, failure(r)
}

// CopyFrom fills the tensor with the elements of another one of the same shape and type. Each lies in
// main memory or on a GPU of the runtime's.
func (t *Tensor) CopyFrom(rt *Runtime, from *Tensor) error {
	defer runtime.KeepAlive(rt)
	source, sourceDone, err := from.lend()
	if err != nil {
		return err
	}
	defer sourceDone()
	target, targetDone, err := t.lend()
	if err != nil {
		return err
	}
	defer targetDone()
	return failure(raw.TensorCopy(rt.token(), source, target))
}

// orZero returns an empty tensor in place of nil, the export of a missing tensor.
func (t *Tensor) orZero() *Tensor {
	if t == nil {
		return &Tensor{gpu: -1}
	}
	return t
}

// Close frees memory of the library; a call that uses it keeps it until it is done. Slices of
// it must not be used any more. Slices of Go's are not concerned.
func (t *Tensor) Close() error {
	if t != nil && t.memory != nil {
		t.cleanup.Stop()
		t.memory.close()
	}
	return nil
}

// Values returns the elements of a tensor without copying, row by row. Memory of the library's is
// valid until the tensor is closed or can no longer be reached: keep the tensor as long as the
// slice, or use [View], [Rows] or [Copy]. Tensors of a [Batch] live as long as the batch. The slice
// of a read-only tensor must not be written.
func Values[T Element](t *Tensor) ([]T, error) {
	switch {
	case t == nil:
		return nil, refuse(ErrHandle, "the tensor is nil")
	case t.err != nil:
		return nil, t.err
	case t.onGPU():
		return nil, t.errGPU()
	case t.dtype != dtypeOf[T]():
		return nil, refuse(ErrInvalidArgument, "the elements of the tensor are %v, not %v", t.dtype, dtypeOf[T]())
	case t.memory == nil:
		all, _ := t.slice.([]T) // none in the zero Tensor
		return all, nil
	}
	if t.memory.acquire() == 0 {
		return nil, errTensorClosed()
	}
	defer t.memory.release()
	return unsafe.Slice((*T)(t.data), t.length), nil
}

// onGPU tells of a tensor that Go cannot read. The zero Tensor has no memory.
func (t *Tensor) onGPU() bool { return t.memory != nil && t.gpu >= 0 }

func (t *Tensor) errGPU() error {
	return refuse(ErrUnsupported, "the tensor lies on GPU %d, expected main memory: Tensor.CopyFrom copies it into one there", t.gpu)
}

// View calls a function with the elements of a tensor, which no Close and no garbage collector takes
// away while it runs.
func View[T Element](t *Tensor, use func([]T) error) error {
	if t != nil && t.memory != nil {
		if t.memory.acquire() == 0 {
			return errTensorClosed()
		}
		defer t.memory.release()
	}
	values, err := Values[T](t)
	if err != nil {
		return err
	}
	return use(values)
}

// Copy is the elements of a tensor in memory of Go's.
func Copy[T Element](t *Tensor) ([]T, error) {
	var all []T
	err := View(t, func(values []T) error {
		all = slices.Clone(values)
		return nil
	})
	return all, err
}

// Rows goes through the rows of a tensor: all that one index of the first dimension holds. The rows
// are valid in the body of the loop. It is empty where [Values] would be an error.
func Rows[T Element](t *Tensor) iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		_ = View(t, func(values []T) error {
			if len(t.shape) == 0 || t.shape[0] == 0 {
				return nil
			}
			width := len(values) / int(t.shape[0])
			for i := range int(t.shape[0]) {
				if !yield(i, values[i*width:(i+1)*width:(i+1)*width]) {
					return nil
				}
			}
			return nil
		})
	}
}

// lend has the library read or fill the tensor while a call runs; `done` ends that.
func (t *Tensor) lend() (token uintptr, done func(), err error) {
	switch {
	case t == nil:
		return 0, nil, refuse(ErrInvalidArgument, "the tensor is nil")
	case t.err != nil:
		return 0, nil, t.err
	case t.memory != nil:
		if token = t.memory.acquire(); token == 0 {
			return 0, nil, errTensorClosed()
		}
		return token, t.memory.release, nil
	}
	pin := t.pin()
	r, token := raw.TensorCreate(t.data, int32(t.dtype), t.shape, nil)
	if err := failure(r); err != nil {
		pin.Unpin()
		return 0, nil, err
	}
	return token, func() {
		raw.TensorFree(token)
		pin.Unpin()
	}, nil
}

func (t *Tensor) pin() *runtime.Pinner {
	pin := &runtime.Pinner{}
	if t.length > 0 {
		pin.Pin(t.data)
	}
	return pin
}

// wrap makes a tensor of the library's of a slice of Go's, which stays pinned while the library or
// another one needs it.
func (t *Tensor) wrap() (uintptr, error) {
	pin := t.pin()
	r, token := raw.TensorCreate(t.data, int32(t.dtype), t.shape, pin.Unpin)
	return token, failure(r)
}

// copied hands tensors to an import function that copies them: the library is given tensors of the
// call's, of which it does not learn when their memory is no longer there.
func copied(tensors []*Tensor, call func(tokens []uintptr) raw.Result) error {
	tokens := make([]uintptr, len(tensors))
	for i, t := range tensors {
		if t == nil {
			continue // not there; the library knows whether it must be
		}
		data, dtype, _, _, done, err := t.parts()
		if err != nil {
			return err
		}
		defer done()
		pin := t.pin()
		defer pin.Unpin()
		r, token := raw.TensorCreate(data, dtype, t.shape, nil)
		if err := failure(r); err != nil {
			return err
		}
		defer raw.TensorFree(token)
		tokens[i] = token
	}
	return failure(call(tokens))
}

// give hands tensors to an import function, which keeps all of them or none. Memory of Go's stays
// pinned until the library has done with it.
func give(tensors []*Tensor, call func(tokens []uintptr) raw.Result) error {
	tokens := make([]uintptr, len(tensors))
	var undo []func()
	giveBack := func() {
		for _, f := range undo {
			f()
		}
	}
	for i, t := range tensors {
		var err error
		switch {
		case t == nil:
			continue // not there; the library knows whether it must be
		case t.err != nil:
			err = t.err
		case t.memory != nil:
			if tokens[i], err = t.memory.take(); err == nil {
				undo = append(undo, func() { t.memory.giveBack(tokens[i]) })
			}
		default:
			if tokens[i], err = t.wrap(); err == nil {
				undo = append(undo, func() { raw.TensorFree(tokens[i]) })
			}
		}
		if err != nil {
			giveBack()
			return err
		}
	}
	err := failure(call(tokens))
	if err != nil {
		giveBack()
		return err
	}
	for _, t := range tensors {
		if t != nil && t.memory != nil {
			t.cleanup.Stop()
			live.Add(-1)
		}
	}
	return nil
}

// parts is the elements of a tensor as the functions take them that copy.
func (t *Tensor) parts() (data unsafe.Pointer, dtype int32, shape *int64, dims int32, done func(), err error) {
	done = func() {}
	if t != nil && t.onGPU() {
		return nil, 0, nil, 0, nil, t.errGPU()
	}
	if t == nil || t.err != nil || t.memory != nil {
		if _, done, err = t.lend(); err != nil {
			return nil, 0, nil, 0, nil, err
		}
	}
	return t.data, int32(t.dtype), unsafe.SliceData(t.shape), int32(len(t.shape)), done, nil
}
