package script

import (
	"fmt"
	"strings"
)

// node is a part of a text that can be written for bash.
type node interface{ write() string }

// raw is written as it is.
type raw string

func (n raw) write() string { return string(n) }

type prefixed struct {
	before string
	node   node
}

func (n prefixed) write() string { return n.before + n.node.write() }

type group struct {
	open  string
	body  []node
	close string
}

func (n group) write() string { return n.open + writeList(n.body) + n.close }

type pair struct {
	left, right []node
	op          string
}

func (n pair) write() string { return writeList(n.left) + " " + n.op + " " + writeList(n.right) }

type arm struct{ cond, body []node }

type choice []arm

func (n choice) write() string {
	out := ""
	for i, a := range n {
		switch {
		case i == 0:
			out += "if " + writeList(a.cond) + "; then " + writeList(a.body)
		case len(a.cond) > 0:
			out += "; elif " + writeList(a.cond) + "; then " + writeList(a.body)
		default:
			out += "; else " + writeList(a.body)
		}
	}
	return out + "; fi"
}

type repeat struct {
	word       string
	cond, body []node
}

func (n repeat) write() string {
	return n.word + writeList(n.cond) + "; do " + writeList(n.body) + "; done"
}

type forIn struct {
	name  string
	words []Word
	body  []node
}

func (n forIn) write() string {
	out := "for " + n.name + " in"
	for _, w := range n.words {
		out += " " + w.out
	}
	return out + "; do " + writeList(n.body) + "; done"
}

type sets []Setting

func (n sets) write() string {
	var out []string
	for _, s := range n {
		out = append(out, s.Name+"="+s.Value.out)
	}
	return strings.Join(out, " ")
}

type redirected struct {
	node node
	step *Step
}

func (n redirected) write() string {
	return guarded(n.step.Guards, "{ "+n.node.write()+"; }"+n.step.passed())
}

func writeList(nodes []node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.write())
	}
	return strings.Join(out, "; ")
}

func (s *Step) passed() string {
	if len(s.passes) == 0 {
		return ""
	}
	return " " + strings.Join(s.passes, " ")
}

func (s *Step) pass(text string) { s.passes = append(s.passes, text) }

func (s *Step) write() string {
	if s.fixed != "" {
		return s.fixed + s.passed()
	}
	var parts []string
	for _, set := range s.Set {
		parts = append(parts, set.Name+"="+set.Value.out)
	}
	if s.Instead != nil {
		for _, w := range s.Instead {
			parts = append(parts, quote(w))
		}
	} else {
		for _, w := range s.Words {
			parts = append(parts, w.out)
		}
	}
	out := strings.Join(parts, " ") + s.passed()
	if s.Away {
		out = "( cd / && " + out + " )"
	}
	return guarded(s.Guards, out)
}

// guarded runs a program only where names still lead where they led.
func guarded(guards []Guard, text string) string {
	if len(guards) == 0 {
		return text
	}
	out := "{ "
	for _, g := range guards {
		out += "adze_still " + quote(g.Name) + " " + quote(g.Dir) + " " + quote(g.Abs) + " && "
	}
	return out + text + "; }"
}

// still is the function that guards call: the name, the folder that holds it, and where it led.
const still = `adze_still() { ` +
	`if [ -d "$1" ]; then [ "$(cd -P -- "$1" && pwd -P)" = "$3" ] && return 0; ` +
	`elif [ ! -L "$1" ] && { [ ! -d "$2" ] || [ "$(cd -P -- "$2" && pwd -P)/${1##*/}" = "$3" ]; }; then return 0; fi; ` +
	`printf '%s\n' "$1 leads elsewhere than it did before; try it in a call of its own" >&2; exit 126; }; `

// Text is the script for bash.
func (s Script) Text() string {
	out := ""
	for _, step := range s.Steps {
		if len(step.Guards) > 0 {
			out = still
			break
		}
	}
	out += s.filter
	if s.bare {
		out = "set -f; " + out
	}
	for _, name := range s.names {
		out += own(name) + `="${` + name + `-}"; `
	}
	out += writeList(s.root)
	for i := len(s.subs) - 1; i >= 0; i-- { // inner ones come first
		out = strings.ReplaceAll(out, fmt.Sprintf("\x00%d\x00", i), writeList(s.subs[i]))
	}
	return out
}

// Argv is the one program that the whole is, with what is set for it, where no shell is needed.
func (s Script) Argv() (env, argv []string, ok bool) {
	if len(s.Steps) != 1 || len(s.root) != 1 {
		return nil, nil, false
	}
	step := s.Steps[0]
	if n, whole := s.root[0].(*Step); !whole || n != step || step.fixed != "" || len(step.Guards) > 0 || step.Away {
		return nil, nil, false
	}
	for _, p := range step.passes {
		if p != "2>&1" { // both are read as one
			return nil, nil, false
		}
	}
	for _, set := range step.Set {
		value, known := set.Value.Known()
		if !known {
			return nil, nil, false
		}
		env = append(env, set.Name+"="+value)
	}
	if step.Instead != nil {
		return env, step.Instead, true
	}
	argv, ok = texts(step.Words)
	return env, argv, ok
}

// quote writes text as a word that bash reads back as it is.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// own is the name under which a variable of the text stands, apart from those of the environment.
func own(name string) string { return "adze_" + name }
