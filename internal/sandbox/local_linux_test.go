package sandbox_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
)

// echo serves a listener: it says hello to each connection, and then what it is told.
func echo(t *testing.T, l net.Listener, err error) net.Listener {
	t.Helper()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				line := make([]byte, 100)
				n, _ := c.Read(line)
				_, _ = c.Write(append([]byte("hello "), line[:n]...))
			}()
		}
	}()
	return l
}

// leave remembers what was asked, and allows some of it.
type leave struct {
	mu      sync.Mutex
	places  []string
	allowed []string
}

func (a *leave) local(_ context.Context, place string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.places = append(a.places, place)
	if !slices.Contains(a.allowed, place) {
		return errors.New("nobody allowed it")
	}
	return nil
}

// talk is a client in Python of an address of a family, one with a limit of time: such a socket
// does not wait in connect(2).
const talk = `import socket, sys
for limit in None, 20:
    for round in range(3):
        s = socket.socket(getattr(socket, sys.argv[1])); s.settimeout(limit)
        s.connect((sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 3 else sys.argv[2])
        s.sendall(b"there"); s.shutdown(socket.SHUT_WR)
        got = b""
        while part := s.recv(100): got += part
        assert got == b"hello there", got
print("talked")
`

// A command reaches the ports and sockets of this machine that the user allows, and stays in the
// sandbox; each is asked about once. Others it does not reach, nor those of adze itself, and what
// was refused is told once.
func TestPortsAndSocketsOfThisMachineByLeave(t *testing.T) {
	need(t, "python3")
	b := newBench(t, sandbox.Namespaces)
	b.write("work/talk.py", talk)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	tcp := echo(t, l, err)
	l, err = net.Listen("unix", filepath.Join(b.top, "s"))
	socket := echo(t, l, err)
	l, err = net.Listen("unix", filepath.Join(b.state, "s"))
	own := echo(t, l, err)
	open, _ := net.Listen("tcp4", "127.0.0.1:0") // so that its port is free when it is closed
	free := strconv.Itoa(open.Addr().(*net.TCPAddr).Port)
	open.Close()
	port := strconv.Itoa(tcp.Addr().(*net.TCPAddr).Port)
	for _, path := range []string{socket.Addr().String(), own.Addr().String()} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script string, allowed ...string) (proc.Result, []string) {
		t.Helper()
		a := &leave{allowed: allowed}
		r, err := proc.Supervisor{Cage: b.box}.Run(t.Context(), proc.Command{
			Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: b.env(), Local: a.local, Transaction: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Sandbox == "" || len(r.Messages) > 0 {
			t.Errorf("%s: %+v", script, r)
		}
		return r, a.places
	}
	there, path := "tcp://localhost:"+port, "unix:"+socket.Addr().String()
	for script, place := range map[string]string{
		"python3 talk.py AF_INET 127.0.0.1 " + port:                                                there,
		"python3 talk.py AF_INET localhost " + port:                                                there,
		"python3 talk.py AF_INET 0.0.0.0 " + port:                                                  there,
		"python3 talk.py AF_INET6 ::ffff:127.0.0.1 " + port:                                        there,
		"python3 talk.py AF_UNIX " + socket.Addr().String():                                        path,
		"ln -s " + socket.Addr().String() + " l; python3 talk.py AF_UNIX l; at=$?; rm l; exit $at": path,
		"cd " + b.top + " 2>/dev/null; python3 $OLDPWD/talk.py AF_UNIX s":                          path,
		"exec 3<>/dev/tcp/127.0.0.1/" + port + "; echo x >&3; head -c 5 <&3":                       there,
	} {
		r, places := run(script, place)
		if r.Err() != nil || strings.Join(places, " ") != place || len(r.Denied)+len(r.Refused) > 0 {
			t.Errorf("%s: %v %s, asked %q, %+v", script, r.Err(), text(r), places, r.Findings)
		}
		r, places = run(script)
		if r.Err() == nil || strings.Join(places, " ") != place || len(r.Refused) > 0 || len(r.Denied) != 1 || r.Denied[0].Target != strings.TrimPrefix(place, "unix:") {
			t.Errorf("%s, refused: %v %s, asked %q, %+v", script, r.Err(), text(r), places, r.Findings)
		}
	}
	// What is not there, and what nobody may allow, is not asked about.
	for _, script := range []string{
		"python3 talk.py AF_INET 127.0.0.1 " + free, "python3 talk.py AF_UNIX " + own.Addr().String(), "python3 talk.py AF_UNIX /nothing",
		"python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect((\"127.0.0.1\", " + port + ")); raise SystemExit(1)'",
	} {
		if r, places := run(script, there, path, "unix:"+own.Addr().String(), "tcp://localhost:"+free); r.Err() == nil || len(places) > 0 || strings.Contains(text(r), "talked") {
			t.Errorf("%s: %s, asked %q", script, text(r), places)
		}
	}
	// The command's own server is not another one's, and nothing of the way is in its hands.
	r, places := run(`python3 - <<'X'
import os, socket
s = socket.socket(); s.bind(("127.0.0.1", `+port+`)); s.listen()
c = socket.create_connection(("127.0.0.1", `+port+`)); s.accept()[0].sendall(b"own"); assert c.recv(9) == b"own"
for fd in os.listdir("/proc/self/fd"):
    try: at = os.readlink("/proc/self/fd/" + fd)
    except OSError: continue
    assert not at.startswith("socket") or int(fd) in (s.fileno(), c.fileno()), at
X`, there)
	if r.Err() != nil || len(places) > 0 {
		t.Errorf("%s, asked %q", text(r), places)
	}
}

func TestPortsAndSocketsOfAnOrdinaryUser(t *testing.T) {
	asOrdinaryUser(t, "TestPortsAndSocketsOfThisMachineByLeave")
}
