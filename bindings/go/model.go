package gnnmg

import (
	"context"
	"encoding/json"
	"runtime"

	"gnnmg/internal/raw"
)

// A Model is layers and parameters. Parameters lie in one flat array and gradients in another; each
// parameter is a piece of them under the key that PyG, or DGL, gives it.
type Model struct {
	handle
	rt *Runtime
}

func adoptModel(rt *Runtime, r raw.Result, token uintptr) (*Model, error) {
	if err := failure(r); err != nil {
		return nil, err
	}
	m := &Model{rt: rt}
	return adopt(m, &m.handle, token, raw.ModelFree), nil
}

// NewModel makes a model with initial weights. The data set supplies settings that are left out,
// such as widths; it may be nil if none are. A model of [ArchitectureLayers] gets its layers from
// [Model.AddConv] and the other Add methods.
func NewModel(rt *Runtime, d *Dataset, options ...func(*ModelConfig)) (*Model, error) {
	defer runtime.KeepAlive(rt)
	defer runtime.KeepAlive(d)
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.ModelCreate(rt.token(), d.token(), nil, words)
	return adoptModel(rt, r, token)
}

// OpenModel makes a model from a file or folder of [Model.Save] alone: architecture, widths and all
// other settings come from the file. It also opens the folder of a checkpoint.
func OpenModel(rt *Runtime, path string) (*Model, error) {
	defer runtime.KeepAlive(rt)
	p, err := name("path", path)
	if err != nil {
		return nil, err
	}
	r, token := raw.ModelOpen(rt.token(), p)
	return adoptModel(rt, r, token)
}

// Copy makes a model of its own with equal weights.
func (m *Model) Copy() (*Model, error) {
	defer runtime.KeepAlive(m)
	r, token := raw.ModelCreateCopy(m.token())
	return adoptModel(m.runtime(), r, token)
}

// SetDevice puts the model on a GPU, by [DeviceCUDA] and its number, or back into main memory, by
// [DeviceCPU] and 0. Weights and gradients move, and passes, evaluation and updates then work there,
// with mini-batches of a loader for the same GPU. It is [ErrBusy] while an optimizer or a trainer of
// the model is there. `stream` is a CUDA stream of the caller's on that GPU, a cudaStream_t as a
// number, which outlives the model: calls return when their work is in it. 0 is one of the library's
// own: calls return when their work is done.
func (m *Model) SetDevice(device DeviceType, index int, stream uint64) error {
	defer runtime.KeepAlive(m)
	return failure(raw.ModelSetDevice(m.token(), int32(device), narrow(index), stream))
}

// Close frees the model; trainers and optimizers keep the parts that they need.
func (m *Model) Close() error {
	if m == nil {
		return nil
	}
	return m.end()
}

// Info returns kind, widths, and the number of parameters.
func (m *Model) Info() (ModelInfo, error) {
	defer runtime.KeepAlive(m)
	return fetch[ModelInfo](func(info *raw.ModelInfo) raw.Result { return raw.ModelGetInfo(m.token(), info) })
}

// Config tells the settings of the model, to make another one like it.
func (m *Model) Config() (ModelConfig, error) {
	text, err := m.Settings()
	if err != nil {
		return ModelConfig{}, err
	}
	var file struct{ Settings ModelConfig }
	file.Settings.setDefaults()
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return ModelConfig{}, refuse(ErrInternal, "settings of the model: %v", err)
	}
	return file.Settings, nil
}

// Settings tells all settings as JSON, as [Model.Save] writes them, also the layers of a model of
// [ArchitectureLayers], and the task of its data set.
func (m *Model) Settings() (text string, err error) {
	defer runtime.KeepAlive(m)
	if m == nil {
		return "", errNil("Model")
	}
	m.reading(func() {
		var r raw.Result
		r, text = raw.ModelGetSettings(m.token())
		err = failure(r)
	})
	return text, err
}

// A TensorKey is the key of one of a model's tensors, as "convs.0.lin_l.weight".
type TensorKey struct {
	Key     string
	Trained bool // a parameter; else a buffer, such as a running mean
}

// TensorKeys lists the model's tensors, parameters first.
func (m *Model) TensorKeys() (all []TensorKey, err error) {
	defer runtime.KeepAlive(m)
	if m == nil {
		return nil, errNil("Model")
	}
	m.reading(func() {
		for i := int64(0); ; i++ {
			r, key, trained := raw.ModelTensorKey(m.token(), i)
			if err = failure(r); r.Status != raw.OK {
				return
			}
			all = append(all, TensorKey{key, trained != 0})
		}
	})
	return all, err
}

// Tensor is one parameter or buffer. It shares memory with the model: read or write it only while no
// call works on the model.
func (m *Model) Tensor(key string) (*Tensor, error) {
	defer runtime.KeepAlive(m)
	k, err := name("key", key)
	if err != nil {
		return nil, err
	}
	return adoptTensor(raw.ModelExportTensor(m.token(), k))
}

// SetTensor copies values into one parameter or buffer.
func (m *Model) SetTensor(key string, values *Tensor) error {
	defer runtime.KeepAlive(m)
	k, err := name("key", key)
	if err != nil {
		return err
	}
	address, done, err := values.lend()
	if err != nil {
		return err
	}
	defer done()
	return failure(raw.ModelSetTensor(m.token(), k, address))
}

// SetTrainable freezes the parameters whose keys match a pattern such as "convs.0.*", or lets them
// be trained again. Frozen parameters have no gradient, and no update changes them. Tensors that were
// taken from the model before no longer share its memory. [ErrBusy] while the model has an optimizer
// or a trainer.
func (m *Model) SetTrainable(pattern string, trainable bool) error {
	defer runtime.KeepAlive(m)
	p, err := name("pattern", pattern)
	if err != nil {
		return err
	}
	return failure(raw.ModelSetTrainable(m.token(), p, flag(trainable)))
}

// Gradient is the gradient of one parameter, sharing memory with the model; 0 where it got none.
func (m *Model) Gradient(key string) (*Tensor, error) {
	defer runtime.KeepAlive(m)
	k, err := name("key", key)
	if err != nil {
		return nil, err
	}
	return adoptTensor(raw.ModelExportGradient(m.token(), k))
}

// Parameters is all parameters as one array, sharing memory with the model.
func (m *Model) Parameters() (*Tensor, error) {
	defer runtime.KeepAlive(m)
	return adoptTensor(raw.ModelExportParameters(m.token()))
}

// Gradients returns all gradients as one array that shares memory with the model, for AllReduce.
func (m *Model) Gradients() (*Tensor, error) {
	defer runtime.KeepAlive(m)
	return adoptTensor(raw.ModelExportGradients(m.token()))
}

// Infer is the model's result for the seeds of a mini-batch, [seeds, output]. Any number of goroutines
// may call it at once.
func (m *Model) Infer(b *Batch) (*Tensor, error) {
	defer runtime.KeepAlive(m)
	defer runtime.KeepAlive(b)
	return adoptTensor(raw.ModelInfer(m.token(), b.token()))
}

// Forward is the result of a training pass, which has dropout and is kept for Backward.
func (m *Model) Forward(b *Batch) (*Tensor, error) {
	defer runtime.KeepAlive(m)
	defer runtime.KeepAlive(b)
	return adoptTensor(raw.ModelForward(m.token(), b.token(), true))
}

// Train is Forward without copying the result out: Backward comes next.
func (m *Model) Train(b *Batch) error {
	defer runtime.KeepAlive(m)
	defer runtime.KeepAlive(b)
	r, _ := raw.ModelForward(m.token(), b.token(), false)
	return failure(r)
}

// Backward adds the gradient of the last training pass's loss to the model's gradients and tells the
// mini-batch's share of the step's loss: over the mini-batches of a step, on all ranks, shares add
// up to the step's mean.
func (m *Model) Backward(loss Loss) (float64, error) {
	defer runtime.KeepAlive(m)
	r, value := raw.ModelBackward(m.token(), int32(loss))
	return value, failure(r)
}

// BackwardFrom is Backward for a custom loss: the gradient is that of the loss by the result
// of Forward, of the same shape and of the model's type.
func (m *Model) BackwardFrom(gradient *Tensor) error {
	defer runtime.KeepAlive(m)
	address, done, err := gradient.lend()
	if err != nil {
		return err
	}
	defer done()
	return failure(raw.ModelBackwardFrom(m.token(), address))
}

// Evaluate returns exact metrics over a part of the data set's split, with full neighborhoods.
func (m *Model) Evaluate(ctx context.Context, d *Dataset, part Part) (Metrics, error) {
	return m.EvaluateTopK(ctx, d, part, 0)
}

// EvaluateTopK is Evaluate with another number of classes for TopKAccuracy than 5.
func (m *Model) EvaluateTopK(ctx context.Context, d *Dataset, part Part, topK int) (Metrics, error) {
	metrics, _, err := m.evaluate(ctx, d, part, topK, false)
	return metrics, err
}

// Confusion is Evaluate with the confusion matrix of int64: [classes, classes], labeled rows by class
// and by predicted class, or for binary targets [targets, 2, 2].
func (m *Model) Confusion(ctx context.Context, d *Dataset, part Part) (Metrics, *Tensor, error) {
	return m.evaluate(ctx, d, part, 0, true)
}

func (m *Model) evaluate(ctx context.Context, d *Dataset, part Part, topK int, confusion bool) (Metrics, *Tensor, error) {
	defer runtime.KeepAlive(m)
	defer runtime.KeepAlive(d)
	if m == nil {
		return Metrics{}, nil, errNil("Model")
	}
	return evaluated(confusion, func(metrics *raw.Metrics, call func(raw.Result, uintptr) raw.Result) error {
		return m.rt.await(ctx, func(timeoutMs int64) raw.Result {
			return call(raw.ModelEvaluate(m.token(), d.token(), int32(part), narrow(topK), metrics, confusion, timeoutMs))
		})
	})
}

// evaluated makes a call that gives metrics and, if wanted, a confusion matrix.
func evaluated(confusion bool, evaluate func(metrics *raw.Metrics, call func(raw.Result, uintptr) raw.Result) error) (Metrics, *Tensor, error) {
	var metrics raw.Metrics
	var result raw.Result
	var matrix uintptr
	err := evaluate(sized(&metrics), func(r raw.Result, token uintptr) raw.Result {
		result, matrix = r, token
		return r
	})
	if err != nil {
		return Metrics{}, nil, err
	}
	found := readMetrics(&metrics)
	if !confusion {
		return found, nil, nil
	}
	tensor, err := adoptTensor(result, matrix)
	return found, tensor, err
}

// Embed returns the model's result for every node, [nodes, output], with full neighborhoods; for a
// model with a readout, the result for every graph of a data set of many.
func (m *Model) Embed(ctx context.Context, d *Dataset) (*Tensor, error) {
	defer runtime.KeepAlive(m)
	defer runtime.KeepAlive(d)
	if m == nil {
		return nil, errNil("Model")
	}
	var r raw.Result
	var rows uintptr
	err := m.rt.await(ctx, func(timeoutMs int64) raw.Result {
		r, rows = raw.ModelEmbed(m.token(), d.token(), 0, nil, true, timeoutMs)
		return r
	})
	if err != nil {
		return nil, err
	}
	return adoptTensor(r, rows)
}

// EmbedToFile is Embed straight into a .npy file, which appears whole or not at all. The rows never
// lie in memory together.
func (m *Model) EmbedToFile(ctx context.Context, d *Dataset, path string) error {
	defer runtime.KeepAlive(m)
	defer runtime.KeepAlive(d)
	if m == nil {
		return errNil("Model")
	}
	p, err := name("path", path)
	if err != nil {
		return err
	}
	return m.rt.await(ctx, func(timeoutMs int64) raw.Result {
		r, _ := raw.ModelEmbed(m.token(), d.token(), 0, p, false, timeoutMs)
		return r
	})
}

// Save writes parameters and buffers under the keys of the model's framework, and all settings, whole or not at all; the end
// of the path says in which format unless the settings do. [OpenModel] needs nothing else. Into a folder, or a path that ends
// with "/", it writes model.safetensors and config.json.
func (m *Model) Save(ctx context.Context, path string, options ...func(*ModelFileConfig)) error {
	return m.file(ctx, path, options, raw.ModelSave)
}

// Load reads parameters and buffers under those keys, all or nothing: the text of the error lists every
// key that is missing, unexpected, or of another shape. [ErrMismatch] lists the settings of the file
// that differ from the model's, where results depend on them.
func (m *Model) Load(ctx context.Context, path string, options ...func(*ModelFileConfig)) error {
	return m.file(ctx, path, options, raw.ModelLoad)
}

func (m *Model) file(ctx context.Context, path string, options []func(*ModelFileConfig),
	call func(model uintptr, path *byte, settings *byte, timeoutMs int64) raw.Result) error {
	defer runtime.KeepAlive(m)
	if m == nil {
		return errNil("Model")
	}
	words, err := settings(options)
	if err != nil {
		return err
	}
	p, err := name("path", path)
	if err != nil {
		return err
	}
	return m.rt.await(ctx, func(timeoutMs int64) raw.Result { return call(m.token(), p, words, timeoutMs) })
}
