// Package recorder makes turns undoable: it keeps the files of a folder around the calls of a
// session, tells from the session's log what each turn did to them, and puts that back.
//
// The one rule: only what calls of the session did is put back. What somebody else changed, before
// or since, stays and is named.
//
// Start reading at Keeper (the port of a session: states before and after calls), then Read (a log
// becomes turns with their windows) and Manager.Plan (which windows an undo is about; package undo
// does the rest). A window is the time between two states. Windows may overlap, of a job in the
// background or of subagents, so that an undo puts those together that touch (windows.go).
//
// # Who changed a path while a call ran
//
// Two states tell what changed between them, and not who did it. The paths of file tools are known
// by name. For commands the only proof is a view of the folder (internal/sandbox): it lists what
// the command changed, so that all else is somebody else's, or of a program outside of the
// command's tree (a daemon that it asked). Of a command without a view nobody saw what it changed.
// Times, owners, open files and the names of editors were looked at as a substitute and prove
// nothing.
//
// So a change is either known to be a call's, and is undone; or it is in doubt (Window.Unsure,
// ByPerhaps), and is left alone until the user says otherwise (Wish.Unknown); or it is known to be
// another session's (conflicts.go), and stays.
//
// Known limits:
//   - What a command and the user both write while the command runs is taken for the command's.
//   - Files outside of the folder are not covered.
//   - Where the folder is too wide (named.go) only the files are that calls name: not what commands
//     change.
package recorder

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
