package textparse_test

import (
	"errors"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"adze/internal/llm/textparse"
	"adze/session"
	"adze/tool"
)

const hermes = `<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>`

func chunks(list ...session.Chunk) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		for _, c := range list {
			if !yield(c) {
				return
			}
		}
	}
}

func recovered(t *testing.T, list ...session.Chunk) string {
	t.Helper()
	return show(t, textparse.Recover(chunks(list...), session.Request{Tools: toolKinds()}, func() string { return "new" }))
}

func native(name, arguments string) []session.Chunk {
	return []session.Chunk{
		session.Forming{ID: "n", Name: name, Bytes: len(arguments)},
		session.Call{RawCall: tool.RawCall{ID: "n", Name: name, Arguments: arguments, Origin: tool.Native}},
	}
}

func TestNativeCallsComeFirstAndOnce(t *testing.T) {
	for _, c := range []struct{ name, arguments, want string }{
		{"read", `{ "path": "a" }`, "native call read { \"path\": \"a\" }\ndone \"calls\"\n"},
		{"read", `{"path":"b"}`, "native call read {\"path\":\"b\"}\ntext call read {\"path\":\"a\"}\ndone \"calls\"\n"},
		{"list", ``, "native call list \ntext call read {\"path\":\"a\"}\ndone \"calls\"\n"},
	} {
		list := append([]session.Chunk{session.Text{Delta: hermes}}, native(c.name, c.arguments)...)
		if got := recovered(t, append(list, session.Done{Stop: session.StopCalls})...); got != c.want {
			t.Errorf("%s %s became\n%s", c.name, c.arguments, got)
		}
	}
}

// A message that did not end well releases nothing and keeps every byte.
func TestMessagesThatDoNotEndWell(t *testing.T) {
	for _, stop := range []session.Stop{session.StopLength, session.StopRefused, session.StopAborted, session.StopError} {
		got := recovered(t, session.Text{Delta: "So. " + hermes}, session.Done{Stop: stop, Err: errors.New("it broke")})
		if strings.Contains(got, " call ") || !strings.Contains(got, `<tool_call>`) || !strings.HasSuffix(got, "done \""+string(stop)+"\"\n") {
			t.Errorf("%s: %s", stop, got)
		}
	}
}

func TestOtherChunksPass(t *testing.T) {
	want := "reasoning \"hm<tool_call>\"\ntext \"a < b\"\nreasoning \"more\"\ndone \"end\"\n"
	if got := recovered(t, session.Reasoning{Delta: "hm<tool_call>"}, session.Text{Delta: "a <"}, session.Text{Delta: " b"},
		session.Reasoning{Delta: "more"}, session.Done{Stop: session.StopEnd}); got != want {
		t.Errorf("got\n%s", got)
	}
	// Without tools nothing is a call.
	got := show(t, textparse.Recover(chunks(session.Text{Delta: hermes}, session.Done{Stop: session.StopEnd}), session.Request{}, nil))
	if strings.Contains(got, " call ") {
		t.Errorf("got\n%s", got)
	}
}

// Text that cannot be markup any more is shown at once.
func TestTextIsNotHeldLongerThanNeeded(t *testing.T) {
	for pieces, shown := range map[string]string{
		"a <b":                    "a <b",
		"a <tool_":                "a ",
		"{\"na":                   "",
		"{\"colour":               "{\"colour",
		"[x](y)":                  "[x](y)",
		"- [ ] a":                 "- [ ] a",
		"```go\nfunc":             "```go\nfunc",
		"```json\n{\"version\":":  "```json\n{\"version\":",
		"see {\"name\": \"read\"": "see {\"name\": \"read\"",
		"{\"name\": \"Ada":        "{\"name\": \"Ada",
	} {
		var got string
		for c := range textparse.Recover(chunks(session.Text{Delta: pieces}), session.Request{Tools: toolKinds()}, nil) {
			got += c.(session.Text).Delta
		}
		if got != shown {
			t.Errorf("%q shows %q, want %q", pieces, got, shown)
		}
	}
}

// What never ends is given up in bounded time and memory, and every byte is kept.
func TestHostileText(t *testing.T) {
	for name, text := range map[string]string{
		"openings":        strings.Repeat("<tool_call>{", 100_000),
		"one long string": `{"name":"write","parameters":{"content":"` + strings.Repeat("x", 3<<20),
		"angles":          strings.Repeat("<", 1<<20),
		"fences":          strings.Repeat("```json\n{\"name\":\"read\",\n", 20_000),
		"lists":           strings.Repeat("\n[read(", 100_000),
	} {
		start := time.Now()
		var got strings.Builder
		for c := range textparse.Recover(stream(session.Done{Stop: session.StopEnd}, text), session.Request{Tools: toolKinds()}, nil) {
			if c, ok := c.(session.Text); ok {
				got.WriteString(c.Delta)
			}
		}
		if got.String() != text {
			t.Errorf("%s: %d bytes became %d", name, len(text), got.Len())
		}
		t.Logf("%s: %v", name, time.Since(start))
	}
}

func FuzzRecover(f *testing.F) {
	names, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		f.Fatal("no cases", err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i := 0; i < len(archive.Files); i += 2 {
			f.Add(strings.TrimSuffix(string(archive.Files[i].Data), "\n"), uint(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, at uint) {
		done := session.Done{Stop: session.StopEnd}
		whole := read(t, done, text)
		cut := int(at % uint(len(text)+1))
		if got := read(t, done, text[:cut], text[cut:]); got != whole {
			t.Errorf("split at %d:\n%s\nwhole:\n%s", cut, got, whole)
		}
		if got := read(t, done, strings.Split(text, "")...); got != whole {
			t.Errorf("rune by rune:\n%s\nwhole:\n%s", got, whole)
		}
		kept := said(done, text)
		if !strings.Contains(whole, " call ") && !strings.Contains(text, "<|") && kept != text {
			t.Errorf("%q became %q", text, kept)
		}
		if kept := said(session.Done{Stop: session.StopLength}, text); !strings.Contains(text, "<|") && len(kept) != len(text) {
			t.Errorf("cut: %q became %q", text, kept)
		}
	})
}

func said(done session.Done, text string) string {
	var b strings.Builder
	for c := range textparse.Recover(stream(done, text), session.Request{Tools: toolKinds()}, func() string { return "n" }) {
		if c, ok := c.(session.Text); ok {
			b.WriteString(c.Delta)
		}
	}
	return b.String()
}

// BenchmarkPlain is what the recovery costs 20,000 deltas of an answer without calls.
func BenchmarkPlain(b *testing.B) {
	pieces := make([]string, 20_000)
	for i := range pieces {
		pieces[i] = []string{"some ", "`code` ", "and more\n", "a < b ", "[x](y) "}[i%5]
	}
	benchmark(b, pieces)
}

// BenchmarkLongCall is a call that writes a file of 200 KB, in deltas of six bytes.
func BenchmarkLongCall(b *testing.B) {
	text := `<tool_call>{"name":"write","arguments":{"path":"a","content":"` + strings.Repeat("if (x) { y } ", 16_000) + `"}}</tool_call>`
	var pieces []string
	for len(text) > 6 {
		pieces, text = append(pieces, text[:6]), text[6:]
	}
	benchmark(b, append(pieces, text))
}

func benchmark(b *testing.B, pieces []string) {
	r := session.Request{Tools: toolKinds()}
	b.ReportAllocs()
	for b.Loop() {
		for range textparse.Recover(stream(session.Done{Stop: session.StopEnd}, pieces...), r, func() string { return "n" }) {
		}
	}
}
