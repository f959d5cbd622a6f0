package policy

import (
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// Mode decides what no rule decides.
type Mode string

// Modes.
const (
	AskFirst Mode = "ask"    // reads inside the workspace are allowed, the rest is asked
	Edits    Mode = "edits"  // writes inside the workspace are allowed too
	Plan     Mode = "plan"   // nothing that changes anything
	Staged   Mode = "staged" // as auto, but on a view of the workspace that the user reviews when the turn has ended
	Auto     Mode = "auto"   // what a full sandbox contains is allowed; without one it behaves as edits
	Yolo     Mode = "yolo"   // allow instead of ask; denies still hold
)

// Modes lists all modes, the most careful first.
func Modes() []string {
	return []string{string(Plan), string(AskFirst), string(Edits), string(Staged), string(Auto), string(Yolo)}
}

// ParseMode reads the name of a mode.
func ParseMode(name string) (Mode, error) {
	if m := Mode(name); m.known() {
		return m, nil
	}
	return "", unknownMode(name)
}

func (m Mode) known() bool { return slices.Contains(Modes(), string(m)) }

// Narrower is the more careful of two modes. Empty says nothing; a mode that nobody knows allows no
// more than plan does.
func Narrower(a, b Mode) Mode {
	switch {
	case b == "":
		return a
	case a == "":
		return b
	case !a.known() || !b.known():
		return Plan
	}
	return Mode(Modes()[min(slices.Index(Modes(), string(a)), slices.Index(Modes(), string(b)))])
}

func unknownMode(name string) error {
	if near := tool.Nearest(name, Modes(), 1); len(near) > 0 {
		return fmt.Errorf("there is no permission mode %q; did you mean %s?", name, near[0])
	}
	return fmt.Errorf("there is no permission mode %q; use one of %s", name, strings.Join(Modes(), ", "))
}

// contains reports a mode that lets commands run which the sandbox holds.
func (m Mode) contains() bool { return m == Auto || m == Staged }

// forbids says why the mode refuses a kind of access whatever the rules allow.
func (m Mode) forbids(p tool.Permission) string {
	if m == Plan && (p == tool.Write || p == tool.Execute) {
		return "the permission mode is plan: nothing may be changed and no command run; go on reading, and describe the change instead"
	}
	return ""
}

// byDefault is the effect where no rule speaks. Inside says that a file lies in the workspace and
// is none of the known secret ones.
func (m Mode) byDefault(p tool.Permission, inside bool) Effect {
	switch {
	case m == Yolo:
		return Allow
	case p == tool.Read && inside:
		return Allow
	case p == tool.Write && inside && (m == Edits || m.contains()):
		return Allow
	}
	return Ask
}
