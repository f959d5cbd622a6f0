package tui

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// broken is a program in which everything fails, and that remembers what it was asked.
type broken struct{ failed []string }

func (b *broken) fail(door string) error {
	text := "the door " + door + " is shut, and nobody knows when it opens again: ask who has the key to it"
	b.failed = append(b.failed, text)
	return errors.New(text)
}

func (b *broken) result(door string) session.Result {
	return session.Result{Cause: session.CauseStore, Message: b.fail(door).Error()}
}

func (b *broken) ports() api.Ports {
	return api.Ports{
		Switch:   true,
		Sessions: func(context.Context) ([]api.SessionHead, error) { return nil, b.fail("sessions") },
		Search: func(context.Context, string) ([]api.SearchResult, string, error) {
			return nil, "", b.fail("search")
		},
		Peek:   func(context.Context, string) (api.SessionPeek, error) { return api.SessionPeek{}, b.fail("peek") },
		Models: func(context.Context) ([]api.ModelRow, error) { return nil, b.fail("models") },
		Modes:  []api.Mode{{Name: "plan"}, {Name: "ask"}},
		ProjectPrograms: func(context.Context) ([]api.ProjectProgram, error) {
			return []api.ProjectProgram{{ID: "tool:x"}}, b.fail("carried")
		},
		Consent:       func(context.Context, api.ProjectProgram, bool) error { return b.fail("consent") },
		Mode:          func() string { return "ask" },
		SetMode:       func(string) error { return b.fail("mode") },
		Review:        func(bool) error { return b.fail("review") },
		Sandbox:       func() string { return "none" },
		Efforts:       []api.Mode{{Name: "low"}, {Name: "plan"}},
		SetEffort:     func(word string) string { return word },
		CancelCall:    func(tool.CallID) bool { return false },
		Jobs:          func() []api.Job { return []api.Job{{ID: "job1", Running: true}} },
		JobOutput:     func(context.Context, string) (string, error) { return "", b.fail("output") },
		EndJob:        func(string) error { return b.fail("job") },
		Servers:       func(context.Context) ([]api.Server, error) { return []api.Server{{Name: "acme"}}, nil },
		Serve:         func(context.Context, string, string) (string, error) { return "", b.fail("server") },
		Late:          func() bool { return false },
		Wake:          func(context.Context) session.Result { return b.result("wake") },
		Branch:        func() string { return "" },
		Files:         func(context.Context, func(api.Files)) (api.Files, error) { return api.Files{}, b.fail("files") },
		Folder:        func(context.Context, string) (string, []string, error) { return "", nil, b.fail("folder") },
		Run:           func(context.Context, string) session.Result { return b.result("run") },
		Compact:       func(context.Context, string) session.Result { return b.result("compact") },
		Plan:          func(context.Context) (string, error) { return "", b.fail("plan") },
		Steer:         func(string) bool { return false },
		Rewind:        func(context.Context) (string, error) { return "", b.fail("rewind") },
		Undo:          func(context.Context, api.Undo) (api.UndoResult, error) { return api.UndoResult{}, b.fail("undo") },
		Net:           func(context.Context, api.Baseline) (api.Net, error) { return api.Net{}, b.fail("net") },
		Revert:        func(context.Context, api.NetHunk) session.Result { return b.result("revert") },
		Stage:         func(context.Context, api.NetHunk) session.Result { return b.result("stage") },
		Draft:         func(context.Context) (string, error) { return "", b.fail("draft") },
		Commit:        func(context.Context, string) session.Result { return b.result("commit") },
		StageAll:      func(context.Context, api.Net) session.Result { return b.result("stage") },
		MergePlan:     func(context.Context) (api.Merge, error) { return api.Merge{}, b.fail("merge") },
		Merge:         func(context.Context) session.Result { return b.result("merge") },
		Overview:      func() error { return b.fail("overview") },
		Staged:        func(context.Context, string) session.Result { return b.result("staged") },
		Open:          func(string, int) error { return b.fail("open") },
		Edit:          func(string) (string, error) { return "", b.fail("edit") },
		Drop:          func(string) (api.Dropped, bool) { return api.Dropped{}, false },
		Picture:       func(context.Context) (string, error) { return "", b.fail("picture") },
		Keep:          func(string, string) error { return b.fail("keep") },
		CurrentValue:  func(string) string { return "" },
		CheckModel:    func(string) error { return b.fail("model") },
		PromptHistory: func() []string { return nil },
		Remember:      func(string) {},
	}
}

// TestBrokenPortsAreAllTried: a port that is new belongs into broken.ports.
func TestBrokenPortsAreAllTried(t *testing.T) {
	v := reflect.ValueOf((&broken{}).ports())
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("broken.ports has no %s", v.Type().Field(i).Name)
		}
	}
}

// doors are what a user does to make the interface ask something of the program.
func doors() (all [][]string) {
	for _, c := range bare().commands() {
		if c.name != "quit" {
			all = append(all, []string{"type /" + c.name, "key enter"}, []string{"type /" + c.name + " plan", "key enter"})
		}
	}
	for _, b := range bare().bindings() {
		if b.scope == inPrompt && b.action != quit {
			all = append(all, []string{"key " + b.Keys()[0]})
		}
	}
	return append(all, []string{"type /undo", "key enter", "wait 1s"}, []string{"type /redo", "key enter", "wait 1s"}, []string{"type /plan", "key enter", "wait 1s"}, []string{"type !ls", "key enter"}, []string{"type @", "wait 1s"},
		[]string{"type /mode", "key enter enter"}, []string{"type /trust", "key enter", "wait 1s"}, []string{"type /theme dark", "key enter down enter"}, []string{"type /vim", "key enter down enter"},
		[]string{"type /model a/b", "key enter"}, []string{"key f2", "wait 1s", "key down", "wait 1s"}, []string{"key esc esc"},
		[]string{"type /jobs", "key enter", "wait 1s", "key enter"}, []string{"type /jobs", "key enter", "key ctrl+x down enter", "wait 1s"}, []string{"type /jobs", "key enter", "wait 1s"}, []string{"type /servers", "key enter", "wait 1s", "key enter", "wait 1s", "key enter", "wait 1s"})
}

// TestEveryErrorIsSeen does everything that asks something of a program in which all fails: what
// the program answers stands on the screen.
func TestEveryErrorIsSeen(t *testing.T) {
	seen := map[string]bool{}
	for _, size := range []string{"40x10", "60x15", "120x40"} {
		for _, steps := range doors() {
			everyErrorIsSeen(t, size, steps, seen)
		}
	}
	for _, door := range []string{"sessions", "models", "mode", "files", "run", "compact", "rewind", "undo", "net", "merge", "overview", "edit", "picture", "job", "output", "carried", "plan"} {
		if !seen[(&broken{}).fail(door).Error()] {
			t.Errorf("nothing asked for %s", door)
		}
	}
}

// everyErrorIsSeen takes the steps to one door in a window of a size, and looks for the error.
func everyErrorIsSeen(t *testing.T, size string, steps []string, seen map[string]bool) {
	t.Helper()
	b := &broken{}
	p := newPlayer(t, nil)
	p.step("size", size)
	*p.m.ports = b.ports()
	p.m.borrow = func(use func() error) func() error { return use }
	var turns []session.Result
	p.m.turns.start = func(ctx context.Context, j job) {
		switch {
		case j.compact:
			turns = append(turns, p.m.ports.Compact(ctx, j.wish))
		case j.run != nil:
			turns = append(turns, j.run(ctx))
		case j.command != "":
			turns = append(turns, p.m.ports.Run(ctx, j.command))
		}
	}
	p.step("user", "hello")
	for _, s := range steps {
		verb, rest, _ := strings.Cut(s, " ")
		p.step(verb, rest)
	}
	for _, r := range turns {
		p.send(batch{turnDone{r}})
	}
	screen := columns(p.dump())
	for _, text := range b.failed {
		seen[text] = true
		if !strings.Contains(screen, strings.ReplaceAll(text, " ", "")) {
			t.Errorf("%s, %q: %q is drawn nowhere:\n%s", size, steps, text, p.dump())
		}
	}
}

// columns is a screen as one text without spaces: what is at the left, then what stands beside it.
func columns(screen string) string {
	var left, right strings.Builder
	for line := range strings.Lines(screen) {
		l, r, _ := strings.Cut(line, " │")
		left.WriteString(l)
		right.WriteString(r)
	}
	return strings.Join(strings.Fields(left.String()+right.String()), "")
}

// TestNoticesOfAResumedSessionAreSeen: the welcome, which says them else, is not shown below a
// conversation.
func TestNoticesOfAResumedSessionAreSeen(t *testing.T) {
	said := session.MessageDone{Message: session.Message{Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "hello"}}}}
	for _, o := range []Options{{}, {Inline: true}, {Inline: true, AlreadyShown: true}} {
		o.Blocks, o.History, o.Env = testBlocks, []session.Event{said}, func(string) string { return "" }
		o.Info.Notices = []string{"error: there is no model x/y\nhint: /model lists them"}
		m := newModel(o)
		m.w, m.h, m.now = 60, 15, func() time.Time { return time.Unix(0, 0) }
		f := m.Frame()
		text := ""
		for _, r := range append(f.Scrolled, f.Rows...) {
			text += r.String() + "\n"
		}
		if n := strings.Count(text, "there is no model x/y"); n != 1 {
			t.Errorf("inline %v, shown %v: the notice stands there %d times:\n%s", o.Inline, o.AlreadyShown, n, text)
		}
	}
}

// TestAJobWithoutAStartHasNoTime also holds a start that lies ahead, after a clock was set back.
func TestAJobWithoutAStartHasNoTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for note, started := range map[string]time.Time{"runs": {}, "runs for 0.0 s": now.Add(time.Hour), "runs for 12 s": now.Add(-12 * time.Second)} {
		got := jobChoices([]api.Job{{ID: "job1", Running: true, Started: started}}, now)[0].Note
		if got != note {
			t.Errorf("started at %v: %q, want %q", started, got, note)
		}
	}
}
