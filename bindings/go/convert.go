package gnnmg

import (
	"bytes"
	"math"
	"strings"
	"time"
	"unsafe"

	"gnnmg/internal/raw"
)

// configure fills settings with the library's defaults and has the options change them.
func configure[C, R any, P interface {
	*C
	from(*R)
	to(*R) error
}](defaults func() raw.Result, c *C, r *R, options []func(*C)) error {
	if err := raw.Load(); err != nil {
		return refuse(ErrDependency, "%v", err)
	}
	if err := failure(defaults()); err != nil || len(options) == 0 {
		return err
	}
	P(c).from(r)
	for _, option := range options {
		if option != nil {
			option(c)
		}
	}
	return P(c).to(r)
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

// listOf is the entries of a field up to the first 0.
func listOf[T ~int32 | ~int](field []int32) []T {
	var list []T
	for _, entry := range field {
		if entry == 0 {
			break
		}
		list = append(list, T(entry))
	}
	return list
}

// setList copies entries into a field and appends 0.
func setList[T ~int32 | ~int](what string, field []int32, list []T) error {
	if len(list) > len(field) {
		return tooLong(what, len(list), len(field))
	}
	clear(field)
	for i, entry := range list {
		if entry == 0 || int64(entry) != int64(int32(entry)) {
			return refuse(ErrInvalidArgument, "%s[%d] is %d, expected a number of 32 bits other than 0", what, i, entry)
		}
		field[i] = int32(entry)
	}
	return nil
}

// intsOf returns the entries in a field of a struct; nil if there are none.
func intsOf(field []int32) []int {
	var list []int
	for _, entry := range field {
		list = append(list, int(entry))
	}
	return list
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
