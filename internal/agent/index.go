package agent

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of the index of agents in a system prompt, in bytes: of a description, and of all.
const (
	maxLineOf  = 200
	MaxIndex   = 2000
	SmallIndex = 400 // for a model that reads slowly
)

// Index tells a model which agents it may give a task to, beside those built in, which the tool itself names; empty: none.
// Where all have no room, some lose their descriptions, then their names. It is the same in each session of a folder, so that
// a provider's cache holds.
func (ks Kinds) Index(room int) string {
	var own Kinds
	for _, k := range ks {
		if k.Path != "" && k.Problem == "" && k.Task && k.By == "" {
			own = append(own, k)
		}
	}
	if len(own) == 0 {
		return ""
	}
	slices.SortFunc(own, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	b.WriteString("Give one of these a task with task{agent} where it fits:\n")
	for i, k := range own {
		line := "- " + k.Name
		whole := line
		if k.Description != "" {
			whole += ": " + short(k.Description)
		}
		switch rest := fmt.Sprintf("- and %d more\n", len(own)-i); {
		case b.Len()+len(whole)+1+len(rest) <= room:
			line = whole
		case b.Len()+len(line)+1+len(rest) > room:
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// short is a description that fits a line.
func short(text string) string {
	if len(text) <= maxLineOf {
		return text
	}
	return strings.ToValidUTF8(text[:maxLineOf], "") + "…"
}
