package offer

import (
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Late are tools that a request shows from their occasion on, where all fit: what nobody needs before is paid for by every
// request. A call of one that is not shown yet is valid, and brings it too. The zero value has none.
type Late struct {
	// At are the occasions, by tool.
	At map[string]Occasion
}

// Occasion is when a late tool is shown; what is nil never comes.
type Occasion struct {
	Why    string                  // it waits, for the person
	Words  []string                // of the first prompt that bring it, in the singular
	Prompt func() bool             // at a prompt: it is time now
	After  func(tool.Outcome) bool // after a call: that was it
}

// Usually is when the built-in tools are shown that few sessions use: those about jobs with the first job, those about a
// todo list with the list, git where there is a repository, and a plan where the person plans.
func Usually(repository, planning func() bool) Late {
	const job, git = "no job was started in the background yet", "the workspace is no git repository"
	return Late{At: map[string]Occasion{
		"bash_output": {Why: job, After: toolset.StartedJob}, "bash_kill": {Why: job, After: toolset.StartedJob},
		"list_processes": {Why: job, After: toolset.StartedJob, Words: []string{"process", "ps", "pid", "port", "running"}},
		"git_status":     {Why: git, Prompt: repository}, "git_diff": {Why: git, Prompt: repository}, "git_log": {Why: git, Prompt: repository},
		"todoread": {Why: "there is no todo list yet", Words: []string{"todo"}, After: func(o tool.Outcome) bool { return o.Tool == "todowrite" }},
		"plan":     {Why: "the mode is not plan", Words: []string{"plan"}, Prompt: planning},
	}}
}

// offer says which tools a request shows; nil: those that it showed. Names of the set come first, in its order, and what
// comes later goes to the end, so that the request begins as the one before.
func (l Late) offer(set *tool.Set, o session.Occasion) *session.Offer {
	if o.Offered == nil {
		next := &session.Offer{Reason: "what fits the occasion", Quiet: true}
		var after []string
		for _, d := range set.Definitions() {
			late, isLate := l.At[d.Name]
			switch {
			case !isLate:
				next.Tools = append(next.Tools, d.Name)
			case late.begins(o) || late.named(o.Prompt):
				after = append(after, d.Name)
			default:
				next.Excluded = exclude(next.Excluded, late.Why, d.Name)
			}
		}
		next.Tools = append(next.Tools, after...)
		return next
	}
	next := &session.Offer{Tools: slices.Clone(o.Offered), Reason: "their occasion came", Quiet: true}
	for _, name := range set.Names() {
		if late, isLate := l.At[name]; isLate && !slices.Contains(o.Offered, name) && late.comes(name, o) {
			next.Tools = append(next.Tools, name)
		}
	}
	if len(next.Tools) == len(o.Offered) {
		return nil
	}
	return next
}

func (c Occasion) begins(o session.Occasion) bool {
	return o.Outcomes == nil && c.Prompt != nil && c.Prompt()
}

func (c Occasion) comes(name string, o session.Occasion) bool {
	return c.begins(o) || slices.ContainsFunc(o.Outcomes, func(out tool.Outcome) bool {
		return out.Tool == name || c.After != nil && c.After(out)
	})
}

// named reports whether a prompt has one of the words. It is asked at the first prompt, when showing a tool more costs its
// bytes and no cache.
func (c Occasion) named(prompt string) bool {
	if len(c.Words) == 0 {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return r < 'a' || r > 'z' })
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(c.Words, word) || slices.Contains(c.Words, strings.TrimSuffix(word, "s")) || slices.Contains(c.Words, strings.TrimSuffix(word, "es"))
	})
}
