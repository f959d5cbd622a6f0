package config

import "fmt"

// Undo says what is kept of the workspace's files, so that what calls did to them can be undone.
type Undo struct {
	// Off keeps nothing.
	Off bool `json:"off,omitempty"`
	// OnFailure is "stop", the default, or "run": what becomes of a call whose files cannot be
	// kept, where nobody can be asked.
	OnFailure string `json:"on_failure,omitempty"`
	// FileMB and TotalMB bound what is kept of one file and of a workspace, in MiB; if 0, the defaults
	// of package undo.
	FileMB  int `json:"file_mb,omitempty"`
	TotalMB int `json:"total_mb,omitempty"`
}

func (u Undo) check(path string) error {
	if u.OnFailure != "" && u.OnFailure != "stop" && u.OnFailure != "run" {
		return &Error{Path: path, Message: fmt.Sprintf("undo.on_failure is %q", u.OnFailure), Hint: "stop or run"}
	}
	if u.FileMB < 0 || u.TotalMB < 0 {
		return &Error{Path: path, Message: "a bound of undo is negative", Hint: "give a number of MiB above 0, or leave it out; undo.off turns it off"}
	}
	return nil
}
