package run

import (
	"context"

	"adze/internal/config"
	"adze/internal/policy"
	"adze/internal/run/conversation"
	"adze/internal/stream/ask"
	"adze/tool"
)

// put puts a question of the model, or its plan, to the user.
func (s *interactiveRun) put(ctx context.Context, q ask.Question) (string, error) {
	return s.ui.Inquire(ctx, q)
}

// rewrite lets the user write in their editor.
func (s *interactiveRun) rewrite(ctx context.Context, text string) (string, error) {
	return s.ui.Write(ctx, text)
}

// askPerson shows the gate's question, and saves the rule where the user wants it for ever.
func (s *interactiveRun) askPerson(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	toMode := func(mode policy.Mode) error {
		err := s.w.SetMode(string(mode))
		if err == nil {
			s.ui.InMode(string(mode))
		}
		return err
	}
	return conversation.Asking{Of: s.w, File: config.File(s.app.Getenv, s.w.Settings.At.Config), Ask: s.ui.Ask, Tell: s.ui.Observe, Mode: toMode}.Put(ctx, q, p)
}
