package toolset

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"adze/tool"
)

// refusing allows a call but for some hunks.
func (d *desk) refusing(name string, in args, refused ...int) tool.Outcome {
	d.Helper()
	runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(ctx context.Context, q tool.Question) (tool.Decision, error) {
		if q.Amended || q.WithoutHunks == nil {
			return tool.Decision{Allow: true}, nil
		}
		change, err := q.WithoutHunks(ctx, refused, "not this one")
		if err != nil {
			return tool.Decision{Reason: err.Error()}, nil
		}
		return tool.Decision{Allow: true, Asked: true, Change: change}, nil
	})}
	h := runner.Hydrate(d.Context(), d.set, []tool.RawCall{{ID: "c", Name: name, Arguments: encoded(d, in)}})
	return runner.Exec(d.Context(), h[0])
}

// A change is made but for the hunks that a user refused, whatever the file's line ends, mark and
// last line are.
func TestHunksAreRefused(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("line %d", i+1))
	}
	plain := strings.Join(lines, "\n") + "\n"
	changed := strings.NewReplacer("line 3\n", "THREE\n", "line 20\n", "", "line 38\n", "line 38\nmore\n").Replace(plain)
	only := strings.NewReplacer("line 3\n", "THREE\n", "line 38\n", "line 38\nmore\n").Replace(plain)
	for name, spell := range map[string]func(string) string{
		"plain":             func(s string) string { return s },
		"windows line ends": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"byte order mark":   func(s string) string { return "\uFEFF" + s },
		"no last newline":   func(s string) string { return strings.TrimSuffix(s, "\n") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			for _, call := range []struct {
				tool string
				in   args
			}{
				{"write", args{"path": "f", "content": strings.TrimPrefix(spell(changed), "\uFEFF")}},
				{"edit", args{"path": "f", "edits": []args{{"old_string": "line 3\n", "new_string": "THREE\n"}, {"old_string": "line 20\n", "new_string": ""}, {"old_string": "line 38\n", "new_string": "line 38\nmore\n"}}}},
			} {
				file := d.put("f", spell(plain))
				d.want(d.call("read", args{"path": "f"}), "")
				o := d.refusing(call.tool, call.in, 2)
				raw, err := os.ReadFile(file)
				if err != nil || o.Status != tool.Completed || string(raw) != spell(only) {
					t.Errorf("%s: %s %q\n%q", call.tool, o.Status, o.Output, raw)
				}
				if !strings.HasPrefix(o.Output, "(the person rejected hunk 2 of this change; the rest was made. They say: not this one)\n\n") {
					t.Errorf("%s: the model reads %q", call.tool, o.Output)
				}
			}
		})
	}
}

// A change of which nothing is left, or a hunk that is not there, changes nothing.
func TestHunksThatCannotBeRefused(t *testing.T) {
	d := newDesk(t)
	file := d.put("f", "a\n")
	d.want(d.call("read", args{"path": "f"}), "")
	for says, refused := range map[string]int{"nothing is left": 1, "no hunk 2": 2} {
		for name, in := range map[string]args{"write": {"path": "f", "content": "b\n"}, "edit": {"path": "f", "old_string": "a", "new_string": "b"}} {
			if o := d.refusing(name, in, refused); o.Status != tool.Denied || !strings.Contains(o.Output, says) {
				t.Errorf("%s without %d: %s %q", name, refused, o.Status, o.Output)
			}
		}
	}
	if raw, _ := os.ReadFile(file); string(raw) != "a\n" {
		t.Errorf("the file is %q", raw)
	}
}
