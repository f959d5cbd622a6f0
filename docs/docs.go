// Package docs holds the pages of the documentation, one a topic, which adze help shows.
//
// Start reading at Pages.
package docs

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// Page is one topic.
type Page struct {
	Topic string // the word behind adze help
	Title string // its first heading
	Text  string // Markdown, without the first heading
}

// topics are the pages in the order in which they are listed.
func topics() []string {
	return []string{"start", "providers", "permissions", "sandbox", "sessions", "undoing", "projects", "hooks", "servers",
		"editors", "scripts", "lines", "batches", "configuration", "inspect", "promises"}
}

// Pages returns all pages.
func Pages() []Page {
	var out []Page
	for _, topic := range topics() {
		raw, _ := files.ReadFile(topic + ".md") // embedded; a test reads each
		title, text, _ := strings.Cut(string(raw), "\n")
		out = append(out, Page{topic, strings.TrimPrefix(title, "# "), strings.Trim(text, "\n")})
	}
	return out
}

// Section returns the text below a heading of a page, or "".
func Section(topic, heading string) string {
	raw, _ := files.ReadFile(topic + ".md")
	_, text, found := strings.Cut(string(raw), "\n## "+heading+"\n")
	if !found {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.Trim(text, "\n")
}
