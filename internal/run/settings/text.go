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

// Ours returns the places of instruction files for this run.
func (s *Settings) Ours() instructions.Place {
	return instructions.Place{Own: s.At.Config, Home: s.Home, Dir: s.Root.Dir(), Shell: proc.FindShell(os.Getenv, os.Environ()).Name}
}

// Masked masks the user's secrets in text sent to the model before any call.
func (s *Settings) Masked(text string) string {
	if s.Hide == nil {
		return text
	}
	return s.Hide().Text(text)
}

// Marked returns a function that masks secrets in results and adds a note, or nil if the model sees
// them.
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

// PlanFile returns the path of a session's plan, or "" if nothing is saved.
func (s *Settings) PlanFile(id session.ID) string {
	if id == "" || !s.Request.Saves() {
		return ""
	}
	return filepath.Join(s.At.State, "plans", string(id)+".md")
}

// Defaults returns the settings for later sessions.
func (s *Settings) Defaults() hostio.Defaults {
	return hostio.Defaults{File: s.File, May: func() error { return s.ByUser("the configuration") }}
}
