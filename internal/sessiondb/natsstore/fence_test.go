package natsstore

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"adze/internal/fleet/natsclient"
	"adze/internal/sessiondb"
	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
	"adze/internal/testkit/posix"
	"adze/internal/testkit/storetest"
	"adze/session"
)

// forgotten is a lease that the server ends soon while its holder believes in it.
var forgotten = natsclient.LeaseTimes{Live: time.Second, Renew: time.Hour, Lose: time.Hour}

// takes over a session as soon as that is possible.
func takes(t *testing.T, s *Store, id session.ID) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(2 * time.Minute); ; <-again.C {
		err := s.Lock(t.Context(), id)
		if err == nil {
			return
		}
		if !errors.Is(err, session.ErrLocked) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func types(entries []session.Entry) (out string) {
	for _, e := range entries {
		out += string(e.Type) + " "
	}
	return strings.TrimSpace(out)
}

func TestTheOldOwnerCannotWriteAfterTheSessionWasTakenOver(t *testing.T) {
	url := natstest.Start(t, natstest.Options{}).URL()
	first, second := opened(t, url, Options{Times: forgotten}), opened(t, url, Options{})
	if err := first.Append(t.Context(), "one", storetest.Entry(1)); err != nil {
		t.Fatal(err)
	}
	takes(t, second, "one")
	for range 2 {
		if err := first.Append(t.Context(), "one", storetest.Entry(2)); !errors.Is(err, session.ErrLocked) {
			t.Fatalf("the old owner: %v, want ErrLocked", err)
		}
	}
	if err := second.Append(t.Context(), "one", storetest.Entry(3)); err != nil {
		t.Fatal(err)
	}
	got, err := second.Load(t.Context(), "one")
	if err != nil || types(got) != "message attempt message" {
		t.Errorf("%s, %v", types(got), err)
	}
}

func TestASessionThatWasClosedIsGoneOnWithWithoutAnAttempt(t *testing.T) {
	url := natstest.Start(t, natstest.Options{}).URL()
	first := opened(t, url, Options{})
	if err := first.Append(t.Context(), "one", storetest.Entry(1)); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := opened(t, url, Options{})
	if err := second.Append(t.Context(), "one", storetest.Entry(2)); err != nil {
		t.Fatal(err)
	}
	if got, err := second.Load(t.Context(), "one"); err != nil || types(got) != "message message" {
		t.Errorf("%s, %v", types(got), err)
	}
}

// TestAProcessThatStoodStillCannotWriteWhenItWakes has a copy of itself write, stops it, and takes
// its session.
func TestAProcessThatStoodStillCannotWriteWhenItWakes(t *testing.T) {
	if url := os.Getenv("ADZE_STREAM_CHILD"); url != "" {
		writes(t, url)
		return
	}
	url := natstest.Start(t, natstest.Options{}).URL()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "ADZE_STREAM_CHILD="+url)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "writing" {
		t.Fatalf("the other process says %q", lines.Text())
	}
	if err := posix.Stop(t, child.Process.Pid); err != nil {
		t.Fatal(err)
	}
	mine := opened(t, url, Options{})
	takes(t, mine, "one")
	if err := posix.Cont(t, child.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "locked" {
		t.Errorf("the other process says %q when it wakes", lines.Text())
	}
	got, err := mine.Load(t.Context(), "one")
	if err != nil || got[len(got)-1].Type != AttemptEntry {
		t.Errorf("%s, %v", types(got), err)
	}
}

// writes appends until that fails, as a worker that notices nothing would.
func writes(t *testing.T, url string) {
	s := opened(t, url, Options{Times: forgotten})
	for n := 0; ; n++ {
		err := s.Append(t.Context(), "one", storetest.Entry(n))
		if n == 0 {
			fmt.Println("writing")
		}
		if errors.Is(err, session.ErrLocked) {
			fmt.Println("locked")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestALostLeaseIsToldAndEndsWriting(t *testing.T) {
	url := natstest.Start(t, natstest.Options{}).URL()
	lost := make(chan session.ID, 1)
	s := opened(t, url, Options{Times: natsclient.LeaseTimes{Live: time.Hour, Renew: time.Hour, Lose: time.Second}, Lost: func(id session.ID, err error) {
		if errors.Is(err, natsclient.ErrLost) {
			lost <- id
		}
	}})
	if err := s.Lock(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lost:
	case <-time.After(2 * time.Minute):
		t.Fatal("nobody was told")
	}
	if err := s.Append(t.Context(), "one", storetest.Entry(1)); !errors.Is(err, session.ErrLocked) {
		t.Errorf("append: %v", err)
	}
	if err := s.Held("one"); !errors.Is(err, natsclient.ErrLost) {
		t.Errorf("held: %v", err)
	}
}

func TestAnAppendWhoseAnswerIsCutIsSavedOnce(t *testing.T) {
	for name, start := range map[string]func(testing.TB, natstest.Options) *natstest.Cluster{"one": natstest.Start, "three": natstest.StartCluster} {
		t.Run(name, func(t *testing.T) {
			if !effort.Is(effort.Short) && name == "three" {
				t.Skip("-short starts no cluster here")
			}
			server := start(t, natstest.Options{})
			proxy := natstest.NewProxy(t, server.Servers[0].Address())
			s := opened(t, proxy.URL(), Options{})
			var want []session.Entry
			add := func() {
				want = append(want, storetest.Entry(len(want)))
				if err := s.Append(t.Context(), "one", want[len(want)-1]); err != nil {
					t.Fatal(err)
				}
			}
			add()
			cut := proxy.CutAfter("HPUB adze.log.")
			add()
			<-cut
			cut = proxy.CutBefore("HPUB adze.log.")
			add()
			<-cut
			add()
			got, err := s.Load(t.Context(), "one")
			if err != nil || len(got) != len(want) {
				t.Fatalf("%d entries of %d, %v", len(got), len(want), err)
			}
			for i := range want {
				if string(got[i].Data) != string(want[i].Data) {
					t.Errorf("entry %d is %s", i, got[i].Data)
				}
			}
		})
	}
}

func TestWithoutServersNothingIsCalledSaved(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	proxy := natstest.NewProxy(t, server.Servers[0].Address())
	s := opened(t, proxy.URL(), Options{Wait: 100 * time.Millisecond, Times: natsclient.LeaseTimes{Live: time.Hour, Renew: time.Hour, Lose: time.Hour}})
	for range 100 { // on a busy machine a lock may take longer than that
		if s.Lock(t.Context(), "one") == nil {
			break
		}
	}
	proxy.Cut()
	if err := s.Append(t.Context(), "one", storetest.Entry(1)); !errors.Is(err, sessiondb.ErrNotSaved) {
		t.Errorf("got %v, want ErrNotSaved", err)
	}
	proxy.Mend()
	if err := s.Append(t.Context(), "one", storetest.Entry(2)); !errors.Is(err, sessiondb.ErrNotSaved) {
		t.Errorf("afterwards: %v, want ErrNotSaved", err)
	}
}

func TestALeaderMayDieBetweenAppends(t *testing.T) {
	effort.Needs(t, effort.Short, "it starts a cluster")
	cluster := natstest.StartCluster(t, natstest.Options{})
	s := opened(t, cluster.URL(), Options{Times: natsclient.LeaseTimes{Live: time.Hour, Renew: time.Hour, Lose: time.Hour}})
	for n := range 20 {
		if n == 10 {
			cluster.Leader(streamName).Kill()
		}
		if err := s.Append(t.Context(), "one", storetest.Entry(n)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Load(t.Context(), "one")
	if err != nil || len(got) != 20 {
		t.Fatalf("%d entries, %v", len(got), err)
	}
	for n, e := range got {
		if string(e.Data) != string(storetest.Entry(n).Data) {
			t.Errorf("entry %d is %s", n, e.Data)
		}
	}
}
