package natstest

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Server is a process of nats-server, with its own folder and ports, which outlive it.
type Server struct {
	Name    string
	Port    int
	t       testing.TB
	program string
	monitor int
	dir     string
	env     []string

	mu    sync.Mutex
	pid   int // if 0, it does not run
	guard *exec.Cmd
	pipe  io.Closer
}

// Folder is where it keeps its streams.
func (s *Server) Folder() string { return s.dir }

// URL is where clients connect.
func (s *Server) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.Port) }

// Monitor is where it answers questions about itself over HTTP.
func (s *Server) Monitor() string { return fmt.Sprintf("http://127.0.0.1:%d", s.monitor) }

// Address is where clients connect, as host and port.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

// configure writes the server's configuration.
func (s *Server) configure(o Options, routePort int, routes []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "server_name: %s\nlisten: 127.0.0.1:%d\nhttp: 127.0.0.1:%d\n", s.Name, s.Port, s.monitor)
	if !o.Disabled {
		fmt.Fprintf(&b, "jetstream {\n  store_dir: %q\n  max_mem: 256MB\n  max_file: %s\n", filepath.Join(s.dir, "data"), orElse(o.MaxFile, "2GB"))
		if !o.Lazy {
			b.WriteString("  sync_interval: always\n")
		}
		b.WriteString("}\n")
	}
	if o.Token != "" {
		fmt.Fprintf(&b, "authorization { token: %q }\n", o.Token)
	}
	b.WriteString(o.Users + "\n")
	s.env = o.Env
	if len(routes) > 1 {
		fmt.Fprintf(&b, "cluster {\n  name: adze\n  listen: 127.0.0.1:%d\n  routes: [%s]\n}\n", routePort, strings.Join(routes, ", "))
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "conf"), []byte(b.String()), 0o600)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// guarding starts the server, says its number, and kills it when its own input ends. The end of the
// test hangs up on a group in which a process stands still (setpgid(2)): the guard outlives that.
const guarding = `trap '' HUP; "$1" -c "$2/conf" >>"$2/log" 2>&1 & p=$!; echo $p; cat >/dev/null; kill -9 $p 2>/dev/null; wait $p 2>/dev/null`

func (s *Server) launch() {
	s.t.Helper()
	guard := exec.Command("sh", "-c", guarding, "guard", s.program, s.dir)
	guard.SysProcAttr = apart() // an interrupt of the test reaches it by the pipe
	guard.Env = append(os.Environ(), s.env...)
	pipe, err := guard.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	says, err := guard.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := guard.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard, s.pipe = guard, pipe
	line, err := bufio.NewReader(says).ReadString('\n')
	if _, scanned := fmt.Sscan(line, &s.pid); err != nil || scanned != nil {
		s.t.Fatalf("the guard of a server said %q: %v", line, err)
	}
}

func (s *Server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pid != 0
}

// PID is the number of the server's process; if 0, it does not run.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pid
}

// Kill ends it by SIGKILL; its folder stays.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pid == 0 {
		return
	}
	_ = kill(s.pid)
	_ = s.pipe.Close()
	_ = s.guard.Wait()
	s.pid = 0
}

// Stop has it stand still (SIGSTOP), as a machine does that is suspended, until Cont.
func (s *Server) Stop() { s.must(stop(s.PID())) }

// Cont lets it go on.
func (s *Server) Cont() { s.must(cont(s.PID())) }

func (s *Server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// Restart starts it again over its folder, and waits until its monitor answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.launch()
	if err := until(func() error { return s.get("/varz") }); err != nil {
		s.t.Fatal(err)
	}
}

// FreePorts are below those that systems give to connections that go out: one of these could take
// the port of a server that is being started again, and a client that dials its own port talks to
// itself.
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
