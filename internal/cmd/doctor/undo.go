package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
)

// checkUndo reports whether changes in this folder can be undone, and the exceptions.
func (d Doctor) checkUndo(cfg config.Config, at paths.Places) Check {
	const name = "undo"
	if cfg.Undo.Disabled {
		return fine(name, "off, as the configuration says")
	}
	root, err := os.Getwd()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return missingCheck(name, "the folder cannot be found: "+err.Error(), "change to a folder that exists")
	}
	store := recorder.Store(at.Undo, root)
	bytes, err := recorder.Look(undo.Options{Root: root, State: store, Home: paths.Absolute(d.Getenv("HOME")), Excluded: []string{at.State}})
	switch {
	case errors.Is(err, undo.ErrTooWide):
		return missingCheck(name, err.Error()+": only what the file tools change here can be undone", "start adze in the folder of a project: what commands change there can be undone, too")
	case err != nil:
		return missingCheck(name, err.Error(), "commit before you let adze change files: git brings them back")
	case bytes == 0:
		return fine(name, "covers this folder from the first call on, in "+d.tilde(store))
	}
	return fine(name, fmt.Sprintf("covers this folder; %d KB in %s", (bytes+1023)>>10, d.tilde(store)))
}
