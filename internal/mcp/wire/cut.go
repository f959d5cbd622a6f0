package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxKey bounds what is remembered of the name of a member, in bytes.
const maxKey = 64

// Cutter makes a message that is too long one of bounded length, while it is read: long texts and
// long lists are cut, with a note where a model reads it, and all else stays. It holds no more than
// the bound.
type Cutter struct {
	most   int // bytes of the message that comes of it
	soft   int // from here on lists are cut, so that the rest has room
	text   int // bytes that one text may have
	out    []byte
	stack  []level
	id     []byte // of the message, raw; if nil, it has none so far
	asks   bool   // it is a request or a notification
	failed bool   // what comes of it is not used: it is too long in a way that cannot be cut, or is no JSON
	skip   int    // how many levels are open when a cut part ends; if 0, nothing is skipped
	whole  bool   // the part that is skipped is dropped with its brackets
	ended  bool   // the value at the top is complete
	read   int64

	// Of a string or another plain value.
	in      byte // 0: none; '"': a string; 'x': another
	escape  int  // how many bytes an escape still has
	key     bool // the string is the name of a member
	start   int  // where the value begins in out
	safe    int  // where it may be cut
	dropped int64
}

// level is an object or a list that is open.
type level struct {
	kind  byte   // { or [
	name  string // of the member that it is; if empty, it is in a list
	last  string // the name of the member that comes
	start int    // where it begins in out
	end   int    // where its last complete item ends
	items int
	value bool // a value comes next, and no name
}

// NewCutter returns one for a message of at most so many bytes.
func NewCutter(most int) *Cutter {
	return &Cutter{most: most, soft: most - max(most/64, 512), text: most / 2}
}

// Write takes a piece of the message; it never fails.
func (c *Cutter) Write(p []byte) (int, error) {
	c.read += int64(len(p))
	for i := 0; i < len(p); i++ {
		if c.in == '"' && c.escape == 0 && (c.dropped > 0 || c.skip > 0) { // nothing of the text is kept
			n := bytes.IndexAny(p[i:], "\"\\")
			if n < 0 {
				n = len(p) - i
			}
			if c.skip == 0 {
				c.dropped += int64(n)
			}
			if i += n; i == len(p) {
				break
			}
		}
		c.take(p[i])
	}
	return len(p), nil
}

// Message is what came of it. A request that could not be cut is nil; an answer is then an error
// under the same id.
func (c *Cutter) Message() []byte {
	if !c.failed && c.ended && len(c.out) <= c.most {
		return c.out
	}
	if c.id == nil || c.asks || !json.Valid(c.id) {
		return nil
	}
	text, _ := json.Marshal(fmt.Sprintf("the answer has %d bytes, more than %d, and could not be cut; ask for a part of it", c.read, c.most))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%s}}`, c.id, text)
}

// emit adds to the message, unless the part is skipped.
func (c *Cutter) emit(b byte) {
	if c.skip == 0 && !c.failed {
		c.out = append(c.out, b)
	}
}

func (c *Cutter) take(b byte) {
	switch {
	case c.in == '"':
		c.inString(b)
		return
	case c.in == 'x' && !punctuation(b):
		c.plain(b)
		return
	case c.in == 'x':
		c.in = 0
		c.value()
	}
	switch b {
	case ' ', '\t', '\r', '\n':
		return
	case '{', '[':
		c.open(b)
	case '}', ']':
		c.close(b)
	case ',':
		if top := c.top(); top != nil {
			top.value = top.kind == '['
		}
		c.emit(b)
	case ':':
		if top := c.top(); top != nil {
			top.value = true
		}
		c.emit(b)
	case '"':
		c.in, c.escape, c.dropped = '"', 0, 0
		top := c.top()
		if c.key = top != nil && top.kind == '{' && !top.value; c.key {
			top.last = ""
		}
		c.start = len(c.out)
		c.emit(b)
		c.safe = len(c.out)
		c.note(b, true)
	default:
		c.in, c.start = 'x', len(c.out)
		c.note(b, true)
		c.plain0(b)
	}
	c.fit()
}

func punctuation(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', '{', '}', '[', ']', ',', ':', '"':
		return true
	}
	return false
}

func (c *Cutter) top() *level {
	if len(c.stack) == 0 {
		return nil
	}
	return &c.stack[len(c.stack)-1]
}

// note remembers the id and whether there is a method.
func (c *Cutter) note(b byte, first bool) {
	if len(c.stack) != 1 || c.key {
		return
	}
	switch c.stack[0].last {
	case "id":
		if first {
			c.id = nil
		}
		if c.id = append(c.id, b); len(c.id) > 10*maxKey {
			c.failed = true
		}
	case "method":
		c.asks = true
	}
}

func (c *Cutter) plain(b byte) {
	c.note(b, false)
	c.plain0(b)
	c.fit()
}

func (c *Cutter) plain0(b byte) {
	if len(c.out)-c.start > 10*maxKey {
		c.failed = true // a number of many digits
	}
	c.emit(b)
}

func (c *Cutter) inString(b byte) {
	c.note(b, false)
	if b == '"' && c.escape == 0 {
		c.endString()
		return
	}
	boundary := c.escape == 0 && utf8.RuneStart(b)
	switch {
	case c.escape == 1 && b == 'u':
		c.escape = 4
	case c.escape > 0:
		c.escape--
	case b == '\\':
		c.escape = 1
	}
	if c.key {
		if top := c.top(); len(top.last) < maxKey {
			top.last += string(b)
		}
	}
	if c.skip > 0 || c.failed {
		return
	}
	if boundary {
		c.safe = len(c.out)
	}
	switch {
	case c.dropped > 0:
		c.dropped++
	case len(c.out)-c.start < c.text:
		c.out = append(c.out, b)
		c.fit()
	case c.key:
		c.failed = true
	default:
		c.dropped = int64(len(c.out)-c.safe) + 1
		c.out = c.out[:c.safe]
	}
}

// endString ends a text, with a note where it was cut. Of data that is no text a part is worth
// nothing.
func (c *Cutter) endString() {
	c.in = 0
	if c.dropped > 0 && c.skip == 0 && !c.failed {
		if top := c.top(); top != nil && (top.last == "data" || top.last == "blob") {
			c.out = append(c.out[:c.start], '"')
		} else {
			c.out = fmt.Appendf(c.out, "\\n[%d bytes are left out here: the answer was longer than %d bytes]", c.dropped, c.most)
		}
	}
	c.dropped = 0
	c.emit('"')
	if !c.key {
		c.value()
	}
	c.key = false
	c.fit()
}

// value says that an item of the container that is open is complete.
func (c *Cutter) value() {
	top := c.top()
	if top == nil {
		c.ended = true
		return
	}
	if c.skip == 0 {
		top.end = len(c.out)
		top.items++
	}
}

func (c *Cutter) open(b byte) {
	l := level{kind: b, start: len(c.out), value: b == '['}
	if top := c.top(); top != nil && top.kind == '{' {
		l.name = top.last
	}
	if len(c.stack) > 1000 {
		c.failed = true
	}
	if len(c.stack) == 0 && (b == '[' || c.ended) {
		c.failed = true // several messages in one
	}
	c.emit(b)
	l.end = len(c.out)
	c.stack = append(c.stack, l)
}

func (c *Cutter) close(b byte) {
	top := c.top()
	if top == nil || (top.kind == '{') != (b == '}') {
		c.failed = true
		return
	}
	c.stack = c.stack[:len(c.stack)-1]
	if c.skip > 0 && len(c.stack) < c.skip {
		whole := c.whole
		c.skip, c.whole = 0, false
		if !whole {
			c.emit(b)
		}
	} else {
		c.emit(b)
	}
	c.value()
}

// fit cuts where the message is about to be too long: what an answer has beside its content, or the
// outermost list.
func (c *Cutter) fit() {
	if len(c.out) <= c.soft || c.skip > 0 || c.failed {
		return
	}
	if len(c.stack) > 2 && c.stack[1].name == "result" && c.stack[2].name == "structuredContent" {
		c.out = append(c.out[:c.stack[2].start], "null"...)
		c.skip, c.whole = 3, true
		c.stopString()
		return
	}
	for i, l := range c.stack {
		if l.kind != '[' {
			continue
		}
		c.out = c.out[:l.end]
		if i == 2 && l.name == "content" && c.stack[1].name == "result" {
			if l.items > 0 {
				c.out = append(c.out, ',')
			}
			c.out = fmt.Appendf(c.out, `{"type":"text","text":"[what follows is left out: the answer is longer than %d bytes]"}`, c.most)
		}
		c.skip = i + 1
		c.stopString()
		return
	}
	if len(c.out) > c.most {
		c.failed = true
	}
}

// stopString has a text that is open end with the part that is skipped.
func (c *Cutter) stopString() { c.dropped = 0 }
