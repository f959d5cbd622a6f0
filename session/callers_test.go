package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/session"
	"adze/tool"
)

var client = session.Caller{Provider: "mcp", Name: "editor"}

func calling(id, name, text string) tool.RawCall {
	return tool.RawCall{ID: tool.CallID(id), Name: name, Arguments: fmt.Sprintf(`{"text":%q}`, text)}
}

// Calls of a program that only read meet each other, and one that changes something meets nobody;
// the log has each with its outcome, and is a session that goes on.
func TestCallsOfAProgram(t *testing.T) {
	var mu sync.Mutex
	running, beside := 0, 0
	both, free := make(chan struct{}), make(chan struct{})
	look := func(_ context.Context, s string) (string, error) {
		mu.Lock()
		if running++; running == 2 {
			close(both)
		}
		mu.Unlock()
		<-free
		mu.Lock()
		defer mu.Unlock()
		running--
		return s, nil
	}
	change := func(_ context.Context, s string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		beside = max(beside, running)
		return s, nil
	}
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, look), noting("change", tool.Write, change)})
	s := session.New(r.config)
	var wait sync.WaitGroup
	call := func(c tool.RawCall) {
		wait.Go(func() {
			o, err := s.Call(t.Context(), client, c)
			if err != nil || o.Status != tool.Completed || o.Call != c.ID {
				t.Errorf("%s: %s %s, %v", c.ID, o.Status, o.Output, err)
			}
		})
	}
	call(calling("a", "look", "1"))
	call(calling("c", "look", "3"))
	<-both
	call(calling("b", "change", "2"))
	close(free)
	wait.Wait()
	if beside != 0 {
		t.Error("a call that changes something ran beside another")
	}
	for _, id := range []string{"a", "b", "c"} {
		if n := strings.Count(strings.Join(r.outcomes(t), "\n"), id+" completed "); n != 1 {
			t.Errorf("the log has %d outcomes of %s", n, id)
		}
	}
	again, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	roles := ""
	for _, m := range again.History() {
		roles += string(m.Role) + " "
	}
	if roles != strings.Repeat("user assistant tool ", 3) {
		t.Errorf("the session goes on from %s", roles)
	}
	if len(s.History()) != 0 {
		t.Error("the conversation in memory grows by calls")
	}
}

// Where the log cannot be written nothing runs.
func TestACallOfAProgramThatCannotBeSaved(t *testing.T) {
	ran := false
	r := rigWith(t, []tool.Tool{noting("change", tool.Write, func(context.Context, string) (string, error) { ran = true; return "", nil })})
	r.shelf.failAt = 1
	s := session.New(r.config)
	o, err := s.Call(t.Context(), client, calling("a", "change", "x"))
	if !errors.Is(err, errDisk) || ran || o.Status != tool.Aborted || o.Code != tool.CodeIO {
		t.Fatalf("ran %t, %s %s, %v", ran, o.Status, o.Code, err)
	}
	r.shelf.failAt = 0
	if _, err := s.Call(t.Context(), client, calling("b", "change", "x")); err != nil || !ran {
		t.Fatal("after the disk has room again:", err)
	}
	if first := r.shelf.entries[0].Type; first != session.StartEntry {
		t.Errorf("the log begins with %s", first)
	}
}

// A program that takes its call back ends it, also while it waits for its turn, and no other.
func TestACallOfAProgramIsTakenBack(t *testing.T) {
	begun, free := make(chan struct{}), make(chan struct{})
	slow := func(ctx context.Context, s string) (string, error) {
		if s != "first" {
			return s, nil
		}
		close(begun)
		select {
		case <-free:
			return s, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	r := rigWith(t, []tool.Tool{noting("change", tool.Write, slow)})
	s := session.New(r.config)
	var wait sync.WaitGroup
	wait.Go(func() {
		if o, err := s.Call(t.Context(), client, calling("a", "change", "first")); o.Status != tool.Completed || err != nil {
			t.Errorf("the first: %s, %v", o.Status, err)
		}
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	wait.Go(func() {
		if o, err := s.Call(ctx, client, calling("b", "change", "second")); o.Status != tool.Aborted || err != nil {
			t.Errorf("the second: %s, %v", o.Status, err)
		}
		close(free)
	})
	cancel()
	wait.Wait()
	if got := r.outcomes(t); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "b aborted") }) {
		t.Errorf("the log has %q", got)
	}
}
