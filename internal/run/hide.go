package run

import (
	"context"
	"strings"
	"time"

	"adze/internal/project/instructions"
	"adze/internal/text/redact"
)

// system is the system prompt of a run, and tells the user what of it they cannot see.
func (s settings) system(ctx context.Context, o *options, name string, w *wired) (string, error) {
	source := o.instructions()
	if _, offered := w.set.Get("skill"); offered {
		source.Skills = w.shelf.Index(ctx, o.asked, name == "local")
	}
	w.room = instructions.New(source, s.ours())
	w.closers = append(w.closers, func() { w.room.Close() })
	text, err := w.room.Render(name, time.Now())
	if err != nil {
		return "", err
	}
	w.notices = append(w.notices, w.room.Notices()...)
	return s.masked(text), nil
}

// ours is where this run reads instructions.
func (s settings) ours() instructions.Place {
	return instructions.Place{Own: s.at.Config, Home: s.home, Dir: s.root.Dir()}
}

// masked is a text that the model gets before it asks for anything, without the user's secrets.
func (s settings) masked(text string) string {
	if s.hide == nil {
		return text
	}
	return s.hide().Text(text)
}

// marked makes the function that hides secrets in what calls give the model, and says so where it
// did; if nil, it sees them.
func (s settings) marked() func(string) string {
	if s.hide == nil {
		return nil
	}
	return func(text string) string {
		hidden := s.hide().Text(text)
		if hidden != text {
			hidden = strings.TrimSuffix(hidden, "\n") + "\n" + redact.Note
		}
		return hidden
	}
}

// instructions is where the system prompt comes from.
func (o *options) instructions() instructions.Source {
	return instructions.Source{System: o.system, Append: o.appendSystem, Bare: o.bare}
}

// hidePiped hides secrets in what of a prompt was piped in, behind the words of the user, who may
// say what they like.
func (w *wired) hidePiped(prompt, words string) string {
	piped := strings.TrimPrefix(prompt, words)
	hidden := w.settings.masked(piped)
	if hidden == piped {
		return prompt
	}
	w.notices = append(w.notices, "the model gets what was piped in with its secrets masked; \"show_secrets\": true in your configuration shows them")
	return strings.TrimSuffix(prompt, piped) + hidden
}
