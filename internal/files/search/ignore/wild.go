package ignore

import "bytes"

// wild is a compiled wildcard pattern. It matches bytes, not runes: "?" is one byte.
type wild struct {
	ops    []op
	tail   []byte // bytes that every match ends with, a cheap first test
	broken bool   // an unclosed set or final backslash: matches nothing
}

type opKind uint8

const (
	opByte    opKind = iota // one given byte
	opOne                   // any byte but a slash
	opSet                   // a byte in a set, never a slash
	opStar                  // any run of bytes without a slash
	opAll                   // any run of bytes
	opFolders               // empty, or bytes ending with a slash
)

type op struct {
	kind opKind
	b    byte
	set  *byteSet
}

type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

// addRange adds lo to hi; a reversed range is empty.
func (s *byteSet) addRange(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		s.add(byte(b))
	}
}

// compileWild compiles a pattern. In a path pattern, "**" between slashes crosses folders; in a
// base name pattern it equals "*".
func compileWild(pattern string, path bool) *wild {
	w := &wild{}
	for i := 0; i < len(pattern) && !w.broken; {
		switch pattern[i] {
		case '\\':
			if i++; i == len(pattern) {
				w.broken = true
				break
			}
			w.ops = append(w.ops, op{kind: opByte, b: pattern[i]})
			i++
		case '?':
			w.ops = append(w.ops, op{kind: opOne})
			i++
		case '[':
			i = w.addSet(pattern, i)
		case '*':
			i = w.addStars(pattern, i, path)
		default:
			w.ops = append(w.ops, op{kind: opByte, b: pattern[i]})
			i++
		}
	}
	w.findTail()
	return w
}

// addStars compiles the stars at i and returns its end.
func (w *wild) addStars(pattern string, i int, path bool) int {
	end := i
	for end < len(pattern) && pattern[end] == '*' {
		end++
	}
	rest := pattern[end:]
	opens := i == 0 || pattern[i-1] == '/'
	closes := rest == "" || rest[0] == '/' || (len(rest) > 1 && rest[0] == '\\' && rest[1] == '/')
	switch {
	case end-i < 2 || !path || !opens || !closes:
		w.ops = append(w.ops, op{kind: opStar})
	case rest != "" && rest[0] == '/':
		w.ops = append(w.ops, op{kind: opFolders})
		end++
	default:
		w.ops = append(w.ops, op{kind: opAll})
	}
	return end
}

func (w *wild) findTail() {
	for i := len(w.ops) - 1; i >= 0 && w.ops[i].kind == opByte; i-- {
		w.tail = append(w.tail, w.ops[i].b)
	}
	for i, j := 0, len(w.tail)-1; i < j; i, j = i+1, j-1 {
		w.tail[i], w.tail[j] = w.tail[j], w.tail[i]
	}
}

func (w *wild) match(text []byte) bool {
	if w.broken || !bytes.HasSuffix(text, w.tail) {
		return false
	}
	m := wildRun{ops: w.ops, text: text, star: -1, gap: -1}
	return m.run()
}

// wildRun matches with two backtracking points: the last star and the last gap that crosses
// folders. Older points are never needed: the newer one can take any run of bytes that the older
// could. So the cost is bounded by pattern length times text length.
type wildRun struct {
	ops           []op
	text          []byte
	i, j          int // next op, next byte
	star, starPos int
	gap, gapPos   int
}

func (m *wildRun) run() bool {
	for {
		if m.i == len(m.ops) && m.j == len(m.text) {
			return true
		}
		if m.step() || m.retryStar() || m.retryGap() {
			continue
		}
		return false
	}
}

func (m *wildRun) step() bool {
	if m.i == len(m.ops) {
		return false
	}
	o := &m.ops[m.i]
	switch o.kind {
	case opStar:
		m.i++
		m.star, m.starPos = m.i, m.j
		return true
	case opAll, opFolders:
		m.i++
		m.gap, m.gapPos, m.star = m.i, m.j, -1
		return true
	}
	if m.j == len(m.text) || !o.accepts(m.text[m.j]) {
		return false
	}
	m.i, m.j = m.i+1, m.j+1
	return true
}

func (o *op) accepts(b byte) bool {
	switch o.kind {
	case opByte:
		return b == o.b
	case opOne:
		return b != '/'
	default:
		return b != '/' && o.set.has(b)
	}
}

// retryStar extends the last star by one byte.
func (m *wildRun) retryStar() bool {
	if m.star < 0 || m.starPos == len(m.text) || m.text[m.starPos] == '/' {
		return false
	}
	m.starPos++
	m.i, m.j = m.star, m.starPos
	return true
}

// retryGap extends the last gap by one byte or folder.
func (m *wildRun) retryGap() bool {
	if m.gap < 0 || m.gapPos == len(m.text) {
		return false
	}
	n := 0
	if m.ops[m.gap-1].kind == opFolders {
		if n = bytes.IndexByte(m.text[m.gapPos:], '/'); n < 0 {
			return false
		}
	}
	m.gapPos += n + 1
	m.i, m.j, m.star = m.gap, m.gapPos, -1
	return true
}
