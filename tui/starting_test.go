package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"adze/session"
)

// early is an interface whose conversation is not there yet. Its conversation is one in which what
// is sent is noted.
func early(t *testing.T, o Options) *player {
	p := newPlayer(t, nil)
	wire := func(m *model) *model {
		m.w, m.h, m.now, m.after, m.turns.start = 80, 24, p.m.now, p.m.after, p.m.turns.start
		return m
	}
	o.Env = func(string) string { return "" }
	o.Starting = true
	m := newModel(o)
	m.starting.renew = func(o Options) *model { o.Env = func(string) string { return "" }; return wire(newModel(o)) }
	p.m = wire(m)
	p.run(p.m.Init())
	return p
}

func (p *player) begin(o Options) { p.send(batch{built{o}}) }

// whole is what the screen shows.
func (p *player) whole() string {
	var b strings.Builder
	for _, r := range p.m.Frame().Rows {
		b.WriteString(ansi.Strip(r.String()) + "\n")
	}
	return b.String()
}

// TestFirstFrame: before anything is known of the conversation there are name, folder, prompt and
// hints.
func TestFirstFrame(t *testing.T) {
	p := early(t, Options{Info: Info{Version: "0.1.0", Cwd: "/home/ann/calc", Folder: "/home/ann/calc"}})
	for _, want := range []string{"0.1.0", "/home/ann/calc", "Ask, or say what to do", "F1 all keys"} {
		if got := p.whole(); !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	p.begin(Options{Info: Info{Version: "0.1.0", Cwd: "/home/ann/calc", Folder: "/home/ann/calc", Model: "script/demo"}})
	if got := p.whole(); !strings.Contains(got, "script/demo") {
		t.Errorf("the model is not shown in\n%s", got)
	}
}

// TestEarlyKeys: what the user does before the conversation is there is done in it, once.
func TestEarlyKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *player)
		sent string // or what else was noted
		left string // in the prompt
	}{
		{"a draft stays", func(p *player) { p.step("type", "half a sen") }, "", "half a sen"},
		{"a message is sent once", func(p *player) { p.step("type", "fix it"); p.step("key", "enter") }, `sent: "fix it" remember: fix it`, ""},
		{"a second one waits for the first", func(p *player) {
			p.step("type", "one")
			p.step("key", "enter")
			p.step("type", "two")
			p.step("key", "enter")
			p.step("type", "thr")
		}, `sent: "one" remember: one remember: two`, "thr"},
		{"a command of the shell is run", func(p *player) { p.step("type", "!ls"); p.step("key", "enter") }, `ran: "ls" remember: !ls`, ""},
		{"a command is obeyed by the conversation", func(p *player) { p.step("type", "/compact"); p.step("key", "enter") }, "", "/compact"},
		{"a paste is pasted once", func(p *player) { p.send(tea.PasteMsg{Content: "x y"}) }, "", "x y"},
		{"esc clears", func(p *player) { p.step("type", "no"); p.step("key", "esc") }, "", ""},
		{"esc takes back what waits", func(p *player) { p.step("type", "no"); p.step("key", "enter"); p.step("key", "esc") }, "", "no"},
		{"ctrl+c takes back and clears", func(p *player) { p.step("type", "no"); p.step("key", "enter"); p.step("key", "ctrl+c") }, "", ""},
		{"ctrl+c twice quits", func(p *player) { p.step("key", "ctrl+c"); p.step("key", "ctrl+c") }, "quit", ""},
		{"/quit quits", func(p *player) { p.step("type", "/quit"); p.step("key", "enter") }, "quit", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := early(t, Options{})
			c.do(p)
			if got := strings.Join(p.log, " "); c.sent != "quit" && got != "" {
				t.Errorf("noted before the conversation is there: %s", got)
			} else if c.sent == "quit" {
				if got != "quit" {
					t.Errorf("noted %q, want quit", got)
				}
				return
			}
			p.begin(Options{Ports: p.ports()})
			if got := strings.Join(p.log, " "); got != c.sent {
				t.Errorf("noted %q, want %q", got, c.sent)
			}
			if got := p.m.prompt.Text; got != c.left {
				t.Errorf("the prompt holds %q, want %q", got, c.left)
			}
		})
	}
}

// TestEarlySentShows: a message that waits for the conversation is seen to wait.
func TestEarlySentShows(t *testing.T) {
	p := early(t, Options{})
	p.step("type", "fix it")
	p.step("key", "enter")
	if got := p.whole(); !strings.Contains(got, "next: fix it") {
		t.Errorf("it is not seen to wait:\n%s", got)
	}
}

// TestToldWhileStarting: what was told before the conversation is there is shown, and below what a
// resumed one holds.
func TestToldWhileStarting(t *testing.T) {
	p := early(t, Options{})
	p.send(batch{session.Notice{Text: "waiting for the key ring"}})
	if got := p.whole(); !strings.Contains(got, "waiting for the key ring") {
		t.Errorf("it is not shown:\n%s", got)
	}
	said := session.MessageDone{Message: session.Message{Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "said before"}}}}
	p.send(batch{built{Options{History: []session.Event{said}}}, session.Notice{Text: "and after"}})
	got := p.whole()
	before, ring, after := strings.Index(got, "said before"), strings.Index(got, "key ring"), strings.Index(got, "and after")
	if before < 0 || ring < before || after < ring {
		t.Errorf("they are at %d, %d, %d of\n%s", before, ring, after, got)
	}
}

// TestInlineStart: what is drawn before the conversation is there never becomes a part of the
// scrollback.
func TestInlineStart(t *testing.T) {
	p := early(t, Options{Inline: true})
	p.send(batch{session.Notice{Text: "early"}})
	if f := p.m.Frame(); len(f.Scrolled) > 0 || len(f.Rows) == 0 {
		t.Errorf("%d rows are final, %d are drawn", len(f.Scrolled), len(f.Rows))
	}
	if rows := p.m.lastWords(); len(rows) > 0 {
		t.Errorf("%d rows stay behind", len(rows))
	}
}

// TestBegin: the interface of the program goes on as that of the conversation, whenever that comes.
func TestBegin(t *testing.T) {
	x := openTerminal(t, "starting")
	x.expect("Ask, or say what to do")
	x.press("fix it\r")
	x.expect("look at the")
	x.expect("evil")
	x.press("\x03\x03")
	x.finish(0)
}
