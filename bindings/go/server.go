package gnnmg

import (
	"context"
	"runtime"
	"unsafe"

	"gnnmg/internal/raw"
)

// A Server has parts of a graph for trainers on other machines, which [OpenServed] connects. It only
// reads: it keeps nothing of a question, any server of a part may answer it, and trainers come and go.
// The program gnnmg-server is made of the same code. Answers are given by threads of the library's own.
type Server struct {
	handle
	rt *Runtime
}

// NewServer opens parts of a folder that [Dataset.SaveParts] has written, to serve them; nil: all.
// Features are mapped and read as they are asked for; edges are read into memory. The server does not
// listen yet.
//
// address is a host and a port, as in "10.0.0.7:7300" or "[::]:7300"; port 0 is a free one. tokenFile
// is the secret that clients must know, 32 to 1024 bytes in a file of mode 0600; "": none, which is for
// an address of this machine alone. [ErrRange] names a part that there is not, [ErrFormat] and
// [ErrChecksum] a file.
func NewServer(ctx context.Context, rt *Runtime, folder string, parts []int32, address, tokenFile string,
	options ...func(*ServerConfig)) (*Server, error) {
	defer runtime.KeepAlive(rt)
	if rt == nil {
		return nil, errNil("Runtime")
	}
	config := configure[raw.ServerConfig](options)
	f, err := name("folder", folder)
	if err != nil {
		return nil, err
	}
	where, err := name("address", address)
	if err != nil {
		return nil, err
	}
	secret, err := nameOrNone("tokenFile", tokenFile)
	if err != nil {
		return nil, err
	}
	var token uintptr
	err = rt.await(ctx, func(timeoutMs int64) (r raw.Result) {
		r, token = raw.ServerCreate(rt.token(), f, unsafe.SliceData(parts), int64(len(parts)), where, secret, config, timeoutMs)
		return r
	})
	if err != nil {
		return nil, err
	}
	s := &Server{rt: rt}
	return adopt(s, &s.handle, token, raw.ServerFree), nil
}

// SetTLS encrypts all traffic and makes the server and its clients prove their identity by
// certificates. The arguments are paths of PEM files: the server's certificate, its key, and the
// certificate that signs those of the clients. [Server.Start] reads them; afterwards this is
// [ErrBusy].
func (s *Server) SetTLS(certificate, key, authority string) error {
	defer runtime.KeepAlive(s)
	c, err := name("certificate", certificate)
	if err != nil {
		return err
	}
	k, err := name("key", key)
	if err != nil {
		return err
	}
	a, err := name("authority", authority)
	if err != nil {
		return err
	}
	return failure(raw.ServerSetTLS(s.token(), c, k, a))
}

// Start begins to listen. [ErrDependency] without gRPC; [ErrInvalidArgument] for an address that other
// machines reach, without a token file or with neither TLS nor Insecure; [ErrUnavailable] for an
// address that cannot be had; [ErrAuth] for a token file that others can read; [ErrBusy] where it has
// started.
func (s *Server) Start() error {
	defer runtime.KeepAlive(s)
	return failure(raw.ServerStart(s.token()))
}

// Info returns the server's state and counters.
func (s *Server) Info() (ServerInfo, error) {
	defer runtime.KeepAlive(s)
	return fetch[ServerInfo](func(info *raw.ServerInfo) raw.Result { return raw.ServerGetInfo(s.token(), info) })
}

// Shutdown is the orderly end: the server takes no new questions and answers those that have come.
// Clients go on with other servers of the same parts. It cannot be started again. [ErrTimeout] when
// questions were given up after the time of Drain in [ServerConfig].
func (s *Server) Shutdown(ctx context.Context) error {
	defer runtime.KeepAlive(s)
	if s == nil {
		return errNil("Server")
	}
	return s.rt.await(ctx, func(timeoutMs int64) raw.Result { return raw.ServerShutdown(s.token(), timeoutMs) })
}

// Close frees the server. Without an earlier Shutdown, pending questions fail.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	return s.end()
}
