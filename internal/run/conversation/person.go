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
	"adze/internal/run/settings"
	"adze/internal/stream/ask"
	"adze/internal/text/redact"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// UserCallbacks holds the callbacks to the user during a run; without a user they are nil.
type UserCallbacks struct {
	// Ask puts a permission request.
	Ask func(context.Context, ask.Permission) (ask.Answer, error)
	// Asker answers permission requests in place of Ask.
	Asker policy.Asker
	// SetMode changes the permission mode after the answer "all edits". With it rules can be saved.
	SetMode func(mode string) error
	// AskQuestion asks a question from the model or a server, or about a plan.
	AskQuestion func(ctx context.Context, q ask.Question) (string, error)
	Rewrite     func(ctx context.Context, text string) (string, error)
	OnChange    func()             // announces a change in the background
	Named       func(title string) // receives the model's title for the session; may be nil
	Unseen      bool               // the end of a turn may go unnoticed; the session waits for a review
	// Clients are other processes that watch and steer.
	Clients Clients
}

// inquire returns a function for questions from the model or a server, or nil without a user.
func (s *clientAccess) inquire() toolset.Inquire {
	if s.person.AskQuestion == nil {
		return nil
	}
	return func(ctx context.Context, q toolset.Inquiry) (string, error) {
		to := ask.Question{Agent: q.Agent, Text: q.Question, Choices: q.Choices}
		if q.Asks != "" {
			to.Title, to.Decides = q.Asks+" asks", true
		}
		return s.put(ctx, to)
	}
}

// review returns a function that asks about a plan, or nil without a user. The first choice keeps
// asking for permissions; the others do not.
func (s *clientAccess) review() func(context.Context, plan.Question) (string, error) {
	if s.person.AskQuestion == nil {
		return nil
	}
	return func(ctx context.Context, q plan.Question) (string, error) {
		kinds := []ask.Kind{ask.AllowOnce}
		for range len(q.Choices) - 1 {
			kinds = append(kinds, ask.AllowAlways)
		}
		return s.put(ctx, ask.Question{Title: "the model's plan", Other: "or send it back with your remarks", Text: q.Text, Choices: q.Choices, Kinds: kinds, Said: q.Said, Markdown: true})
	}
}

// newPlan returns this run's plan manager.
func (w *base) newPlan() *plan.Manager {
	return &plan.Manager{
		File:    w.Settings.PlanFile(w.id),
		Session: func() plan.Session { return w.later.Load() },
		Mode:    func() policy.Mode { return w.Gate.Mode() }, SetMode: w.SetMode, MayBe: func(m policy.Mode) bool { return w.Gate.MayBe(m) },
		Ask: w.review(), Edit: w.person.Rewrite,
	}
}

// tells returns notes before a step: instructions of newly reached folders, the mode, the plan, and
// results from language servers.
func (w *tools) tells(ctx context.Context, s session.Step) []session.Note {
	out := append(w.Room.Notes(ctx, s), w.plan.Notes(s)...)
	if w.deps.Code != nil {
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

// asker returns the function that answers permission requests, or nil without a user.
func (w *base) asker() policy.Asker {
	if w.person.Ask == nil {
		return w.person.Asker
	}
	return w.ask
}

// ask sends a permission request to the user. The user's own command needs no question.
func (w *base) ask(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	if w.own.is(q) {
		return policy.Answer{Choice: policy.Once}, nil
	}
	file, setMode := "", w.person.SetMode
	if setMode != nil {
		file = settings.Short(w.Settings.Home, w.Settings.File)
	}
	q = hostio.MaskQuestion(q)
	a := ask.Permission{Question: q, Why: redact.Passwords(reasons(p)), Resolved: resolved(p, w.Settings.Root.Dir()), Waiting: w.Gate.Waiting,
		NoOffer: redact.Passwords(p.NoOffer), Edits: p.Edits && setMode != nil && !slices.ContainsFunc(q.Needs, func(n tool.Need) bool { return n.Reach == tool.OwnStage })}
	a.Offers, a.Usual = offered(p.Offers, file), policy.DefaultOffer(p.Offers)
	if q.Preview != nil {
		a.Preview = q.Preview(ctx)
	}
	answer, change, err := askFor(ctx, w.permission, a)
	if _, nobody := errors.AsType[ask.Nobody](err); nobody {
		return policy.Answer{}, policy.ErrNobody
	}
	if err != nil {
		return policy.Answer{}, err
	}
	switch answer.Choice {
	case ask.Once:
		return policy.Answer{Choice: policy.Once, Change: change, Client: answer.By}, nil
	case ask.AllEdits:
		return policy.Answer{Choice: policy.Once, Client: answer.By}, setMode(string(policy.Edits))
	case ask.Always:
		rules, _ := savedRules(p.Offers[answer.Offer].Rules)
		err := w.Settings.ByUser("a rule")
		if err == nil {
			_, err = config.AddRules(file, string(policy.Allow), rules...)
		}
		if err != nil {
			w.observe(session.Notice{Text: fmt.Sprintf("the rule holds for this session only, because it could not be saved: %v", err)})
		}
		fallthrough
	case ask.ForSession:
		return policy.Answer{Choice: policy.Session, Offer: answer.Offer, Client: answer.By}, nil
	}
	if answer.Absent {
		return policy.Answer{}, ask.ErrClosed
	}
	return policy.Answer{Choice: policy.No, Reason: answer.Reason, Client: answer.By}, nil
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

// errOther means that the change differs from the one in which hunks were chosen, so their numbers
// are invalid.
var errOther = errors.New("the file changed meanwhile; this is how the change looks now")

// askFor asks until the answer can be carried out, and returns the changed call, or nil for the
// original one. After a failure it asks again and shows the problem.
func askFor(ctx context.Context, put func(context.Context, ask.Permission) (ask.Answer, error), a ask.Permission) (ask.Answer, *tool.Change, error) {
	for {
		answer, err := put(ctx, a)
		if err != nil || answer.Choice != ask.Once {
			return answer, nil, err
		}
		change, err := changed(ctx, &a, answer)
		if err == nil || ctx.Err() != nil {
			return answer, change, ctx.Err()
		}
		a.Problem = err.Error()
	}
}

// changed returns the call changed by an answer. If the preview is outdated, it renews the preview
// and returns errOther.
func changed(ctx context.Context, a *ask.Permission, answer ask.Answer) (*tool.Change, error) {
	q := a.Question
	switch {
	case answer.Text != "" && q.Editing != nil:
		c := q.Editing.WithText(answer.Text)
		return &c, nil
	case len(answer.Refused) > 0:
		if now := q.Preview(ctx); !slices.Equal(diffs(now), diffs(a.Preview)) {
			a.Preview = now
			return nil, errOther
		}
		return q.WithoutHunks(ctx, answer.Refused, answer.Reason)
	}
	return nil, nil
}

// diffs returns a preview's diffs.
func diffs(blocks []tool.Block) (out []string) {
	for _, b := range blocks {
		if b.Kind == tool.DiffBlock {
			out = append(out, b.Path+"\x00"+b.Text)
		}
	}
	return out
}
