package gnnmg_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gnnmg"
)

// divided writes the data set of a world as three parts and tells where.
func divided(t *testing.T, w *world) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "parts")
	ok(t, w.data.SaveParts(background, folder, nil,
		func(c *gnnmg.PartsConfig) { c.NumParts, c.Fanouts, c.BatchSize = 3, []int64{5, 3}, 32 }))
	return folder
}

// on is a world with another data set, whose whole graph need not be here.
func (w *world) on(t *testing.T, data *gnnmg.Dataset) *world {
	t.Helper()
	other := &world{rt: w.rt, data: data, graph: made[*gnnmg.Graph](t)(data.Graph())}
	other.sampler = made[*gnnmg.Sampler](t)(gnnmg.NewSampler(other.graph, func(c *gnnmg.SamplerConfig) {
		c.Fanouts = []int64{5, 3}
	}))
	other.model = made[*gnnmg.Model](t)(gnnmg.NewModel(w.rt, data, func(c *gnnmg.ModelConfig) { c.HiddenDim = 16 }))
	return other
}

// sameMiniBatches checks that two worlds sample the same nodes with the same features.
func sameMiniBatches(t *testing.T, one, other *world) {
	t.Helper()
	sampled := func(w *world) ([]int64, []float32) {
		batch := made[*gnnmg.Batch](t)(w.sampler.Sample(background, w.data, []int64{3, 17, 599}, gnnmg.RandomKey{Seed: 1}))
		return gnnmg.Must(gnnmg.Copy[int64](gnnmg.Must(batch.NodeIDs()))), gnnmg.Must(gnnmg.Copy[float32](gnnmg.Must(batch.Features())))
	}
	ids, features := sampled(one)
	otherIDs, otherFeatures := sampled(other)
	equalSlices(t, otherIDs, ids)
	equalSlices(t, otherFeatures, features)
}

// trained is the loss and accuracy on the test part after a training, by exact evaluation.
func (w *world) trained(t *testing.T) [2]float64 {
	t.Helper()
	trainer := w.trainer(t, func(c *gnnmg.TrainerConfig) {
		c.NumRanks, c.Deterministic = 1, true
	})
	ok(t, trainer.Run(background, nil))
	metrics, err := trainer.Evaluate(background, gnnmg.PartTest)
	ok(t, err)
	return [2]float64{metrics.Loss, metrics.Accuracy}
}

func TestAShareOfPartsIsTheWhole(t *testing.T) {
	w := newWorld(t)
	folder := divided(t, w)
	ctx, cancel := context.WithCancel(background) // never ends: waits are made in slices
	defer cancel()
	share := w.on(t, made[*gnnmg.Dataset](t)(gnnmg.OpenParts(ctx, w.rt, nil, folder,
		func(c *gnnmg.OpenPartsConfig) { c.CacheBytes = 1 << 20 })))
	facts, err := share.data.PartsInfo()
	ok(t, err)
	equal(t, facts.OwnParts, 3)
	equal(t, facts.KeptRows, 0)
	sameMiniBatches(t, w, share)
	equal(t, share.trained(t), w.on(t, made[*gnnmg.Dataset](t)(gnnmg.OpenDataset(background, w.rt, folder))).trained(t))

	// Calls that need the whole graph in one process.
	_, _, _, err = share.graph.CSC(0)
	fails(t, err, gnnmg.ErrUnsupported)
	_, err = share.graph.NodeTensor(0, "x")
	fails(t, err, gnnmg.ErrUnsupported)
	fails(t, share.data.Save(background, filepath.Join(t.TempDir(), "saved")), gnnmg.ErrUnsupported)
}

// The processes of a job, goroutines here, with one share each.
func TestProcessesShareParts(t *testing.T) {
	w := newWorld(t)
	folder, port := divided(t, w), freePort(t)
	type answer struct {
		own int
		err error
	}
	open := func(process int) (own int, err error) {
		ctx, cancel := context.WithTimeout(background, time.Minute)
		defer cancel()
		comm, err := gnnmg.NewComm(ctx, w.rt, gnnmg.Meeting{}, func(c *gnnmg.CommConfig) {
			c.Port, c.ProcessRank, c.NumProcesses = port, process, 2
		})
		if err != nil {
			return 0, err
		}
		defer comm.Close()
		share, err := gnnmg.OpenParts(ctx, w.rt, comm, folder)
		if err != nil {
			return 0, err
		}
		defer share.Close()
		facts, err := share.PartsInfo()
		return facts.OwnParts, errors.Join(err, comm.Shutdown(ctx))
	}
	second := make(chan answer)
	go func() {
		own, err := open(1)
		second <- answer{own, err}
	}()
	own, err := open(0)
	other := <-second
	ok(t, errors.Join(err, other.err))
	equal(t, own, 2)
	equal(t, other.own, 1)
}

func TestPartsThatCannotBeOpened(t *testing.T) {
	w := newWorld(t)
	folder := divided(t, w)
	_, err := gnnmg.OpenParts(background, w.rt, nil, t.TempDir())
	fails(t, err, gnnmg.ErrNotFound)
	_, err = gnnmg.OpenParts(background, w.rt, nil, folder, func(c *gnnmg.OpenPartsConfig) { c.MaxInFlight = 1025 })
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.OpenParts(background, w.rt, nil, "a\x00")
	fails(t, err, gnnmg.ErrInvalidArgument)
	_, err = gnnmg.OpenParts(background, nil, nil, folder)
	fails(t, err, gnnmg.ErrHandle)
	_, err = gnnmg.OpenParts(background, w.rt, &gnnmg.Comm{}, folder)
	fails(t, err, gnnmg.ErrHandle)
	ctx, cancel := context.WithCancel(background)
	cancel()
	_, err = gnnmg.OpenParts(ctx, w.rt, nil, folder)
	fails(t, err, gnnmg.ErrCancelled)
}

// startServer starts a server; where the library was built without gRPC, which under continuous integration is an
// error, the test ends.
func startServer(t *testing.T, server *gnnmg.Server) {
	t.Helper()
	err := server.Start()
	if errors.Is(err, gnnmg.ErrDependency) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	ok(t, err)
}

func TestServersOfParts(t *testing.T) {
	w := newWorld(t)
	folder := divided(t, w)
	serve := func(parts []int32) (*gnnmg.Server, gnnmg.ServerInfo) {
		server := made[*gnnmg.Server](t)(gnnmg.NewServer(background, w.rt, folder, parts, "127.0.0.1:0", ""))
		facts, err := server.Info()
		ok(t, err)
		equal(t, facts.Port, 0)
		equal(t, facts.NumParts, 3)
		return server, facts
	}
	some, facts := serve([]int32{2, 0})
	equal(t, facts.NumServed, 2)
	all, facts := serve(nil)
	equal(t, facts.NumServed, 3)
	address := func(server *gnnmg.Server) string {
		startServer(t, server)
		facts, err := server.Info()
		ok(t, err)
		return "127.0.0.1:" + strconv.Itoa(facts.Port)
	}

	ctx, cancel := context.WithCancel(background)
	defer cancel()
	both := strings.Join([]string{address(some), address(all)}, ",")
	served := w.on(t, made[*gnnmg.Dataset](t)(gnnmg.OpenServed(ctx, w.rt, both, "",
		func(c *gnnmg.ServedConfig) { c.MaxInFlight, c.Patience = 4, 10*time.Second })))
	sameMiniBatches(t, w, served)
	parts, err := served.data.PartsInfo()
	ok(t, err)
	equal(t, parts.OwnParts, 0)
	fails(t, served.data.Save(background, filepath.Join(t.TempDir(), "saved")), gnnmg.ErrUnsupported)

	fails(t, all.Start(), gnnmg.ErrBusy)
	fails(t, all.SetTLS("certificate", "key", "authority"), gnnmg.ErrBusy)
	ok(t, some.Shutdown(ctx)) // the other one stands in
	sameMiniBatches(t, w, served)
	equal(t, served.trained(t), w.on(t, made[*gnnmg.Dataset](t)(gnnmg.OpenDataset(background, w.rt, folder))).trained(t))
	facts, err = all.Info()
	ok(t, err)
	if facts.NumReads == 0 || facts.SentBytes == 0 {
		t.Errorf("%+v", facts)
	}
	ok(t, all.Shutdown(background))
	_, err = served.sampler.Sample(background, served.data, []int64{5}, gnnmg.RandomKey{Seed: 2})
	if !errors.Is(err, gnnmg.ErrUnavailable) && !errors.Is(err, gnnmg.ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

func TestServersThatCannotBe(t *testing.T) {
	w := newWorld(t)
	folder := divided(t, w)
	for _, bad := range []struct {
		folder, address, tokenFile string
		parts                      []int32
		status                     gnnmg.Status
	}{
		{folder, "127.0.0.1:0", "", []int32{3}, gnnmg.ErrNotFound},
		{folder, "127.0.0.1:0", "", []int32{1, 1}, gnnmg.ErrInvalidArgument},
		{folder, "graph-1", "", nil, gnnmg.ErrInvalidArgument},
		{t.TempDir(), "127.0.0.1:0", "", nil, gnnmg.ErrNotFound},
		{"a\x00", "127.0.0.1:0", "", nil, gnnmg.ErrInvalidArgument},
		{folder, "a\x00", "", nil, gnnmg.ErrInvalidArgument},
		{folder, "127.0.0.1:0", "a\x00", nil, gnnmg.ErrInvalidArgument},
	} {
		_, err := gnnmg.NewServer(background, w.rt, bad.folder, bad.parts, bad.address, bad.tokenFile)
		fails(t, err, bad.status)
	}
	_, err := gnnmg.NewServer(background, nil, folder, nil, "127.0.0.1:0", "")
	fails(t, err, gnnmg.ErrHandle)

	// An address that other machines reach needs a token and TLS.
	open := made[*gnnmg.Server](t)(gnnmg.NewServer(background, w.rt, folder, nil, "0.0.0.0:0", "",
		func(c *gnnmg.ServerConfig) { c.Threads, c.Drain = 1, time.Second }))
	fails(t, open.Start(), gnnmg.ErrInvalidArgument)
	token := filepath.Join(t.TempDir(), "token")
	ok(t, os.WriteFile(token, []byte(strings.Repeat("t", 40)), 0o600))
	closed := made[*gnnmg.Server](t)(gnnmg.NewServer(background, w.rt, folder, nil, "0.0.0.0:0", token))
	fails(t, closed.Start(), gnnmg.ErrInvalidArgument)
	fails(t, closed.SetTLS("a\x00", "key", "authority"), gnnmg.ErrInvalidArgument)
	ok(t, closed.SetTLS(token, token, filepath.Join(folder, "none")))
	ok(t, closed.Shutdown(background))

	var none *gnnmg.Server
	fails(t, none.Start(), gnnmg.ErrHandle)
	fails(t, none.Shutdown(background), gnnmg.ErrHandle)
	fails(t, (&gnnmg.Server{}).Shutdown(background), gnnmg.ErrHandle)

	_, err = gnnmg.OpenServed(background, w.rt, "192.0.2.1:7300", "", func(c *gnnmg.ServedConfig) { c.MaxInFlight = -1 })
	if !errors.Is(err, gnnmg.ErrInvalidArgument) && !errors.Is(err, gnnmg.ErrDependency) {
		t.Errorf("got %v", err)
	}
	for _, bad := range [][3]string{{"a\x00"}, {"graph-0:7300", "a\x00"}, {"graph-0:7300", "", "a\x00"}} {
		_, err = gnnmg.OpenServed(background, w.rt, bad[0], bad[1], func(c *gnnmg.ServedConfig) { c.TLSKey = bad[2] })
		fails(t, err, gnnmg.ErrInvalidArgument)
	}
	_, err = gnnmg.OpenServed(background, nil, "graph-0:7300", "")
	fails(t, err, gnnmg.ErrHandle)
}
