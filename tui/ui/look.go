// Package ui is what the rooms of the interface share to show themselves alike: the theme and how
// much is shown (Drawing), places and pages, and how counts, sizes, times and amounts are written.
//
// The one rule: nothing here knows what is shown, and nothing here keeps state.
//
// Start reading at Drawing, then Page. Known limits: all texts are English.
package ui

import (
	"encoding/json"

	"adze/tool"
	"adze/tui/draw"
)

// Drawing is what entries need besides a width.
type Drawing struct {
	Theme    *draw.Theme
	Blocks   Blocks
	Expanded bool   // show everything instead of the first rows
	Expand   string // the key that does it
}

// Blocks turns a tool's metadata into blocks.
type Blocks func(tool string, metadata json.RawMessage) []tool.Block
