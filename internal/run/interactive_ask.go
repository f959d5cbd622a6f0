package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/config"
	"adze/internal/policy"
	"adze/internal/project/plan"
	"adze/internal/run/hostio"
	"adze/internal/sandbox/proc"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
	"adze/toolset"
	"adze/tui/permission"
	"adze/tui/question"
)

// person is who can be asked while a run works; without one the fields are nil.
type person struct {
	ask     policy.Asker    // about what may be done
	inquire toolset.Inquire // what the model wants to know
	review  func(ctx context.Context, q plan.Question) (string, error)
	rewrite func(ctx context.Context, text string) (string, error)
	stir    func() // something changed in the background
	// terminal runs a command where the user sees it, outside of any sandbox; which ones it takes,
	// it decides.
	terminal func(ctx context.Context, call tool.CallID, c proc.Command) (proc.Result, error)
}

// desk is where the plan of this run lies; its file is known with the session.
func (w *wired) desk() *plan.Desk {
	return &plan.Desk{
		Session: func() plan.Session { return w.session },
		Mode:    func() policy.Mode { return w.gate.Mode() }, SetMode: w.setMode, MayBe: func(m policy.Mode) bool { return w.gate.MayBe(m) },
		Ask: w.person.review, Edit: w.person.rewrite,
	}
}

// tells is what the model is told late: instructions of folders that it reaches, the mode, and the
// plan.
func (w *wired) tells(ctx context.Context, s session.Step) []session.Note {
	return append(w.room.Notes(ctx, s), w.plan.Notes(s)...)
}

// planFile is where the plan of a session is kept; if empty, nothing is.
func (o *options) planFile(s settings, id session.ID) string {
	if o.noSession || o.demo {
		return ""
	}
	return filepath.Join(s.at.State, "plans", string(id)+".md")
}

// review puts a plan of the model to the user.
func (s *sitting) review(ctx context.Context, q plan.Question) (string, error) {
	return s.ui.Inquire(ctx, question.Question{Title: "the model's plan", Other: "or send it back with your remarks", Text: q.Text, Choices: q.Choices, Said: q.Said, Markdown: true})
}

// rewrite lets the user write in their editor.
func (s *sitting) rewrite(ctx context.Context, text string) (string, error) {
	return s.ui.Write(ctx, text)
}

// acceptPlan accepts the plan that waits, where the user said so with the command line.
func (w *wired) acceptPlan(ctx context.Context, o *options) error {
	if o.acceptPlan == "" {
		return nil
	}
	err := w.plan.Accept(ctx)
	if errors.Is(err, plan.ErrNone) || errors.Is(err, plan.ErrAccepted) {
		return misuse("adze -p --permission-mode plan … makes one", "--accept-plan: %v", err)
	}
	return err
}

// asking puts the gate's questions to whoever is there.
type asking struct {
	w    *wired
	file string // in which they can keep rules; if empty, they cannot
	ask  func(context.Context, permission.Ask) (permission.Answer, error)
	tell func(session.Event)
}

// askPerson shows the gate's question, and saves the rule where the user wants it for ever.
func (s *sitting) askPerson(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	return asking{s.w, config.File(s.app.Getenv, s.w.settings.at.Config), s.ui.Ask, s.ui.Observe}.put(ctx, q, p)
}

func (k asking) put(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	q = hostio.Veiled(q)
	a := permission.Ask{Question: q, Why: redact.Passwords(reasons(p)), Resolved: resolved(p, k.w.settings.root.Dir()), Waiting: k.w.gate.Waiting, Tries: p.Tries}
	a.Offers, a.Usual = offered(p.Offers, k.file), policy.Usual(p.Offers)
	if q.Preview != nil {
		a.Preview = q.Preview(ctx)
	}
	answer, change, err := askFor(ctx, k.ask, a)
	if err != nil {
		return policy.Answer{}, err
	}
	switch answer.Choice {
	case permission.Once:
		return policy.Answer{Choice: policy.Once, Change: change}, nil
	case permission.Try:
		return policy.Answer{Choice: policy.Try}, nil
	case permission.Always:
		rules, _ := savedRules(p.Offers[answer.Offer].Rules)
		err := k.w.settings.byUser("a rule")
		if err == nil {
			_, err = config.AddRules(k.file, string(policy.Allow), rules...)
		}
		if err != nil {
			k.tell(session.Notice{Text: fmt.Sprintf("the rule holds for this session only; it could not be saved: %v", err)})
		}
		return policy.Answer{Choice: policy.Session, Offer: answer.Offer}, nil
	case permission.ForSession:
		return policy.Answer{Choice: policy.Session, Offer: answer.Offer}, nil
	}
	if answer.Absent {
		return policy.Answer{}, permission.ErrClosed
	}
	return policy.Answer{Choice: policy.No, Reason: answer.Reason}, nil
}

// offered are the offers of the gate as the dialog shows them; those that a configuration can hold
// can be kept there.
func offered(offers []policy.Offer, file string) (out []permission.Offer) {
	for _, o := range offers {
		shown := permission.Offer{Rule: redact.Passwords(strings.Join(o.Rules, "\n")),
			Covers: redact.Passwords(o.Covers), Spares: redact.Passwords(o.Spares), Saved: redact.Passwords(o.Saved)}
		if _, ok := savedRules(o.Rules); ok {
			shown.Save = file
		}
		out = append(out, shown)
	}
	return out
}

// inquire puts a question of the model to the user.
func (s *sitting) inquire(ctx context.Context, q toolset.Inquiry) (string, error) {
	return s.ui.Inquire(ctx, question.Question{Title: asksOf(q), Agent: q.Agent, Text: q.Question, Choices: q.Choices, Decides: q.Asks != ""})
}

// asksOf says who asks where it is not the model.
func asksOf(q toolset.Inquiry) string {
	if q.Asks == "" {
		return ""
	}
	return q.Asks + " asks"
}

// resolved says what a path or an address really is, where it is written in another way. The
// programs of a command stand in the command itself.
func resolved(p policy.Prompt, root string) map[tool.Need]string {
	out := map[tool.Need]string{}
	for _, item := range p.Items {
		n := item.Need
		// Not joined as paths are: dots that lead elsewhere are not plain.
		plain := n.Reach != "" || item.Target == n.Target || item.Target == root+"/"+strings.TrimPrefix(n.Target, "./")
		if n.Permission != tool.Execute && !plain {
			n.Target = redact.Passwords(n.Target)
			out[n] = redact.Passwords(item.Target)
		}
	}
	return out
}

// unsaid ends a reason that only repeats what is asked for and that nothing allows it: the question
// itself says so. Of a part of a command it says which one.
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

// savedRules are the rules as the configuration holds them. What is not a rule of its language, or
// would not say the same there, is not offered to be saved; nor is a password.
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
