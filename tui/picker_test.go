package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"adze/session"
	"adze/session/api"
	"adze/tui/ui"
)

// manySessions are as many as somebody has after a year.
func manySessions() []api.SessionHead {
	var heads []api.SessionHead
	for i := range 1000 {
		heads = append(heads, api.SessionHead{
			ID: fmt.Sprintf("s%04d", i), Title: fmt.Sprintf("fix what is wrong in part %d of the program", i), Model: "anthropic/claude-sonnet-5-5",
			Cwd: fmt.Sprintf("/home/ann/project%d", i%7), Updated: time.Unix(int64(1_000_000-i*1000), 0),
		})
	}
	return heads
}

// TestAThousandSessionsAreFiltered by title, folder and id, and the one that was marked stays
// marked when more come.
func TestAThousandSessionsAreFiltered(t *testing.T) {
	p := newPlayer(t, nil)
	items := sessionChoices(manySessions(), *p.m.info, p.clock)
	p.m.picker.Begin("sessions", items[:10], nil)
	p.m.picker.Move(3)
	p.m.picker.Fill(items[10:], nil)
	if c, _ := p.m.picker.Selected(); c.ID != items[3].ID {
		t.Errorf("%s is marked, want %s", c.ID, items[3].ID)
	}
	for filter, want := range map[string]int{"": 1000, "PART 99": 19, "project3": 143, "s0500": 1, "part 7 project0 s0007": 1, "nothing": 0} {
		p.m.picker.Filter.Set(filter)
		p.m.picker.Narrow()
		if got := len(p.m.picker.Choices()); got != want {
			t.Errorf("%q finds %d sessions, want %d", filter, got, want)
		}
	}
}

func TestAgesAreToldAsPeopleDo(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", time.Minute: "1 min ago", 59 * time.Minute: "59 min ago", 2 * time.Hour: "2 h ago",
		47 * time.Hour: "1 d ago", 29 * 24 * time.Hour: "29 d ago", 31 * 24 * time.Hour: "2026-10-21", -time.Hour: "2026-11-21",
	} {
		if got := ui.Age(now, now.Add(-ago)); got != want {
			t.Errorf("%v ago is %q, want %q", ago, got, want)
		}
	}
}

// BenchmarkThousandSessions is a key in the filter of a thousand sessions, to its frame.
func BenchmarkThousandSessions(b *testing.B) {
	p := newPlayer(b, nil)
	p.m.picker.Begin("sessions", sessionChoices(manySessions(), *p.m.info, p.clock), nil)
	for i := 0; b.Loop(); i++ {
		p.m.picker.Filter.Set([]string{"part", "part 9"}[i%2])
		p.m.picker.Narrow()
		p.m.frame()
	}
}

// A session that is opened for what was found in it shows that first, and says where it is when it
// is not there.
func TestASessionIsOpenedAtAPlace(t *testing.T) {
	var history []session.Event
	for i := range 60 {
		id := fmt.Sprint("m", i)
		history = append(history, session.MessageDone{Message: session.Message{ID: id, Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: "text of " + id}}}})
	}
	for at, want := range map[string]string{"m7": "text of m7", "": "text of m59", "gone": "sessions show s1"} {
		m := newModel(Options{History: history, InitialPlace: api.Place{Message: at}, Info: Info{Session: "s1"}, Env: func(string) string { return "" }})
		m.w, m.h = 80, 24
		var shown strings.Builder
		for _, r := range m.frame().Rows {
			shown.WriteString(ansi.Strip(r.String()) + "\n")
		}
		if text := shown.String(); !strings.Contains(text, want) || at == "m7" && strings.Contains(text, "text of m59") {
			t.Errorf("%q shows\n%s", at, text)
		}
	}
	if id, at := placeOf("s1"); id != "s1" || at != (api.Place{}) {
		t.Errorf("%q %v", id, at)
	}
}
