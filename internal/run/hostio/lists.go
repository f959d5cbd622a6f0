// Package hostio implements interface operations besides turns and the session: clipboard, external
// editor, dropped files, message history, and lists of files and sessions.
//
// The one rule: each operation is independent of the interface and of a run; internal/run connects
// them with the interface's ports.
//
// Start reading at the file named after the operation. Known limits: clipboard pictures require
// programs of the system.
package hostio

import (
	"context"
	"errors"
	"slices"
	"time"

	"adze/internal/policy"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb/fulltext"
	"adze/session"
	"adze/session/api"
)

// Sessions lists users' sessions, newest first; subagents are part of their parent's session.
func Sessions(ctx context.Context, stored session.Store) ([]api.SessionHead, error) {
	all, err := stored.List(ctx)
	if err != nil {
		return nil, err
	}
	var out []api.SessionHead
	for _, h := range all {
		if info := h.Info(); info.Agent == "" {
			out = append(out, api.SessionHead{ID: string(h.ID), Title: h.Title(), Tags: h.Tags, Model: info.Model, Cwd: info.Cwd, Updated: h.Updated.Local()})
		}
	}
	return out, nil
}

// foundRows limits search results.
const foundRows = 30

// Search searches users' stored sessions: a subagent's cannot be opened.
func Search(ctx context.Context, words *fulltext.Later, text string) (out []api.SearchResult, note string, err error) {
	hits, note, err := words.Search(ctx, fulltext.Query{Text: text, Limit: foundRows})
	if errors.Is(err, fulltext.ErrNoWords) {
		return nil, "", nil
	}
	for _, h := range hits {
		if h.Agent != "" {
			continue
		}
		kind := string(h.Kind)
		if h.Kind == fulltext.Called {
			kind = h.Tool
		}
		out = append(out, api.SearchResult{Session: string(h.Session), Place: api.Place{Message: h.Message, Call: h.Call}, Title: h.Title,
			Kind: kind, Snippet: h.Snippet.String(), Cwd: h.Cwd, Time: h.Time.Local()})
	}
	return out, note, err
}

// Modes returns the permission modes to choose from, and the current one if it is not among them.
func Modes(now policy.Mode) []api.Mode {
	means := map[policy.Mode]string{
		policy.Plan:      "looks only; nothing changes and no command runs",
		policy.AskFirst:  "asks before each edit and each command",
		policy.AskStaged: "asks before commands; its changes are staged, and you review each turn once",
		policy.Edits:     "edits files in this folder; asks before commands",
		policy.Staged:    "runs commands in the sandbox; its changes are staged, and you review each turn once",
		policy.Auto:      "edits, and runs commands in the sandbox where it is full",
		policy.Yolo:      "asks nothing; deny rules still hold",
	}
	var out []api.Mode
	names := policy.Modes()
	if now != "" && !slices.Contains(names, string(now)) {
		names = append(names, string(now))
	}
	for _, name := range names {
		out = append(out, api.Mode{Name: name, Means: means[policy.Mode(name)]})
	}
	return out
}

// Efforts returns the thinking efforts; each model supports some.
func Efforts() []api.Mode {
	out := []api.Mode{{Name: session.DefaultEffort, Means: "as its provider is configured"}}
	means := map[string]string{"none": "it answers at once, where it can", "medium": "", "max": "as long as it takes"}
	for _, name := range session.Efforts() {
		out = append(out, api.Mode{Name: name, Means: means[name]})
	}
	return out
}

// Jobs returns background commands, oldest first.
func Jobs(of *proc.Jobs) []api.Job {
	out := []api.Job{}
	for _, j := range of.List() {
		out = append(out, api.Job{ID: j.ID, Command: j.Command, Running: j.Running, Started: j.Started, Ended: ended(j)})
	}
	return out
}

// ended describes a job's end, or returns "" while it runs.
func ended(j proc.JobStatus) string {
	if j.Running {
		return ""
	}
	took := " after " + j.Result.Duration.Round(time.Second).String()
	if err := j.Result.Err(); err != nil {
		return err.Error() + took
	}
	return "exit code 0" + took
}
