package tool

import (
	"encoding/json"
	"fmt"
	"sort"
)

// BlockKind is a block's style.
type BlockKind string

// Block styles.
const (
	TextBlock      BlockKind = "text"
	CodeBlock      BlockKind = "code"
	DiffBlock      BlockKind = "diff"
	ListBlock      BlockKind = "list"
	ChecklistBlock BlockKind = "checklist"
	OutputBlock    BlockKind = "output"
	MarkdownBlock  BlockKind = "markdown"
)

// A Block is a drawable piece of metadata. Its strings are untrusted; the drawing code sanitizes
// them.
type Block struct {
	Kind  BlockKind `json:"kind"`
	Title string    `json:"title,omitempty"`
	// Text is prose, code, a unified diff, or command output.
	Text string `json:"text,omitempty"`
	// Path determines the language of code and the file name of a diff.
	Path string `json:"path,omitempty"`
	// Line is the first line's number; 0 omits line numbers.
	Line  int    `json:"line,omitempty"`
	Items []Item `json:"items,omitempty"`
	// Total is the number of lines a command printed; Text may hold only the last ones.
	Total int `json:"total,omitempty"`
	// Minor blocks are omitted where space is short.
	Minor bool `json:"minor,omitempty"`
}

// An Item is a row of a list or checklist.
type Item struct {
	Text string `json:"text"`
	Note string `json:"note,omitempty"`
	// State is pending, in_progress, completed or cancelled in a checklist; empty in a list.
	State string `json:"state,omitempty"`
}

// Text returns a block of prose.
func Text(s string) []Block { return []Block{{Kind: TextBlock, Text: s}} }

// Markdown returns a block of prose drawn like answers.
func Markdown(s string) []Block { return []Block{{Kind: MarkdownBlock, Text: s}} }

// Code returns a block of code from path, numbered from line (0: not numbered).
func Code(path, text string, line int) []Block {
	return []Block{{Kind: CodeBlock, Path: path, Text: text, Line: line}}
}

// Diff returns a unified diff for path.
func Diff(path, unified string) []Block {
	return []Block{{Kind: DiffBlock, Path: path, Text: unified}}
}

// List returns a list of plain rows.
func List(rows []string) []Block {
	items := make([]Item, len(rows))
	for i, r := range rows {
		items[i].Text = r
	}
	return []Block{{Kind: ListBlock, Items: items}}
}

// Checklist returns a list of items with states.
func Checklist(items []Item) []Block { return []Block{{Kind: ChecklistBlock, Items: items}} }

// Output returns a block with a command's output.
func Output(title, text string) []Block {
	return []Block{{Kind: OutputBlock, Title: title, Text: text}}
}

// fallbackView draws metadata for a tool without a View, one row for each field.
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
