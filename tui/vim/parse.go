package vim

import "strings"

// command is a parsed command.
type command struct {
	count  int    // 0 if not given
	op     string // d, c, y or ""
	verb   string // a motion, an object kind, or a command; same: the operator's own lines
	object string // i or a, before an object kind
	arg    string // argument for f, F, t, T and r
}

// same stands for a doubled operator.
const same = "same"

// state tracks how far a command is parsed.
type state uint8

const (
	none       state = iota // no command
	incomplete              // incomplete
	done
)

// Verbs. Motions may follow an operator.
const (
	motions  = "h j k l w b e W B E 0 ^ $ G f F t T ; , space"
	commands = "i a I A o O x X r ~ D C Y p P u ctrl+r . J s S"
)

const maxCount = 999

func contains(list, key string) bool {
	for word := range strings.FieldsSeq(list) {
		if word == key {
			return true
		}
	}
	return false
}

// reader reads a command's keys.
type reader struct {
	keys []Stroke
	at   int
}

func (r *reader) next() (key string, ok bool) {
	if r.at == len(r.keys) {
		return "", false
	}
	r.at++
	if key = r.keys[r.at-1].Text; key == " " {
		key = "space"
	}
	return key, true
}

func (r *reader) count() (n int) {
	for ; r.at < len(r.keys); r.at++ {
		k := r.keys[r.at].Text
		if len(k) != 1 || k[0] < '0' || k[0] > '9' || n == 0 && k == "0" {
			break
		}
		n = min(n*10+int(k[0]-'0'), maxCount)
	}
	return n
}

// parse parses the pending keys.
func parse(keys []Stroke) (c command, state state) {
	r := &reader{keys: keys}
	c.count = r.count()
	key, ok := r.next()
	if !ok {
		return c, incomplete
	}
	if contains("d c y", key) {
		c.op = key
		if n := r.count(); n > 0 {
			c.count = min(max(c.count, 1)*n, maxCount)
		}
		if key, ok = r.next(); !ok {
			return c, incomplete
		}
		if key == c.op {
			c.verb = same
			return c, done
		}
	}
	if c.op != "" && contains("i a", key) {
		c.object = key
		if c.verb, ok = r.next(); !ok {
			return c, incomplete
		}
		return c, doneIf(contains("w W", c.verb))
	}
	return r.verb(c, key)
}

func (r *reader) verb(c command, key string) (command, state) {
	ok := true
	c.verb = key
	switch {
	case key == "g":
		second, ok := r.next()
		if !ok {
			return c, incomplete
		}
		c.verb = "gg"
		return c, doneIf(second == "g")
	case contains("f F t T", key) || key == "r" && c.op == "":
		if c.arg, ok = r.next(); !ok {
			return c, incomplete
		}
		if c.arg == "space" {
			c.arg = " "
		}
		return c, done
	}
	return c, doneIf(contains(motions, key) || c.op == "" && contains(commands, key))
}

func doneIf(ok bool) state {
	if ok {
		return done
	}
	return none
}

// changes reports whether the dot repeats the command.
func (c command) changes() bool {
	return c.op == "d" || c.op == "c" || c.op == "" && contains("x X r ~ D p P J", c.verb)
}
