package lsp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of the findings in an edit's result.
const (
	maxTold     = 10  // problems
	maxMessages = 300 // bytes per message
)

// A Problem is one diagnostic.
type Problem struct {
	Path     string // absolute
	Line     int    // from 1
	Column   int    // from 1, in bytes if the text is known
	Severity int    // 1 error, 2 warning, 3 information, 4 hint
	Code     string
	Message  string
	text     string // the line's text, to recognize the problem
}

// mark identifies a problem without its line number, which moves with changes above it.
func (p Problem) mark() string {
	return fmt.Sprintf("%s\x00%d\x00%s\x00%s\x00%s", p.Path, p.Severity, p.Code, p.Message, p.text)
}

// problems converts a file's diagnostics, without hints. The caller holds the lock.
func (v *server) problems(uri string, all []diagnostic) (out []Problem) {
	text := ""
	if d := v.docs[uri]; d != nil {
		text = d.text
	}
	for _, d := range all {
		if d.Severity = cmp.Or(d.Severity, 1); d.Severity > 2 {
			continue
		}
		p := Problem{Path: pathOf(uri), Line: d.Range.Start.Line + 1, Column: d.Range.Start.Character + 1, Severity: d.Severity, Code: codeOf(d.Code), Message: short(v.masked(d.Message))}
		if text != "" {
			p.text = lineAt(text, d.Range.Start.Line)
			p.Column = offset(p.text, position{Character: d.Range.Start.Character}, v.encoding()) + 1
		}
		out = append(out, p)
	}
	return out
}

func (v *server) encoding() string { return cmp.Or(v.caps.Capabilities.PositionEncoding, utf16Columns) }

// told selects the problems to report: those of the file first, errors first, up to a limit.
func told(all []Problem, uri string) (out []Problem, more int) {
	first := pathOf(uri)
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), rank(a.Path != first)-rank(b.Path != first), strings.Compare(a.Path, b.Path), a.Line-b.Line, a.Column-b.Column)
	})
	if len(all) > maxTold {
		return all[:maxTold], len(all) - maxTold
	}
	return all, 0
}

func rank(late bool) int {
	if late {
		return 1
	}
	return 0
}

func codeOf(raw json.RawMessage) string {
	text := strings.Trim(string(raw), `"`)
	if text == "null" || len(text) > 60 {
		return ""
	}
	return text
}

func short(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxMessages {
		text = strings.ToValidUTF8(text[:maxMessages], "") + "…"
	}
	return text
}

// String formats the problem like a compiler, without its path.
func (p Problem) String() string {
	word := map[int]string{1: "error", 2: "warning"}[p.Severity]
	code := ""
	if p.Code != "" {
		code = " [" + p.Code + "]"
	}
	return fmt.Sprintf("%d:%d: %s: %s%s", p.Line, p.Column, word, strings.ReplaceAll(p.Message, "\n", "; "), code)
}

// Text formats the findings for a model; name shortens paths.
func (f Findings) Text(name func(string) string) string {
	var b strings.Builder
	if len(f.Late) > 0 {
		b.WriteString(LateText(f.Late, name) + "\n")
	}
	f.write(&b, name, "")
	return strings.TrimSuffix(b.String(), "\n")
}

// LateText is like Text, for late findings.
func LateText(all []Findings, name func(string) string) string {
	var b strings.Builder
	for _, f := range all {
		f.write(&b, name, "of "+name(f.Path)+", changed before: ")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f Findings) write(b *strings.Builder, name func(string) string, which string) {
	list := func(head string, all []Problem) {
		if len(all) == 0 {
			return
		}
		fmt.Fprintf(b, "%s: %s%s\n", f.Server, which, head)
		for _, p := range all {
			fmt.Fprintf(b, "  %s:%s\n", name(p.Path), p)
		}
	}
	if f.Note != "" {
		fmt.Fprintf(b, "%s: %s\n", f.Server, f.Note)
	}
	switch {
	case f.Unknown != "" && which != "":
		fmt.Fprintf(b, "%s: %swhether it is right is not known: %s\n", f.Server, which, f.Unknown)
	case f.Unknown != "":
		fmt.Fprintf(b, "%s: whether this is right is not known yet: %s\n", f.Server, f.Unknown)
	case f.Clean():
		fmt.Fprintf(b, "%s: %snothing new is wrong%s\n", f.Server, which, f.scope())
	}
	list("new with this edit", f.New)
	if f.Omitted > 0 {
		fmt.Fprintf(b, "  and %d more\n", f.Omitted)
	}
}

// scope names the files that were checked.
func (f Findings) scope() string {
	switch {
	case f.Project:
		return ""
	case f.Open:
		return " in this file and those that were looked at before; others were not looked at"
	}
	return " in this file; others were not looked at"
}

func readText(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return "", fmt.Errorf("%s is not a file of at most %d MiB", filepath.Base(path), maxText>>20)
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}
