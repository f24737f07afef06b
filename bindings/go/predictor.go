package gnnmg

import (
	"runtime"
	"unsafe"

	"gnnmg/internal/raw"
)

// A Predictor is a trained model in use: results for the nodes or graphs of a data set, for any number
// of goroutines at once. It has a copy of the weights, so training the model further does not change
// its answers.
type Predictor struct {
	handle
}

// NewPredictor makes a predictor from a copy of a model's weights. Without Fanouts neighborhoods are
// whole, and results exact.
func NewPredictor(m *Model, d *Dataset, options ...func(*PredictorConfig)) (*Predictor, error) {
	defer runtime.KeepAlive(m)
	defer runtime.KeepAlive(d)
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	r, token := raw.PredictorCreate(m.token(), d.token(), words)
	if err := failure(r); err != nil {
		return nil, err
	}
	p := new(Predictor)
	return adopt(p, &p.handle, token, raw.PredictorFree), nil
}

// Predict returns results for these nodes or graphs, one row after another. [OutputClasses] are int64,
// everything else is of the model's type, float32 or float64. [ErrRange] names an id that there is not,
// [ErrUnsupported] an output that the model or the task does not have.
func Predict[T float32 | float64 | int64](p *Predictor, ids []int64, output Output) ([]T, error) {
	defer runtime.KeepAlive(p)
	dtype := DTypeI64
	if output != OutputClasses {
		info, err := p.Info()
		if err != nil {
			return nil, err
		}
		dtype = info.DType
	}
	if dtype != dtypeOf[T]() {
		return nil, refuse(ErrInvalidArgument, "the output has elements of type %v, and %v is asked for", dtype, dtypeOf[T]())
	}
	first, count := unsafe.SliceData(ids), int64(len(ids))
	r, needed := raw.PredictorRun(p.token(), first, count, int32(output), nil, 0)
	if err := failure(r); err != nil {
		return nil, err
	}
	var zero T
	rows := make([]T, needed/uint64(unsafe.Sizeof(zero)))
	r, _ = raw.PredictorRun(p.token(), first, count, int32(output), unsafe.Pointer(unsafe.SliceData(rows)), needed)
	if err := failure(r); err != nil {
		return nil, err
	}
	return rows, nil
}

// Info has facts about the predictor, and the times of its calls.
func (p *Predictor) Info() (PredictorInfo, error) {
	defer runtime.KeepAlive(p)
	return fetch[PredictorInfo](func(info *raw.PredictorInfo) raw.Result { return raw.PredictorGetInfo(p.token(), info) })
}

// Close gives the predictor back. Calls that run are answered.
func (p *Predictor) Close() error {
	if p == nil {
		return nil
	}
	return p.end()
}
