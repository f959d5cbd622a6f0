package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// Means is what a sandbox is made with.
type Means string

// The means there are.
const (
	Namespaces Means = "ns"
	Landlock   Means = "landlock"
	Seatbelt   Means = "seatbelt"
	// RestrictedToken is never more than degraded: it holds writes alone.
	RestrictedToken Means = "token"
	None            Means = "none"
)

// Name is a means as a user knows it.
func (m Means) Name() string {
	switch m {
	case Namespaces:
		return "Linux namespaces"
	case Landlock:
		return "Landlock and a filter of system calls"
	case Seatbelt:
		return "macOS Seatbelt"
	case RestrictedToken:
		return "a restricted token"
	}
	return string(m)
}

// Level is how much a sandbox holds.
type Level string

// The levels. Full: every attempt of the self-test was refused. FullLive: the same, of a command
// that works on the live tree, with folders of git read only. Degraded: attempts upon other files
// and the network were refused, and commands have no network at all.
const (
	Full     Level = "full"
	FullLive Level = "full, live"
	Degraded Level = "degraded"
	NoLevel  Level = "none"
)

// Report is what the self-test found of the best means of this machine.
type Report struct {
	Level Level  `json:"level"`
	Means Means  `json:"means"`
	How   string `json:"how"` // for a user: by what, or why not
	// Open is what the sandbox does not hold of what the self-test tried. It is empty where there
	// is nothing.
	Open []string `json:"open,omitempty"`
}

// Level finds out, once, how much a sandbox holds here. The answer is kept for later runs until the
// machine or adze changes.
func (s *Sandbox) Level(ctx context.Context) (Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report != nil {
		return *s.report, nil
	}
	if why := s.unsuitable(); why != "" {
		s.report = &Report{Level: NoLevel, Means: None, How: why}
		return *s.report, nil
	}
	if len(s.o.Means) == 0 {
		if r, ok := recall(s.o.State); ok {
			s.report = &r
			return r, nil
		}
	}
	r, err := s.find(ctx)
	if err != nil {
		return Report{}, err
	}
	if len(s.o.Means) == 0 {
		remember(s.o.State, r)
	}
	s.report = &r
	return r, nil
}

// unsuitable says why there is no sandbox for this workspace, on any machine. It is empty where
// there can be one.
func (s *Sandbox) unsuitable() string {
	switch at := s.workspace.path; {
	case at == filepath.Dir(at):
		return "the workspace is the root folder; start adze in the folder of a project"
	case s.o.Home != "" && s.o.Home != "/" && within(s.o.Home, at):
		return "the workspace is your home folder, or has it inside, and commands in the sandbox see nothing of a home; start adze in the folder of a project"
	}
	return ""
}

// Known is the report where it needs no test.
func (s *Sandbox) Known() (Report, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report == nil && len(s.o.Means) == 0 && s.unsuitable() == "" {
		if r, ok := recall(s.o.State); ok {
			s.report = &r
		}
	}
	if s.report == nil {
		return Report{}, false
	}
	return *s.report, true
}

// find tries the means in turn and takes the first that is full, else the best.
func (s *Sandbox) find(ctx context.Context) (Report, error) {
	means := s.o.Means
	if len(means) == 0 {
		means = usual()
	}
	best := Report{Level: NoLevel, Means: None}
	var why []string
	for _, m := range means {
		found, err := s.test(ctx, m)
		if ctx.Err() != nil {
			return Report{}, context.Cause(ctx)
		}
		switch {
		case err != nil:
			why = append(why, fmt.Sprintf("%s: %v", m, err))
			continue
		case len(found.escaped) > 0:
			why = append(why, fmt.Sprintf("%s does not hold: %s", m, strings.Join(found.escaped, ", ")))
		}
		if level := found.level(m); best.Level == NoLevel && level != NoLevel || level == Full {
			best = Report{Level: level, Means: m, Open: found.escaped}
			if m == Landlock {
				why = append(why, lacksOfLandlock()...)
			}
		}
		if best.Level == Full {
			best.How = string(m)
			return best, nil
		}
	}
	if len(means) == 0 {
		why = append(why, "there is none for this system")
	}
	best.How = strings.Join(why, "; ")
	return best, nil
}

// selfTestResult is what came of the self-test with one means.
type selfTestResult struct {
	escaped []string
	broken  bool // something that even a degraded sandbox must refuse was not
}

func (f selfTestResult) level(m Means) Level {
	switch {
	case f.broken:
		return NoLevel
	case len(f.escaped) > 0 || m == Landlock:
		return Degraded
	}
	return Full
}
