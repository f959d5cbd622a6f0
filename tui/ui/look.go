// Package ui is what the rooms of the interface share to show themselves alike: the theme and how
// much is shown (Drawing), places and pages, and how counts, sizes, times and amounts are written.
//
// The one rule: nothing here knows what is shown, and nothing here keeps state.
//
// Start reading at Drawing, then Page. Known limits: all texts are English.
package ui

import (
	"encoding/json"
	"strings"
	"time"

	"adze/tool"
	"adze/tui/draw"
)

// Drawing is what entries need besides a width.
type Drawing struct {
	Theme    *draw.Theme
	Blocks   Blocks
	Expanded bool   // show everything instead of the first rows
	Expand   string // the key that does it
	Abort    string // the key that stops one call; if empty, none can be
	// Now is the clock of what runs.
	Now func() time.Time
}

// Key is the key that shows what was left out; if empty, no key does.
func (d *Drawing) Key() string {
	if strings.Contains(d.Expand, " ") {
		return ""
	}
	return d.Expand
}

// Blocks turns a tool's metadata into blocks.
type Blocks func(tool string, metadata json.RawMessage) []tool.Block
