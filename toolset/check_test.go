package toolset

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/tool"
)

// foreseen holds what a check before the question says against what the run then says: it is never
// wrong, in the same words, and of a file that is to be changed it foresees every reason that is
// not the disk's.
func foreseen(t testing.TB, o tool.Outcome, flaw error) {
	t.Helper()
	if flaw != nil && (o.Status != tool.Failed || o.Code != tool.CodeOf(flaw) || o.Output != flaw.Error()) {
		t.Errorf("%s: the check said %s %q, the run %s %s %q", o.Tool, tool.CodeOf(flaw), flaw, o.Status, o.Code, o.Output)
	}
	knowable := o.Status == tool.Failed && o.Code != tool.CodeIO && o.Code != tool.CodeLimit
	if flaw == nil && knowable && (o.Tool == "edit" || o.Tool == "write") {
		t.Errorf("%s: nobody knew before it was asked for that it fails: %s %q", o.Tool, o.Code, o.Output)
	}
}

// checking asks the check before it allows anything, as the policy does, with what may be read
// unasked.
func (d *desk) checking(name string, in args, may func(tool.Need) bool) (flaw error) {
	d.Helper()
	runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(ctx context.Context, q tool.Question) (tool.Decision, error) {
		if q.Check != nil {
			flaw = q.Check(ctx, may)
		}
		return tool.Decision{Reason: "only the check was wanted"}, nil
	})}
	h := runner.Hydrate(d.Context(), d.set, []tool.RawCall{{ID: "c", Name: name, Arguments: encoded(d, in)}})
	if o := runner.Exec(d.Context(), h[0]); o.Status != tool.Denied {
		d.Fatalf("%s %v: %s %q", name, in, o.Status, o.Output)
	}
	return flaw
}

func anyNeed(tool.Need) bool { return true }

func TestChecksForesee(t *testing.T) {
	d := newDesk(t)
	d.put("known.txt", "one\ntwo\ntwo\n")
	d.put("unread.txt", "one\n")
	d.put("changed.txt", "one\n")
	d.put("stale.txt", "one\n")
	d.put("binary", "a\x00b")
	for _, name := range []string{"known.txt", "changed.txt", "stale.txt"} {
		d.want(d.call("read", args{"path": name}), "")
	}
	d.put("stale.txt", "another\n")
	d.put("changed.txt", "one\nand more\n")
	if err := os.Chmod(d.put("readonly.txt", "one\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool string
		in   args
		code string
	}{
		{"edit", args{"path": "known.txt", "old_string": "one", "new_string": "1"}, ""},
		{"edit", args{"path": "known.txt", "old_string": "three", "new_string": "3"}, tool.CodeNoMatch},
		{"edit", args{"path": "known.txt", "old_string": "two", "new_string": "2"}, tool.CodeManyMatches},
		{"edit", args{"path": "known.txt", "old_string": "one", "new_string": "one"}, tool.CodeNoChange},
		{"edit", args{"path": "known.txt", "old_string": "one"}, tool.CodeInvalidArguments},
		{"edit", args{"path": "changed.txt", "old_string": "one", "new_string": "1"}, ""},
		{"edit", args{"path": "gone.txt", "old_string": "one", "new_string": "1"}, tool.CodeNotFound},
		{"edit", args{"path": "known.txt/x", "old_string": "", "new_string": "1"}, tool.CodeNotFound},
		{"edit", args{"path": "binary", "old_string": "a", "new_string": "b"}, tool.CodeBinary},
		{"edit", args{"path": ".", "old_string": "a", "new_string": "b"}, tool.CodeIsDirectory},
		{"edit", args{"path": "new/deep/file", "old_string": "", "new_string": "b"}, ""},
		{"write", args{"path": "known.txt", "content": "x"}, ""},
		{"write", args{"path": "known.txt", "content": "one\ntwo\ntwo\n"}, tool.CodeNoChange},
		{"write", args{"path": "unread.txt", "content": "x"}, tool.CodeNotRead},
		{"write", args{"path": "stale.txt", "content": "x"}, tool.CodeStale},
		{"write", args{"path": "new/deep/file", "content": "x"}, ""},
		{"write", args{"path": ".git/config", "content": "x"}, tool.CodeProtectedPath},
		{"write", args{"path": "readonly.txt", "content": "x"}, tool.CodeIO},
	} {
		before := d.everything()
		flaw := d.checking(c.tool, c.in, anyNeed)
		if tool.CodeOf(flaw) != c.code {
			t.Errorf("%s %v: %v (%s), want %q", c.tool, c.in, flaw, tool.CodeOf(flaw), c.code)
		}
		if after := d.everything(); !slices.Equal(before, after) {
			t.Errorf("%s %v: the check changed the workspace: %q, before %q", c.tool, c.in, after, before)
		}
		if flaw != nil {
			d.want(d.call(c.tool, c.in), c.code, flaw.Error())
		}
	}
}

// everything lists the files with their content.
func (d *desk) everything() (all []string) {
	d.Helper()
	err := filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all = append(all, path)
			return err
		}
		b, err := os.ReadFile(path)
		all = append(all, path+"="+string(b))
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return all
}

// TestChecksDoNotTell holds that a check looks at nothing that a user would have to allow first:
// neither what stands in a file nor whether there is one comes out of it.
func TestChecksDoNotTell(t *testing.T) {
	d := newDesk(t)
	d.put(".env", "TOKEN=hunter2\n")
	d.put("../outside/secret.txt", "hunter2\n")
	if err := os.Symlink(filepath.Join(d.dir, "..", "outside"), filepath.Join(d.dir, "link")); err != nil {
		t.Fatal(err)
	}
	guarded := func(n tool.Need) bool {
		return !strings.Contains(n.Target, ".env") && !strings.Contains(n.Target, "outside") && !strings.Contains(n.Target, "..")
	}
	for _, path := range []string{".env", "../outside/secret.txt", "link/secret.txt", "../outside/nothing.txt", "link/nothing", ".env.none"} {
		for name, in := range map[string]args{
			"edit":  {"path": path, "old_string": "TOKEN=hunter1", "new_string": "x"},
			"write": {"path": path, "content": "x"},
		} {
			if flaw := d.checking(name, in, guarded); flaw != nil {
				t.Errorf("%s %s tells %q", name, path, flaw)
			}
		}
	}
	// What is wrong with the arguments themselves needs no look.
	if flaw := d.checking("edit", args{"path": ".env"}, guarded); tool.CodeOf(flaw) != tool.CodeInvalidArguments {
		t.Errorf("got %v", flaw)
	}
	// What was read with consent is no secret of this session any more.
	d.want(d.call("read", args{"path": ".env"}), "")
	if flaw := d.checking("edit", args{"path": ".env", "old_string": "TOKEN=hunter1", "new_string": "x"}, guarded); tool.CodeOf(flaw) != tool.CodeNoMatch {
		t.Errorf("of a file that was read: %v", flaw)
	}
}

func TestBashChecksItsFolder(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, dir)
	may := anyNeed
	var flaw error
	b.runner.Gate = tool.GateFunc(func(ctx context.Context, q tool.Question) (tool.Decision, error) {
		flaw = q.Check(ctx, may)
		return tool.Decision{Reason: "only the check was wanted"}, nil
	})
	for args, code := range map[string]string{
		`{"command":"true"}`:                             "",
		`{"command":" "}`:                                tool.CodeInvalidArguments,
		`{"command":"true","workdir":"none"}`:            tool.CodeNotFound,
		`{"command":"true","workdir":"/nowhere/at/all"}`: tool.CodeNotFound,
	} {
		h := b.runner.Hydrate(t.Context(), b.set, []tool.RawCall{{ID: "c", Name: "bash", Arguments: args}})
		b.runner.Exec(t.Context(), h[0])
		if tool.CodeOf(flaw) != code {
			t.Errorf("%s: %v", args, flaw)
		}
	}
	may = func(n tool.Need) bool { return n.Permission != tool.Read }
	h := b.runner.Hydrate(t.Context(), b.set, []tool.RawCall{{ID: "c", Name: "bash", Arguments: `{"command":"true","workdir":"/nowhere"}`}})
	if b.runner.Exec(t.Context(), h[0]); flaw != nil {
		t.Errorf("without leave to look: %v", flaw)
	}
}
