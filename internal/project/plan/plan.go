// Package plan stores a session's plan, shows it to the user for approval, and sends the model the
// result.
//
// The one rule: only the user accepts a plan. They accept exactly the text shown, identified by its
// hash, with an entry in the log; nothing is parsed from the model's output.
//
// A plan is a Markdown file in adze's state, so that file rules need no exception for it and the
// user can edit it. Plan mode itself is in package policy, which refuses changes.
//
// Start reading at Manager.Propose. note.go has the model's notes. Known limits: a session has one
// plan; earlier ones are only in the log. Plan mode does not stop an allowed hook or an earlier
// background job, which are not calls of the model.
package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"adze/internal/files/diff"
	"adze/internal/policy"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Session is the interface to the session that a plan uses.
type Session interface {
	Plan() *session.Plan
	SetPlan(ctx context.Context, p session.Plan) error
}

// A Question shows a plan to the user.
type Question struct {
	Text    string   // Markdown
	Choices []string // ready answers; other words are remarks
	Path    string   // the plan's file
	Said    string   // last answer's result, such as a failed editor
}

// A Manager handles one session's plan.
type Manager struct {
	File    string         // absolute path; "" to store nothing on disk
	Session func() Session // created after the Manager
	// Mode returns the current permission mode, SetMode changes it, and MayBe reports whether one
	// can be chosen.
	Mode    func() policy.Mode
	SetMode func(name string) error
	MayBe   func(policy.Mode) bool
	// Ask shows a question and returns the answer. If nil, there is no user.
	Ask func(ctx context.Context, q Question) (string, error)
	// Edit opens a text in the user's editor. It may be nil.
	Edit func(ctx context.Context, text string) (string, error)
}

// draft is a plan in review: the model's text and the current one.
type draft struct{ written, text string }

func (d draft) edits() string {
	if d.written == d.text {
		return ""
	}
	return diff.Unified(diff.Side{Name: "plan.md", Text: d.written + "\n"}, diff.Side{Name: "plan.md", Text: d.text + "\n"}).Text
}

// Propose stores a plan of the model and shows it to the user, if there is one.
func (d *Manager) Propose(ctx context.Context, text string) (toolset.Proposed, error) {
	if err := d.write(text); err != nil {
		return toolset.Proposed{}, tool.Fail(tool.CodeFailed, "the plan could not be kept (%w); say it in your answer", err)
	}
	now := session.Plan{State: session.PlanProposed, SHA256: hashOf(text), Path: d.File, Text: text}
	if err := d.Session().SetPlan(ctx, now); err != nil {
		return toolset.Proposed{}, err
	}
	if d.Ask == nil {
		p := proposed(now)
		p.Output, p.Stop = text, true
		if d.Mode() != policy.Plan { // nobody asked for a plan only
			p.Output, p.Stop = "The plan is kept. Nobody is here to accept it, and the permission mode is not plan: go on with the work.", false
		}
		return p, nil
	}
	now, err := d.review(ctx, draft{text, text})
	if err != nil {
		return proposed(now), unanswered(ctx, err)
	}
	p := proposed(now)
	p.Output = outcome(now)
	return p, nil
}

func proposed(p session.Plan) toolset.Proposed {
	return toolset.Proposed{State: string(p.State), Path: p.Path, SHA256: p.SHA256, Text: p.Text, Mode: p.Mode, Edits: p.Edits}
}

func unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &tool.Error{Code: tool.CodeDenied, Err: tool.ErrDenied, Message: fmt.Sprintf("the plan is kept, and nobody answered (%v); end with what you would do", err)}
}

// outcome describes the user's decision for the model. A note with the plan follows.
func outcome(p session.Plan) string {
	changed := ""
	if p.Edits != "" {
		changed = "They changed it:\n" + p.Edits
	}
	if p.State == session.PlanReturned {
		return strings.TrimSpace("The person sends the plan back: " + p.Remarks + "\nRevise it and call plan again.\n" + changed)
	}
	return strings.TrimSpace(fmt.Sprintf("The person accepted the plan. The permission mode is %s now: carry it out.\n%s", p.Mode, changed))
}

// review shows the plan until the user accepts or returns it.
func (d *Manager) review(ctx context.Context, w draft) (session.Plan, error) {
	said := ""
	for {
		answers := d.answers()
		q := Question{Text: w.text, Path: d.File, Said: said}
		for _, a := range answers {
			q.Choices = append(q.Choices, a.words)
		}
		words, err := d.Ask(ctx, q)
		if err != nil {
			return d.state(w, session.PlanProposed), err
		}
		a := answerOf(answers, words)
		switch {
		case a.edit:
			said, err = d.edit(ctx, &w)
		case a.mode == "":
			p := d.state(w, session.PlanReturned)
			p.Remarks = words
			return p, d.Session().SetPlan(ctx, p)
		case d.changed(&w):
			said = "the file was changed meanwhile: this is what it holds now"
		default:
			return d.accept(ctx, w, a.mode)
		}
		if err != nil {
			return d.state(w, session.PlanProposed), err
		}
	}
}

// answer is one choice.
type answer struct {
	words string
	mode  policy.Mode // accept, and continue in this mode
	edit  bool
}

// answers returns the choices; the first one allows nothing without asking.
func (d *Manager) answers() (out []answer) {
	for _, a := range []answer{
		{words: "accept it; ask me before each change", mode: policy.AskFirst},
		{words: "accept it; files of the workspace may be written without asking", mode: policy.Edits},
		{words: "accept it; commands may also run in the sandbox without asking", mode: policy.Auto},
	} {
		if d.MayBe(a.mode) {
			out = append(out, a)
		}
	}
	if d.Edit != nil {
		out = append(out, answer{words: "change it first, in my editor", edit: true})
	}
	return out
}

func answerOf(answers []answer, words string) answer {
	for _, a := range answers {
		if a.words == words {
			return a
		}
	}
	return answer{}
}

// edit lets the user rewrite the plan.
func (d *Manager) edit(ctx context.Context, w *draft) (said string, err error) {
	_ = d.changed(w) // start from their changes to the file
	text, err := d.Edit(ctx, w.text)
	text = strings.TrimSpace(text)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return fmt.Sprintf("%v; or edit %s", err, d.File), nil
	case text == "":
		return "an empty plan says nothing: it stays as it was", nil
	}
	w.text = text
	return "", d.write(text)
}

// accept stores the user's acceptance and then sets the mode.
func (d *Manager) accept(ctx context.Context, w draft, mode policy.Mode) (session.Plan, error) {
	p := d.state(w, session.PlanAccepted)
	p.Mode = string(mode)
	if err := d.Session().SetPlan(ctx, p); err != nil {
		return p, err
	}
	return p, d.SetMode(string(mode))
}

func (d *Manager) state(w draft, s session.PlanState) session.Plan {
	return session.Plan{State: s, SHA256: hashOf(w.text), Path: d.File, Text: w.text, Edits: w.edits()}
}

// Errors of accepting or showing a plan.
var (
	ErrNone     = errors.New("this session has no plan")
	ErrAccepted = errors.New("the plan of this session was accepted before")
)

// Prompt is the model's prompt after a plan was accepted outside its turn.
const Prompt = "Carry out the plan that I accepted."

// Accept accepts a resumed session's plan as in its file, in the current mode.
func (d *Manager) Accept(ctx context.Context) error {
	w, err := d.waiting()
	if err != nil {
		return err
	}
	_ = d.changed(&w)
	_, err = d.accept(ctx, w, d.Mode())
	return err
}

// Show shows the waiting plan again and returns the model's next prompt, or "" if none is waiting.
func (d *Manager) Show(ctx context.Context) (prompt string, err error) {
	w, err := d.waiting()
	if err != nil {
		return "", nil
	}
	_ = d.changed(&w)
	p, err := d.review(ctx, w)
	if err != nil {
		return "", err
	}
	if p.State == session.PlanAccepted {
		return Prompt, nil
	}
	return "I send the plan back: " + p.Remarks, nil
}

// waiting returns the plan that can still be accepted. The user's earlier changes count as part of
// the model's text.
func (d *Manager) waiting() (draft, error) {
	p := d.Session().Plan()
	switch {
	case p == nil:
		return draft{}, ErrNone
	case p.State == session.PlanAccepted:
		return draft{}, ErrAccepted
	}
	return draft{p.Text, p.Text}, nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
