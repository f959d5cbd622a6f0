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

// Limits for the first view of a log longer than a page.
const (
	shapeStart  = 20 // rows at the start and the end
	shapeErrors = 15 // places with errors
	shapeWidth  = 400
	shapeBytes  = 10 << 10
	largePage   = 200 // lines of a log too large to search
)

// isLog reports whether a name is that of a log file: nobody edits it, and its first page says
// least.
func isLog(name string) bool {
	base := strings.ToLower(path.Base(name))
	for _, ending := range []string{".gz", ".old", ".bak"} {
		base = strings.TrimSuffix(base, ending)
	}
	base = strings.TrimRight(strings.TrimRight(base, "0123456789"), ".-_")
	ext := path.Ext(base)
	return slices.Contains([]string{".log", ".out", ".err", ".trace", ".stdout", ".stderr", ".jsonl", ".ndjson", ".dump"}, ext) ||
		slices.Contains([]string{"log", "syslog", "messages", "dmesg", "nohup"}, strings.TrimSuffix(base, ext))
}

// trouble matches words with which programs mark an error.
var trouble = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:ERROR|FATAL|CRITICAL|FAIL|FAILED|Traceback|[A-Z]\w*(?:Error|Exception))\b|\b(?:panic|error):|level=(?:error|fatal)`)
})

// shape summarizes a long log: its start, its end, and its errors with context, repetition folded.
// Lines have their numbers in the file.
func (r reader) shape(p workspace.Path, face string, c content) readResult {
	rows := fold.Rows(face)
	first, show := make([]int, len(rows)), make([]bool, len(rows)) // line number for each row
	line := 1
	for i, row := range rows {
		first[i], show[i] = line, i < shapeStart || i >= len(rows)-shapeStart
		line += int(row.Lines)
	}
	total := line - 1
	errors := 0
	for i, row := range rows {
		if row.Note || !trouble().MatchString(row.Text[:min(len(row.Text), 2000)]) {
			continue
		}
		if errors++; errors <= shapeErrors {
			show[max(0, i-1)], show[i], show[min(len(rows)-1, i+1)] = true, true, true
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
	case errors > shapeErrors:
		foot += fmt.Sprintf(", with %d of %d lines that tell of errors", shapeErrors, errors)
	case errors > 0:
		foot += fmt.Sprintf(", with all %s that tell of errors", plural.Of(errors, "line"))
	}
	foot += "; offset and limit give any part as it stands, grep finds the rest"
	if words := c.format.String(); words != "" {
		foot += "; " + words
	}
	return readResult{
		Metadata: readMeta{Path: p.Display(), Kind: "text", First: 1, Last: min(total, shapeStart), Total: total, Bytes: int64(len(face)), FileState: &c.state,
			Text: out.String()[:min(out.Len(), readShown)]},
		Output: out.String() + "(" + foot + ")",
	}
}
