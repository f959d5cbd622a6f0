package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/selftest"
	"adze/internal/testkit/effort"
)

// try is an attempt to get out: a script that ends with 0 where it succeeded, and a look from
// outside where that says more.
type try struct {
	name, script string
	out          func(*scene) bool // whether it got out; if nil, the script's end says it
	killed       proc.Reason       // instead: held where it was ended for this
	never        bool              // not without a sandbox: it would do harm
	open         bool              // without a sandbox it need not succeed: what it is upon may not be here
	weak         bool              // Landlock alone does not hold it
}

// scene is a bench with what there is to reach: a repository with another in it, and what the world
// has.
type scene struct {
	*bench
	*world
}

// world is what is beside a workspace: servers, a process of the user, and a program that tries.
type world struct {
	t                                 *testing.T
	tcp, udp, agent, abstract, shared string
	probe                             string
	witness                           *exec.Cmd
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, agent: filepath.Join(t.TempDir(), "agent.sock"), abstract: "@adze-test-" + itoa(os.Getpid())}
	near, err := os.MkdirTemp(roomy(), "world-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(near) })
	w.agent, w.probe = filepath.Join(near, "agent.sock"), filepath.Join(near, "probe")
	self, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(w.probe, self, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.tcp = itoa(w.listen("tcp4", "127.0.0.1:0").Addr().(*net.TCPAddr).Port)
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	go func() {
		buf := make([]byte, 9)
		for {
			n, from, err := u.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = u.WriteTo(buf[:n], from)
		}
	}()
	w.udp = itoa(u.LocalAddr().(*net.UDPAddr).Port)
	dir, err := os.MkdirTemp("/tmp", "x11-") // as X11 and the ssh agent do
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w.shared = filepath.Join(dir, "X0")
	for _, name := range []string{w.agent, w.abstract, w.shared} {
		w.listen("unix", name)
	}
	w.witness = exec.Command("sleep", "1000")
	w.witness.Env = []string{"TOKEN=of-another-process"}
	if err := w.witness.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.witness.Process.Kill(); _ = w.witness.Wait() })
	return w
}

func (w *world) scene(t *testing.T) *scene {
	s := &scene{newBench(t), w}
	for _, dir := range []string{"work/.git", "work/sub/.git"} {
		for _, name := range []string{"objects", "refs/heads", "hooks", "worktrees"} {
			if err := os.MkdirAll(filepath.Join(s.home, dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s.write(dir+"/HEAD", "ref: refs/heads/main\n")
		s.write(dir+"/config", "[core]\n\trepositoryformatversion = 0\n")
	}
	s.write("work/plain/file", "")
	s.write("../state/secret", "secret of adze\n")
	if err := os.Link(w.probe, filepath.Join(s.work, "probe")); err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) listen(network, at string) net.Listener {
	w.t.Helper()
	l, err := net.Listen(network, at)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "reached\n")
			_ = c.Close()
		}
	}()
	return l
}

// in replaces what a script is about.
func (s *scene) in(script string) string {
	return strings.NewReplacer("TCP", s.tcp, "UDP", s.udp, "AGENT", s.agent, "ABSTRACT", s.abstract, "SHARED", s.shared,
		"STATE", s.state, "WITNESS", itoa(s.witness.Process.Pid), "PROBE", "./probe "+selftest.Word).Replace(script)
}

func (s *scene) has(name string) bool {
	_, err := os.Lstat(filepath.Join(s.home, name))
	return err == nil
}

// ownersProgram reports a file of the workspace that runs as its owner, whoever starts it.
func (s *scene) ownersProgram() (found bool) {
	_ = filepath.WalkDir(s.work, func(_ string, e os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := e.Info()
		found = found || err == nil && info.Mode()&os.ModeSetuid != 0
		return nil
	})
	return found
}

func (s *scene) holds(name, content string) bool {
	data, err := os.ReadFile(filepath.Join(s.home, name))
	return err == nil && strings.Contains(string(data), content)
}

// probe is an attempt that needs a system call: see package attempt, which ends with 1 where one
// succeeded.
func probe(what string) string { return "PROBE " + what + "; test $? = 1" }

// kernel is an attempt by a call of the kernel, which python makes.
func kernel(code string) string {
	return `python3 -c 'import ctypes, fcntl, os, socket, sys; call = ctypes.CDLL(None).syscall; ` + code + `' $PPID`
}

func tries() []try {
	changed := func(s *scene) bool { return !s.holds("other/file", "as it was") || s.holds("other/file", "mine") }
	hooked := func(path string) func(*scene) bool {
		return func(s *scene) bool { return s.holds(path, "mine") }
	}
	return []try{
		{name: "write outside", script: "echo mine >> ../other/file", out: changed},
		{name: "create outside", script: "touch ../other/new", out: func(s *scene) bool { return s.has("other/new") }},
		{name: "remove outside", script: "rm -f ../other/file", out: changed},
		{name: "chmod outside", script: "chmod 4777 ../other/file"},
		{name: "write through a link", script: "ln -s ../other/file l; echo mine >> l", out: changed},
		{name: "write through a hard link", script: "ln ../other/file h && echo mine >> h", out: changed},
		{name: "move out", script: "touch gone; mv gone ../other/gone", out: func(s *scene) bool { return s.has("other/gone") }},
		{name: "write through a bind", script: "mkdir m; mount --bind ../other m && echo mine >> m/file", out: changed, never: true},
		{name: "remount writable", script: "mount -o remount,rw / || mount -o remount,bind,rw ..", never: true},
		{name: "uncover a secret", script: "umount ../.ssh || umount -l ../.ssh", never: true},
		{name: "swap a folder for a link", script: `touch file; (while :; do rm -rf d; ln -s ../other d; rm -f d; mkdir d; done) 2>/dev/null & for i in {1..300}; do echo mine > d/swapped; done 2>/dev/null; kill $!; false`,
			out: func(s *scene) bool { return s.has("other/swapped") }, open: true},
		{name: "read a secret folder", script: "grep -q key ../.ssh/id_ed25519"},
		{name: "list a secret folder", script: "ls ../.ssh | grep -q id"},
		{name: "read adze's own state", script: "grep -q secret STATE/secret"},
		{name: "read a secret by another root", script: "grep -qs key /proc/*/root$HOME/.ssh/id_ed25519 /proc/*/cwd/../.ssh/id_ed25519"},
		{name: "read another's environment", script: "grep -qsz of-another-process /proc/[0-9]*/environ"},
		{name: "create an editor's folder", script: "mkdir -p .vscode && echo mine > .vscode/tasks.json", out: hooked("work/.vscode/tasks.json")},
		{name: "create .envrc", script: "echo mine > .envrc", out: hooked("work/.envrc")},
		{name: "replace a placeholder", script: "rmdir .envrc; mv .envrc away; echo mine > .envrc", out: hooked("work/.envrc")},
		{name: "create adze's folder", script: "mkdir -p .adze/tools && echo mine > .adze/tools/x.json", out: hooked("work/.adze/tools/x.json")},
		{name: "change .git/config", script: "echo mine >> .git/config", out: hooked("work/.git/config")},
		{name: "git config", script: "git config core.fsmonitor mine", out: hooked("work/.git/config")},
		{name: "add a hook", script: "echo mine > .git/hooks/pre-commit", out: hooked("work/.git/hooks/pre-commit")},
		{name: "rename the hooks", script: "mv .git/hooks .git/h; mkdir -p .git/hooks; echo mine > .git/hooks/post-commit", out: hooked("work/.git/hooks/post-commit")},
		{name: "rename .git", script: "mv .git x; mkdir -p .git/hooks; echo mine > .git/hooks/pre-push", out: hooked("work/.git/hooks/pre-push")},
		{name: "redirect .git", script: "mv .git/commondir x; echo mine > .git/commondir", out: hooked("work/.git/commondir")},
		{name: "hook of a nested repository", script: "echo mine > sub/.git/hooks/pre-commit", out: hooked("work/sub/.git/hooks/pre-commit")},
		{name: "config of a nested repository", script: "git -C sub config core.fsmonitor mine", out: hooked("work/sub/.git/config")},
		{name: "rename a nested repository", script: "mv sub x; mkdir -p sub/.git/hooks; echo mine > sub/.git/hooks/pre-push", out: hooked("work/sub/.git/hooks/pre-push")},
		{name: "plant a nested repository", script: "cd plain && git init -q . && echo mine > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit", out: hooked("work/plain/.git/hooks/pre-commit")},
		{name: "connect to loopback", script: "read -t 2 x < /dev/tcp/127.0.0.1/TCP && test $x = reached"},
		{name: "the same by MPTCP", script: kernel(`socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(("127.0.0.1", TCP))`), open: true},
		{name: "the same by UDP", script: probe("udp=UDP")},
		{name: "look a name up", script: "timeout 1 getent hosts example.com", open: true},
		{name: "an agent's socket at home", script: probe("unix=AGENT")},
		{name: "a socket in /tmp", script: probe("unix=SHARED")},
		{name: "an abstract socket", script: probe("unix=ABSTRACT")},
		{name: "the docker socket", script: probe("unix=/run/docker.sock") + " || " + probe("unix=/var/run/docker.sock"), open: true},
		{name: "a socket to the hypervisor", script: kernel(`socket.socket(40, socket.SOCK_STREAM)`), open: true},
		{name: "signal the person's process", script: "kill -CONT WITNESS"},
		{name: "read the supervisor's memory", script: kernel(`open("/proc/" + sys.argv[1] + "/mem")`), open: true},
		{name: "kill the supervisor", script: "kill -9 $PPID; sleep 0.1; false", out: func(*scene) bool { return false }},
		{name: "ptrace", script: kernel(`sys.exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) != 0)`), open: true},
		{name: "unshare", script: "unshare -Ur true", open: true},
		{name: "enter other namespaces", script: "nsenter -t 1 -n true || " + kernel(`sys.exit(ctypes.CDLL(None).setns(os.open("/proc/1/ns/net", 0), 0x40000000) != 0)`), open: true},
		{name: "mount", script: "mkdir -p t; mount -t tmpfs none t", never: true},
		{name: "keyctl", script: kernel(`sys.exit(call({"x86_64": 250, "aarch64": 219}[os.uname().machine], 0, -3, 1) < 0)`), open: true},
		{name: "io_uring", script: kernel(`sys.exit(call(425, 1, ctypes.create_string_buffer(120)) < 0)`), open: true},
		{name: "leave a program that runs as its owner", script: "cp probe s1; cp probe s2; chmod u+s s1; install -m 4755 probe s3; find . -perm /4000 | grep -q .",
			out: func(s *scene) bool { return s.ownersProgram() }},
		{name: "type into the terminal", script: kernel(`fcntl.ioctl(0, 0x5412, b"x")`), open: true},
		{name: "steer the kernel", script: probe("open=/proc/sys/kernel/core_pattern") + " || " + probe("open=/proc/sysrq-trigger"), open: true},
		{name: "exhaust memory", script: `head -c 400000000 /dev/zero | tail; sleep 60`, killed: proc.TooMuchMemory, never: true},
		{name: "exhaust processes", script: `f() { f | f & f; }; for i in $(seq 300); do sleep 60 & done; wait`, killed: proc.TooManyProcesses, never: true},
	}
}

// verdict runs one attempt in a fresh scene.
func (s *scene) verdict(a try, means sandbox.Technique) (word string, detail string) {
	var cage proc.Cage
	if means != sandbox.None {
		s.box = sandbox.New(sandbox.Options{Workspace: s.work, Home: s.home, State: s.state, OwnPaths: []string{s.state}, Techniques: []sandbox.Technique{means}, Memory: 100 << 20, Processes: 100})
		cage = sandbox.ByMeans(s.box, means)
	}
	r, err := s.try(context.Background(), cage, s.in(a.script))
	if s.box.Close(); err != nil {
		return "error", err.Error()
	}
	held := r.Code != 0
	switch {
	case a.killed != "":
		held = r.Killed == a.killed
	case a.out != nil:
		held = !a.out(s)
	}
	if held = held && r.Killed != proc.Lost; held {
		return "held", text(r)
	}
	return "ESCAPED", text(r)
}

// TestSandboxAttempts prints what each means holds. What is full holds all; without a sandbox each
// attempt works, or it would prove nothing.
func TestSandboxAttempts(t *testing.T) {
	need(t, "git", "unshare", "nsenter", "python3")
	levels := []sandbox.Technique{sandbox.None, sandbox.Landlock, sandbox.Namespaces}
	if !effort.Is(effort.Short) {
		levels = levels[2:]
	}
	levels = slices.DeleteFunc(levels, func(m sandbox.Technique) bool { return unreachable(m) != "" })
	w := newWorld(t)
	table := []string{fmt.Sprintf("%-36s", "attempt")}
	for _, means := range levels {
		table[0] += fmt.Sprintf(" %-8s", means)
	}
	for _, a := range tries() {
		row := fmt.Sprintf("%-36s", a.name)
		for _, means := range levels {
			word := "-"
			if means != sandbox.None || !a.never {
				t.Run(a.name+" with "+string(means), func(t *testing.T) { word = a.on(w.scene(t), means) })
			}
			row += fmt.Sprintf(" %-8s", word)
		}
		table = append(table, row)
	}
	t.Log("\n" + strings.Join(table, "\n"))
}

// on does the attempt, and fails where it must not go as it went.
func (a try) on(s *scene, means sandbox.Technique) string {
	word, detail := s.verdict(a, means)
	free := means == sandbox.None
	switch {
	case free && (a.open || os.Getuid() != 0), means == sandbox.Landlock && a.weak:
	case free == (word == "ESCAPED") && word != "error":
	default:
		s.bench.t.Errorf("%s: %s", word, detail)
	}
	return word
}
