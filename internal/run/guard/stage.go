package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/session"
	"adze/toolset"
)

// Stage is the view of the workspace for turns whose changes are reviewed once: toolset.Stage. It
// exists from a turn's first call until the user's decision, even across processes.
type Stage struct {
	guard *Guard
	name  string // unique in the workspace

	mu       sync.Mutex
	view     *sandbox.Stage  // nil if none
	review   *sandbox.Staged // review of the unmounted view; nil if not yet created
	failed   error           // why this turn has no view
	deciding atomic.Bool     // the user's own call is deciding
}

// StageOf creates a session's stage, which is empty until a turn needs it.
func (g *Guard) StageOf(id session.ID) *Stage {
	g.stage = &Stage{guard: g, name: sandbox.StageName(string(id))}
	g.closers = append(g.closers, g.stage.close)
	return g.stage
}

// begun returns the stage that calls work on, or nil for the workspace.
func (g *Guard) begun() *Stage {
	if g.stage != nil && g.settings.Root.Staged() != nil {
		return g.stage
	}
	return nil
}

// unstaged returns why calls do not work on a stage, or "".
func (g *Guard) unstaged() string {
	switch {
	case g.begun() != nil:
		return ""
	case g.stage == nil:
		return "there is none for this session"
	}
	g.stage.mu.Lock()
	defer g.stage.mu.Unlock()
	if g.stage.failed != nil {
		return g.stage.failed.Error()
	}
	return "it begins with the next prompt"
}

// Wanted reports whether turns begin on a stage.
func (s *Stage) Wanted() bool { return s != nil && s.guard.Gate.Mode().OnStage() }

// Begin lets a turn's calls work on the stage and creates it if needed. It does nothing in another
// mode.
func (s *Stage) Begin() error {
	if !s.Wanted() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = s.begin()
	return s.failed
}

func (s *Stage) begin() error {
	g := s.guard
	if why := g.Cage.Unstaged(); why != "" {
		return fmt.Errorf("review: once needs a view of the workspace, which there cannot be: %s; use review: each", why)
	}
	if s.view == nil {
		var err error
		if s.view, err = g.Cage.Box.Stage(s.name); err != nil {
			return fmt.Errorf("review: once: %w; use review: each", err)
		}
	}
	s.review = nil
	if err := s.view.Mount(); err != nil {
		return fmt.Errorf("review: once: %w", err)
	}
	if err := g.settings.Root.Stage(s.view.Folder()); err != nil {
		s.view.Unmount()
		return fmt.Errorf("review: once: %w; use review: each", err)
	}
	return nil
}

// find opens a stage left by an earlier process or turn.
func (s *Stage) find() error {
	if s.view != nil {
		return nil
	}
	if !s.MayExist() {
		return nil
	}
	view, err := s.guard.Cage.Box.Stage(s.name)
	if err != nil {
		return fmt.Errorf("the changes that an earlier turn left on a view cannot be opened: %w", err)
	}
	s.view = view
	return nil
}

// End returns calls to the workspace. It removes an empty stage.
func (s *Stage) End() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view == nil {
		return nil
	}
	s.guard.settings.Root.Unstage()
	s.view.Unmount()
	if err := s.look(); err != nil {
		return err
	}
	if s.review != nil && s.review.Empty() {
		return s.drop()
	}
	return nil
}

// MayExist reports whether a stage may exist, with a single file lookup.
func (s *Stage) MayExist() bool {
	return sandbox.HasStage(s.guard.settings.Places.State, s.guard.settings.Root.Dir(), s.name)
}

// look creates the review if there is a stage.
func (s *Stage) look() error {
	if err := s.find(); err != nil || s.view == nil || s.review != nil {
		return err
	}
	if s.guard.settings.Root.Staged() != nil {
		return errors.New("a turn works on the view; wait until it has ended")
	}
	var err error
	s.review, err = s.view.Review()
	return err
}

func (s *Stage) drop() error {
	view := s.view
	s.view, s.review = nil, nil
	return view.Drop()
}

// Waits reports whether changes wait for a decision.
func (s *Stage) Waits() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.look() == nil && s.review != nil && !s.review.Empty()
}

// Decide runs the user's own call about the stage.
func (s *Stage) Decide(call func()) {
	s.deciding.Store(true)
	defer s.deciding.Store(false)
	call()
}

// Review returns the stage's contents: toolset.Stage. It fails for a model's call.
func (s *Stage) Review() (toolset.Staged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.deciding.Load() {
		return toolset.Staged{}, toolset.ErrNotYours
	}
	return s.shown()
}

// Peek returns the stage's contents for the user.
func (s *Stage) Peek() (toolset.Staged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown()
}

func (s *Stage) shown() (toolset.Staged, error) {
	if err := s.look(); err != nil || s.view == nil {
		return toolset.Staged{}, err
	}
	out := toolset.Staged{Files: s.review.Files, Skipped: s.review.Skipped, Conflicts: s.review.Conflicts}
	out.Commands, out.Hosts = s.notes()
	return out, nil
}

// Take applies all choices or nothing: toolset.Stage.
func (s *Stage) Take(tag string, choices []proc.FileChoice) (proc.Findings, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.review == nil || !s.deciding.Load() {
		return proc.Findings{}, toolset.ErrNotYours
	}
	found, err := s.review.Take(tag, choices)
	s.review = nil
	if err == nil {
		s.view = nil
	}
	return found, err
}

// Drop removes the stage and its changes: toolset.Stage.
func (s *Stage) Drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view == nil || !s.deciding.Load() {
		return toolset.ErrNotYours
	}
	return s.drop()
}

// close leaves waiting changes for the next process.
func (s *Stage) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view != nil {
		s.guard.settings.Root.Unstage()
		_ = s.view.Leave() // found again by its name
		s.view, s.review = nil, nil
	}
}

// Limits for recorded commands.
const (
	mostNoted  = 500       // shown commands and hosts
	noteLength = 1 << 10   // bytes per command
	notesSize  = 512 << 10 // bytes per file
)

// ran records a command on the stage for the review.
func (s *Stage) ran(c toolset.RanCommand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view == nil {
		return
	}
	if len(c.Command) > noteLength {
		c.Command = strings.ToValidUTF8(c.Command[:noteLength], "") + " …"
	}
	data, err := json.Marshal(c)
	if err != nil {
		return
	}
	f, err := os.OpenFile(s.view.Notes(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() < notesSize {
		_, _ = f.Write(append(data, '\n')) // the session's log has every command
	}
}

// notes returns the recorded commands and requested hosts.
func (s *Stage) notes() (commands []toolset.RanCommand, hosts []string) {
	data, err := os.ReadFile(s.view.Notes())
	if err != nil {
		return nil, nil
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		var c toolset.RanCommand
		if json.Unmarshal([]byte(line), &c) != nil {
			continue // truncated by a kill
		}
		for _, h := range c.Hosts {
			if !seen[h] && len(hosts) < mostNoted {
				hosts = append(hosts, h)
			}
			seen[h] = true
		}
		if len(commands) < mostNoted {
			commands = append(commands, c)
		}
	}
	return commands, hosts
}
