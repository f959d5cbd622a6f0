package conversation

import (
	"context"
	"strings"
	"time"

	"adze/internal/project/instructions"
)

// system returns a run's system prompt and adds notices about its hidden parts.
func (w *Conversation) system(ctx context.Context, name string) (string, error) {
	s := w.Settings
	o := &s.Request
	source := o.Instructions()
	if _, offered := w.Set.Get("skill"); offered {
		source.Skills = w.shelf.Index(ctx, o.Asked, name == "local")
	}
	w.Room = instructions.New(source, s.Ours())
	w.closers = append(w.closers, func() { w.Room.Close() })
	text, err := w.Room.Render(name, time.Now())
	if err != nil {
		return "", err
	}
	w.Notices = append(w.Notices, w.Room.Notices()...)
	return s.Masked(text), nil
}

// HidePiped masks secrets in the piped part of a prompt, but not in the user's own words.
func (w *Conversation) HidePiped(prompt, words string) string {
	piped := strings.TrimPrefix(prompt, words)
	hidden := w.Settings.Masked(piped)
	if hidden == piped {
		return prompt
	}
	w.Notices = append(w.Notices, "the model gets what was piped in with its secrets masked; \"show_secrets\": true in your configuration shows them")
	return strings.TrimSuffix(prompt, piped) + hidden
}
