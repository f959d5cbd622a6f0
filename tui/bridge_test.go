package tui

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
	"adze/tool"
)

// TestBridgeDropsNothing floods the bridge from many goroutines and counts what comes out.
func TestBridgeDropsNothing(t *testing.T) {
	const writers, each = 10, 10_000
	b := newBridge()
	ctx, cancel := context.WithCancel(t.Context())
	seen := tally{texts: map[string]*strings.Builder{}, last: map[tool.CallID]string{}}
	pumped := make(chan struct{})
	go func() {
		defer close(pumped)
		b.pump(ctx, seen.take)
	}()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { flood(b, w, each) })
	}
	wg.Wait()
	finished := make(chan struct{})
	b.push(finished)
	<-seen.until(finished)
	cancel()
	<-pumped
	for w := range writers {
		seen.check(t, w, each)
	}
}

// flood sends what a session sends: text, thoughts, updates, and now and then what may not be
// merged.
func flood(b *bridge, w, n int) {
	id, call := fmt.Sprint("m", w), tool.CallID(fmt.Sprint("c", w))
	for i := range n {
		switch i % 5 {
		case 0, 1:
			b.add(session.TextDelta{Message: id, Delta: fmt.Sprintf("%d,", i)})
		case 2:
			b.add(session.ReasoningDelta{Message: id, Delta: fmt.Sprintf("%d,", i)})
		case 3:
			b.add(session.ToolUpdate{Event: tool.Event{Call: call, Title: fmt.Sprint(i)}})
		case 4:
			b.add(session.Notice{Text: fmt.Sprintf("%d %d", w, i)})
		}
	}
}

type tally struct {
	mu      sync.Mutex
	batches int
	texts   map[string]*strings.Builder
	last    map[tool.CallID]string
	notices []string
	end     chan struct{}
	done    chan struct{}
}

func (s *tally) until(end chan struct{}) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = make(chan struct{})
	if s.end == end {
		close(s.done)
	}
	return s.done
}

func (s *tally) take(b batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches++
	text := func(key, delta string) {
		if s.texts[key] == nil {
			s.texts[key] = &strings.Builder{}
		}
		s.texts[key].WriteString(delta)
	}
	for _, x := range b {
		switch x := x.(type) {
		case session.TextDelta:
			text("text "+x.Message, x.Delta)
		case session.ReasoningDelta:
			text("reasoning "+x.Message, x.Delta)
		case session.ToolUpdate:
			s.last[x.Call] = x.Title
		case session.Notice:
			s.notices = append(s.notices, x.Text)
		case chan struct{}:
			s.end = x
			if s.done != nil {
				close(s.done)
			}
		}
	}
}

func (s *tally) check(t *testing.T, w, n int) {
	var text, reasoning, notices strings.Builder
	last := ""
	for i := range n {
		switch i % 5 {
		case 0, 1:
			fmt.Fprintf(&text, "%d,", i)
		case 2:
			fmt.Fprintf(&reasoning, "%d,", i)
		case 3:
			last = fmt.Sprint(i)
		case 4:
			fmt.Fprintf(&notices, "%d %d\n", w, i)
		}
	}
	var got strings.Builder
	for _, x := range s.notices {
		if strings.HasPrefix(x, fmt.Sprint(w, " ")) {
			got.WriteString(x + "\n")
		}
	}
	id, call := fmt.Sprint("m", w), tool.CallID(fmt.Sprint("c", w))
	if s.texts["text "+id].String() != text.String() || s.texts["reasoning "+id].String() != reasoning.String() {
		t.Errorf("text of writer %d was lost or out of order", w)
	}
	if got.String() != notices.String() {
		t.Errorf("notices of writer %d were lost or out of order", w)
	}
	if s.last[call] != last {
		t.Errorf("last update of writer %d is %q, want %q", w, s.last[call], last)
	}
}

func TestBridgeMerges(t *testing.T) {
	b := newBridge()
	b.add(session.ReasoningDelta{Message: "m", Delta: "a"})
	b.add(session.TextDelta{Message: "m", Delta: "b"})
	b.add(session.ToolUpdate{Event: tool.Event{Call: "c", Title: "old", Metadata: []byte("1")}})
	b.add(session.TextDelta{Message: "m", Delta: "c"})
	b.add(session.ReasoningDelta{Message: "m", Delta: "d"})
	b.add(session.ToolUpdate{Event: tool.Event{Call: "c", Title: "new"}})
	b.add(session.CallForming{Call: "f", Bytes: 1})
	b.add(session.CallForming{Call: "f", Bytes: 2})
	b.add(session.Notice{Text: "n"})
	b.add(session.TextDelta{Message: "m", Delta: "e"})
	want := "[{m a} {m bc} {new 1} {m d} {f 2} {n 0} {m e}]"
	var got []string
	for _, x := range b.take() {
		switch x := x.(type) {
		case session.ToolUpdate:
			got = append(got, fmt.Sprintf("{%s %s}", x.Title, x.Metadata))
		case session.CallForming:
			got = append(got, fmt.Sprintf("{%s %d}", x.Call, x.Bytes))
		default:
			got = append(got, fmt.Sprint(x))
		}
	}
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// TestBridgeSendsOneBatchAFrame shows that events between two frames share a batch, and that
// nothing happens without events.
func TestBridgeSendsOneBatchAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBridge()
		var sizes []int
		go b.pump(t.Context(), func(got batch) { sizes = append(sizes, len(got)) })
		b.add(session.Notice{Text: "1"})
		synctest.Wait()
		for range 100 {
			b.add(session.Notice{Text: "n"})
		}
		time.Sleep(batchTime)
		synctest.Wait()
		time.Sleep(time.Hour)
		synctest.Wait()
		if fmt.Sprint(sizes) != "[1 100]" {
			t.Errorf("batches of %v events", sizes)
		}
	})
}
