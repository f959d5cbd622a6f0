// Package policy decides every tool call: it judges a call's needs by rules and by the mode, and
// asks the user if both leave it open.
//
// The one rule: precedence is deny, ask, allow, then the mode's default; a deny in any layer
// applies in every mode, and no rule allows a text that cannot be parsed with certainty.
//
// Start reading at Policy.Decide, then judge.go for one need. rule.go parses rules, mode.go has the
// defaults, place.go and delicate.go handle files, filefilter.go the many files in one search,
// broadneeds.go unnamed needs, servertool.go MCP tools, host.go addresses, exfiltration.go secrets
// in requests and too many fetches, ask.go and offers.go questions and grants, describe.go explains
// rules, and explain.go commands.
//
// Package script parses a command once and alone knows bash's syntax: Lower returns the text's
// programs, files, variables and words, and everything else judges that form. Denies apply
// everywhere: reading.go finds programs behind programs, including nested texts; argv.go matches
// them; named.go denies files that a command names. script.Read generates the text that bash runs
// for a command without a question; command.go and judged.go judge it part by part, by rules
// (covers.go) and by the program table (readonly.go), which also covers a git repository's hooks
// and outside places.
//
// Known limits:
//   - A deny on a program applies to commands that spell it out, also inside substitutions, behind
//     wrappers and in evaluated text. Scripts, Makefiles and variables filled elsewhere can still
//     start it: a list of names is no sandbox.
//   - A search shows a file that a rule covers under another name by a hard link; a separate call
//     does not, and neither shows the known secrets at the top of the workspace and in the home
//     folder.
//   - A command is kept from denied files and adze's own only if it spells them out for a program
//     in the table. Without a sandbox, a script, code in another language, names in the environment
//     and a program that copies a whole folder can still reach them.
//   - File names are not contents: list and git_status show names of unreadable files.
package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/policy/script"
	"adze/tool"
)

// Options configure a Policy.
type Options struct {
	Mode  Mode
	Modes []Mode // selectable modes; empty means all
	Rules []Rule
	Paths Paths  // if nil, every file need is denied
	Home  string // for the anchor home:
	// OwnPaths lists adze's folders and files for configuration, tools and sessions: no tool writes
	// there in any mode, and reading requires a question.
	OwnPaths []string
	Ask      Asker // if nil, nobody is present and every question is answered with no
	// Contained returns a command's sandbox level, or "" without a sandbox; lasting means that the
	// command outlives its call. Mode auto allows a command if the sandbox holds it. nil means no
	// sandbox.
	Contained func(lasting bool) (level string, holds bool)
	// Gaps returns the sandbox's gaps: walled means that commands are read-only and without
	// network inside, and allowed ones run outside. nil means no gaps.
	Gaps func() (walled bool, open []string)
	// SeparationProblem explains why commands' changes cannot be kept apart, or returns "" if they can.
	// nil means that they cannot.
	SeparationProblem func() string
	// Stage explains why calls do not work on a stage now, or returns "" if they do. Staged modes
	// need one. nil means no stage.
	Stage func() string
	// Local returns the path of a program found in the workspace, or ""; nil means none.
	Local func(program string) string
	// Files lists folders, for patterns and trees that a command reads; if nil, such commands are
	// asked about.
	Files Files
	// Leaks reports whether a text contains a known secret, also encoded; may be nil.
	Leaks func(text string) bool
	// Now is the clock for counting fetches; nil means time.Now.
	Now func() time.Time
	// Shell names a shell whose lines cannot be judged part by part. They are asked about unless a
	// rule spells them out. "" means bash.
	Shell string
	// Repos examines git repositories; if nil, no repository has hooks or leads outside.
	Repos Repositories
}

// A Policy implements tool.Gate. It is safe for concurrent use.
type Policy struct {
	options Options
	pace    pace
	turn    chan struct{} // holds a token during a question: one at a time
	wait    atomic.Int64  // number of waiting questions

	mu     sync.RWMutex
	moved  chan struct{} // closed when the mode changes
	mode   Mode
	grants map[string]bool // until the process ends
	lasts  []Rule          // the same, wider grants
}

var _ tool.Gate = (*Policy)(nil)

// New returns a Policy. It rejects an unknown mode and a project's allow rule.
func New(o Options) (*Policy, error) {
	if !o.Mode.known() {
		return nil, unknownMode(string(o.Mode))
	}
	for _, r := range o.Rules {
		if r.Effect == Allow && (r.Layer == Project || r.Layer == Managed) {
			return nil, fmt.Errorf("rule %q: the %s may only deny and ask; put it in your own configuration", r, r.Layer)
		}
	}
	if o.Stage == nil {
		o.Stage = func() string { return "there is no stage here" }
	}
	if o.SeparationProblem == nil {
		o.SeparationProblem = func() string { return "there is no sandbox" }
	}
	if o.Contained == nil {
		o.Contained = func(bool) (string, bool) { return "", false }
	}
	if o.Gaps == nil {
		o.Gaps = func() (bool, []string) { return false, nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Policy{options: o, mode: o.Mode, turn: make(chan struct{}, 1), moved: make(chan struct{}), grants: map[string]bool{}}, nil
}

// Mode returns the current mode.
func (p *Policy) Mode() Mode {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.mode
}

// modeFor returns the mode for a call, whose agent may be bound to a narrower one.
func (p *Policy) modeFor(q tool.Question) Mode {
	mode := p.Mode()
	if mode.OnStage() && q.Mode != "" && p.options.Stage() != "" {
		mode = AskFirst // the agent would work on the workspace itself
	}
	return Narrower(mode, Mode(q.Mode))
}

// MayBe reports whether a mode can be selected.
func (p *Policy) MayBe(m Mode) bool { return m.known() && m.IncludedIn(p.options.Modes) }

// SetMode changes the mode for calls judged from now on.
func (p *Policy) SetMode(m Mode) error {
	if !m.known() {
		return unknownMode(string(m))
	}
	if !p.MayBe(m) {
		return fmt.Errorf("the owner of this machine does not let the permission mode be %s", m)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	close(p.moved)
	p.moved = make(chan struct{})
	return nil
}

// Decide judges all of a call's needs: one deny suffices, every need must be allowed, and the rest
// becomes one question to the user.
func (p *Policy) Decide(ctx context.Context, q tool.Question) (tool.Decision, error) {
	if err := ctx.Err(); err != nil {
		return tool.Decision{}, err
	}
	d, err := p.decide(ctx, q)
	if err == nil && d.Allow && fetches(q) {
		p.pace.add(p.options.Now(), d.Asked)
	}
	return d, err
}

func (p *Policy) decide(ctx context.Context, q tool.Question) (tool.Decision, error) {
	verdicts := p.judgeAll(p.modeFor(q), q)
	if d, no := denied(verdicts); no {
		return d, nil
	}
	open := unanswered(verdicts)
	if len(open) == 0 {
		return allowed(verdicts), nil
	}
	if q.Amended { // the user wrote it: no second question, but all denials above apply
		return tool.Decision{Allow: true, Layer: string(person)}, nil
	}
	if p.options.Ask == nil {
		return nobody(open, p.editsAllow(q)), nil
	}
	return p.askPerson(ctx, q)
}

// editsAllow reports whether mode edits would allow a call in question.
func (p *Policy) editsAllow(q tool.Question) bool {
	if p.modeFor(q) != AskFirst || !p.MayBe(Edits) {
		return false
	}
	verdicts := p.judgeAll(Narrower(Edits, Mode(q.Mode)), q)
	_, no := denied(verdicts)
	return !no && len(unanswered(verdicts)) == 0
}

// judgeAll judges each need in a mode, and the tool itself if its author wants the user to confirm.
func (p *Policy) judgeAll(mode Mode, q tool.Question) []verdict {
	var out []verdict
	for _, n := range q.Needs {
		v := p.judge(mode, n)
		declared := slices.Contains(q.Tool.Tags, tool.Declared)
		// It runs its words unchanged, without the protections for read-only programs.
		if why := mode.forbids(n.Permission); declared && why != "" {
			v.effect, v.layer, v.run, v.reason = Deny, layerOf(mode), nil, why
		} else if declared && v.layer == readOnlyLayer {
			v.effect, v.layer, v.run, v.reason = mode.byDefault(n.Permission, false), layerOf(mode), nil, "the command "+quote(n.Target)+" needs approval"
			v = p.settle(mode, v)
		}
		out = append(out, v)
	}
	if why := q.Tool.Breach(q.Needs); why != "" {
		out = append(out, verdict{need: firstNeed(q), effect: Deny, layer: builtIn, reason: why})
	}
	if v, asks := approval(mode, q); asks {
		out = append(out, v)
	}
	if v, asks := p.review(mode, q); asks {
		out = append(out, v)
	}
	if v, asks := p.paced(mode, q); asks {
		out = append(out, v)
	}
	if v, asks := hooked(q); asks {
		out = append(out, v)
	}
	return out
}

// firstNeed stands in for the tool itself in a verdict.
func firstNeed(q tool.Question) tool.Need {
	if len(q.Needs) > 0 {
		return q.Needs[0]
	}
	return tool.Need{Target: q.Tool.Name}
}

// approval judges a tool that requires approval itself. A tool without a schema does so unless its
// mode states otherwise, even if the mode is missing.
func approval(mode Mode, q tool.Question) (verdict, bool) {
	unchecked := q.Tool.AllowNoSchema && q.Tool.NoSchemaMode != tool.NoSchemaReadOnly && q.Tool.NoSchemaMode != tool.NoSchemaFull
	v := verdict{effect: Ask, layer: builtIn, need: firstNeed(q), target: q.Tool.Name}
	switch {
	case unchecked:
		v.reason = q.Tool.Name + " takes unchecked arguments, so a person approves each call"
	case q.Tool.Safety.RequiresApproval && mode != Yolo:
		v.reason = q.Tool.Name + " asks for approval of each call"
	default:
		return verdict{}, false
	}
	return v, true
}

func denied(verdicts []verdict) (tool.Decision, bool) {
	for _, v := range verdicts {
		if v.effect == Deny {
			return v.decision(false, false), true
		}
	}
	return tool.Decision{}, false
}

func unanswered(verdicts []verdict) []verdict {
	var out []verdict
	for _, v := range verdicts {
		if v.effect == Ask {
			out = append(out, v)
		}
	}
	return out
}

// allowed names the last relevant rule, or none for a call without needs.
func allowed(verdicts []verdict) tool.Decision {
	d := tool.Decision{Allow: true}
	for _, v := range verdicts {
		if d.Rule == "" {
			d.Rule, d.Layer = v.rule, string(v.layer)
		}
		if v.need.Permission == tool.Execute {
			d.ByRule = d.ByRule || v.unseen
			d.Reading = v.run
		}
	}
	return d
}

// nobody answers a question without a user. It names the flag that would have allowed the call.
func nobody(open []verdict, edits bool) tool.Decision {
	v := open[0]
	rules := flagRules(open)
	way := "nobody is here to approve it"
	switch {
	case v.need.OutsideReason != "" && !v.walled:
		way = "not allowed; add --sandbox off and --allow 'execute(...)'"
	case len(rules) > 0 && slices.ContainsFunc(open, elsewhere):
		way = "not allowed; add an --allow rule for it"
	case len(rules) > 0 && edits:
		way = "not allowed; add --allow 'write(work:**)' for all edits, or " + AllowFlags(rules)
	case len(rules) > 0:
		way = "not allowed; add " + AllowFlags(rules)
	case v.need.Permission == tool.Execute && v.need.Reach == "" && v.rule == "" && strings.HasPrefix(string(v.layer), "mode "):
		way = "not allowed; " + unoffered(open) + "; only --permission-mode auto, in a full sandbox, and --yolo run it"
	}
	v.reason = strings.TrimSuffix(v.reason, ".") + "; " + way
	d := v.decision(false, true)
	d.Offers = rules
	return d
}

// elsewhere reports whether the file differs from the one that the need names, such as a link's
// target. The model does not learn which one.
func elsewhere(v verdict) bool {
	return v.place.Outside && v.need.Target != v.place.Abs
}

// flagRules returns rules for --allow that cover everything open: the default offer's, otherwise
// the exact words. It is empty if there are none.
func flagRules(open []verdict) (rules []string) {
	if offers := offersFor(open); len(offers) > 0 {
		if rules, ok := asFlags(offers[max(DefaultOffer(offers), 0)].Rules); ok {
			return rules
		}
	}
	var exact []string
	for _, v := range open {
		parts := v.inner
		if len(parts) == 0 {
			parts = []verdict{v}
		}
		for _, part := range parts {
			if part.rule != "" || len(part.words) == 0 {
				return nil
			}
			if !script.AllKnown(part.words) {
				return nil
			}
			exact = append(exact, "allow execute("+simple{words: part.words}.String()+")")
		}
	}
	rules, _ = asFlags(exact)
	return rules
}

// asFlags converts rules for --allow; ok reports whether all of them can be.
func asFlags(rules []string) (out []string, ok bool) {
	for _, rule := range rules {
		text := strings.TrimPrefix(rule, "allow ")
		if r, err := ParseRule(Allow, CommandLine, text); err != nil || r.String() != rule {
			return nil, false
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, true
}

// AllowFlags quotes rules for a shell. A workspace path needs no anchor.
func AllowFlags(rules []string) string {
	words := make([]string, len(rules))
	for i, r := range rules {
		if short := strings.Replace(r, "(work:", "(", 1); !strings.ContainsAny(short, ":~") {
			r = short
		}
		words[i] = "--allow '" + strings.ReplaceAll(r, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

var errAnswer = errors.New("the answer to a permission question was none of once, session and no")
