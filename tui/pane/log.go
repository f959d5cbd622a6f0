package pane

import (
	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// Log is a background job's output at the time it was opened.
type Log struct {
	theme   *draw.Theme
	heading string
	lines   []draw.Span
}

// NewLog returns a pane with lines under a heading.
func NewLog(t *draw.Theme, heading string, lines []draw.Span) *Log { return &Log{t, heading, lines} }

// Heading implements sheet.
func (l *Log) Heading() string { return "output of " + l.heading }

// Sheet implements sheet. Long lines wrap.
func (l *Log) Sheet(w int) (rows []draw.Row, marks []int) {
	for _, line := range l.lines {
		rows = l.theme.Wrap(rows, w, draw.Margins{Hard: true}, line)
	}
	if len(l.lines) == 0 {
		rows = append(rows, l.theme.Line(draw.Dim, safeterm.Fixed("no output yet")))
	}
	return rows, nil
}
