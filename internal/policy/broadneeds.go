package policy

import (
	"fmt"

	"adze/tool"
)

// judgeReach judges a need that names no file, program or address.
func (p *Policy) judgeReach(mode Mode, v verdict) verdict {
	switch {
	case v.need.Reach == tool.Anything:
		return p.judgeAnything(mode, v)
	case v.need.Reach == tool.ServerTool:
		return p.judgeServerTool(mode, v)
	case v.need.Reach == tool.State && v.need.Permission == tool.Read,
		v.need.Reach == tool.OwnStart && v.need.Permission == tool.Execute,
		(v.need.Reach == tool.OwnChange || v.need.Reach == tool.OwnStage) && v.need.Permission == tool.Write: // hooked asks about it
		v.effect = Allow
		return v
	}
	v.effect, v.reason = Deny, fmt.Sprintf("there is no reach %q of %s; this tool is declared wrongly, use another", v.need.Reach, v.need.Permission)
	return v
}

// judgeAnything judges a need for anything of its kind. No rule allows it, because rules allow only
// named things. A deny of everything forbids it, as does any other deny if nobody can be asked.
func (p *Policy) judgeAnything(mode Mode, v verdict) verdict {
	v.target = v.need.Touches()
	doing := string(v.need.Permission) + " of " + v.target
	rules := p.rulesFor(v.need.Permission)
	if r, found := strongest(rules, func(r Rule) bool { return r.Effect == Deny && (r.Matcher == "" || mode == Yolo) }); found {
		v.reason = deniedBy(doing, r)
		if r.Matcher != "" {
			v.reason = fmt.Sprintf("%s cannot be held to the rule %q (%s); use a tool that names what it touches", doing, r, r.Layer)
		}
		return v.withRule(r)
	}
	v.reason = doing + " needs approval"
	if r, found := strongest(rules, func(r Rule) bool { return r.Effect == Ask }); found {
		return v.withRule(r)
	}
	v.effect, v.layer = mode.byDefault(v.need.Permission, false), layerOf(mode)
	return v
}

// review judges a call with repaired arguments and possible changes: a user must confirm it,
// regardless of rules and mode. Without a user, rules and mode decide.
func (p *Policy) review(mode Mode, q tool.Question) (verdict, bool) {
	if mode == Yolo || p.options.Ask == nil || q.Reviewed || !q.Repair.Guessed() || !changes(q) {
		return verdict{}, false
	}
	return verdict{
		need: firstNeed(q), effect: Ask, layer: builtIn, target: firstNeed(q).Touches(),
		reason: "it changes something with repaired arguments, which a person looks at first",
	}, true
}

func changes(q tool.Question) bool {
	for _, n := range q.Needs {
		if n.Permission == tool.Write || n.Permission == tool.Execute {
			return true
		}
	}
	return false
}

// hooked judges a call if a hook wants the user to confirm it. No mode and no grant overrides it.
func hooked(q tool.Question) (verdict, bool) {
	return verdict{need: firstNeed(q), effect: Ask, layer: "hook", target: firstNeed(q).Touches(), reason: q.Wanted}, q.Wanted != ""
}
