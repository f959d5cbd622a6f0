package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
	"adze/tool"
)

// Limit for names checked in one command.
const maxNamed = 4000

// judgeExecute judges a command: the files it names, then its programs.
func (p *Policy) judgeExecute(mode Mode, v verdict) verdict {
	if v.command.refused == nil {
		if why, r := p.deniedFile(v); why != "" {
			v.reason = "the command " + quote(v.need.Target) + ": " + why
			if v.effect, v.layer = Deny, builtIn; r.Effect == Deny {
				return v.withRule(r)
			}
			return v
		}
	}
	return p.judgeCommand(mode, v)
}

// deniedFile returns a file in a command forbidden by a rule or by adze's own folders. It applies
// in every mode, with and without a sandbox. It does not see the effects of code in other
// languages.
func (p *Policy) deniedFile(v verdict) (why string, by Rule) {
	kept := p.kept()
	denies := map[tool.Permission][]Rule{}
	for _, kind := range []tool.Permission{tool.Read, tool.Write} {
		denies[kind] = slices.DeleteFunc(p.rulesFor(kind), func(r Rule) bool { return r.Effect != Deny })
	}
	if len(kept)+len(denies[tool.Read])+len(denies[tool.Write]) == 0 {
		return "", Rule{}
	}
	if len(v.command.simples) == 0 {
		return "", Rule{}
	}
	dirs := v.command.folders(orDot(v.need.Dir))
	for i, n := range v.command.named() {
		kind := permissionOf(n.Kind)
		for _, dir := range dirs {
			place, err := p.place(resolveIn(dir, n.Path, "~"))
			if err != nil || i > maxNamed {
				continue
			}
			doing := map[tool.Permission]string{tool.Read: "reading ", tool.Write: "writing "}[kind] + quote(n.Path)
			gone := n.Kind == programs.Removed
			if kind == tool.Write && (keptIn(kept, place) != "" || gone && slices.ContainsFunc(kept, func(at string) bool { return inFolder(at, place.Abs) })) {
				return ownReason(doing), Rule{}
			}
			if n.Effect == unparsed && p.options.Shell != "" {
				continue // a line for another shell, which bash would not read
			}
			if r, found := strongest(denies[kind], func(r Rule) bool {
				return r.counts(place, p.options.Home, "", "") || gone && inFolder(p.start(r), place.Abs)
			}); found {
				return deniedBy(doing, r), r
			}
		}
	}
	return "", Rule{}
}

// permissionOf returns the permission for a use.
func permissionOf(kind programs.Kind) tool.Permission {
	if kind == programs.Write || kind == programs.Removed {
		return tool.Write
	}
	return tool.Read
}

// start returns the folder or file where a rule's pattern begins, or "" if it may match anywhere.
func (p *Policy) start(r Rule) string {
	name := strings.TrimSuffix(r.path.pattern, "/**")
	if r.path.anchor == "" || strings.ContainsAny(unescaped(name, "\x00"), "*?[{") {
		return ""
	}
	root := map[string]string{"home": p.options.Home + "/", "work": ""}[r.path.anchor]
	place, err := p.place(root + unescaped(name, ""))
	if err != nil {
		return ""
	}
	return place.Abs
}

// folders returns all folders in which the command's programs may run: the first, and those entered
// one after another.
func (c *command) folders(first string) []string {
	dirs := []string{first}
	plain := strings.NewReplacer("&&", "").Replace(c.top.Text)
	if c.simples[0].name() == "cd" && strings.Contains(c.top.Text, "&&") && !strings.ContainsAny(plain, ";|&(\n`") {
		dirs = nil // nothing in it runs in the first
	}
	at := first
	for _, s := range c.simples {
		for i, w := range s.words {
			name := w.Spelled
			value, attached := strings.CutPrefix(name, "--directory=")
			enters := i == 1 && oneOf(s.name(), "cd pushd") || i > 0 && oneOf(s.words[i-1].Text, "-C --directory --chdir")
			if !attached {
				value = name
			}
			if (attached || enters) && value != "" && !s.maybe && len(dirs) < 20 {
				at = resolveIn(at, value, "~")
				dirs = append(dirs, at)
			}
		}
	}
	return dirs
}

// Marks names in a text that does not parse.
const unparsed = "does not parse"

// named returns the files in a command, or all possible ones if it does not parse.
func (c *command) named() []programs.Access {
	out := slices.Clone(c.files)
	for _, s := range c.simples {
		if !s.maybe {
			out = append(out, programs.Names(s.words)...)
		}
	}
	if c.top.Broken != nil {
		for _, name := range pieces(c.top.Text) {
			out = append(out, programs.Access{Kind: programs.Write, Path: name, Effect: unparsed})
		}
	}
	return slices.DeleteFunc(out, func(n programs.Access) bool { return n.Path == "" || len(n.Path) > 4096 })
}

// pieces returns the possible file names in a text.
func pieces(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(shellMarks+"=,;:[]", c) && c != '\\' })
}

// beyond asks about effects beyond the meaning of an allow rule: an option does more, writes go
// outside the workspace or make another program run something, or reads reach known secrets. A rule
// that spells out the option or name covers it.
func (j *judgement) beyond(s *script.Step, by permit) bool {
	all := programs.Names(innermost(s.Words))
	for _, n := range all {
		if n.Option != "" && (by.seen || j.ruleNames(s.Words, n.Option)) || n.Path != "" && j.ruleNames(s.Words, n.Path) {
			continue
		}
		v, free := j.use(s, n)
		switch {
		case v.effect == Deny:
			if j.deny == nil {
				j.deny = &v
			}
			return true
		case by.literal:
		case n.Option == "" && (v.careful || v.need.Permission == tool.Write && !free && (v.place.Outside || v.rule != "")):
			v.words, v.dir, v.exact = s.Words, s.Dir, j.exactly(s)
			j.ask(v)
			return true
		case n.Option != "" && !(n.Effect == programs.WritesFile && j.writesFree(s, n, all, free)):
			j.ask(verdict{need: j.need(s), words: s.Words, dir: s.Dir, exact: j.exactly(s), reason: fmt.Sprintf("%s; the rule %s does not name that option", n, by.rule)})
			return true
		}
	}
	return false
}

// use judges a file named by a program. free means that no question is needed.
func (j *judgement) use(s *script.Step, n programs.Access) (v verdict, free bool) {
	if n.Path == "" || oneOf(n.Path, "- /dev/null /dev/stdout /dev/stderr /dev/tty") {
		return verdict{}, n.Path != ""
	}
	v = j.judge(j.mode, tool.Need{Permission: permissionOf(n.Kind), Target: resolveIn(s.Dir, n.Path, "~")})
	return v, v.effect == Allow
}

// writesFree reports whether everything that a program writes by an option needs no question.
func (j *judgement) writesFree(s *script.Step, n programs.Access, all []programs.Access, free bool) bool {
	if n.Path != "" {
		return free
	}
	wrote := false
	for _, other := range all {
		if other.Kind == programs.Write {
			_, free := j.use(s, other)
			if wrote = true; !free {
				return false
			}
		}
	}
	return wrote && script.AllKnown(s.Words)
}

// ruleNames reports whether an allow rule that covers the words spells out a name or an option.
func (j *judgement) ruleNames(words []script.Word, name string) bool {
	named := slices.ContainsFunc(j.rules, func(r Rule) bool {
		return r.Effect == Allow && r.argv.covers(words) && slices.ContainsFunc(r.argv.tokens, func(t token) bool { return !t.any && slices.Contains(t.oneOf, name) })
	})
	inner, wrapped := behindWrapper(words)
	return named || wrapped && j.ruleNames(inner, name)
}

// Effects describes writes and programs of an allow rule's command that need options missing in the
// rule, which are still asked about. It is "" if the table has none.
func (r Rule) Effects() string {
	if r.Effect != Allow || len(r.argv.tokens) == 0 || !r.argv.anyRest || r.argv.tokens[0].any {
		return ""
	}
	var words, says []string
	for _, t := range r.argv.tokens {
		words = append(words, strings.Join(t.oneOf[:min(1, len(t.oneOf))], ""))
	}
	words[0] = path.Base(words[0])
	for _, n := range programs.ExtraAccess(words) {
		if slices.Contains(words[1:], n.Option) {
			continue
		}
		if last := len(says) - 1; last >= 0 && strings.HasSuffix(says[last], n.Effect) {
			says[last] = strings.TrimSuffix(says[last], " "+n.Effect) + ", " + n.String()
		} else {
			says = append(says, n.String())
		}
	}
	if len(says) == 0 {
		return ""
	}
	return fmt.Sprintf("options by which %s does more (%s)", words[0], strings.Join(says, "; "))
}

// aboutOwn reports whether a rule names adze's own files, outside the workspace.
func (p *Policy) aboutOwn(r Rule) bool {
	at := p.start(r)
	here, err := p.place(".")
	return r.path.anchor == "abs" && err == nil && at != "" && keptIn(p.kept(), Place{Abs: at}) != "" && !inFolder(at, here.Abs)
}
