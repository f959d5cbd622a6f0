package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adze/internal/sandbox/proc"
)

// A Setting decides when commands run in the sandbox.
type Setting string

// The settings.
const (
	Auto     Setting = "auto"     // if wanted, with a full sandbox or Landlock
	Required Setting = "required" // always; without a full sandbox commands fail
	Off      Setting = "off"
)

// ParseSetting parses a setting; "" means Auto.
func ParseSetting(name string) (Setting, error) {
	s := Setting(name)
	if name == "" {
		s = Auto
	}
	if !slices.Contains([]Setting{Auto, Required, Off}, s) {
		return "", fmt.Errorf("%q is not a setting of the sandbox; use on or off", name)
	}
	return s, nil
}

// ErrNotFull means that no full sandbox is available.
var ErrNotFull = errors.New("the sandbox is not full here")

// A Cage puts a run's commands into its sandbox or leaves them outside.
type Cage struct {
	Box     *Sandbox
	Setting Setting
	// Wanted reports, with Auto, whether commands belong inside now. Nil means they do not.
	Wanted func() bool
	// RunsOutside reports, with Auto, whether a command runs outside anyway, such as the user's own.
	// Nil means none does.
	RunsOutside func(proc.Command) bool
}

func (c *Cage) inside() bool {
	return c.Setting == Required || c.Setting == Auto && c.Wanted != nil && c.Wanted()
}

// Encloses reports whether a command should run inside. Enclose decides what happens if there is no
// sandbox.
func (c *Cage) Encloses(cmd proc.Command) bool {
	inside := c.inside() || cmd.RequireWalls // the mode may have changed since the approval
	if r, known := c.Box.KnownReport(); known && c.Setting == Auto && r.walled() && !cmd.RequireWalls {
		return false
	}
	return inside && !(c.Setting == Auto && (cmd.NoWalls || c.RunsOutside != nil && c.RunsOutside(cmd)))
}

// Enclose implements proc.Cage.
func (c *Cage) Enclose(ctx context.Context, cmd proc.Command) (proc.Confinement, error) {
	switch {
	case !c.Encloses(cmd):
		return proc.Confinement{}, nil
	case cmd.NoWalls:
		return proc.Confinement{}, errors.New("no command runs outside the sandbox, because it is required")
	}
	report, err := c.Box.Level(ctx)
	switch {
	case err != nil:
		return proc.Confinement{}, err
	case c.Setting == Auto && report.walled() && !cmd.RequireWalls: // approved by the user or a rule
		return proc.Confinement{}, nil
	case report.Level == Full, c.Setting == Auto && report.walled() && !(cmd.RequireWalls && len(report.Open) > 0):
		return c.Box.Enclose(ctx, cmd)
	case c.Setting == Required || cmd.RequireWalls:
		return proc.Confinement{}, fmt.Errorf("%w: %s", ErrNotFull, report.Explanation)
	}
	return proc.Confinement{}, nil
}

// walled reports whether the sandbox has Landlock rules only. Commands then only read and have no
// network, so approved commands run outside.
func (r Report) walled() bool { return r.Level == Degraded && r.Technique == Landlock }

// Holds returns the level for a command, and whether nothing gets out before it is judged: at level
// full, or at a degraded level without gaps in the self-test. A lasting command goes on after its
// call. The level is "" if commands run outside. The first call runs the self-test.
func (c *Cage) Holds(lasting bool) (level string, holds bool) {
	r := c.Report(context.Background())
	switch {
	case r.walled():
		return string(r.Level), len(r.Open) == 0
	case r.Level == Full && lasting:
		r.Level = FullLive
	case r.Level != Full && r.Level != FullLive:
		return "", false
	}
	return string(r.Level), r.Level == Full
}

// Gaps reports whether commands only read and have no network, and the gaps of the sandbox. Both
// are zero for a full sandbox and for none.
func (c *Cage) Gaps() (walled bool, open []string) {
	if r := c.Report(context.Background()); r.walled() {
		return true, r.Open
	}
	return false, nil
}

// Full reports whether commands limited to the sandbox can run. The first call runs the self-test.
func (c *Cage) Full() bool {
	if c.Setting == Off {
		return false
	}
	report, err := c.Box.Level(context.Background())
	return err == nil && report.Level == Full
}

// SeparationProblem returns why the changes of commands cannot be kept apart, or "" if they can.
// The first call runs the self-test.
func (c *Cage) SeparationProblem() string {
	if c.Setting == Off {
		return "the sandbox is switched off"
	}
	report, err := c.Box.Level(context.Background())
	switch {
	case err != nil:
		return err.Error()
	case report.Level != Full:
		return "the sandbox is " + string(report.Level) + " here: " + report.Explanation
	}
	return c.Box.whyLive(report.Technique)
}

// Check returns an error if a sandbox is required and not full. If none is required, it does no
// work.
func (c *Cage) Check(ctx context.Context) error {
	if c.Setting != Required {
		return nil
	}
	report, err := c.Box.Level(ctx)
	if err == nil && report.Level != Full {
		err = fmt.Errorf("%w: %s", ErrNotFull, report.Explanation)
	}
	return err
}

// Report returns the report for the next command. It runs the self-test if commands run inside and
// there is no result yet.
func (c *Cage) Report(ctx context.Context) Report {
	if !c.inside() {
		return c.outside()
	}
	report, err := c.Box.Level(ctx)
	if err != nil {
		return Report{Level: NoLevel, Technique: None, Explanation: err.Error()}
	}
	if report = c.used(report); report.Level == Full {
		report.Level = c.Box.standing()
	}
	return report
}

// StatusLevel returns the current level for a status line, without running the self-test.
func (c *Cage) StatusLevel() string {
	if !c.inside() {
		return string(NoLevel)
	}
	if report, ok := c.Box.KnownReport(); ok {
		return string(c.used(report).Level)
	}
	return "not tested yet"
}

// used returns the report as commands see it: with Auto, a sandbox that is neither full nor walled
// counts as none.
func (c *Cage) used(r Report) Report {
	if c.Setting == Auto && r.Level != Full && !r.walled() {
		return Report{Level: NoLevel, Technique: None, Explanation: "commands run outside, because the sandbox is " + string(r.Level) + " here: " + r.Explanation}
	}
	return r
}

func (c *Cage) outside() Report {
	if c.Setting == Off {
		return Report{Level: NoLevel, Technique: None, Explanation: "it is switched off"}
	}
	return Report{Level: NoLevel, Technique: None, Explanation: "commands run outside; permission mode auto or --sandbox on puts them inside"}
}
