package tui

import "strings"

// vimCommand is what was asked for.
type vimCommand struct {
	count  int    // 0: none was given
	op     string // d, c or y; empty: none
	verb   string // a motion, the kind of an object, or a command; vimSame: the operator's own lines
	object string // i or a, before the kind of an object
	arg    string // of f, F, t, T and r
}

// vimSame stands for an operator that is written twice.
const vimSame = "same"

// vimState is how far a command has come.
type vimState uint8

const (
	vimNone vimState = iota // it is none
	vimMore                 // it is not complete
	vimDone
)

// What a verb can be. Those that move go behind an operator.
const (
	vimMotions  = "h j k l w b e W B E 0 ^ $ G f F t T ; , space"
	vimCommands = "i a I A o O x X r ~ D C Y p P u ctrl+r . J v V s S"
	vimChosen   = "d c y x s ~ o J v V" // in visual mode
	vimObjects  = "w W \" ' ` ( ) b [ ] { } B < >"
)

// maxVimCount bounds counts: nobody means more.
const maxVimCount = 999

func among(list, key string) bool {
	for word := range strings.FieldsSeq(list) {
		if word == key {
			return true
		}
	}
	return false
}

// vimReader reads the keys of a command.
type vimReader struct {
	keys []stroke
	at   int
}

func (r *vimReader) next() (key string, ok bool) {
	if r.at == len(r.keys) {
		return "", false
	}
	r.at++
	if key = r.keys[r.at-1].text; key == " " {
		key = "space"
	}
	return key, true
}

func (r *vimReader) count() (n int) {
	for ; r.at < len(r.keys); r.at++ {
		k := r.keys[r.at].text
		if len(k) != 1 || k[0] < '0' || k[0] > '9' || n == 0 && k == "0" {
			break
		}
		n = min(n*10+int(k[0]-'0'), maxVimCount)
	}
	return n
}

// parseVim reads the keys pressed so far.
func parseVim(keys []stroke, visual bool) (c vimCommand, state vimState) {
	r := &vimReader{keys: keys}
	c.count = r.count()
	key, ok := r.next()
	if !ok {
		return c, vimMore
	}
	if !visual && among("d c y", key) {
		c.op = key
		if n := r.count(); n > 0 {
			c.count = min(max(c.count, 1)*n, maxVimCount)
		}
		if key, ok = r.next(); !ok {
			return c, vimMore
		}
		if key == c.op {
			c.verb = vimSame
			return c, vimDone
		}
	}
	if (c.op != "" || visual) && among("i a", key) {
		c.object = key
		if c.verb, ok = r.next(); !ok {
			return c, vimMore
		}
		return c, doneIf(among(vimObjects, c.verb))
	}
	return r.verb(c, key, visual)
}

func (r *vimReader) verb(c vimCommand, key string, visual bool) (vimCommand, vimState) {
	ok := true
	c.verb = key
	switch {
	case key == "g":
		second, ok := r.next()
		if !ok {
			return c, vimMore
		}
		c.verb = "gg"
		return c, doneIf(second == "g")
	case among("f F t T", key) || key == "r" && c.op == "" && !visual:
		if c.arg, ok = r.next(); !ok {
			return c, vimMore
		}
		if c.arg == "space" {
			c.arg = " "
		}
		return c, vimDone
	}
	return c, doneIf(among(vimMotions, key) || c.op == "" && (visual && among(vimChosen, key) || !visual && among(vimCommands, key)))
}

func doneIf(ok bool) vimState {
	if ok {
		return vimDone
	}
	return vimNone
}

// changes reports whether the dot repeats it.
func (c vimCommand) changes() bool {
	return c.op == "d" || c.op == "c" || c.op == "" && among("x X r ~ D p P J", c.verb)
}
