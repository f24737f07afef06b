package gnnmg

import (
	"bytes"
	"math"
	"strings"
	"time"
	"unsafe"

	"gnnmg/internal/raw"
)

// configure has options change a config, of which 0 is the default in every field, and makes the
// struct R of it.
func configure[R, C any, P interface {
	*C
	to(*R)
}](options []func(*C)) *R {
	var c C
	for _, option := range options {
		if option != nil {
			option(&c)
		}
	}
	r := sized(new(R))
	P(&c).to(r)
	return r
}

func flag(set bool) int32 {
	if set {
		return 1
	}
	return 0
}

// narrow is a number on its way to 32 bits; one that does not fit stays out of every range that the
// library accepts.
func narrow(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// milliseconds is a time as the library counts it, rounded up: a short time is not none.
func milliseconds(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d > time.Duration(ms)*time.Millisecond {
		ms++
	}
	return ms
}

func fromMilliseconds(ms int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	return time.Duration(min(max(ms, -most), most)) * time.Millisecond
}

// textOf is the text in a field of a struct.
func textOf(field []byte) string {
	text, _, _ := bytes.Cut(field, []byte{0})
	return string(text)
}

// A name is a text on its way to the library; nil stands for none.
func name(argument, text string) (*byte, error) {
	if at := strings.IndexByte(text, 0); at >= 0 {
		return nil, refuse(ErrInvalidArgument, "argument '%s' has a NUL at byte %d", argument, at)
	}
	return unsafe.SliceData(append([]byte(text), 0)), nil
}

// nameOrNone is name, with "" for none.
func nameOrNone(argument, text string) (*byte, error) {
	if text == "" {
		return nil, nil
	}
	return name(argument, text)
}

// sized is a struct that the library fills, with its size set.
func sized[R any](r *R) *R {
	*(*uint32)(unsafe.Pointer(r)) = uint32(unsafe.Sizeof(*r)) // struct_size comes first in every struct
	return r
}

// fetch has the library fill a struct R and turns it into the C that users see.
func fetch[C, R any, P interface {
	*C
	from(*R)
}](call func(*R) raw.Result) (C, error) {
	var c C
	var r R
	if err := failure(call(sized(&r))); err != nil {
		return c, err
	}
	P(&c).from(&r)
	return c, nil
}

// optional reads a struct that may not be there.
func optional[C, R any](r *R, read func(*R) C) *C {
	if r == nil {
		return nil
	}
	c := read(r)
	return &c
}
