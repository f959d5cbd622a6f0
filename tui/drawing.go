package tui

import (
	"encoding/json"

	"adze/tool"
	"adze/tui/draw"
)

// drawing is what entries need besides a width.
type drawing struct {
	theme    *draw.Theme
	blocks   blocksFunc
	expanded bool   // show everything instead of the first rows
	expand   string // the key that does it
}

// blocksFunc turns a tool's metadata into blocks.
type blocksFunc func(tool string, metadata json.RawMessage) []tool.Block
