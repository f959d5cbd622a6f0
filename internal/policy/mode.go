package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// Mode decides what no rule decides.
type Mode string

// Modes. Users choose among plan, ask and auto; yolo is a flag. Edits is ask with the answer "all
// edits". With the setting review: once, ask and auto become AskStaged and Staged: the calls of a
// turn change a view of the workspace, which the user reviews when the turn has ended.
const (
	Plan      Mode = "plan"       // nothing that changes anything
	AskFirst  Mode = "ask"        // reads inside the workspace are allowed, the rest is asked
	AskStaged Mode = "ask-staged" // as edits, on a view
	Edits     Mode = "edits"      // as ask, and writes inside the workspace are allowed
	Staged    Mode = "staged"     // as auto, on a view
	Auto      Mode = "auto"       // what a full sandbox contains is allowed; without one it behaves as edits
	Yolo      Mode = "yolo"       // allow instead of ask; denies still hold
)

// byCare lists all modes, the most careful first.
func byCare() []Mode { return []Mode{Plan, AskFirst, AskStaged, Edits, Staged, Auto, Yolo} }

// Modes lists the modes that users choose among.
func Modes() []string { return []string{string(AskFirst), string(Auto), string(Plan)} }

// OnStage reports a mode whose calls work on a view of the workspace.
func (m Mode) OnStage() bool { return m == AskStaged || m == Staged }

// Reviewed is the mode with the setting review: once, or without it.
func (m Mode) Reviewed(once bool) Mode {
	if once {
		return cmp.Or(map[Mode]Mode{AskFirst: AskStaged, Edits: AskStaged, Auto: Staged}[m], m)
	}
	return cmp.Or(map[Mode]Mode{AskStaged: AskFirst, Staged: Auto}[m], m)
}

// Among reports a mode that modes allow; if empty, all are. A staged mode is narrower than the one
// that it stands for.
func (m Mode) Among(modes []Mode) bool {
	wider := map[Mode][]Mode{AskStaged: {AskStaged, Edits, Staged, Auto}, Staged: {Staged, Auto}}[m]
	return len(modes) == 0 || slices.ContainsFunc(modes, func(o Mode) bool { return o == m || slices.Contains(wider, o) })
}

// ParseMode reads the name of a mode.
func ParseMode(name string) (Mode, error) {
	if m := Mode(name); m.known() {
		return m, nil
	}
	return "", unknownMode(name)
}

func (m Mode) known() bool { return slices.Contains(byCare(), m) }

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
	return byCare()[min(slices.Index(byCare(), a), slices.Index(byCare(), b))]
}

func unknownMode(name string) error {
	if near := tool.Nearest(name, append(Modes(), string(Edits), string(Yolo)), 1); len(near) > 0 {
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
	case p == tool.Write && inside && (m == Edits || m == AskStaged || m.contains()):
		return Allow
	}
	return Ask
}
