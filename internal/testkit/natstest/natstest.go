// Package natstest runs the real nats-server for tests: one server, or three in a cluster, as
// processes that can be killed and restarted.
//
// The one rule: nothing is left running. Each server has a guard, a shell that reads from a pipe to
// the test and kills the server when the pipe closes.
//
// Start reading at Start. Known limits: the program comes from .ci/nats/go.mod via .ci/run; without
// it, tests are skipped.
package natstest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// For any operation on a loaded machine.
const patience = 2 * time.Minute

// Options configure the servers; the zero value is without a password.
type Options struct {
	Token string   // required from clients
	Users string   // an authorization block, instead of a token
	Env   []string // additional variables, which Users may name
}

// A Cluster is one server or three.
type Cluster struct{ Servers []*Server }

// A Server is a nats-server process. Its folder and ports outlive the process.
type Server struct {
	Name          string
	port, monitor int
	t             testing.TB
	program, dir  string
	env           []string
	guard         *exec.Cmd
	pipe          io.Closer // nil while it does not run
}

// Program returns the path to nats-server: $ADZE_NATS_SERVER, otherwise adze-ci-nats/nats-server in
// the user's cache folder, otherwise the one in PATH. It skips the test if there is none.
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

// StartCluster runs three servers, which elect leaders.
func StartCluster(t testing.TB, o Options) *Cluster { return start(t, o, 3) }

func start(t testing.TB, o Options, count int) *Cluster {
	t.Helper()
	program, c := Program(t), &Cluster{}
	ports, dir := FreePorts(t, 3*count), t.TempDir()
	var routes []string
	for n := range count {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", ports[3*n+2]))
	}
	for n := range count {
		s := &Server{t: t, program: program, Name: fmt.Sprintf("n%d", n+1), port: ports[3*n], monitor: ports[3*n+1], dir: filepath.Join(dir, fmt.Sprint(n)), env: o.Env}
		conf := fmt.Sprintf("server_name: %s\nlisten: 127.0.0.1:%d\nhttp: 127.0.0.1:%d\njetstream {\n  store_dir: %q\n  max_mem: 256MB\n  max_file: 2GB\n  sync_interval: always\n}\n%s\n",
			s.Name, s.port, s.monitor, filepath.Join(s.dir, "data"), o.Users)
		if o.Token != "" {
			conf += fmt.Sprintf("authorization { token: %q }\n", o.Token)
		}
		if count > 1 {
			conf += fmt.Sprintf("cluster {\n  name: adze\n  listen: 127.0.0.1:%d\n  routes: [%s]\n}\n", ports[3*n+2], strings.Join(routes, ", "))
		}
		if err := errors.Join(os.MkdirAll(s.dir, 0o700), os.WriteFile(filepath.Join(s.dir, "conf"), []byte(conf), 0o600)); err != nil {
			t.Fatal(err)
		}
		c.Servers = append(c.Servers, s)
		t.Cleanup(s.Kill)
		s.launch()
	}
	for _, s := range c.Servers {
		s.ready("/healthz")
	}
	return c
}

// URL returns all servers' addresses.
func (c *Cluster) URL() string {
	var all []string
	for _, s := range c.Servers {
		all = append(all, s.URL())
	}
	return strings.Join(all, ",")
}

// URL returns the clients' address.
func (s *Server) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.port) }

// Monitor returns the HTTP monitoring address.
func (s *Server) Monitor() string { return fmt.Sprintf("http://127.0.0.1:%d", s.monitor) }

// Leader returns a stream's leader.
func (c *Cluster) Leader(stream string) (leader *Server) {
	t := c.Servers[0].t
	t.Helper()
	until(t, "a leader of "+stream, func() error {
		nc, err := nats.Connect(c.URL(), nats.Timeout(2*time.Second))
		if err != nil {
			return err
		}
		defer nc.Close()
		answer, err := nc.Request("$JS.API.STREAM.INFO."+stream, nil, 2*time.Second)
		if err != nil {
			return err
		}
		var info struct{ Cluster struct{ Leader string } }
		if err := json.Unmarshal(answer.Data, &info); err != nil {
			return err
		}
		for _, s := range c.Servers {
			if s.Name == info.Cluster.Leader {
				leader = s
				return nil
			}
		}
		return fmt.Errorf("leader %q", info.Cluster.Leader)
	})
	return leader
}

// guarding starts the server, and kills it when its own input ends.
const guarding = `trap '' HUP; "$1" -c "$2/conf" >>"$2/log" 2>&1 & p=$!; echo $p; cat >/dev/null; kill -9 $p 2>/dev/null; wait $p 2>/dev/null`

func (s *Server) launch() {
	s.t.Helper()
	guard := exec.Command("sh", "-c", guarding, "guard", s.program, s.dir)
	guard.Env = append(os.Environ(), s.env...)
	pipe, err := guard.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	started, err := guard.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := guard.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.guard, s.pipe = guard, pipe
	if _, err := bufio.NewReader(started).ReadString('\n'); err != nil {
		s.t.Fatal(err)
	}
}

// Kill sends SIGKILL; the folder stays.
func (s *Server) Kill() {
	if s.pipe != nil {
		_ = s.pipe.Close()
		_ = s.guard.Wait()
		s.pipe = nil
	}
}

// Restart starts the server again with its folder, and waits until it responds.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.launch()
	s.ready("/varz")
}

// ready waits until the monitor responds.
func (s *Server) ready(path string) {
	s.t.Helper()
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	until(s.t, "server "+s.Name, func() error {
		answer, err := client.Get(s.Monitor() + path)
		if err != nil {
			return err
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		return nil
	})
}

// until retries until there is no error or patience is over.
func until(t testing.TB, what string, ask func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no %s: %v", what, err)
		case <-again.C:
		}
	}
}

// FreePorts returns ports below the ephemeral range, so that no outgoing connection can take a
// restarting server's port.
func FreePorts(t testing.TB, count int) (ports []int) {
	t.Helper()
	for range 10_000 {
		if len(ports) == count {
			return ports
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(22_000)))
		if err != nil {
			continue
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	t.Fatal("no free ports")
	return nil
}
