package golden

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// A Case is one txtar case. It belongs to one test and is not safe for concurrent use.
type Case struct {
	Path     string // for messages
	Sentence string // the description, without #
	Input    string // the rest of the opening, trimmed

	update   bool
	raw      []byte
	sections []section
	asked    map[string]bool // sections read by the test
	compares bool            // the test makes comparisons
}

// section is one file in the archive and its position in raw.
type section struct {
	name       string
	quoted     bool
	start, end int
}

const (
	wantPrefix   = "want."
	quotedSuffix = " (quoted)"
)

// Read reads one case and fails the test if it is malformed.
func Read(t testing.TB, path string) *Case {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("golden: %v", err)
	}
	c, err := parse(path, raw)
	if err != nil {
		t.Fatalf("golden: %s: %v", path, err)
	}
	c.update = Updating()
	return c
}

func parse(path string, raw []byte) (*Case, error) {
	archive := txtar.Parse(raw)
	c := &Case{Path: path, raw: raw, asked: map[string]bool{}}
	c.Sentence, c.Input = splitOpening(string(archive.Comment))
	if c.Sentence == "" {
		return nil, errors.New("a case opens with a sentence on a line that starts with #")
	}
	seen := map[string]bool{}
	at := min(len(archive.Comment), len(raw))
	for _, f := range archive.Files {
		if marker := bytes.IndexByte(raw[at:], '\n'); marker >= 0 {
			at += marker + 1
		} else {
			at = len(raw) // a marker without a newline ends the file
		}
		end := min(at+len(f.Data), len(raw)) // the parser may have added the last newline
		name, quoted := strings.CutSuffix(f.Name, quotedSuffix)
		if seen[name] {
			return nil, fmt.Errorf("section %s is there twice", name)
		}
		seen[name] = true
		c.sections = append(c.sections, section{name, quoted, at, end})
		at = end
	}
	return c, nil
}

// splitOpening separates the # lines from the input after them.
func splitOpening(opening string) (sentence, input string) {
	var words []string
	rest := opening
	for {
		line, after, more := strings.Cut(rest, "\n")
		text, isComment := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !isComment && strings.TrimSpace(line) != "" {
			break
		}
		if text = strings.TrimSpace(text); text != "" {
			words = append(words, text)
		}
		rest = after
		if !more {
			break
		}
	}
	return strings.Join(words, " "), strings.TrimSpace(rest)
}

// Section returns a section's unquoted content and whether it exists.
func (c *Case) Section(name string) (string, bool) {
	c.asked[name] = true
	for _, s := range c.sections {
		if s.name == name {
			return c.content(s), true
		}
	}
	return "", false
}

// Sections lists the names with a prefix, in file order, such as "want.files/".
func (c *Case) Sections(prefix string) []string {
	var names []string
	for _, s := range c.sections {
		if strings.HasPrefix(s.name, prefix) {
			c.asked[s.name] = true
			names = append(names, s.name)
		}
	}
	return names
}

// Layout writes all sections but the wants as files under dir.
func (c *Case) Layout(t testing.TB, dir string) {
	t.Helper()
	for _, s := range c.sections {
		if strings.HasPrefix(s.name, wantPrefix) {
			continue
		}
		if !filepath.IsLocal(s.name) {
			t.Fatalf("golden: %s: section %s leaves the folder of the case", c.Path, s.name)
		}
		path := filepath.Join(dir, filepath.FromSlash(s.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("golden: %v", err)
		}
		if err := os.WriteFile(path, []byte(c.content(s)), 0o644); err != nil {
			t.Fatalf("golden: %v", err)
		}
	}
}

// Want compares got with a section ("want.output") if it exists; with -update it rewrites a
// differing section.
func (c *Case) Want(t testing.TB, name, got string) {
	t.Helper()
	c.asked[name], c.compares = true, true
	for _, s := range c.sections {
		if s.name != name {
			continue
		}
		want, have := c.written(s), encode(s, got)
		switch {
		case want == have:
		case c.update:
			c.rewrite(t, s, have)
		default:
			t.Errorf("%s: %s differs (-want +got; -update rewrites it):\n%s", c.Path, name, cmp.Diff(lines(want), lines(have)))
		}
		return
	}
}

// Demand is Want for a section that the input names: it fails if the section is missing.
func (c *Case) Demand(t testing.TB, name, got string) {
	t.Helper()
	if _, ok := c.Section(name); !ok {
		t.Errorf("%s: the section %s is missing; write -- %s -- and fill it with -update", c.Path, name, name)
	}
	c.Want(t, name, got)
}

// idle lists unused want sections, to catch misspelled names.
func (c *Case) idle() (names []string) {
	for _, s := range c.sections {
		if c.compares && strings.HasPrefix(s.name, wantPrefix) && !c.asked[s.name] {
			names = append(names, s.name)
		}
	}
	return names
}

// rewrite replaces one section in the file and keeps every other byte.
func (c *Case) rewrite(t testing.TB, s section, have string) {
	t.Helper()
	raw := bytes.Clone(c.raw[:s.start])
	if !bytes.HasSuffix(raw, []byte("\n")) {
		raw = append(raw, '\n')
	}
	raw = append(append(raw, have...), c.raw[s.end:]...)
	next, err := parse(c.Path, raw)
	if err == nil && next.shape() != c.shape() {
		err = errors.New("the value holds a line that looks like a section marker; name the section \"" + s.name + quotedSuffix + "\"")
	}
	if err == nil {
		err = os.WriteFile(c.Path, raw, 0o644)
	}
	if err != nil {
		t.Errorf("golden: %s: update %s: %v", c.Path, s.name, err)
		return
	}
	c.raw, c.sections = raw, next.sections
}

// shape returns the list of sections, which a rewrite must not change.
func (c *Case) shape() string {
	var b strings.Builder
	for _, s := range c.sections {
		fmt.Fprintf(&b, "%s %t\n", s.name, s.quoted)
	}
	return b.String()
}

// written returns a section's raw text, ended by a newline unless empty.
func (c *Case) written(s section) string { return endLine(string(c.raw[s.start:s.end])) }

// content returns a section as the test sees it.
func (c *Case) content(s section) string {
	if s.quoted {
		return unquote(c.written(s))
	}
	return c.written(s)
}

// lines makes a diff readable line by line.
func lines(s string) []string { return strings.SplitAfter(s, "\n") }

func endLine(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return s
}
