package toolset

import (
	"path/filepath"
	"strings"
	"testing"

	"adze/tool"
)

// The outcomes of a trap, one for each kind of tool that takes a path. "ok" completes; "-" is not
// tried, because it may rightly change something.
type trap struct {
	name   string
	path   string
	read   string
	change string // write and edit
	search string // grep, which takes files too
	folder string // glob and list
	dir    string // bash, as workdir
}

// Code names for the table.
const (
	ok       = "ok"
	skip     = "-"
	denied   = tool.CodeDenied
	invalid  = tool.CodeInvalidArguments
	missing  = tool.CodeNotFound
	isFolder = tool.CodeIsDirectory
	special  = tool.CodeNotRegular
	isGuard  = tool.CodeProtectedPath
	inOut    = tool.CodeIO
)

// traps are what a path can be beside a plain file.
func traps(top string) []trap {
	out := filepath.Join(top, "outside")
	long, deep := strings.Repeat("n", 300), strings.Repeat("d/", 2000)+"f"
	return []trap{
		{"folder", "dir", ok, isFolder, ok, ok, ok},
		{"root", ".", ok, isFolder, ok, ok, ok},
		{"fifo", "fifo", special, special, special, invalid, invalid},
		{"socket", "sock", special, special, special, invalid, invalid},
		{"device", "/dev/zero", denied, denied, denied, denied, denied},
		{"null device", "/dev/null", denied, denied, denied, denied, denied},
		{"link to a device", "zero", denied, denied, denied, denied, denied},
		{"kernel file", "/proc/version", denied, denied, denied, denied, denied},
		{"dangling link", "dangling", missing, skip, missing, missing, missing},
		{"link to itself", "cycle", inOut, inOut, inOut, inOut, inOut},
		{"links in a ring", "ring", inOut, inOut, inOut, inOut, inOut},
		{"below a link to itself", "cycle/x", inOut, inOut, inOut, inOut, inOut},
		{"link to a file outside", "out", denied, denied, denied, denied, denied},
		{"link to a folder outside", "outdir", denied, denied, denied, denied, denied},
		{"file behind a link outside", "outdir/secret.txt", denied, denied, denied, denied, denied},
		{"new file behind a link outside", "outdir/new.txt", denied, denied, denied, denied, denied},
		{"hard link to outside", "hard.txt", ok, skip, ok, invalid, invalid},
		{"line break in the name", "new\nline.txt", ok, skip, ok, invalid, invalid},
		{"name too long", long, invalid, invalid, invalid, invalid, invalid},
		{"too many parts", deep, missing, invalid, missing, missing, missing},
		{"path too long", deep + deep, invalid, invalid, invalid, invalid, invalid},
		{"home", "~", denied, denied, denied, denied, denied},
		{"file at home", "~/kept.txt", denied, denied, denied, denied, denied},
		{"at sign", "@file.txt", ok, skip, ok, invalid, invalid},
		{"at sign, missing", "@nowhere.txt", missing, skip, missing, missing, missing},
		{"parent", "..", denied, denied, denied, denied, denied},
		{"up and down", "../outside/secret.txt", denied, denied, denied, denied, denied},
		{"around", "dir/../../outside/secret.txt", denied, denied, denied, denied, denied},
		{"absolute outside", filepath.Join(out, "secret.txt"), denied, denied, denied, denied, denied},
		{"absolute inside", filepath.Join(top, "work", "file.txt"), ok, skip, ok, invalid, invalid},
		{"below a file", "file.txt/x", missing, missing, missing, missing, missing},
		{"protected", ".git/config", ok, isGuard, ok, invalid, invalid},
		{"protected and new", ".git/hooks/pre-commit", missing, isGuard, missing, missing, missing},
		{"protected in capitals", ".GIT/config", missing, isGuard, missing, missing, missing},
		{"own rules", ".adze/rules", missing, isGuard, missing, missing, missing},
		{"NUL", "a\x00b", invalid, invalid, invalid, invalid, invalid},
		{"blank", " ", invalid, invalid, invalid, invalid, invalid},
	}
}

// opened are traps outside the workspace, for a user who agrees to go there.
func opened() []trap {
	return []trap{
		{"device", "/dev/zero", special, special, special, invalid, invalid},
		{"null device", "/dev/null", special, special, special, invalid, invalid},
		{"link to a device", "zero", special, special, special, invalid, invalid},
		{"kernel file", "/proc/version", special, special, ok, invalid, invalid},
		{"kernel file without end", "/proc/kmsg", special, special, skip, invalid, invalid},
		{"memory", "/proc/self/mem", special, special, skip, invalid, invalid},
		{"link to a folder outside", "outdir", ok, isFolder, ok, ok, ok},
		{"link to a file outside", "out", ok, skip, ok, invalid, invalid},
		{"parent", "..", ok, isFolder, ok, ok, ok},
	}
}

// Whatever a path turns out to be, each tool answers with the code of tools.md or does its work, at
// once, and nothing changes inside or outside.
func TestHostilePaths(t *testing.T) {
	h := newHostile(t)
	h.walkInto(traps(h.top))
	h.open = true
	h.walkInto(opened())
	h.noProcess()
}

func (h *hostile) walkInto(all []trap) {
	h.Helper()
	for _, x := range all {
		h.spring(x, "read", map[string]any{"path": x.path}, x.read)
		h.spring(x, "write", map[string]any{"path": x.path, "content": "changed\n"}, x.change)
		h.spring(x, "edit", map[string]any{"path": x.path, "old_string": "e", "new_string": "changed"}, x.change)
		h.spring(x, "grep", map[string]any{"path": x.path, "pattern": "text"}, x.search)
		h.spring(x, "glob", map[string]any{"path": x.path, "pattern": "*"}, x.folder)
		h.spring(x, "list", map[string]any{"path": x.path}, x.folder)
		h.spring(x, "bash", map[string]any{"command": "true", "workdir": x.path}, x.dir)
	}
}

func (h *hostile) spring(x trap, name string, arguments map[string]any, want string) {
	h.Helper()
	switch raw := encoded(h.T, arguments); want {
	case skip:
	case ok:
		before := h.snapshot()
		if o := h.call(name, raw); o.Status != tool.Completed {
			h.Errorf("%s, %s: %s %q: %.300s", x.name, name, o.Status, o.Code, o.Output)
		}
		h.same(before, name, raw)
	default:
		h.refused(name, raw, want)
	}
}

// What a change does that is allowed: a link is followed inside the workspace, and a hard link to
// the outside is cut, so that the file outside stays.
func TestChangesThroughLinksStayInside(t *testing.T) {
	h := newHostile(t)
	for name, want := range map[string]string{"dangling": "nowhere", "hard.txt": "hard.txt", "new\nline.txt": "new\nline.txt", "@file.txt": "file.txt"} {
		if o := h.call("read", encoded(t, map[string]any{"path": name})); o.Status != tool.Completed && o.Code != missing {
			t.Errorf("read %q: %s", name, o.Output)
		}
		o := h.call("write", encoded(t, map[string]any{"path": name, "content": "changed\n"}))
		if o.Status != tool.Completed || !strings.Contains(o.Output, want) {
			t.Errorf("write %q: %s", name, o.Output)
		}
		if after := h.call("read", encoded(t, map[string]any{"path": want})); !strings.Contains(after.Output, "changed") {
			t.Errorf("%q holds %q", want, after.Output)
		}
	}
	h.open = true
	kept := h.call("read", encoded(t, map[string]any{"path": filepath.Join(h.top, "outside", "secret.txt")}))
	if !strings.Contains(kept.Output, "secret") {
		t.Errorf("outside: %s", kept.Output)
	}
}
