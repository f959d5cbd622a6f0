package list

import (
	"cmp"
	"context"
	"time"

	"adze/tui/async"
)

// SearchAfter is the delay between a filter change and its search, so that typing does not start
// one per letter.
const SearchAfter = 150 * time.Millisecond

// found holds search results and a note about them.
type found struct {
	rows []Choice
	note string
}

// SearchWith adds a search whose results appear below the matching rows.
func (p *List) SearchWith(look func(ctx context.Context, text string) (rows []Choice, note string, err error)) {
	p.search = &lookup[found]{look: func(ctx context.Context, text string) (f found, err error) {
		f.rows, f.note, err = look(ctx, text)
		return f, err
	}}
}

// Seek must be called after every key. If the filter has changed, it drops the old results and
// returns a message that searches. The selection stays.
func (p *List) Seek() async.Continuation {
	s := p.search
	if !p.Open || s == nil || s.key == p.Filter.Text {
		return nil
	}
	due := s.turn(p.Filter.Text, "searching all sessions…", func() {
		at := p.index
		p.Narrow()
		p.Move(at)
	})
	p.Narrow()
	return due
}

// item returns a row by its index: items first, then search results.
func (p *List) item(i int) Choice {
	if n := i - len(p.items); n >= 0 {
		return p.search.got.rows[n]
	}
	return p.items[i]
}

// says returns the line below the rows.
func (p *List) says(peeks bool) string {
	if p.Wait == "" && !peeks && p.peek != nil && p.peek.failed {
		return p.peek.note // there is no room for the preview
	}
	if p.Wait == "" && p.search != nil {
		return cmp.Or(p.search.note, p.search.got.note)
	}
	return p.Wait
}

// foundRows returns indexes for the current filter's search results.
func (p *List) foundRows() (out []int) {
	if p.search == nil || p.search.key != p.Filter.Text {
		return nil
	}
	for i := range p.search.got.rows {
		out = append(out, len(p.items)+i)
	}
	return out
}

// widest returns the widest label's width.
func (p *List) widest() int {
	widest := p.labels
	for _, i := range p.foundRows() {
		widest = max(widest, p.item(i).width(p.theme))
	}
	return widest
}
