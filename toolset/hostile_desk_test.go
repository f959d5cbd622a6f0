package toolset

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/files/workspace"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/posix"
	"adze/tool"
)

// hostile is a workspace full of traps, beside a folder that no call may touch unasked. Its gate
// agrees to everything inside the workspace, and outside only where open is set.
type hostile struct {
	*testing.T
	top, work string
	root      *workspace.Root
	set       *tool.Set
	runner    *tool.Runner
	open      bool
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{T: t, top: top, work: filepath.Join(top, "work")}
	h.layOut()
	h.root, err = workspace.OpenWith(h.work, workspace.Options{LockDir: t.TempDir(), Home: filepath.Join(top, "home")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.root.Close() })
	registry, err := New(Deps{Root: h.root, KnownFiles: &workspace.KnownFiles{}, Web: caseWeb(h.work), Shell: caseShell(t, h.work), Env: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	if h.set, err = registry.Tools(t.Context(), tool.Init{Workspace: h.work, Directory: h.work, Cwd: h.work}); err != nil {
		t.Fatal(err)
	}
	h.runner = &tool.Runner{Session: "hostile", Gate: tool.GateFunc(h.decide)}
	return h
}

func (h *hostile) layOut() {
	must := func(err error) {
		if err != nil {
			h.Fatal(err)
		}
	}
	for _, dir := range []string{"work/dir", "work/.git", "outside", "home"} {
		must(os.MkdirAll(filepath.Join(h.top, dir), 0o755))
	}
	for name, content := range map[string]string{
		"work/file.txt": "text\n", "work/dir/inner.txt": "inner\n", "work/new\nline.txt": "text\n", "work/.git/config": "[core]\n",
		"outside/secret.txt": "secret\n", "home/kept.txt": "kept\n",
	} {
		must(os.WriteFile(filepath.Join(h.top, name), []byte(content), 0o644))
	}
	for name, target := range map[string]string{
		"zero": "/dev/zero", "dangling": "nowhere", "cycle": "cycle", "ring": "ring2", "ring2": "ring",
		"out": filepath.Join(h.top, "outside", "secret.txt"), "outdir": filepath.Join(h.top, "outside"),
	} {
		must(os.Symlink(target, filepath.Join(h.work, name)))
	}
	must(os.Link(filepath.Join(h.top, "outside", "secret.txt"), filepath.Join(h.work, "hard.txt")))
	must(posix.Fifo(h.T, filepath.Join(h.work, "fifo")))
	h.socket()
}

// socket puts a socket into the workspace. Its address is relative, because a temporary folder's
// name can be longer than an address may be.
func (h *hostile) socket() {
	h.Chdir(h.work)
	l, err := net.Listen("unix", "sock")
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { l.Close() })
}

func (h *hostile) decide(_ context.Context, q tool.Question) (tool.Decision, error) {
	for _, n := range q.Needs {
		if n.Permission != tool.Read && n.Permission != tool.Write || h.open {
			continue
		}
		if p, err := h.root.Resolve(n.Target); err == nil && p.Outside() {
			return tool.Decision{Reason: "it is outside"}, nil
		}
	}
	return tool.Decision{Allow: true}, nil
}

// call runs one call. The time only ends a call that hangs; what it then gives back fails the test.
func (h *hostile) call(name, arguments string) tool.Outcome {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), patience)
	defer cancel()
	calls := h.runner.Hydrate(ctx, h.set, []tool.RawCall{{ID: "c", Name: name, Arguments: arguments}})
	return h.runner.Exec(ctx, calls[0])
}

// refused makes a call that must not complete, and checks what every refusal owes: one of the known
// codes, one short message with the next move, and a disk as it was.
func (h *hostile) refused(name, arguments string, codes ...string) {
	h.Helper()
	before := h.snapshot()
	o := h.call(name, arguments)
	h.owes(o, name, arguments)
	if !slices.Contains(codes, o.Code) {
		h.Errorf("%s %.120s: %s %q, want %q: %.300s", name, arguments, o.Status, o.Code, codes, o.Output)
	}
	h.same(before, name, arguments)
}

func (h *hostile) same(before map[string]string, name, arguments string) {
	h.Helper()
	after := h.snapshot()
	for path := range after {
		if before[path] != after[path] {
			h.Errorf("%s %.120s: %s was %q, is %q", name, arguments, path, before[path], after[path])
		}
		delete(before, path)
	}
	for path := range before {
		h.Errorf("%s %.120s: %s is gone", name, arguments, path)
	}
}

// knownCodes are those of tools.md and of the pipeline itself; "internal" is a bug and not among
// them.
func knownCodes() []string {
	return []string{
		tool.CodeNotFound, tool.CodeIsDirectory, tool.CodeNotRegular, tool.CodeBinary, tool.CodeTooLarge, tool.CodeOutsideWorkspace,
		tool.CodeProtectedPath, tool.CodeStale, tool.CodeNotRead, tool.CodeNoMatch, tool.CodeManyMatches, tool.CodeNoChange,
		tool.CodeInvalidArguments, tool.CodeInvalidJSON, tool.CodeTimeout, tool.CodeDenied, tool.CodeLimit, tool.CodeEncoding,
		tool.CodeIO, tool.CodeExit, tool.CodeNoModel,
	}
}

// owes checks the form of a refusal.
func (h *hostile) owes(o tool.Outcome, name, arguments string) {
	h.Helper()
	if o.Status == tool.Completed || !slices.Contains(knownCodes(), o.Code) {
		h.Errorf("%s %.120s: %s %q: %.300s", name, arguments, o.Status, o.Code, o.Output)
		return
	}
	moves := []string{";", "Call it again", "did you mean", "Do not"}
	hasMove := slices.ContainsFunc(moves, func(m string) bool { return strings.Contains(o.Output, m) })
	if !hasMove && o.Code != tool.CodeExit {
		h.Errorf("%s %.120s: no next move in %q", name, arguments, o.Output)
	}
	if len(o.Output) > 1000 {
		h.Errorf("%s %.120s: a refusal of %d bytes: %.200s…", name, arguments, len(o.Output), o.Output)
	}
}

// snapshot is everything below the top folder: kind, mode, target of a link, content.
func (h *hostile) snapshot() map[string]string {
	h.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(h.top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		state := info.Mode().String()
		switch {
		case d.Type() == fs.ModeSymlink:
			state, err = os.Readlink(path)
		case d.Type().IsRegular():
			var content []byte
			content, err = os.ReadFile(path)
			state += fmt.Sprintf(" %x", sha256.Sum256(content))
		}
		all[path] = state
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	return all
}

// noProcess checks that nothing that a call started still runs. What has ended needs a moment to be
// gone.
func (h *hostile) noProcess() {
	h.Helper()
	left := func() (below []proc.Info) {
		all, err := proc.Processes()
		if err != nil {
			h.Skip(err)
		}
		return slices.DeleteFunc(proc.Descendants(all, os.Getpid()), func(p proc.Info) bool { return p.PID == os.Getpid() })
	}
	eventually(func() bool { return len(left()) == 0 })
	for _, p := range left() {
		h.Errorf("process %d is left: %s", p.PID, p.Command)
	}
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
