package list

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// lookupTime bounds how long a list may take: the user waits for it.
const lookupTime = 10 * time.Second

const looking = "looking…"

// Filled is the answer to a lookup of a picker.
type Filled struct {
	serial int
	items  []Choice
	err    error
}

// Lookup fills the open list in the background; the answer comes as filled.
func (p *List) Lookup(look func(ctx context.Context) ([]Choice, error)) tea.Cmd {
	p.Wait = looking
	serial := p.Serial
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
		defer cancel()
		items, err := look(ctx)
		return Filled{serial, items, err}
	}
}

// Filled takes the answer, unless another list is open by now.
func (p *List) Filled(f Filled) {
	if p.Open && f.serial == p.Serial {
		p.Fill(f.items, f.err)
	}
}
