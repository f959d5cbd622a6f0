package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adze/internal/sandbox/proc"
)

// Setting says when commands run in the sandbox.
type Setting string

// The settings.
const (
	Auto     Setting = "auto"     // when they are wanted there, and it is full or Landlock's
	Required Setting = "required" // always; where it is not full, not at all
	Off      Setting = "off"      // never
)

// ParseSetting reads one; empty is Auto.
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

// ErrNotFull says that a sandbox was required, and there is none that holds everything.
var ErrNotFull = errors.New("the sandbox is not full here")

// Cage puts the commands of a run into its sandbox, or leaves them outside.
type Cage struct {
	Box     *Sandbox
	Setting Setting
	// Wanted says, with Auto, whether commands belong inside now; if nil, they do not.
	Wanted func() bool
	// Outside, with Auto, names commands that run outside all the same: the user's own; if nil, none.
	Outside func(proc.Command) bool
}

func (c *Cage) inside() bool {
	return c.Setting == Required || c.Setting == Auto && c.Wanted != nil && c.Wanted()
}

// Encloses reports whether a command is to run inside; where there is no sandbox, Enclose says what
// comes of that.
func (c *Cage) Encloses(cmd proc.Command) bool {
	inside := c.inside() || cmd.RequireWalls // the mode may have changed since it was allowed
	if r, known := c.Box.Known(); known && c.Setting == Auto && r.walled() && !cmd.RequireWalls {
		return false
	}
	return inside && !(c.Setting == Auto && (cmd.NoWalls || c.Outside != nil && c.Outside(cmd)))
}

// Enclose is proc.Cage.
func (c *Cage) Enclose(ctx context.Context, cmd proc.Command) (proc.Walls, error) {
	switch {
	case !c.Encloses(cmd):
		return proc.Walls{}, nil
	case cmd.NoWalls:
		return proc.Walls{}, errors.New("no command runs outside the sandbox, because it is required")
	}
	report, err := c.Box.Level(ctx)
	switch {
	case err != nil:
		return proc.Walls{}, err
	case c.Setting == Auto && report.walled() && !cmd.RequireWalls: // the user or a rule has allowed it
		return proc.Walls{}, nil
	case report.Level == Full, c.Setting == Auto && report.usable() && !(cmd.RequireWalls && len(report.Open) > 0):
		return c.Box.Enclose(ctx, cmd)
	case c.Setting == Required || cmd.RequireWalls:
		return proc.Walls{}, fmt.Errorf("%w: %s", ErrNotFull, report.How)
	}
	return proc.Walls{}, nil
}

// walled reports a sandbox of rules of the kernel alone. Commands only read there and have no
// network, so those that a rule or the user allowed run outside.
func (r Report) walled() bool { return r.Level == Degraded && r.Means == Landlock }

// usable reports a sandbox that commands run in although it is not full.
func (r Report) usable() bool {
	return r.Level == Degraded && (r.Means == Landlock || r.Means == RestrictedToken)
}

// Holds is the level of the sandbox that a command runs in, lasting where it goes on beyond its
// call, and whether nothing of it gets out before it is judged: at level full, or a degraded one of
// which the self-test found nothing open. The level is empty where commands run outside. The first
// question tests it.
func (c *Cage) Holds(lasting bool) (level string, holds bool) {
	r := c.Now(context.Background())
	switch {
	case r.usable():
		return string(r.Level), len(r.Open) == 0
	case r.Level == Full && lasting:
		r.Level = FullLive
	case r.Level != Full && r.Level != FullLive:
		return "", false
	}
	return string(r.Level), r.Level == Full
}

// Lacks says of the sandbox that commands run in whether they only read there and have no network,
// and what it leaves open; both are empty where it is full or there is none.
func (c *Cage) Lacks() (walled bool, open []string) {
	if r := c.Now(context.Background()); r.usable() {
		return r.walled(), r.Open
	}
	return false, nil
}

// Full reports that a command that may run inside only would. The first question tests it.
func (c *Cage) Full() bool {
	if c.Setting == Off {
		return false
	}
	report, err := c.Box.Level(context.Background())
	return err == nil && report.Level == Full
}

// Aside says why commands cannot run so that their changes are kept apart. It is empty where they
// can. The first question tests it.
func (c *Cage) Aside() string {
	if c.Setting == Off {
		return "the sandbox is switched off"
	}
	report, err := c.Box.Level(context.Background())
	switch {
	case err != nil:
		return err.Error()
	case report.Level != Full:
		return "the sandbox is " + string(report.Level) + " here: " + report.How
	}
	return c.Box.whyLive(report.Means)
}

// Check is an error where a sandbox is required and not full. It costs nothing where none is.
func (c *Cage) Check(ctx context.Context) error {
	if c.Setting != Required {
		return nil
	}
	report, err := c.Box.Level(ctx)
	if err == nil && report.Level != Full {
		err = fmt.Errorf("%w: %s", ErrNotFull, report.How)
	}
	return err
}

// Now is what holds for the next command. It tests where commands run inside and nothing is known
// yet.
func (c *Cage) Now(ctx context.Context) Report {
	if !c.inside() {
		return c.outside()
	}
	report, err := c.Box.Level(ctx)
	if err != nil {
		return Report{Level: NoLevel, Means: None, How: err.Error()}
	}
	if report = c.used(report); report.Level == Full {
		report.Level = c.Box.standing()
	}
	return report
}

// Shown is the same in a word, for a line of status, at once.
func (c *Cage) Shown() string {
	if !c.inside() {
		return string(NoLevel)
	}
	if report, ok := c.Box.Known(); ok {
		return string(c.used(report).Level)
	}
	return "not tested yet"
}

// used is what a report means for commands: with Auto, what is neither full nor Landlock's is not
// used.
func (c *Cage) used(r Report) Report {
	if c.Setting == Auto && r.Level != Full && !r.usable() {
		return Report{Level: NoLevel, Means: None, How: "commands run outside, because the sandbox is " + string(r.Level) + " here: " + r.How}
	}
	return r
}

func (c *Cage) outside() Report {
	if c.Setting == Off {
		return Report{Level: NoLevel, Means: None, How: "it is switched off"}
	}
	return Report{Level: NoLevel, Means: None, How: "commands run outside; permission mode auto or --sandbox on puts them inside"}
}

// cageFunc is a cage of one function.
type cageFunc func(proc.Command) (proc.Walls, error)

func (f cageFunc) Enclose(_ context.Context, c proc.Command) (proc.Walls, error) { return f(c) }
