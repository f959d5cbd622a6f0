package toolset

import (
	"fmt"

	"adze/tool"
)

// Restore brings back what a resumed session knows from the stored outcomes of its calls, oldest
// first: the todo list, and in which state it has seen files. Calls that did not complete changed
// nothing and are skipped.
func Restore(d Deps, session string, outcomes []tool.Outcome) error {
	for _, o := range outcomes {
		if o.Status != tool.Completed {
			continue
		}
		var err error
		switch o.Tool {
		case "todowrite":
			err = d.Todos.Restore(o.Metadata)
		case "read", "write", "edit":
			err = restoreSeen(d.Seen, session, o.Metadata)
		case "apply_patch":
			err = restorePatched(d.Seen, session, o.Metadata)
		}
		if err != nil {
			return fmt.Errorf("call %s: %w", o.Call, err)
		}
	}
	return nil
}
