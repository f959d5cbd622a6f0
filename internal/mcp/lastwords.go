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
	text = strings.TrimRight(Clean(text, len(text)), "\n")
	text = strings.ToValidUTF8(text[max(len(text)-maxWords, 0):], "")
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(len(lines)-maxWordLines, 0):], "\n")
}
