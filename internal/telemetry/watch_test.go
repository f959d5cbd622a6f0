package telemetry_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"adze/internal/cmd/print"
	"adze/internal/sessiondb/audit"
	"adze/internal/telemetry"
	"adze/session"
	"adze/tool"
)

// events are those of a turn with a subagent, failures, and words that nobody may be told.
func events() []session.Event {
	cents := 0.02
	return []session.Event{
		session.MessageDone{Message: session.Message{Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "hippo"}}}},
		session.Requested{Message: "m2", Provider: "p", Model: "m", Kind: session.RateError, Stop: session.StopError, Took: time.Second},
		session.Requested{Message: "m2", Provider: "p", Model: "m", Stop: session.StopCalls, Usage: session.Usage{Input: 7, Output: 3, CacheRead: 2}, Cost: &cents, Took: 2 * time.Second, First: time.Second},
		session.Requested{Provider: audit.Hand, Model: "tools-run"},
		session.ToolEnd{Outcome: tool.Outcome{Tool: "read", Status: tool.Completed, Title: "hippo", Output: "hippo", Duration: 40 * time.Millisecond}},
		session.ToolEnd{Outcome: tool.Outcome{Tool: "hippo_tool", Status: tool.Invalid, Code: tool.CodeUnknownTool}},
		session.Requested{Message: "m2", Parent: "c1", Agent: "explore: hippo", Provider: "script", Model: "/home/hippo/script.txtar", Stop: session.StopAborted, Took: time.Second},
		session.TurnEnd{Result: session.Result{Cause: session.CauseDone, Text: "hippo", Duration: 4 * time.Second}},
	}
}

// TestLinesCountAsTheirEvents: what a run says in another process counts there as it does here, and
// it is read by Prometheus.
func TestLinesCountAsTheirEvents(t *testing.T) {
	own, told := telemetry.NewFigures("1"), telemetry.NewFigures("1")
	var lines bytes.Buffer
	p := &print.Printer{Out: &lines, Err: io.Discard, Format: print.StreamJSON}
	p.Begin(print.Head{})
	see := (&telemetry.Watch{Figures: own}).Session("s", p.Observe)
	for _, e := range events() {
		see(e)
	}
	p.Finish(session.Result{Cause: session.CauseDone, Duration: 4 * time.Second})
	for line := range bytes.Lines(lines.Bytes()) {
		told.Line(line)
	}
	if own.Text() != told.Text() {
		t.Errorf("by events:\n%s\nby lines:\n%s", own.Text(), told.Text())
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if _, err := parser.TextToMetricFamilies(strings.NewReader(own.Text())); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		`adze_requests_total{provider="p",model="m",status="rate_limit"} 1`, `adze_requests_total{provider="p",model="m",status="ok"} 1`,
		`adze_requests_total{provider="script",model="file",status="aborted"} 1`, `adze_tokens_total{provider="p",model="m",kind="cache_read"} 2`,
		`adze_cost_usd_total{provider="p",model="m"} 0.02`, `adze_calls_total{tool="read",status="completed"} 1`, `adze_calls_total{tool="unknown",status="invalid"} 1`,
		`adze_turns_total{cause="done",agent=""} 1`, `adze_request_duration_seconds_count{provider="p",model="m"} 2`, `adze_tasks_running 0`,
	} {
		if !strings.Contains(own.Text(), want+"\n") {
			t.Errorf("there is no %s in\n%s", want, own.Text())
		}
	}
	for _, word := range []string{"hippo", "tools-run"} {
		if strings.Contains(own.Text(), word) {
			t.Errorf("%s is told", word)
		}
	}
}

func TestNothingIsMadeWhereNobodyWatches(t *testing.T) {
	w, notes := telemetry.FromEnv(func(string) string { return "" }, "1")
	if w != nil || notes != nil {
		t.Fatal(w, notes)
	}
	next := func(session.Event) {}
	if got := w.Session("s", next); reflect.ValueOf(got).Pointer() != reflect.ValueOf(next).Pointer() {
		t.Error("events go through something")
	}
	if n := testing.AllocsPerRun(100, func() { w.Session("s", next); w.Close() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTasks(t *testing.T) {
	f := telemetry.NewFigures("1")
	w := &telemetry.Watch{Figures: f}
	env, first := w.Task()
	_, second := w.Task()
	again := f.Begun()
	f.Again()
	f.Lost()
	f.Queue(func() (float64, bool) { return 12, true })
	if env != nil || !strings.Contains(f.Text(), "adze_tasks_running 3\n") {
		t.Errorf("%v\n%s", env, f.Text())
	}
	first(true, "done")
	second(false, "check")
	again("failed", "lost")
	for _, want := range []string{"adze_tasks_running 0", `adze_tasks_total{outcome="ok",cause="done"} 1`, `adze_tasks_total{outcome="failed",cause="check"} 1`,
		"adze_task_redeliveries_total 1", "adze_lease_losses_total 1", "adze_queue_length 12", "adze_task_duration_seconds_count 3"} {
		if !strings.Contains(f.Text(), want+"\n") {
			t.Errorf("there is no %s in\n%s", want, f.Text())
		}
	}
}

func TestTheServerTellsHealthReadinessAndFigures(t *testing.T) {
	var unready error
	f := telemetry.NewFigures("1.2.3")
	s, err := telemetry.Listen("127.0.0.1:0", f, func() error { return unready })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	get := func(method, path string) (int, string) {
		r, _ := http.NewRequestWithContext(t.Context(), method, "http://"+s.Address()+path, nil)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, answer.Header.Get("Content-Type") + " " + string(body)
	}
	wants := func(method, path string, code int, part string) {
		t.Helper()
		if c, body := get(method, path); c != code || !strings.Contains(body, part) {
			t.Errorf("%s %s: %d %s", method, path, c, body)
		}
	}
	wants("GET", "/healthz", 200, "ok")
	wants("GET", "/readyz", 200, "ok")
	wants("GET", "/metrics", 200, "text/plain; version=0.0.4")
	wants("GET", "/metrics", 200, `adze_info{version="1.2.3"} 1`)
	wants("POST", "/metrics", 405, "")
	wants("GET", "/debug/pprof/", 404, "")
	unready = errors.New("draining")
	wants("GET", "/readyz", 503, "draining")
	wants("GET", "/healthz", 200, "ok")
	if _, err := telemetry.Listen(s.Address(), f, nil); err == nil {
		t.Error("two listen at one address")
	}
}
