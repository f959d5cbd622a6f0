package overview

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/screen"
	"adze/tui/tty"
	"adze/tui/ui"
)

type frame = screen.Frame

type (
	stirred struct{}
	rested  struct{} // lookTime has passed
	listed  struct {
		rows []Row
		more bool
		err  error
	}
	peeked struct {
		id   string
		peek Peek
		err  error
	}
	did struct {
		said string
		err  error
	}
)

// someRows is the number of sessions loaded at first, and again at the end of the list.
const someRows = 50

// lookTime is the pause after a refresh while sessions change: a working session changes with each
// call. Without changes there is no timer.
const lookTime = time.Second / 20

func newModel(ctx context.Context, o Options) *model {
	if o.Theme == nil {
		o.Theme = draw.Color()
	}
	if o.After == nil {
		o.After = func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &model{Options: o, ctx: ctx, selectedID: o.SelectedID, moved: o.SelectedID != "", most: someRows, note: o.Note, w: 80, h: 24}
}

// Init loads the rows.
func (m *model) Init() tea.Cmd { return m.look() }

// Update handles a message.
func (m *model) Update(msg tea.Msg) (tty.Interface, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 { // the library does not know the size
			m.w, m.h = msg.Width, msg.Height
		}
	case tea.ModeReportMsg:
		m.Theme.SetCells(draw.Cells(msg.Value.IsSet()))
	case tea.KeyPressMsg:
		if m.listed || msg.String() == "ctrl+c" {
			return m, m.key(msg)
		}
		m.early = append(m.early, msg)
	case tea.PasteMsg:
		if !m.listed {
			m.early = append(m.early, msg)
			break
		}
		if e := m.text(); e != nil {
			e.Insert(strings.Join(strings.Fields(msg.Content), " "))
		}
	case stirred:
		return m, m.look()
	case listed:
		if msg.err != nil {
			m.note = msg.err.Error()
		} else {
			m.rows, m.more = msg.rows, msg.more
		}
		m.mark()
		cmds := []tea.Cmd{m.replay(), m.lookInto()}
		if m.looking = m.stale; m.stale {
			cmds = append(cmds, m.After(lookTime, rested{}))
		}
		return m, tea.Batch(cmds...)
	case rested:
		m.looking, m.stale = false, false
		return m, m.look()
	case peeked:
		if msg.id == m.peeked {
			m.peek, m.peekErr = msg.peek, ""
			if msg.err != nil {
				m.peekErr = msg.err.Error()
			}
		}
	case did:
		m.note = msg.said
		if msg.err != nil {
			m.note = msg.err.Error()
		}
		return m, m.look()
	}
	return m, nil
}

// look loads the rows, one request at a time.
func (m *model) look() tea.Cmd {
	if m.looking {
		m.stale = true
		return nil
	}
	m.looking = true
	m.told.Store(false)
	most := m.most
	return func() tea.Msg {
		rows, more, err := m.Port.Rows(m.ctx, most)
		return listed{rows, more, err}
	}
}

// lookInto refreshes the open preview.
func (m *model) lookInto() tea.Cmd {
	if m.peeked == "" {
		return nil
	}
	id := m.peeked
	return func() tea.Msg {
		p, err := m.Port.Peek(m.ctx, id)
		return peeked{id, p, err}
	}
}

// shown returns the rows that match the filter, in display order.
func (m *model) shown() []Row {
	words := strings.Fields(strings.ToLower(m.filter.Text))
	var out []Row
	for _, r := range m.rows {
		if len(words) == 0 || ui.HoldsAll(strings.ToLower(strings.Join(append([]string{r.Title, r.Folder, r.Doing, r.Model, r.ID, r.State.String()}, r.Tags...), " ")), words) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Row) int {
		if m.folders && a.Folder != b.Folder {
			return strings.Compare(a.Folder, b.Folder)
		}
		if a.State != b.State {
			return int(a.State) - int(b.State)
		}
		if a.Pinned != b.Pinned {
			if a.Pinned {
				return -1
			}
			return 1
		}
		return b.Updated.Compare(a.Updated)
	})
	return out
}

// mark keeps the selection on an existing row, or on the first one until the user moves it.
func (m *model) mark() {
	rows := m.shown()
	if !m.moved || !slices.ContainsFunc(rows, func(r Row) bool { return r.ID == m.selectedID }) {
		m.selectedID = ""
		if len(rows) > 0 {
			m.selectedID = rows[0].ID
		}
	}
}

// waiting counts the sessions that need the user.
func (m *model) waiting() (n int) {
	for _, r := range m.rows {
		if r.State == NeedsYou {
			n++
		}
	}
	return n
}

// text returns the focused editor, or nil if keys go to the rows.
func (m *model) text() *edit.Editor {
	switch m.focus {
	case onRows:
		return nil
	case onFilter:
		return &m.filter
	}
	return &m.line
}

func (m *model) write(f focus, text string) {
	m.focus = f
	m.line.Set(text)
}

// perform runs an operation of the port and shows its result.
func (m *model) perform(said string, what func(context.Context) error) tea.Cmd {
	m.note = ""
	return func() tea.Msg { return did{said, what(m.ctx)} }
}

func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if name == "ctrl+c" {
		return m.leave()
	}
	if e := m.text(); e != nil {
		return m.typed(e, msg, name)
	}
	m.note = ""
	if m.help {
		m.help = false
		return nil
	}
	return m.rowKey(name)
}

// typed handles a key in an editor.
func (m *model) typed(e *edit.Editor, msg tea.KeyPressMsg, name string) tea.Cmd {
	switch name {
	case "esc":
		if m.focus == onFilter {
			e.Set("")
			m.mark()
		}
		m.focus = onRows
		return nil
	case "enter":
		return m.entered()
	case "down", "up":
		if m.focus == onFilter {
			return m.rowKey(name)
		}
	}
	for _, k := range edit.Keys() {
		if slices.Contains(k.Keys(), name) {
			m.note = k.Do(e, m.w)
			m.mark()
			return nil
		}
	}
	if edit.Types(msg.Text) {
		e.Insert(msg.Text)
		m.mark()
	}
	return nil
}

// entered handles Enter in an editor.
func (m *model) entered() tea.Cmd {
	text, f, r := strings.TrimSpace(m.line.Text), m.focus, m.selectedID
	m.focus = onRows
	if f == onFilter {
		return nil
	}
	m.line.Set("")
	switch {
	case f == onReason:
		return m.answer(Answer{Text: text})
	case text == "":
		return nil
	case f == onPrompt:
		m.note = ""
		return func() tea.Msg { said, err := m.Port.Begin(m.ctx, text); return did{said, err} }
	case f == onName:
		return m.perform("renamed", func(ctx context.Context) error { return m.Port.Rename(ctx, r, text) })
	case f == onTag:
		return m.perform("tagged", func(ctx context.Context) error { return m.Port.Tag(ctx, r, text) })
	}
	return m.answer(Answer{Allow: true, Text: text})
}

// answer answers the question in the preview.
func (m *model) answer(a Answer) tea.Cmd {
	q, id := m.peek.Question, m.peeked
	if id == "" || q == nil {
		m.note = "nothing is asked any more"
		return nil
	}
	said := "answered"
	if len(q.Choices) == 0 {
		said = map[bool]string{true: "allowed once", false: "denied"}[a.Allow]
	}
	m.peek.Question = nil // prevents a second answer
	return m.perform(said, func(ctx context.Context) error { return m.Port.Answer(ctx, id, q.ID, a) })
}

// rowKey handles a key on the rows.
func (m *model) rowKey(name string) tea.Cmd {
	rows := m.shown()
	i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == m.selectedID })
	move := func(to int) tea.Cmd {
		m.moved = true
		if len(rows) == 0 {
			return nil
		}
		if to >= len(rows) && m.more {
			m.most += someRows
			m.selectedID = rows[len(rows)-1].ID
			return m.look()
		}
		m.selectedID = rows[max(min(to, len(rows)-1), 0)].ID
		if m.peeked == "" {
			return nil
		}
		m.peeked, m.peek, m.peekErr = m.selectedID, Peek{}, ""
		return m.lookInto()
	}
	switch name {
	case "up", "k", "ctrl+p":
		return move(i - 1)
	case "down", "j", "ctrl+n":
		return move(i + 1)
	case "pgup":
		return move(i - max(m.h-6, 1))
	case "pgdown":
		return move(i + max(m.h-6, 1))
	case "home":
		return move(0)
	case "end":
		return move(len(rows) - 1)
	case "n", "tab":
		m.write(onPrompt, "")
	case "/":
		m.focus = onFilter
	case "g":
		m.folders = !m.folders
	case "f5", "ctrl+l":
		return m.look()
	case "f1", "?":
		m.help = true
	case "q":
		return m.leave()
	case "esc":
		if m.peeked != "" {
			m.peeked = ""
			return nil
		}
		if m.filter.Text != "" {
			m.filter.Set("")
			m.mark()
			return nil
		}
		return m.leave()
	default:
		if i >= 0 {
			return m.sessionKey(name, rows[i])
		}
	}
	return nil
}

// sessionKey handles a key for the selected session.
func (m *model) sessionKey(name string, r Row) tea.Cmd {
	switch name {
	case "enter", "right":
		m.open = Opened{ID: r.ID}
		return m.leave()
	case "space":
		m.moved = true
		if m.peeked == r.ID {
			m.peeked = ""
			return nil
		}
		m.peeked, m.peek, m.peekErr = r.ID, Peek{}, ""
		return m.lookInto()
	case "s":
		if !r.Live {
			m.note = "nothing of this session runs"
			return nil
		}
		return m.perform("stopped", func(ctx context.Context) error { return m.Port.Stop(ctx, r.ID) })
	case "r":
		m.write(onName, r.Title)
	case "t":
		m.write(onTag, "")
	case "p":
		return m.perform(map[bool]string{true: "pinned", false: "not pinned"}[!r.Pinned], func(ctx context.Context) error { return m.Port.Pin(ctx, r.ID, !r.Pinned) })
	case "v":
		if r.State == NeedsYou || r.State == Working {
			m.note = "it still works; enter opens it"
			return nil
		}
		m.open = Opened{ID: r.ID, Review: true}
		return m.leave()
	case "V":
		if r.State != ToReview {
			m.note = "this session has nothing to review"
			return nil
		}
		return m.perform("reviewed", func(ctx context.Context) error { return m.Port.Reviewed(ctx, r.ID) })
	default:
		return m.questionKey(name)
	}
	return nil
}

// questionKey handles an answer key for the question in the preview.
func (m *model) questionKey(name string) tea.Cmd {
	q := m.peek.Question
	if m.peeked == "" || m.peeked != m.selectedID || q == nil {
		return nil
	}
	if n := strings.Index("123456789", name); len(name) == 1 && n >= 0 && n < len(q.Choices) {
		return m.answer(Answer{Allow: true, Text: q.Choices[n]})
	}
	switch {
	case name == "w" && len(q.Choices) > 0:
		m.write(onWords, "")
	case len(q.Choices) > 0:
	case name == "y":
		return m.answer(Answer{Allow: true})
	case name == "d":
		return m.answer(Answer{})
	case name == "e":
		m.write(onReason, "")
	}
	return nil
}
