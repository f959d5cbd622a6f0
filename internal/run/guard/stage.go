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

// Stage is the view of the workspace that turns work on whose changes are reviewed once:
// toolset.Stage. It lasts from the first call of a turn until the user has decided about it, also
// beyond the process.
type Stage struct {
	guard *Guard
	name  string // among those of the workspace

	mu       sync.Mutex
	view     *sandbox.Stage  // if nil, there is none
	review   *sandbox.Staged // of the view, when it is not mounted; if nil, not looked at yet
	failed   error           // why there is no view in this turn
	deciding atomic.Bool     // a call of the user's own is about it
}

// StageOf makes the stage of a session. Nothing is there before a turn needs it.
func (g *Guard) StageOf(id session.ID) *Stage {
	g.stage = &Stage{guard: g, name: sandbox.StageName(string(id))}
	g.closers = append(g.closers, g.stage.close)
	return g.stage
}

// begun is the stage that calls work on now; if nil, they work on the workspace.
func (g *Guard) begun() *Stage {
	if g.stage != nil && g.settings.Root.Staged() != nil {
		return g.stage
	}
	return nil
}

// unstaged says why calls do not work on a stage now. It is empty where they do.
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

// Wanted reports that turns begin on a stage now.
func (s *Stage) Wanted() bool { return s != nil && s.guard.Gate.Mode().OnStage() }

// Begin has the calls of a turn work on the stage, and makes it where there is none. Nothing is
// done where the mode is another.
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

// find opens the stage that an earlier process, or turn, has left.
func (s *Stage) find() error {
	if s.view != nil {
		return nil
	}
	if !s.There() {
		return nil
	}
	view, err := s.guard.Cage.Box.Stage(s.name)
	if err != nil {
		return fmt.Errorf("the changes that an earlier turn left on a view cannot be opened: %w", err)
	}
	s.view = view
	return nil
}

// End has calls work on the workspace itself again. A stage that holds nothing is over.
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

// There reports that there may be something that waits, at the price of one look.
func (s *Stage) There() bool {
	return sandbox.HasStage(s.guard.settings.At.State, s.guard.settings.Root.Dir(), s.name)
}

// look makes the review, where there is a stage.
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

// Waits reports that changes wait for a decision.
func (s *Stage) Waits() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.look() == nil && s.review != nil && !s.review.Empty()
}

// Decide runs a call of the user's own about the stage.
func (s *Stage) Decide(call func()) {
	s.deciding.Store(true)
	defer s.deciding.Store(false)
	call()
}

// Review returns the content of the stage: toolset.Stage. It is an error where only a model asks.
func (s *Stage) Review() (toolset.Staged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.deciding.Load() {
		return toolset.Staged{}, toolset.ErrNotYours
	}
	return s.shown()
}

// Peek returns the content of the stage, for the user.
func (s *Stage) Peek() (toolset.Staged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown()
}

func (s *Stage) shown() (toolset.Staged, error) {
	if err := s.look(); err != nil || s.view == nil {
		return toolset.Staged{}, err
	}
	out := toolset.Staged{Files: s.review.Files, Left: s.review.Left, Conflicts: s.review.Conflicts}
	out.Commands, out.Hosts = s.notes()
	return out, nil
}

// Take applies what is chosen, or nothing: toolset.Stage.
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

// Drop ends the stage with all that it holds: toolset.Stage.
func (s *Stage) Drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view == nil || !s.deciding.Load() {
		return toolset.ErrNotYours
	}
	return s.drop()
}

// close leaves the changes that wait to the next process.
func (s *Stage) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view != nil {
		s.guard.settings.Root.Unstage()
		_ = s.view.Leave() // it is found again by its name
		s.view, s.review = nil, nil
	}
}

// Bounds of what is kept of commands.
const (
	mostNoted  = 500       // commands and hosts that are shown
	noteLength = 1 << 10   // bytes of one command
	notesSize  = 512 << 10 // bytes of the file
)

// ran notes a command that worked on the stage, for its review.
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
		_, _ = f.Write(append(data, '\n')) // the log of the session has every command
	}
}

// notes lists the commands that ran and the hosts that were asked for.
func (s *Stage) notes() (commands []toolset.RanCommand, hosts []string) {
	data, err := os.ReadFile(s.view.Notes())
	if err != nil {
		return nil, nil
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		var c toolset.RanCommand
		if json.Unmarshal([]byte(line), &c) != nil {
			continue // a kill cut it
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
