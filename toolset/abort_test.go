package toolset

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/web"
	"adze/tool"
)

// slowDesk is a workspace in which every tool has something to do for long: a wide tree, a large
// file, a server that never answers.
func slowDesk(t testing.TB, dir string) {
	t.Helper()
	line := strings.Repeat("some words of a line, aaaaaaaaaaaaaaaaaaaaaaaaaa ", 2)
	for i := range 40 {
		folder := filepath.Join(dir, fmt.Sprintf("d%02d", i), "sub")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 25 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("f%d.txt", j)), bytes.Repeat([]byte(line+"é\n"), 200), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	large := bytes.Repeat([]byte(line+"\n"), (48<<20)/(len(line)+1))
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), large, 0o644); err != nil {
		t.Fatal(err)
	}
}

// hangingWeb dials a server that takes everything and says nothing.
func hangingWeb(t testing.TB) *web.Fetcher {
	return web.New(web.Policy{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			t.Cleanup(func() { server.Close() })
			go func() {
				buf := make([]byte, 1<<10)
				for {
					if _, err := server.Read(buf); err != nil {
						return
					}
				}
			}()
			return client, nil
		},
	})
}

// slowCalls are calls that take long, most of them for ever.
func slowCalls() map[string]string {
	return map[string]string{
		"glob":        `{"pattern":"**/{a,b,f}*{1,2,3}*"}`,
		"grep":        `{"pattern":"(é|[a-z ,]+)+(x|y)z{3}$","ignore_case":true,"multiline":true}`,
		"list":        `{"depth":20}`,
		"read":        `{"path":"large.txt","offset":400000}`,
		"edit":        `{"path":"large.txt","old_string":"some word of a line\nanother line\nthat is not there","new_string":"x"}`,
		"bash":        `{"command":"sleep 1000 & sleep 1000"}`,
		"bash_output": `{"job":"job1","wait":60}`,
		"webfetch":    `{"url":"http://slow.example/"}`,
	}
}

// newSlowBench is the whole catalogue over such a workspace, with a job that goes on.
func newSlowBench(t testing.TB, dir string) *bench {
	t.Helper()
	deps := caseDeps(t, dir)
	deps.Web = hangingWeb(t)
	registry, err := New(deps)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, dir)
	if b.set, err = registry.Tools(t.Context(), tool.Init{Workspace: b.dir, Directory: b.dir, Cwd: b.dir}); err != nil {
		t.Fatal(err)
	}
	for _, before := range [][2]string{{"bash", `{"command":"sleep 1000","background":true}`}, {"read", `{"path":"large.txt","limit":1}`}} {
		if o := b.play(t, before[0], before[1]).outcome; o.Status != tool.Completed {
			t.Fatal(o.Output)
		}
	}
	return b
}

// An abort ends every tool, wherever it falls: the tool returns by itself before the runner gives
// up on it, and leaves no temporary file, no process, and files as they were. The delays only
// choose where the abort falls; nothing here depends on how fast the machine is.
func TestAbortEndsEveryTool(t *testing.T) {
	dir := t.TempDir()
	slowDesk(t, dir)
	b := newSlowBench(t, dir)
	for name, arguments := range slowCalls() {
		t.Run(name, func(t *testing.T) {
			for _, delay := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 60 * time.Millisecond, 200 * time.Millisecond} {
				o, took := b.abortAfter(t, name, arguments, delay)
				t.Logf("aborted after %v: %s %q, %v later", delay, o.Status, o.Code, took)
				endless := name == "bash" || name == "bash_output" || name == "webfetch" // the others may end just before
				if strings.Contains(o.Output, "may still be running") || endless && o.Status != tool.Aborted {
					t.Errorf("aborted after %v: %s %s %.300s", delay, o.Status, o.Code, o.Output)
				}
			}
			left, err := filepath.Glob(filepath.Join(b.dir, ".adze-*"))
			info, statErr := os.Stat(filepath.Join(b.dir, "large.txt"))
			if err != nil || len(left) > 0 || statErr != nil || info.Size() < 40<<20 {
				t.Errorf("left %v, %v", left, statErr)
			}
		})
	}
	h := &hostile{T: t}
	if o := b.play(t, "bash_kill", `{"job":"job1"}`).outcome; o.Status != tool.Completed {
		t.Error(o.Output)
	}
	h.noProcess()
}

// abortAfter aborts a call some time after the gate let it through, and returns how long it went on
// after that; 0 when it had ended before.
func (b *bench) abortAfter(t testing.TB, name, arguments string, delay time.Duration) (tool.Outcome, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	aborted := make(chan time.Time, 1)
	runner := *b.runner
	runner.Gate = tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
		time.AfterFunc(delay, func() {
			aborted <- time.Now()
			cancel()
		})
		return tool.Decision{Allow: true}, nil
	})
	calls := runner.Hydrate(ctx, b.set, []tool.RawCall{{ID: "c", Name: name, Arguments: arguments}})
	o := runner.Exec(ctx, calls[0])
	select {
	case at := <-aborted:
		return o, time.Since(at)
	default:
		return o, 0
	}
}

// How long a tool goes on after an abort, at worst. Bar: 200 ms.
func BenchmarkAbort(b *testing.B) {
	dir := b.TempDir()
	slowDesk(b, dir)
	x := newSlowBench(b, dir)
	for _, name := range slices.Sorted(maps.Keys(slowCalls())) {
		b.Run(name, func(b *testing.B) {
			worst := time.Duration(0)
			for i := 0; b.Loop(); i++ {
				_, took := x.abortAfter(b, name, slowCalls()[name], time.Duration(i%50)*3*time.Millisecond)
				worst = max(worst, took)
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
		})
	}
}
