package settings

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/files/git"
	"adze/internal/llm/models"
	"adze/internal/project/instructions"
	"adze/internal/project/worktree"
	"adze/internal/run/process"
	"adze/internal/sandbox/proc"
	"adze/internal/text/redact"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
	"adze/session"
)

// InstructionPlaces returns the places of instruction files for this run.
func (s *Settings) InstructionPlaces() instructions.Place {
	return instructions.Place{AdzeDir: s.Places.Config, Home: s.Home, Dir: s.Root.Dir(), Shell: proc.FindShell(os.Getenv, os.Environ()).Name}
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
	return filepath.Join(s.Places.State, "plans", string(id)+".md")
}

// Keep stores the user's choice for later sessions in the configuration: "model", "interface.theme"
// or "interface.keys".
func (s *Settings) Keep(name, value string) error {
	if err := s.ByUser("the configuration"); err != nil {
		return err
	}
	return config.Keep(s.File, name, value)
}

// Kept returns such a choice, or "" if the configuration is invalid.
func (s *Settings) Kept(name string) string {
	cfg, err := config.Load(s.File)
	if err != nil {
		return ""
	}
	return map[string]string{
		"model": cfg.Model, "interface.theme": cmp.Or(cfg.Interface.Theme, config.Themes()[0]), "interface.keys": cmp.Or(cfg.Interface.Keys, config.Keys()[0]),
	}[name]
}

// Undoing returns the undo options for a folder.
func (s *Settings) Undoing(root string) recorder.Options {
	return recorder.Options{Options: undo.Options{
		Root: root, State: recorder.Store(s.Places.Undo, root), Home: paths.Absolute(s.Home), Excluded: []string{s.Places.State},
	}}
}

// TreesOf returns the work tree manager for runs that begin in a folder.
func TreesOf(p *process.Process, cfg config.Config, dir string) worktree.Manager {
	return worktree.Manager{Git: Repositories(cfg, dir), State: paths.FromEnv(p.Getenv).State, Copy: cfg.Worktree.Copy}
}

// Repositories returns git for the user's operations in a folder.
func Repositories(cfg config.Config, dir string) git.Git {
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: cfg.Environment, Secrets: models.KeyNames(cfg)})
	return git.Git{Env: proc.WithoutPathsIn(env, dir), Timeout: checkoutTime}
}

// checkoutTime limits one git process: a checkout of a large tree on a slow disk.
const checkoutTime = 10 * time.Minute
