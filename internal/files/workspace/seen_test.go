package workspace_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"adze/internal/files/workspace"
)

func (p place) state(name string) workspace.State {
	p.Helper()
	f, err := p.root.Open(p.resolve(name))
	if err != nil {
		p.Fatal(err)
	}
	defer f.Close()
	b, err := f.Bytes(context.Background(), 1<<20)
	if err != nil {
		p.Fatal(err)
	}
	return f.State(b)
}

func TestSameIsAboutContent(t *testing.T) {
	p := open(t)
	path := p.put("f", "content")
	before := p.state("f")
	later := time.Unix(1e9, 0)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if now := p.state("f"); !before.SameContent(now) {
		t.Error("a touch counts as a change")
	}
	p.put("f", "CONTENT") // same size
	if before.SameContent(p.state("f")) {
		t.Error("a change of the same size does not count")
	}
	large, other := before, before
	large.SHA256 = ""
	if !large.SameContent(other) {
		t.Error("without a hash the same stamp must do")
	}
	other.Stamp.Mtime++
	if large.SameContent(other) {
		t.Error("without a hash another stamp is another content")
	}
}

func TestSeenIsPerSessionAndRestorable(t *testing.T) {
	p := open(t)
	p.put("f", "text")
	var seen workspace.KnownFiles
	state := p.state("f")
	seen.Record("one", state, "text")
	if _, ok := seen.Get("two", p.resolve("f")); ok {
		t.Error("another session knows it")
	}
	if text, ok := seen.Text("one", p.resolve("f")); !ok || text != "text" {
		t.Errorf("text %q %v", text, ok)
	}
	stored, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	var back workspace.State
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	var resumed workspace.KnownFiles
	resumed.Restore("one", back)
	if got, ok := resumed.Get("one", p.resolve("f")); !ok || !got.SameContent(p.state("f")) {
		t.Errorf("got %+v %v", got, ok)
	}
}

func TestSeenTextsAreBounded(t *testing.T) {
	p := open(t)
	var seen workspace.KnownFiles
	big := strings.Repeat("x", 200<<10)
	for i := range 100 {
		name := string(rune('a'+i%26)) + strings.Repeat("y", i)
		p.put(name, "z")
		seen.Record("s", p.state(name), big)
	}
	held := 0
	for i := range 100 {
		name := string(rune('a'+i%26)) + strings.Repeat("y", i)
		if text, ok := seen.Text("s", p.resolve(name)); ok {
			held += len(text)
		}
		if _, ok := seen.Get("s", p.resolve(name)); !ok {
			t.Errorf("state %d was dropped", i)
		}
	}
	if held > 8<<20 || held < 7<<20 {
		t.Errorf("%d bytes are held", held)
	}
	seen.Record("s", p.state("a"), strings.Repeat("x", 300<<10))
	if _, ok := seen.Text("s", p.resolve("a")); ok {
		t.Error("a text above the limit is kept")
	}
}
