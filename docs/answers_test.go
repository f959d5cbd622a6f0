package docs

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// question is a line of testdata/questions.txt.
type question struct{ asks, page, words string }

func questions(t *testing.T) (out []question) {
	t.Helper()
	raw, err := os.ReadFile("testdata/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
		if len(parts) != 3 {
			t.Fatalf("%q is not question | page | words", line)
		}
		out = append(out, question{parts[0], parts[1], parts[2]})
	}
	return out
}

// linked are the pages that a text links to, as paths from the root of the tree.
func linked(text, folder string) (out []string) {
	for _, m := range regexp.MustCompile(`\]\(([^():]+\.md)(?:#[^)]*)?\)`).FindAllStringSubmatch(text, -1) {
		out = append(out, path.Join(folder, m[1]))
	}
	return out
}

// reached follows the links of a page at most so often, and returns the pages with the number of
// links to each.
func reached(t *testing.T, from string, most int) map[string]int {
	t.Helper()
	out, next := map[string]int{from: 0}, []string{from}
	for n := 1; n <= most; n++ {
		pages := next
		next = nil
		for _, page := range pages {
			raw, err := os.ReadFile(path.Join("..", page))
			if err != nil {
				t.Errorf("a page links to one that is not there: %v", err)
			}
			for _, to := range linked(string(raw), path.Dir(page)) {
				if _, known := out[to]; !known {
					out[to] = n
					next = append(next, to)
				}
			}
		}
	}
	return out
}

// TestQuestionsAreAnswered finds the page of each question within two links from the README, and
// the words of its answer there.
func TestQuestionsAreAnswered(t *testing.T) {
	pages := reached(t, "README.md", 2)
	asked := questions(t)
	if len(asked) < 40 {
		t.Errorf("there are %d questions, want 40", len(asked))
	}
	for _, q := range asked {
		if _, ok := pages["docs/"+q.page+".md"]; !ok {
			t.Errorf("%s: %s is not reached within two links from the README", q.asks, q.page)
		}
		if text := strings.Join(strings.Fields(Text(q.page)), " "); !strings.Contains(text, q.words) {
			t.Errorf("%s: %s does not say %q", q.asks, q.page, q.words)
		}
	}
	for _, p := range Topics() {
		if _, ok := pages["docs/"+p+".md"]; !ok {
			t.Errorf("no two links from the README lead to %s", p)
		}
	}
}

// TestLinksLeadSomewhere looks for the file of each link between the documents.
func TestLinksLeadSomewhere(t *testing.T) {
	found := 0
	for _, p := range Topics() {
		for _, to := range linked(Text(p), "docs") {
			found++
			if _, err := os.Stat(path.Join("..", to)); err != nil {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d links were found", found)
	}
}

// TestTheREADMEIsShort holds it to what is read at once.
func TestTheREADMEIsShort(t *testing.T) {
	raw, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(raw)))
	if len(lines) > 120 {
		t.Errorf("it has %d lines, want at most 120", len(lines))
	}
	for n, line := range lines {
		if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 100 {
			t.Errorf("line %d has %d columns, want at most 100", n+1, width)
		}
	}
}
