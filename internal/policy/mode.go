package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// Mode decides needs without a matching rule.
type Mode string

// Users choose among plan, ask and auto; yolo is a flag. Edits is ask with the answer "all edits".
// With the setting review: once, ask and auto become AskStaged and Staged: the calls in a turn
// change a view of the workspace, which the user reviews after the turn.
const (
	Plan      Mode = "plan"       // no changes at all
	AskFirst  Mode = "ask"        // reads inside the workspace are allowed, everything else is asked
	AskStaged Mode = "ask-staged" // like edits, on a view
	Edits     Mode = "edits"      // like ask, and writes inside the workspace are allowed
	Staged    Mode = "staged"     // like auto, on a view
	Auto      Mode = "auto"       // commands in a full sandbox are allowed; without one it is like edits
	Yolo      Mode = "yolo"       // allow instead of ask; denies still apply
)

// byCare lists all modes, the most careful first.
func byCare() []Mode { return []Mode{Plan, AskFirst, AskStaged, Edits, Staged, Auto, Yolo} }

// Modes lists the selectable modes.
func Modes() []string { return []string{string(AskFirst), string(Auto), string(Plan)} }

// OnStage reports whether calls work on a view of the workspace.
func (m Mode) OnStage() bool { return m == AskStaged || m == Staged }

// Reviewed returns the mode with or without the setting review: once.
func (m Mode) Reviewed(once bool) Mode {
	if once {
		return cmp.Or(map[Mode]Mode{AskFirst: AskStaged, Edits: AskStaged, Auto: Staged}[m], m)
	}
	return cmp.Or(map[Mode]Mode{AskStaged: AskFirst, Staged: Auto}[m], m)
}

// IncludedIn reports whether modes include m; an empty list includes all. A staged mode is included
// with its original.
func (m Mode) IncludedIn(modes []Mode) bool {
	wider := map[Mode][]Mode{AskStaged: {AskStaged, Edits, Staged, Auto}, Staged: {Staged, Auto}}[m]
	return len(modes) == 0 || slices.ContainsFunc(modes, func(o Mode) bool { return o == m || slices.Contains(wider, o) })
}

// ParseMode parses a mode's name.
func ParseMode(name string) (Mode, error) {
	if m := Mode(name); m.known() {
		return m, nil
	}
	return "", unknownMode(name)
}

func (m Mode) known() bool { return slices.Contains(byCare(), m) }

// Narrower returns the more careful mode. "" has no influence; an unknown mode counts as plan.
func Narrower(a, b Mode) Mode {
	switch {
	case b == "":
		return a
	case a == "":
		return b
	case !a.known() || !b.known():
		return Plan
	}
	return byCare()[min(slices.Index(byCare(), a), slices.Index(byCare(), b))]
}

func unknownMode(name string) error {
	if near := tool.Nearest(name, append(Modes(), string(Edits), string(Yolo)), 1); len(near) > 0 {
		return fmt.Errorf("there is no permission mode %q; did you mean %s?", name, near[0])
	}
	return fmt.Errorf("there is no permission mode %q; use one of %s", name, strings.Join(Modes(), ", "))
}

// contains reports whether the mode allows sandboxed commands.
func (m Mode) contains() bool { return m == Auto || m == Staged }

// forbids explains why the mode refuses a permission regardless of rules, or returns "".
func (m Mode) forbids(p tool.Permission) string {
	if m == Plan && (p == tool.Write || p == tool.Execute) {
		return "the permission mode is plan: nothing may be changed and no command run; go on reading, and describe the change instead"
	}
	return ""
}

// byDefault returns the effect without a rule. inside means that a file lies in the workspace and
// is not a known secret.
func (m Mode) byDefault(p tool.Permission, inside bool) Effect {
	switch {
	case m == Yolo:
		return Allow
	case p == tool.Read && inside:
		return Allow
	case p == tool.Write && inside && (m == Edits || m == AskStaged || m.contains()):
		return Allow
	}
	return Ask
}
