package mcp

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/sandbox/child"
	"adze/internal/testkit/posix"
)

// TestAServerOfEitherEraAnswers: one that knows only the newest protocol, one that knows only older
// ones, one that says nothing at a question that it does not know, one that ends at it; and banners
// in between.
func TestAServerOfEitherEraAnswers(t *testing.T) {
	for how, version := range map[string]string{
		"modern":                          "2026-07-28",
		"old":                             "2025-11-25",
		"banner; old":                     "2025-11-25",
		"exit at server/discover":         "2025-11-25",
		"rubbish at server/discover; old": "2025-11-25",
	} {
		p := pool(t, map[string]string{"fake": how}, nil)
		if got, err := says(t.Context(), t, p, "hello"); got != "hello" || err != nil {
			t.Errorf("%s: %q, %v", how, got, err)
		}
		if s := p.States()[0]; s.State != Ready || s.Version != version || s.Tools != 1 || s.PID == 0 {
			t.Errorf("%s: %+v", how, s)
		}
		p.Close()
	}
}

// TestHowOftenAProgramIsStarted: once where it knows the older protocol, however long it takes, and
// twice where it knows the newest alone; that is known from then on.
func TestHowOftenAProgramIsStarted(t *testing.T) {
	for how, starts := range map[string]int{"old": 1, "silent at server/discover": 1, "modern": 2} {
		count := filepath.Join(t.TempDir(), "starts")
		p := pool(t, map[string]string{"fake": how + "; start " + count}, nil)
		for n := range 2 {
			if got, err := says(t.Context(), t, p, "hello"); got != "hello" || err != nil {
				t.Errorf("%s: %q, %v", how, got, err)
			}
			if raw, _ := os.ReadFile(count); len(raw) != starts+n {
				t.Errorf("%s: %d starts, %+v", how, len(raw), p.States()[0])
			}
			p.Stop("fake")
		}
	}
}

// TestALauncherThatFailsIsNotBegunAgain: what it wanted to start is not there in other words
// either.
func TestALauncherThatFailsIsNotBegunAgain(t *testing.T) {
	count := filepath.Join(t.TempDir(), "starts")
	p := pool(t, map[string]string{"fake": "old"}, func(o *Options) {
		o.Servers[0].Command = []string{"sh", "-c", `printf . >>"$0"; echo "npm error code E404
npm error 404 Not Found - GET https://registry.example/none
npm error 404
npm error A complete log of this run can be found in: x" >&2; exit 1`, count}
	})
	err := p.Await(t.Context(), "fake")
	if raw, _ := os.ReadFile(count); err == nil || len(raw) != 1 {
		t.Errorf("%d starts, %v", len(raw), err)
	}
	if why := p.States()[0].Reason; !strings.Contains(why, "exit code 1: npm error 404 Not Found - GET https://registry.example/none") {
		t.Error(why)
	}
}

// TestAFaultyServerFailsWithAReason: at each step of its start, in each way, within the time it
// has.
func TestAFaultyServerFailsWithAReason(t *testing.T) {
	for _, c := range []struct{ how, want string }{
		{"exit at initialize", "cannot go on"},
		{"exit at tools/list", "cannot go on"},
		{"hang at initialize", "did not answer"},
		{"hang at tools/list", "did not answer"},
		{"rubbish at initialize", ""},
		{"rubbish at tools/list", "its tools"},
		{"gigabyte at initialize", "more than 64 MiB"},
		{"noise at tools/list", "no messages"},
	} {
		p := pool(t, map[string]string{"fake": "old; " + c.how}, func(o *Options) {
			if strings.HasPrefix(c.how, "hang") {
				o.Servers[0].Start = 100 * time.Millisecond
			}
		})
		err := p.Await(t.Context(), "fake")
		s := p.States()[0]
		if err == nil || s.State != Failed || !strings.Contains(s.Reason, c.want) || s.Reason == "" || s.PID != 0 {
			t.Errorf("%s: %v, %+v", c.how, err, s)
		}
		p.Close()
	}
}

// TestAFloodEndsTheConnection: messages that nobody asked for, more than a program may send in a
// time.
func TestAFloodEndsTheConnection(t *testing.T) {
	const message = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}` + "\n"
	synctest.Test(t, func(t *testing.T) {
		c := newStdio(nil, strings.NewReader(strings.Repeat(message, maxUnasked+1)), &server{})
		raw, err := io.ReadAll(c.messages)
		got := strings.Count(string(raw), message)
		if want := "it sent more than 10000 messages unasked; "; got != maxUnasked || c.broke() != want || err != nil {
			t.Errorf("%d messages, %q, want %q, %v", got, c.broke(), want, err)
		}
	})
}

// TestACallThatIsGivenUpLeavesTheStart: the server starts on.
func TestACallThatIsGivenUpLeavesTheStart(t *testing.T) {
	p := pool(t, map[string]string{"fake": "hang at initialize"}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Session(ctx, "fake"); err != ErrNotReady {
		t.Fatal(err)
	}
	if s := p.States()[0]; s.State != Starting {
		t.Fatalf("%+v", s)
	}
}

// TestAServerThatFailsIsStartedAgainThreeTimes, and not for ever.
func TestAServerThatFailsIsStartedAgainThreeTimes(t *testing.T) {
	count := filepath.Join(t.TempDir(), "starts")
	p := pool(t, map[string]string{"fake": "exit at tools/list; start " + count}, nil)
	for range 6 {
		if err := p.Await(t.Context(), "fake"); err == nil {
			t.Fatal("it is ready")
		}
	}
	if raw, _ := os.ReadFile(count); len(raw) != child.Restarts {
		t.Errorf("%d starts", len(raw))
	}
}

func TestAServerThatDiedIsStartedForTheNextCall(t *testing.T) {
	p := pool(t, map[string]string{"fake": "old"}, nil)
	if _, err := says(t.Context(), t, p, "die"); err == nil {
		t.Fatal("it answered")
	}
	waitFor(t, func() bool { return p.States()[0].State == Failed })
	if why := p.States()[0].Reason; !strings.Contains(why, "I die") {
		t.Error(why)
	}
	if got, err := says(t.Context(), t, p, "back"); got != "back" {
		t.Error(got, err)
	}
}

// TestNothingOfAServerSurvives: a grandchild does not, neither of one that ignores the end of its
// input.
func TestNothingOfAServerSurvives(t *testing.T) {
	file := filepath.Join(t.TempDir(), "child")
	p := pool(t, map[string]string{"fake": "old; deaf"}, func(o *Options) {
		launcher := `sleep 600 & echo $! >"$0"; "$@"; exit`
		o.Servers[0].Command = append([]string{"sh", "-c", launcher, file}, o.Servers[0].Command...)
	})
	if _, err := says(t.Context(), t, p, "hello"); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	child, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
	p.Close()
	waitFor(t, func() bool { return !posix.Alive(child) })
	if _, _, err := p.Session(t.Context(), "fake"); err == nil {
		t.Error("a closed pool started it")
	}
}

// TestAServerThatNeedsAMomentComesToItsEnd: the clients of @modelcontextprotocol/sdk 1.32.2 give it
// 2 s from the end of its input to SIGTERM.
func TestAServerThatNeedsAMomentComesToItsEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "end")
	p := pool(t, map[string]string{"fake": "old"}, func(o *Options) {
		o.Servers[0].Command = append([]string{"sh", "-c", `"$@"; sleep 0.6; echo >"$0"`, file}, o.Servers[0].Command...)
	})
	if _, err := says(t.Context(), t, p, "hello"); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestAnIdleServerIsStopped(t *testing.T) {
	p := pool(t, map[string]string{"fake": "old"}, func(o *Options) { o.Idle = time.Millisecond })
	_, release, err := p.Session(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	if s := p.States()[0]; s.State != Ready {
		t.Fatalf("it is used, and %+v", s)
	}
	release()
	waitFor(t, func() bool { return p.States()[0].State == Off })
	if got, err := says(t.Context(), t, p, "back"); got != "back" {
		t.Error(got, err)
	}
}

// TestACatalogueIsBounded: what is beyond the bounds is left out, and told.
func TestACatalogueIsBounded(t *testing.T) {
	for how, want := range map[string]struct {
		tools int
		more  string
	}{
		"old; many 10000": {maxTools, "more than 2000 tools"},
		"old; pages":      {maxPages, "more than 100 pages"},
		"old; again":      {2, "again and again"},
	} {
		p := pool(t, map[string]string{"fake": how}, nil)
		if err := p.Await(t.Context(), "fake"); err != nil {
			t.Fatal(how, err)
		}
		if l := p.server("fake").current; len(l.Tools) != want.tools || !strings.Contains(l.MissingReason, want.more) {
			t.Errorf("%s: %d tools, %q", how, len(l.Tools), l.MissingReason)
		}
		p.Close()
	}
}

func TestAFloodOfStandardErrorIsKeptShort(t *testing.T) {
	p := pool(t, map[string]string{"fake": "old; complain at initialize"}, nil)
	if got, err := says(t.Context(), t, p, "hello"); got != "hello" || err != nil {
		t.Fatal(got, err)
	}
}

func TestAHeldServerDoesNotStart(t *testing.T) {
	p := pool(t, map[string]string{"fake": "old"}, func(o *Options) { o.Holds = func(Server) error { return context.Canceled } })
	if _, _, err := p.Session(t.Context(), "fake"); err == nil || p.States()[0].State != Held {
		t.Errorf("%v %+v", err, p.States())
	}
}

func TestOfTheToolsThePersonTakesSome(t *testing.T) {
	for _, c := range []struct {
		tools string
		in    string
		want  bool
	}{{"", "a", true}, {"a", "a", true}, {"a", "b", false}, {"!a", "a", false}, {"!a", "b", true}, {"get_* !get_x", "get_y", true}, {"get_* !get_x", "get_x", false}} {
		if s := (Server{Tools: strings.Fields(c.tools)}); s.wants(c.in) != c.want {
			t.Errorf("%q of %q", c.in, c.tools)
		}
	}
}

// waitFor waits until something is so; it gives up only when it never will be.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come")
		}
	}
}

func TestProgressGoesToItsCall(t *testing.T) {
	var c calls
	heard := ""
	token, end := c.begin(&runningCall{watch: watch{show: func(p string) { heard = p }}, limit: patience})
	c.progress(&sdk.ProgressNotificationParams{ProgressToken: "other", Progress: 1})
	c.progress(&sdk.ProgressNotificationParams{ProgressToken: token, Progress: 2})
	end()
	c.progress(&sdk.ProgressNotificationParams{ProgressToken: token, Progress: 3}) // it may come after the result
	if heard != "2" {
		t.Error(heard)
	}
}

// A server that somebody uses does not end as idle, and one that nobody uses does.
func TestABorrowedServerIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newServer(&Pool{opts: Options{Idle: time.Minute}}, Server{})
		ended := 0
		c := &connection{server: v, end: func() { ended++ }}
		v.connection, v.session, v.state.State, v.used = c, &sdk.ClientSession{}, Ready, time.Now()
		time.Sleep(time.Hour)
		_, release, err := v.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.stopIdle()
		release()
		if left := c.stopIdle(); ended > 0 || left != time.Minute {
			t.Errorf("it ended %d times, and is looked at in %s", ended, left)
		}
		time.Sleep(time.Minute)
		if c.stopIdle(); ended != 1 || v.state.State != Off {
			t.Errorf("it ended %d times", ended)
		}
	})
}
