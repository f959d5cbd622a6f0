package child

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
)

// TestAServerThatFailsIsGivenUpForAWhile: after so many starts in so long a time, until some of
// them are long ago, or it was seen to work.
func TestAServerThatFailsIsGivenUpForAWhile(t *testing.T) {
	l, now := NewLife(), time.Unix(1e9, 0)
	for range Restarts {
		if l.GivenUp(now) {
			t.Fatal("given up too early")
		}
		l.Begin(now)
		if l.GivenUp(now) || !l.Runs() {
			t.Fatal("a server that starts is given up")
		}
		l.Turn(Failed, "no")
		now = now.Add(time.Second)
	}
	if !l.GivenUp(now) {
		t.Error("it is started without end")
	}
	if l.GivenUp(now.Add(restartTime)) {
		t.Error("it is given up for ever")
	}
	l.Begin(now)
	l.Turn(Ready, "")
	l.Forgive()
	l.Turn(Failed, "no")
	if l.GivenUp(now) {
		t.Error("one that worked is given up")
	}
}

// TestWhoWaitsForAServerIsTold: that it is ready, why it is not, and when the wait ends first.
func TestWhoWaitsForAServerIsTold(t *testing.T) {
	var mu sync.Mutex
	l := NewLife()
	if err := l.Await(t.Context(), &mu); err == nil {
		t.Error("a server that is off is ready")
	}
	l.Begin(time.Unix(1e9, 0))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Await(ended, &mu); !errors.Is(err, ErrNotReady) {
		t.Errorf("%v", err)
	}
	for _, to := range []string{Ready, Failed} {
		l.Begin(time.Unix(1e9, 0))
		told := make(chan error)
		go func() { told <- l.Await(t.Context(), &mu) }()
		mu.Lock()
		l.Turn(to, "why")
		mu.Unlock()
		if err := <-told; (err == nil) != (to == Ready) || err != nil && err.Error() != "why" {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// TestHowAProgramEnded is what is told of it, in one line of bounded length.
func TestHowAProgramEnded(t *testing.T) {
	var r proc.Result
	r.Code, r.Errors.Tail = 3, "npm notice\nError: "+strings.Repeat("é", maxLine)+"\n    at x\n"
	got := LastWords(r)
	if !strings.HasPrefix(got, "exit code 3: Error: éé") || !strings.HasSuffix(got, "é…") || len(got) > maxLine+30 {
		t.Errorf("%q", got)
	}
	r.Killed = proc.TooMuchMemory
	if got := LastWords(r); !strings.HasPrefix(got, "it took more than 2048 MiB of memory: ") {
		t.Errorf("%q", got)
	}
}

// TestWhatMayNeverReturnIsBounded by the time, the end of the conversation and the caller.
func TestWhatMayNeverReturnIsBounded(t *testing.T) {
	never := func() (int, error) { select {} }
	over := make(chan struct{})
	close(over)
	if _, err := WaitFor(t.Context(), over, time.Hour, never); err == nil || err.Error() != "it ended" {
		t.Errorf("%v", err)
	}
	if _, err := WaitFor(t.Context(), nil, time.Nanosecond, never); !errors.As(err, new(SilentError)) {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := WaitFor(ended, nil, time.Hour, never); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got, err := WaitFor(t.Context(), nil, time.Hour, func() (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}
