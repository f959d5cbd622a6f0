package toolset

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adze/internal/files/workspace"
	"adze/internal/testkit/failfs"
	"adze/tool"
)

// desk is a workspace with the file tools, run through the pipeline as one session or several.
type desk struct {
	testing.TB
	dir  string
	fs   *failfs.FS
	deps Deps
	set  *tool.Set
	deny func(tool.Need) bool
	mu   sync.Mutex
	asks []tool.Need
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{TB: t, dir: filepath.Join(top, "work"), fs: &failfs.FS{Base: workspace.Disk{}}}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := workspace.OpenWith(d.dir, workspace.Options{FS: d.fs, LockDir: filepath.Join(top, "locks"), Home: top})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	d.deps = Deps{Root: root, KnownFiles: &workspace.KnownFiles{}, Todos: &Todos{}}
	f := files{root: root, knownFiles: d.deps.KnownFiles}
	registry := &tool.Registry{}
	for _, x := range []tool.Tool{read(f), write(f), edit(f)} {
		if err := registry.Register(x); err != nil {
			t.Fatal(err)
		}
	}
	if d.set, err = registry.Tools(t.Context(), tool.Init{Workspace: d.dir}); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) bench(b *testing.B, name string, in args) tool.Outcome {
	return d.callAs(b.Context(), "s", name, in)
}

func (d *desk) put(name, content string) string {
	d.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		d.Fatal(err)
	}
	return path
}

func (d *desk) content(name string) string {
	d.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.Fatal(err)
	}
	return string(b)
}

type args map[string]any

func (d *desk) call(name string, in args) tool.Outcome { return d.callAs(d.Context(), "s", name, in) }

func (d *desk) callAs(ctx context.Context, session, name string, in args) tool.Outcome {
	d.Helper()
	runner := &tool.Runner{Session: session, Gate: tool.GateFunc(d.decide)}
	h := runner.Hydrate(ctx, d.set, []tool.RawCall{{ID: "c", Name: name, Arguments: encoded(d, in)}})
	return runner.Exec(ctx, h[0])
}

func (d *desk) decide(_ context.Context, q tool.Question) (tool.Decision, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks = append(d.asks, q.Needs...)
	for _, n := range q.Needs {
		if d.deny != nil && d.deny(n) {
			return tool.Decision{Reason: "not there"}, nil
		}
	}
	return tool.Decision{Allow: true}, nil
}

// want checks an outcome's code ("" for completed) and that its output says something.
func (d *desk) want(o tool.Outcome, code string, says ...string) {
	d.Helper()
	if o.Code != code || (code == "") != (o.Status == tool.Completed) {
		d.Errorf("got %s %q: %s; want %q", o.Status, o.Code, o.Output, code)
	}
	for _, s := range says {
		if !strings.Contains(o.Output, s) {
			d.Errorf("output %q does not say %q", o.Output, s)
		}
	}
}

func (d *desk) leftovers() (names []string) {
	d.Helper()
	err := filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if strings.HasPrefix(e.Name(), ".adze-") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return names
}
