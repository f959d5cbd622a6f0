package tui

import (
	"context"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/session/api"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/pane"
	"adze/tui/prompt"
	"adze/tui/transcript"
	"adze/tui/ui"
)

// undo restores files that turns changed, and takes back messages.
type undo struct {
	host
	ports        *api.Ports
	picker       *list.List
	transcript   *transcript.Pane
	prompt       *prompt.Line
	status       *pane.Status
	show         func(session.Event) tea.Cmd // in the conversation
	restored     func(said string) tea.Cmd   // refreshes panes after files were restored
	clearStopped func()                      // clears turns.stopped
	rewinding    bool
	back         int // messages to take back
}

func (u *undo) commands() []command {
	return []command{
		{name: "rewind", help: "go back to one of your messages, and restore files since", can: u.canRewind, run: noArgs(u.choose)},
		{name: "undo", help: "restore files as they were before the last turn that changed any", can: u.can, run: noArgs(func() tea.Cmd { return u.propose(api.Undo{}) })},
		{name: "redo", help: "reverse the last undo", can: u.can, run: noArgs(func() tea.Cmd { return u.propose(api.Undo{Redo: true}) })},
	}
}

// proposed is the preview of an undo; nothing changes before the user confirms it.
type proposed struct {
	request api.Undo
	result  api.UndoResult
	err     error
}

func (u *undo) can() string {
	switch {
	case u.ports.Undo == nil:
		return "files cannot be restored here"
	case u.working():
		return "busy: stop the agent first"
	case u.rewinding:
		return "one moment: reading the files"
	}
	return ""
}

// propose requests a preview; offer shows it.
func (u *undo) propose(w api.Undo) tea.Cmd {
	if why := u.can(); why != "" {
		u.showMessage(why)
		return nil
	}
	u.rewinding = true
	u.showMessage("reading the files…")
	w.Dry = true
	ask := u.ports.Undo
	return async.Try(func() (api.UndoResult, error) { return ask(context.Background(), w) }, func(undone api.UndoResult, err error) tea.Cmd {
		u.rewinding = false
		u.showMessage("")
		return u.offer(proposed{w, undone, err})
	})
}

// offer lists the possible restores. If a rewind has none, it takes the message back at once.
func (u *undo) offer(p proposed) tea.Cmd {
	nothing := len(p.result.Paths) == 0
	switch {
	case p.request.Since && p.err != nil:
		u.show(session.Notice{Text: "files stay as they are: " + p.err.Error()})
		return u.takeBack("")
	case p.request.Since && nothing && len(p.result.Left) == 0:
		return u.takeBack("")
	case p.err != nil:
		u.showMessage("error: " + p.err.Error())
		return nil
	case len(p.result.Turns) == 0 && p.request.Redo:
		u.showMessage("nothing to redo")
		return nil
	case len(p.result.Turns) == 0:
		u.showMessage("nothing to undo: no turn changed a file, or all is undone")
		return nil
	}
	choices := p.choices(u.canRewind() == "")
	if len(choices) == 1 {
		u.showMessage("nothing to restore; left alone: " + oneRow(strings.Join(p.result.Left, ", ")))
		return nil
	}
	u.picker.Ask(p.title(), choices, func(c list.Choice) tea.Cmd {
		if c.ID == "talk" {
			return u.takeBack("")
		}
		w := p.request
		w.Dry, w.Git, w.Unknown = false, w.Git || c.ID == "git", c.ID == "unknown"
		return u.do(w, c.ID == "both")
	})
	if all := undoneSpans(p.result); len(all) > 0 {
		u.picker.PeekWith("each path", func(context.Context, string) ([]draw.Span, error) { return all, nil })
	}
	return nil
}

func (p proposed) title() string {
	what := "undo: "
	switch {
	case p.request.Redo:
		what = "redo: "
	case p.request.Since:
		what = "take back: "
	}
	return what + oneRow(strings.Join(p.result.Turns, " · "))
}

// choices begins with the requested restore, which Enter takes and the next undo or redo reverses:
// files that nobody else changed. Then come git's own state and files in doubt.
func (p proposed) choices(rewinds bool) (out []list.Choice) {
	u := p.result
	restore := "restore " + plural.Of(len(u.Paths), "file")
	note := oneRow(strings.Join(u.Paths, ", "))
	if left := len(u.Left); left > 0 {
		note = "leaves " + plural.Of(left, "file") + " alone · " + note
	}
	if len(u.Paths) == 1 {
		restore, note = oneRow(u.Paths[0]), strings.TrimSuffix(strings.TrimSuffix(note, oneRow(u.Paths[0])), " · ")
	}
	files := list.Choice{ID: "files", Label: restore, Note: note}
	if p.request.Since && rewinds {
		if len(u.Paths) > 0 {
			out = append(out, list.Choice{ID: "both", Label: "your message back, and " + restore, Note: note})
		}
		out = append(out, list.Choice{ID: "talk", Label: "your message back", Note: "files stay as they are"})
		files.Label, files.Note = restore+" only", "the conversation stays as it is"
	}
	if len(u.Paths) > 0 {
		out, restore = append(out, files), restore+" and git's own state"
	} else {
		restore = "restore git's own state"
	}
	if u.Git && !p.request.Redo {
		out = append(out, list.Choice{ID: "git", Label: restore, Note: "HEAD, index and branches as they were"})
	}
	if u.Asks {
		also := list.Choice{ID: "unknown", Label: "also restore what changed unseen", Note: "adze was killed during a call, and these files changed"}
		if len(u.Doubt) > 0 {
			also.Label, also.Note = "also restore "+plural.Of(len(u.Doubt), "file")+" in doubt", "changed during a command, maybe by you: "+oneRow(strings.Join(u.Doubt, ", "))
		}
		if len(u.Paths) == 0 {
			also.Label = strings.TrimPrefix(also.Label, "also ")
		}
		out = append(out, also)
	}
	return append(out, list.Choice{ID: "no", Label: "change nothing"})
}

// undoneSpans returns all paths, for the preview.
func undoneSpans(u api.UndoResult) (out []draw.Span) {
	for _, p := range u.Paths {
		out = append(out, draw.Span{Text: safeterm.Name(p)})
	}
	for _, l := range u.Left {
		out = append(out, draw.Span{Style: draw.Dim, Text: safeterm.Name("left alone: " + l)})
	}
	return out
}

func (u *undo) do(w api.Undo, rewind bool) tea.Cmd {
	u.rewinding = true
	u.showMessage("restoring files…")
	ask := u.ports.Undo
	return async.Try(func() (api.UndoResult, error) { return ask(context.Background(), w) }, func(undone api.UndoResult, err error) tea.Cmd {
		u.rewinding = false
		u.showMessage("")
		return u.tell(proposed{w, undone, err}, rewind)
	})
}

// tell reports the result and lists skipped files in the conversation. With rewind it also takes
// the message back.
func (u *undo) tell(p proposed, rewind bool) tea.Cmd {
	if p.err != nil {
		u.showMessage("error: " + p.err.Error())
		return nil
	}
	back := "; /redo reverses this"
	if p.request.Redo {
		back = "; /undo reverses this"
	}
	text := plural.Of(len(p.result.Paths), "file")
	if p.request.Git {
		text = strings.TrimPrefix(text+" and git's own state", "0 files and ")
	}
	text += " restored" + back
	if len(p.result.Left) > 0 {
		text += "\nleft alone: " + strings.Join(p.result.Left, "\nleft alone: ")
	}
	if rewind {
		return u.takeBack(text)
	}
	u.show(session.Notice{Text: text, Kind: session.Remark})
	return u.restored(oneRow(text))
}

func (u *undo) canRewind() string {
	switch {
	case u.ports.Rewind == nil:
		return "this session cannot go back"
	case u.working():
		return "busy: stop the agent first"
	case !u.transcript.HasUserMessage():
		return "there is no message to go back to"
	}
	return ""
}

// rewind takes the last message back. If files have changed since, it asks whether to restore them
// as well.
func (u *undo) rewind() tea.Cmd {
	if why := u.canRewind(); why != "" {
		u.showMessage(why)
		return nil
	}
	u.clearStopped()
	u.back = 1
	if u.ports.Undo != nil {
		return u.propose(api.Undo{Since: true})
	}
	return u.takeBack("")
}

// choose lists the user's messages; the chosen one returns to the prompt, and everything after it
// is forgotten.
func (u *undo) choose() tea.Cmd {
	if why := u.canRewind(); why != "" {
		u.showMessage(why)
		return nil
	}
	prompts := u.transcript.Prompts()
	if len(prompts) == 1 {
		return u.rewind()
	}
	u.clearStopped()
	var items []list.Choice
	for i, p := range prompts {
		note := "your last message"
		if i > 0 {
			note = plural.Of(i, "message") + " before it"
		}
		items = append(items, list.Choice{ID: strconv.Itoa(i), Label: oneRow(ui.Shorten(p.Text)), Note: note})
	}
	u.picker.Begin("go back to before …", items, func(c list.Choice) tea.Cmd {
		i, err := strconv.Atoi(c.ID)
		if err != nil || i >= len(prompts) {
			return nil
		}
		return u.rewindTo(i+1, prompts[i].Message)
	})
	return nil
}

// all proposes to take back every message, and files since the first.
func (u *undo) all() tea.Cmd {
	if why := u.canRewind(); why != "" {
		u.showMessage(why)
		return nil
	}
	prompts := u.transcript.Prompts()
	return u.rewindTo(len(prompts), prompts[len(prompts)-1].Message)
}

// rewindTo takes back the last n messages; message is the first of them.
func (u *undo) rewindTo(n int, message string) tea.Cmd {
	u.clearStopped()
	u.back = n
	if u.ports.Undo != nil {
		return u.propose(api.Undo{Since: true, Message: message})
	}
	return u.takeBack("")
}

// takeBack takes the messages back and then shows note, the result for the files.
func (u *undo) takeBack(note string) tea.Cmd {
	u.rewinding = true
	u.clearStopped()
	again, n := u.ports.Rewind, max(u.back, 1)
	count := 0 // messages taken back
	return async.Try(func() (text string, err error) {
		for range n {
			if text, err = again(context.Background()); err != nil {
				break
			}
			count++
		}
		return text, err
	}, func(text string, err error) tea.Cmd {
		u.rewinding, u.back = false, 0
		for range count {
			u.transcript.Rewind()
		}
		if err != nil {
			u.showMessage("error: " + err.Error())
		} else {
			u.rewound(text, note)
		}
		if note == "" {
			return nil
		}
		return u.restored("")
	})
}

// rewound puts the first message taken back into the prompt.
func (u *undo) rewound(text, note string) {
	if !u.transcript.HasUserMessage() {
		u.status.Unnamed()
	}
	u.prompt.Restore(text)
	if note == "" {
		u.showMessage("your message is back in the prompt; files stay as they are")
		return
	}
	u.show(session.Notice{Text: note, Kind: session.Remark})
	u.showMessage("your message is back in the prompt")
}
