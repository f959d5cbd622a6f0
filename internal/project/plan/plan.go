// Package plan keeps the plan of a session, puts it to the user, and tells the model what came of
// it.
//
// The one rule: only the user accepts a plan. What they accept is the text that they were shown,
// named by its hash, and an entry of the log says so; nothing is read out of what a model writes.
//
// A plan is a Markdown file in adze's own state, so that no rule about files has an exception for
// it, and the user can edit it in between. The plan mode itself is not here: package policy
// refuses whatever changes something.
//
// Start reading at Manager.Propose. note.go is what the model is told of mode and plan. Known
// limits: a plan is one text for one session; earlier ones are in the log alone. A hook that the
// user allowed, and a job from before, are no calls of the model: the plan mode does not stop them.
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

// Session is what a plan needs of the conversation that it belongs to.
type Session interface {
	Plan() *session.Plan
	SetPlan(ctx context.Context, p session.Plan) error
}

// Question is a plan as the user is shown it.
type Question struct {
	Text    string   // Markdown
	Choices []string // ready answers; any other words are remarks
	Path    string   // the file that holds the plan
	Said    string   // what came of their last answer, such as that no editor could be started
}

// Manager is where the plan of one session lies.
type Manager struct {
	File    string         // of the plan, absolute; if empty, nothing is kept on the disk
	Session func() Session // it is made later than the desk
	// Mode is the permission mode in force, SetMode changes it, and MayBe reports one that can be
	// chosen.
	Mode    func() policy.Mode
	SetMode func(name string) error
	MayBe   func(policy.Mode) bool
	// Ask shows a question and returns the answer; if nil, nobody is there.
	Ask func(ctx context.Context, q Question) (string, error)
	// Edit has the user write in their editor; if nil, there is none.
	Edit func(ctx context.Context, text string) (string, error)
}

// draft is a plan on its way: what the model wrote, and what it is now.
type draft struct{ written, text string }

func (d draft) edits() string {
	if d.written == d.text {
		return ""
	}
	return diff.Unified(diff.Side{Name: "plan.md", Text: d.written + "\n"}, diff.Side{Name: "plan.md", Text: d.text + "\n"}).Text
}

// Propose keeps a plan of the model and puts it to the user, if they are there.
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
		if d.Mode() != policy.Plan { // nobody asked for a plan alone
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

// outcome tells the model what the user decided. The plan itself follows as a note.
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

// review shows the plan until the user accepts it or sends it back.
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

// answer is one thing that the user may choose.
type answer struct {
	words string
	mode  policy.Mode // accept, and go on in it
	edit  bool
}

// answers are those that are there; the first one lets nothing happen unasked.
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

// edit has the user rewrite the plan.
func (d *Manager) edit(ctx context.Context, w *draft) (said string, err error) {
	_ = d.changed(w) // what they wrote into the file meanwhile is where they go on
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

// accept stores that the user accepted the plan as it is, then lets the mode go on.
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

// Errors of a plan that cannot be accepted, or looked at.
var (
	ErrNone     = errors.New("this session has no plan")
	ErrAccepted = errors.New("the plan of this session was accepted before")
)

// Prompt is what the model is asked where a plan was accepted outside of its turn.
const Prompt = "Carry out the plan that I accepted."

// Accept accepts the plan of a session that is gone on with, as its file holds it now, in the mode
// in force.
func (d *Manager) Accept(ctx context.Context) error {
	w, err := d.waiting()
	if err != nil {
		return err
	}
	_ = d.changed(&w)
	_, err = d.accept(ctx, w, d.Mode())
	return err
}

// Show puts the plan that waits to the user once more, and returns what to ask the model then;
// nothing: none waits.
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

// waiting is the plan that the user may still accept. What they changed of it before counts from
// the model's words on.
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
