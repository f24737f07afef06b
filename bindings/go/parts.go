package gnnmg

import (
	"context"
	"runtime"

	"gnnmg/internal/raw"
)

// OpenParts opens this process's share of a folder that [Dataset.SaveParts] has written: of P
// processes number p takes the parts p, p + P and so on. comm is the job of the processes that share
// the parts; with nil, or a job of one, this process has all.
//
// Sampling from the data set, gathering its features and training on it work as with the whole:
// with the same settings mini-batches are equal to the bit, and so are weights if the trainer is
// deterministic, for any number of parts and processes. With [PlanParts] each process works on
// its own parts. Labels, splits and weights are in each process.
//
// All processes read the folder, on a file system that they share. Dense features stay on disk; the
// edges of all parts and sparse features are in memory.
//
// Calls that need the whole graph return [ErrUnsupported]: transforms, saving, exported edges and
// outgoing edges; GCN with edge weights; exact results of models with norms over the rows of all
// nodes or edges, LSTM aggregation, numbers of edges that leave a node, or weights of single nodes
// ([EvaluationSampled] works). [ErrNotFound] names a missing folder; [ErrFormat] and [ErrChecksum]
// name a file in it, or other contents of the folder.
func OpenParts(ctx context.Context, rt *Runtime, comm *Comm, folder string, options ...func(*OpenPartsConfig)) (*Dataset, error) {
	defer runtime.KeepAlive(comm)
	f, err := name("folder", folder)
	if err != nil {
		return nil, err
	}
	config := configure[raw.ServedConfig](options)
	return openAsking(ctx, rt, func(timeoutMs int64) (raw.Result, uintptr) {
		return raw.DatasetOpenParts(rt.token(), comm.token(), f, config, timeoutMs)
	})
}

// OpenServed opens a data set that graph servers have ([NewServer], or the program gnnmg-server),
// without a folder here. Servers keep nothing of a client, so clients come and go, and a server may be
// restarted, or another may stand in for it, in the middle of an epoch. The data set is as [OpenParts]
// says, with all rows elsewhere. It needs the plug-in libgnnmg_grpc.so.
//
// addresses are hosts and ports as in "graph-0:7300,graph-1:7300", or a name that has many addresses.
// tokenFile has the servers' token; "": they ask for none.
//
// Errors are [ErrDependency] without the plug-in or gRPC, [ErrUnavailable] or [ErrTimeout] naming the
// parts that nobody serves, [ErrMismatch] where servers have different data, [ErrAuth] for another
// token, and [ErrInvalidArgument] for a server beyond this machine without TLS.
func OpenServed(ctx context.Context, rt *Runtime, addresses, tokenFile string, options ...func(*ServedConfig)) (*Dataset, error) {
	where, err := name("addresses", addresses)
	if err != nil {
		return nil, err
	}
	token, err := nameOrNone("tokenFile", tokenFile)
	if err != nil {
		return nil, err
	}
	words, err := settings(options)
	if err != nil {
		return nil, err
	}
	return openAsking(ctx, rt, func(timeoutMs int64) (raw.Result, uintptr) {
		return raw.DatasetOpenServed(rt.token(), where, token, nil, words, timeoutMs)
	})
}

// openAsking opens a data set that fetches missing parts from other processes.
func openAsking(ctx context.Context, rt *Runtime, call func(timeoutMs int64) (raw.Result, uintptr)) (*Dataset, error) {
	defer runtime.KeepAlive(rt)
	if rt == nil {
		return nil, errNil("Runtime")
	}
	var r raw.Result
	var token uintptr
	err := rt.await(ctx, func(timeoutMs int64) raw.Result {
		r, token = call(timeoutMs)
		return r
	})
	if err != nil {
		return nil, err
	}
	return adoptDataset(rt, r, token)
}
