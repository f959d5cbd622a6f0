package toolset

import (
	"cmp"

	"adze/tool"
)

// Bounds holds the user's limits for tools; 0 means the default.
type Bounds struct {
	Lines, Bytes int // for one call's output
}

// Room for a tool's own text below its results.
const (
	footLines = 10
	footBytes = 1 << 10
)

func (b Bounds) lines() int { return cmp.Or(b.Lines, tool.DefaultLines) }
func (b Bounds) bytes() int { return cmp.Or(b.Bytes, tool.DefaultBytes) }

// most returns the largest number of rows for a call: those that fit with the footer.
func (b Bounds) most() int { return max(1, b.lines()-footLines) }

// withFoot returns the bound for a tool that limits lines and bytes itself and adds a footer.
func (b Bounds) withFoot() tool.Bound {
	return tool.Bound{Lines: b.lines() + footLines, Bytes: b.bytes() + footBytes}
}

// fit returns how many rows fit, at least one.
func (b Bounds) fit(rows []string) int {
	size := 0
	for i, row := range rows {
		if size += len(row) + 1; size > b.bytes() && i > 0 || i == b.lines() {
			return i
		}
	}
	return len(rows)
}
