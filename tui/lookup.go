package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// lookupTime bounds how long a list may take: the person waits for it.
const lookupTime = 10 * time.Second

const looking = "looking…"

// filled is the answer to a lookup of a picker.
type filled struct {
	serial int
	items  []choice
	err    error
}

// lookup fills the open list in the background; the answer comes as filled.
func (p *picker) lookup(look func(ctx context.Context) ([]choice, error)) tea.Cmd {
	p.wait = looking
	serial := p.serial
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
		defer cancel()
		items, err := look(ctx)
		return filled{serial, items, err}
	}
}

// filled takes the answer, unless another list is open by now.
func (p *picker) filled(f filled) {
	if p.open && f.serial == p.serial {
		p.fill(f.items, f.err)
	}
}
