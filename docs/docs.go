// Package docs holds the pages of the documentation, which adze help shows.
//
// The one rule: a section with a mark, <!-- adze help NAME --> below its heading, is also shown
// alone, by that name.
//
// Start reading at Text.
package docs

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// Topics are the names of the pages, in the order in which they are listed.
func Topics() []string {
	return strings.Fields("start models permissions sessions projects mcp editors scripts batches switching troubleshooting settings commands")
}

const mark, markEnd = "\n<!-- adze help ", " -->\n"

// Text is the page of a topic as Markdown, or a marked section as a page of its own; "" where there
// is none of the name.
func Text(name string) string {
	for _, topic := range Topics() {
		raw, _ := files.ReadFile(topic + ".md") // every topic has its page; a test holds that
		before, after, marked := strings.Cut(string(raw), mark+name+markEnd)
		heading := before[strings.LastIndexByte(before, '\n')+1:]
		switch {
		case name == topic, marked && strings.HasPrefix(heading, "# "):
			return unmarked(string(raw))
		case marked:
			after, _, _ = strings.Cut(heading+"\n"+after, "\n## ")
			return strings.ReplaceAll("\n"+unmarked(strings.TrimRight(after, "\n")+"\n"), "\n##", "\n#")[1:]
		}
	}
	return ""
}

// unmarked is a text without its marks.
func unmarked(text string) string {
	before, after, marked := strings.Cut(text, mark)
	for marked {
		_, after, _ = strings.Cut(after, markEnd)
		text = before + "\n" + after
		before, after, marked = strings.Cut(text, mark)
	}
	return text
}

// Section returns the text below a heading of a page, or "".
func Section(topic, heading string) string {
	_, text, _ := strings.Cut(Text(topic), "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.Trim(text, "\n")
}
