package gnnmg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"gnnmg/internal/raw"
)

// An Error is the failure of a call of the library. [errors.Is] finds in it its [Status], as in
//
//	errors.Is(err, gnnmg.ErrNotFound)
//
// and the matching errors of Go:
//   - the errno of a failed system call, and so [fs.ErrNotExist] for a file or folder that is not
//     there, [fs.ErrPermission] and their like; a name, key or index that is not there has none
//   - [context.Canceled], [context.DeadlineExceeded] and the cause, where the end of a
//     [context.Context] ended the work
//   - [os.ErrDeadlineExceeded] with [ErrTimeout], for a deadline of the settings
//   - [errors.ErrUnsupported] with [ErrUnsupported]
//   - the error of a callback; a [PanicError] for a panic
type Error struct {
	Status Status        // an Err constant
	Rank   int           // the rank that failed, or -1
	Errno  syscall.Errno // errno of a failed system call, or 0
	Text   string        // one line: argument, file or array; expected and found value
	causes []error
}

// Error is the name of the status, the text, and the causes.
func (e *Error) Error() string {
	text := "gnnmg: " + e.Status.name() + ": " + e.Text
	for _, cause := range e.causes {
		text += ": " + cause.Error()
	}
	return text
}

// Unwrap returns the status, the errno, and the causes.
func (e *Error) Unwrap() []error {
	all := append([]error{e.Status}, e.causes...)
	if e.Errno != 0 {
		all = append(all, e.Errno)
	}
	return all
}

// Error makes a status a target for [errors.Is].
func (s Status) Error() string { return "gnnmg: " + s.name() }

// Is matches the errors of Go that a status stands for.
func (s Status) Is(target error) bool {
	switch s {
	case ErrTimeout:
		return target == os.ErrDeadlineExceeded
	case ErrUnsupported:
		return target == errors.ErrUnsupported
	}
	return false
}

// String is the name of the status: "ERR_FORMAT" for [ErrFormat] and so on.
func (s Status) String() string { return s.name() }

func (s Status) name() string {
	if name := raw.StatusName(int32(s)); strings.HasPrefix(name, "ERR_") {
		return name
	}
	if name, ok := statusNames[s]; ok {
		return name
	}
	return "status " + strconv.Itoa(int(s))
}

// A PanicError stands for a panic in a callback: the call that ran it returns an error in which
// [errors.As] finds this one.
type PanicError struct {
	Value any    // value of the panic
	Stack []byte // stack of the callback's goroutine
}

// Error is the value that the callback panicked with, without the stack.
func (p *PanicError) Error() string { return fmt.Sprintf("callback panicked: %v", p.Value) }

// failure turns the result of a call into an error, nil unless it failed.
func failure(r raw.Result) error {
	if r.Failure == nil {
		return nil
	}
	return &Error{Status: Status(r.Status), Rank: int(r.Failure.Rank),
		Errno: syscall.Errno(r.Failure.SystemError), Text: r.Failure.Text}
}

// refuse is an error that Go finds before the library is asked.
func refuse(status Status, format string, arguments ...any) error {
	return &Error{Status: status, Rank: -1, Text: fmt.Sprintf(format, arguments...)}
}

// ended is the error of a call whose context had ended before it began.
func ended(ctx context.Context) error {
	return withCause(refuse(ErrCancelled, "the context has ended"), contextCauses(ctx)...)
}

func contextCauses(ctx context.Context) []error {
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return []error{ctx.Err(), cause}
	}
	return []error{ctx.Err()}
}

// withCause adds causes to an *Error; other errors stay as they are.
func withCause(err error, causes ...error) error {
	var e *Error
	if errors.As(err, &e) {
		e.causes = append(e.causes, causes...)
	}
	return err
}

// Must returns the value of a call that succeeded and panics with the error of one that failed: for
// examples, tests, and programs that end on the first error anyway.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
