// Package recorder makes turns undoable: it stores a folder's files around a session's calls, reads
// each turn's changes from the session's log, and reverts them.
//
// The one rule: only changes by the session's calls are reverted. Changes by others, before or
// since, stay and are named.
//
// Start reading at Keeper (the session's states before and after calls), then Read (the log as
// turns with their windows) and Manager.Plan (the windows of an undo; package undo does the rest).
// A window is the time between two states. Windows may overlap, through background jobs or
// subagents, so an undo joins windows that touch (windows.go).
//
// # Who changed a path during a call
//
// Two states show the changes between them, but not who made them. File tools name their paths. For
// commands the only proof is a view of the folder (internal/sandbox): it lists the command's
// changes, so all others were made by somebody else, or by a program outside the command's process
// tree (such as a daemon). Without a view, it is unknown who made a change. Times, owners, open
// files and editors' names were tried instead and prove nothing.
//
// So a change is either known to be a call's, and is undone; or it is in doubt (Window.Unsure,
// ByPerhaps), and is left alone until the user decides (UndoOptions.Unknown); or it is known to be
// another session's (conflicts.go), and stays.
//
// Known limits:
//   - A path written by both a command and the user while the command runs counts as the command's.
//   - Files outside the folder are not covered.
//   - In a folder that is too wide (named.go), only files named by calls are covered, not changes
//     by commands.
package recorder

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
)

// Store returns the folder for root's states below dir, the folder of undo.
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
