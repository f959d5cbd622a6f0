package local_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/llm/local"
	"adze/session"
)

// given is a written provider: it waits, then says its text or fails.
type given struct {
	wait  time.Duration
	says  string
	err   error
	asked atomic.Int64
}

func (s *given) Name() string { return "openai" }

func (s *given) Stream(ctx context.Context, _ session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		s.asked.Add(1)
		select {
		case <-time.After(s.wait):
		case <-ctx.Done():
			yield(session.Done{Stop: session.StopAborted, Err: ctx.Err()})
			return
		}
		if s.err != nil {
			yield(session.Done{Stop: session.StopError, Err: s.err})
			return
		}
		if yield(session.Text{Delta: s.says}) {
			yield(session.Done{Stop: session.StopEnd})
		}
	}
}

func asks(t *testing.T, p session.Provider) (string, session.Done) {
	t.Helper()
	var text string
	var done session.Done
	ends := 0
	for c := range p.Stream(t.Context(), session.Request{Model: "m"}) {
		switch c := c.(type) {
		case session.Text:
			text += c.Delta
		case session.Done:
			done = c
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("%d ends", ends)
	}
	return text, done
}

// The format is decided before the first request, whatever the server's pace, and each request is
// sent once.
func TestTheFormatIsDecidedOnce(t *testing.T) {
	refusal := &session.ProviderError{Kind: session.RequestError, Status: 404, Message: "404 page not found", Hint: "check the URL"}
	for name, c := range map[string]struct {
		given        *given
		finds        []local.Route
		texts        string // of three requests
		looks        int64
		hint, notice string
	}{
		"an instant server":                  {given: &given{says: "c"}, finds: []local.Route{{Notice: "it has its own format"}}, texts: "n n n", looks: 1, notice: "own format"},
		"a slow server":                      {given: &given{wait: time.Minute, says: "c"}, finds: []local.Route{{Notice: "it has its own format"}}, texts: "n n n", looks: 1, notice: "own format"},
		"one of which nothing is known":      {given: &given{wait: time.Minute, says: "c"}, finds: []local.Route{{}}, texts: "c c c", looks: 1},
		"one that nobody reaches at first":   {given: &given{says: "c"}, finds: []local.Route{{Unreached: true}, {Notice: "it has its own format"}}, texts: "c n n", looks: 2, notice: "own format"},
		"a refusal that the look explains":   {given: &given{err: refusal}, finds: []local.Route{{Advice: func(*session.ProviderError) string { return "it is at /v1" }}}, texts: "  ", looks: 1, hint: "it is at /v1"},
		"a refusal that it does not explain": {given: &given{err: refusal}, finds: []local.Route{{}}, texts: "  ", looks: 1, hint: "check the URL"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var looks atomic.Int64
				native := &given{says: "n"}
				p := local.NewRouter(c.given, func(context.Context) local.Route {
					f := c.finds[min(int(looks.Add(1)), len(c.finds))-1]
					time.Sleep(time.Second)
					if f.Notice != "" {
						f.Native = native
					}
					return f
				})
				var texts, notices []string
				var last session.Done
				for range 3 {
					text, done := asks(t, p)
					texts, last = append(texts, text), done
					if done.Notice != "" {
						notices = append(notices, done.Notice)
					}
				}
				var failed *session.ProviderError
				if errors.As(last.Err, &failed) && failed.Hint != c.hint || (failed == nil) != (c.hint == "") {
					t.Errorf("%+v", last)
				}
				if got := strings.Join(texts, " "); got != c.texts || looks.Load() != c.looks {
					t.Errorf("%q after %d looks, want %q after %d", got, looks.Load(), c.texts, c.looks)
				}
				if sent := c.given.asked.Load() + native.asked.Load(); sent != 3 {
					t.Errorf("%d requests were sent", sent)
				}
				if (c.notice == "") != (len(notices) == 0) || len(notices) > 1 {
					t.Errorf("notices %q", notices)
				}
			})
		})
	}
}

// A request that is given up while somebody looks ends at once, and the look is not lost for the
// next one.
func TestGivingUpWhileSomebodyLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := local.NewRouter(&given{wait: time.Minute}, func(context.Context) local.Route {
			time.Sleep(500 * time.Millisecond)
			return local.Route{Native: &given{says: "n"}}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		began := time.Now()
		for c := range p.Stream(ctx, session.Request{}) {
			if d, ok := c.(session.Done); ok && d.Err == nil {
				t.Error("answered")
			}
		}
		if took := time.Since(began); took > 20*time.Millisecond {
			t.Errorf("took %s", took)
		}
		if text, _ := asks(t, p); text != "n" {
			t.Errorf("%q", text)
		}
	})
}

// Requests that come together wait for one look.
func TestOneLookForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		p := local.NewRouter(&given{says: "c"}, func(context.Context) local.Route {
			looks.Add(1)
			time.Sleep(time.Second)
			return local.Route{}
		})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { p.Route(t.Context()) })
		}
		all.Wait()
		if looks.Load() != 1 {
			t.Errorf("%d looks", looks.Load())
		}
	})
}
