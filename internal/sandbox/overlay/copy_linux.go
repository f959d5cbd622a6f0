package overlay

import (
	"adze/internal/sandbox/overlay/apply"
	"os"
)

// setAside moves a change that is left out to the folder of what is kept.
func (v *View) setAside(c *Change) apply.Left {
	l := apply.Left{Path: v.Real(c), Why: c.Left}
	if c.Kind == apply.Removed || c.Kind == apply.Special || c.Kind == apply.Merged {
		_ = os.RemoveAll(v.Place(c))
		return l
	}
	l.Kept = v.Keep(c.Root, c.Path)
	return l
}
