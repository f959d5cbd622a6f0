package policy

import (
	"fmt"
	"strings"

	"adze/tool"
)

// judgeCommand lets a rule allow only what it fully understands: a list or pipeline of plain words, each of
// whose commands some rule allows. Denies look at every program that can be found anywhere in the text.
func (p *Policy) judgeCommand(mode Mode, v verdict) verdict {
	doing := "the command " + quote(v.need.Target)
	c, err := read(v.need.Target)
	if err != nil {
		v.effect, v.reason = Deny, err.Error()
		return v
	}
	rules := p.rulesFor(tool.Execute)
	r, s, certain := forbidden(rules, c)
	if certain == sure || certain == possible && mode == Yolo {
		v.reason = deniedCommand(doing, r, s, certain)
		return v.by(r)
	}
	if r, yes := unreadable(rules, c); yes && mode == Yolo {
		v.reason = fmt.Sprintf("%s cannot be read (%s), so the rule %q cannot be checked; write it plainly", doing, c.opaque, r)
		return v.by(r)
	}
	v.target = c.text()
	if r, found := asked(rules, c); found {
		v.reason = doing + " is asked for by a rule"
		return v.by(r)
	}
	shadow := ""
	if r, ok := p.allowedByRules(rules, c); ok && certain == no {
		if shadow = p.shadowed(c); shadow == "" {
			return v.by(r)
		}
	}
	v.effect, v.layer, v.reason = mode.byDefault(tool.Execute, false), layerOf(mode), doing+" needs approval"
	if c.opaque != "" {
		v.reason += ", and no rule can allow it: " + c.opaque
		return v
	}
	if certain == possible {
		v.reason += fmt.Sprintf(", since the rule %q may forbid it", r)
		return v
	}
	if shadow != "" {
		v.reason += ": " + shadow
		return v
	}
	v.offers = p.commandGrants(rules, c, v.need.Dir)
	return v
}

// shadowed says which program of an allowed command PATH would find in the workspace: the rule did not mean that one.
func (p *Policy) shadowed(c command) string {
	for _, s := range c.simples {
		if p.local == nil || s.maybe || !s.words[0].known || s.words[0].text == "" {
			continue
		}
		if path := p.local(s.name()); path != "" {
			return fmt.Sprintf("%s would be %s of the workspace, which no rule means by that name; use another program, or call it by its path", quote(s.name()), path)
		}
	}
	return ""
}

// forbidden finds the surest match of a deny rule.
func forbidden(rules []Rule, c command) (rule Rule, by simple, best certainty) {
	for _, r := range rules {
		if r.Effect != Deny {
			continue
		}
		for _, s := range c.simples {
			if certain := r.argv.forbids(s); certain > best {
				rule, by, best = r, s, certain
			}
		}
	}
	return rule, by, best
}

func deniedCommand(doing string, r Rule, s simple, certain certainty) string {
	switch {
	case s.why != "":
		return fmt.Sprintf("%s may be forbidden by the rule %q (%s): %s; write it plainly, one program at a time", doing, r, r.Layer, s.why)
	case s.maybe:
		return fmt.Sprintf("%s may be forbidden by the rule %q (%s): it holds the text %s, which may be run; leave that out, or do it in another way",
			doing, r, r.Layer, quote(s.String()))
	case certain == possible:
		return fmt.Sprintf("%s may be forbidden by the rule %q (%s), since %s is known only when it runs; write it plainly", doing, r, r.Layer, quote(s.String()))
	case r.Matcher == "":
		return deniedBy(doing, r)
	}
	return fmt.Sprintf("%s is forbidden by the rule %q (%s), which matches %s", doing, r, r.Layer, quote(s.String()))
}

// unreadable reports a text that does not parse while a deny rule would have to look into it.
func unreadable(rules []Rule, c command) (Rule, bool) {
	if c.broken == nil {
		return Rule{}, false
	}
	return strongest(rules, func(r Rule) bool { return r.Effect == Deny })
}

func asked(rules []Rule, c command) (Rule, bool) {
	return strongest(rules, func(r Rule) bool {
		if r.Effect != Ask {
			return false
		}
		for _, s := range c.simples {
			if r.argv.forbids(s) > no {
				return true
			}
		}
		return false
	})
}

// allowedByRules wants a rule for every command; the rule of the first one is named.
func (p *Policy) allowedByRules(rules []Rule, c command) (first Rule, ok bool) {
	if c.opaque != "" {
		return Rule{}, false
	}
	for _, s := range c.simples {
		if s.inner {
			continue // its wrapper is judged
		}
		r, found := allowing(rules, s)
		if !found {
			return Rule{}, false
		}
		if !ok {
			first, ok = r, true
		}
	}
	return first, ok
}

// allowing finds the rule that allows one command. A wrapper or a shell is allowed by a rule that names it:
// with * or ** somebody thought of programs, not of programs that start programs.
func allowing(rules []Rule, s simple) (Rule, bool) {
	runner := startsPrograms(s)
	if inner, ok := throughPlainWrapper(s); ok {
		if r, found := allowing(rules, inner); found {
			return r, true
		}
	}
	return strongest(rules, func(r Rule) bool {
		if r.Effect != Allow || !r.argv.allows(s) {
			return false
		}
		return !runner || len(r.argv.tokens) > 0 && !r.argv.tokens[0].any
	})
}

func startsPrograms(s simple) bool {
	_, wraps := wrapper(base(s.name()))
	return wraps || isShell(base(s.name())) || oneOf(base(s.name()), "find fd su watch parallel")
}

// throughPlainWrapper looks through the forms of wrappers that cannot be misread: nohup CMD, nice CMD,
// nice -n N CMD, timeout N CMD.
func throughPlainWrapper(s simple) (simple, bool) {
	skip := 0
	plainNumber := func(i int) bool {
		return len(s.words) > i && strings.Trim(s.words[i].text, "0123456789.smhd") == "" && s.words[i].text != ""
	}
	switch {
	case s.name() == "nohup":
		skip = 1
	case s.name() == "nice" && len(s.words) > 1 && s.words[1].text == "-n" && plainNumber(2):
		skip = 3
	case s.name() == "nice":
		skip = 1
	case s.name() == "timeout" && plainNumber(1):
		skip = 2
	}
	if skip == 0 || len(s.words) <= skip || strings.HasPrefix(s.words[skip].text, "-") {
		return simple{}, false
	}
	return simple{words: s.words[skip:]}, true
}

// commandGrants are the commands that no rule allows yet; none when one of them may not be granted for
// longer.
func (p *Policy) commandGrants(rules []Rule, c command, dir string) []grant {
	if place, err := p.place(orDot(dir)); err == nil {
		dir = place.Abs
	}
	var out []grant
	for _, s := range c.simples {
		if _, ok := allowing(rules, s); ok {
			continue
		}
		if s.inner || !lasting(s) {
			return nil
		}
		key := []string{string(tool.Execute), dir}
		for _, w := range s.words {
			key = append(key, w.text)
		}
		out = append(out, grant{key: strings.Join(key, "\x00"), rule: fmt.Sprintf("allow execute(%s)", s)})
	}
	return out
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// text shows the commands as they were understood.
func (c command) text() string {
	var lines []string
	for _, s := range c.simples {
		if !s.inner {
			lines = append(lines, s.String())
		}
	}
	return strings.Join(lines, "\n")
}
