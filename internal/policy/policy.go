// Package policy is the gate that every tool call passes: it judges what a call needs by rules and
// by the mode, and asks a user where both leave it open.
//
// The one rule: precedence is deny, ask, allow, then the mode's default; a deny of any layer holds
// in every mode, and what cannot be read with certainty is never allowed by a rule.
//
// Start reading at Policy.Decide, then judge.go for one need. rule.go is the language of rules,
// mode.go the defaults, place.go and delicate.go files, filefilter.go the many files of one search,
// broadneeds.go needs that name nothing, servertool.go tools of MCP servers, host.go addresses,
// exfiltration.go secrets that would leave and too many fetches, ask.go and offers.go the questions
// to a user and what they granted, describe.go what a rule is said to allow; explain.go says what a
// command would meet.
//
// A command is read once, by the package script, which alone knows the syntax of bash: Lower makes
// of a text the programs, files, variables and words that stand there. Everything else judges that
// form. Denies look everywhere: reading.go finds programs behind programs, and has the texts read
// that those run; argv.go matches them; named.go denies files that a command names. script.Read
// writes down what bash gets of a command that may run unasked; command.go and judged.go judge that
// part by part, by rules (covers.go) and by the table of programs (readonly.go), which also asks
// for what a git repository would add: its hooks, and places outside.
//
// Known limits:
//   - A deny on a program holds for commands that spell it out, also inside substitutions, behind
//     wrappers and in texts that something evaluates. Scripts, Makefiles and variables filled from
//     elsewhere can still start it: a list of names is no sandbox.
//   - A search shows a file that a rule covers under another name by a hard link; a call of its own
//     does not, and neither shows the files known for their secrets at the top of the workspace and
//     in the home folder.
//   - A command is kept from files that are denied, and from adze's own, only where it spells them
//     out for a program that the table knows. Without a sandbox a script, code in another language,
//     names from the environment and a program that copies a folder whole can still reach them.
//   - Names of files are not contents: list and git_status show those that may not be read.
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

// Options is what a Policy is made of.
type Options struct {
	Mode  Mode
	Modes []Mode // that may be chosen; if empty, all
	Rules []Rule
	Paths Paths  // if nil, every file need is denied
	Home  string // what the anchor home: stands for
	// Own are the folders and files in which adze keeps its configuration, tools and sessions: no
	// tool writes there in any mode, and reading there is asked for.
	Own []string
	Ask Asker // if nil, nobody is there, and every question is answered with no
	// Contained is the level of the sandbox that a command runs in, lasting where it goes on beyond
	// its call. It is empty where it runs in none. Mode auto allows a command that the sandbox holds,
	// so that nothing gets out before it is judged. If nil, commands run in none.
	Contained func(lasting bool) (level string, holds bool)
	// Lacks says of the sandbox whether commands only read there and have no network, so that what a
	// rule or the user allows runs outside, and what it does not hold. If nil, it lacks nothing.
	Lacks func() (walled bool, open []string)
	// Aside says why commands cannot run so that their changes are kept apart. It is empty where
	// they can. Without the function they cannot.
	Aside func() string
	// Stage says why calls do not work on a stage now. It is empty where they do. Modes on a stage
	// need one. Without the function there is none.
	Stage func() string
	// Local is the path of a program that would be found in the workspace, "" for any other; if nil,
	// none ever is.
	Local func(program string) string
	// Files lists folders, for patterns and trees that a command reads; if nil, such commands are
	// asked for.
	Files Files
	// Leaks reports a text that holds a known secret, also encoded. It is nil where none is known.
	Leaks func(text string) bool
	// Now is the clock that fetches are counted by. Nil stands for time.Now.
	Now func() time.Time
	// Shell is the name of a shell whose lines cannot be judged part by part. Such a line is asked for
	// unless a rule spells it whole. If empty, command lines are those of bash.
	Shell string
	// Repos looks at git repositories; if nil, no repository has hooks or leads out of the workspace.
	Repos Repositories
}

// Policy implements tool.Gate. It is safe for concurrent use.
type Policy struct {
	options Options
	pace    pace
	turn    chan struct{} // holds a token while a user is asked: one question at a time
	wait    atomic.Int64  // how many wait for the token

	mu     sync.RWMutex
	moved  chan struct{} // closed when the mode changes
	mode   Mode
	grants map[string]bool // for the rest of this process
	lasts  []Rule          // the same, wider ones
}

var _ tool.Gate = (*Policy)(nil)

// New makes a Policy. It refuses an unknown mode and an allow rule of a project.
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
	if o.Aside == nil {
		o.Aside = func() string { return "there is no sandbox" }
	}
	if o.Contained == nil {
		o.Contained = func(bool) (string, bool) { return "", false }
	}
	if o.Lacks == nil {
		o.Lacks = func() (bool, []string) { return false, nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Policy{options: o, mode: o.Mode, turn: make(chan struct{}, 1), moved: make(chan struct{}), grants: map[string]bool{}}, nil
}

// Mode is the one in force.
func (p *Policy) Mode() Mode {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.mode
}

// modeFor is the mode that holds for a call: its agent may be bound to a narrower one than is in
// force.
func (p *Policy) modeFor(q tool.Question) Mode {
	mode := p.Mode()
	if mode.OnStage() && q.Mode != "" && p.options.Stage() != "" {
		mode = AskFirst // the agent would work on the workspace itself
	}
	return Narrower(mode, Mode(q.Mode))
}

// MayBe reports a mode that can be chosen here.
func (p *Policy) MayBe(m Mode) bool { return m.known() && m.Among(p.options.Modes) }

// SetMode changes the mode for calls that are judged from now on.
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

// Decide judges everything a call needs: one deny is enough, every need must be allowed, and the
// rest is put to a user in one question.
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
	if q.Amended { // they wrote it themselves: it is not asked again, but every denial above holds
		return tool.Decision{Allow: true, Layer: string(person)}, nil
	}
	if p.options.Ask == nil {
		return nobody(open, p.editsAllow(q)), nil
	}
	return p.askPerson(ctx, q)
}

// editsAllow reports that the mode edits would allow a call that is asked for now.
func (p *Policy) editsAllow(q tool.Question) bool {
	if p.modeFor(q) != AskFirst || !p.MayBe(Edits) {
		return false
	}
	verdicts := p.judgeAll(Narrower(Edits, Mode(q.Mode)), q)
	_, no := denied(verdicts)
	return !no && len(unanswered(verdicts)) == 0
}

// judgeAll judges each need in a mode, and the tool itself where its author wants a user to look.
func (p *Policy) judgeAll(mode Mode, q tool.Question) []verdict {
	var out []verdict
	for _, n := range q.Needs {
		v := p.judge(mode, n)
		declared := slices.Contains(q.Tool.Tags, tool.Declared)
		// It runs its words as they stand there, without what keeps such a program to looking.
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

// firstNeed stands for a verdict on the tool itself.
func firstNeed(q tool.Question) tool.Need {
	if len(q.Needs) > 0 {
		return q.Needs[0]
	}
	return tool.Need{Target: q.Tool.Name}
}

// approval is the verdict on a tool that is asked for as such. A tool without a schema is asked for
// unless its mode says otherwise, also where the mode is missing.
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

// allowed names the rule that counted last, or nothing for a call that needs nothing.
func allowed(verdicts []verdict) tool.Decision {
	d := tool.Decision{Allow: true}
	for _, v := range verdicts {
		if d.Rule == "" {
			d.Rule, d.Layer = v.rule, string(v.layer)
		}
		if v.need.Permission == tool.Execute {
			d.ByRule = d.ByRule || v.unseen
			d.Judged = v.run
		}
	}
	return d
}

// nobody is the answer to a question when there is no one to put it to. It names the flag that
// would have allowed it.
func nobody(open []verdict, edits bool) tool.Decision {
	v := open[0]
	rules := flagRules(open)
	way := "nobody is here to approve it"
	switch {
	case v.need.Outside != "" && !v.walled:
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

// elsewhere reports a file that is another one than the need names, such as the file behind a link.
// The model is not told which one.
func elsewhere(v verdict) bool {
	return v.place.Outside && v.need.Target != v.place.Abs
}

// flagRules are rules for --allow that would answer all that is asked: those of the usual offer,
// else the very words of its programs. None: no rule would.
func flagRules(open []verdict) (rules []string) {
	if offers := offersFor(open); len(offers) > 0 {
		if rules, ok := asFlags(offers[max(Usual(offers), 0)].Rules); ok {
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
			if !script.Known(part.words) {
				return nil
			}
			exact = append(exact, "allow execute("+simple{words: part.words}.String()+")")
		}
	}
	rules, _ = asFlags(exact)
	return rules
}

// asFlags are rules as --allow takes them; ok: it takes all of them.
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

// AllowFlags writes rules as a shell takes them. A path of the workspace needs no anchor.
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
