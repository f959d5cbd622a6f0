package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"adze/internal/files/diff"
	"adze/internal/stream/ask"
	"adze/internal/testkit/golden"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/session/api"
	"adze/tool"
	"adze/tui/permission"
	"adze/tui/question"
	"adze/tui/screen"
)

// TestScreens plays events and keys and compares what is drawn. A case's input is one step a line:
//
//	inline (only as the first step) | size 80x24 | narrow and other options    type TEXT | key NAME... | paste SECTION | wheel up|down
//	user TEXT | text MSG "…" | write MSG SECTION | styles (from here on screens show them, as in ⟨1;36⟩bold cyan⟨⟩) | think MSG "…" | said JSON(Message) | forming CALL NAME BYTES
//	start|update|decided JSON(tool.Event) | end JSON(tool.Outcome, Parent) | retry JSON | notice TEXT
//	turnend JSON(Result) | compacted JSON(session.Compaction) | ports (what the program can do beside running turns) | done CAUSE | permission JSON | withdraw | wait DURATION | screen NAME
//	init (what is looked for at the start) | stir [late] (something changed in the background, and the agent is to be told) | jobs JSON([]Job, what the program says runs in the background) | counted JSON(Ledger) | prefix JSON(PrefixChange) | branch NAME | keeps (choices can be kept)
func TestScreens(t *testing.T) {
	golden.Cases(t, "../testdata/screen", func(t *testing.T, c *golden.Case) {
		p := newPlayer(t, c)
		for line := range strings.SplitSeq(c.Input, "\n") {
			verb, rest, _ := strings.Cut(line, " ")
			if verb == "screen" {
				c.Demand(t, "want."+rest, p.dump())
				continue
			}
			p.step(verb, rest)
		}
		c.Want(t, "want.screen", p.dump())
	})
}

// player drives a model with a clock of its own.
type player struct {
	t         testing.TB
	c         *golden.Case
	m         *model
	clock     time.Time
	timers    []timer
	log       []string
	open      []*permission.Asked
	inquiries []*question.Asked
	jobs      []api.Job
	styles    bool
	late      bool     // something came that the agent was not told
	seen      *inlined // nil: the interface has the whole screen
}

type timer struct {
	due time.Time
	msg tea.Msg
}

func newPlayer(t testing.TB, c *golden.Case) *player {
	if c != nil {
		if keys, ok := c.Section("keys"); ok {
			return boundPlayer(t, c, decode[map[string][]string](t, keys))
		}
	}
	return boundPlayer(t, c, nil)
}

// boundPlayer is a player whose person bound keys.
func boundPlayer(t testing.TB, c *golden.Case, keys map[string][]string) *player {
	p := &player{t: t, c: c, clock: time.Unix(1_000_000, 0).UTC()}
	info := Info{Version: "0.1.0", Model: "script/demo", Mode: "ask", Session: "s1", Cwd: "/home/ann/calc", Folder: "~/calc", Sandbox: "none"}
	if c != nil {
		if n, ok := c.Section("notices"); ok {
			info.Notices = strings.Split(strings.TrimSpace(n), "\n")
		}
	}
	if c != nil {
		if text, ok := c.Section("agents"); ok {
			info.Agents = decode[[]api.Mode](t, text)
		}
		if text, ok := c.Section("told"); ok {
			info.Instructions = strings.Fields(text)
		}
	}
	if c != nil {
		if text, ok := c.Section("carried"); ok {
			carried := decode[[]api.Named](t, text)
			info.Commands = func() []api.Named { return carried }
		}
	}
	p.m = newModel(Options{Blocks: testBlocks, Info: info, Keys: keys, Env: func(string) string { return "" }})
	p.m.w, p.m.h = 80, 24
	p.m.now = func() time.Time { return p.clock }
	p.m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		p.timers = append(p.timers, timer{p.clock.Add(d), msg})
		return nil
	}
	p.m.turns.start = func(_ context.Context, j job) {
		if j.compact {
			p.note(fmt.Sprintf("to be summed up: %q", j.wish))
			return
		}
		if j.wake {
			p.late = false
			p.note("woken")
			return
		}
		if j.run != nil {
			j.run(context.Background())
			return
		}
		if j.command != "" {
			p.note(fmt.Sprintf("ran: %q", j.command))
			return
		}
		p.note(strings.TrimSpace(fmt.Sprintf("sent: %q %s", j.prompt.Text, strings.Join(j.prompt.Attach, " "))))
	}
	p.m.clipboard = func(text safeterm.Text) { p.note(fmt.Sprintf("copied: %q", text.String())) }
	p.m.window.notify = func(n screen.Note) {
		p.note("told: " + map[screen.Note]string{screen.NoteDone: "done", screen.NoteAsk: "asks"}[n])
	}
	return p
}

// testBlocks is the view of every tool in these tests: metadata that spells its blocks out.
func testBlocks(_ string, raw json.RawMessage) []tool.Block {
	var m struct{ Blocks []tool.Block }
	_ = json.Unmarshal(raw, &m)
	return m.Blocks
}

func (p *player) note(s string) { p.log = append(p.log, s) }

func (p *player) send(msg tea.Msg) {
	next, cmd := p.m.Update(msg)
	p.m = next.(*model)
	p.run(cmd)
	for i := 0; i < len(p.open); i++ {
		select {
		case a := <-p.open[i].Reply:
			p.note(fmt.Sprintf("answered: %s %q", map[ask.Choice]string{ask.Deny: "deny", ask.Once: "once", ask.ForSession: "session", ask.Always: "always", ask.AllEdits: "all edits"}[a.Choice], a.Reason))
			if a.Text != "" || len(a.Refused) > 0 {
				p.note(fmt.Sprintf("otherwise: %q without %v", a.Text, a.Refused))
			}
			p.open = append(p.open[:i], p.open[i+1:]...)
			i--
		default:
		}
	}
	p.replied()
	p.show() // as in the program: a frame after every message
}

func (p *player) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			p.run(c)
		}
	case tea.QuitMsg:
		p.note(strings.TrimSpace(fmt.Sprintf("quit %s", p.nextText())))
	case nil:
	default:
		p.send(msg)
	}
}

// nextText is how the user wants to go on after quitting.
func (p *player) nextText() string {
	if p.m.stopper.next == (api.Next{}) {
		return ""
	}
	n := p.m.stopper.next
	text := "for"
	for _, part := range []struct {
		name string
		is   bool
	}{{" session " + n.Session, n.Session != ""}, {" in a copy", n.Fork}, {" new", n.New}, {" model " + n.Model, n.Model != ""}, {" demo", n.Demo}, {" on the screen " + string(n.Screen), n.Screen != ""}} {
		if part.is {
			text += part.name
		}
	}
	return text
}

func (p *player) event(e session.Event) { p.send(batch{e}) }

func (p *player) step(verb, rest string) {
	p.t.Helper()
	if p.input(verb, rest) || p.conversation(verb, rest) || p.calls(verb, rest) {
		return
	}
	p.t.Fatalf("unknown step %q", verb)
}

func (p *player) input(verb, rest string) bool {
	switch verb {
	case "size":
		var w, h int
		if _, err := fmt.Sscanf(rest, "%dx%d", &w, &h); err != nil {
			p.t.Fatal(err)
		}
		p.send(tea.WindowSizeMsg{Width: w, Height: h})
	case "type":
		for _, r := range rest {
			p.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	case "key":
		for _, k := range strings.Fields(rest) {
			p.send(keyPress(p.t, k))
		}
	case "paste":
		text, ok := p.c.Section(rest)
		if !ok {
			p.t.Fatalf("no section %s", rest)
		}
		p.send(tea.PasteMsg{Content: strings.TrimSuffix(text, "\n")})
	case "keeps": // choices can be written down; nothing is yet
		p.m.ports.Keep = func(name, value string) error {
			p.note("kept: " + name + " " + value)
			if value == "ansi" {
				return errors.New("config.json: line 1: it is broken")
			}
			return nil
		}
		p.m.ports.CurrentValue = func(name string) string { return map[string]string{"model": "ollama/qwen3"}[name] }
	case "wheel":
		p.send(tea.MouseWheelMsg{Button: map[string]tea.MouseButton{"up": tea.MouseWheelUp, "down": tea.MouseWheelDown}[rest]})
	case "wait":
		p.wait(rest)
	case "first":
		p.first(rest)
	case "styles":
		p.styles = true
	case "stir": // something changed in the background; "late": and the agent is to be told of it
		p.late = rest == "late"
		p.send(batch{stirred{}})
	case "jobs":
		p.jobs = decode[[]api.Job](p.t, rest)
	case "ports":
		*p.m.ports = p.ports()
		if text, ok := p.section("undone"); ok {
			p.m.ports.Undo = p.putBack(decode[api.UndoResult](p.t, text))
		}
		p.m.borrow = func(use func() error) func() error { return use }
		p.m.ports.Edit = func(text string) (string, error) { return text + " and more\n", nil }
	case "net": // the section of this name for each moment is what differs since
		p.net()
	case "init": // as at the start
		p.run(p.m.Init())
	case "inline":
		p.inline()
	case "focus":
		p.send(map[string]tea.Msg{"in": tea.FocusMsg{}, "out": tea.BlurMsg{}}[rest])
	case "":
	default:
		return false
	}
	return true
}

// net answers what differs, and writes down what is done with a hunk.
func (p *player) net() {
	p.m.ports.Net = func(_ context.Context, since api.Baseline) (api.Net, error) {
		text, ok := p.section(string(since))
		if !ok {
			return api.Net{}, errors.New("nothing is known of that")
		}
		in := decode[struct {
			From  string
			Files []struct {
				api.NetFile
				Diff string // which has no name on the wire
			}
		}](p.t, text)
		n := api.Net{Baseline: in.From}
		for _, one := range in.Files {
			f := one.NetFile
			f.Diff = one.Diff
			for _, h := range diff.Hunks(f.Diff) {
				f.Hunks = append(f.Hunks, api.HunkText{Text: h.Text, Line: h.Line})
			}
			n.Files = append(n.Files, f)
		}
		return n, nil
	}
	did := func(what string) func(context.Context, api.NetHunk) session.Result {
		return func(_ context.Context, h api.NetHunk) session.Result {
			p.note(fmt.Sprintf("%s: %s, hunk %d", what, h.File.Path, h.Number))
			return session.Result{Cause: session.CauseDone}
		}
	}
	p.m.ports.Revert, p.m.ports.Stage = did("reverted"), did("staged")
	p.m.ports.Draft = func(context.Context) (string, error) { return "Add every number\n\nThe first was left out.", nil }
	p.m.ports.Commit = func(_ context.Context, message string) session.Result {
		p.note(fmt.Sprintf("committed: %q", message))
		return session.Result{Cause: session.CauseDone}
	}
	p.m.borrow = func(use func() error) func() error { return use }
	p.m.ports.Open = func(path string, line int) error {
		p.note(fmt.Sprintf("opened: %s:%d", path, line))
		return nil
	}
}

// wait moves the clock and rings what becomes due, in order.
func (p *player) wait(s string) {
	d, err := time.ParseDuration(s)
	if err != nil {
		p.t.Fatal(err)
	}
	end := p.clock.Add(d)
	for {
		next := -1
		for i, t := range p.timers {
			if !t.due.After(end) && (next < 0 || t.due.Before(p.timers[next].due)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		t := p.timers[next]
		p.timers = append(p.timers[:next], p.timers[next+1:]...)
		p.clock = t.due
		p.send(t.msg)
	}
	p.clock = end
}

func (p *player) conversation(verb, rest string) bool {
	switch verb {
	case "user":
		p.event(session.MessageDone{Message: session.Message{Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: unquote(p.t, rest)}}}})
	case "text":
		id, text, _ := strings.Cut(rest, " ")
		p.event(session.TextDelta{Message: id, Delta: unquote(p.t, text)})
	case "write":
		id, name, _ := strings.Cut(rest, " ")
		text, ok := p.c.Section(name)
		if !ok {
			p.t.Fatalf("no section %s", name)
		}
		p.event(session.TextDelta{Message: id, Delta: strings.TrimSuffix(text, "\n")})
	case "think":
		id, text, _ := strings.Cut(rest, " ")
		p.event(session.ReasoningDelta{Message: id, Delta: unquote(p.t, text)})
	case "said":
		m := decode[session.Message](p.t, rest)
		if m.Role == "" {
			m.Role = session.Assistant
		}
		p.event(session.MessageDone{Message: m})
	case "compacted":
		p.event(session.Compacted{Compaction: decode[session.Compaction](p.t, rest)})
	case "retry":
		p.event(decode[session.Retry](p.t, rest))
	case "counted":
		p.event(session.Counted{Ledger: decode[session.Ledger](p.t, rest)})
	case "prefix":
		p.event(session.PrefixChanged{Change: decode[session.PrefixChange](p.t, rest)})
	case "branch":
		p.m.branches.found(rest)
	case "claimed":
		p.event(session.Claimed{Claims: decode[[]session.Claim](p.t, rest)})
	case "claims": // with evidence
		p.event(decode[session.Claimed](p.t, rest))
	case "notice":
		p.event(session.Notice{Text: unquote(p.t, rest)})
	case "done":
		r := session.Result{Cause: session.Cause(rest), Duration: 12 * time.Second}
		p.send(batch{session.TurnEnd{Result: r}, turnDone{r}})
	case "turnend":
		p.event(session.TurnEnd{Result: decode[session.Result](p.t, rest)})
	default:
		return false
	}
	return true
}

func (p *player) calls(verb, rest string) bool {
	switch verb {
	case "forming":
		var e session.CallForming
		if _, err := fmt.Sscan(rest, &e.Call, &e.Name, &e.Bytes); err != nil {
			p.t.Fatal(err)
		}
		p.event(e)
	case "queued":
		p.event(session.ToolQueued{Event: decode[tool.Event](p.t, rest)})
	case "start":
		p.event(session.ToolStart{Event: decode[tool.Event](p.t, rest)})
	case "update":
		p.event(session.ToolUpdate{Event: decode[tool.Event](p.t, rest)})
	case "decided":
		p.event(session.ToolAsk{Event: decode[tool.Event](p.t, rest)})
	case "end":
		of := decode[struct {
			Parent tool.CallID
			Window *session.Window
			Diffs  []string // of the changes in the window
		}](p.t, rest)
		for i, d := range of.Diffs {
			of.Window.Changes[i].Diff = d
		}
		p.event(session.ToolEnd{Outcome: decode[tool.Outcome](p.t, rest), Parent: of.Parent, Window: of.Window})
	case "permission":
		p.permission(rest)
	case "asks":
		p.inquire(rest)
	case "withdraw":
		p.send(batch{permission.Unasked{Asked: p.open[0]}})
		p.open = p.open[1:]
	default:
		return false
	}
	return true
}

// dump is the screen as a user sees it, without attributes, and what happened to the outside.
func (p *player) dump() string {
	f := p.m.frame()
	var b strings.Builder
	if p.seen != nil {
		b.WriteString(p.dumpInline())
		f = p.seen.last
	}
	for _, r := range f.Rows {
		text := ansi.Strip(r.String())
		if w := ansi.StringWidth(text); w != r.Width() {
			p.t.Errorf("a row says it is %d wide and is %d: %q", r.Width(), w, text)
		}
		if r.Width() > f.W {
			p.t.Errorf("a row of %d cells on a screen of %d: %q", r.Width(), f.W, text)
		}
		if clean := safeterm.Clean(text).String(); clean != text || strings.ContainsAny(text, "\n\t") {
			p.t.Errorf("a row is not clean: %q", text)
		}
		if p.styles {
			text = styleRuns(r.String())
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	if f.Cursor {
		fmt.Fprintf(&b, "(cursor at column %d of row %d)\n", f.CursorX+1, f.CursorY+1)
	}
	for _, l := range p.log {
		b.WriteString("(" + l + ")\n")
	}
	return b.String()
}

// styleRuns makes the attributes of a row readable.
func styleRuns(row string) string {
	return regexp.MustCompile("\x1b\\[([0-9;]*)m").ReplaceAllString(row, "⟨$1⟩")
}

func decode[T any](t testing.TB, s string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

// unquote reads a Go string where one is written, else the text as it is.
func unquote(t testing.TB, s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	var v string
	if _, err := fmt.Sscanf(s, "%q", &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

// keyPress makes the message of a key by its name.
func keyPress(t testing.TB, name string) tea.KeyPressMsg {
	var k tea.Key
	rest := name
	for {
		mod, after, more := strings.Cut(rest, "+")
		if !more || after == "" {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
		rest = after
	}
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome,
		"end": tea.KeyEnd, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6, "f7": tea.KeyF7, "tab": tea.KeyTab, "space": tea.KeySpace,
	}
	if code, ok := special[rest]; ok {
		k.Code = code
		if rest == "space" && k.Mod == 0 {
			k.Text = " "
		}
	} else {
		k.Code = []rune(rest)[0]
		if k.Mod == 0 {
			k.Text = rest
		}
	}
	if got := tea.KeyPressMsg(k).String(); got != name {
		t.Fatalf("key %q comes out as %q", name, got)
	}
	return tea.KeyPressMsg(k)
}
