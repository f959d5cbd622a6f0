package process

import (
	"path/filepath"
	"strings"
	"sync"

	"adze/internal/config"
	configpaths "adze/internal/config/paths"
	"adze/internal/project/hooks"
	"adze/internal/project/trust"
	"adze/session"
	"adze/tool"
)

// OwnFiles detects changes to adze's permission-related files during a call that could cause them.
// A command outside a full sandbox has all of the user's access, so changes are detected, not
// prevented: the user is notified, and this process stops using those files.
type OwnFiles struct {
	mu       sync.Mutex
	paths    []string
	running  map[tool.CallID]bool // calls by tools that start programs
	baseline map[string]string    // file states when the first of these calls began
	mine     bool                 // this process is changing one of them
	changed  []string             // by another cause
}

// Begin sets a run's files.
func (f *OwnFiles) Begin(at configpaths.Places, file string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paths = []string{configpaths.Absolute(file), filepath.Join(at.Config, hooks.File), trust.OpenBook(at.State).Path, at.Managed,
		filepath.Join(filepath.Dir(at.Managed), hooks.File)}
}

func (f *OwnFiles) marks() map[string]string {
	out := make(map[string]string, len(f.paths))
	for _, path := range f.paths {
		out[path] = mark(path)
	}
	return out
}

// Watch reports changes to a run's observer. starts reports whether a tool starts programs, busy
// whether jobs still run.
func (f *OwnFiles) Watch(observe func(session.Event), starts func(name string) bool, busy func() bool) func(session.Event) {
	return func(e session.Event) {
		observe(e)
		if notice := f.heed(e, starts, busy); notice != "" {
			observe(session.Notice{Text: notice})
		}
	}
}

// heed handles an event and returns a notice after a change. While jobs run, a change between two
// calls may be theirs.
func (f *OwnFiles) heed(e session.Event, starts func(name string) bool, busy func() bool) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := e.(type) {
	case session.ToolStart:
		if !starts(e.Tool) {
			break
		}
		if f.running == nil {
			f.running = map[tool.CallID]bool{}
		}
		if f.running[e.Call] = true; f.baseline == nil {
			f.baseline = f.marks()
		}
	case session.ToolEnd:
		if call := e.Outcome.Call; f.running[call] {
			delete(f.running, call)
			return f.compare(len(f.running) > 0 || busy())
		}
	}
	return ""
}

func (f *OwnFiles) compare(goesOn bool) string {
	var fresh []string
	now := f.marks()
	for _, path := range f.paths {
		if f.baseline != nil && now[path] != f.baseline[path] && !f.mine {
			fresh = append(fresh, path)
		}
	}
	f.baseline, f.mine = now, false
	if !goesOn {
		f.baseline = nil
	}
	if f.changed = append(f.changed, fresh...); len(fresh) == 0 {
		return ""
	}
	return "WARNING: " + strings.Join(fresh, " and ") + " changed while a command ran that could do it. " +
		"This adze uses no consent and begins no other session; look at the file, and start adze again when it is yours"
}

// Changes must be called before this process changes one of the files for the user.
func (f *OwnFiles) Changes() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mine = f.baseline != nil
}

// Trusted returns an error once one of the files was changed.
func (f *OwnFiles) Trusted() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.changed) == 0 {
		return nil
	}
	return &config.Error{Path: f.changed[0], Message: "it was changed while a command of this adze ran", Hint: "look at the file, and start adze again when it is yours"}
}
