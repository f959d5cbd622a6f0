package toolset

import (
	"fmt"
	"iter"
	"slices"

	"adze/tool"
)

// Restorer restores a resumed session's state from stored outcomes: the todo list, and the state of
// files seen.
type Restorer struct {
	Deps    Deps
	Session string
}

// Restores reports whether Restore uses the tool's outcomes.
func (Restorer) Restores(tool string) bool {
	return slices.Contains([]string{"todowrite", "read", "write", "edit", "apply_patch"}, tool)
}

// Restore reads outcomes, oldest first. Calls that did not complete changed nothing and are
// skipped.
func (r Restorer) Restore(outcomes iter.Seq[tool.Outcome]) error {
	d, session := r.Deps, r.Session
	for o := range outcomes {
		if o.Status != tool.Completed {
			continue
		}
		var err error
		switch o.Tool {
		case "todowrite":
			err = d.Todos.Restore(o.Metadata)
		case "read", "write", "edit":
			err = restoreSeen(d.KnownFiles, session, o.Metadata)
		case "apply_patch":
			err = restorePatched(d.KnownFiles, session, o.Metadata)
		}
		if err != nil {
			return fmt.Errorf("call %s: %w", o.Call, err)
		}
	}
	return nil
}
