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

// lookup fills the open picker in the background.
func (m *model) lookup(look func(ctx context.Context) ([]choice, error)) tea.Cmd {
	m.picker.wait = looking
	serial := m.picker.serial
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
		defer cancel()
		items, err := look(ctx)
		return filled{serial, items, err}
	}
}

func (m *model) filled(f filled) {
	if m.picker.open && f.serial == m.picker.serial {
		m.picker.fill(f.items, f.err)
	}
}
