package natsclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

func dial(t *testing.T, o Options) *Conn {
	t.Helper()
	o.Wait = time.Minute
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestAnAddressThatCannotBeUsed(t *testing.T) {
	for url, says := range map[string]string{
		"":                                   "no server is named",
		"nats://user:word@localhost":         "localhost carries a secret",
		"nats://word@localhost:4222":         "carries a secret",
		"http://localhost:4222":              "want nats://",
		"nats://localhost:4222,redis://host": "want nats://",
		"localhost:4222":                     "want nats://",
	} {
		_, err := Dial(t.Context(), Options{URL: url})
		if !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "word@") {
			t.Errorf("%q: %v", url, err)
		}
	}
	for list, plain := range map[string]bool{
		"nats://127.0.0.1:1,nats://[::1]:2,nats://localhost": true,
		"nats://127.0.0.1:1,nats://10.0.0.1:1":               false,
		"nats://nats:4222":                                   false,
		"tls://127.0.0.1":                                    false,
	} {
		if got, err := plainURL(list, false); err != nil || got != plain {
			t.Errorf("%s: without TLS: %v, %v", list, got, err)
		}
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if _, err := Dial(t.Context(), Options{URL: "nats://" + address, Wait: 50 * time.Millisecond}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("one that says nothing: %v", err)
	}
	l.Close()
	if _, err := Dial(t.Context(), Options{URL: "nats://" + address, Wait: 50 * time.Millisecond}); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), address) {
		t.Errorf("none: %v", err)
	}
}

// answering plays a server of an old version, which says who it is and answers PING.
func answering(t *testing.T, info string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(c, "INFO %s\r\n", info)
			said := make([]byte, 4096)
			for all := ""; !strings.Contains(all, "PING"); {
				n, err := c.Read(said)
				if err != nil {
					break
				}
				all += string(said[:n])
			}
			fmt.Fprint(c, "PONG\r\n")
		}
	}()
	return "nats://" + l.Addr().String()
}

func TestAnOldServer(t *testing.T) {
	url := answering(t, `{"server_id":"x","version":"2.9.3","headers":true,"max_payload":1048576}`)
	_, err := Dial(t.Context(), Options{URL: url, Wait: time.Minute})
	if !errors.Is(err, ErrOldServer) || !strings.Contains(err.Error(), "2.9.3") {
		t.Errorf("got %v", err)
	}
	for version, old := range map[string]bool{"2.10.29": true, "2.11.0": false, "2.12.1-RC.1": false, "3.0.0": false, "1.9.9": true, "": true} {
		if older(version, oldest) != old {
			t.Errorf("%q: old is %v", version, !old)
		}
	}
}

func TestAServerWithATokenOrWithoutJetStream(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := natstest.Start(t, natstest.Options{Token: "right-one"})
	write("right-one\n")
	dial(t, Options{URL: server.URL(), TokenFile: file})
	write("wrong-one")
	_, err := Dial(t.Context(), Options{URL: server.URL(), TokenFile: file, Wait: time.Minute})
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "wrong-one") {
		t.Errorf("a wrong token: %v", err)
	}
	if _, err = Dial(t.Context(), Options{URL: server.URL(), Wait: time.Minute}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "ADZE_NATS_TOKEN_FILE") {
		t.Errorf("no token: %v", err)
	}
	write(" \n")
	if _, err = Dial(t.Context(), Options{URL: server.URL(), TokenFile: file}); !errors.Is(err, ErrAddress) {
		t.Errorf("an empty token: %v", err)
	}
	off := natstest.Start(t, natstest.Options{Disabled: true})
	if _, err := Dial(t.Context(), Options{URL: off.URL(), Wait: time.Minute}); !errors.Is(err, ErrNoJetStream) {
		t.Errorf("without JetStream: %v", err)
	}
}

func TestAStreamThatIsThereMustKeepWhatItTakes(t *testing.T) {
	c := dial(t, Options{URL: natstest.Start(t, natstest.Options{}).URL()})
	want := jetstream.StreamConfig{Name: "LOG", Subjects: []string{"log.*"}, Discard: jetstream.DiscardNew, DenyDelete: true}
	for range 2 {
		s, err := c.Stream(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		if Warn(s) == "" {
			t.Error("one replica, and no warning")
		}
	}
	for name, spoil := range map[string]func(*jetstream.StreamConfig){
		"memory":  func(s *jetstream.StreamConfig) { s.Storage = jetstream.MemoryStorage },
		"oldest":  func(s *jetstream.StreamConfig) { s.Discard = jetstream.DiscardOld },
		"delete":  func(s *jetstream.StreamConfig) { s.DenyDelete = false },
		"age":     func(s *jetstream.StreamConfig) { s.MaxAge = time.Hour },
		"few":     func(s *jetstream.StreamConfig) { s.MaxMsgsPerSubject = 1 },
		"subject": func(s *jetstream.StreamConfig) { s.Subjects = []string{"other.>"} },
	} {
		is := want
		is.Name, is.Subjects = "LOG"+name, []string{"log" + name + ".*"}
		asked := is
		spoil(&is)
		if _, err := c.JetStream().CreateStream(t.Context(), is); err != nil {
			t.Fatal(name, err)
		}
		if _, err := c.Stream(t.Context(), asked); !errors.Is(err, ErrMade) {
			t.Errorf("%s: %v", name, err)
		}
	}
	three := dial(t, Options{URL: c.URL(), Replicas: 3})
	if _, err := three.Stream(t.Context(), jetstream.StreamConfig{Name: "THREE", Subjects: []string{"three"}}); !errors.Is(err, ErrMade) {
		t.Errorf("three replicas on one server: %v", err)
	}
}

func TestAContentIsKeptOnceUnderItsSum(t *testing.T) {
	c := dial(t, Options{URL: natstest.Start(t, natstest.Options{MaxFile: "16MB"}).URL()})
	blobs, err := c.Blobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	large := bytes.Repeat([]byte("a large content\n"), 50_000)
	var names [2]string
	for i := range names {
		if names[i], err = blobs.Keep(t.Context(), bytes.NewReader(large)); err != nil {
			t.Fatal(err)
		}
	}
	status, err := blobs.store.Status(t.Context())
	if err != nil || status.Size() > uint64(len(large))*3/2 || names[0] != names[1] {
		t.Errorf("kept twice: %v, %v, %v", names, status.Size(), err)
	}
	var back bytes.Buffer
	if err := blobs.Fetch(t.Context(), names[0], &back); err != nil || !bytes.Equal(back.Bytes(), large) {
		t.Errorf("%d bytes came back, %v", back.Len(), err)
	}
	if err := blobs.Fetch(t.Context(), strings.Repeat("0", 64), &back); !errors.Is(err, ErrNone) {
		t.Errorf("missing: %v", err)
	}
	if _, err := blobs.store.PutBytes(t.Context(), names[0], []byte("another")); err != nil {
		t.Fatal(err)
	}
	if err := blobs.Fetch(t.Context(), names[0], &back); !errors.Is(err, ErrDamaged) {
		t.Errorf("replaced: %v", err)
	}
	if _, err := blobs.Keep(t.Context(), bytes.NewReader(make([]byte, 20<<20))); !errors.Is(err, ErrFull) {
		t.Errorf("no room: %v", err)
	}
}

func TestDurabilityIsProvenByTheMonitorsOfTheServers(t *testing.T) {
	sure, lazy := natstest.Start(t, natstest.Options{}), natstest.Start(t, natstest.Options{Lazy: true})
	for name, c := range map[string]struct {
		url, monitor string
		replicas     int
		proven       bool
	}{
		"sure":    {sure.URL(), sure.Monitor(), 0, true},
		"lazy":    {lazy.URL(), lazy.Monitor(), 0, false},
		"another": {lazy.URL(), sure.Monitor(), 0, false},
		"none":    {sure.URL(), "", 0, false},
		"gone":    {sure.URL(), "http://127.0.0.1:1", 0, false},
		"few":     {sure.URL(), sure.Monitor(), 3, false},
	} {
		conn := dial(t, Options{URL: c.url, Monitor: c.monitor, Replicas: c.replicas})
		if d := conn.Durability(t.Context()); d.Proven != c.proven || d.Why == "" {
			t.Errorf("%s: %v", name, d)
		}
	}
}

func TestAClusterGoesOnWithoutItsLeader(t *testing.T) {
	effort.Needs(t, effort.Short, "it starts a cluster")
	cluster := natstest.StartCluster(t, natstest.Options{})
	c := dial(t, Options{URL: cluster.URL(), Monitor: cluster.Monitor()})
	if d := c.Durability(t.Context()); !d.Proven {
		t.Error(d)
	}
	s, err := c.Stream(t.Context(), jetstream.StreamConfig{Name: "LOG", Subjects: []string{"log"}})
	if err != nil || s.CachedInfo().Config.Replicas != 3 || Warn(s) != "" {
		t.Fatalf("%+v, %v", s, err)
	}
	publish := func(n int) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		err := c.patiently(ctx, func(ctx context.Context) error {
			_, err := c.JetStream().Publish(ctx, "log", nil, jetstream.WithMsgID(fmt.Sprint(n)))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	publish(1)
	leader := cluster.Leader("LOG")
	leader.Kill()
	publish(2)
	leader.Restart()
	cluster.Ready()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	err = c.patiently(ctx, func(ctx context.Context) error {
		last, err := c.Last(ctx, "LOG", "log")
		if err == nil && last.Sequence != 2 {
			t.Errorf("the last one is %d", last.Sequence)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
