package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
	"adze/tool"
)

// verdict is what rules and mode say about one need.
type verdict struct {
	need    tool.Need
	command *command // what it is to run, read once; nil of other needs
	effect  Effect
	rule    string
	layer   Layer
	reason  string        // for the model, and for the user who is asked
	code    string        // of a mistake that left nothing to judge
	target  string        // the need resolved: an absolute path, argument vectors, an address
	offers  []grant       // what "for this session" would grant; none: it is not offered
	inner   []verdict     // what is asked for of a command, part by part
	words   []script.Word // of a program that is asked for
	dir     string        // in which that program runs
	exact   grant         // of that program as it stands there; none: it is not offered
	place   Place         // of the file
	server  serverTool    // that is asked for
	folder  bool          // the file is looked through as a folder
	barred  string        // why no rule can cover the command; if empty, one may
	careful bool          // the file holds secrets, or makes programs run something
	looks   bool          // every program of the command only looks
	firm    bool          // a question that no sandbox answers
	run     *tool.Judged
	made    []string // files that a command writes, resolved
	unseen  bool     // a rule or the table allowed it, and no person has seen these words
	walled  bool     // it is asked for because the sandbox lets commands only read
}

// grant is one thing a user may allow for the session: with a key that very thing, else all that
// the rule covers. The rule of a key is the one that is saved in its place.
type grant struct {
	key, rule string
	kind      tool.Permission // of what the key stands for
	name      string          // of that, where it is a file
}

func (v verdict) decision(allow, asked bool) tool.Decision {
	d := tool.Decision{Allow: allow, Asked: asked, Rule: v.rule, Layer: string(v.layer), Reason: v.reason}
	d.Code = v.code
	if !allow {
		need := v.need
		d.Need = &need
	}
	return d
}

// mistaken is the verdict on a need that cannot be read: the call is wrong, and is not done.
func (v verdict) mistaken(err error) verdict {
	v.effect, v.reason, v.code = Deny, err.Error(), tool.CodeInvalidArguments
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		v.code = coded.ErrorCode()
	}
	return v
}

func (v verdict) by(r Rule) verdict {
	v.effect, v.rule, v.layer = r.Effect, r.String(), r.Layer
	return v
}

func (p *Policy) judge(mode Mode, n tool.Need) verdict {
	if mode.OnStage() {
		if why := p.options.Stage(); why != "" { // it would work on the workspace itself
			v := p.judge(AskFirst, n)
			if v.effect == Ask && (n.Permission == tool.Write || n.Permission == tool.Execute) {
				v.reason += " (no staged turn: " + why + ")"
			}
			return v
		}
	}
	v := verdict{need: n, target: n.Target, layer: builtIn}
	if n.Permission == tool.Execute {
		if v.command = read(n.Target, p.options.Home); p.options.Shell != "" {
			v.command = readForeign(n.Target, p.options.Home)
		}
	}
	if p.carriesSecret(v) {
		v.effect, v.reason = Deny, whySecret
		return v
	}
	if why := mode.forbids(n.Permission); why != "" {
		if looked, only := p.onlyLooks(mode, v); only {
			return looked
		}
		if n.Aside && n.Reach == "" {
			return p.apart(mode, v, why)
		}
		v.effect, v.reason, v.layer = Deny, why, layerOf(mode)
		return v
	}
	if n.Reach != "" {
		return p.settle(mode, p.judgeReach(mode, v))
	}
	switch n.Permission {
	case tool.Read, tool.Write:
		v = p.judgeFile(mode, v)
	case tool.Execute:
		v = p.judgeExecute(mode, v)
		v = p.contain(mode, v)
	case tool.Network:
		v = p.judgeHost(mode, v)
	default:
		v.effect, v.reason = Deny, fmt.Sprintf("there is no permission %q; this tool is declared wrongly, use another", n.Permission)
	}
	return p.settle(mode, v)
}

// Forbids says why a need is refused whoever would ask for it: what a user attaches by hand is not
// asked for, but their own deny holds for it too. If empty, nothing forbids it.
func (p *Policy) Forbids(n tool.Need) string {
	if v := p.judge(p.Mode(), n); v.effect == Deny {
		return v.reason
	}
	return ""
}

// RuleAgainst says which rule denies a permission for a path, whatever the mode; if empty, none
// does.
func (p *Policy) RuleAgainst(kind tool.Permission, path string) string {
	denies := func(r Rule) bool { return r.Effect == Deny }
	if !slices.ContainsFunc(p.rulesFor(kind), denies) {
		return ""
	}
	if v := p.judge(Yolo, tool.Need{Permission: kind, Target: path}); v.effect == Deny && v.rule != "" {
		return v.rule
	}
	return ""
}

// settle turns a question into a yes where everything it asks for was granted before, or the mode
// does not ask.
func (p *Policy) settle(mode Mode, v verdict) verdict {
	if v.effect != Ask {
		return v
	}
	if mode == Yolo {
		v.effect, v.layer = Allow, layerOf(mode)
		return v
	}
	if len(v.offers) == 0 || v.rule != "" { // an ask rule wants to be asked each time
		return v
	}
	for _, g := range v.offers {
		if !p.grantedKey(g.key) {
			return v
		}
	}
	v.effect, v.rule, v.layer = Allow, v.offers[0].rule, granted
	return v
}

// grantedKey reports that a user has said yes to this very thing for the session.
func (p *Policy) grantedKey(key string) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.grants[key]
}

func layerOf(m Mode) Layer { return Layer("mode " + string(m)) }

func (p *Policy) rulesFor(kind tool.Permission) []Rule {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var out []Rule
	for _, rules := range [][]Rule{p.options.Rules, p.lasts} {
		for _, r := range rules {
			if r.Permission == kind {
				out = append(out, r)
			}
		}
	}
	return out
}

// deniedBy is the reason of a deny rule.
func deniedBy(what string, r Rule) string {
	return fmt.Sprintf("%s is forbidden by the rule %q (%s)", what, r, r.Layer)
}

// quote shows a target in a sentence, cut where it is long.
func quote(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return "`" + strings.ReplaceAll(s, "\n", "⏎") + "`"
}

// Contained is the layer of commands that nobody is asked about because the sandbox holds them.
const Contained Layer = "sandbox"

// contain answers for a command whether the sandbox makes a question needless: in mode auto, where
// it is full, all that nobody wants to be asked about runs there. Where rules of the kernel alone
// hold commands, what only reads does, and what is allowed by a rule or the user runs outside.
// What a rule asks for or may forbid, and files that hold secrets, are asked for as ever: a
// sandbox holds what a command does, not what the model is shown.
func (p *Policy) contain(mode Mode, v verdict) verdict {
	if v.effect == Deny {
		return v
	}
	if mode.OnStage() && v.need.Lasts && v.need.Caged {
		v.effect, v.layer, v.offers = Deny, layerOf(mode), nil
		v.reason = "nothing goes on in the background in a staged turn, because its changes are reviewed when it ends; run it without background, with a timeout"
		return v
	}
	walled := mode.contains() && v.need.Caged && v.effect == Ask && p.walled()
	if why := v.need.Outside; why != "" {
		if p.walled() { // where whoever allows it lets it out
			if v.effect == Ask {
				v.reason, v.walled = "running it outside the sandbox needs approval: "+why, true
			}
			return v
		}
		v.effect, v.rule, v.layer = Ask, "", layerOf(mode)
		v.offers, v.words, v.inner = nil, nil, nil // each time anew: a rule for the command lets nothing out
		v.reason = "running it outside the sandbox needs approval: " + why
		if mode.OnStage() {
			v.reason += "; it then works on the workspace itself, without the changes of this turn"
		}
		return v
	}
	leaves := ""
	if mode.contains() && v.need.Caged && !walled {
		leaves = configures(v.command)
	}
	if v.effect == Allow && v.run != nil && leaves != "" && !p.walled() {
		if level, _ := p.options.Contained(v.need.Lasts); level != "" {
			v.run.Leaves = leaves
			return v
		}
	}
	if !mode.contains() || v.effect != Ask || p.wanted(v) || !v.need.Caged {
		return v
	}
	if _, open := p.options.Lacks(); len(open) > 0 {
		v.reason = "the sandbox is degraded here and does not hold " + strings.Join(open, ", ")
		return v
	}
	if walled {
		if why := beyondWalls(v); why != "" {
			v.reason, v.walled = why+"; commands that nobody allowed only read in the sandbox here, which is degraded (adze doctor)", true
			return v
		}
	}
	switch level, holds := p.options.Contained(v.need.Lasts); {
	case holds:
		v.effect, v.layer, v.reason, v.run = Allow, Contained, "", &tool.Judged{Caged: true, Leaves: leaves}
	case level != "":
		v.layer = Contained
		v.reason = fmt.Sprintf("it runs in the sandbox at level %q: it changes the files themselves, before anybody can look at that", level)
	}
	return v
}

// apart answers for a command whose changes are dropped: it may run, unless a rule or a secret that
// it would show speaks against it. forbidden says why the mode lets it run in no other way.
func (p *Policy) apart(mode Mode, v verdict, forbidden string) verdict {
	v = p.judgeExecute(AskFirst, v) // what it writes is dropped
	if v.effect == Deny || v.effect == Ask && p.wanted(v) {
		if v.effect == Ask {
			v.effect, v.layer, v.reason = Deny, layerOf(mode), forbidden
		}
		return v
	}
	if why := p.options.Aside(); why != "" {
		return verdict{need: v.need, target: v.target, effect: Deny, layer: layerOf(mode), reason: forbidden + " (a command could run aside with its changes dropped, but not here: " + why + ")"}
	}
	v.effect, v.layer, v.reason, v.offers, v.unseen, v.run = Allow, Contained, "", nil, false, &tool.Judged{Caged: true, Planned: true}
	return v
}

// wanted reports a question that no sandbox answers: a rule asks, or the command shows what holds
// secrets.
func (p *Policy) wanted(v verdict) bool {
	return v.firm || v.rule != "" || slices.ContainsFunc(v.inner, func(part verdict) bool { return part.careful })
}

// walled reports that rules of the kernel alone hold commands, which then only read and have no
// network. As all that asks about the sandbox it may test it, so it is asked last.
func (p *Policy) walled() bool {
	walled, _ := p.options.Lacks()
	return walled
}

// configures says that a command would write what every sandbox keeps as it is: the configuration
// of git. It would fail there, so the user is asked before rather than after.
func configures(c *command) string {
	for _, s := range c.simples {
		if !s.maybe && base(s.name()) == "git" && programs.GitOf(script.Texts(s.words[1:])).Configures() {
			return quote(s.String()) + " writes the configuration of git, which is kept as it is in the sandbox"
		}
	}
	return ""
}
