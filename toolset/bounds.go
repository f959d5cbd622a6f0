package toolset

import (
	"cmp"

	"adze/tool"
)

// Bounds is what a user may set of the limits of tools. 0 stands for the default.
type Bounds struct {
	Lines, Bytes int // of one call's output
}

// Room that a tool leaves for what it says itself below its results.
const (
	footLines = 10
	footBytes = 1 << 10
)

func (b Bounds) lines() int { return cmp.Or(b.Lines, tool.DefaultLines) }
func (b Bounds) bytes() int { return cmp.Or(b.Bytes, tool.DefaultBytes) }

// most is how many rows a call may ask for: what fits with the footer.
func (b Bounds) most() int { return max(1, b.lines()-footLines) }

// withFoot is the bound of a tool that keeps to lines and bytes itself and adds a footer.
func (b Bounds) withFoot() tool.Bound {
	return tool.Bound{Lines: b.lines() + footLines, Bytes: b.bytes() + footBytes}
}

// fit is how many of the rows fit together, at least one.
func (b Bounds) fit(rows []string) int {
	size := 0
	for i, row := range rows {
		if size += len(row) + 1; size > b.bytes() && i > 0 || i == b.lines() {
			return i
		}
	}
	return len(rows)
}
