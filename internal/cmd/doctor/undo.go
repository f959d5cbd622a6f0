package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
)

// checkUndo reports whether changes in this folder can be undone, and the exceptions.
func (d Doctor) checkUndo(cfg config.Config, at paths.Places) Check {
	const name = "undo"
	if cfg.Undo.Off {
		return fine(name, "off, as the configuration says")
	}
	root, err := os.Getwd()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return lacks(name, "the folder cannot be found: "+err.Error(), "change to a folder that exists")
	}
	a, err := recorder.Look(undo.Options{Root: root, State: recorder.Store(at.Undo, root), Home: paths.Absolute(d.Getenv("HOME")), Apart: []string{at.State}})
	switch {
	case errors.Is(err, undo.ErrTooWide):
		return lacks(name, err.Error()+": only what the file tools change here can be undone", "start adze in the folder of a project: what commands change there can be undone, too")
	case err != nil:
		return lacks(name, err.Error(), "commit before you let adze change files: git brings them back")
	case a.Bytes == 0:
		return fine(name, "covers this folder from the first call on, in "+d.tilde(a.Store))
	}
	found := fmt.Sprintf("covers this folder; %d KB in %s", (a.Bytes+1023)>>10, d.tilde(a.Store))
	if a.Count > 0 {
		found += fmt.Sprintf("; %d paths are left out (%d KB): %s", a.Count, (a.Size+1023)>>10, strings.Join(a.First, ", "))
	}
	return fine(name, found)
}
