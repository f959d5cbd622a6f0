package tool

import (
	"encoding/json"
	"fmt"
	"sort"
)

// BlockKind says how a block is drawn.
type BlockKind string

// The display vocabulary.
const (
	TextBlock      BlockKind = "text"
	CodeBlock      BlockKind = "code"
	DiffBlock      BlockKind = "diff"
	ListBlock      BlockKind = "list"
	ChecklistBlock BlockKind = "checklist"
	OutputBlock    BlockKind = "output"
	MarkdownBlock  BlockKind = "markdown"
)

// Block is a drawable piece of metadata. Its strings are foreign text: whoever draws it sanitises
// it.
type Block struct {
	Kind  BlockKind `json:"kind"`
	Title string    `json:"title,omitempty"`
	// Text is prose, code, a unified diff, or command output.
	Text string `json:"text,omitempty"`
	// Path tells the language of code and names the file of a diff.
	Path string `json:"path,omitempty"`
	// Line is the number of the first line of code; if 0, no line numbers.
	Line  int    `json:"line,omitempty"`
	Items []Item `json:"items,omitempty"`
	// Total counts the lines of what a command printed, where Text may be only its end.
	Total int `json:"total,omitempty"`
	// Minor is left out where there is little room.
	Minor bool `json:"minor,omitempty"`
}

// Item is one row of a list or checklist.
type Item struct {
	Text string `json:"text"`
	Note string `json:"note,omitempty"`
	// State is pending, in_progress, completed or cancelled in a checklist; empty in a list.
	State string `json:"state,omitempty"`
}

// Text is one block of prose.
func Text(s string) []Block { return []Block{{Kind: TextBlock, Text: s}} }

// Markdown is one block of prose that is drawn as answers are.
func Markdown(s string) []Block { return []Block{{Kind: MarkdownBlock, Text: s}} }

// Code is one block of code from path, numbered from line (0: not numbered).
func Code(path, text string, line int) []Block {
	return []Block{{Kind: CodeBlock, Path: path, Text: text, Line: line}}
}

// Diff is one unified diff of path.
func Diff(path, unified string) []Block {
	return []Block{{Kind: DiffBlock, Path: path, Text: unified}}
}

// List is one list of plain rows.
func List(rows []string) []Block {
	items := make([]Item, len(rows))
	for i, r := range rows {
		items[i].Text = r
	}
	return []Block{{Kind: ListBlock, Items: items}}
}

// Checklist is one list of items with states.
func Checklist(items []Item) []Block { return []Block{{Kind: ChecklistBlock, Items: items}} }

// Output is what a command printed.
func Output(title, text string) []Block {
	return []Block{{Kind: OutputBlock, Title: title, Text: text}}
}

// fallbackView draws metadata of a tool without a View: one row a field.
func fallbackView(raw json.RawMessage) []Block {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil || len(fields) == 0 {
		return nil
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	sort.Strings(names)
	items := make([]Item, len(names))
	for i, name := range names {
		items[i] = Item{Text: name, Note: fmt.Sprint(fields[name])}
	}
	return []Block{{Kind: ListBlock, Items: items}}
}
