// Package rewind makes turns undoable: it keeps the files of a folder around the calls of a session, tells from the
// session's log what each turn did to them, and puts that back.
//
// The one rule: only what calls of the session did is put back. What somebody else changed, before or since, stays and is
// named.
//
// Start reading at Keeper (the port of a session: states before and after calls), then Read (a log becomes turns with
// their windows) and Desk.Plan (which windows an undo is about; package undo does the rest). A window is the time between
// two states. Windows may overlap, of a job in the background or of subagents, so that an undo cuts them at all the
// states that there are and takes the stretches in which a call of its turns ran.
//
// Known limits:
//   - What a person saves while a call runs is taken for the call's; the dry run shows it.
//   - What two sessions do at the same moment in one folder is both's.
//   - Files outside of the folder are not covered.
//   - Where the folder is too wide (named.go) only the files are that calls name: not what commands change.
package rewind

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
)

// Store is the folder in which the states of a folder are kept, below the one of undo.
func Store(dir, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dir, hex.EncodeToString(sum[:8]))
}

func paths(n int) string {
	if n == 1 {
		return "1 path"
	}
	return fmt.Sprintf("%d paths", n)
}

func sized(bytes int64) string {
	switch {
	case bytes == 0:
		return ""
	case bytes < 1<<20:
		return fmt.Sprintf(", %d KB", (bytes+1023)>>10)
	case bytes < 1<<30:
		return fmt.Sprintf(", %d MB", bytes>>20)
	}
	return fmt.Sprintf(", %.1f GB", float64(bytes)/(1<<30))
}

func join(names []string) string { return strings.Join(names, ", ") }
