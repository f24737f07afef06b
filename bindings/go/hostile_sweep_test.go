package gnnmg_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"gnnmg"
)

// hostile is an argument that nobody should give, of any type, of three kinds: nothing, too small and broken, too large.
func hostile(of reflect.Type, kind int) reflect.Value {
	if of == reflect.TypeFor[context.Context]() {
		ctx, cancel := context.WithTimeout(background, 5*time.Millisecond)
		context.AfterFunc(ctx, cancel)
		return reflect.ValueOf(ctx)
	}
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		most := int64(math.MaxInt64)
		if of.Kind() == reflect.Int32 {
			most = math.MaxInt32
		}
		v.SetInt([]int64{0, -most - 1, most}[kind])
	case reflect.Uint64:
		v.SetUint([]uint64{0, 1, math.MaxUint64}[kind])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, math.NaN(), math.Inf(1)}[kind])
	case reflect.Bool:
		v.SetBool(kind > 0)
	case reflect.String:
		v.SetString([]string{"", "a\x00b", strings.Repeat("x", 1<<16)}[kind])
	case reflect.Pointer:
		if kind > 0 {
			v.Set(reflect.New(of.Elem())) // a zero object; settings, all of them wrong
			if of.Elem().Kind() == reflect.Struct && strings.HasSuffix(of.Elem().Name(), "Config") {
				v.Elem().Set(hostile(of.Elem(), kind))
			}
		}
	case reflect.Slice:
		if kind > 0 {
			v.Set(reflect.MakeSlice(of, 0, 0))
			for range kind * 20 {
				v.Set(reflect.Append(v, hostile(of.Elem(), kind)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				v.Field(i).Set(hostile(of.Field(i).Type, kind))
			}
		}
	case reflect.Func:
		if kind > 0 {
			v.Set(reflect.MakeFunc(of, func(arguments []reflect.Value) []reflect.Value {
				for _, a := range arguments {
					if a.Kind() == reflect.Pointer && strings.HasSuffix(a.Type().Elem().Name(), "Config") {
						a.Elem().Set(hostile(a.Type().Elem(), kind))
					}
				}
				var results []reflect.Value
				for i := range of.NumOut() {
					results = append(results, reflect.New(of.Out(i)).Elem())
				}
				return results
			}))
		}
	}
	return v
}

// useUp takes one value from an iterator and closes every value with a Close.
func useUp(result reflect.Value) {
	if result.Kind() == reflect.Func && !result.IsNil() && result.Type().NumIn() == 1 && result.Type().NumOut() == 0 {
		yield := reflect.MakeFunc(result.Type().In(0), func(values []reflect.Value) []reflect.Value {
			for _, v := range values {
				useUp(v)
			}
			return []reflect.Value{reflect.ValueOf(false)}
		})
		result.Call([]reflect.Value{yield})
	}
	if object, is := result.Interface().(interface{ Close() error }); is && !(result.Kind() == reflect.Pointer && result.IsNil()) {
		_ = object.Close()
	}
}

// Every method of every type, on nil, on an object that nobody made, on one that is closed and on one that is well, with
// arguments that nobody should give: an answer, and never a panic or a crash.
func TestEveryMethodWithHostileArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	objects := func() []any {
		w := newWorld(t)
		loader := made[*gnnmg.Loader](t)(gnnmg.NewLoader(w.data, w.sampler))
		batch := made[*gnnmg.Batch](t)(loader.Next(background))
		comms, err := gnnmg.NewCommGroup(w.rt, 2)
		ok(t, err)
		closing(t, comms[1], nil)
		optimizer := made[*gnnmg.Optimizer](t)(gnnmg.NewOptimizer(made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, w.data))))
		ok(t, w.data.SaveParts(background, "parts", nil, func(c *gnnmg.PartsConfig) { c.Fanouts = nil }))
		server := made[*gnnmg.Server](t)(gnnmg.NewServer(background, w.rt, "parts", nil, "127.0.0.1:0", ""))
		predictor := made[*gnnmg.Predictor](t)(gnnmg.NewPredictor(w.model, w.data))
		return []any{w.rt, w.graph, w.data, w.sampler, loader, batch, w.model, optimizer, closing(t, comms[0], nil), server,
			w.trainer(t), predictor, made[*gnnmg.Tensor](t)(w.graph.NodeTensor(0, "x"))}
	}
	call := func(state string, object reflect.Value, method reflect.Method, kind int) {
		defer func() {
			if value := recover(); value != nil {
				t.Errorf("%s of %v that is %s panics with arguments of kind %d: %v", method.Name, object.Type(), state, kind, value)
			}
		}()
		arguments := []reflect.Value{object}
		for i := 1; i < method.Type.NumIn(); i++ {
			arguments = append(arguments, hostile(method.Type.In(i), kind))
		}
		results := []reflect.Value{}
		if method.Type.IsVariadic() {
			results = method.Func.CallSlice(arguments)
		} else {
			results = method.Func.Call(arguments)
		}
		for _, result := range results {
			useUp(result)
		}
	}
	calls := 0
	for kind := range 3 {
		well, closed := objects(), objects()
		for i := range well {
			ok(t, closed[i].(interface{ Close() error }).Close())
			of := reflect.TypeOf(well[i])
			for m := range of.NumMethod() {
				method := of.Method(m)
				call("nil", reflect.Zero(of), method, kind)
				call("zero", reflect.New(of.Elem()), method, kind)
				call("closed", reflect.ValueOf(closed[i]), method, kind)
				if method.Name != "Close" {
					call("well", reflect.ValueOf(well[i]), method, kind)
				}
				calls += 4
			}
		}
	}
	if calls < 1000 {
		t.Errorf("only %d calls were made", calls)
	}
}
