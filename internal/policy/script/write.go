package script

import "strings"

// code is bash text in pieces: strings, and steps that are written after judgement.
type code []any

func (c code) add(pieces ...any) code {
	for _, piece := range pieces {
		if more, ok := piece.(code); ok {
			c = append(c, more...)
		} else {
			c = append(c, piece)
		}
	}
	return c
}

func (c code) String() string {
	var b strings.Builder
	for _, piece := range c {
		switch piece := piece.(type) {
		case string:
			b.WriteString(piece)
		case *Step:
			b.WriteString(piece.String())
		}
	}
	return b.String()
}

// String returns the program as it runs.
func (s *Step) String() string {
	if s.fixed != nil {
		return s.fixed.String() + s.redirections.String()
	}
	var parts []string
	for _, set := range s.Set {
		parts = append(parts, set.Name+"="+set.Value.code.String())
	}
	for _, w := range s.Instead {
		parts = append(parts, quote(w))
	}
	for _, w := range s.Words {
		if s.Instead == nil {
			parts = append(parts, w.code.String())
		}
	}
	out := strings.Join(parts, " ") + s.redirections.String()
	if s.InRoot {
		out = "( cd / && " + out + " )"
	}
	return guarded(s.Guards, out)
}

// guarded runs a program only if the guards still hold.
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

// The function that guards call: the name, its folder, and the judged path.
const still = `adze_still() { ` +
	`if [ -d "$1" ]; then [ "$(cd -P -- "$1" && pwd -P)" = "$3" ] && return 0; ` +
	`elif [ ! -L "$1" ] && { [ ! -d "$2" ] || [ "$(cd -P -- "$2" && pwd -P)/${1##*/}" = "$3" ]; }; then return 0; fi; ` +
	`printf '%s\n' "$1 leads elsewhere than it did before; try it in a call of its own" >&2; exit 126; }; `

// Text returns the script for bash.
func (s Script) Text() string {
	text := s.body.String()
	if strings.Contains(text, "adze_still ") {
		return still + text
	}
	return text
}

// Argv returns the single program and its environment, if no shell is needed.
func (s Script) Argv() (env, argv []string, ok bool) {
	if len(s.Steps) != 1 || len(s.body) != 1 {
		return nil, nil, false
	}
	step := s.Steps[0]
	passes := strings.TrimSpace(step.redirections.String())
	if s.body[0] != any(step) || step.fixed != nil || len(step.Guards) > 0 || step.InRoot || passes != "" && passes != "2>&1" { // both are read as one stream
		return nil, nil, false
	}
	for _, set := range step.Set {
		if !set.Value.Known {
			return nil, nil, false
		}
		env = append(env, set.Name+"="+set.Value.Text)
	}
	if step.Instead != nil {
		return env, step.Instead, true
	}
	for _, w := range step.Words {
		if !w.Known {
			return nil, nil, false
		}
		argv = append(argv, w.Text)
	}
	return env, argv, true
}

// quote quotes text as a literal bash word.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
