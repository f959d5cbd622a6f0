package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/sessiondb/export"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// tools lets shell and edit show some fields; nothing else is known.
type tools struct{}

func (tools) Get(name string) (tool.Definition, bool) {
	switch name {
	case "shell":
		return tool.Definition{Name: name, Permissions: tool.Requires(tool.Execute)}, true
	case "edit", "read":
		return tool.Definition{Name: name, Permissions: tool.Requires(tool.Write)}, true
	}
	return tool.Definition{}, false
}

func (t tools) Redact(name string, fields json.RawMessage) json.RawMessage {
	if _, ok := t.Get(name); !ok {
		return json.RawMessage(`{}`)
	}
	return tool.Expose("path", "command", "exit", "added").Apply(fields)
}

func at(n int) time.Time { return time.Date(2026, 5, 6, 7, 8, n, 9, time.UTC) }

// log is a session that is written down entry by entry.
type log struct {
	t       *testing.T
	entries []session.Entry
	n       int
}

func (l *log) add(kind session.EntryType, v any) {
	l.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		l.t.Fatal(err)
	}
	l.n++
	l.entries = append(l.entries, session.Entry{Type: kind, Time: at(l.n), Data: raw})
}

func (l *log) says(role session.Role, text string, more ...session.Part) string {
	id := fmt.Sprintf("m%d", l.n)
	m := session.Message{ID: id, Role: role, Parts: append([]session.Part{{Kind: session.TextPart, Text: text}}, more...)}
	if role == session.Assistant {
		m.Provider, m.Model, m.Stop, m.Usage, m.Duration = "p", "large", session.StopEnd, &session.Usage{Input: 10, Output: 3}, time.Second
	}
	l.add(session.MessageEntry, m)
	return id
}

func calling(id, name, args string) session.Part {
	return session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: tool.CallID(id), Name: name, Arguments: args}}
}

func (l *log) came(message, id, name, args, metadata, output string, needs ...tool.Need) {
	o := tool.Outcome{Call: tool.CallID(id), Tool: name, Status: tool.Completed, Title: "title of " + name, Output: output, Metadata: json.RawMessage(metadata), Duration: time.Millisecond}
	o.Record = tool.Record{Message: message, Call: o.Call, Tool: name, Args: json.RawMessage(args), Needs: needs, Status: o.Status}
	l.add(session.OutcomeEntry, o)
}

// square is a picture of one colour, whose names are its own.
func square(t *testing.T, side int, c color.Color) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		img.Set(i%side, i/side, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ordinary is a session with some of everything.
func ordinary(t *testing.T) []session.Entry {
	l := &log{t: t}
	l.add(session.StartEntry, session.Start{Version: "0.1.0", Cwd: "/home/ann/code/app", Model: "p/large", System: "be good"})
	l.says(session.User, "mend the <b>parser</b> in /home/ann/code", session.Part{Kind: session.AttachmentPart, Attachment: &tool.Attachment{Name: "shot.svg", MediaType: "image/svg+xml", Data: square(t, 40, color.RGBA{255, 0, 255, 255})}})
	l.add(session.NoteEntry, session.Message{ID: "n1", Role: session.User, Note: true, Notes: []session.Note{{Kind: session.InstructionsNote, Source: "AGENTS.md", Bytes: 12}}, Parts: []session.Part{{Kind: session.TextPart, Text: "<note>rules of the house</note>\n"}}})
	m := l.says(session.Assistant, "I look.\n\n- one\n- two `<i>`\n\n```go\na < b\n```\n", session.Part{Kind: session.ReasoningPart, Text: "deep thoughts"},
		calling("c1", "shell", `{"command":"ls","token":"x"}`), calling("c2", "edit", `{"path":"a.go"}`), calling("c3", "remote", `{"all":"unheard-of"}`))
	l.came(m, "c1", "shell", `{"command":"ls /home/ann/code","token":"hidden argument"}`, `{"exit":1,"lines":["raw line"]}`, "the output")
	l.came(m, "c2", "edit", `{"path":"a.go"}`, `{"path":"a.go","added":1,"diff":"--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\n+new </pre><script>\n","seen":{"hash":"abc"}}`, "edited")
	l.came(m, "c3", "remote", `{"all":"unheard-of"}`, `{"more":"unheard-of"}`, "secret of a server")
	l.says(session.Assistant, "Done. See [docs](https://example.org/a?b=1&c=2) and **this**.")
	l.add(session.EndEntry, session.Result{Cause: session.CauseDone, Duration: 3 * time.Second, Changed: []string{"a.go"}})
	l.says(session.User, "taken back: forget that I said hunter")
	l.says(session.Assistant, "never said")
	l.add(session.RewindEntry, session.Rewound{MessageID: fmt.Sprintf("m%d", l.n-2)})
	return l.entries
}

func of(entries []session.Entry) *export.Document {
	return export.FromLog(entries, export.Options{Session: "s1", Tools: tools{}, Home: "/home/ann/", Mask: redact.New("known-secret-value")})
}

// forms are all three, as text.
func forms(t *testing.T, d *export.Document) map[string]string {
	t.Helper()
	asJSON, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"json": string(asJSON), "md": string(d.Markdown()), "html": string(d.HTML())}
}

func TestFormsHoldWhatIsLetOutAndNothingElse(t *testing.T) {
	for name, text := range forms(t, of(ordinary(t))) {
		for _, want := range []string{"~/code/app", "mend the", "$ ls ~/code", "edit", "remote", "a.go", "AGENTS.md", "example.org", "Done.", "done", "3 × output", "1 × thought", "2 × message that was taken back", "shot.svg"} {
			if !strings.Contains(strings.ReplaceAll(text, `\`, ""), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
		for _, no := range []string{"/home/ann", "be good", "rules of the house", "deep thoughts", "hidden argument", "raw line", "the output", "unheard-of", "secret of a server", "hunter", "never said", "seen", "title of"} {
			if strings.Contains(text, no) {
				t.Errorf("%s has %q", name, no)
			}
		}
	}
}

// What is written can be read, and written again, and is the same but for where it came from.
func TestRoundTrip(t *testing.T) {
	first := of(ordinary(t))
	again := imported(t, first)
	if again.Imported == nil || again.Imported.Session != "s1" || again.Session != "s2" {
		t.Errorf("%+v", again.Imported)
	}
	third := imported(t, again)
	for _, d := range []*export.Document{again, third} {
		d.Imported, d.Session = nil, first.Session
		if diff := cmp.Diff(first, d); diff != "" {
			t.Errorf("(-first +imported):\n%s", diff)
		}
	}
}

// imported reads the JSON of a document, makes a session of it and exports that.
func imported(t *testing.T, d *export.Document) *export.Document {
	t.Helper()
	raw, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	read, err := export.Decode(raw)
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	if diff := cmp.Diff(d, read); diff != "" {
		t.Errorf("read (-written +read):\n%s", diff)
	}
	entries, err := read.Entries(export.ImportOptions{Tools: tools{}, Cwd: "/here", Time: at(59), SHA256: "00"})
	if err != nil {
		t.Fatal(err)
	}
	return export.FromLog(entries, export.Options{Session: "s2", Tools: tools{}, Home: "/home/ann"})
}
