package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adze/internal/fleet/natsclient"
	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

// TestASessionOnAServerIsGoneOnWithElsewhere kills a run in the middle of a call, and goes on from
// another home: the call, of which nobody knows how it ended, is not run again.
func TestASessionOnAServerIsGoneOnWithElsewhere(t *testing.T) {
	needs(t, "bash")
	url := "--store=" + natstest.Start(t, natstest.Options{}).URL()
	u := newUser(t)
	s := u.start("-p", url, "--output-format=stream-json", "--permission-mode=yolo", "--session-id=far", u.script("-- 1 --\n"+bash("echo ran >> count; while [ ! -e never ]; do sleep 0.05; done")+"-- 2 --\ntext: done\n"), "work")
	waitFor(t, "the call to run", func() bool {
		_, err := os.Stat(filepath.Join(u.dir, "count"))
		return err == nil
	})
	s.signal(syscall.SIGKILL)

	other := newUser(t)
	other.dir = u.dir
	other.run("session", "list", url).wants(0, "far", "work")
	if out := other.run("session", "list").wants(0).out; strings.Contains(out, "far") {
		t.Errorf("a session of the server is in the store of this machine: %s", out)
	}
	other.run("-p", url, "--resume=far", "--permission-mode=yolo", other.script("-- 1 --\n"+bash("echo second >> count")+"-- 2 --\ntext: on\n"), "go on").wants(0, "on")
	got, err := os.ReadFile(filepath.Join(u.dir, "count"))
	if err != nil || string(got) != "ran\nsecond\n" {
		t.Errorf("the calls wrote %q, %v", got, err)
	}
	u.run("session", "show", "far", url).wants(0, "go on")
	u.run("session", "list", "--json", url).wants(0, `"id":"far"`)
	u.run("audit", "show", "far", url).wants(0, "echo second")
	u.run("audit", "verify", "far", url).wants(0)
	u.run("audit", "verify", "nobody", url).wants(2)
}

// TestARunThatLosesItsLeaseEndsItself takes the lease away under a run: its call ends with all that
// it started.
func TestARunThatLosesItsLeaseEndsItself(t *testing.T) {
	effort.Needs(t, effort.Short, "a lease takes seconds to be lost")
	needs(t, "bash")
	server := natstest.Start(t, natstest.Options{}).URL()
	u := newUser(t)
	s := u.start("-p", "--store="+server, "--output-format=stream-json", "--permission-mode=yolo", "--session-id=far", u.script("-- 1 --\n"+bash("echo $$ > pid; while [ ! -e never ]; do sleep 0.05; done")+"-- 2 --\ntext: done\n"), "work")
	waitFor(t, "the call to run", func() bool {
		text, err := os.ReadFile(filepath.Join(u.dir, "pid"))
		return err == nil && len(text) > 0
	})
	takeLease(t, server, "far")
	s.until(`"cause":"store"`)
	_ = s.cmd.Wait()
	if out := s.seen.String(); !strings.Contains(out, "the lease was lost") {
		t.Errorf("the run says %s", out)
	}
	alive := func() bool {
		text, _ := os.ReadFile(filepath.Join(u.dir, "pid"))
		_, err := os.Stat("/proc/" + strings.TrimSpace(string(text)))
		return err == nil
	}
	waitFor(t, "the end of the call", func() bool { return !alive() })
}

// takeLease takes the lease of a session away from who holds it.
func takeLease(t *testing.T, server, id string) {
	t.Helper()
	conn, err := natsclient.Dial(t.Context(), natsclient.Options{URL: server})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	leases, err := conn.JetStream().KeyValue(t.Context(), "ADZE_LEASE")
	if err != nil {
		t.Fatal(err)
	}
	if err := leases.Delete(t.Context(), natsclient.Token(id)); err != nil {
		t.Fatal(err)
	}
}

// TestAnInterfaceThatLosesItsLeaseSaysWhy: it ends with the reason, and with the line that finds
// the session again.
func TestAnInterfaceThatLosesItsLeaseSaysWhy(t *testing.T) {
	effort.Needs(t, effort.Short, "a lease takes seconds to be lost")
	server := natstest.Start(t, natstest.Options{}).URL()
	u := newUser(t)
	p := u.openPane(200, 30)
	p.begin(u.script("-- 1 --\ntext: hello\n"), "--plain", "--store="+server)
	p.sees("/quit leaves.")
	p.shell("say it")
	p.sees("hello", "Ready.")
	id := strings.Fields(u.run("session", "list", "--store="+server).wants(0).out)[0]
	takeLease(t, server, id)
	p.sees("the lease was lost", "hint: ", "--resume "+id+" --store "+server)
	p.restored(10)
}

// TestAServerThatIsNotThereIsOneClearError: nothing is asked of a model, and what it means is said.
func TestAServerThatIsNotThereIsOneClearError(t *testing.T) {
	effort.Needs(t, effort.Short, "a server is waited for")
	u := newUser(t)
	u.run("-p", "--store=http://x", u.script("-- 1 --\ntext: done\n"), "work").wants(2, "--store")
	u.run("session", "list", "--store=/tmp/x").wants(2, "NATS")
	if r := u.run("-p", "--store=nats://127.0.0.1:1", u.script("-- 1 --\ntext: done\n"), "work"); r.code == 0 || !strings.Contains(r.err, "no NATS server answers") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestADamagedSessionOnAServerHidesNoOther: what of a server does not fit its chain is told of, and
// the others are looked at as ever.
func TestADamagedSessionOnAServerHidesNoOther(t *testing.T) {
	server := natstest.Start(t, natstest.Options{}).URL()
	u := newUser(t)
	for _, id := range []string{"first", "evil", "last"} {
		u.run("-p", "--store="+server, "--session-id="+id, u.script("-- 1 --\ntext: yes\n"), "the "+id+" prompt").wants(0, "yes")
	}
	conn, err := natsclient.Dial(t.Context(), natsclient.Options{URL: server})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.JetStream().Publish(t.Context(), "adze.log."+natsclient.Token("evil"), []byte("rubbish")); err != nil {
		t.Fatal(err)
	}
	on := "--store=" + server
	u.run("session", "list", on).wants(0, "first", "evil", "last")
	u.run("session", "show", "last", on).wants(0, "the last prompt")
	u.run("session", "show", on).wants(10, "the last prompt", "session evil is left out")
	u.run("session", "show", "evil", on).wants(10, "evil")
	u.run("session", "search", "prompt", on).wants(10, "first", "last", "session evil is left out")
	u.run("audit", "verify", "--all", on).wants(10, "first: all", "last: all", "session evil is left out")
	u.run("audit", "stats", on).wants(10, "2 sessions", "session evil is left out")
}
