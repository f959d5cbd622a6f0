package mcp

import (
	"strings"

	"adze/internal/sandbox/proc"
)

// Bounds of what a user is shown of a program's standard error.
const (
	maxWords     = 4 << 10 // bytes
	maxWordLines = 20
)

// LastWords are the last lines that the program of a server wrote to standard error, cleaned and
// without secrets; it may have ended since. If empty, there is none.
func (p *Pool) LastWords(name string) string {
	v := p.servers[name]
	if v == nil {
		return ""
	}
	v.mu.Lock()
	from := v.errs
	v.mu.Unlock()
	if from == nil {
		return ""
	}
	return lastLines(from, p.opts.Mask)
}

// lastLines hides secrets before anything is cut or cleaned away: half a secret is not known as
// one.
func lastLines(from *proc.Output, mask func(string) string) string {
	text := from.Last(errorRing).Tail
	if mask != nil {
		text = mask(text)
	}
	lines := strings.Split(strings.TrimRight(Clean(text, len(text)), "\n"), "\n")
	lines = lines[max(len(lines)-maxWordLines, 0):]
	size := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if size += len(lines[i]) + 1; size > maxWords {
			if i == len(lines)-1 {
				return Clean(lines[i], maxWords)
			}
			return strings.Join(lines[i+1:], "\n")
		}
	}
	return strings.Join(lines, "\n")
}
