package gnnmg

import (
	"math"
	"testing"
	"time"
)

func TestTimesInFields(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, -1: 0, -time.Millisecond: -1,
		math.MaxInt64: math.MaxInt64/1_000_000 + 1,
	} {
		if ms := milliseconds(d); ms != want {
			t.Errorf("%v is %d ms", d, ms)
		}
	}
	for ms, want := range map[int64]time.Duration{
		30_000: 30 * time.Second, math.MaxInt64: math.MaxInt64 / 1_000_000 * time.Millisecond,
		math.MinInt64: -(math.MaxInt64 / 1_000_000) * time.Millisecond,
	} {
		if d := fromMilliseconds(ms); d != want {
			t.Errorf("%d ms is %v", ms, d)
		}
	}
}
