package toolset

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/files/textedit"
	"adze/internal/files/workspace"
	"adze/internal/text/fold"
	"adze/internal/text/plural"
)

// Of a log that is longer than a page, so much is shown at first.
const (
	shapeStart  = 20 // rows of the start and the end
	shapeErrors = 15 // places of errors
	shapeAround = 1  // rows before and after an error
	shapeWidth  = 400
	shapeBytes  = 10 << 10
	largePage   = 200 // lines of a log that is too large to be looked through
)

// isLog reports a file of what programs wrote, by its name or by the beginning of its lines: nobody
// edits it, and its first page is its least telling one. Anything else is shown as it is.
func isLog(name, face string) bool {
	base := strings.ToLower(path.Base(name))
	for _, ending := range []string{".gz", ".old", ".bak"} {
		base = strings.TrimSuffix(base, ending)
	}
	base = strings.TrimRight(strings.TrimRight(base, "0123456789"), ".-_")
	ext := path.Ext(base)
	return slices.Contains([]string{".log", ".out", ".err", ".trace", ".stdout", ".stderr", ".jsonl", ".ndjson", ".dump"}, ext) ||
		slices.Contains([]string{"log", "syslog", "messages", "dmesg", "nohup"}, strings.TrimSuffix(base, ext)) || (ext == ".txt" || ext == "") && mostlyLogged(face)
}

// logged is how loggers begin a line.
var logged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\W{0,2}(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:|(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE)\b)|\blevel=`)
})

// mostlyLogged reports whether half of the first lines are a logger's.
func mostlyLogged(face string) bool {
	found, looked := 0, 0
	for line := range strings.Lines(face) {
		line = line[:min(len(line), 300)]
		// A look at the first bytes is cheaper than the expression, which costs more than a read.
		begins := strings.ContainsAny(line[:min(len(line), 9)], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		if looked++; (begins || strings.Contains(line, "level=")) && logged().MatchString(line) {
			found++
		}
		if looked == 40 {
			break
		}
	}
	return looked > 0 && found*2 >= looked
}

// trouble finds lines that tell of an error.
var trouble = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:error|errors|fail|failed|failure|failures|fatal|panic|exception|traceback|segfault|denied|timed out|cannot|critical)\b|\b[A-Z]\w*(?:Error|Exception)\b|^\s*(?:---\s)?FAIL\b|✗|✘`)
})

// noTrouble are lines that say that there is none.
var noTrouble = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:0|no) (?:errors?|failures?|failed|warnings?)\b|\b(?:errors?|failures?|failed)\s*[:=]\s*0\b|without (?:error|failure)`)
})

// shape is what a long log looks like: its start, its end, and its errors with what stands around
// them, repetition folded. Each line has its number in the file.
func (r reader) shape(p workspace.Path, face string, c content) readResult {
	rows := fold.Rows(face)
	first, show := make([]int, len(rows)), make([]bool, len(rows)) // line of each row
	line := 1
	for i, row := range rows {
		first[i], show[i] = line, i < shapeStart || i >= len(rows)-shapeStart
		line += int(row.Lines)
	}
	total := line - 1
	errors, shown := 0, map[string]bool{}
	for i, row := range rows {
		if row.Note || !trouble().MatchString(row.Text[:min(len(row.Text), 2000)]) || noTrouble().MatchString(row.Text[:min(len(row.Text), 2000)]) {
			continue
		}
		errors++
		kind := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, row.Text)
		if len(shown) >= shapeErrors || shown[kind] {
			continue
		}
		shown[kind] = true
		for at := max(0, i-shapeAround); at <= min(len(rows)-1, i+shapeAround); at++ {
			show[at] = true
		}
	}
	var out strings.Builder
	width, left, seen := textedit.Width(total), int64(0), 0
	skipped := func() {
		if left > 0 {
			fmt.Fprintf(&out, "(%s not shown)\n", plural.Of(left, "line"))
			left = 0
		}
	}
	for i, row := range rows {
		if !show[i] || out.Len() > shapeBytes && i < len(rows)-shapeStart {
			left += row.Lines
			continue
		}
		skipped()
		if row.Note {
			out.WriteString(row.Text + "\n")
			continue
		}
		seen++
		out.WriteString(textedit.Number(first[i], width, visible(fold.Line(row.Text, shapeWidth))) + "\n")
	}
	skipped()
	foot := fmt.Sprintf("the shape of %s, %s", plural.Of(total, "line"), plural.Of(len(face), "byte"))
	switch {
	case errors > len(shown):
		foot += fmt.Sprintf(", with the %d kinds among %d lines that tell of errors", len(shown), errors)
	case errors > 0:
		foot += fmt.Sprintf(", with all %s that tell of errors", plural.Of(errors, "line"))
	default:
		foot += "; no line tells of an error"
	}
	foot += "; offset and limit give any part as it stands, grep finds the rest"
	if words := c.format.String(); words != "" {
		foot += "; " + words
	}
	return readResult{
		Metadata: readMeta{Path: p.Display(), Kind: "text", First: 1, Last: min(total, shapeStart), Total: total, Bytes: int64(len(face)), Seen: &c.state,
			Text: out.String()[:min(out.Len(), readShown)]},
		Output: out.String() + "(" + foot + ")",
	}
}
