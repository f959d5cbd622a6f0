package fleettest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"adze/internal/fleet"
)

func changed(t *testing.T, c fleet.Cluster) {
	for _, book := range []fleet.Book{c.Runs, c.Bodies, c.Cancels, c.Pauses} {
		if _, err := book.Get(t.Context(), "run.x.y"); !errors.Is(err, fleet.ErrNone) {
			t.Fatal(err)
		}
		first, err := book.Put(t.Context(), "run.x.y", []byte("1"), 0)
		must(t, err)
		if _, err := book.Put(t.Context(), "run.x.y", []byte("2"), 0); !errors.Is(err, fleet.ErrStale) {
			t.Fatal(err)
		}
		second, err := book.Put(t.Context(), "run.x.y", []byte("2"), first)
		must(t, err)
		if _, err := book.Put(t.Context(), "run.x.y", []byte("3"), first); !errors.Is(err, fleet.ErrStale) {
			t.Fatal(err)
		}
		if r, err := book.Get(t.Context(), "run.x.y"); err != nil || string(r.Value) != "2" || r.Revision != second || r.Key != "run.x.y" {
			t.Fatalf("%+v, %v", r, err)
		}
		_, err = book.Put(t.Context(), "run.z.y", []byte("z"), 0)
		must(t, err)
		if list, err := book.List(t.Context(), "run.x."); err != nil || len(list) != 1 || string(list[0].Value) != "2" || list[0].Revision != second {
			t.Fatalf("%+v, %v", list, err)
		}
		if list, err := book.List(t.Context(), "run.none."); err != nil || len(list) != 0 {
			t.Fatalf("%+v, %v", list, err)
		}
		if list, err := book.List(t.Context(), ""); err != nil || len(list) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
	}
}

func race(t *testing.T, c fleet.Cluster) {
	first, err := c.Runs.Put(t.Context(), "run.x.y", []byte("1"), 0)
	must(t, err)
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, err := c.Runs.Put(t.Context(), "run.x.y", fmt.Append(nil, i), first)
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, fleet.ErrStale) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d changes were made from one revision", won.Load())
	}
}

func watched(t *testing.T, c fleet.Cluster) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	_, err := c.Runs.Put(ctx, "run.x.0", []byte("0"), 0)
	must(t, err)
	_, err = c.Runs.Put(ctx, "run.other.0", []byte("-"), 0)
	must(t, err)
	changes, err := c.Runs.Watch(ctx, "run.x.")
	must(t, err)
	next := func() fleet.Record {
		r, open := <-changes
		if !open {
			t.Fatal("the watch ended")
		}
		return r
	}
	if r := next(); string(r.Value) != "0" || r.Key != "run.x.0" {
		t.Fatalf("%+v", r)
	}
	if r := next(); !r.Caught {
		t.Fatalf("%+v", r)
	}
	for i := 1; i < 20; i++ {
		_, err := c.Runs.Put(ctx, fmt.Sprint("run.x.", i), fmt.Append(nil, i), 0)
		must(t, err)
	}
	for i := 1; i < 20; i++ {
		if r := next(); string(r.Value) != fmt.Sprint(i) {
			t.Fatalf("%+v, want %d", r, i)
		}
	}
	stop()
	for range changes { // it ends
	}
}

func leases(t *testing.T, c fleet.Cluster) {
	l, err := c.Leases.Hold(t.Context(), "b.x")
	must(t, err)
	if _, err := c.Leases.Hold(t.Context(), "b.x"); !errors.Is(err, fleet.ErrHeld) {
		t.Fatal(err)
	}
	other, err := c.Leases.Hold(t.Context(), "b.y")
	must(t, err)
	must(t, l.Prove(t.Context()))
	select {
	case <-l.Lost():
		t.Fatal("it was proved and is lost")
	default:
	}
	must(t, l.Release(t.Context()))
	again, err := c.Leases.Hold(t.Context(), "b.x")
	must(t, err)
	if l.Prove(t.Context()) == nil {
		t.Fatal("a lease that was given back is proved")
	}
	must(t, again.Release(t.Context()))
	must(t, other.Release(t.Context()))
}

func kept(t *testing.T, c fleet.Cluster) {
	long := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
	for _, raw := range [][]byte{nil, []byte("short"), long} {
		name, err := c.Blobs.Keep(t.Context(), bytes.NewReader(raw))
		must(t, err)
		again, err := c.Blobs.Keep(t.Context(), bytes.NewReader(raw))
		must(t, err)
		var got bytes.Buffer
		must(t, c.Blobs.Fetch(t.Context(), name, &got))
		if name != again || !bytes.Equal(got.Bytes(), raw) {
			t.Fatalf("%s and %s, %d bytes of %d", name, again, got.Len(), len(raw))
		}
	}
	if err := c.Blobs.Fetch(t.Context(), strings.Repeat("0", 64), &bytes.Buffer{}); err == nil {
		t.Fatal("a blob that nobody kept was there")
	}
}
