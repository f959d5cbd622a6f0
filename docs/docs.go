// Package docs holds the pages of the documentation, one a topic, which adze help shows.
//
// Start reading at Topics.
package docs

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// Topic is one page.
type Topic struct {
	Name  string // the word behind adze help
	Title string // the first heading of the page
}

// Topics returns the pages in the order in which they are listed. It reads none.
func Topics() []Topic {
	return []Topic{
		{"start", "Start"},
		{"providers", "Models and their providers"},
		{"permissions", "Permissions"},
		{"sandbox", "The sandbox"},
		{"windows", "Windows and macOS"},
		{"sessions", "Sessions"},
		{"undoing", "Undo"},
		{"projects", "What a project and you bring"},
		{"hooks", "Hooks"},
		{"servers", "MCP servers"},
		{"editors", "Editors, browsers and other interfaces"},
		{"remote", "From a phone or another machine"},
		{"scripts", "Scripts and CI"},
		{"ci", "Pull requests in CI"},
		{"lines", "A conversation over stdin and stdout"},
		{"teams", "Teams and fleets"},
		{"batches", "Many repositories, many machines"},
		{"troubleshooting", "Troubleshooting"},
		{"configuration", "Configuration"},
		{"settings", "Settings"},
		{"commands", "Commands"},
		{"inspect", "Looking inside"},
		{"promises", "What is promised"},
	}
}

// Text returns a page as Markdown, or "" where there is none of the name.
func Text(topic string) string {
	raw, err := files.ReadFile(topic + ".md")
	if err != nil {
		return ""
	}
	return string(raw)
}

// Section returns the text below a heading of a page, or "".
func Section(topic, heading string) string {
	_, text, _ := strings.Cut(Text(topic), "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.Trim(text, "\n")
}
