package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
	"adze/internal/testkit/effort"
)

// bench is a user's machine in a folder: a home, a workspace with a repository in it, adze's state.
type bench struct {
	t                             testing.TB
	top, home, work, state, other string
	box                           *sandbox.Sandbox
}

// newBench lies outside /tmp where it can, because that is private to commands.
func newBench(t testing.TB, means ...sandbox.Technique) *bench {
	t.Helper()
	for _, m := range means {
		if why := unreachable(m); why != "" {
			t.Skip(why)
		}
	}
	top, err := os.MkdirTemp(roomy(), "sandbox-*")
	if err != nil {
		t.Fatal(err)
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, top: top, home: filepath.Join(top, "home"), work: filepath.Join(top, "home", "work"), state: filepath.Join(top, "state"), other: filepath.Join(top, "home", "other")}
	t.Cleanup(func() {
		_ = filepath.WalkDir(top, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		_ = os.RemoveAll(top)
	})
	for _, dir := range []string{b.work, b.state, b.other, filepath.Join(b.home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.write(".ssh/id_ed25519", "the person's key\n")
	b.write("other/file", "as it was\n")
	b.box = b.sandbox(means...)
	return b
}

// roomy is a folder that everybody may write to and that is no private one of a sandbox.
func roomy() string {
	for _, dir := range []string{os.Getenv("SANDBOX_ROOM"), "/var/lib", "/srv"} {
		if dir == "" {
			continue
		}
		if f, err := os.CreateTemp(dir, "roomy"); err == nil {
			f.Close()
			os.Remove(f.Name())
			return dir
		}
	}
	return os.TempDir()
}

func (b *bench) sandbox(means ...sandbox.Technique) *sandbox.Sandbox {
	s := sandbox.New(sandbox.Options{Workspace: b.work, Home: b.home, State: b.state, OwnPaths: []string{b.state}, Techniques: means})
	b.t.Cleanup(s.Close)
	return s
}

// write writes a file of the home.
func (b *bench) write(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
}

// run runs a script in the sandbox.
func (b *bench) run(script string) proc.Result {
	b.t.Helper()
	r, err := b.try(context.Background(), b.box, script)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) try(ctx context.Context, cage proc.Cage, script string) (proc.Result, error) {
	return proc.Supervisor{Cage: cage}.Run(ctx, proc.Command{Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: b.env()})
}

// host runs a script as the user would.
func (b *bench) host(script string) {
	b.t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-c", script)
	cmd.Dir, cmd.Env = b.work, b.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func text(r proc.Result) string { return strings.TrimSpace(r.Output.Head + r.Output.Tail) }

func need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// unreachable says why this machine has no such means, as other programs find it; if empty, it has
// it.
func unreachable(m sandbox.Technique) string {
	probes := map[sandbox.Technique][]string{
		sandbox.Namespaces: {"unshare", "-Urmpf", "--mount-proc", "true"},
	}
	if m == sandbox.Landlock && namespace.ABI() < 3 {
		return "this kernel has no Landlock, or an old one"
	}
	if argv := probes[m]; argv != nil {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Sprintf("%s cannot be used here: %v %s", m, err, out)
		}
	}
	return ""
}

// withMeans are those of some means that tests go through: the best one in a usual run.
func withMeans(all ...sandbox.Technique) []sandbox.Technique {
	return all[:effort.Rounds(1, len(all), len(all))]
}

// asOrdinaryUser runs tests of this package again as a user without rights, where they now run as
// root.
func asOrdinaryUser(t *testing.T, pattern string) {
	t.Helper()
	effort.Needs(t, effort.Short, "the same as other tests, as a user without rights")
	if os.Getuid() != 0 {
		t.Skip("this is not root; the other tests run as an ordinary user anyway")
	}
	home, err := os.MkdirTemp(roomy(), "ordinary-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	const nobody = 65534
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run="+pattern, "-test.count=1", "-test.v")
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SANDBOX_ROOM=" + home, "GOMODCACHE=" + os.Getenv("GOMODCACHE")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "PASS") {
		t.Fatalf("nothing ran:\n%s", out)
	}
	t.Logf("%s", out)
}
