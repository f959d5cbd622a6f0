package skills

import (
	"context"

	"adze/internal/project/discovery"
	"adze/prompts"
	"adze/session"
)

// State describes a skill's part in a conversation, in a word and a reason: its text (used), a line
// of the index (described), its name in the index (named), or not shown (narrowed).
func State(ctx context.Context, i discovery.Item, system string, history []session.Message) (state, why string) {
	off, _ := i.FrontMatter.Bool("disable-model-invocation")
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
	if !indexed {
		return "unused", "no skills are offered"
	}
	state, why = discovery.Indexed(index, i.Name)
	return state, why + "; the tool skill loads it"
}
