package textedit

import (
	"slices"
	"strings"

	"adze/internal/text"
)

// sound is the last check of a place that was not found literally. It knows nothing of how the
// place was found: it compares the lines that would stand there with those of the file and of the
// call.
//
//   - No mark stands before each line that the file does not have.
//   - Each line is one of the file's or one of new_string's, or made of the words of both.
//   - No line comes more often than it does in the file's or in new_string.
//   - The lines that are new come in new_string's order, and none is left out.
//   - Punctuation does not double.
//   - Indentation has no step that new_string does not have.
//   - No sign at the end of a line is lost.
//   - No line stays that old_string has nearly so and new_string has not.
//   - A line that both texts have nearly as the file does is neither lost nor left behind.
//   - A line that stands alike in both texts does not move.
func (d *doc) sound(s Span, e Edit) *doubt {
	first, last := d.lineAt(s.Start), d.lineAt(max(s.Start, s.End-1))
	if len(d.rows) == 0 {
		return nil
	}
	r := result{from: first, file: d.list(first, last), old: linesOf(blockOf(e.Old).lines), next: linesOf(blockOf(e.New).lines)}
	if e.New == "" {
		r.next = nil
	}
	body := d.Text[d.rows[first].start:s.Start] + s.New
	if end := d.rows[last].end; s.End < end {
		body += d.Text[s.End:end]
	}
	r.out = linesOf(strings.Split(strings.TrimSuffix(text.WithNewlines(body, "\n"), "\n"), "\n"))
	checks := []func(*doc) *doubt{r.marked, r.known, r.counted, r.ordered, r.stepped, r.gone, r.signed, r.miscopied, r.shifted}
	for _, check := range append(checks, r.certainChecks()...) {
		if why := check(d); why != nil {
			return why
		}
	}
	return d.endsTwice(s)
}

// result is a place before and after an edit, and the texts of the call.
type result struct {
	from                 int
	file, old, next, out []line
}

func (d *doc) list(first, last int) (out []line) {
	for i := first; i <= last; i++ {
		out = append(out, lineOf(d.row(i)))
	}
	return out
}

func has(list []line, key string) bool {
	return slices.ContainsFunc(list, func(l line) bool { return l.key == key })
}

func count(list []line, key string) (n int) {
	for _, l := range list {
		if l.key == key {
			n++
		}
	}
	return n
}

func (r result) doubt(why string) *doubt { return &doubt{row: r.from, why: why} }

// marked reports a mark that each line of a text of the call begins with, and no line of the file.
func (r result) marked(*doc) *doubt {
	for _, list := range [][]line{r.old, r.next} {
		for _, begins := range []func(string) bool{
			func(s string) bool { return s[0] == '>' }, func(s string) bool { return s[0] == '+' }, func(s string) bool { return s[0] == '-' },
			func(s string) bool { return s[0] == '+' || s[0] == '-' }, func(s string) bool { return s[0] == '|' }, numberedLine,
		} {
			without := func(l line) bool { return !l.blank() && !begins(l.key) }
			with := func(l line) bool { return !l.blank() && begins(l.key) }
			if slices.ContainsFunc(list, with) && !slices.ContainsFunc(list, without) && !slices.ContainsFunc(r.file, with) {
				return r.doubt("each line of the call begins with " + list[slices.IndexFunc(list, with)].key[:1] + ", and none of the file does")
			}
		}
	}
	return nil
}

func numberedLine(s string) bool {
	return slices.ContainsFunc(numberStyles(), func(st numberStyle) bool {
		rest, _, ok := st.cut(s)
		return ok && rest != "" && st.after != " "
	})
}

// known reports a line that is neither the file's nor new_string's nor made of their words.
func (r result) known(*doc) *doubt {
	for _, l := range r.out {
		if l.blank() || has(r.file, l.key) || has(r.next, l.key) {
			continue
		}
		made := false
		for _, n := range r.next {
			made = made || likeness(l.key, n.key, pairedNew) > 0 && madeOf(l.key, n.key, r.file)
		}
		if !made {
			return r.doubt("the line " + visible(l.text) + " would be neither the file's nor that of new_string")
		}
		if doubledSigns(l.key) && !slices.ContainsFunc(slices.Concat(r.file, r.next), func(o line) bool { return doubledSigns(o.key) }) {
			return r.doubt("punctuation would double in " + visible(l.text))
		}
	}
	return nil
}

// madeOf reports whether each word of a line is in the other or in one line of the file.
func madeOf(key, next string, file []line) bool {
	mine := words(key)
	from := words(next)
	for _, f := range file {
		all := append(slices.Clone(from), words(f.key)...)
		if !slices.ContainsFunc(mine, func(w string) bool {
			return isWord(w) && !slices.Contains(all, w) && !slices.ContainsFunc(all, func(o string) bool { return likeness(w, o, 0.5) > 0 })
		}) {
			return true
		}
	}
	return false
}

// doubledSigns reports punctuation that no language writes twice.
func doubledSigns(key string) bool {
	for _, signs := range []string{",,", ";;", ",;", ";,"} {
		if strings.HasSuffix(key, "..") && !strings.HasSuffix(key, "...") || strings.HasSuffix(key, signs) || strings.Contains(key, signs+" ") {
			return true
		}
	}
	return false
}

// counted reports a line that would be there more often than in the file or in new_string.
func (r result) counted(*doc) *doubt {
	for _, l := range r.out {
		if n := count(r.out, l.key); l.tells() && n > 1 && n > max(count(r.file, l.key), count(r.next, l.key), count(r.file, l.key)+count(r.next, l.key)-count(r.old, l.key)) {
			return r.doubt("the line " + visible(l.text) + " would be there twice")
		}
	}
	return nil
}

// ordered reports new lines that would be left out, or come in another order.
func (r result) ordered(*doc) *doubt {
	at := 0
	for _, n := range r.next {
		if n.blank() || has(r.old, n.key) || has(r.file, n.key) {
			continue
		}
		found := slices.IndexFunc(r.out[at:], func(l line) bool { return l.key == n.key })
		if found < 0 {
			found = slices.IndexFunc(r.out[at:], func(l line) bool { return !has(r.next, l.key) && likeness(l.key, n.key, 0.5) > 0 })
		}
		if found < 0 {
			return r.doubt("the new line " + visible(n.text) + " would be left out")
		}
		at += found + 1
	}
	return nil
}

// stepped reports a step of indentation beside a new line that new_string does not have.
func (r result) stepped(d *doc) *doubt {
	texts := func(list []line) []line {
		return slices.DeleteFunc(slices.Clone(list), line.blank)
	}
	out, next := texts(r.out), texts(r.next)
	n := 0
	for i, l := range out {
		k := slices.IndexFunc(next[min(n, len(next)):], func(o line) bool { return o.key == l.key })
		if k < 0 {
			continue
		}
		k += n
		n = k + 1
		if i == 0 || k == 0 || out[i-1].key != next[k-1].key || r.stays(l) && r.stays(out[i-1]) {
			continue
		}
		is, was := depthOf(l.text)-depthOf(out[i-1].text), depthOf(next[k].text)-depthOf(next[k-1].text)
		if is > 0 != (was > 0) || is < 0 != (was < 0) {
			return r.doubt("the indentation of " + visible(l.text) + " would have a step that new_string does not have")
		}
	}
	return nil
}

// stays reports whether a line, or one like it, stands in the file as deep.
func (r result) stays(l line) bool {
	return slices.ContainsFunc(r.file, func(f line) bool {
		return depthOf(f.text) == depthOf(l.text) && likeness(f.key, l.key, pairedNew) > 0
	})
}

// gone reports a line that stays though old_string has it, miscopied, and new_string has not.
func (r result) gone(*doc) *doubt {
	for _, l := range r.out {
		if l.blank() || has(r.next, l.key) || has(r.old, l.key) || !has(r.file, l.key) {
			continue
		}
		for _, o := range r.old {
			if !has(r.next, o.key) && !has(r.file, o.key) && (likeness(o.key, l.key, alikeLine) > 0 || bareOfSigns(o.key) == bareOfSigns(l.key)) {
				return r.doubt("the line " + visible(l.text) + " would stay, and old_string seems to mean it by " + visible(o.text))
			}
		}
	}
	return nil
}

// signed reports a sign at the end of a changed line that old_string lacks and the file has: it
// would be lost.
func (r result) signed(*doc) *doubt {
	for _, o := range r.old {
		if o.blank() || has(r.file, o.key) || has(r.next, o.key) {
			continue
		}
		for _, sign := range []string{",", ";", ":", "."} {
			fresh := func(list []line) (n, ends int) {
				for _, l := range list {
					if !l.blank() && !has(r.file, l.key) && !has(r.old, l.key) {
						if n++; strings.HasSuffix(l.key, sign) {
							ends++
						}
					}
				}
				return n, ends
			}
			n, ends := fresh(r.out)
			if _, wrote := fresh(r.next); has(r.file, o.key+sign) && n > 0 && ends <= wrote {
				return r.doubt("the line " + visible(o.text) + " has a " + sign + " at its end in the file, which would be lost")
			}
		}
	}
	return nil
}

func bareOfSigns(key string) string {
	return strings.Join(slices.DeleteFunc(words(key), func(w string) bool { return !isWord(w) }), " ")
}
