package gnnmg

import (
	"errors"
	"runtime/debug"
	"sync"
)

// A callback runs a user's function for the library and keeps its error, which cannot pass through
// C.
type callback struct {
	mu  sync.Mutex
	err error
}

var errGoexit = errors.New("the callback ended its goroutine")

// run calls a function on a goroutine of its own, so that neither a panic nor runtime.Goexit
// (called by testing.T.FailNow) unwinds the frames of C. It returns C's result: 0, or 1 to end the
// work.
func (c *callback) run(function func() error) int32 {
	result := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() {
			if value := recover(); value != nil {
				err = &PanicError{value, debug.Stack()}
			}
			result <- err
		}()
		err = function()
	}()
	err := <-result
	if err == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	return 1
}

// blame adds the function's own error to an error of the library, if it is the cause.
func (c *callback) blame(err error) error {
	if c == nil || !errors.Is(err, ErrCallback) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return err
	}
	return withCause(err, c.err)
}

// forget is for a new start.
func (c *callback) forget() {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = nil
	}
}
