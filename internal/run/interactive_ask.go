package run

import (
	"context"

	"adze/internal/config"
	"adze/internal/policy"
	"adze/internal/project/plan"
	"adze/internal/run/conversation"
	"adze/internal/stream/ask"
	"adze/tool"
	"adze/toolset"
)

// review puts a plan of the model to the user.
func (s *sitting) review(ctx context.Context, q plan.Question) (string, error) {
	return s.ui.Inquire(ctx, ask.Question{Title: "the model's plan", Other: "or send it back with your remarks", Text: q.Text, Choices: q.Choices, Said: q.Said, Markdown: true})
}

// rewrite lets the user write in their editor.
func (s *sitting) rewrite(ctx context.Context, text string) (string, error) {
	return s.ui.Write(ctx, text)
}

// askPerson shows the gate's question, and saves the rule where the user wants it for ever.
func (s *sitting) askPerson(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	toMode := func(mode policy.Mode) error {
		err := s.w.SetMode(string(mode))
		if err == nil {
			s.ui.InMode(string(mode))
		}
		return err
	}
	return conversation.Asking{Of: s.w, File: config.File(s.app.Getenv, s.w.Settings.At.Config), Ask: s.ui.Ask, Tell: s.ui.Observe, Mode: toMode}.Put(ctx, q, p)
}

// inquire puts a question of the model to the user.
func (s *sitting) inquire(ctx context.Context, q toolset.Inquiry) (string, error) {
	return s.ui.Inquire(ctx, ask.Question{Title: asksOf(q), Agent: q.Agent, Text: q.Question, Choices: q.Choices, Decides: q.Asks != ""})
}

// asksOf says who asks where it is not the model.
func asksOf(q toolset.Inquiry) string {
	if q.Asks == "" {
		return ""
	}
	return q.Asks + " asks"
}
