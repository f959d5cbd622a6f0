package settings

import (
	"os"
	"path/filepath"
	"strings"

	"adze/internal/project/instructions"
	"adze/internal/run/hostio"
	"adze/internal/sandbox/proc"
	"adze/internal/text/redact"
	"adze/session"
)

// Ours is where this run reads instructions.
func (s *Settings) Ours() instructions.Place {
	return instructions.Place{Own: s.At.Config, Home: s.Home, Dir: s.Root.Dir(), Shell: proc.FindShell(os.Getenv, os.Environ()).Name}
}

// Masked is a text that the model gets before it asks for anything, without the user's secrets.
func (s *Settings) Masked(text string) string {
	if s.Hide == nil {
		return text
	}
	return s.Hide().Text(text)
}

// Marked makes the function that hides secrets in what calls give the model, and says so where it
// did; if nil, it sees them.
func (s *Settings) Marked() func(string) string {
	if s.Hide == nil {
		return nil
	}
	return func(text string) string {
		hidden := s.Hide().Text(text)
		if hidden != text {
			hidden = strings.TrimSuffix(hidden, "\n") + "\n" + redact.Note
		}
		return hidden
	}
}

// PlanFile is where the plan of a session is kept; if empty, nothing is.
func (s *Settings) PlanFile(id session.ID) string {
	if id == "" || !s.Request.Saves() {
		return ""
	}
	return filepath.Join(s.At.State, "plans", string(id)+".md")
}

// Defaults are the choices that hold for later sessions.
func (s *Settings) Defaults() hostio.Defaults {
	return hostio.Defaults{File: s.File, May: func() error { return s.ByUser("the configuration") }}
}
