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

// verdict is the judgement of one need.
type verdict struct {
	need    tool.Need
	command *command // the parsed command; nil for other needs
	effect  Effect
	rule    string
	layer   Layer
	reason  string        // for the model, and for the user in a question
	code    string        // for a mistake that left nothing to judge
	target  string        // resolved: an absolute path, argument vectors, an address
	offers  []grant       // possible session grants; may be empty
	inner   []verdict     // a command's open questions, part by part
	words   []script.Word // of a program in question
	dir     string        // the program's folder
	exact   grant         // grant for exactly this program; zero if impossible
	place   Place         // the file
	server  serverTool    // in question
	folder  bool          // the file is searched as a folder
	barred  string        // why no rule can cover the command; may be empty
	careful bool          // the file holds secrets, or makes programs run something
	looks   bool          // every program in the command is read-only
	firm    bool          // no sandbox decides this question
	run     *tool.CommandReading
	written []string // files written by a command, resolved
	unseen  bool     // allowed by a rule or the table, with words no user has seen
	walled  bool     // asked about because commands in the sandbox are read-only
}

// grant is a permission for the session: exactly its key if set, otherwise everything its rule
// covers. The rule is saved in place of a key.
type grant struct {
	key, rule string
	kind      tool.Permission // for the key
	name      string          // for the key of a file
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

// mistaken judges an unreadable need: the call is wrong and does not run.
func (v verdict) mistaken(err error) verdict {
	v.effect, v.reason, v.code = Deny, err.Error(), tool.CodeInvalidArguments
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		v.code = coded.ErrorCode()
	}
	return v
}

func (v verdict) withRule(r Rule) verdict {
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
		if n.Separable && n.Reach == "" {
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

// Forbids explains why a need is refused for everybody, or returns "": a file attached by the user
// needs no question, but their own deny rules apply to it.
func (p *Policy) Forbids(n tool.Need) string {
	if v := p.judge(p.Mode(), n); v.effect == Deny {
		return v.reason
	}
	return ""
}

// RuleAgainst returns the rule that denies a permission for a path in any mode, or "".
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

// settle allows a question if everything in it was granted before, or the mode does not ask.
func (p *Policy) settle(mode Mode, v verdict) verdict {
	if v.effect != Ask {
		return v
	}
	if mode == Yolo {
		v.effect, v.layer = Allow, layerOf(mode)
		return v
	}
	if len(v.offers) == 0 || v.rule != "" { // an ask rule asks each time
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

// grantedKey reports whether the user granted exactly this for the session.
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

func deniedBy(what string, r Rule) string {
	return fmt.Sprintf("%s is forbidden by the rule %q (%s)", what, r, r.Layer)
}

// quote quotes a target for a sentence and shortens it.
func quote(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return "`" + strings.ReplaceAll(s, "\n", "⏎") + "`"
}

// Contained is the layer for commands allowed because they run in the sandbox.
const Contained Layer = "sandbox"

// contain allows a command if the sandbox makes a question needless. In mode auto with a full
// sandbox, every command runs there unless someone wants to be asked. If only kernel rules restrict
// commands, read-only ones run there, and those allowed by a rule or the user run outside. Ask
// rules, possible denies, and files with secrets still require a question: a sandbox limits a
// command's effects, but not the model's view.
func (p *Policy) contain(mode Mode, v verdict) verdict {
	if v.effect == Deny {
		return v
	}
	if mode.OnStage() && v.need.OutlivesCall && v.need.Sandboxed {
		v.effect, v.layer, v.offers = Deny, layerOf(mode), nil
		v.reason = "nothing goes on in the background in a staged turn, because its changes are reviewed when it ends; run it without background, with a timeout"
		return v
	}
	walled := mode.contains() && v.need.Sandboxed && v.effect == Ask && p.walled()
	if why := v.need.OutsideReason; why != "" {
		if p.walled() { // allowing it lets it out of the sandbox
			if v.effect == Ask {
				v.reason, v.walled = "running it outside the sandbox needs approval: "+why, true
			}
			return v
		}
		v.effect, v.rule, v.layer = Ask, "", layerOf(mode)
		v.offers, v.words, v.inner = nil, nil, nil // asked each time: a rule for the command does not let it out
		v.reason = "running it outside the sandbox needs approval: " + why
		if mode.OnStage() {
			v.reason += "; it then works on the workspace itself, without the changes of this turn"
		}
		return v
	}
	leaves := ""
	if mode.contains() && v.need.Sandboxed && !walled {
		leaves = configures(v.command)
	}
	if v.effect == Allow && v.run != nil && leaves != "" && !p.walled() {
		if level, _ := p.options.Contained(v.need.OutlivesCall); level != "" {
			v.run.Leaves = leaves
			return v
		}
	}
	if !mode.contains() || v.effect != Ask || p.wanted(v) || !v.need.Sandboxed {
		return v
	}
	if _, open := p.options.Gaps(); len(open) > 0 {
		v.reason = "the sandbox is degraded here and does not hold " + strings.Join(open, ", ")
		return v
	}
	if walled {
		if why := beyondWalls(v); why != "" {
			v.reason, v.walled = why+"; commands that nobody allowed only read in the sandbox here, which is degraded (adze doctor)", true
			return v
		}
	}
	switch level, holds := p.options.Contained(v.need.OutlivesCall); {
	case holds:
		v.effect, v.layer, v.reason, v.run = Allow, Contained, "", &tool.CommandReading{Sandboxed: true, Leaves: leaves}
	case level != "":
		v.layer = Contained
		v.reason = fmt.Sprintf("it runs in the sandbox at level %q: it changes the files themselves, before anybody can look at that", level)
	}
	return v
}

// apart allows a command whose changes are dropped, unless a rule forbids it or it would show a
// secret. forbidden explains why the mode allows no other way.
func (p *Policy) apart(mode Mode, v verdict, forbidden string) verdict {
	v = p.judgeExecute(AskFirst, v) // its writes are dropped
	if v.effect == Deny || v.effect == Ask && p.wanted(v) {
		if v.effect == Ask {
			v.effect, v.layer, v.reason = Deny, layerOf(mode), forbidden
		}
		return v
	}
	if why := p.options.SeparationProblem(); why != "" {
		return verdict{need: v.need, target: v.target, effect: Deny, layer: layerOf(mode), reason: forbidden + " (a command could run aside with its changes dropped, but not here: " + why + ")"}
	}
	v.effect, v.layer, v.reason, v.offers, v.unseen, v.run = Allow, Contained, "", nil, false, &tool.CommandReading{Sandboxed: true, Planned: true}
	return v
}

// wanted reports a question that no sandbox decides: an ask rule, or a command that shows secrets.
func (p *Policy) wanted(v verdict) bool {
	return v.firm || v.rule != "" || slices.ContainsFunc(v.inner, func(part verdict) bool { return part.careful })
}

// walled reports whether only kernel rules restrict commands, which are then read-only and without
// network. It may have to test the sandbox, so call it last.
func (p *Policy) walled() bool {
	walled, _ := p.options.Gaps()
	return walled
}

// configures reports that a command writes git's configuration, which every sandbox protects. It
// would fail there, so the user is asked before.
func configures(c *command) string {
	for _, s := range c.simples {
		if !s.maybe && base(s.name()) == "git" && programs.GitOf(script.Texts(s.words[1:])).Configures() {
			return quote(s.String()) + " writes the configuration of git, which is kept as it is in the sandbox"
		}
	}
	return ""
}
