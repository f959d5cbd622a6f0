// Package hostio is what the interface asks of the program beside turns and the session: the
// clipboard, the user's editor, files dropped on the terminal, what they wrote before, files and
// sessions to choose from.
//
// The one rule: each does one thing for the user and knows neither the interface nor a run;
// internal/run connects them with the interface's ports.
//
// Start reading at the file that is named after the thing. Known limits: pictures come from the
// clipboard only by programs that the system has for that.
package hostio

import (
	"context"
	"errors"
	"slices"

	"adze/internal/policy"
	"adze/internal/sessiondb/fulltext"
	"adze/session"
	"adze/session/api"
)

// Sessions lists the sessions of users, newest first; the report of a subagent is in its parent's
// session.
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

// foundRows is how many places are offered of what was found.
const foundRows = 30

// Found looks for words in stored sessions of users: a subagent's cannot be opened.
func Found(ctx context.Context, words *fulltext.Later, text string) (out []api.Found, note string, err error) {
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
		out = append(out, api.Found{Session: string(h.Session), Place: api.Place{Message: h.Message, Call: h.Call}, Title: h.Title,
			Kind: kind, Snippet: h.Snippet.String(), Cwd: h.Cwd, Time: h.Time.Local()})
	}
	return out, note, err
}

// Modes are the permission modes that users choose among, and the one in force, if that is another.
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

// Efforts are how hard a model can be asked to think; which of them one knows differs.
func Efforts() []api.Mode {
	out := []api.Mode{{Name: session.DefaultEffort, Means: "as its provider is configured"}}
	means := map[string]string{"none": "it answers at once, where it can", "medium": "", "max": "as long as it takes"}
	for _, name := range session.Efforts() {
		out = append(out, api.Mode{Name: name, Means: means[name]})
	}
	return out
}
