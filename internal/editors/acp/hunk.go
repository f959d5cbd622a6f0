package acp

import (
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"
)

// hunks makes of a unified diff what the protocol calls one: the text before and after, for each
// place that changes, with the lines around it. lines are where they begin in the file as it is
// after, from 1.
func hunks(path, unified string) (out []sdk.ToolCallContent, lines []int) {
	var before, after strings.Builder
	open, created := false, false
	last := byte(0)
	end := func() {
		if !open {
			return
		}
		d := sdk.ToolDiffContent(path, after.String())
		if !created {
			d.Diff.OldText = sdk.Ptr(before.String())
		}
		out = append(out, d)
		before.Reset()
		after.Reset()
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(unified, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			end()
			from, at := hunkStart(line)
			open, created, last = true, from == 1 && strings.Contains(line, " -0,0 "), 0
			lines = append(lines, max(at, 1))
		case !open || line == "": // what stands before the first one, or a mark of something left out
		case strings.HasPrefix(line, `\`): // no line feed at the end of the side that was written last
			if last != '+' {
				cutLine(&before)
			}
			if last != '-' {
				cutLine(&after)
			}
		case line[0] == ' ' || line[0] == '-' || line[0] == '+':
			if last = line[0]; last != '+' {
				before.WriteString(line[1:] + "\n")
			}
			if last != '-' {
				after.WriteString(line[1:] + "\n")
			}
		}
	}
	end()
	return out, lines
}

func cutLine(b *strings.Builder) {
	text := strings.TrimSuffix(b.String(), "\n")
	b.Reset()
	b.WriteString(text)
}

// hunkStart reads where a hunk begins on both sides: @@ -3,7 +3,8 @@. A side without lines names
// the line before.
func hunkStart(line string) (from, to int) {
	start := func(word string) int {
		at, count, counted := strings.Cut(word, ",")
		n, _ := strconv.Atoi(at) // what is no number was written by nobody who compares
		if counted && count == "0" {
			n++
		}
		return n
	}
	for _, word := range strings.Fields(line) {
		switch word[0] {
		case '-':
			from = start(word[1:])
		case '+':
			return from, start(word[1:])
		}
	}
	return from, to
}
