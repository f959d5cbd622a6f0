package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"

	"adze/internal/editors/uistream"
	"adze/internal/live"
	"adze/internal/stream/ask"
	"adze/tool"
)

// openQuestion is a question that waits. It is answered once: by whoever comes first.
type openQuestion struct {
	uistream.Question
	ask      *ask.Permission // what is asked, of a permission
	inquiry  *ask.Question
	input    string      // the hash of the arguments that the question is about
	approval *ask.Answer // what was answered to a permission
	words    string      // and to a question of the model
	done     chan struct{}

	elsewhere bool // another process asks it, or another window has the answer
}

// ErrNobody says that a question came when no turn ran: nobody would see it.
var ErrNobody = errors.New("no turn is running, and nobody is asked")

// maxPast is how many answered approvals are remembered, to tell a late answer from a wrong one.
const maxPast = 1000

// newApproval is an id that nobody guesses.
func newApproval() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails since Go 1.24
	return "approval-" + hex.EncodeToString(b[:])
}

// Ask puts a question of the gate to whoever reads.
func (r *room) Ask(ctx context.Context, a ask.Permission) (ask.Answer, error) {
	q := uistream.Question{ID: newApproval(), Kind: uistream.Permission, Call: a.Question.Call, Tool: a.Question.Tool.Name, Agent: a.Question.Agent,
		Text: a.Why, Preview: a.Preview}
	if a.Problem != "" {
		q.Text = a.Problem
	}
	for _, n := range a.Question.Needs {
		text := string(n.Permission) + " " + n.Target
		if really := a.Resolved[n]; really != "" {
			text += " (" + really + ")"
		}
		q.Needs = append(q.Needs, text)
	}
	if a.Question.Repair != nil {
		q.Input = a.Question.Repair.After
	}
	w, err := r.put(ctx, &openQuestion{Question: q, ask: &a})
	if err != nil {
		return ask.Answer{}, err
	}
	return *w.approval, nil
}

// Inquire puts a question of the model, or its plan: the next thing that the user says is the
// answer.
func (r *room) Inquire(ctx context.Context, a ask.Question) (string, error) {
	text := a.Text
	if a.Said != "" {
		text += "\n\n" + a.Said
	}
	w, err := r.put(ctx, &openQuestion{inquiry: &a, Question: uistream.Question{ID: newApproval(), Kind: uistream.Inquiry, Agent: a.Agent, Text: text, Choices: a.Choices}})
	if err != nil {
		return "", err
	}
	return w.words, nil
}

// put asks and waits.
func (r *room) put(ctx context.Context, w *openQuestion) (*openQuestion, error) {
	q := w.Question
	w.done = make(chan struct{})
	r.mu.Lock()
	if r.turn.abort == nil || r.turn.over {
		r.mu.Unlock()
		return nil, ErrNobody
	}
	r.turn.ear.Ask(q)
	w.input = hashOf(r.turn.ear.Input(q.Call))
	r.asked = w
	r.pass(item{question: &q, asked: w})
	r.mu.Unlock()
	r.server.stir()
	select {
	case <-w.done:
		r.server.stir()
		return w, nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-w.done: // just now
		return w, nil
	default:
	}
	w.elsewhere = true
	if errors.Is(context.Cause(ctx), live.ErrAnswered) {
		r.settle(w, "in another window")
	} else {
		r.settle(w, "by nobody: the turn has ended")
	}
	return nil, ctx.Err()
}

// settle closes a question.
func (r *room) settle(w *openQuestion, answered string) {
	r.asked = nil
	r.past[w.ID] = answered
	if r.order = append(r.order, w.ID); len(r.order) > maxPast {
		delete(r.past, r.order[0])
		r.order = r.order[1:]
	}
	q := w.Question
	r.pass(item{question: &q, answered: answered, asked: w})
}

// answer settles the question that waits, as a page says: whose words those are it knows from the
// door. To another question than the one that waits it is too late.
func (r *room) answer(id string, a ask.Answer, words string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.asked
	if w == nil || w.ID != id {
		if before, known := r.past[id]; known {
			return &refusal{http.StatusConflict, "too late: this was answered already (" + before + "), and nothing is done twice"}
		}
		return &refusal{http.StatusForbidden, "that was not asked here"}
	}
	if w.ask == nil {
		w.words = words
		r.settle(w, words)
	} else {
		answered, err := w.allows(a)
		if err != nil {
			return err
		}
		w.approval = &a
		r.settle(w, answered)
	}
	close(w.done)
	return nil
}

// allows says what an answer is in a few words, and refuses what was not offered.
func (w *openQuestion) allows(a ask.Answer) (string, error) {
	offered := a.Offer >= 0 && a.Offer < len(w.ask.Offers)
	none := &refusal{http.StatusBadRequest, "that was not offered"}
	switch a.Choice {
	case ask.Deny:
		if a.Reason != "" {
			return "denied: " + a.Reason, nil
		}
		return "denied", nil
	case ask.Once:
		if len(a.Refused) > 0 && w.ask.Question.Without == nil || a.Text != "" && w.ask.Question.Editing == nil {
			return "", none
		}
		if len(a.Refused) > 0 {
			return "allowed in part", nil
		}
		return "allowed once", nil
	case ask.ForSession:
		if offered {
			return "allowed for this session: " + w.ask.Offers[a.Offer].Rule, nil
		}
	case ask.Always:
		if offered && w.ask.Offers[a.Offer].Save != "" {
			return "allowed from now on: " + w.ask.Offers[a.Offer].Rule, nil
		}
	case ask.AllEdits:
		if w.ask.Edits {
			return "all edits of the session are allowed", nil
		}
	}
	return "", none
}

// approval is what a POST says of one.
type approval struct {
	ID       string `json:"id"`
	Approved *bool  `json:"approved"`
	Reason   string `json:"reason"`
	call     tool.CallID
	input    json.RawMessage
}

// approve takes an answer: only to a question that waits, for that very call with those very
// arguments. The reader that is returned ended at the question; if nil, another one has to be
// found.
func (r *room) approve(all []approval) (paused *teller, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var late string
	for _, a := range all {
		w := r.asked
		switch before, known := r.past[a.ID]; {
		case known:
			late = before
			continue
		case w == nil || w.Kind != uistream.Permission || w.ID != a.ID:
			return nil, &refusal{http.StatusForbidden, "that approval was not asked for here"}
		case w.Call != a.call || w.input != hashOf(a.input):
			return nil, &refusal{http.StatusForbidden, "the approval is for another call, or for other arguments"}
		}
		w.approval = &ask.Answer{Choice: ask.Deny, Reason: a.Reason, By: ownPage}
		answered := "denied"
		if *a.Approved {
			w.approval, answered = &ask.Answer{Choice: ask.Once, By: ownPage}, "allowed"
		}
		r.settle(w, answered)
		close(w.done)
		return r.takePaused(w.ID), nil
	}
	if late != "" {
		return nil, &refusal{http.StatusConflict, "too late: this was answered already (" + late + "), and nothing is done twice"}
	}
	return nil, &refusal{http.StatusBadRequest, "the newest message holds neither words of yours nor an answer to a question"}
}

func (r *room) takePaused(question string) *teller {
	t := r.turn.paused
	r.turn.paused = nil
	if t == nil || t.at != question {
		return nil
	}
	return t
}

// reply answers a question of the model with what the user says; if false, none waits.
func (r *room) reply(text string) (paused *teller, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.asked
	if w == nil || w.Kind != uistream.Inquiry {
		return nil, false
	}
	w.words = text
	r.settle(w, text)
	close(w.done)
	return r.takePaused(w.ID), true
}

// pause keeps a reader that ends at a question for who goes on; if false, it is answered already,
// and the reader need not end.
func (r *room) pause(t *teller, question string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil || r.asked.ID != question {
		return false
	}
	if before := r.turn.paused; before != nil {
		delete(r.readers, before.reader)
	}
	t.at, r.turn.paused = question, t
	return true
}

// hashOf is that of JSON, however it is written; numbers are as precise as JavaScript has them.
func hashOf(raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return "none: " + newApproval()
	}
	same, err := json.Marshal(value)
	if err != nil {
		return "none: " + newApproval()
	}
	sum := sha256.Sum256(same)
	return hex.EncodeToString(sum[:])
}

var _ Person = (*room)(nil)
