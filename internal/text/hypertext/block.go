package hypertext

import (
	"strings"

	"adze/internal/text/highlight"
	"adze/tool"
)

// Block renders a tool call's block as HTML.
func Block(b tool.Block) string {
	w := &writer{}
	if b.Title != "" {
		w.WriteString(`<p class="title">`)
		w.plain(b.Title)
		w.WriteString("</p>\n")
	}
	switch b.Kind {
	case tool.DiffBlock:
		w.diff(b.Path, b.Text)
	case tool.CodeBlock:
		if b.Line > 0 {
			w.numbered(b.Path, b.Text, b.Line)
		} else {
			w.code(highlight.ForFile(b.Path), b.Path, strings.TrimSuffix(b.Text, "\n"))
		}
	case tool.OutputBlock:
		w.output(b.Text, b.Total)
	case tool.MarkdownBlock:
		text, _ := Prose(b.Text, nil)
		w.WriteString(`<div class="prose">` + text + "</div>\n")
	case tool.ListBlock, tool.ChecklistBlock:
		w.items(b)
	default:
		w.WriteString(`<p class="words">`)
		w.prose(b.Text)
		w.WriteString("</p>\n")
	}
	return w.String()
}

func (w *writer) items(b tool.Block) {
	class := "items"
	if b.Kind == tool.ChecklistBlock {
		class = "todos"
	}
	w.WriteString(`<ul class="` + class + `">`)
	for _, it := range b.Items {
		w.item(it, b.Kind == tool.ChecklistBlock)
	}
	w.WriteString("</ul>\n")
}

func (w *writer) item(it tool.Item, check bool) {
	w.WriteString("<li")
	if check {
		class, sign, says := state(it.State)
		w.WriteString(` class="` + class + `"><span class="task" role="img" aria-label="` + says + `">` + sign + "</span> <span")
	}
	w.WriteString(">")
	w.plain(it.Text)
	if it.Note != "" {
		w.WriteString(` <span class="dim">`)
		w.plain(it.Note)
		w.WriteString("</span>")
	}
	if check {
		w.WriteString("</span>")
	}
	w.WriteString("</li>")
}

func state(s string) (class, sign, says string) {
	switch s {
	case "in_progress":
		return "now", "◐", "in progress"
	case "completed":
		return "done", "☑", "done"
	case "cancelled":
		return "off", "☒", "cancelled"
	}
	return "todo", "☐", "to do"
}

// PictureType detects an image's media type from its content. It returns "" for formats that
// browsers do not show safely.
func PictureType(data []byte) string {
	head := string(data[:min(len(data), 16)])
	switch {
	case strings.HasPrefix(head, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(head, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(head, "GIF87a"), strings.HasPrefix(head, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(head, "RIFF") && len(head) == 16 && head[8:14] == "WEBPVP":
		return "image/webp"
	}
	return ""
}
