package textparse_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"adze/internal/llm/textparse"
	"adze/session"
	"adze/tool"
)

var update = flag.Bool("update", false, "rewrite the wants of testdata/textcall")

const folder = "../../../testdata/textcall"

// toolKinds are the tools of all cases.
func toolKinds() []tool.Definition {
	object := func(properties string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
	}
	return []tool.Definition{
		{Name: "read", Aliases: []string{"read_file"}, Parameters: object(`"path":{"type":"string"},"limit":{"type":"integer"},"any":{}`)},
		{Name: "write", Parameters: object(`"path":{"type":"string"},"content":{"type":"string"}`)},
		{Name: "bash", Parameters: object(`"command":{"type":"string"},"timeout":{"type":"number"},"background":{"type":"boolean"}`)},
		{Name: "list", Parameters: object(`"path":{"type":"string"}`)},
		{Name: "todowrite", Parameters: object(`"todos":{"type":"array"},"about":{"type":"object"}`)},
	}
}

// stream says pieces of text and ends.
func stream(done session.Done, pieces ...string) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		for _, p := range pieces {
			if !yield(session.Text{Delta: p}) {
				return
			}
		}
		yield(done)
	}
}

// read shows what becomes of pieces of text.
func read(t testing.TB, done session.Done, pieces ...string) string {
	t.Helper()
	n := 0
	mint := func() string { n++; return fmt.Sprintf("new%d", n) }
	return show(t, textparse.Recover(stream(done, pieces...), session.Request{Tools: toolKinds()}, mint))
}

func show(t testing.TB, seq iter.Seq[session.Chunk]) string {
	t.Helper()
	var lines [][2]string
	say := func(kind, text string) {
		if n := len(lines) - 1; n >= 0 && lines[n][0] == kind && !strings.Contains(kind, " call ") {
			lines[n][1] += text
		} else {
			lines = append(lines, [2]string{kind, text})
		}
	}
	formed := map[tool.CallID]session.Forming{}
	dones := 0
	for c := range seq {
		switch c := c.(type) {
		case session.Text:
			say("text", c.Delta)
		case session.Reasoning:
			say("reasoning", c.Delta)
		case session.Forming:
			formed[c.ID] = c
		case session.Call:
			say(fmt.Sprintf("%s call %s", c.Origin, c.Name), c.Arguments)
			if f := formed[c.ID]; f.Name != c.Name || f.Bytes != len(c.Arguments) {
				t.Errorf("call %+v was announced as %+v", c, f)
			}
		case session.Done:
			dones++
			say("done", string(c.Stop))
		}
	}
	if dones != 1 {
		t.Errorf("%d Done", dones)
	}
	var b strings.Builder
	for _, l := range lines {
		quote := "%s %q\n"
		if strings.Contains(l[0], " call ") {
			quote = "%s %s\n"
		}
		fmt.Fprintf(&b, quote, l[0], l[1])
	}
	return b.String()
}

// TestCases reads the families' files. Each holds cases NAME with the model's text, and NAME.want;
// a name that begins with cut_ ends at the output limit. Each is read whole, byte by byte, and
// split at every byte.
func TestCases(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	total := 0
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		family := strings.TrimSuffix(filepath.Base(name), ".txtar")
		var out []txtar.File
		for i := 0; i < len(archive.Files); i++ {
			c := archive.Files[i]
			want := txtar.File{Name: c.Name + ".want"}
			if i+1 < len(archive.Files) && archive.Files[i+1].Name == want.Name {
				want = archive.Files[i+1]
				i++
			}
			total++
			t.Run(family+"/"+c.Name, func(t *testing.T) {
				got := runCase(t, c)
				if *update {
					want.Data = []byte(got)
				}
				if diff := cmp.Diff(string(want.Data), got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
			out = append(out, c, want)
		}
		if *update {
			archive.Files = out
			if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if total < 100 {
		t.Errorf("%d cases", total)
	}
}

func runCase(t *testing.T, c txtar.File) string {
	t.Helper()
	done := session.Done{Stop: session.StopEnd}
	if strings.HasPrefix(c.Name, "cut_") {
		done.Stop = session.StopLength
	}
	text := strings.TrimSuffix(string(c.Data), "\n")
	whole := read(t, done, text)
	if got := read(t, done, strings.Split(text, "")...); got != whole {
		t.Errorf("rune by rune:\n%s\nwhole:\n%s", got, whole)
	}
	for i := range len(text) {
		if got := read(t, done, text[:i], text[i:]); got != whole {
			t.Fatalf("split at byte %d:\n%s\nwhole:\n%s", i, got, whole)
		}
	}
	return whole
}
