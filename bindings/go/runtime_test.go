package gnnmg_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gnnmg"
)

func TestVersion(t *testing.T) {
	if !strings.HasPrefix(gnnmg.Version(), "0.2.") {
		t.Errorf("the version is %q", gnnmg.Version())
	}
}

func TestRuntime(t *testing.T) {
	rt := made[*gnnmg.Runtime](t)(gnnmg.NewRuntime(func(c *gnnmg.RuntimeConfig) {
		c.NumThreads, c.MemoryLimit = 1, 8<<20
	}))
	info, err := rt.Info()
	ok(t, err)
	equal(t, info.NumThreads, 1)
	equal(t, info.MemoryLimit, 8<<20)
	_, err = gnnmg.Generate[gnnmg.LogNormalConfig](rt) // needs more than 1 GiB
	fails(t, err, gnnmg.ErrNoMemory)
	graph := made[*gnnmg.Graph](t)(gnnmg.Generate(rt, func(c *gnnmg.LogNormalConfig) {
		c.NumNodes, c.MeanDegree, c.NumFeatures = 1000, 5, 4
	}))
	n, err := graph.NumNodes(0)
	ok(t, err)
	equal(t, n, 1000)
	if info, err = rt.Info(); err != nil || info.MemoryUsed == 0 {
		t.Errorf("%d bytes are taken, %v", info.MemoryUsed, err)
	}
	_, err = gnnmg.NewRuntime(func(c *gnnmg.RuntimeConfig) { c.NumThreads = -1 })
	fails(t, err, gnnmg.ErrInvalidArgument)
}

func TestOptions(t *testing.T) {
	rt := made[*gnnmg.Runtime](t)(gnnmg.NewRuntime())
	all, err := gnnmg.Settings("context")
	ok(t, err)
	if len(all) == 0 || all[0].Help == "" {
		t.Fatalf("the options are %v", all)
	}
	for _, option := range all {
		_, err := rt.Option(option.Name)
		ok(t, err)
	}
	ok(t, rt.SetOption("log_level", "debug"))
	value, err := rt.Option("log_level")
	ok(t, err)
	equal(t, value, "debug")
	fails(t, rt.SetOption("no such thing", "1"), gnnmg.ErrNotFound)
	_, err = rt.Option("no such thing")
	fails(t, err, gnnmg.ErrNotFound)
}

func TestDevices(t *testing.T) {
	rt := made[*gnnmg.Runtime](t)(gnnmg.NewRuntime())
	devices, why, err := rt.Devices()
	ok(t, err)
	if (len(devices) == 0) != (why != "") {
		t.Errorf("%d GPUs, but why is %q", len(devices), why)
	}
	for _, device := range devices {
		if device.DeviceType != gnnmg.DeviceCUDA || device.Name == "" || device.TotalMemory == 0 {
			t.Errorf("a GPU is %+v", device)
		}
	}
	_, err = rt.Device(len(devices))
	fails(t, err, gnnmg.ErrNotFound)
}

func TestMessages(t *testing.T) {
	w := newWorld(t)
	ok(t, w.rt.SetOption("log_level", "debug"))
	folder := filepath.Join(t.TempDir(), "a name that is long enough for a message beyond the first buffer "+strings.Repeat("x", 150))
	ok(t, w.data.Save(background, folder))
	made[*gnnmg.Dataset](t)(gnnmg.OpenDataset(background, w.rt, folder))
	found := 0
	for m, err := range w.rt.Messages() {
		ok(t, err)
		if strings.Contains(m.Text, "a name that is long") {
			found++
			if len(m.Text) < 200 || time.Since(m.Time).Abs() > time.Minute || m.Level.Slog() > slog.LevelInfo {
				t.Errorf("the message is %+v", m)
			}
		}
	}
	if found == 0 {
		t.Error("opening a data set left no message")
	}
	for range w.rt.Messages() {
		t.Error("a message came twice")
	}
	for _, err := range (*gnnmg.Runtime)(nil).Messages() {
		fails(t, err, gnnmg.ErrHandle)
	}
}

func TestLendEnds(t *testing.T) {
	rt := made[*gnnmg.Runtime](t)(gnnmg.NewRuntime())
	ctx, cancel := context.WithCancel(background)
	byContext, byClose := make(chan error), make(chan error)
	go func() { byContext <- rt.Lend(ctx) }()
	go func() { byClose <- rt.Lend(background) }()
	time.Sleep(20 * time.Millisecond)
	rt.Cancel() // does not end Lend
	cancel()
	ok(t, <-byContext)
	ok(t, rt.Close())
	if err := <-byClose; err != nil {
		fails(t, err, gnnmg.ErrHandle) // a busy machine may be late
	}
	fails(t, (*gnnmg.Runtime)(nil).Lend(background), gnnmg.ErrHandle)
}
