package run

import (
	"context"

	"adze/internal/config"
	"adze/internal/policy"
	"adze/internal/run/conversation"
	"adze/internal/stream/ask"
	"adze/tool"
)

// put asks the user a question from the model, or about its plan.
func (s *interactiveRun) put(ctx context.Context, q ask.Question) (string, error) {
	return s.ui.Inquire(ctx, q)
}

// rewrite opens text in the user's external editor.
func (s *interactiveRun) rewrite(ctx context.Context, text string) (string, error) {
	return s.ui.Write(ctx, text)
}

// askPerson asks the user for permission and saves a rule on request.
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
