package raw

// #include "shims.gen.h"
// #include <stdlib.h>
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Statuses that are not errors.
const (
	OK      = int32(C.GNNMG_OK)
	End     = int32(C.GNNMG_END)
	Pending = int32(C.GNNMG_PENDING)
)

// A Result is what a function answered, and what is known when that is an error.
type Result struct {
	Status  int32
	Failure *Failure // nil unless Status is below 0
}

// A Failure is all that is known about a call that failed.
type Failure struct {
	Rank, SystemError int32
	Text              string
}

// finish takes what a shim has found out about a call.
func finish(o C.outcome) Result {
	if o.status >= 0 {
		return Result{Status: int32(o.status)}
	}
	return failed(o)
}

func failed(o C.outcome) Result {
	reach(indexLastError)
	reach(indexLastErrorInfo)
	f := &Failure{Rank: -1, Text: "no memory for the text of an error"}
	if o.error != nil {
		f.Rank, f.SystemError = int32(o.error.rank), int32(o.error.system_error)
		f.Text = C.GoString(o.error.text)
		C.free(unsafe.Pointer(o.error.text))
		C.free(unsafe.Pointer(o.error))
	}
	return Result{int32(o.status), f}
}

// OnReach, when set before the first call, is told the index in Functions of each function that is
// called, for tests that want to know which they reach.
var OnReach func(index int)

func reach(index int) {
	if OnReach != nil {
		OnReach(index)
	}
}

func wanted(want bool) C.int32_t {
	if want {
		return 1
	}
	return 0
}

// Version is that of the library, 0 when it is not loaded.
func Version() int32 {
	reach(indexVersion)
	return int32(C.shim_version())
}

// StatusName is the name of a status: "ERR_FORMAT" and so on.
func StatusName(status int32) string {
	reach(indexStatusName)
	return C.GoString(C.shim_status_name(C.gnnmg_status(status)))
}

// Text copies a text of C's.
func Text(address unsafe.Pointer) string { return C.GoString((*C.char)(address)) }

// A LayerFunc is a custom sampler. The info and the targets live as long as the call.
type LayerFunc func(layer *LayerInfo, targets []int64, sink uintptr) int32

// An EpochFunc is called after an epoch. The info lives as long as the call.
type EpochFunc func(epoch *EpochInfo) int32

// A LossFunc computes the loss of a mini-batch, which lives as long as the call.
type LossFunc func(batch *LossBatch) int32

// A release is called once when the library needs a tensor's memory no more.
type release func()

//export gnnmgGoLayer
func gnnmgGoLayer(layer, targets unsafe.Pointer, numTargets int64, sink, userData uintptr) int32 {
	function := cgo.Handle(userData).Value().(LayerFunc)
	return function((*LayerInfo)(layer), unsafe.Slice((*int64)(targets), numTargets), sink)
}

//export gnnmgGoEpoch
func gnnmgGoEpoch(epoch unsafe.Pointer, userData uintptr) int32 {
	return cgo.Handle(userData).Value().(EpochFunc)((*EpochInfo)(epoch))
}

//export gnnmgGoLoss
func gnnmgGoLoss(batch unsafe.Pointer, userData uintptr) int32 {
	return cgo.Handle(userData).Value().(LossFunc)((*LossBatch)(batch))
}

//export gnnmgGoRelease
func gnnmgGoRelease(userData uintptr) {
	handle := cgo.Handle(userData)
	value := handle.Value()
	handle.Delete()
	if f, ok := value.(release); ok {
		f()
	}
}

// keep registers a value until gnnmgGoRelease, which the library calls also when a call fails. A
// library that is not there calls nothing, so then nothing is registered.
func keep(value any) C.uintptr_t {
	if C.gnnmg_loaded == 0 {
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(value))
}

// TensorCreate wraps memory that stays where it is until `onRelease`, or, where that is nil, until
// TensorFree. On failure `onRelease` has been called.
func TensorCreate(data unsafe.Pointer, dtype int32, shape []int64, onRelease func()) (Result, uintptr) {
	reach(indexTensorCreate)
	var userData C.uintptr_t
	if onRelease != nil {
		userData = keep(release(onRelease))
	}
	r := C.shim_tensor_create(data, C.int32_t(dtype), C.int32_t(len(shape)),
		(*C.int64_t)(unsafe.Pointer(unsafe.SliceData(shape))), userData)
	return finish(r.outcome), uintptr(r.token)
}

// SamplerCreateCustom makes a sampler that calls a function.
func SamplerCreateCustom(graph uintptr, settings *byte, function LayerFunc) (Result, uintptr) {
	reach(indexSamplerCreateCustom)
	r := C.shim_sampler_create_custom(C.uintptr_t(graph),
		(*C.char)(unsafe.Pointer(settings)), keep(function))
	return finish(r.outcome), uintptr(r.token)
}

// TrainerSetLoss replaces the loss of training; nil: that of the config.
func TrainerSetLoss(trainer uintptr, loss LossFunc) Result {
	reach(indexTrainerSetLoss)
	var userData C.uintptr_t
	if loss != nil {
		userData = keep(loss)
	}
	return finish(C.shim_trainer_set_loss(C.uintptr_t(trainer), userData))
}

// TrainerStart starts training; `onEpoch` may be nil.
func TrainerStart(trainer uintptr, onEpoch EpochFunc) Result {
	reach(indexTrainerStart)
	var userData C.uintptr_t
	if onEpoch != nil {
		userData = keep(onEpoch)
	}
	return finish(C.shim_trainer_start(C.uintptr_t(trainer), userData))
}

// TrainerRun trains to the end; `onEpoch` may be nil.
func TrainerRun(trainer uintptr, onEpoch EpochFunc) Result {
	reach(indexTrainerRun)
	var userData C.uintptr_t
	if onEpoch != nil {
		userData = keep(onEpoch)
	}
	return finish(C.shim_trainer_run(C.uintptr_t(trainer), userData))
}
