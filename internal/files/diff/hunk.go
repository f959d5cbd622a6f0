package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Hunk is one hunk of a unified diff.
type Hunk struct {
	Head     string // its line with @@
	Line     int    // of the new text, where its first change is; from 1
	Old, New string // both sides, with the lines around the change
	Text     string // as printed, with Head
}

// Hunks parts a unified diff of one file.
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
		case '\\': // the line before has no end
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

// Back is what has to be replaced in a text to take a hunk back, with so many lines around it that
// it stands there once. It fails where the text is not what the hunk says any more.
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

// first is the line at which the new side begins, from 0.
func (h Hunk) first() int {
	_, to, _ := strings.Cut(h.Head, "+")
	n, _ := strconv.Atoi(to[:max(0, strings.IndexAny(to, ", "))])
	return n - 1
}

func distance(a, b int) int { return max(a-b, b-a) }
