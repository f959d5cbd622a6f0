package toolset

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Who watches a long search hears of it four times a second, and of a short one nothing.
func TestWatchTellsOfWhatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var count atomic.Int64
		var told []int64
		stop := watch(&count, func(n int64) { told = append(told, n) })
		for range 8 {
			count.Add(3)
			time.Sleep(110 * time.Millisecond)
		}
		stop()
		if want := []int64{9, 15, 21}; !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
		count.Add(9)
		time.Sleep(time.Second)
		stopped := watch(&count, func(int64) { t.Error("told of a short one") })
		time.Sleep(watchEvery - 1)
		stopped()
		time.Sleep(time.Second)
		if len(told) != 3 {
			t.Errorf("told after the end: %v", told)
		}
	})
}

// Heavy work is left alone by an abort, and its panic reaches the call.
func TestHeavyWorkDoesNotHoldAnAbort(t *testing.T) {
	hold, ended := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := heavy(ctx, heavySize, func() (int, error) { <-hold; close(ended); return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(hold)
	<-ended
	for _, size := range []int{1, heavySize} {
		if n, err := heavy(t.Context(), size, func() (int, error) { return 7, nil }); n != 7 || err != nil {
			t.Errorf("%d %v", n, err)
		}
		func() {
			defer func() {
				if recover() != "odd" {
					t.Error("the panic is lost")
				}
			}()
			_, _ = heavy(t.Context(), size, func() (int, error) { panic("odd") })
		}()
	}
}
