package transcript

// Prompt is a message of the user that the conversation can go back to.
type Prompt struct{ Message, Text string }

// Prompts are the messages of the user, the newest first.
func (t *Pane) Prompts() (out []Prompt) {
	for i := len(t.entries) - 1; i >= 0; i-- {
		if e, ok := t.entries[i].(*userEntry); ok && !e.own {
			out = append(out, Prompt{e.message, e.text.String()})
		}
	}
	return out
}
