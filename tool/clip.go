package tool

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"adze/internal/text/fold"
	"adze/internal/text/plural"
	"adze/tool/schema"
)

// Default limits for one call's output.
const (
	DefaultLines = 2000
	DefaultBytes = 50 << 10
)

// Clip limits a call's output. The zero value uses the defaults and stores nothing.
type Clip struct {
	Lines, Bytes int
	// Spill stores the full output and returns a path for the model; may be nil.
	Spill func(ctx context.Context, call CallID, whole string) (string, error)
}

// A Bound limits lines and bytes; 0 means the default.
type Bound struct{ Lines, Bytes int }

// within returns the clip with a tool's own bound.
func (c Clip) within(b Bound) Clip {
	c.Lines, c.Bytes = cmp.Or(b.Lines, c.Lines), cmp.Or(b.Bytes, c.Bytes)
	return c
}

// apply cuts out to whole lines within the bounds and describes the missing part and how to get it.
func (c Clip) apply(ctx context.Context, call CallID, out string) (text, file string, cut bool) {
	lines, size := c.Lines, c.Bytes
	if lines <= 0 {
		lines = DefaultLines
	}
	if size <= 0 {
		size = DefaultBytes
	}
	end := bounded(out, lines, size)
	if end == len(out) {
		return out, "", false
	}
	if short := shortLines(out); short != out && bounded(short, lines, size) == len(short) {
		note, path := c.keep(ctx, call, out)
		return strings.TrimSuffix(short, "\n") + note, path, true
	}
	rest := out[end:]
	note := fmt.Sprintf("\n(output cut: %s, %s more", plural.Of(countLines(rest), "more line"), plural.Of(len(rest), "byte"))
	saved, file := c.save(ctx, call, out, fmt.Sprintf("; read it with offset %d", strings.Count(out[:end], "\n")+1))
	return strings.TrimSuffix(out[:end], "\n") + note + saved + ")", file, true
}

// longLine is the line length above which lines are cut if the output is too large.
const longLine = 8000

// shortLines cuts very long lines and marks the cuts.
func shortLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if len(line) <= longLine {
			b.WriteString(line)
			continue
		}
		body, end := strings.CutSuffix(line, "\n")
		b.WriteString(fold.Line(body, longLine/4))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// keep stores a shortened output in full and returns a note with its location.
func (c Clip) keep(ctx context.Context, call CallID, whole string) (note, file string) {
	note, file = c.save(ctx, call, whole, "; read it with offset and limit, or grep it")
	return "\n(shortened" + note + ")", file
}

func (c Clip) save(ctx context.Context, call CallID, whole, how string) (note, file string) {
	if c.Spill == nil {
		return "", ""
	}
	path, err := c.Spill(ctx, call, whole)
	if err != nil {
		return "; the whole could not be saved: " + err.Error(), ""
	}
	return "; the whole is in " + path + how, path
}

// bounded returns the length of the longest run of whole lines within the limits. A too long first
// line is cut at a rune.
func bounded(out string, lines, size int) int {
	end := 0
	for range lines {
		i := strings.IndexByte(out[end:], '\n')
		next := end + i + 1
		if i < 0 {
			next = len(out)
		}
		if next > size {
			break
		}
		end = next
		if end == len(out) {
			return end
		}
	}
	if end > 0 {
		return end
	}
	end = min(size, len(out))
	for start := end; start > end-utf8.UTFMax && start > 0; start-- {
		if start == len(out) || utf8.RuneStart(out[start]) {
			return start
		}
	}
	return end // not UTF-8: cut at any byte
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

func cut(s string, runes int) string { return schema.Cut(s, runes) }

func (x *execution) clip(ctx context.Context, p outcomeParts) outcomeParts {
	bound := x.runner.Clip
	if x.h.prepared != nil {
		bound = bound.within(x.h.prepared.output)
	}
	out := ShownHidden(x.mask(p.output))
	var text, file string
	var cut bool
	if p.whole == "" {
		text, file, cut = bound.apply(ctx, x.h.Call, out)
	} else {
		cutOnly := bound
		cutOnly.Spill = nil
		text, _, _ = cutOnly.apply(ctx, x.h.Call, out)
		note, path := bound.keep(ctx, x.h.Call, ShownHidden(x.mask(p.whole)))
		text, file, cut = strings.TrimSuffix(text, "\n")+note, path, true
	}
	p.output, p.truncated = text, p.truncated || cut
	if file != "" {
		p.outputFile = file
	}
	return p
}

// mask runs before cutting, which could leave half a secret that is not recognized.
func (x *execution) mask(text string) string {
	if x.runner.Mask == nil || text == "" {
		return text
	}
	return x.runner.Mask(text)
}
