package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/screen"
)

// answers lists the answers of the model, oldest first.
func (t *transcript) answer() string {
	for i := len(t.entries) - 1; i >= 0; i-- {
		if p, ok := t.entries[i].(*proseEntry); ok && !p.reasoning && p.Len() > 0 {
			return p.String()
		}
	}
	return ""
}

func canCopy(m *model) string {
	if m.transcript.answer() == "" {
		return "there is no answer to copy yet"
	}
	return ""
}

func (m *model) copyAnswer() tea.Cmd { return m.copyText("the last answer", m.transcript.answer()) }

func (m *model) copyCode() tea.Cmd {
	code, ok := lastCode(m.transcript.answer())
	if !ok {
		m.say("the last answer has no block of code")
		return nil
	}
	return m.copyText("the last block of code", code)
}

func (m *model) copyCommand(arg string) tea.Cmd {
	if arg == "code" {
		return m.copyCode()
	}
	return m.copyAnswer()
}

func (m *model) copyText(what, text string) tea.Cmd {
	if len(text) > screen.MaxCopy {
		m.say(fmt.Sprintf("%s has %s: terminals take at most %s", what, size(len(text)), size(screen.MaxCopy)))
		return nil
	}
	m.say(fmt.Sprintf("copied %s (%s), if your terminal allows it", what, size(len(text))))
	clean := safeterm.Clean(text)
	return func() tea.Msg { m.clipboard(clean); return nil }
}

// lastCode is what stands between the last pair of fences.
func lastCode(text string) (string, bool) {
	var code, open []string
	fence, found := "", false
	for line := range strings.SplitSeq(text, "\n") {
		body := strings.TrimLeft(line, " ")
		switch {
		case fence == "" && (strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~")):
			fence, open = body[:3], nil
		case fence != "" && strings.HasPrefix(body, fence):
			fence, code, found = "", open, true
		case fence != "":
			open = append(open, line)
		}
	}
	return strings.Join(code, "\n"), found
}
