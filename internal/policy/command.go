package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"adze/internal/policy/script"
	"adze/tool"
)

// judgeCommand judges a command. A rule allows only fully understood text: a list or pipeline of
// plain words with every command allowed by some rule. Denies apply to every program found anywhere
// in the text.
func (p *Policy) judgeCommand(mode Mode, v verdict) verdict {
	doing := "the command " + quote(v.need.Target)
	c := v.command
	if c.refused != nil {
		v.effect, v.reason = Deny, c.refused.Error()
		return v
	}
	rules := p.programRules()
	r, s, certain := forbidden(rules, c)
	if certain == sure || certain == possible && mode == Yolo {
		v.reason = deniedCommand(doing, r, s, certain)
		return v.withRule(r)
	}
	if r, yes := unreadable(rules, c); yes && mode == Yolo {
		v.reason = fmt.Sprintf("%s cannot be read (%s), so the rule %q cannot be checked; write it plainly", doing, notParsed(c.broken), r)
		return v.withRule(r)
	}
	v.target = c.text()
	if r, found := asked(rules, c); found {
		v.reason = doing + " is asked for by a rule"
		return v.withRule(r)
	}
	if p.options.Shell != "" {
		v.target = v.need.Target
		words := foreignWords(v.need.Target)
		if r, found := strongest(rules, func(r Rule) bool { return r.Effect == Allow && literalRule(r, words) && r.argv.covers(words) }); found && certain == no {
			return v.withRule(r)
		}
		v.effect, v.layer, v.firm = mode.byDefault(tool.Execute, false), layerOf(mode), certain == possible
		v.reason = doing + " needs approval: it is a line of " + p.options.Shell + ", which no rule allows unless it spells it word by word"
		return v
	}
	read, err := p.script(c, p.dirOf(v.need.Dir))
	if err == nil && read.Empty() {
		err = errEmpty
	}
	switch {
	case err != nil:
		v.effect, v.layer, v.reason = mode.byDefault(tool.Execute, false), layerOf(mode), doing+" needs approval"
		v.barred = strings.TrimPrefix(err.Error(), "it ") + ", so no rule can cover it"
		v.firm = certain == possible
		return v
	case certain == possible:
		v.effect, v.layer, v.firm, v.reason = Ask, layerOf(mode), true, fmt.Sprintf("%s needs approval, since the rule %q may forbid it", doing, r)
		return v
	}
	judged := p.judgeScript(mode, rules, v, read)
	if judged.effect == Allow {
		if shadow := p.shadowed(c); shadow != "" {
			v.effect, v.layer, v.reason = mode.byDefault(tool.Execute, false), layerOf(mode), doing+" needs approval: "+shadow
			return v
		}
	}
	return judged
}

// programRules returns the execute rules about programs.
func (p *Policy) programRules() []Rule {
	return slices.DeleteFunc(p.rulesFor(tool.Execute), func(r Rule) bool { return r.server != nil })
}

// dirOf returns a command's folder with links resolved.
func (p *Policy) dirOf(dir string) string {
	if place, err := p.place(orDot(dir)); err == nil {
		return place.Abs
	}
	return orDot(dir)
}

// onlyLooks allows a read-only command in a mode without commands.
func (p *Policy) onlyLooks(mode Mode, v verdict) (verdict, bool) {
	if v.need.Permission != tool.Execute || v.need.Reach != "" {
		return v, false
	}
	v = p.judgeExecute(mode, v)
	return p.settle(mode, v), v.looks && v.effect != Deny
}

// shadowed returns an allowed command's program that PATH would find in the workspace, which the
// rule did not mean.
func (p *Policy) shadowed(c *command) string {
	for _, s := range c.simples {
		if p.options.Local == nil || s.maybe || !s.words[0].Known || s.words[0].Text == "" {
			continue
		}
		if path := p.options.Local(s.name()); path != "" {
			return fmt.Sprintf("%s would be %s of the workspace, which no rule means by that name; use another program, or call it by its path", quote(s.name()), path)
		}
	}
	return ""
}

// forbidden finds the surest match of a deny rule.
func forbidden(rules []Rule, c *command) (rule Rule, by simple, best certainty) {
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

func notParsed(err error) error { return fmt.Errorf("it does not parse: %w", err) }

// unreadable reports whether a text does not parse although a deny rule needs its content.
func unreadable(rules []Rule, c *command) (Rule, bool) {
	if c.broken == nil {
		return Rule{}, false
	}
	return strongest(rules, func(r Rule) bool { return r.Effect == Deny })
}

func asked(rules []Rule, c *command) (Rule, bool) {
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

func startsPrograms(s simple) bool {
	_, wraps := wrapper(base(s.name()))
	return wraps || isShell(base(s.name())) || oneOf(base(s.name()), "find fd su")
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// text returns the commands as understood.
func (c *command) text() string {
	var lines []string
	for _, s := range c.simples {
		if !s.inner {
			lines = append(lines, s.String())
		}
	}
	return strings.Join(lines, "\n")
}

// script parses a command for judgement. Its error explains a failure.
func (p *Policy) script(c *command, dir string) (script.Script, error) {
	start := script.Start{Dir: dir, Home: p.options.Home, Quiet: quiet, Folder: func(dir, name string) (string, error) {
		place, err := p.place(resolveIn(dir, name, p.options.Home))
		return place.Abs, err
	}}
	if p.options.Files != nil {
		start.Names = p.names
	}
	return script.Read(c.top, start)
}

// names lists a folder for a pattern. It lists no folder that requires a question to read; a
// missing folder may be reported.
func (p *Policy) names(dir string) ([]string, error) {
	place, err := p.place(dir)
	if err != nil {
		return nil, err
	}
	if p.judge(AskFirst, tool.Need{Permission: tool.Read, Target: dir}).effect == Allow {
		if names, err := p.options.Files.Names(place.Abs); err == nil {
			return names, nil
		}
	}
	return nil, p.unlisted(place.Abs)
}

// unlisted returns errUnasked for a folder that must not be listed, and another error if it is no
// folder.
func (p *Policy) unlisted(abs string) error {
	return p.options.Files.Walk(abs, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return errUnasked
		}
		return fs.ErrNotExist
	})
}

// isFolder reports whether abs is a folder or cannot be examined.
func (p *Policy) isFolder(abs string) bool {
	return p.options.Files == nil || abs == "" || errors.Is(p.unlisted(abs), errUnasked)
}

// judgeScript judges each program and file of a text, and sets how an allowed text runs.
func (p *Policy) judgeScript(mode Mode, rules []Rule, v verdict, s script.Script) verdict {
	j := &judgement{Policy: p, mode: mode, rules: rules, doing: "the command " + quote(v.need.Target)}
	for _, step := range s.Steps {
		j.step(step)
	}
	unseen := j.guarded()
	v.looks, v.written = !j.unlooked, j.made
	switch {
	case j.deny != nil:
		v.effect, v.rule, v.layer, v.reason = Deny, j.deny.rule, j.deny.layer, j.doing+": "+j.deny.reason
	case len(j.open) > 0:
		v.effect, v.layer, v.reason = Ask, layerOf(mode), j.reason()
		if i := slices.IndexFunc(j.open, func(v verdict) bool { return v.rule != "" }); i >= 0 {
			v.rule = j.open[i].rule
		}
		v.inner = j.open
	case j.permittedBy != nil:
		v.effect, v.rule, v.layer = Allow, j.permittedBy.rule, j.permittedBy.layer
		v.run, v.unseen = j.plan(s), unseen
	default:
		v.effect, v.layer = Allow, readOnlyLayer
		v.run, v.unseen = j.plan(s), true
	}
	return v
}
