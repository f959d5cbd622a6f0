//go:build linux || darwin

package live_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"adze/session"
)

// BenchmarkWatchers tells one event after the other to clients that read and look at nothing, so that
// most of the time is the owner's. An operation is an event.
func BenchmarkWatchers(b *testing.B) {
	for _, n := range []int{0, 1, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := own(b, nil)
			var ends sync.WaitGroup
			for range n {
				c := raw(b, o)
				ends.Go(func() { readTo(b, c, `{"type":"turn"`) })
			}
			for o.Watched() < n {
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				o.Observe(session.TextDelta{Message: "m", Delta: fmt.Sprintln("a word or two of an answer", i)})
			}
			o.Observe(session.MessageDone{Message: session.Message{ID: "m", Role: session.Assistant}})
			o.Observe(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
			ends.Wait()
		})
	}
}

// BenchmarkTenThousandASecond is what events cost at that rate, in milliseconds of CPU a second, with the
// reading of the clients. An operation is an event.
func BenchmarkTenThousandASecond(b *testing.B) {
	for _, n := range []int{0, 1, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := own(b, nil)
			var ends sync.WaitGroup
			for range n {
				c := raw(b, o)
				ends.Go(func() { readTo(b, c, `{"type":"turn"`) })
			}
			for o.Watched() < n {
			}
			b.ResetTimer()
			before, start := cpu(), time.Now()
			for i := range b.N {
				if i%20 == 0 {
					time.Sleep(time.Until(start.Add(time.Duration(i) * 100 * time.Microsecond)))
				}
				o.Observe(session.TextDelta{Message: "m", Delta: fmt.Sprintln("a word or two of an answer", i)})
			}
			o.Observe(session.MessageDone{Message: session.Message{ID: "m", Role: session.Assistant}})
			o.Observe(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
			ends.Wait()
			b.ReportMetric(float64((cpu()-before).Milliseconds())/time.Since(start).Seconds(), "cpu-ms/s")
		})
	}
}

// cpu is what this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// raw is a client that has asked for all.
func raw(tb testing.TB, o *owned) net.Conn {
	tb.Helper()
	c, err := net.Dial("unix", filepath.Join(o.folder, "one.sock"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, `{"type":"watch"}`+"\n"); err != nil {
		tb.Fatal(err)
	}
	return c
}

// readTo reads up to a line that begins with a text.
func readTo(tb testing.TB, c net.Conn, line string) {
	buffer, kept := make([]byte, 256<<10), 0
	for {
		n, err := c.Read(buffer[kept:])
		if err != nil {
			tb.Error(err)
			return
		}
		piece := buffer[:kept+n]
		if bytes.Contains(piece, []byte("\n"+line)) {
			return
		}
		kept = copy(buffer, piece[max(0, len(piece)-len(line)-1):])
	}
}
