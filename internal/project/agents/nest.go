package agents

import (
	"cmp"
	"context"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// kept is how many of its model requests a subagent has left, at least, when those that it started
// have used theirs: one to read their reports, one to write its own.
const kept = 2

// pathMark stands between the names of subagents that work for each other: "general: mend it ›
// explore: look".
const pathMark = " › "

// nested is how a subagent starts others.
type nested struct{ parent *work }

// Run runs a subagent of the subagent.
func (n nested) Run(ctx context.Context, r toolset.TaskRequest, progress func(toolset.TaskProgress)) (toolset.TaskResult, error) {
	return n.parent.agents.under(ctx, n.parent, r, progress)
}

// tasks is what a subagent starts others with; nil where it is too deep.
func (w *work) tasks() toolset.Tasks {
	if w.depth() >= min(cmp.Or(w.config.Depth, DefaultDepth), maxDepth) {
		return nil
	}
	return nested{w}
}

// depth is 1 for a subagent of the main conversation.
func (w *work) depth() int {
	n := 1
	for at := w.parent; at != nil; at = at.parent {
		n++
	}
	return n
}

// has reports whether the subagent has a tool: one that its kind has, and its parent.
func (w *work) has(d tool.Definition) bool {
	if d.Name == taskTool && w.tasks() == nil {
		return false
	}
	if w.parent != nil {
		if _, has := w.parent.set.Get(d.Name); !has {
			return false
		}
	}
	return w.kind.Has(d)
}

// budget is what it spends: that of the subagent that it works for, or of the turn.
func (w *work) budget() *session.Budget {
	if w.parent != nil {
		return w.parent.session.Budget()
	}
	return w.config.Budget()
}

// narrowed is the widest permission mode for it: the narrower of its file's and that of who started
// it.
func (w *work) narrowed() string {
	mode := ""
	if w.parent != nil {
		mode = w.parent.mode
	}
	switch {
	case w.kind.Mode == "" || w.config.Narrower == nil:
		return mode
	case mode == "":
		return w.kind.Mode
	}
	return w.config.Narrower(mode, w.kind.Mode)
}

// steps is how many model requests it may make. What it uses counts for its parent, which keeps
// enough to report.
func (w *work) steps() (int, error) {
	most := cmp.Or(w.config.Steps, DefaultSteps)
	if w.kind.Steps > 0 {
		most = min(most, w.kind.Steps)
	}
	if w.parent == nil {
		return most, nil
	}
	if left := w.parent.most - w.parent.counts().Steps - kept; left < most {
		most = left
	}
	if most < 1 {
		return 0, tool.Fail(tool.CodeLimit, "you have too few model requests left for a task; report what you have")
	}
	return most, nil
}

// call is the one that started it, as observers of the main conversation know it.
func (w *work) call() tool.CallID {
	if w.parent == nil {
		return w.request.Call
	}
	return session.CallOf(w.parent.call(), w.request.Call)
}

// below is a name behind those of the subagents that it works for.
func (w *work) below(name string) string {
	if w.parent == nil {
		return name
	}
	return w.parent.name + pathMark + name
}
