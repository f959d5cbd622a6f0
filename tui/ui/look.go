// Package ui has the interface's shared drawing helpers: the theme and expansion state (Drawing),
// rectangles and pages, and formatting for counts, sizes, times and amounts.
//
// The one rule: this package does not know the contents and keeps no state.
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

// Drawing holds common parameters for drawing entries.
type Drawing struct {
	Theme    *draw.Theme
	Blocks   Blocks
	Expanded bool   // show everything, not only the first rows
	Expand   string // the expand key's label
	Abort    string // the abort key's label; "" if calls cannot be aborted
	// Now is the clock for running work.
	Now func() time.Time
}

// Key returns the key label for showing omitted rows, or "" if there is none.
func (d *Drawing) Key() string {
	if strings.Contains(d.Expand, " ") {
		return ""
	}
	return d.Expand
}

// Blocks converts a tool's metadata to blocks.
type Blocks func(tool string, metadata json.RawMessage) []tool.Block
