package docs

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestEveryPageIsListed compares the topics with the files, and each page with the rules for pages.
func TestEveryPageIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, p := range Topics() {
		listed[p+".md"] = true
		text := Text(p)
		if !regexp.MustCompile("^# .+\n\n[^#\n ]").MatchString(text) {
			t.Errorf("%s does not begin with a heading and what one does there", p)
		}
		for n, line := range strings.Split(text, "\n") {
			table := strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ")
			if utf8.RuneCountInString(line) > 130 && !table && !strings.Contains(line, " · ") {
				t.Errorf("%s, line %d has %d letters", p, n+1, utf8.RuneCountInString(line))
			}
		}
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !listed[e.Name()] {
			t.Errorf("%s is not among the topics", e.Name())
		}
	}
}

// TestPagesNameTopicsThatExist follows each "adze help TOPIC" from one page to another.
func TestPagesNameTopicsThatExist(t *testing.T) {
	known := map[string]bool{"keys": true} // a page that the command line makes
	for _, p := range Topics() {
		known[p] = true
		raw, err := files.ReadFile(p + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("\n<!-- adze help ([a-z]+) -->\n").FindAllStringSubmatch(string(raw), -1) {
			known[m[1]] = true
			if text := Text(m[1]); len(text) < 500 || !strings.HasPrefix(text, "# ") || strings.Contains(text, "\n# ") || strings.Contains(text, "<!--") {
				t.Errorf("%s shows %.60q", m[1], text)
			}
		}
	}
	if len(known) < 26 || Text("hook") != "" {
		t.Errorf("%d names of pages and sections", len(known))
	}
	found := 0
	for _, p := range Topics() {
		for _, m := range regexp.MustCompile("adze help ([a-z]+)").FindAllStringSubmatch(Text(p), -1) {
			found++
			if !known[m[1]] {
				t.Errorf("%s names the topic %s, which is not there", p, m[1])
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d topics are named", found)
	}
	if Section("providers", "Two lines for each") == "" || Section("sandbox", "none") != "" {
		t.Error("a section is not found, or one that is not there is")
	}
}
