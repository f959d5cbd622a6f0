package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// Technique is a technique for building a sandbox.
type Technique string

// All means.
const (
	Namespaces Technique = "ns"
	Landlock   Technique = "landlock"
	Seatbelt   Technique = "seatbelt"
	None       Technique = "none"
)

// Name returns the means' name for users.
func (m Technique) Name() string {
	switch m {
	case Namespaces:
		return "Linux namespaces"
	case Landlock:
		return "Landlock and a filter of system calls"
	case Seatbelt:
		return "macOS Seatbelt"
	}
	return string(m)
}

// A Level ranks a sandbox.
type Level string

// The levels. Full: the self-test's attempts were all refused. FullLive: the same for a command on
// the live tree, with git's folders read only. Degraded: attempts on other files and the network
// were refused, and commands have no network at all.
const (
	Full     Level = "full"
	FullLive Level = "full, live"
	Degraded Level = "degraded"
	NoLevel  Level = "none"
)

// A Report is the self-test's result for the best means on this machine.
type Report struct {
	Level       Level     `json:"level"`
	Technique   Technique `json:"means"`
	Explanation string    `json:"how"` // for the user: the means, or why there is none
	// Open lists the self-test's successful attempts.
	Open []string `json:"open,omitempty"`
}

// Level returns the self-test's report. It runs the test once and stores the result until the
// machine or adze changes.
func (s *Sandbox) Level(ctx context.Context) (Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report != nil {
		return *s.report, nil
	}
	if why := s.unsuitable(); why != "" {
		s.report = &Report{Level: NoLevel, Technique: None, Explanation: why}
		return *s.report, nil
	}
	if len(s.o.Techniques) == 0 {
		if r, ok := recall(s.o.State); ok {
			s.report = &r
			return r, nil
		}
	}
	r, err := s.find(ctx)
	if err != nil {
		return Report{}, err
	}
	if len(s.o.Techniques) == 0 {
		remember(s.o.State, r)
	}
	s.report = &r
	return r, nil
}

// unsuitable returns why this workspace cannot have a sandbox on any machine, or "".
func (s *Sandbox) unsuitable() string {
	switch at := s.workspace.path; {
	case at == filepath.Dir(at):
		return "the workspace is the root folder; start adze in the folder of a project"
	case s.o.Home != "" && s.o.Home != "/" && isWithin(s.o.Home, at):
		return "the workspace is your home folder, or has it inside, and commands in the sandbox see nothing of a home; start adze in the folder of a project"
	}
	return ""
}

// KnownReport returns the report if it is known without a test.
func (s *Sandbox) KnownReport() (Report, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report == nil && len(s.o.Techniques) == 0 && s.unsuitable() == "" {
		if r, ok := recall(s.o.State); ok {
			s.report = &r
		}
	}
	if s.report == nil {
		return Report{}, false
	}
	return *s.report, true
}

// find tries the means in turn and takes the first full one, else the best.
func (s *Sandbox) find(ctx context.Context) (Report, error) {
	means := s.o.Techniques
	if len(means) == 0 {
		means = usual()
	}
	best := Report{Level: NoLevel, Technique: None}
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
			best = Report{Level: level, Technique: m, Open: found.escaped}
			if m == Landlock {
				why = append(why, lacksOfLandlock()...)
			}
		}
		if best.Level == Full {
			best.Explanation = string(m)
			return best, nil
		}
	}
	if len(means) == 0 {
		why = append(why, "there is none for this system")
	}
	best.Explanation = strings.Join(why, "; ")
	return best, nil
}

type selfTestResult struct {
	escaped []string
	broken  bool // an attempt with trial.must succeeded
}

func (f selfTestResult) level(m Technique) Level {
	switch {
	case f.broken:
		return NoLevel
	case len(f.escaped) > 0 || m == Landlock:
		return Degraded
	}
	return Full
}
