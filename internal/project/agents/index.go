package agents

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

// Index tells a model which agents it may give a task to, beside those built in, which the tool
// itself names; if empty, none. Where all have no room, some lose their descriptions, then their
// names. It is the same in each session of a folder, so that a provider's cache holds.
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

// State is what the index of a system prompt has of an agent, in a word and a reason, with what of
// its file is not followed. indexed says whether there is an index. leads is the label of the agent
// that leads the conversation; if empty, none.
func (k Kind) State(index string, indexed bool, leads string) (state, why string) {
	switch {
	case k.Problem != "":
		return "broken", k.Problem
	case k.Label() == leads:
		state, why = "used", "it leads this conversation"
	case k.By != "":
		state, why = "shadowed", "by "+k.By+"; "+k.Label()+" is it all the same"
	case !k.Task:
		state, why = "unused", "it only leads a conversation: --agent "+k.Name
	case !indexed:
		state, why = "unused", "the model is not told of agents; @"+k.Name+" gives it a task"
	default:
		state, why = k.indexed(index)
	}
	return state, strings.Join(append([]string{why}, k.Notes...), "; ")
}

func (k Kind) indexed(index string) (state, why string) {
	for line := range strings.Lines(index) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "- "+k.Name && k.Description != "":
			return "named", "in the index, without its description: that has no room"
		case line == "- "+k.Name, strings.HasPrefix(line, "- "+k.Name+": "):
			return "described", "in the index"
		}
	}
	return "narrowed", "the index has no room; task and @" + k.Name + " take its name"
}

// short is a description that fits a line.
func short(text string) string {
	if len(text) <= maxLineOf {
		return text
	}
	return strings.ToValidUTF8(text[:maxLineOf], "") + "…"
}
