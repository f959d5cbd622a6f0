package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

// TestAServerThatIsFarAway: what is submitted over a slow way is done, followed and listed as over
// a fast one. ADZE_SLOW_MS is how long each way takes; at 1500 it runs for minutes.
func TestAServerThatIsFarAway(t *testing.T) {
	effort.Needs(t, effort.Short, "each request waits for its way")
	needs(t, "git")
	slow := 40 * time.Millisecond
	if ms, err := strconv.Atoi(os.Getenv("ADZE_SLOW_MS")); err == nil {
		slow = time.Duration(ms) * time.Millisecond
	}
	u := newUser(t).withName()
	proxy := natstest.NewProxy(t, strings.TrimPrefix(natstest.Start(t, natstest.Options{}).URL(), "nats://"))
	proxy.Slow(slow)
	on, repo := proxy.URL(), u.repository("r")
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"echo x >x.txt\"}\n{\"id\":\"b\",\"repo\":%[1]q,\"command\":\"false\"}\n", repo))
	w := u.works("w", on, t.TempDir())
	u.run("batch", "t.jsonl", "--on", on, "--", "--permission-mode", "yolo").wants(8)
	all := u.batchResults(filepath.Join(u.dir, "t.batch"))
	if len(all["a"]) != 1 || !all["a"][0].OK || len(all["b"]) != 1 || all["b"][0].OK {
		t.Errorf("%+v", all)
	}
	shown := u.run("runs", "list", "--on", on).wants(0).out
	id := strings.Fields(strings.Split(shown, "\n")[1])[0]
	if n := strings.Count(u.run("runs", "list", id, "--on", on, "--json").wants(0).out, `"attempts":1`); n != 2 {
		t.Errorf("%d tasks were done at the first attempt", n)
	}
	u.run("runs", "follow", id, "--on", on).wants(8, "1 of 2 tasks did not succeed")
	w.Process.Signal(syscall.SIGTERM)
	if err := w.Wait(); err != nil {
		t.Errorf("a worker that is told to stop: %v", err)
	}
}
