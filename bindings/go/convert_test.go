package gnnmg

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

// Lists in settings end with the first 0 of a field of fixed length.
func TestListsInFields(t *testing.T) {
	field := []int32{7, 8, 9}
	if err := setList("x", field, []int{1, 2}); err != nil || !slices.Equal(field, []int32{1, 2, 0}) {
		t.Errorf("%v, %v", field, err)
	}
	if list := listOf[Task](field); !slices.Equal(list, []Task{1, 2}) {
		t.Errorf("%v", list)
	}
	if list := listOf[int]([]int32{4, 5}); !slices.Equal(list, []int{4, 5}) {
		t.Errorf("%v", list)
	}
	for _, list := range [][]int{{1, 2, 3, 4}, {1, 0, 2}, {1 << 40}} {
		if err := setList("x", field, list); !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("%v is %v", list, err)
		}
	}
}

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
