package prompt

import (
	"slices"
	"testing"
)

// What was touched or changed comes first among those that fit alike, then its neighbours; a better
// fit still wins.
func TestNearPathsComeFirst(t *testing.T) {
	c := newCandidates([]string{"a.go", "deep/in/a/folder/session.go", "session.go", "deep/in/a/folder/other.go", "server/session.go", "server/"})
	work := newNear("deep/in/a/folder/session.go", "server/session.go", "deep/in/a/folder/session.go")
	for query, want := range map[string][]string{
		"":        {"deep/in/a/folder/session.go", "server/session.go", "deep/in/a/folder/other.go"},
		"session": {"deep/in/a/folder/session.go", "server/session.go", "session.go"},
		"other":   {"deep/in/a/folder/other.go"},
		"a.go":    {"a.go"},
	} {
		if got := c.best(query, len(want), work); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
}

func TestWhatLeadsOutOfTheWorkspace(t *testing.T) {
	for query, want := range map[string][2]string{"~/": {"~/", ""}, "~/no": {"~/", "no"}, "../a/b": {"../a/", "b"}, "/etc/ho": {"/etc/", "ho"}, "./x": {"./", "x"}, "/": {"/", ""}} {
		if dir, start, is := outside(query); !is || dir != want[0] || start != want[1] {
			t.Errorf("%s: %q %q %t", query, dir, start, is)
		}
	}
	for _, query := range []string{"", "~", "..", "a/b", ".git", "~ann/x"} {
		if _, _, is := outside(query); is {
			t.Errorf("%s leads out", query)
		}
	}
}

// A name means itself in a prompt, whatever is in it: it ends no line, opens no second quote, and
// makes no command of what follows.
func TestAPathStandsInAPromptAsOneWord(t *testing.T) {
	for path, want := range map[string]string{
		"a.go": "a.go", "it's.txt": "it's.txt", "caf\u00e9.md": "café.md", "a b.go": `"a b.go"`, `a "b".go`: `'a "b".go'`, `it's "b".go`: `"it's \"b\".go"`,
		"a\nb.go": `"a\nb.go"`, "a\tb": `"a\tb"`, "\x1b[31m.txt": `"\x1b[31m.txt"`, "bad\xff.txt": `"bad\xff.txt"`, "a\u202eb": `"a\u202eb"`,
		"!run": `"!run"`, "#note.md": `"#note.md"`, "@scope/x.js": `"@scope/x.js"`, "a!b": "a!b", "C#/x.cs": "C#/x.cs", "": "",
	} {
		if got := quotedPath(path); got != want {
			t.Errorf("%q stands as %s, want %s", path, got, want)
		}
	}
}
