// Package gnnmg trains graph neural networks, with libgnnmg.
//
// A program opens a data set, sets how to sample neighborhoods, describes a model, and trains; see
// the example of the package. The same loop exists at three levels, each built on the next:
// [Trainer.Run], [Trainer.Step], and [Loader.All] with [Model.Train], [Model.Backward],
// [Comm.AllReduce] and [Optimizer.Step].
//
// # The library
//
// The library is opened when the first [Runtime] is made: from the installed or built tree in the
// environment variable GNNMG_DIR, else through the loader's path, else through pkg-config. Programs
// build without it. A library of another version is refused with [ErrDependency]; the text names
// both versions.
//
// # Objects
//
// Everything that New and Open functions make has a Close, which never waits and may be called
// twice, in any order, from any goroutine. The garbage collector frees the rest; Close frees memory
// at once and ends work: closing a running trainer, a loader, or a communicator cancels it. An
// object lives as long as another needs it. A nil or closed object is an error, [ErrHandle].
//
// # Settings
//
// Settings are made by functions that change the library's defaults, so a field left out has its
// default and not zero, except in [RuntimeConfig], [CommConfig], [OpenPartsConfig], [ServerConfig] and
// [CheckpointConfig], where 0 stands for the default:
//
//	sampler, err := gnnmg.NewSampler(graph, func(c *gnnmg.SamplerConfig) {
//		c.Fanouts = []int64{15, 10, 5}
//	})
//
// Several are applied one after another. The library checks all of them. Enumerations may grow with the library; a value that this
// version of the package does not know prints as a number.
//
// # Errors
//
// A failed call returns an [*Error] with status, rank, errno and one line of text. [errors.Is]
// finds the status ([ErrNotFound], [ErrPeerLost], ...), the errno, the error of a context that has
// ended, and the error of a callback; [errors.As] finds a [*PanicError] if a callback panicked. The
// end of an epoch or of training is [io.EOF].
//
// # Waiting
//
// Calls that can wait take a [context.Context]. When it ends, the work is cancelled and the error is
// both [ErrCancelled] and the context's. [Trainer.Wait] alone ends its waiting only, for training
// goes on. Cancelling a trainer or a loader leaves it usable; a communicator is spent. A context
// without an end waits until the deadlines of the settings.
//
// # Goroutines
//
// Calls that only read an object run together. One that changes it or works with it runs alone: while
// it does, other calls on the object are [ErrBusy], never a race. A [Runtime], a [Graph] that is
// complete, a [Dataset] and a [Sampler] are for sharing; a [Model], a [Loader], an [Optimizer] and a
// [Comm] are for one goroutine at a time; Close, Cancel, Stop, Progress and messages are for any.
//
// # Callbacks
//
// Functions given to the library run on a goroutine of their own while a call waits in the library:
// [Trainer.Run] and its like, [Loader.Next], [Sampler.Sample], or [Runtime.Lend], which lends
// further goroutines to custom samplers. An error, a panic, or [runtime.Goexit] ends the work. They
// may make calls that do not wait.
//
// # Arrays
//
// A [Tensor] is a slice of Go's with a shape ([TensorOf]) or memory of the library's, without a
// copy. [Values] is a slice over it, valid while the tensor is: until its Close, that of its batch,
// or until nobody holds it. [View] and [Rows] keep it for the length of a function or loop, and
// [Copy] copies. Set methods copy, Import methods share: memory of Go's is pinned as long as the
// library needs it and must not be changed. [Tensor.DLPack] and [FromDLPack] share memory with
// other libraries.
package gnnmg

//go:generate go run ./internal/gen ../../include/gnnmg.h ../settings.json
