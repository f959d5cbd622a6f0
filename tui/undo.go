package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tui/api"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/pane"
	"adze/tui/prompt"
	"adze/tui/transcript"
)

// undo takes back: files that turns changed, and the last message.
type undo struct {
	host
	ports      *api.Ports
	picker     *list.List
	transcript *transcript.Pane
	prompt     *prompt.Line
	status     *pane.Status
	show       func(session.Event) tea.Cmd // in the conversation
	settled    func()                      // has a stop be forgotten: something was done since
	rewinding  bool
}

func (u *undo) update(msg tea.Msg) (handled bool, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case proposed:
		u.rewinding = false
		u.say("")
		return true, u.offer(msg)
	case putBack:
		u.rewinding = false
		u.say("")
		return true, u.tell(msg)
	case rewound:
		u.rewound(msg)
	}
	return false, nil
}

func (u *undo) commands() []command {
	return []command{
		{name: "rewind", help: "take your last message back to edit it, and what was done to files since", can: u.canRewind, do: noArgs(u.rewind)},
		{name: "undo", help: "put files back as they were before the last turn that changed some", can: u.can, do: noArgs(func() tea.Cmd { return u.propose(api.Undo{}) })},
		{name: "redo", help: "take the last undo back", can: u.can, do: noArgs(func() tea.Cmd { return u.propose(api.Undo{Redo: true}) })},
	}
}

// proposed is what putting files back would come to; nothing is done before the user has seen it.
type proposed struct {
	wish   api.Undo
	undone api.Undone
	err    error
}

// putBack is what it came to. Then the last message is taken back, where that was chosen, too.
type putBack struct {
	wish   api.Undo
	undone api.Undone
	err    error
	rewind bool
}

func (u *undo) can() string {
	switch {
	case u.ports.Undo == nil:
		return "files cannot be put back here"
	case u.working():
		return "the agent works: stop it first"
	case u.rewinding:
		return "a moment: files are being looked at"
	}
	return ""
}

// propose has the program say what a wish comes to; the answer comes as proposed.
func (u *undo) propose(w api.Undo) tea.Cmd {
	if why := u.can(); why != "" {
		u.say(why)
		return nil
	}
	u.rewinding = true
	u.say("looking at the files…")
	w.Dry = true
	ask := u.ports.Undo
	return func() tea.Msg {
		undone, err := ask(context.Background(), w)
		return proposed{w, undone, err}
	}
}

// offer puts to the user what can be put back. Where that is nothing, a rewind takes the message
// back at once.
func (u *undo) offer(p proposed) tea.Cmd {
	nothing := len(p.undone.Paths) == 0
	switch {
	case p.wish.Since && p.err != nil:
		u.show(session.Notice{Text: "files stay as they are: " + p.err.Error()})
		return u.takeBack("")
	case p.wish.Since && nothing && len(p.undone.Left) == 0:
		return u.takeBack("")
	case p.err != nil:
		u.say("error: " + p.err.Error())
		return nil
	case len(p.undone.Turns) == 0 && p.wish.Redo:
		u.say("there is nothing to redo")
		return nil
	case len(p.undone.Turns) == 0:
		u.say("there is nothing to undo: no turn has changed a file, or all is undone")
		return nil
	}
	u.picker.Begin(p.title(), p.choices(u.canRewind() == ""), func(c list.Choice) tea.Cmd {
		switch c.ID {
		case "no":
			return nil
		case "talk":
			return u.takeBack("")
		}
		w := p.wish
		w.Dry, w.Git, w.Unknown = false, w.Git || c.ID == "git", c.ID == "unknown"
		return u.do(w, c.ID == "both")
	})
	u.picker.PeekWith("each path", func(context.Context, string) ([]draw.Span, error) { return undoneSpans(p.undone), nil })
	return nil
}

func (p proposed) title() string {
	what := "undo: "
	switch {
	case p.wish.Redo:
		what = "redo: "
	case p.wish.Since:
		what = "take back: "
	}
	return what + oneRow(strings.Join(p.undone.Turns, " · "))
}

// choices begins with what was asked for: enter takes the first, which only touches what nobody
// else changed and can be taken back. Where there is nothing of that, it begins with what changes
// least.
func (p proposed) choices(rewinds bool) []list.Choice {
	u := p.undone
	paths := plural.Of(len(u.Paths), "path")
	note := oneRow(strings.Join(u.Paths, ", "))
	if left := len(u.Left); left > 0 {
		note = "leaves " + plural.Of(left, "path") + " as it is · " + note
	}
	no := list.Choice{ID: "no", Label: "leave all as it is"}
	files := list.Choice{ID: "files", Label: "put back " + paths, Note: note}
	if len(u.Paths) == 0 {
		files.Off = "all of it may be somebody else's, and stays"
	}
	var out []list.Choice
	if p.wish.Since && rewinds {
		both := files
		both.ID, both.Label = "both", "your message, and put back "+paths
		out = []list.Choice{both, {ID: "talk", Label: "your message only", Note: "files stay as they are"}}
		if len(u.Paths) == 0 {
			out = out[1:]
		}
		files.Label, files.Note = "put back "+paths+" only", "the conversation stays as it is"
	}
	if len(u.Paths) > 0 || !u.Asks {
		out = append(out, files)
	}
	if u.Git && !p.wish.Redo {
		out = append(out, list.Choice{ID: "git", Label: "put back " + paths + " and git's own state", Note: "HEAD, index and branches as they were"})
	}
	also := list.Choice{ID: "unknown", Label: "put back also what nobody knows of", Note: "it changed while adze was killed in the middle of a call"}
	if len(u.Doubt) > 0 {
		also.Label = "put back also " + plural.Of(len(u.Doubt), "path") + " in doubt"
		if len(u.Paths) == 0 {
			also.Label = "put back " + plural.Of(len(u.Doubt), "path")
		}
		also.Note = "changed while a command ran, perhaps by you: " + oneRow(strings.Join(u.Doubt, ", "))
	}
	switch {
	case len(u.Paths) == 0 && len(out) > 0 && u.Asks: // taking a message back comes first
		out = append(out, also)
	case len(u.Paths) == 0 && u.Unseen: // most likely the command changed them, and the words say what is in doubt
		out = slices.Insert(out, 0, also)
	case len(u.Paths) == 0 && u.Asks:
		out = slices.Insert(out, 0, no, also)
		return out
	case len(u.Paths) == 0 && !p.wish.Since:
		return slices.Insert(out, 0, no)
	case u.Asks:
		out = append(out, also)
	}
	return append(out, no)
}

// undoneSpans are all paths, for a closer look.
func undoneSpans(u api.Undone) (out []draw.Span) {
	for _, p := range u.Paths {
		out = append(out, draw.Span{Text: safeterm.Name(p)})
	}
	for _, l := range u.Left {
		out = append(out, draw.Span{Style: draw.Dim, Text: safeterm.Name("left as it is: " + l)})
	}
	return out
}

func (u *undo) do(w api.Undo, rewind bool) tea.Cmd {
	u.rewinding = true
	u.say("putting files back…")
	ask := u.ports.Undo
	return func() tea.Msg {
		undone, err := ask(context.Background(), w)
		return putBack{w, undone, err, rewind}
	}
}

// tell says what was done, and names in the conversation what was not.
func (u *undo) tell(p putBack) tea.Cmd {
	if p.err != nil {
		u.say("error: " + p.err.Error())
		return nil
	}
	back := "; /redo takes it back"
	if p.wish.Redo {
		back = "; /undo takes it back"
	}
	text := plural.Of(len(p.undone.Paths), "path") + " put back" + back
	if len(p.undone.Left) > 0 {
		text += "\nleft as it is: " + strings.Join(p.undone.Left, "\nleft as it is: ")
	}
	if p.rewind {
		return u.takeBack(text)
	}
	u.show(session.Notice{Text: text})
	return nil
}

// rewound is the answer to a request to take the last message back.
type rewound struct {
	text string
	err  error
	note string // what came of the files; if empty, they stay as they are
}

func (u *undo) canRewind() string {
	switch {
	case u.ports.Rewind == nil:
		return "messages cannot be taken back here"
	case u.working():
		return "the agent works: stop it first"
	case !u.transcript.Said():
		return "there is no message to take back"
	}
	return ""
}

// rewind takes the last message back; where files were changed since, the user says whether these
// are, too.
func (u *undo) rewind() tea.Cmd {
	if why := u.canRewind(); why != "" {
		u.say(why)
		return nil
	}
	u.settled()
	if u.ports.Undo != nil {
		return u.propose(api.Undo{Since: true})
	}
	return u.takeBack("")
}

// takeBack takes the last message back, and says then what came of the files; the answer comes as
// rewound.
func (u *undo) takeBack(note string) tea.Cmd {
	u.rewinding = true
	u.settled()
	return func() tea.Msg {
		text, err := u.ports.Rewind(context.Background())
		return rewound{text, err, note}
	}
}

func (u *undo) rewound(r rewound) {
	u.rewinding = false
	if r.err != nil {
		u.say("error: " + r.err.Error())
		return
	}
	u.transcript.Rewind()
	if !u.transcript.Said() {
		u.status.Unnamed()
	}
	u.prompt.Restore(r.text)
	if r.note != "" {
		u.show(session.Notice{Text: r.note})
		u.say("your message is back to be edited")
		return
	}
	u.say("your message is back to be edited; files stay as they are now")
}
