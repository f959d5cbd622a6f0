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
)

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

func canUndo(m *model) string {
	switch {
	case m.ports.Undo == nil:
		return "files cannot be put back here"
	case m.turn.running:
		return "the agent works: stop it first"
	case m.rewinding:
		return "a moment: files are being looked at"
	}
	return ""
}

// propose has the program say what a wish comes to; the answer comes as proposed.
func propose(m *model, w api.Undo) tea.Cmd {
	if why := canUndo(m); why != "" {
		m.say(why)
		return nil
	}
	m.rewinding = true
	m.say("looking at the files…")
	w.Dry = true
	ask := m.ports.Undo
	return func() tea.Msg {
		u, err := ask(context.Background(), w)
		return proposed{w, u, err}
	}
}

// aboutFiles takes the answers of the program.
func aboutFiles(m *model, msg tea.Msg) tea.Cmd {
	m.rewinding, m.said = false, ""
	switch msg := msg.(type) {
	case proposed:
		return msg.offer(m)
	case putBack:
		return msg.tell(m)
	}
	return nil
}

// offer puts to the user what can be put back. Where that is nothing, a rewind takes the message
// back at once.
func (p proposed) offer(m *model) tea.Cmd {
	nothing := len(p.undone.Paths) == 0
	switch {
	case p.wish.Since && p.err != nil:
		m.apply(session.Notice{Text: "files stay as they are: " + p.err.Error()})
		return m.takeBack("")
	case p.wish.Since && nothing && len(p.undone.Left) == 0:
		return m.takeBack("")
	case p.err != nil:
		m.say("error: " + p.err.Error())
		return nil
	case len(p.undone.Turns) == 0 && p.wish.Redo:
		m.say("there is nothing to redo")
		return nil
	case len(p.undone.Turns) == 0:
		m.say("there is nothing to undo: no turn has changed a file, or all is undone")
		return nil
	}
	m.picker.Begin(p.title(), p.choices(m), func(c list.Choice) tea.Cmd {
		switch c.ID {
		case "no":
			return nil
		case "talk":
			return m.takeBack("")
		}
		w := p.wish
		w.Dry, w.Git, w.Unknown = false, w.Git || c.ID == "git", c.ID == "unknown"
		return do(m, w, c.ID == "both")
	})
	m.picker.PeekWith("each path", func(context.Context, string) ([]draw.Span, error) { return undoneSpans(p.undone), nil })
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
func (p proposed) choices(m *model) []list.Choice {
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
	if p.wish.Since && canRewind(m) == "" {
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

func do(m *model, w api.Undo, rewind bool) tea.Cmd {
	m.rewinding = true
	m.say("putting files back…")
	ask := m.ports.Undo
	return func() tea.Msg {
		u, err := ask(context.Background(), w)
		return putBack{w, u, err, rewind}
	}
}

// tell says what was done, and names in the conversation what was not.
func (p putBack) tell(m *model) tea.Cmd {
	if p.err != nil {
		m.say("error: " + p.err.Error())
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
		return m.takeBack(text)
	}
	m.apply(session.Notice{Text: text})
	return nil
}
