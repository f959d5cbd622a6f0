package list

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// SearchAfter is how long the filter must rest before what the rows stand for is searched: who
// types must not start a search with every letter.
const SearchAfter = 150 * time.Millisecond

// search finds rows by what they stand for, beside those that the filter finds by their labels.
type search struct {
	look   func(ctx context.Context, text string) (rows []Choice, note string, err error)
	text   string             // that found is for, or will be
	cancel context.CancelFunc // of the running search; if nil, none runs
	found  []Choice
	note   string // what is to be said of them
}

// Messages of a search: its time has come, and its answer.
type (
	SearchDue string
	Searched  struct {
		text string
		rows []Choice
		note string
		err  error
	}
)

// SearchWith has the open list search in what its rows stand for, and show what it finds below
// them.
func (p *List) SearchWith(look func(ctx context.Context, text string) (rows []Choice, note string, err error)) {
	p.search = &search{look: look}
}

// drop ends a running search.
func (s *search) drop() {
	if s != nil && s.cancel != nil {
		s.cancel()
		s.cancel = nil
	}
}

// Seek is after every key: when the filter changed, what was found for it before goes, and a search
// is due after a time.
func (p *List) Seek() (due SearchDue, begins bool) {
	s := p.search
	if !p.Open || s == nil || s.text == p.Filter.Text {
		return "", false
	}
	s.drop()
	s.text, s.found, s.note = p.Filter.Text, nil, ""
	p.Narrow()
	return SearchDue(s.text), s.text != ""
}

// Timed is when the time of a look or a search has come.
func (p *List) Timed(due tea.Msg) tea.Cmd {
	switch due := due.(type) {
	case PeekDue:
		return p.Due(due)
	case SearchDue:
		return p.Sought(due)
	}
	return nil
}

// Answered takes what a lookup, a look or a search came to.
func (p *List) Answered(msg tea.Msg) {
	switch msg := msg.(type) {
	case Filled:
		p.Filled(msg)
	case Peeked:
		p.Peeked(msg)
	case Searched:
		p.Searched(msg)
	}
}

// Sought searches, if the filter is still what it was; the answer comes as searched.
func (p *List) Sought(due SearchDue) tea.Cmd {
	s := p.search
	if !p.Open || s == nil || s.text != string(due) || s.cancel != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	s.cancel, s.note = cancel, "searching all sessions…"
	return func() tea.Msg {
		rows, note, err := s.look(ctx, string(due))
		return Searched{string(due), rows, note, err}
	}
}

// Searched takes the answer, unless the filter is another by now. What is marked stays marked.
func (p *List) Searched(a Searched) {
	s := p.search
	if !p.Open || s == nil || s.text != a.text {
		return
	}
	s.drop()
	s.found, s.note = a.rows, a.note
	if a.err != nil {
		s.note = "error: " + a.err.Error()
	}
	at := p.at
	p.Narrow()
	p.Move(at)
}

// item is a row by its number: those of the list, then those that were found.
func (p *List) item(i int) Choice {
	if n := i - len(p.items); n >= 0 {
		return p.search.found[n]
	}
	return p.items[i]
}

// says is what stands below the rows.
func (p *List) says(peeks bool) string {
	if p.Wait == "" && !peeks && p.peek != nil && p.peek.failed {
		return p.peek.note // there is no room for the look itself
	}
	if p.Wait == "" && p.search != nil {
		return p.search.note
	}
	return p.Wait
}

// foundRows are the numbers of the rows that were found, for the filter as it is.
func (p *List) foundRows() (out []int) {
	if p.search == nil || p.search.text != p.Filter.Text {
		return nil
	}
	for i := range p.search.found {
		out = append(out, len(p.items)+i)
	}
	return out
}

// widest is the width of the widest label.
func (p *List) widest() int {
	widest := p.labels
	for _, i := range p.foundRows() {
		widest = max(widest, p.item(i).width(p.theme))
	}
	return widest
}
