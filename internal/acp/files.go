package acp

// Editor is what the editor does for a conversation.
type Editor struct{}

func (t *thread) editor() Editor { return Editor{} }
