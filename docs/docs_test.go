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
		listed[p.Name+".md"] = true
		text := Text(p.Name)
		if !strings.HasPrefix(text, "# "+p.Title+"\n\n") {
			t.Errorf("%s does not begin with the heading %q", p.Name, p.Title)
		}
		for n, line := range strings.Split(text, "\n") {
			table := strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ")
			if utf8.RuneCountInString(line) > 130 && !table && !strings.Contains(line, " · ") {
				t.Errorf("%s, line %d has %d letters", p.Name, n+1, utf8.RuneCountInString(line))
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
		known[p.Name] = true
	}
	found := 0
	for _, p := range Topics() {
		for _, m := range regexp.MustCompile("adze help ([a-z]+)").FindAllStringSubmatch(Text(p.Name), -1) {
			found++
			if !known[m[1]] {
				t.Errorf("%s names the topic %s, which is not there", p.Name, m[1])
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d topics are named", found)
	}
	if Section("sandbox", "In short") == "" || Section("sandbox", "none") != "" {
		t.Error("a section is not found, or one that is not there is")
	}
}
