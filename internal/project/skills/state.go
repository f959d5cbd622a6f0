package skills

import (
	"context"
	"slices"
	"strings"

	"adze/internal/project/discovery"
	"adze/prompts"
	"adze/session"
)

// State is what a conversation with this system prompt has of a skill, in a word and a reason: its
// text (used), a line of the index (described), its name there (named) or nothing that the model
// sees unasked (narrowed).
func State(ctx context.Context, i discovery.Item, system string, history []session.Message) (state, why string) {
	off, _ := i.Front.Bool("disable-model-invocation")
	if state, why = i.State(); why != "" {
		return state, why
	}
	if text, err := i.Read(ctx); err == nil && Holds(history, text.Hash) {
		return "used", "its text is in the conversation"
	}
	if off {
		return "unused", "it says that only a person loads it: /" + i.Name
	}
	index, indexed := prompts.Part(system, "skills")
	lines := strings.Split(index, "\n")
	switch {
	case !indexed:
		return "unused", "no skills are offered"
	case slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "- "+i.Name+": ") }):
		return "described", "in the index; its text is loaded when it is needed"
	case slices.ContainsFunc(lines, func(l string) bool { return slices.Contains(names(l), i.Name) }):
		return "named", "in the index, without its description: that has no room"
	}
	return "narrowed", "the index has no room; the tool skill finds it by a query"
}

// names are those of a line that has no descriptions.
func names(line string) []string {
	list, ok := strings.CutPrefix(line, "- ")
	if !ok || strings.Contains(list, ": ") {
		return nil
	}
	return strings.Split(list, ", ")
}
