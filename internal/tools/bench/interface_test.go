//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// idleTime is how long an idle interface is watched.
const idleTime = 5 * time.Second

// shown is the whole program in a pseudo-terminal.
type shown struct {
	b   testing.TB
	tty *os.File
	cmd *exec.Cmd
	out []byte // what it wrote since the last keys
}

// show starts the interface and returns when its prompt is drawn, with the time that took since
// exec.
func show(b testing.TB, r runner) (*shown, time.Duration) { return showOf(b, r, "--demo") }

func showOf(b testing.TB, r runner, args ...string) (*shown, time.Duration) {
	b.Helper()
	return showWhen(b, r, "Ask, or say what to do", args...)
}

// showWhen is the same with a text of one's own that stands on the screen when it has begun.
func showWhen(b testing.TB, r runner, text string, args ...string) (*shown, time.Duration) {
	b.Helper()
	cmd := r.command("adze", args...)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	start := time.Now()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		b.Skipf("no pseudo-terminal: %v", err)
	}
	s := &shown{b: b, tty: f, cmd: cmd}
	s.until(text)
	return s, time.Since(start)
}

// until reads until the program wrote text.
func (s *shown) until(text string) {
	s.b.Helper()
	buffer := make([]byte, 32<<10)
	for !bytes.Contains(s.out, []byte(text)) {
		n, err := s.tty.Read(buffer)
		s.out = append(s.out, buffer[:n]...)
		if err != nil {
			s.b.Fatalf("the end before %q: %v\n%q", text, err, s.out)
		}
	}
}

func (s *shown) press(keys string) {
	s.b.Helper()
	s.out = s.out[:0]
	if _, err := s.tty.WriteString(keys); err != nil {
		s.b.Fatal(err)
	}
}

func (s *shown) close() {
	s.press("\x03")
	s.until("again to quit")
	s.press("\x03")
	for buffer := make([]byte, 32<<10); ; {
		if _, err := s.tty.Read(buffer); err != nil { // EIO on Linux
			break
		}
	}
	_ = s.cmd.Wait() // how it ended is not measured
	s.tty.Close()
}

func (s *shown) status(field string) (total int64) { return status(s.b, s.cmd.Process.Pid, field) }

// status sums a field over the threads of a program, as the kernel counts it.
func status(t testing.TB, pid int, field string) (total int64) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(files) == 0 {
		t.Skip("there is no /proc")
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, field+":"); ok {
				n, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				total += n
				if field == "VmRSS" || field == "VmHWM" {
					return total // threads share it
				}
			}
		}
	}
	return total
}

// BenchmarkPromptDrawn is from exec until the prompt stands on the terminal. Bar: 30 ms.
func BenchmarkPromptDrawn(b *testing.B) {
	r := newRunner(b, newInstant(b))
	var took []float64
	for b.Loop() {
		s, t := show(b, r)
		took = append(took, float64(t)/1e6)
		s.close()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took), "ms-to-prompt")
}

// BenchmarkKeyToOutput is from the bytes of a key to the bytes that show it, while nothing else is
// drawn. Bar: 2 ms. A key beside an answer that streams is in the next of its frames, of which
// there are 60 a second.
func BenchmarkKeyToOutput(b *testing.B) {
	s, _ := show(b, newRunner(b, newInstant(b)))
	defer s.close()
	s.until("changed: ")               // the demo is over,
	time.Sleep(200 * time.Millisecond) // and its last frame painted
	var took []float64
	for b.Loop() {
		letter := string(rune('a' + len(took)%26))
		start := time.Now()
		s.press(letter)
		s.until(letter + "\x1b") // the row, and what ends the frame
		took = append(took, float64(time.Since(start))/1e6)
		time.Sleep(40 * time.Millisecond) // as a fast writer types
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took), "ms-median")
	b.ReportMetric(took[len(took)*95/100], "ms-p95")
}

// BenchmarkIdle watches an interface at which nobody does anything. Bars: no wake-ups, 30 MB.
func BenchmarkIdle(b *testing.B) {
	s, _ := show(b, newRunner(b, newInstant(b)))
	defer s.close()
	time.Sleep(3 * time.Second) // start-up is over
	for b.Loop() {
		before := s.status("voluntary_ctxt_switches")
		time.Sleep(idleTime)
		b.ReportMetric(float64(s.status("voluntary_ctxt_switches")-before)/idleTime.Seconds(), "wake-ups/s")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(s.status("VmRSS"))/1024, "RSS-MB")
	b.ReportMetric(float64(s.status("VmHWM"))/1024, "peak-MB")
}

// BenchmarkPaste is a paste of 10 MB, from its first byte to the word that stands for it. Bar:
// three times its size above the program's own.
func BenchmarkPaste(b *testing.B) {
	const size = 10 << 20
	text := strings.Repeat("a line of a log as programs write them by the thousand\r", size/55)
	var took, peak []float64
	for b.Loop() {
		s, _ := show(b, newRunner(b, newInstant(b)))
		own := s.status("VmRSS")
		start := time.Now()
		go func() { _, _ = s.tty.WriteString("\x1b[200~" + text + "\x1b[201~") }()
		s.until("[pasted 1:")
		took = append(took, float64(time.Since(start))/1e6)
		peak = append(peak, float64(s.status("VmHWM")-own)/1024)
		s.close()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took), "ms")
	b.ReportMetric(median(peak), "MB-above-own")
}
