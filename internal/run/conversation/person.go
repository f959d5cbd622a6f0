package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/config"
	"adze/internal/policy"
	"adze/internal/project/plan"
	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/sandbox/proc"
	"adze/internal/stream/ask"
	"adze/internal/text/redact"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Person holds the callbacks to the user during a run; without a user they are nil.
type Person struct {
	Ask policy.Asker // permission requests
	// Put asks a question from the model or a server, or about a plan.
	Put     func(ctx context.Context, q ask.Question) (string, error)
	Rewrite func(ctx context.Context, text string) (string, error)
	Stir    func()                  // announces a change in the background
	Own     func(proc.Command) bool // reports the user's own command
	Named   func(title string)      // receives the model's title for the session; may be nil
	Unseen  bool                    // the end of a turn may go unnoticed; the session waits for a review
	// Clients are other processes that watch and steer.
	Clients Clients
}

// inquire returns a function for questions from the model or a server, or nil without a user.
func (p Person) inquire() toolset.Inquire {
	if p.Put == nil {
		return nil
	}
	return func(ctx context.Context, q toolset.Inquiry) (string, error) {
		to := ask.Question{Agent: q.Agent, Text: q.Question, Choices: q.Choices}
		if q.Asks != "" {
			to.Title, to.Decides = q.Asks+" asks", true
		}
		return p.Put(ctx, to)
	}
}

// review returns a function that asks about a plan, or nil without a user. The first choice keeps
// asking for permissions; the others do not.
func (p Person) review() func(context.Context, plan.Question) (string, error) {
	if p.Put == nil {
		return nil
	}
	return func(ctx context.Context, q plan.Question) (string, error) {
		kinds := []ask.Kind{ask.AllowOnce}
		for range len(q.Choices) - 1 {
			kinds = append(kinds, ask.AllowAlways)
		}
		return p.Put(ctx, ask.Question{Title: "the model's plan", Other: "or send it back with your remarks", Text: q.Text, Choices: q.Choices, Kinds: kinds, Said: q.Said, Markdown: true})
	}
}

// desk returns this run's plan manager.
func (w *Conversation) desk() *plan.Manager {
	return &plan.Manager{
		File:    w.Settings.PlanFile(w.id),
		Session: func() plan.Session { return w.Session },
		Mode:    func() policy.Mode { return w.Gate.Mode() }, SetMode: w.SetMode, MayBe: func(m policy.Mode) bool { return w.Gate.MayBe(m) },
		Ask: w.person.review(), Edit: w.person.Rewrite,
	}
}

// tells returns notes before a step: instructions of newly reached folders, the mode, the plan, and
// results from language servers.
func (w *Conversation) tells(ctx context.Context, s session.Step) []session.Note {
	out := append(w.Room.Notes(ctx, s), w.plan.Notes(s)...)
	if w.code != nil {
		out = append(out, w.codeNotes(false)...)
	}
	return out
}

// AcceptPlan accepts the waiting plan if the command line requests it.
func (w *Conversation) AcceptPlan(ctx context.Context, o *flags.Request) error {
	if o.AcceptPlan == "" {
		return nil
	}
	err := w.plan.Accept(ctx)
	if errors.Is(err, plan.ErrNone) || errors.Is(err, plan.ErrAccepted) {
		return usage.Mistake("adze -p --permission-mode plan … makes one", "--accept-plan: %v", err)
	}
	return err
}

// Asking sends permission requests to the user.
type Asking struct {
	Of   *Conversation
	File string // file to save rules in; "" if unsupported
	Ask  func(context.Context, ask.Permission) (ask.Answer, error)
	Tell func(session.Event)
	Mode func(policy.Mode) error // changes the permission mode; may be nil
}

func (k Asking) Put(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	q = hostio.Veiled(q)
	a := ask.Permission{Question: q, Why: redact.Passwords(reasons(p)), Resolved: resolved(p, k.Of.Settings.Root.Dir()), Waiting: k.Of.Gate.Waiting,
		NoOffer: redact.Passwords(p.NoOffer), Edits: p.Edits && k.Mode != nil && !ofStage(q)}
	a.Offers, a.Usual = offered(p.Offers, k.File), policy.Usual(p.Offers)
	if q.Preview != nil {
		a.Preview = q.Preview(ctx)
	}
	answer, change, err := askFor(ctx, k.Of.asking(k.Ask), a)
	if err != nil {
		return policy.Answer{}, err
	}
	switch answer.Choice {
	case ask.Once:
		return policy.Answer{Choice: policy.Once, Change: change, By: answer.By}, nil
	case ask.AllEdits:
		return policy.Answer{Choice: policy.Once, By: answer.By}, k.Mode(policy.Edits)
	case ask.Always:
		rules, _ := savedRules(p.Offers[answer.Offer].Rules)
		err := k.Of.Settings.ByUser("a rule")
		if err == nil {
			_, err = config.AddRules(k.File, string(policy.Allow), rules...)
		}
		if err != nil {
			k.Tell(session.Notice{Text: fmt.Sprintf("the rule holds for this session only, because it could not be saved: %v", err)})
		}
		return policy.Answer{Choice: policy.Session, Offer: answer.Offer, By: answer.By}, nil
	case ask.ForSession:
		return policy.Answer{Choice: policy.Session, Offer: answer.Offer, By: answer.By}, nil
	}
	if answer.Absent {
		return policy.Answer{}, ask.ErrClosed
	}
	return policy.Answer{Choice: policy.No, Reason: answer.Reason, By: answer.By}, nil
}

// ofStage reports whether a question is about a staged turn's changes, which no mode answers.
func ofStage(q tool.Question) bool {
	return slices.ContainsFunc(q.Needs, func(n tool.Need) bool { return n.Reach == tool.OwnStage })
}

// offered converts the policy's offers for the dialog. Rules that a configuration can express can
// be saved.
func offered(offers []policy.Offer, file string) (out []ask.Offer) {
	for _, o := range offers {
		shown := ask.Offer{Rule: redact.Passwords(strings.Join(o.Rules, "\n")),
			Covers: redact.Passwords(o.Covers), Spares: redact.Passwords(o.Spares), Saved: redact.Passwords(o.Saved)}
		if _, ok := savedRules(o.Rules); ok {
			shown.Save = file
		}
		out = append(out, shown)
	}
	return out
}

// resolved returns the real paths and addresses that differ from the written ones. A command's text
// already contains its programs.
func resolved(p policy.Prompt, root string) map[tool.Need]string {
	out := map[tool.Need]string{}
	for _, item := range p.Items {
		n := item.Need
		// Plain concatenation, unlike a path join, detects dots that lead elsewhere.
		plain := n.Reach != "" || item.Target == n.Target || item.Target == root+"/"+strings.TrimPrefix(n.Target, "./")
		if n.Permission != tool.Execute && !plain {
			n.Target = redact.Passwords(n.Target)
			out[n] = redact.Passwords(item.Target)
		}
	}
	return out
}

// unsaid ends a reason that only repeats that the request needs approval. For a part of a command,
// the reason is kept to name that part.
const unsaid = " needs approval"

func reasons(p policy.Prompt) string {
	var out []string
	for _, item := range p.Items {
		whole := strings.HasSuffix(item.Reason, unsaid) && strings.Contains(item.Reason, item.Need.Target)
		if !whole {
			out = append(out, item.Reason)
		}
	}
	return strings.Join(out, "; ")
}

// savedRules returns the rules in the configuration's syntax. It rejects rules that the
// configuration cannot express exactly, and those with a password.
func savedRules(rules []string) ([]string, bool) {
	var out []string
	for _, r := range rules {
		text, ok := strings.CutPrefix(r, string(policy.Allow)+" ")
		parsed, err := policy.ParseRule(policy.Allow, policy.User, text)
		if !ok || err != nil || parsed.String() != r || redact.Passwords(r) != r {
			return nil, false
		}
		out = append(out, text)
	}
	return out, len(out) > 0
}
