package sandbox_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
)

// allMeans are the means of Linux.
func allMeans() []sandbox.Technique {
	return []sandbox.Technique{sandbox.Namespaces}
}

// eachMeans runs a test for each means that this machine has, on the workspace itself and in a
// view.
func eachMeans(t *testing.T, do func(t *testing.T, b *bench, means sandbox.Technique, run func(script string) proc.Result)) {
	for _, means := range allMeans() {
		for _, view := range []bool{false, true} {
			if view && means != sandbox.Namespaces {
				continue
			}
			name := string(means)
			if view {
				name += " in a view"
			}
			t.Run(name, func(t *testing.T) {
				if why := unreachable(means); why != "" {
					t.Skip(why)
				}
				b := newBench(t)
				cage := sandbox.ByMeans(b.box, means)
				do(t, b, means, func(script string) proc.Result {
					t.Helper()
					r, err := proc.Supervisor{Cage: cage}.Run(t.Context(), proc.Command{
						Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: b.env(), Transaction: view,
					})
					if err != nil {
						t.Fatal(err)
					}
					return r
				})
			})
		}
	}
}

// ownSockets are programs that serve by sockets with path names and connect to them.
func ownSockets() map[string]struct{ needs, script string } {
	return map[string]struct{ needs, script string }{
		"python": {"python3", `timeout 20 python3 - <<'X'
import os, socket, threading
def serve(s):
    while True:
        c, _ = s.accept(); c.sendall(b"reached"); c.close()
for kind in socket.SOCK_STREAM, socket.SOCK_SEQPACKET:
    for name in "relative", os.path.abspath("absolute"), os.environ["TMPDIR"] + "/private":
        if len(name) > 80: continue # a path of a socket is short
        s = socket.socket(socket.AF_UNIX, kind); s.bind(name); s.listen()
        threading.Thread(target=serve, args=[s], daemon=True).start()
        os.rename(name, name + "-renamed"); os.link(name + "-renamed", name)
        os.symlink(name, "link")
        for way in name, name + "-renamed", "link", os.path.relpath(name), "/proc/self/cwd/" + os.path.relpath(name):
            c = socket.socket(socket.AF_UNIX, kind); c.connect(way); assert c.recv(9) == b"reached", way
        for file in name, name + "-renamed", "link": os.unlink(file)
X`},
		"a server that ended": {"python3", `timeout 20 python3 - <<'X'
import socket
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(); s.close()
try: socket.socket(socket.AF_UNIX).connect("s")
except ConnectionRefusedError: pass
X`},
		"a server that is full": {"python3", `timeout 20 python3 - <<'X'
import socket, threading, errno
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(0)
held = []
def connect():
    c = socket.socket(socket.AF_UNIX); c.connect("s"); held.append(c)
connect()
n = socket.socket(socket.AF_UNIX); n.setblocking(False)
assert n.connect_ex("s") == errno.EAGAIN
t = threading.Thread(target=connect); t.start()
open("another call goes on", "w").close()
s.accept(); s.accept(); t.join()
X`},
		"pairs": {"python3", `timeout 20 python3 - <<'X'
import array, os, socket
for kind in socket.SOCK_STREAM, socket.SOCK_SEQPACKET:
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    assert not os.get_inheritable(a.fileno())
    a.send(b"one"); assert b.recv(9) == b"one"
    r, w = os.pipe()
    socket.send_fds(a, [b"fd"], [w]); os.write(socket.recv_fds(b, 9, 1)[1][0], b"!"); assert os.read(r, 1) == b"!"
try: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
except OSError: pass
else: raise SystemExit("a pair for datagrams sends anywhere")
X`},
		"a descriptor that was passed": {"python3", `timeout 20 python3 - <<'X'
import os, socket
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen()
a, b = socket.socketpair()
if os.fork() == 0:
    c = socket.fromfd(socket.recv_fds(b, 9, 1)[1][0], socket.AF_UNIX, socket.SOCK_STREAM); c.connect("s"); c.sendall(b"passed"); os._exit(0)
given = socket.socket(socket.AF_UNIX)
socket.send_fds(a, [b"x"], [given.fileno()])
assert s.accept()[0].recv(9) == b"passed"
X`},
		"node": {"node", `node -e '
const net = require("net"), cluster = require("child_process");
if (process.send) { process.on("message", (m, s) => { s.end("reached"); process.disconnect() }) } else {
  const child = cluster.fork(process.argv0 && require("path").resolve("child.js"));
  const server = net.createServer(s => child.send("take", s)).listen("node.sock", () => {
    net.connect("./node.sock").on("data", d => { if (String(d) == "reached") console.log("node works"); server.close() });
  });
}' > out & 
cat > child.js <<'X'
process.on("message", (m, s) => { s.end("reached"); process.disconnect() })
X
wait; grep -q "node works" out`},
		"tmux":      {"tmux", `export SHELL=/bin/sh; tmux -f /dev/null -S ./tmux.sock new-session -d 'sleep 100' && tmux -S ./tmux.sock list-sessions | grep -q 1 && tmux -S ./tmux.sock kill-server`},
		"ssh-agent": {"ssh-agent", `eval $(ssh-agent -a ./agent.sock) && ssh-keygen -q -t ed25519 -N "" -f key && ssh-add key && ssh-add -l | grep -q ED25519; at=$?; kill $SSH_AGENT_PID; exit $at`},
		"gpg-agent": {"gpg-agent", `mkdir -m 700 g && GNUPGHOME=$PWD/g gpg --batch --passphrase '' --quick-gen-key me default default never && GNUPGHOME=$PWD/g gpgconf --kill gpg-agent`},
		"a bus":     {"dbus-daemon", `dbus-daemon --session --address=unix:path=$PWD/bus --fork --print-pid > pid && DBUS_SESSION_BUS_ADDRESS=unix:path=$PWD/bus dbus-send --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames | grep -q array; at=$?; kill $(cat pid); exit $at`},
	}
}

// What a command serves itself it reaches, whatever name the socket has.
func TestACommandReachesItsOwnSockets(t *testing.T) {
	eachMeans(t, func(t *testing.T, b *bench, means sandbox.Technique, run func(string) proc.Result) {
		for name, c := range ownSockets() {
			if !installed(c.needs) {
				t.Logf("%s is not installed", c.needs)
				continue
			}
			if weak := means == sandbox.Landlock; weak && strings.HasSuffix(name, "-agent") {
				continue // it keeps others out of its memory, and a supervisor without rights with them
			}
			if r := run("mkdir d && cd d || exit; " + c.script); r.Err() != nil {
				t.Errorf("%s: %v: %s %v", name, r.Err(), text(r), r.Refused)
			}
			run("rm -rf d")
		}
	})
}

func TestAnOrdinaryUsersSockets(t *testing.T) {
	asOrdinaryUser(t, "^TestACommandReachesItsOwnSockets$")
}

// strangers are the user's servers, with their sockets in a folder: a script outside that starts
// one, and one that reaches it, whoever runs it.
func strangers() map[string]struct{ needs, socket, start, reach string } {
	return map[string]struct{ needs, socket, start, reach string }{
		"ssh-agent": {"ssh-agent", "agent", "ssh-agent -a $S/agent > /dev/null; ssh-keygen -q -t ed25519 -N '' -f $S/key; SSH_AUTH_SOCK=$S/agent ssh-add -q $S/key",
			"SSH_AUTH_SOCK=$AT ssh-add -l | grep -q ED25519"},
		"gpg-agent": {"gpg-agent", "g/S.gpg-agent", "mkdir -m 700 $S/g; gpg-agent --homedir $S/g --daemon > /dev/null", "gpg-connect-agent --no-autostart -S $AT /bye"},
		"tmux":      {"tmux", "tmux", "SHELL=/bin/sh tmux -f /dev/null -S $S/tmux new-session -d 'sleep 100'", "tmux -S $AT list-sessions | grep -q 1"},
		"a bus": {"dbus-daemon", "bus", "dbus-daemon --session --address=unix:path=$S/bus --fork",
			"DBUS_SESSION_BUS_ADDRESS=unix:path=$AT dbus-send --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames | grep -q array"},
		"docker": {"curl", "docker.sock", "python3 $S/http.py $S/docker.sock > /dev/null 2>&1 & while ! [ -S $S/docker.sock ]; do :; done", "curl -s --unix-socket $AT http://docker/version | grep -q reached"},
		"X11":    {"python3", "X77", "python3 $S/http.py $S/X77 > /dev/null 2>&1 & while ! [ -S $S/X77 ]; do :; done", "python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' $AT"},
		"OpenSSH": {"sshd", "ctl", `ssh-keygen -q -t ed25519 -N '' -f $S/host; ssh-keygen -q -t ed25519 -N '' -f $S/id; cp $S/id.pub $S/allowed; chmod 600 $S/allowed
grep -q ^sshd: /etc/passwd && cp /etc/passwd $S/passwd || (cat /etc/passwd; echo sshd:x:65533:65533::/run/sshd:/bin/false) > $S/passwd
printf 'HostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n' $S/host $S/allowed > $S/sshd_config
printf 'mount --bind %s /etc/passwd; mount -t tmpfs none /run; mkdir /run/sshd; exec %s -i -f %s' $S/passwd "$(command -v sshd)" $S/sshd_config > $S/sshd.sh
ssh -F none -i $S/id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ProxyCommand="unshare -m sh $S/sshd.sh" -M -S $S/ctl -fN root@localhost`,
			"timeout 5 ssh -F none -o ProxyCommand=false -S $AT root@localhost 'echo outside' | grep -q outside"},
	}
}

// httpServer answers every connection to a socket of this machine.
const httpServer = `import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
while True:
    c, _ = s.accept(); c.settimeout(0.2)
    try: c.recv(4096)
    except OSError: pass
    try: c.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\nreached")
    except OSError: pass
    c.close()
`

// No server of the user's is reached, whatever name its socket has and wherever that is. Outside
// each is, by the same script.
func TestACommandReachesNoSocketOfTheUser(t *testing.T) {
	need(t, "python3")
	for name, server := range strangers() {
		t.Run(name, func(t *testing.T) {
			need(t, server.needs)
			dir := startStranger(t, server.start)
			at := filepath.Join(dir, server.socket)
			if out, err := outside(dir, at, server.reach); err != nil {
				t.Skipf("it does not work here: %v %s", err, out)
			}
			eachMeans(t, func(t *testing.T, b *bench, _ sandbox.Technique, run func(string) proc.Result) {
				names := []string{at, filepath.Join(dir, "linked"), filepath.Join(b.work, "s")}
				for _, other := range names[1:] {
					_ = os.Remove(other)
					if err := os.Link(at, other); err != nil {
						t.Fatal(err)
					}
				}
				names = append(names, "s", "/proc/self/root"+at)
				for _, path := range names {
					if r := run("export AT=" + path + "; " + server.reach); r.Err() == nil {
						t.Errorf("reached by %s: %s", path, text(r))
					}
				}
				if out, err := outside(dir, at, server.reach); err != nil {
					t.Errorf("nobody reaches it any more: %v %s", err, out)
				}
			})
		})
	}
}

func startStranger(t *testing.T, script string) (dir string) {
	dir, err := os.MkdirTemp(roomy(), "s-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "http.py"), []byte(httpServer), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := outside(dir, "", "exec > $S/log 2>&1; "+script); err != nil {
		t.Skipf("it cannot be started here: %v %s", err, out)
	}
	t.Cleanup(func() { endStranger(dir) })
	return dir
}

// outside runs a script as the user would.
func outside(dir, at, script string) (string, error) {
	cmd := exec.Command("bash", "--noprofile", "--norc", "-c", script)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "S=" + dir, "AT=" + at, "TMPDIR=" + dir}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// endStranger ends the processes that have a folder as their home.
func endStranger(dir string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		data, _ := os.ReadFile(path)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && strings.Contains("\x00"+string(data), "\x00S="+dir+"\x00") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// racer turns addresses, descriptors and names elsewhere while it connects. It is given a socket
// outside and ends when it has tried often enough.
const racer = `
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static struct sockaddr_un own = {AF_UNIX, "own"}, out = {AF_UNIX}, turn, turned = {AF_UNIX, "turned"};
static volatile int over, shared = 100;
static void *memory(void *x) { while (!over) { memcpy(&turn, &own, sizeof own); memcpy(&turn, &out, sizeof out); } return x; }
static void *names(void *x) { while (!over) { unlink("turned"); symlink(out.sun_path, "turned"); unlink("turned"); link("own", "turned"); } return x; }
static void *descriptors(void *x) { while (!over) { dup2(0, shared); int s = socket(AF_INET, SOCK_STREAM, 0); dup2(s, shared); close(s); s = socket(AF_UNIX, SOCK_STREAM, 0); dup2(s, shared); close(s); } return x; }
static void *serves(void *x) { int s = *(int *)x; while (!over) close(accept(s, 0, 0)); return x; }
int main(int argc, char **argv) {
	strcpy(out.sun_path, argv[1]);
	int server = socket(AF_UNIX, SOCK_STREAM, 0), reached = 0;
	if (bind(server, (void *)&own, sizeof own) || listen(server, 99)) return 2;
	pthread_t t;
	pthread_create(&t, 0, serves, &server);
	pthread_create(&t, 0, memory, 0);
	pthread_create(&t, 0, names, 0);
	pthread_create(&t, 0, descriptors, 0);
	for (int i = 0; i < 3000; i++) {
		int s = socket(AF_UNIX, SOCK_STREAM, 0);
		reached += !connect(s, (void *)(i % 2 ? &turn : &turned), sizeof own);
		close(s);
		connect(shared, (void *)&turn, sizeof own);
	}
	over = 1;
	printf("%d of its own\n", reached);
	return 0;
}`

// Nothing is let go on that was looked at before: a command that changes its memory, descriptors
// and names meanwhile connects to nothing outside.
func TestARaceReachesNoSocketOfTheUser(t *testing.T) {
	effort.Needs(t, effort.Short, "a race takes its time")
	need(t, "gcc")
	dir, err := os.MkdirTemp(roomy(), "s-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "racer.c"), []byte(racer), 0o644)); err != nil {
		t.Fatal(err)
	}
	if out, err := outside(dir, "", "gcc -pthread -o racer racer.c"); err != nil {
		t.Skip(out)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var reached atomic.Int32
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			reached.Add(1)
			_ = c.Close()
		}
	}()
	eachMeans(t, func(t *testing.T, b *bench, _ sandbox.Technique, run func(string) proc.Result) {
		r := run(dir + "/racer " + dir + "/out")
		if r.Err() != nil || !strings.Contains(text(r), "of its own") || strings.HasPrefix(text(r), "0 ") {
			t.Errorf("%v: %s", r.Err(), text(r))
		}
		if n := reached.Swap(0); n > 0 {
			t.Errorf("it reached %d times", n)
		}
	})
}
