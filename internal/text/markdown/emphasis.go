package markdown

import (
	"unicode"
	"unicode/utf8"
)

// delimiter is a run of * _ or ~ that may begin or end emphasis (CommonMark 0.31 §6.2).
type delimiter struct {
	mark        byte
	n, original int // remaining and original marks
	node        int // index in nodes; unused marks stay text
	opens, ends bool
	before      int // previous usable run, or -1
}

func (r *reader) delimiter() {
	n := run(r.s, r.pos)
	mark := r.s[r.pos]
	if mark == '~' && n != 2 {
		r.pos += n
		return
	}
	d := delimiter{mark: mark, n: n, original: n, before: len(r.runs) - 1}
	d.opens, d.ends = flanks(r.s, r.pos, n)
	if !d.opens && !d.ends {
		r.pos += n
		return
	}
	r.flush()
	d.node = len(r.nodes)
	r.emit(n, Span{Text: r.s[r.pos : r.pos+n], Exact: true})
	r.runs = append(r.runs, d)
}

// flanks reports whether a run at i can begin and end emphasis, depending on its neighbors.
func flanks(s string, i, n int) (opens, ends bool) {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	beforeSpace, beforeMark := i == 0 || unicode.IsSpace(before), i > 0 && symbol(before)
	afterSpace, afterMark := i+n == len(s) || unicode.IsSpace(after), i+n < len(s) && symbol(after)
	left := !afterSpace && (!afterMark || beforeSpace || beforeMark)
	right := !beforeSpace && (!beforeMark || afterSpace || afterMark)
	if s[i] == '_' {
		return left && (!right || beforeMark), right && (!left || afterMark)
	}
	return left, right
}

func symbol(c rune) bool {
	if c < utf8.RuneSelf {
		return punctuation(byte(c))
	}
	return unicode.IsPunct(c) || unicode.IsSymbol(c)
}

// emphasis pairs the runs from an index on and drops them.
func (r *reader) emphasis(from int) {
	var bottom [3 * 2 * 3]int // lower bounds for openers, by mark, kind and length
	for i := range bottom {
		bottom[i] = from
	}
	for i := from; i < len(r.runs); i++ {
		for r.runs[i].ends && r.runs[i].n > 0 {
			kind := r.kind(i)
			o := r.opener(i, max(from, bottom[kind]))
			if o < 0 {
				bottom[kind] = i
				break
			}
			r.pair(o, i)
		}
		if d := &r.runs[i]; !d.opens || d.n == 0 {
			r.drop(i)
		}
	}
	for _, d := range r.runs[from:] {
		if d.opens && d.n > 0 {
			r.unsettle(r.nodes[d.node].Offset)
			break
		}
	}
	r.runs = r.runs[:from]
}

// kind returns the index in bottom for runs with the same openers.
func (r *reader) kind(i int) int {
	d := r.runs[i]
	k := map[byte]int{'*': 0, '_': 1, '~': 2}[d.mark] * 6
	if d.opens {
		k += 3
	}
	return k + d.original%3
}

// opener returns the run closed by run i.
func (r *reader) opener(i, bottom int) int {
	d := r.runs[i]
	for o := d.before; o >= bottom; o = r.runs[o].before {
		c := r.runs[o]
		odd := (c.ends || d.opens) && (c.original+d.original)%3 == 0 && (c.original%3 != 0 || d.original%3 != 0)
		if c.mark == d.mark && c.opens && c.n > 0 && !(odd && d.mark != '~') {
			return o
		}
	}
	return -1
}

// pair creates emphasis between two runs and consumes their inner marks.
func (r *reader) pair(o, i int) {
	open, end := &r.runs[o], &r.runs[i]
	n := min(open.n, end.n, 2)
	open.n, end.n = open.n-n, end.n-n
	opens, ends := &r.nodes[open.node], &r.nodes[end.node]
	opens.Text = opens.Text[:open.n]
	ends.Text, ends.Offset = ends.Text[n:], ends.Offset+n
	r.mark(open.node+1, end.node, open.mark, n)
	end.before = o // runs between them are no longer usable
	if open.n == 0 {
		end.before = open.before
	}
}

func (r *reader) mark(from, to int, mark byte, n int) {
	on, off := &r.nodes[from].on, &r.nodes[to].off
	switch {
	case mark == '~':
		on.strike, off.strike = on.strike+1, off.strike+1
	case mark == '[':
		on.link, off.link = on.link+1, off.link+1
	case n == 2:
		on.strong, off.strong = on.strong+1, off.strong+1
	default:
		on.emphasis, off.emphasis = on.emphasis+1, off.emphasis+1
	}
}

func (r *reader) drop(i int) {
	if i+1 < len(r.runs) && r.runs[i+1].before == i {
		r.runs[i+1].before = r.runs[i].before
	}
}

func (r *reader) spans() []Span {
	out := make([]Span, 0, len(r.nodes))
	var now forms
	for _, n := range r.nodes {
		now.add(n.on, 1)
		now.add(n.off, -1)
		if n.Text == "" && n.Form != Break {
			continue
		}
		n.Form |= now.form()
		out = append(out, n.Span)
	}
	return out
}

func (f *forms) add(d forms, sign int16) {
	f.strong += sign * d.strong
	f.emphasis += sign * d.emphasis
	f.strike += sign * d.strike
	f.link += sign * d.link
}

func (f forms) form() (form Form) {
	if f.strong > 0 {
		form |= Strong
	}
	if f.emphasis > 0 {
		form |= Emphasis
	}
	if f.strike > 0 {
		form |= Strike
	}
	if f.link > 0 {
		form |= Link
	}
	return form
}
