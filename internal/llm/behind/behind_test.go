package behind_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/llm/behind"
	"adze/session"
)

// server is a written provider: it waits, then says its text or fails.
type server struct {
	wait  time.Duration
	says  string
	err   error
	asked atomic.Int64
	ended atomic.Int64 // requests that were given up
}

func (s *server) Name() string { return "openai" }

func (s *server) Stream(ctx context.Context, _ session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		s.asked.Add(1)
		select {
		case <-time.After(s.wait):
		case <-ctx.Done():
			s.ended.Add(1)
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

func TestWhoIsAskedAndHow(t *testing.T) {
	refusal := &session.ProviderError{Kind: session.RequestError, Status: 404, Message: "404 page not found", Hint: "check the URL"}
	for name, c := range map[string]struct {
		given        *server
		named        bool
		look         time.Duration // what a look takes
		nothing      bool          // a look finds nothing
		advice       string
		texts        string // of three requests
		looks        int64
		hint, notice string
	}{
		"an instant server is not looked at":               {given: &server{says: "c"}, texts: "c c c"},
		"a slow one is, and its own format takes over":     {given: &server{wait: time.Minute, says: "c"}, texts: "n n n", looks: 1, notice: "own format"},
		"a slow one of which nothing is known":             {given: &server{wait: time.Minute, says: "c"}, nothing: true, texts: "c c c", looks: 1},
		"an answer that has begun is taken":                {given: &server{wait: 300 * time.Millisecond, says: "c"}, look: 100 * time.Millisecond, texts: "c n n", looks: 1, notice: "own format"},
		"an address that names its program is asked first": {given: &server{says: "c"}, named: true, look: 50 * time.Millisecond, texts: "n n n", looks: 1, notice: "own format"},
		"a refusal is looked into":                         {given: &server{err: refusal}, texts: "n n n", looks: 1, notice: "own format"},
		"a refusal that the look explains":                 {given: &server{err: refusal}, nothing: true, advice: "it is at /v1", texts: "  ", looks: 1, hint: "it is at /v1"},
		"a refusal that it does not":                       {given: &server{err: refusal}, nothing: true, texts: "  ", looks: 1, hint: "check the URL"},
		"a network that fails is not looked at":            {given: &server{err: &session.ProviderError{Kind: session.NetworkError, Hint: "start it"}}, texts: "  ", hint: "start it"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var looks atomic.Int64
				native := &server{says: "n"}
				p := behind.Wrap(c.given, behind.Options{Named: c.named, Look: func(context.Context) behind.Found {
					looks.Add(1)
					time.Sleep(c.look)
					f := behind.Found{Advice: func(*session.ProviderError) string { return c.advice }}
					if !c.nothing {
						f.Native, f.Notice = native, "it has its own format"
					}
					return f
				}})
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
				if (c.notice == "") != (len(notices) == 0) || len(notices) > 1 {
					t.Errorf("notices %q", notices)
				}
			})
		})
	}
}

// Who gives up while somebody looks gets the end at once, and the look is not lost for the next request.
func TestGivingUpWhileSomebodyLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := behind.Wrap(&server{wait: time.Minute}, behind.Options{Named: true, Look: func(context.Context) behind.Found {
			time.Sleep(500 * time.Millisecond)
			return behind.Found{Native: &server{says: "n"}}
		}})
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
