package run_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/natstest"
)

// TestAWorkerAnswersForItself: with --listen it is alive and ready, counts its tasks, and is not
// ready any more while it comes to its end.
func TestAWorkerAnswersForItself(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	on, repo, gate := natstest.Start(t, natstest.Options{}).URL(), u.repository("r"), filepath.Join(t.TempDir(), "gate")
	u.file("t.jsonl", fmt.Sprintf(`{"id":"quick","repo":%q,"command":"true"}
{"id":"held","repo":%[1]q,"command":"while ! test -e %s; do sleep 0.1; done"}
`, repo, gate))
	u.run("batch", "t.jsonl", "--on", on, "--detach", "--", "--permission-mode", "yolo", "--sandbox", "off").wants(0)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	w := u.works("w", on, t.TempDir(), "--listen", address, "--grace", "10m")
	wants := func(path, answer string) {
		t.Helper()
		last, again := "", time.NewTicker(20*time.Millisecond)
		defer again.Stop()
		for end := time.Now().Add(patience); time.Now().Before(end); <-again.C {
			got, err := http.Get("http://" + address + path)
			if err != nil {
				last = err.Error()
				continue
			}
			text, _ := io.ReadAll(got.Body)
			got.Body.Close()
			if last = fmt.Sprintf("%d %s", got.StatusCode, text); strings.Contains(last, answer) {
				return
			}
		}
		t.Fatalf("%s never answers %q; the last answer: %s", path, answer, last)
	}
	wants("/healthz", "200 ok")
	wants("/readyz", "200 ok")
	wants("/metrics", "\nadze_tasks_total{outcome=\"ok\",cause=\"done\"} 1\n")
	wants("/metrics", "\nadze_tasks_running 1\n")
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wants("/readyz", "503 draining")
	wants("/healthz", "200 ok")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(); err != nil {
		t.Errorf("a worker that came to its end: %v", err)
	}
	u.run("batch", "t.jsonl", "--on", on, "--", "--permission-mode", "yolo", "--sandbox", "off").wants(0)
}
