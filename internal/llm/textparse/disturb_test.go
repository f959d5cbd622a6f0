package textparse_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"adze/session"
	"adze/tool"

	"adze/internal/llm/textparse"
)

// accepted are the texts of the cases of every family whose calls are recovered.
func accepted(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	out := map[string]string{}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasPrefix(f.Name, "accepts") && !strings.HasSuffix(f.Name, ".want") {
				out[filepath.Base(name)+"/"+f.Name] = strings.TrimSuffix(string(f.Data), "\n")
			}
		}
	}
	if len(out) < 90 {
		t.Errorf("only %d texts", len(out))
	}
	return out
}

// calls are what a text that ended well released, and what it said.
func calls(text string) (list []tool.RawCall, said string) {
	for c := range textparse.Recover(stream(session.Done{Stop: session.StopEnd}, text), session.Request{Tools: toolKinds()}, func() string { return "n" }) {
		switch c := c.(type) {
		case session.Call:
			list = append(list, c.RawCall)
		case session.Text:
			said += c.Delta
		}
	}
	return list, said
}

// A text that stops anywhere, although its message ended well, releases those calls that were whole
// and no other.
func TestCutTextsReleaseNoOtherCall(t *testing.T) {
	for name, text := range accepted(t) {
		if strings.Contains(name, "quoted") {
			continue // whether it is a quotation shows only behind it
		}
		whole, _ := calls(text)
		for n := range len(text) {
			part, _ := calls(text[:n])
			if len(part) > len(whole) {
				t.Errorf("%s cut at %d: %d calls", name, n, len(part))
				break
			}
			for i, c := range part {
				if c.Name != whole[i].Name || c.Arguments != whole[i].Arguments {
					t.Errorf("%s cut at %d (%q): %s %s, whole %s %s", name, n, text[:n], c.Name, c.Arguments, whole[i].Name, whole[i].Arguments)
					return
				}
			}
		}
	}
}

// A call that is spoken of, in a sentence or in an example, does not run.
func TestQuotedTextsReleaseNoCall(t *testing.T) {
	for name, text := range accepted(t) {
		if _, said := calls(text); said != "" || strings.HasPrefix(name, "harmony") {
			continue // it has words of its own
		}
		for way, quoted := range map[string]string{
			"in a sentence":             "A model writes " + text + " to call it.",
			"in a sentence with a line": "A model writes " + text + "\nand waits.",
			"in quotation marks":        "It is \"" + text + "\", as you see.",
			"in a long fence":           "So:\n`````text\n```json\n" + text + "\n```\n`````\nThat is all.",
			"in tildes":                 "So:\n~~~~\n~~~\n" + text + "\n~~~~\n",
			"in an open fence":          "So:\n````\n" + text,
		} {
			if list, said := calls(quoted); len(list) > 0 || said != quoted {
				t.Errorf("%s %s: %v, %q", name, way, list, said)
			}
		}
	}
}
