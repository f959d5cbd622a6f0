package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Hunk is one hunk in a unified diff.
type Hunk struct {
	Head     string // header line with @@
	Line     int    // first changed line in the new text, from 1
	Old, New string // both sides, with context
	Text     string // as printed, including Head
}

// Hunks splits one file's unified diff.
func Hunks(text string) (out []Hunk) {
	var last byte
	changed := false
	at := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if line == "" {
			continue
		}
		if strings.HasPrefix(line, "@@") {
			_, to, _ := strings.Cut(line, "+")
			at, _ = strconv.Atoi(to[:max(0, strings.IndexAny(to, ", "))])
			out, last, changed = append(out, Hunk{Head: strings.TrimSuffix(line, "\n"), Line: at, Text: line}), 0, false
			continue
		}
		if len(out) == 0 {
			continue
		}
		h := &out[len(out)-1]
		h.Text += line
		switch sign := line[0]; sign {
		case ' ', '-', '+':
			if sign != ' ' && !changed {
				h.Line, changed = at, true
			}
			if sign != '+' {
				h.Old += line[1:]
			}
			if sign != '-' {
				h.New += line[1:]
				at++
			}
			last = sign
		case '\\': // the previous line has no newline
			if last != '+' {
				h.Old = strings.TrimSuffix(h.Old, "\n")
			}
			if last != '-' {
				h.New = strings.TrimSuffix(h.New, "\n")
			}
		}
	}
	return out
}

// Back returns the replacement in a text that undoes the hunk, with enough surrounding lines to be
// unique. It fails if the text no longer matches the hunk.
func (h Hunk) Back(present string) (old, new string, err error) {
	lines := Lines(present)
	part := Lines(h.New)
	from := -1
	for i := 0; i+len(part) <= len(lines); i++ {
		if len(part) > 0 && slices.Equal(lines[i:i+len(part)], part) && (from < 0 || distance(i, h.first()) < distance(from, h.first())) {
			from = i
		}
	}
	if from < 0 {
		return "", "", fmt.Errorf("the file is not any more what %s shows", h.Head)
	}
	to := from + len(part)
	old, new = h.New, h.Old
	for from > 0 || to < len(lines) {
		if strings.Count(present, old) == 1 {
			break
		}
		if from > 0 {
			from--
			old, new = lines[from]+old, lines[from]+new
		}
		if to < len(lines) {
			old, new = old+lines[to], new+lines[to]
			to++
		}
	}
	return old, new, nil
}

func (h Hunk) first() int {
	_, to, _ := strings.Cut(h.Head, "+")
	n, _ := strconv.Atoi(to[:max(0, strings.IndexAny(to, ", "))])
	return n - 1
}

func distance(a, b int) int { return max(a-b, b-a) }
