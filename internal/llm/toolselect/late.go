package toolselect

import (
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Late holds tools that appear in requests only from an occasion on, if all tools fit: every
// request would pay for unneeded ones. A call to a hidden tool is valid and shows the tool. The
// zero value has none.
type Late struct {
	// Occasions holds the occasions by tool.
	Occasions map[string]Occasion
}

// An Occasion describes when to show a late tool. A nil field never shows it.
type Occasion struct {
	Reason        string                   // reason for the wait, for the user
	Words         []string                 // of the first prompt, in the singular
	Needs         func() bool              // if set and false, neither words nor a missing tool_search show it
	MatchesPrompt func(prompt string) bool // a prompt, first or later, asks for it
	Prompt        func() bool              // checked at each prompt
	After         func(tool.Outcome) bool  // checked after each call
	// Findable tools wait only if tool_search is offered, which also finds them.
	Findable bool
}

// Facts are functions about a session that occasions call at a prompt.
type Facts struct {
	Repository func() bool // the workspace is in a git repository
	Planning   func() bool // the mode is plan
	Agents     func() bool // the user or the project has agents
}

// DefaultOccasions returns the occasions for rarely used built-in tools: job tools with the first
// job, git if a prompt mentions a repository's history, page tools with an address, the todo list
// and subagents with larger tasks.
func DefaultOccasions(f Facts) Late {
	const (
		job  = "no job was started in the background yet"
		git  = "the prompt does not speak of git"
		ask  = "the mode is not plan"
		list = "there is no todo list yet"
	)
	jobs := Occasion{Reason: job, After: toolset.StartedJob}
	history := Occasion{Reason: git, Findable: true, Needs: f.Repository, Words: []string{
		"git", "commit", "committed", "diff", "history", "branch", "merge", "merged", "rebase", "staged", "unstaged", "uncommitted", "blame", "changelog", "pr",
	}}
	processes := jobs
	processes.Words = []string{"process", "ps", "pid", "port", "running"}
	return Late{Occasions: map[string]Occasion{
		"bash_output": jobs, "bash_kill": jobs, "list_processes": processes,
		"git_status": history,
		"todowrite": {Reason: "the prompt is not of several steps", Findable: true, Words: []string{"todo", "checklist"}, MatchesPrompt: severalSteps,
			After: func(o tool.Outcome) bool { return o.Tool == "plan" && o.Status == tool.Completed }},
		"todoread": {Reason: list, Words: []string{"todo"}, After: func(o tool.Outcome) bool { return o.Tool == "todowrite" }},
		"webfetch": {Reason: "the prompt names no page", Findable: true, MatchesPrompt: namesPage, Words: []string{"web", "website", "webpage", "online", "internet", "fetch", "download"},
			After: func(o tool.Outcome) bool { return o.Tool == "websearch" }},
		"task": {Reason: "the prompt asks for no wide search", Findable: true, Prompt: f.Agents, Words: []string{
			"subagent", "agent", "delegate", "parallel", "explore", "investigate", "research", "survey", "audit", "codebase", "everywhere", "across", "throughout",
		}},
		"plan": {Reason: ask, Words: []string{"plan"}, Prompt: f.Planning},
	}}
}

// severalSteps reports whether a prompt lists three tasks: in numbered or marked lines, or as
// sentences in a temporal sequence.
func severalSteps(prompt string) bool {
	items := 0
	for line := range strings.Lines(prompt) {
		line = strings.TrimSpace(line)
		digits := strings.TrimLeft(line, "0123456789")
		switch {
		case len(digits) < len(line) && len(digits) > 1 && (digits[0] == '.' || digits[0] == ')') && digits[1] == ' ',
			strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "):
			items++
		}
	}
	then := 0
	for _, word := range words(prompt) {
		switch word {
		case "then", "afterwards", "finally", "lastly", "secondly", "thirdly":
			then++
		}
	}
	return items >= 3 || then >= 2
}

// namesPage reports whether a prompt has a remote page's address; local servers are for curl.
func namesPage(prompt string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(prompt)) {
		word = strings.TrimLeft(word, "\"'`(<[*_")
		_, rest, found := strings.Cut(word, "://")
		switch {
		case strings.HasPrefix(word, "www."):
			return true
		case !found || !strings.HasSuffix(word[:len(word)-len(rest)], "http://") && !strings.HasSuffix(word[:len(word)-len(rest)], "https://"):
		case strings.HasPrefix(rest, "localhost") || strings.HasPrefix(rest, "127.") || strings.HasPrefix(rest, "[::1]"):
		default:
			return true
		}
	}
	return false
}

// holds reports whether tools of a set wait and can be found by tool_search.
func (l Late) holds(set *tool.Set) bool {
	return slices.ContainsFunc(set.Names(), func(name string) bool { return l.Occasions[name].Findable })
}

// offer returns the tools that a request shows, or nil for no change. Tools of the set come first,
// in its order; later ones are appended, so that the request's beginning is unchanged.
func (l Late) offer(set *tool.Set, o session.Occasion) *session.Offer {
	if o.Offered == nil {
		next := &session.Offer{Reason: "what fits the occasion", Quiet: true}
		searches := set.Has("tool_search")
		var after []string
		finds := false
		for _, d := range set.Definitions() {
			late, isLate := l.Occasions[d.Name]
			switch {
			case d.Name == "tool_search":
			case !isLate || late.Findable && !searches && late.possible():
				next.Tools = append(next.Tools, d.Name)
			case late.begins(o) || late.named(o.Prompt):
				after = append(after, d.Name)
			default:
				finds = finds || searches && late.Findable && late.possible()
				next.Excluded = exclude(next.Excluded, late.Reason, d.Name)
			}
		}
		if finds {
			next.Tools = append(next.Tools, "tool_search")
		}
		next.Tools = append(next.Tools, after...)
		return next
	}
	next := &session.Offer{Tools: slices.Clone(o.Offered), Reason: "their occasion came", Quiet: true}
	for _, name := range set.Names() {
		if late, isLate := l.Occasions[name]; isLate && name != "tool_search" && !slices.Contains(o.Offered, name) && late.comes(name, o) {
			next.Tools = append(next.Tools, name)
		}
	}
	if len(next.Tools) == len(o.Offered) {
		return nil
	}
	return next
}

func (c Occasion) begins(o session.Occasion) bool {
	return o.Outcomes == nil && (c.Prompt != nil && c.Prompt() || c.MatchesPrompt != nil && c.MatchesPrompt(o.Prompt))
}

func (c Occasion) comes(name string, o session.Occasion) bool {
	return c.begins(o) || slices.ContainsFunc(o.Outcomes, func(out tool.Outcome) bool {
		return out.Tool == name || c.After != nil && c.After(out) || slices.Contains(toolset.FoundBy(out), name)
	})
}

// named reports whether a prompt has one of the words. It is used for the first prompt, when an
// extra tool costs bytes but no cache.
func (c Occasion) named(prompt string) bool {
	if len(c.Words) == 0 || !c.possible() {
		return false
	}
	return slices.ContainsFunc(words(prompt), func(word string) bool {
		return slices.Contains(c.Words, word) || slices.Contains(c.Words, strings.TrimSuffix(word, "s")) || slices.Contains(c.Words, strings.TrimSuffix(word, "es"))
	})
}

func (c Occasion) possible() bool { return c.Needs == nil || c.Needs() }

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
}
