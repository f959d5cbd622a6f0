package toolset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/testkit/failfs"
	"adze/internal/testkit/posix"
	"adze/tool"
)

func TestFileToolsRefuseWhatIsNoRegularFile(t *testing.T) {
	d := newDesk(t)
	if err := posix.Fifo(t, filepath.Join(d.dir, "fifo")); err != nil {
		t.Skip("no FIFO here:", err)
	}
	d.put("dir/x", "x")
	for _, link := range [][2]string{{"nowhere", "dangling"}, {"loop", "loop"}, {"/dev/zero", "zero"}} {
		if err := os.Symlink(link[0], filepath.Join(d.dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	for path, code := range map[string]string{
		"fifo": tool.CodeNotRegular, "zero": tool.CodeNotRegular, "/dev/null": tool.CodeNotRegular, "loop": tool.CodeIO,
	} {
		d.want(d.call("read", args{"path": path}), code)
		d.want(d.call("write", args{"path": path, "content": "x"}), code)
		d.want(d.call("edit", args{"path": path, "old_string": "a", "new_string": "b"}), code)
	}
	d.want(d.call("read", args{"path": "dangling"}), tool.CodeNotFound)
	d.want(d.call("edit", args{"path": "dir", "old_string": "a", "new_string": "b"}), tool.CodeIsDirectory)
	d.want(d.call("read", args{"path": "a\x00b"}), tool.CodeInvalidArguments)
	d.put("new\nline", "x\n")
	d.want(d.call("read", args{"path": "new\nline"}), "", "1  x")
}

func TestOutsideThroughALinkIsAskedByItsOwnName(t *testing.T) {
	d := newDesk(t)
	secret := filepath.Join(filepath.Dir(d.dir), "secret")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(d.dir, "innocent")); err != nil {
		t.Fatal(err)
	}
	d.want(d.call("read", args{"path": "innocent"}), "", "s3cret")
	if len(d.asks) != 2 || d.asks[1].Target != secret {
		t.Errorf("asked %+v", d.asks)
	}
	d.asks, d.deny = nil, func(n tool.Need) bool { return n.Target == secret }
	d.want(d.call("read", args{"path": "innocent"}), tool.CodeDenied)
	d.want(d.call("write", args{"path": "innocent", "content": "x"}), tool.CodeDenied)
	d.deny, d.asks = nil, nil
	d.want(d.call("read", args{"path": secret}), "", "s3cret") // named plainly: one question is enough
	if len(d.asks) != 1 {
		t.Errorf("asked %+v", d.asks)
	}
}

func TestStalenessOfWriteAndEdit(t *testing.T) {
	d := newDesk(t)
	d.put("f", "one\ntwo\nthree\nfour\nfive\nsix\n")
	d.want(d.call("read", args{"path": "f"}), "")
	d.want(d.callAs(t.Context(), "other", "write", args{"path": "f", "content": "x"}), tool.CodeNotRead)
	d.put("f", "ONE\ntwo\nthree\nfour\nfive\nsix\n")
	d.want(d.call("write", args{"path": "f", "content": "x"}), tool.CodeStale, "read it again")
	d.want(d.call("edit", args{"path": "f", "old_string": "five", "new_string": "5"}), "", "changed elsewhere")
	d.put("f", "ONE\ntwo\nTHREE\nfour\n5\nsix\n")
	d.want(d.call("edit", args{"path": "f", "old_string": "two\nthree", "new_string": "x"}), tool.CodeStale, "-three", "+THREE")
	if got := d.content("f"); got != "ONE\ntwo\nTHREE\nfour\n5\nsix\n" {
		t.Errorf("a refused edit changed the file: %q", got)
	}
}

func TestAResumedSessionKnowsWhatItHasRead(t *testing.T) {
	d := newDesk(t)
	d.put("f", "one\n")
	first := d.call("read", args{"path": "f"})
	stored := first.Metadata
	d.want(d.callAs(t.Context(), "resumed", "write", args{"path": "f", "content": "x\n"}), tool.CodeNotRead)
	if err := (Restorer{d.deps, "resumed"}).Restore(slices.Values([]tool.Outcome{{Tool: "read", Status: tool.Completed, Metadata: stored}})); err != nil {
		t.Fatal(err)
	}
	d.want(d.callAs(t.Context(), "resumed", "write", args{"path": "f", "content": "x\n"}), "")
	d.put("f", "theirs\n")
	d.want(d.callAs(t.Context(), "resumed", "edit", args{"path": "f", "old_string": "x", "new_string": "y"}), tool.CodeStale)
}

func TestPreviewIsWhatHappens(t *testing.T) {
	d := newDesk(t)
	d.put("f", "one\ntwo\n")
	d.call("read", args{"path": "f"})
	for _, c := range []struct {
		name string
		in   args
	}{
		{"edit", args{"path": "f", "old_string": " two", "new_string": " 2"}}, // re-indented
		{"write", args{"path": "f", "content": "three\n"}},
		{"write", args{"path": "new/g", "content": "three\n"}},
	} {
		raw, _ := json.Marshal(c.in)
		var before []tool.Block
		runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(ctx context.Context, q tool.Question) (tool.Decision, error) {
			before = q.Preview(ctx)
			return tool.Decision{Allow: true}, nil
		})}
		h := runner.Hydrate(t.Context(), d.set, []tool.RawCall{{ID: "c", Name: c.name, Arguments: string(raw)}})
		o := runner.Exec(t.Context(), h[0])
		d.want(o, "")
		after := d.set.Blocks(o.Tool, o.Metadata)
		if fmt.Sprint(before) != fmt.Sprint(after) || len(after) == 0 || after[0].Text == "" {
			t.Errorf("%s: previewed %v, did %v", c.name, before, after)
		}
	}
}

func TestParallelEditsOfOneFileAllCount(t *testing.T) {
	d := newDesk(t)
	var body strings.Builder
	for i := range 30 {
		fmt.Fprintf(&body, "value %d;\n", i)
	}
	d.put("f", body.String())
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			o := d.callAs(context.Background(), fmt.Sprint("s", i), "edit", args{"path": "f", "old_string": fmt.Sprintf("value %d;", i), "new_string": fmt.Sprintf("done %d;", i)})
			if o.Status != tool.Completed {
				t.Error(o.Output)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(d.content("f"), "done"); got != 30 {
		t.Errorf("%d of 30 edits are in the file", got)
	}
}

// Every file operation of write and edit fails in turn: the file is the old or the new one, and
// nothing is left over.
func TestWriteAndEditAreOldOrNewWhateverFails(t *testing.T) {
	t.Parallel()
	old := strings.Repeat("line of text\n", 50) + "target\n"
	for name, c := range map[string]struct {
		tool string
		in   args
		want string
	}{
		"write": {"write", args{"path": "d/f", "content": "all new\n"}, "all new\n"},
		"edit":  {"edit", args{"path": "d/f", "old_string": "target", "new_string": "hit"}, strings.Replace(old, "target", "hit", 1)},
	} {
		for kindName, kind := range map[string]failfs.Kind{"error": failfs.Error, "short": failfs.Short, "persistent": failfs.Persistent, "crash": failfs.Crash} {
			t.Run(name+"/"+kindName, func(t *testing.T) {
				d := newDesk(t)
				for n := 1; ; n++ {
					d.put("d/f", old)
					d.want(d.call("read", args{"path": "d/f"}), "")
					d.fs.Arm(n, kind)
					o := d.call(c.tool, c.in)
					ran := d.fs.Count()
					d.fs.Arm(0, failfs.Error)
					got := d.content("d/f")
					if got != old && got != c.want || o.Status == tool.Completed && got != c.want {
						t.Fatalf("operation %d: %s, content %.40q", n, o.Status, got)
					}
					if o.Status == tool.Failed && kind != failfs.Crash && got != old {
						t.Fatalf("operation %d: failure reported, file changed: %s", n, o.Output)
					}
					if left := d.leftovers(); len(left) > 0 && kind != failfs.Crash {
						t.Fatalf("operation %d left %v", n, left)
					}
					if ran < n {
						break
					}
				}
				d.put("d/f", old)
				d.want(d.call("read", args{"path": "d/f"}), "")
				d.want(d.call(c.tool, c.in), "")
				if left := d.leftovers(); len(left) > 0 {
					t.Errorf("after a clean write there still is %v", left)
				}
			})
		}
	}
}

func TestAbortLeavesTheOldFile(t *testing.T) {
	d := newDesk(t)
	d.put("f", "old\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, o := range []tool.Outcome{
		d.callAs(ctx, "s", "edit", args{"path": "f", "old_string": "old", "new_string": "new"}),
		d.callAs(ctx, "s", "write", args{"path": "g", "content": "new"}),
		d.callAs(ctx, "s", "read", args{"path": "f"}),
	} {
		if o.Status != tool.Aborted {
			t.Errorf("%s %s", o.Status, o.Output)
		}
	}
	if d.content("f") != "old\n" {
		t.Error("changed")
	}
}

func TestReadGivesImagesAndPDFAsAttachments(t *testing.T) {
	d := newDesk(t)
	for name, head := range map[string]string{"a.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "b.pdf": "%PDF-1.7\nbinary\x00"} {
		d.put(name, head)
		o := d.call("read", args{"path": name})
		d.want(o, "", "is attached")
		if len(o.Attachments) != 1 || !bytes.Equal(o.Attachments[0].Data, []byte(head)) || o.Attachments[0].MediaType == "" {
			t.Errorf("%s: %+v", name, o.Attachments)
		}
	}
	d.put("big.png", "\x89PNG\r\n\x1a\n\x00"+strings.Repeat("x", readAttachment))
	d.want(d.call("read", args{"path": "big.png"}), tool.CodeTooLarge)
}

// The pipeline must not cut what read has already bounded, or the way to go on is lost.
func TestReadBoundsItselfBelowThePipeline(t *testing.T) {
	d := newDesk(t)
	d.put("many", strings.Repeat("x\n", 5000))
	o := d.call("read", args{"path": "many", "limit": 4000})
	d.want(o, "", fmt.Sprintf("continue with offset %d)", tool.DefaultLines+1))
	if o.Truncated {
		t.Error("cut twice")
	}
	d.put("wide", strings.Repeat(strings.Repeat("ä", 500)+"\n", 200))
	o = d.call("read", args{"path": "wide"})
	d.want(o, "", "continue with offset")
	if o.Truncated || len(o.Output) > tool.DefaultBytes+footBytes {
		t.Errorf("%d bytes, cut %v", len(o.Output), o.Truncated)
	}
}

func TestReadTakesAnyOffsetAndLimit(t *testing.T) {
	d := newDesk(t)
	d.put("f", "one\ntwo\n")
	largeFile(t, d.dir, 9<<20, "\n")
	const most = int64(1<<63 - 1)
	for _, path := range []string{"f", "large.txt"} {
		d.want(d.call("read", args{"path": path, "offset": most}), tool.CodeInvalidArguments, "past the end")
		d.want(d.call("read", args{"path": path, "offset": 1, "limit": most}), "", "1  ")
		d.want(d.call("read", args{"path": path, "offset": 0, "limit": 0}), "", "1  ")
	}
	d.want(d.call("read", args{"path": "f", "offset": 3}), tool.CodeInvalidArguments, "has 2 lines")
	for _, bad := range []args{{"path": "f", "offset": 1e30}, {"path": "f", "offset": "x"}, {"path": []int{7}}, {}} {
		if o := d.call("read", bad); o.Status != tool.Invalid {
			t.Errorf("%v: %s", bad, o.Output)
		}
	}
}
