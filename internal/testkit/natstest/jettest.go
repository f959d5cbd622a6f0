// Package natstest runs the real nats-server program for tests: one server, or three in a cluster,
// each a process that can be killed, stopped for a while and started again, and a proxy that cuts
// connections.
//
// The one rule: nothing is left running. Each server has a guard, a shell that waits for the end of
// a pipe from the test, which comes with the test's end however that was, and kills the server
// then.
//
// Start reading at Start. Known limits: the program is the one that .ci/run builds from
// .ci/nats/go.mod; where it is not, tests say so and are skipped. Servers sync each write, so that
// they are as slow as they have to be.
package natstest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// patience is how long a server may take for anything on a loaded machine.
const patience = 2 * time.Minute

// Options change how servers are started; the zero value is one without a password that syncs each
// write.
type Options struct {
	Token    string   // clients need it
	Lazy     bool     // no sync_interval: always
	Disabled bool     // no JetStream
	Users    string   // an authorization block of a configuration, in place of a token
	Env      []string // further variables of the servers, which Users may name
	MaxFile  string   // how much all streams may hold, such as 8MB; if empty, 2GB
}

// Cluster is one server or three.
type Cluster struct {
	Servers []*Server
	options Options
}

// Program is the path of nats-server: $ADZE_NATS_SERVER, else adze-ci-nats/nats-server in the
// user's cache folder, else the one on PATH. Without one the test is skipped.
func Program(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("ADZE_NATS_SERVER"); path != "" {
		return path
	}
	if cache, err := os.UserCacheDir(); err == nil {
		path := filepath.Join(cache, "adze-ci-nats", "nats-server")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, err := exec.LookPath("nats-server")
	if err != nil {
		t.Skip("nats-server is not there (.ci/run builds it)")
	}
	return path
}

// Start runs one server.
func Start(t testing.TB, o Options) *Cluster { return start(t, o, 1) }

// StartCluster runs three, which elect leaders.
func StartCluster(t testing.TB, o Options) *Cluster { return start(t, o, 3) }

func start(t testing.TB, o Options, count int) *Cluster {
	t.Helper()
	program := Program(t)
	c := &Cluster{options: o}
	ports := FreePorts(t, 3*count)
	var routes []string
	for n := range count {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", ports[3*n+2]))
	}
	dir := t.TempDir()
	for n := range count {
		s := &Server{t: t, program: program, Name: fmt.Sprintf("n%d", n+1), Port: ports[3*n], monitor: ports[3*n+1], dir: filepath.Join(dir, fmt.Sprint(n))}
		if err := s.configure(o, ports[3*n+2], routes); err != nil {
			t.Fatal(err)
		}
		c.Servers = append(c.Servers, s)
	}
	t.Cleanup(func() {
		for _, s := range c.Servers {
			s.Kill()
		}
	})
	for _, s := range c.Servers {
		s.launch()
	}
	c.Ready()
	return c
}

// URL names all servers.
func (c *Cluster) URL() string {
	var all []string
	for _, s := range c.Servers {
		all = append(all, s.URL())
	}
	return strings.Join(all, ",")
}

// Monitor names the monitors of all servers.
func (c *Cluster) Monitor() string {
	var all []string
	for _, s := range c.Servers {
		all = append(all, s.Monitor())
	}
	return strings.Join(all, ",")
}

// Ready waits until all servers that run say that they are well.
func (c *Cluster) Ready() {
	for _, s := range c.Servers {
		if !s.running() {
			continue
		}
		if err := until(func() error { return s.healthy(c.options) }); err != nil {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			s.t.Fatalf("server %s is not well: %v\n%s", s.Name, err, log)
		}
	}
}

// Leader is the server that leads a stream.
func (c *Cluster) Leader(stream string) *Server {
	t := c.Servers[0].t
	t.Helper()
	if len(c.Servers) == 1 {
		return c.Servers[0]
	}
	var leader *Server
	err := until(func() error {
		nc, err := nats.Connect(c.URL(), nats.Token(c.options.Token), nats.Timeout(2*time.Second), nats.IgnoreDiscoveredServers())
		if err != nil {
			return err
		}
		defer nc.Close()
		answer, err := nc.Request("$JS.API.STREAM.INFO."+stream, nil, 2*time.Second)
		if err != nil {
			return err
		}
		var info struct {
			Cluster struct {
				Leader string `json:"leader"`
			} `json:"cluster"`
		}
		if err := json.Unmarshal(answer.Data, &info); err != nil {
			return err
		}
		for _, s := range c.Servers {
			if s.Name == info.Cluster.Leader && s.running() {
				leader = s
				return nil
			}
		}
		return fmt.Errorf("leader %q", info.Cluster.Leader)
	})
	if err != nil {
		t.Fatalf("no leader of %s: %v", stream, err)
	}
	return leader
}

// until asks again and again until there is no error, or patience is over.
func until(ask func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return cmp.Or(err, ctx.Err())
		case <-again.C:
		}
	}
}

// healthy asks the server's monitor.
func (s *Server) healthy(o Options) error {
	if o.Disabled {
		return s.get("/varz")
	}
	return s.get("/healthz")
}

func (s *Server) get(path string) error {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(s.Monitor() + path)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", answer.Status)
	}
	return nil
}
