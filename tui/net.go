package tui

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/session/api"
	"adze/tool"
	"adze/tui/async"
	"adze/tui/pane"
	"adze/tui/prompt"
	"adze/tui/ui"
)

// net shows the net changes. The user keeps, reverts or stages a hunk, opens it in an editor, and
// commits.
type net struct {
	host
	ports    *api.Ports
	branches *branches
	view     *pane.View
	pane     *pane.Net
	prompt   *prompt.Line
	begin    func(job) tea.Cmd
	merge    *merge
	undo     *undo
	copy     func(what, text string) tea.Cmd
	baseline api.Baseline
	now      api.Net
	busy     bool
	// drafting is set while the model drafts a commit message.
	drafting bool
	acting   bool   // a call on a hunk runs
	failed   string // that call's error
}

// show displays the changes and the message said. reopen means that the pane is open already.
func (n *net) show(now api.Net, err error, reopen bool, said string) {
	if said != "" || !reopen {
		n.showMessage(said)
	}
	n.now = now
	var files []pane.NetFile
	for _, f := range now.Files {
		shown := pane.NetFile{Path: f.Path, Note: f.Note}
		switch {
		case f.New:
			shown.Note = strings.TrimSuffix("new, "+f.Note, ", ")
		case f.Deleted:
			shown.Note = strings.TrimSuffix("removed, "+f.Note, ", ")
		}
		for _, h := range f.Hunks {
			shown.Hunks = append(shown.Hunks, h.Text)
		}
		files = append(files, shown)
	}
	since, none := fmt.Sprintf("the %s: %s", n.baseline, now.Baseline), "nothing differs"
	if err != nil {
		since, none = "the "+string(n.baseline), "error: "+err.Error()
	}
	n.pane.Show(since, files, none)
	if !reopen && !n.view.Shows(n.pane) {
		n.view.Toggle(n.pane)
	}
}

func (n *net) canCompare() string {
	return ui.ReasonIf(n.ports.Net == nil, "nothing keeps the files as they were; git diff shows what differs")
}

// open compares the files and shows the changes, or closes the open pane.
func (n *net) open() tea.Cmd {
	if n.view.Shows(n.pane) {
		n.view.Shut()
		return nil
	}
	n.baseline = api.SinceSession
	return n.compare(false, "")
}

func (n *net) compare(reopen bool, said string) tea.Cmd {
	if n.busy {
		return nil
	}
	n.busy = true
	if !reopen {
		n.showMessage("comparing the files…")
	}
	compare, since, written := n.ports.Net, n.baseline, n.prompt.Text
	return async.Try(func() (api.Net, error) { return compare(context.Background(), since) }, func(now api.Net, err error) tea.Cmd {
		n.busy = false
		if since != n.baseline { // another starting point was chosen meanwhile
			return n.compare(reopen, said)
		}
		if err != nil && !reopen {
			n.showMessage("error: " + err.Error())
			return nil
		}
		if !reopen && n.prompt.Text != written { // the user has begun a message
			n.showMessage("the changes are ready: " + n.labelOf("changes") + " shows them")
			return nil
		}
		n.show(now, err, reopen, said)
		return nil
	})
}

// again repeats the comparison if the pane is open, after files have changed.
func (n *net) again(said string) tea.Cmd {
	if !n.view.Shows(n.pane) {
		return nil
	}
	return n.compare(true, said)
}

// apply stores the error of a call on a hunk: the pane hides the conversation that shows it.
func (n *net) apply(e session.Event) {
	if e, ok := e.(session.ToolEnd); ok && n.acting && e.Outcome.Status != tool.Completed {
		n.failed = ui.Shorten(e.Outcome.Output)
	}
}

// done refreshes the pane after a turn and shows the error of such a call.
func (n *net) done(r session.Result) tea.Cmd {
	said := ""
	if n.acting && r.Cause != session.CauseDone {
		said = "error: " + cmp.Or(r.Message, string(r.Cause))
	} else if n.failed != "" {
		said = "error: " + strings.Join(strings.Fields(n.failed), " ")
	}
	n.acting, n.failed = false, ""
	return n.again(said)
}

// can returns why no hunk can be chosen, or "".
func (n *net) can() string {
	return cmp.Or(n.canSince(), ui.ReasonIf(len(n.now.Files) == 0, "nothing differs"))
}

func (n *net) canSince() string {
	return ui.ReasonIf(!n.view.Shows(n.pane), "only in the net changes (/changes)")
}

// canDo is can for an action that runs a call.
func (n *net) canDo(port func(context.Context, api.NetHunk) session.Result) string {
	if why := cmp.Or(busy(n), n.can(), ui.ReasonIf(port == nil, "this cannot be done here")); why != "" {
		return why
	}
	if _, hunk, _ := n.pane.At(n.view.CurrentPart()); hunk < 0 {
		return "this file has no hunk; /undo restores whole turns"
	}
	return ""
}

func (n *net) canRevert() string { return n.canDo(n.ports.Revert) }
func (n *net) canStage() string  { return cmp.Or(n.branches.can(), n.canDo(n.ports.Stage)) }

func (n *net) canCommit() string {
	return cmp.Or(n.branches.can(), busy(n), ui.ReasonIf(n.ports.Commit == nil, "this session runs no commands"))
}

// canDraft is canCommit for the pane's key.
func (n *net) canDraft() string {
	return cmp.Or(ui.ReasonIf(n.prompt.Text != "", "your prompt is not empty: send or clear it first"), n.can(), n.canCommit())
}

// hunk returns the current hunk; its number is negative for a file without hunks.
func (n *net) hunk() api.NetHunk {
	file, hunk, _ := n.pane.At(n.view.CurrentPart())
	return api.NetHunk{File: n.now.Files[file], Number: hunk}
}

func (n *net) keep() tea.Cmd {
	n.pane.Keep(n.view.CurrentPart())
	n.view.ToPart(1)
	return nil
}

func (n *net) revert() tea.Cmd { return n.call(n.ports.Revert) }
func (n *net) stage() tea.Cmd  { return n.call(n.ports.Stage) }

func (n *net) call(do func(context.Context, api.NetHunk) session.Result) tea.Cmd {
	h := n.hunk()
	n.acting, n.failed = true, ""
	return n.begin(job{run: func(ctx context.Context) session.Result { return do(ctx, h) }})
}

func (n *net) stageAll() tea.Cmd {
	do, now := n.ports.StageAll, n.now
	n.acting, n.failed = true, ""
	return n.begin(job{run: func(ctx context.Context) session.Result { return do(ctx, now) }})
}

// edit opens the hunk in the user's external editor.
func (n *net) edit() tea.Cmd {
	h, line := n.hunk(), 1
	if h.Number >= 0 {
		line = h.File.Hunks[h.Number].Line
	}
	open := n.ports.Open
	return n.lend(func() error { return open(h.File.Path, line) }, func(err error) tea.Cmd {
		if err != nil {
			n.showMessage("error: " + err.Error())
		}
		return n.again("")
	})
}

// other compares with the next starting point.
func (n *net) other() tea.Cmd {
	n.baseline = map[api.Baseline]api.Baseline{api.SinceSession: api.SinceTurn, api.SinceTurn: api.SinceBranch, api.SinceBranch: api.SinceSession}[n.baseline]
	return n.compare(true, "")
}

// commit commits the staged changes. Without a message the model drafts one, and the user edits and
// sends it in the prompt.
func (n *net) commit(message string) tea.Cmd {
	if message != "" {
		make := n.ports.Commit
		return n.begin(job{run: func(ctx context.Context) session.Result { return make(ctx, message) }})
	}
	if n.drafting {
		n.showMessage("a message is being drafted already")
		return nil
	}
	n.drafting = true
	n.showMessage("drafting the message of the commit…")
	draft := n.ports.Draft
	return async.Try(func() (string, error) { return draft(context.Background()) }, n.offer)
}

// offer puts a drafted message into the prompt, unless the user has written there meanwhile.
func (n *net) offer(message string, err error) tea.Cmd {
	n.drafting = false
	switch {
	case err != nil:
		n.showMessage("error: " + err.Error())
	case n.prompt.Text != "":
		n.showMessage("the message is drafted, but your prompt is not empty: send or clear it, then ask again")
	default:
		n.view.Shut()
		n.prompt.Put("/commit " + message)
		n.showMessage(n.label(send) + " commits what is staged with this message; edit it first as you like")
	}
	return nil
}

func (n *net) commands() []command {
	return []command{{name: "changes", help: "what differs now, each hunk once: keep, revert, stage, open, commit", can: n.canCompare, run: noArgs(n.open)},
		{name: "commit", args: "[MESSAGE]", help: "commit what is staged; without a message, one is drafted for you to edit",
			lines: true, can: n.canCommit, run: n.commit}}
}

func (n *net) keys() []binding {
	key := func(id, key, help string, can func() string, do func() tea.Cmd) binding {
		return binding{id: id, action: netKey, scope: inView, Binding: ui.Key(help, key), can: can, run: do}
	}
	return []binding{
		key("pane.copy-path", "y", "in net changes: copy the path", n.can, func() tea.Cmd { path := n.hunk().File.Path; return n.copy("the path "+path, path) }),
		key("pane.copy-diff", "d", "in net changes: copy the diff", n.can, func() tea.Cmd { f := n.hunk().File; return n.copy("the diff of "+f.Path, f.Diff) }),
		key("net.keep", "a", "in net changes: keep the hunk, go to the next", n.can, n.keep),
		key("net.revert", "r", "in net changes: revert the hunk", n.canRevert, n.revert),
		key("net.stage", "i", "in net changes: stage the hunk (git's index)", n.canStage, n.stage),
		key("net.stage-all", "I", "in net changes: stage all of them", func() string {
			return cmp.Or(n.branches.can(), busy(n), n.can(), ui.ReasonIf(n.ports.StageAll == nil, "this session runs no commands"))
		}, n.stageAll),
		key("net.open", "o", "in net changes: open the line in your editor", func() string {
			return cmp.Or(ui.ReasonIf(n.ports.Open == nil || !n.lends(), errNoEditor.Error()), n.can())
		}, n.edit),
		key("net.since", "s", "in net changes: since the session, the turn or the branch began", n.canSince, n.other),
		key("net.commit", "c", "in net changes: commit what is staged; the model drafts a message, which you edit", n.canDraft, func() tea.Cmd { return n.commit("") }),
		key("net.merge", "m", "in net changes: merge the branch of the session's work tree, after a plan", n.only(n.merge.can), n.merge.propose),
		key("net.undo", "u", "in net changes: undo the last turn that changed files, after a plan", n.only(n.undo.can), func() tea.Cmd { return n.undo.propose(api.Undo{}) }),
		key("net.undo-all", "U", "in net changes: undo the whole session, after a plan", n.only(n.undo.canRewind), n.undo.all),
	}
}

// only restricts another feature's key to this pane.
func (n *net) only(can func() string) func() string {
	return func() string { return cmp.Or(n.canSince(), can()) }
}

func (n *net) hints() []string {
	if n.can() != "" {
		return []string{n.labelOf("net.since") + ": since"}
	}
	var out []string
	for _, word := range []string{"keep", "revert", "stage", "open", "since", "commit", "merge"} {
		if (word != "stage" && word != "commit" || n.branches.can() == "") && (word != "merge" || n.branches.info.Worktree) {
			out = append(out, n.labelOf("net."+word)+": "+word)
		}
	}
	return out
}
