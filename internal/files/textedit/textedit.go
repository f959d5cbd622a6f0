// Package textedit finds where a model's edits go in a text.
//
// The one rule: an edit is applied only where it fits in exactly one place. A model's copy of a
// text is often not exact, so there is a ladder of ever more lenient comparisons; each step counts
// only if its match is unique, and says its name. What does not fit becomes an error that shows the
// nearest real lines.
//
// Where a copy of whole lines is not exact, what the model means is its change from old to new.
// merge.go applies that change to the file's lines, so lines that the model forgot or spelt wrong
// stay as the file has them; what it changes just where its copy is wrong is refused as not
// certain.
//
// Start reading at Match, then the list in ladder.go. clean.go takes off what a model adds to a
// whole copy (line numbers, marks, escapes), asis.go looks at new text beside a copy that is exact,
// against.go tells which indentation new text is written against, sound.go, doubtful.go and
// certain.go are the last checks of a result. lines.go finds whole lines, similar.go judges a place
// that align.go found, slide.go, words.go and beside.go belong to merge.go, indent.go translates
// indentation, normal.go folds look-alike characters, stale.go looks at what changed since the text
// was read, scan.go searches files too large to hold, omission.go catches "rest of the code
// unchanged".
//
// Known limits: the lenient steps are left out above LenientLimit bytes. A line that was forgotten
// in both texts, just where lines are added, is refused unless indentation tells on which side of
// it they belong. Of 10,000 disturbed edits of meant_test.go about 3 are still written otherwise
// than meant, and 72 % are right; the rest is refused or harmless.
package textedit

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"adze/internal/text"
)

// LenientLimit is the size in bytes of text above which only literal steps are tried: the others
// hold several copies.
const LenientLimit = 8 << 20

// Error codes, as the tools report them.
const (
	NoMatch          = "no_match"
	ManyMatches      = "many_matches"
	NoChange         = "no_change"
	Stale            = "stale"
	NotRead          = "not_read"
	InvalidArguments = "invalid_arguments"
)

// Error is a refusal: a stable code, and a message for the model with the next move.
type Error struct{ Code, Message string }

// Error is the message.
func (e *Error) Error() string { return e.Message }

// ErrorCode is the stable code.
func (e *Error) ErrorCode() string { return e.Code }

func refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Edit asks for Old to become New, in one place or everywhere.
type Edit struct {
	Old, New string
	All      bool
}

// Source is the text to edit and what its editor knows of it.
type Source struct {
	Name    string // of the file, for messages
	Text    string
	Newline string // its most frequent line end
	Read    bool   // the editor has read it
	Changed bool   // it has changed since
	Seen    string // the text as it was read, where Changed; "" when that is not known
}

// Span is a place in the text and what comes there.
type Span struct {
	Start, End int
	New        string
	Edit       int  // which edit
	Step       Step // how it was found
}

// Match finds the spans of all edits, in order. All edits are matched against the same text; the
// result is all of them or an error.
func Match(src Source, edits []Edit) ([]Span, error) {
	d := &doc{Source: src}
	var spans []Span
	for i, e := range edits {
		found, err := d.locate(e, label(i, len(edits)))
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			s.Edit = i
			spans = append(spans, s)
		}
	}
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].Start < spans[j].Start })
	if err := d.apart(spans); err != nil {
		return nil, err
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

// Apply puts the spans into the text they were found in.
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

// doc is a source with what several steps need, made on first use.
type doc struct {
	Source
	rows  []row
	seen  []line          // as alignments see the rows
	often map[string]int  // how often each of them occurs
	known map[string]bool // the indentations in use
	exact map[string]bool // the lines as they stand

	cleaned bool // something was taken off the copy, perhaps a space too many
}

// row is one line of the text without its end.
type row struct{ start, end, next int }

func (d *doc) lines() []row {
	if d.rows == nil {
		d.rows = rowsOf(d.Text)
	}
	return d.rows
}

// rowsOf splits at \n and \r\n, as read numbers lines; at \r only where a text has no \n.
func rowsOf(s string) (rows []row) {
	end := byte('\n')
	if !strings.Contains(s, "\n") {
		end = '\r'
	}
	for at := 0; at < len(s); {
		r := row{start: at, end: len(s), next: len(s)}
		if i := strings.IndexByte(s[at:], end); i >= 0 {
			r.end, r.next = at+i, at+i+1
			if i > 0 && end == '\n' && s[r.end-1] == '\r' {
				r.end--
			}
		}
		rows = append(rows, r)
		at = r.next
	}
	return rows
}

// lineAt is the number, from 0, of the line that holds the byte.
func (d *doc) lineAt(off int) int {
	rows := d.lines()
	return max(0, sort.Search(len(rows), func(i int) bool { return rows[i].start > off })-1)
}

// locate climbs the ladder for one edit, without what the model added to its copy.
func (d *doc) locate(e Edit, label string) ([]Span, error) {
	if e.Old == "" {
		return nil, refuse(InvalidArguments, "%sold_string is empty but %s exists; copy the text to replace from the file", label, d.Name)
	}
	if e.Old == e.New {
		return nil, refuse(NoChange, "%sold_string and new_string are the same; nothing to do", label)
	}
	plain, steps, err := d.asMeant(e)
	if err != nil {
		return nil, labelled(d.placed(err, e), label)
	}
	if err := d.leftOver(e, plain, steps); err != nil {
		return nil, labelled(d.placed(err, plain), label)
	}
	d.cleaned = plain.Old != e.Old
	found, err := d.climb(plain, label)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, d.missing(plain, label)
	}
	if err := d.leftAfter(e, plain, steps, found); err != nil {
		return nil, labelled(d.placed(err, plain), label)
	}
	for _, step := range slices.Backward(steps) {
		for i, s := range found {
			if found[i].Step = step; s.Step != Exact {
				found[i].Step += ", " + s.Step
			}
		}
	}
	return found, nil
}

// asMeant is the edit without what the model added to both texts or to one.
func (d *doc) asMeant(e Edit) (plain Edit, steps []Step, err error) {
	if !markup(d.Name) && !strings.Contains(d.Text, "\u00a0") && len(d.Text) <= LenientLimit {
		e.New = strings.ReplaceAll(e.New, "\u00a0", " ")
	}
	plain = e
	switch ends := lineEnds(d, e); {
	case e.All && (strings.Contains(d.Text, e.Old) || len(ends) > 0):
		return e, nil, nil
	case strings.Contains(d.Text, e.Old):
		plain, steps, err = d.cleanNew(e)
	case len(ends) == 1:
		s := ends[0]
		plain, steps, err = d.cleanNew(Edit{Old: d.Text[s.Start:s.End], New: text.WithNewlines(s.New, "\n")})
		steps = append(steps, LineEnds)
	case len(ends) == 0:
		var more []Step
		if plain, steps, err = d.clean(e); err == nil && len(steps) > 0 {
			plain, more, err = d.asMeant(plain)
		} else if err == nil {
			plain, more, err = d.cleanNew(plain)
		}
		steps = append(steps, more...)
	}
	plain.New = d.plainMargins(plain.New)
	if err == nil && !e.All {
		plain, err = d.asIs(plain)
	}
	if line := d.standsFor(plain); err == nil && line != "" {
		err = refuse(InvalidArguments, "new_string has %q in the place of lines of old_string, which would delete them; write these lines out, or leave them out of both texts", line)
	}
	return plain, steps, err
}

// climb tries one step after the other; it finds nothing without an error when none fits.
func (d *doc) climb(e Edit, label string) ([]Span, error) {
	for _, rung := range ladder() {
		if !rung.literal && (len(d.Text) > LenientLimit || d.Changed && d.Seen == "") {
			break
		}
		found, err := rung.find(d, e)
		if !rung.literal && !d.Read && (err != nil || len(found) == 1) {
			at := "something there is like it"
			if len(found) == 1 {
				at = fmt.Sprintf("it fits line %d only roughly", d.lineAt(found[0].Start)+1)
			}
			return nil, refuse(NotRead, "%sold_string is not in %s as written (%s), and the file was not read in this session; read it first", label, d.Name, at)
		}
		if err != nil {
			return nil, labelled(err, label)
		}
		if len(found) == 0 {
			continue
		}
		if len(found) > 1 && !(e.All && rung.literal) {
			return nil, d.many(found, e, label)
		}
		if !e.All {
			if why := d.begunInside(found[0], e); why != nil {
				return nil, labelled(d.uncertain(found[0], e, why), label)
			}
		}
		if !rung.literal {
			if why := d.sound(found[0], e); why != nil {
				return nil, labelled(d.uncertain(found[0], e, why), label)
			}
		}
		for i := range found {
			if found[i].Step == "" {
				found[i].Step = rung.step
			}
		}
		return found, nil
	}
	return nil, nil
}

func labelled(err error, label string) error {
	if e, ok := err.(*Error); ok {
		return &Error{Code: e.Code, Message: label + e.Message}
	}
	return err
}

// apart refuses edits that touch the same text, since their order would decide the result.
func (d *doc) apart(spans []Span) error {
	for i := 1; i < len(spans); i++ {
		a, b := spans[i-1], spans[i]
		if b.Start < a.End || b.Start == a.Start {
			return refuse(InvalidArguments, "edits %d and %d overlap at line %d of %s; make them one edit",
				min(a.Edit, b.Edit)+1, max(a.Edit, b.Edit)+1, d.lineAt(b.Start)+1, d.Name)
		}
	}
	return nil
}

// newlines writes a replacement's line ends as the text around its place does. A replacement that
// spells out \r is left as it is.
func (d *doc) newlines(start, end int, e Edit) string {
	if strings.Contains(e.New, "\r") || !strings.Contains(e.New, "\n") {
		return e.New
	}
	return text.WithNewlines(e.New, d.newlineNear(start, end))
}

// newlineNear is the first line end in the span or behind it, else the file's usual one.
func (d *doc) newlineNear(start, end int) string {
	for _, s := range []string{d.Text[start:end], d.Text[end:]} {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			continue
		}
		if s[i] == '\n' {
			return "\n"
		}
		if strings.HasPrefix(s[i:], "\r\n") {
			return "\r\n"
		}
		return "\r"
	}
	if d.Newline == "" {
		return "\n"
	}
	return d.Newline
}
