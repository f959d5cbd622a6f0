//go:build unix

package bench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// manySessions is how many live sessions the overview shows in the benchmark.
const manySessions = 12

// BenchmarkOverview watches an overview of twelve live sessions: while each waits for an answer,
// while each gets a text of fifty pieces a second, and while each makes one call after the other.
// Bars: no wake-up while all wait or write; at most twenty looks a second while all make calls.
func BenchmarkOverview(b *testing.B) {
	streams := func(w io.Writer) {
		for {
			if _, err := io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a piece of it \"}}]}\n\n"); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	}
	for _, state := range []struct {
		name, shows, mode string
		plan              []string
	}{
		{"waiting", fmt.Sprint(manySessions, " waiting for you"), "ask", []string{`{"name":"bash","arguments":"{\"command\":\"touch x\"}"}`}},
		{"streaming", "the model writes", "yolo", nil},
		{"calling", "working", "yolo", commands(2000)},
	} {
		b.Run(state.name, func(b *testing.B) {
			server := newInstant(b, state.plan...)
			server.reply = streams
			r := newRunner(b, server)
			for range manySessions {
				cmd := r.command("adze", "--background", "--permission-mode", state.mode, "--model", "openai/m", "hello")
				out, err := cmd.Output()
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = r.command("adze", "stop", strings.TrimSpace(string(out))).Run() })
			}
			s, _ := showWhen(b, r, state.shows, "sessions")
			defer s.kill()
			go s.drain()
			time.Sleep(3 * time.Second) // start-up is over
			for b.Loop() {
				woken, cpu := s.status("voluntary_ctxt_switches"), processorTime(b, s.cmd.Process.Pid)
				time.Sleep(idleTime)
				b.ReportMetric(float64(s.status("voluntary_ctxt_switches")-woken)/idleTime.Seconds(), "wake-ups/s")
				b.ReportMetric(float64(processorTime(b, s.cmd.Process.Pid)-cpu)/1e6/idleTime.Seconds(), "cpu-ms/s")
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(s.status("VmRSS"))/1024, "RSS-MB")
		})
	}
}

// commands is a plan of commands, one a step.
func commands(n int) []string {
	plan := make([]string, n)
	for i := range plan {
		plan[i] = fmt.Sprintf(`{"name":"bash","arguments":"{\"command\":\"sleep 0.1 # %d\"}"}`, i)
	}
	return plan
}

// processorTime is how long a program has run on a processor.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("there is no /proc")
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	var ticks int64
	for _, f := range strings.Fields(rest)[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // of Linux
}
