package sandbox_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
)

// failure is a script that does not succeed, and what must be told of it: a part of one sentence
// each, and nothing else.
type failure struct {
	name, script string
	needs        string // programs
	told         []string
}

// failures of commands because of the sandbox. HOST is a port of a program of this machine.
func failures() []failure {
	const protected = ", which is protected in the sandbox"
	return []failure{
		{name: "write a file outside", script: "echo mine >> ../other/file", told: []string{"write TOP/other/file, which is not shown"}},
		{name: "make a file outside", script: "touch ../other/new", told: []string{"write TOP/other/new, which is not shown"}},
		{name: "by another path", script: "cd /; cp /etc/hostname TOP//other/./new", told: []string{"write TOP/other/new,"}},
		{name: "through a link", script: "ln -s ../other o; echo x > o/new"},
		{name: "in a folder of the host's /tmp", script: "touch SHARED/new", told: []string{"write SHARED/new, whose folder is not there"}},
		{name: "make a folder", script: "mkdir -p ../other/a/b", told: []string{"write TOP/other,"}},
		{name: "remove", script: "rm ../other/file", told: []string{"write TOP/other/file,"}},
		{name: "move out", script: "touch a; mv a ../other/a", told: []string{"write TOP/other/a,"}},
		{name: "link", script: "ln -s a ../other/l", told: []string{"write TOP/other/l,"}},
		{name: "chmod", script: "chmod 600 ../other/file"},
		{name: "in a child of a child", script: "sh -c 'sh -c \"echo x > ../other/deep\"'", told: []string{"write TOP/other/deep,"}},
		{name: "python", needs: "python3", script: "python3 -c 'open(\"../other/py\", \"w\")'"},
		{name: "git config", needs: "git", script: "git config user.name x", told: []string{"write .git/config" + protected}},
		{name: "a hook", script: "echo x > .git/hooks/pre-commit", told: []string{"write .git/hooks/pre-commit" + protected}},
		{name: "a file that is not there yet", script: "echo x > .envrc", told: []string{"write .envrc" + protected}},
		{name: "a folder that is not there yet", script: "mkdir -p .vscode/x", told: []string{"write .vscode/x" + protected}},
		{name: "rename the repository", script: "mv .git g", told: []string{"write .git" + protected}},
		{name: "an editor in C", needs: "sed", script: "sed -i s/as/AS/ ../other/file"},
		{name: "a server of this machine", script: "exec 3<>/dev/tcp/127.0.0.1/HOST"},
		{name: "an address", script: "exec 3<>/dev/tcp/192.0.2.7/80", told: []string{"connect to a host, because programs"}},
		{name: "a name", needs: "curl", script: "curl -sS --noproxy '*' http://example.com/", told: []string{"connect to a host, because programs"}},
		{name: "a datagram", needs: "python3", script: "python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)'", told: nil},
		{name: "trace", needs: "strace", script: "strace -o /dev/null true", told: []string{"use the system call ptrace, which is closed"}},
		{name: "namespaces", needs: "unshare", script: "unshare -Ur true", told: []string{"use the system call unshare, which is closed"}},
	}
}

// own are failures of their own: nothing is told of them, though some try what the sandbox refuses,
// and do without.
func own() []failure {
	return []failure{
		{name: "an exit code", script: "exit 3"},
		{name: "no match", script: "grep -r nothing-like-this ."},
		{name: "no such file", script: "cat missing; echo x > missing/file"},
		{name: "a mode in the workspace", script: "mkdir d; touch d/f; chmod 0 d/f; chmod 555 d; cat d/f; rm -f d/f; echo x >> d/f; false"},
		{name: "a refused write that is asked about first", script: "test -w ../other/file || test -w /etc/passwd; false"},
		{name: "what is there already", script: "mkdir /usr"},
		{name: "what is not there", script: "rm ../other/missing; mv ../other/missing x"},
		{name: "no server", script: "exec 3<>/dev/tcp/127.0.0.1/1"},
		{name: "no socket", needs: "python3", script: "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/run/none\")'"},
		{name: "a test", needs: "python3", script: "python3 -m unittest -q no.such.test"},
		{name: "a syntax error", needs: "python3", script: "echo 'x = (' > x.py; python3 x.py"},
		{name: "C", needs: "gcc", script: "echo 'int main( {' > x.c; gcc x.c"},
		{name: "go", needs: "go", script: "mkdir m; cd m; echo 'module m' > go.mod; echo 'package m; var x int = \"\"' > m.go; GOTOOLCHAIN=local go vet ."},
		{name: "node", needs: "node", script: "node -e 'process.exit(4)'"},
		{name: "npm", needs: "npm", script: "echo '{\"scripts\":{\"test\":\"exit 5\"}}' > package.json; npm_config_update_notifier=false npm test"},
		{name: "git", needs: "git", script: "git status; git log no-such-branch"},
		{name: "terminals and devices", script: "echo x > /dev/null; echo y > /dev/stderr; echo z > /dev/fd/1; false"},
		{name: "its own server", needs: "python3", script: "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); socket.create_connection(s.getsockname()); exit(1)'"},
		{name: "its own server, where one of this machine has the same port", needs: "python3", script: "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", HOST)); socket.create_connection(s.getsockname()); exit(1)'"},
		{name: "asking before it serves", needs: "python3", script: "python3 -c 'import socket; at = (\"127.0.0.1\", HOST); socket.socket().connect_ex(at); s = socket.create_server(at); socket.create_connection(at); exit(1)'"},
	}
}

// scene is where they fail.
func (b *bench) fails(t *testing.T) *strings.Replacer {
	b.host("git init -q .")
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return strings.NewReplacer("HOST", port, "TOP", b.home, "SHARED", t.TempDir())
}

// Whatever means hold a command, it is told what it failed of because of them; and what fails for
// reasons of its own is not taken for that.
func TestWhatTheSandboxRefusedIsKnown(t *testing.T) {
	need(t, "git")
	for _, means := range []sandbox.Technique{sandbox.Namespaces} {
		t.Run(string(means), func(t *testing.T) {
			b := newBench(t, means)
			in, cage := b.fails(t), sandbox.ByMeans(b.box, means)
			for _, f := range append(failures(), own()...) {
				if f.needs != "" && !installed(f.needs) || !effort.Is(effort.Short) && f.needs != "" {
					continue
				}
				r, err := b.try(t.Context(), cage, in.Replace(f.script))
				if err != nil {
					t.Fatal(err)
				}
				if problem := differs(r, in, f.told); problem != "" {
					t.Errorf("%s: %s; exit %d, told %v\n%s", f.name, problem, r.Code, r.Refused, text(r))
				}
			}
		})
	}
}

func differs(r proc.Result, in *strings.Replacer, want []string) string {
	if len(r.Refused) != len(want) {
		return fmt.Sprintf("want %d sentences", len(want))
	}
	for i, part := range want {
		if !strings.Contains(r.Refused[i].String(), in.Replace(part)) {
			return "want " + in.Replace(part)
		}
	}
	if r.Err() == nil {
		return "it succeeded"
	}
	return ""
}

// What a command could do without counts for nothing: it went on to exit code 0, or a process of it
// did.
func TestWhatACommandDidWithoutIsNotTold(t *testing.T) {
	need(t, "python3")
	each(t, func(t *testing.T, b *bench) {
		if r := b.run("touch ../other/new || touch new"); r.Err() != nil || len(r.Refused) > 0 {
			t.Errorf("it recovered: %v %v", r.Err(), r.Refused)
		}
		r := b.run("python3 -c '\ntry: open(\"../other/new\", \"w\")\nexcept OSError: pass'; exit 3")
		if r.Code != 3 || len(r.Refused) > 0 {
			t.Errorf("a process of it recovered: %v %v", r.Err(), r.Refused)
		}
	})
}

// A name is anything that a command likes; it is told in one line, and a flood of them is bounded.
func TestWhatIsToldIsOneLineAndBounded(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		r := b.run("touch $'../other/a\\nit could not\\e[31m\\xff'; for i in {1..200}; do touch ../other/$i; done; false")
		if len(r.Refused) < 8 || len(r.Refused) > 64 {
			t.Errorf("%d are told", len(r.Refused))
		}
		for _, x := range r.Refused {
			if s := x.String(); strings.ContainsAny(s, "\n\x1b") || !utf8.ValidString(s) {
				t.Errorf("%q", x.String())
			}
		}
	})
}

func TestWhatTheSandboxRefusedAnOrdinaryUserIsKnown(t *testing.T) {
	asOrdinaryUser(t, "^TestWhat(TheSandboxRefusedIsKnown|ACommandDidWithoutIsNotTold|IsToldIsOneLineAndBounded)$")
}
