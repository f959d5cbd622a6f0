package transcript

// Prompt is a user message to which the conversation can return.
type Prompt struct{ Message, Text string }

// Prompts returns the user's messages, newest first.
func (t *Pane) Prompts() (out []Prompt) {
	for i := len(t.entries) - 1; i >= 0; i-- {
		if e, ok := t.entries[i].(*userEntry); ok && !e.own {
			out = append(out, Prompt{e.message, e.text.String()})
		}
	}
	return out
}
