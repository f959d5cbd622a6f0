// Package textedit applies a model's edits to a text.
//
// The one rule: text that occurs exactly once is replaced literally. Only an inexact copy is
// compared leniently, in whole lines and in one place.
//
// Start reading at Match. clean.go removes models' additions to a copy: line numbers, marks,
// fences, escapes. lines.go compares whole lines without surrounding white space, and writes the
// new lines. indent.go gives them the file's indentation. report.go writes the errors, which show
// the nearest lines. stale.go checks for changes since the text was read, scan.go searches files
// too large for memory, patch.go parses patches, omission.go finds "rest of the code unchanged".
//
// Known limits: above LenientLimit only exact text is found. A copy with a missing, extra or
// misspelled line is refused.
package textedit

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"adze/internal/files/diff"
	"adze/internal/text"
)

// LenientLimit is the text size in bytes above which only exact text is found: the other steps hold
// several copies.
const LenientLimit = 8 << 20

// Error codes reported by the tools.
const (
	NoMatch          = "no_match"
	ManyMatches      = "many_matches"
	NoChange         = "no_change"
	Stale            = "stale"
	NotRead          = "not_read"
	InvalidArguments = "invalid_arguments"
)

// Step is the comparison that found a place, as reported to the model.
type Step string

// From strict to lenient.
const (
	Exact      Step = "exact"
	LineEnds   Step = "line ends ignored"
	Fenced     Step = "fence taken off"
	Numbered   Step = "line numbers stripped"
	Unmarked   Step = "diff or quote marks taken off"
	Unescaped  Step = "escapes read"
	Entities   Step = "entities read"
	Normalised Step = "look-alike characters"
	Spaced     Step = "white space ignored"
	Indented   Step = "re-indented"
)

// An Error is a refusal: a stable code, and a message for the model with the next step.
type Error struct{ Code, Message string }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// ErrorCode returns the code.
func (e *Error) ErrorCode() string { return e.Code }

func refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// An Edit replaces Old by New, in one place or everywhere.
type Edit struct {
	Old, New string
	All      bool
}

// A Source is the text to edit and the editor's knowledge about it.
type Source struct {
	Name     string // for messages
	Text     string
	Newline  string // its most frequent line end
	Read     bool   // the editor has read it
	Changed  bool   // changed since it was read
	ReadText string // the text as read, if Changed and known
}

// A Span is a place in the text and its replacement.
type Span struct {
	Start, End int
	New        string
	Edit       int  // index of the edit
	Step       Step // how it was found
}

// Match finds all edits' spans, in text order. All edits are matched against the same text, and one
// failure fails all.
func Match(src Source, edits []Edit) ([]Span, error) {
	d := &doc{Source: src, rows: rowsOf(src.Text)}
	var spans []Span
	for i, e := range edits {
		found, err := d.locate(e)
		if err != nil {
			return nil, labelled(err, label(i, len(edits)))
		}
		for _, s := range found {
			s.Edit = i
			spans = append(spans, s)
		}
	}
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].Start < spans[j].Start })
	for i := 1; i < len(spans); i++ { // the order of adjacent edits would decide the result
		if a, b := spans[i-1], spans[i]; b.Start < a.End || b.Start == a.Start {
			return nil, refuse(InvalidArguments, "edits %d and %d overlap at line %d of %s; make them one edit",
				min(a.Edit, b.Edit)+1, max(a.Edit, b.Edit)+1, d.lineAt(b.Start)+1, d.Name)
		}
	}
	if err := d.fresh(spans); err != nil {
		return nil, err
	}
	if Apply(src.Text, spans) == src.Text {
		return nil, refuse(NoChange, "the edit changes nothing in %s; the text is already so", src.Name)
	}
	return spans, nil
}

func label(i, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("edit %d: ", i+1)
}

func labelled(err error, label string) error {
	if e, ok := err.(*Error); ok {
		return &Error{Code: e.Code, Message: label + e.Message}
	}
	return err
}

// Apply replaces the spans in the text they were found in.
func Apply(text string, spans []Span) string {
	var out strings.Builder
	at := 0
	for _, s := range spans {
		out.WriteString(text[at:s.Start])
		out.WriteString(s.New)
		at = s.End
	}
	out.WriteString(text[at:])
	return out.String()
}

// locate finds an edit's place, or all places: first as written, then step by step without models'
// additions and surrounding white space.
func (d *doc) locate(e Edit) ([]Span, error) {
	switch {
	case e.Old == "":
		return nil, refuse(InvalidArguments, "old_string is empty but %s exists; copy the text to replace from the file", d.Name)
	case e.Old == e.New:
		return nil, refuse(NoChange, "old_string and new_string are the same; nothing to do")
	}
	if found := d.literal(e); len(found) == 1 || len(found) > 1 && e.All {
		return found, nil
	} else if len(found) > 1 {
		return nil, d.many(found, e)
	}
	if len(d.Text) > LenientLimit || d.Changed && d.ReadText == "" {
		return nil, d.missing(e)
	}
	var partly error
	for _, r := range d.readings(e) {
		found, err := d.place(r)
		switch {
		case err != nil:
			return nil, err
		case len(found) > 0 && r.partly != "":
			partly = d.doubtful(found[0], r.Edit, fmt.Sprintf("new_string has %s on some of its lines only", r.partly))
		case len(found) > 0:
			return found, nil
		}
	}
	if partly != nil {
		return nil, partly
	}
	return nil, d.missing(e)
}

// place finds one reading of an edit: literally, then in whole lines.
func (d *doc) place(r cleanedEdit) ([]Span, error) {
	// The removed part may have included the line end.
	if old := strings.TrimSuffix(r.Old, "\n"); len(r.steps) > 0 && r.New != "" {
		r.Old, r.New = old, strings.TrimSuffix(r.New, "\n")
	} else if len(r.steps) > 0 && !r.inLine {
		r.Old = old + "\n"
	}
	var found []Span
	switch s, err := d.wholeLines(r.Edit); {
	case err != nil:
		return nil, err
	case s != nil:
		found = []Span{*s}
	case len(r.steps) > 0 && r.inLine && !strings.Contains(r.Old, "\n"):
		found = slices.DeleteFunc(d.literal(r.Edit), func(s Span) bool { return d.inMargin(s.Start) })
	}
	if len(found) == 0 {
		return nil, nil
	}
	if len(found) > 1 && !r.All {
		return nil, d.many(found, r.Edit)
	}
	if why := d.added(r.Edit); why != "" {
		return nil, d.doubtful(found[0], r.Edit, why)
	}
	for i := range found {
		steps := r.steps
		if s := found[i].Step; s != Exact && (s != Spaced || len(r.steps) == 0) {
			steps = append(steps[:len(steps):len(steps)], found[i].Step)
		}
		var names []string
		for _, step := range steps {
			names = append(names, string(step))
		}
		found[i].Step = Step(strings.Join(names, ", "))
	}
	return found, nil
}

// literal finds the exact characters, or those with other line ends. Overlapping places count as
// several unless all are wanted.
func (d *doc) literal(e Edit) (found []Span) {
	for _, at := range places(d.Text, e.Old, e.All) {
		start, end := at, at+len(e.Old)
		if start > 0 && d.Text[start] == '\n' && d.Text[start-1] == '\r' {
			start-- // do not split a line end
		}
		s := Span{Start: start, End: end, New: e.New, Step: Exact}
		if !strings.Contains(e.New, "\r") {
			s.New = d.withEnds(start, end, e.New)
		}
		found = append(found, s)
	}
	if len(found) > 0 {
		return found
	}
	old, next := text.WithNewlines(e.Old, "\n"), text.WithNewlines(e.New, "\n")
	if strings.Contains(d.Text+e.Old, "\r") {
		plain, cuts := foldNewlines(d.Text)
		for _, at := range places(plain, old, e.All) {
			start, end := original(cuts, at), original(cuts, at+len(old))
			found = append(found, Span{Start: start, End: end, New: d.withEnds(start, end, next), Step: LineEnds})
		}
	}
	if len(found) > 0 {
		return found
	}
	// A text's last lines may lack the line end in the copy.
	last, ended := strings.CutSuffix(old, "\n")
	start := len(d.rows) - 1 - strings.Count(last, "\n")
	if !ended || last == "" || start < 0 || text.WithNewlines(d.Text[d.rows[start].start:], "\n") != last {
		return nil
	}
	from := d.rows[start].start
	return []Span{{Start: from, End: len(d.Text), New: d.withEnds(from, len(d.Text), strings.TrimSuffix(next, "\n")), Step: LineEnds}}
}

// places lists the offsets of s in a text; unless apart is set, places may overlap.
func places(text, s string, apart bool) (list []int) {
	if s == "" {
		return nil
	}
	for at := 0; ; {
		i := strings.Index(text[at:], s)
		if i < 0 {
			return list
		}
		list = append(list, at+i)
		if at += i + 1; apart {
			at += len(s) - 1
		}
	}
}

// foldNewlines converts line ends to \n, and returns the positions of dropped \r.
func foldNewlines(s string) (string, []int) {
	var out strings.Builder
	out.Grow(len(s))
	var cuts []int
	for {
		i := strings.IndexByte(s, '\r')
		if i < 0 {
			out.WriteString(s)
			return out.String(), cuts
		}
		out.WriteString(s[:i])
		s = s[i+1:]
		if strings.HasPrefix(s, "\n") {
			cuts = append(cuts, out.Len())
			s = s[1:]
		}
		out.WriteByte('\n')
	}
}

// original converts an index in folded text: each earlier cut was one byte.
func original(cuts []int, at int) int { return at + sort.SearchInts(cuts, at) }

// withEnds gives a replacement the file's line ends: kept lines keep their own, others take the
// replaced line's or the nearest.
func (d *doc) withEnds(start, end int, next string) string {
	if !strings.Contains(next, "\n") {
		return next
	}
	usual := d.newlineNear(start, end)
	rows := rowsOf(d.Text[start:end])
	var had, ends []string
	mixed := false
	for _, r := range rows {
		had, ends = append(had, d.Text[start+r.start:start+r.end]), append(ends, d.Text[start+r.end:start+r.next])
		mixed = mixed || r.next > r.end && ends[len(ends)-1] != usual
	}
	if !mixed {
		return text.WithNewlines(next, usual)
	}
	lines := strings.Split(next, "\n")
	is := make([]string, len(lines))
	for i, old := range aligned(had, lines) {
		is[i] = usual
		if old >= 0 && ends[old] != "" {
			is[i] = ends[old]
		} else if i > 0 {
			is[i] = is[i-1]
		}
	}
	var out strings.Builder
	for i, line := range lines {
		if out.WriteString(line); i < len(lines)-1 {
			out.WriteString(is[i])
		}
	}
	return out.String()
}

// aligned returns the old line that each new one keeps or replaces, or -1.
func aligned(old, next []string) []int {
	to := make([]int, len(next))
	i, k := 0, 0
	keep := func(until int) {
		for ; i < until; i, k = i+1, k+1 {
			to[k] = i
		}
	}
	for _, c := range diff.Compare(old, next) {
		keep(c.Old0)
		for ; k < c.New1; k++ {
			if to[k] = -1; i < c.Old1 {
				to[k] = i
				i++
			}
		}
		i = c.Old1
	}
	keep(len(old))
	return to
}

// newlineNear returns the first line end in the span or after it, otherwise the file's usual one.
func (d *doc) newlineNear(start, end int) string {
	for _, s := range []string{d.Text[start:end], d.Text[end:]} {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			continue
		}
		if strings.HasPrefix(s[i:], "\r\n") {
			return "\r\n"
		}
		return s[i : i+1]
	}
	if d.Newline == "" {
		return "\n"
	}
	return d.Newline
}
