package tui

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/safeterm"
	"adze/session"
	"adze/tui/draw"
)

// bytesPerToken is the usual rule of thumb for English and code. Providers tell tokens of whole requests
// only, so the share of each source is an estimate.
const bytesPerToken = 4

// attachmentBytes is what an attachment counts for: about 1,500 tokens is what providers charge for a
// picture at most, whatever its size in bytes.
const attachmentBytes = 1500 * bytesPerToken

// Source is something that is in every request, such as the system prompt.
type Source struct {
	Name  string
	Bytes int
}

// ledger is the pane of what fills the model's context and what has been used.
type ledger struct {
	draw    *drawing
	fixed   []Source
	sources []*Source  // of the conversation, in the order of their first appearance
	before  [][]Source // sources as they were before each message of the person
	models  []*modelUsage
	last    *session.Usage // of the newest request
}

type modelUsage struct {
	name     string
	requests int
	usage    session.Usage
}

// Apply counts what goes into later requests.
func (l *ledger) Apply(e session.Event) {
	switch e := e.(type) {
	case session.ToolEnd:
		l.count("results of "+e.Outcome.Tool, len(e.Outcome.Output))
		l.count("attachments", attachmentBytes*len(e.Outcome.Attachments))
	case session.MessageDone:
		l.message(e.Message)
	}
}

func (l *ledger) message(m session.Message) {
	if m.Role == session.User && m.Own == "" {
		l.before = append(l.before, l.copy())
	}
	for _, p := range m.Parts {
		switch p.Kind {
		case session.TextPart:
			l.count(map[session.Role]string{session.User: "your messages", session.Assistant: "answers"}[m.Role], len(p.Text))
		case session.ReasoningPart:
			l.count("thoughts", len(p.Text)+len(p.Opaque))
		case session.CallPart:
			l.count("calls", len(p.Call.Name)+len(p.Call.Arguments))
		case session.AttachmentPart:
			l.count("attachments", attachmentBytes)
		}
	}
	if m.Role == session.Assistant && m.Usage != nil {
		l.used(m)
	}
}

func (l *ledger) copy() []Source {
	out := make([]Source, len(l.sources))
	for i, s := range l.sources {
		out[i] = *s
	}
	return out
}

// rewind forgets the last message of the person and all that came after it. What was used stays used.
func (l *ledger) rewind() {
	n := len(l.before)
	if n == 0 {
		return
	}
	l.sources = nil
	for _, s := range l.before[n-1] {
		l.count(s.Name, s.Bytes)
	}
	l.before = l.before[:n-1]
}

func (l *ledger) count(source string, bytes int) {
	for _, s := range l.sources {
		if s.Name == source {
			s.Bytes += bytes
			return
		}
	}
	l.sources = append(l.sources, &Source{source, bytes})
}

func (l *ledger) used(m session.Message) {
	l.last = m.Usage
	name := strings.Trim(m.Provider+"/"+m.Model, "/")
	for _, u := range l.models {
		if u.name == name {
			u.requests, u.usage = u.requests+1, u.usage.Add(*m.Usage)
			return
		}
	}
	l.models = append(l.models, &modelUsage{name, 1, *m.Usage})
}

// list is every source with something in it, the largest first.
func (l *ledger) list() (out []Source, total int) {
	out = slices.Clone(l.fixed)
	for _, s := range l.sources {
		out = append(out, *s)
	}
	out = slices.DeleteFunc(out, func(s Source) bool { return s.Bytes == 0 })
	slices.SortStableFunc(out, func(a, b Source) int { return b.Bytes - a.Bytes })
	for _, s := range out {
		total += s.Bytes
	}
	return out, total
}

// Heading implements sheet.
func (l *ledger) Heading() string {
	_, total := l.list()
	return "context · about " + thousands(total/bytesPerToken) + " tokens in the next request"
}

// Sheet implements sheet.
func (l *ledger) Sheet(w int) (rows []draw.Row, marks []int) {
	t := l.draw.theme
	line := func(s draw.Style, text string) { rows = append(rows, t.Line(s, safeterm.Name(text)).Fit(w)) }
	sources, total := l.list()
	for _, s := range sources {
		rows = append(rows, l.bar(s, total, w))
	}
	line(draw.Dim, fmt.Sprintf("by source, estimated as bytes/%d and %d tokens a picture", bytesPerToken, attachmentBytes/bytesPerToken))
	if l.last == nil {
		return rows, nil
	}
	sent := l.last.Input + l.last.CacheRead + l.last.CacheWrite
	line(draw.Plain, "")
	line(draw.Plain, "newest request: "+thousands(sent)+" tokens by the provider's count"+cached(*l.last))
	line(draw.Plain, "")
	line(draw.Dim, fmt.Sprintf("%-32s %8s %8s %8s %8s %8s", "used in this session", "requests", "input", "cached", "written", "output"))
	for _, u := range l.models {
		line(draw.Plain, fmt.Sprintf("%-32s %8d %8s %8s %8s %8s", u.name, u.requests, thousands(u.usage.Input),
			thousands(u.usage.CacheRead), thousands(u.usage.CacheWrite), thousands(u.usage.Output)))
	}
	return rows, nil
}

// cached says how much of a request came from the provider's cache.
func cached(u session.Usage) string {
	sent := u.Input + u.CacheRead + u.CacheWrite
	if sent == 0 || u.CacheRead == 0 {
		return ", none from its cache"
	}
	return fmt.Sprintf(", %d%% from its cache", 100*u.CacheRead/sent)
}

// barWidth is the length of the longest bar.
const barWidth = 20

func (l *ledger) bar(s Source, total, w int) draw.Row {
	share := float64(s.Bytes) / float64(max(total, 1))
	p := l.draw.theme.Pen().Put(draw.Plain, safeterm.Name(s.Name)).Done().Fit(28)
	n := max(int(share*barWidth+0.5), 1)
	return l.draw.theme.Pen().Row(p).Pad(30).
		Fixed(draw.Plain, fmt.Sprintf("%7s %3.0f%% ", thousands(s.Bytes/bytesPerToken), 100*share)).
		Fixed(draw.Accent, strings.Repeat("█", n)).Done().Fit(w)
}
