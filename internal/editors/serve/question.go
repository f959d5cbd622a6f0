package serve

import (
	"cmp"
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

// openQuestion is a waiting question. Only the first answer counts.
type openQuestion struct {
	uistream.Question
	ask      *ask.Permission // for a permission
	inquiry  *ask.Question
	input    string      // hash of the call's arguments
	approval *ask.Answer // the answer for a permission
	words    string      // the answer for a question of the model
	done     chan struct{}

	elsewhere bool // asked by another process, or answered in another window
}

// ErrNobody means a question was asked without a running turn, so nobody would see it.
const ErrNobody = ask.Nobody("no turn is running, and nobody is asked")

// maxPast limits the remembered approvals, used to distinguish late answers from wrong ones.
const maxPast = 1000

func newApproval() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails since Go 1.24
	return "approval-" + hex.EncodeToString(b[:])
}

// permissionQuestion returns a waiting question about a permission.
func permissionQuestion(id string, a ask.Permission) *openQuestion {
	q := uistream.Question{ID: id, Kind: uistream.Permission, Call: a.Question.Call, Tool: a.Question.Tool.Name, Agent: a.Question.Agent,
		Text: cmp.Or(a.Problem, a.Why), Preview: a.Preview}
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
	return &openQuestion{Question: q, ask: &a}
}

// inquiryQuestion returns a waiting question of the model, or about its plan.
func inquiryQuestion(id string, a ask.Question) *openQuestion {
	text := a.Text
	if a.Said != "" {
		text += "\n\n" + a.Said
	}
	return &openQuestion{inquiry: &a, Question: uistream.Question{ID: id, Kind: uistream.Inquiry, Agent: a.Agent, Text: text, Choices: a.Choices}}
}

// Ask asks for a permission.
func (r *sharedSession) Ask(ctx context.Context, a ask.Permission) (ask.Answer, error) {
	w, err := r.put(ctx, permissionQuestion(newApproval(), a))
	if err != nil {
		return ask.Answer{}, err
	}
	return *w.approval, nil
}

// Inquire asks a question of the model, or about its plan. The user's next message is the answer.
func (r *sharedSession) Inquire(ctx context.Context, a ask.Question) (string, error) {
	w, err := r.put(ctx, inquiryQuestion(newApproval(), a))
	if err != nil {
		return "", err
	}
	return w.words, nil
}

// put asks a question and waits for its answer.
func (r *sharedSession) put(ctx context.Context, w *openQuestion) (*openQuestion, error) {
	q := w.Question
	w.done = make(chan struct{})
	r.mu.Lock()
	if r.turn.abort == nil || r.turn.endReported {
		r.mu.Unlock()
		return nil, ErrNobody
	}
	r.turn.ear.Ask(q)
	w.input = hashOf(r.turn.ear.Input(q.Call))
	r.asked = w
	r.pass(item{question: w})
	r.mu.Unlock()
	r.server.wakePages()
	select {
	case <-w.done:
		r.server.wakePages()
		return w, nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-w.done: // just answered
		return w, nil
	default:
	}
	w.elsewhere = true
	if errors.Is(context.Cause(ctx), live.ErrAnswered) {
		r.settleQuestion(w, "in another window")
	} else {
		r.settleQuestion(w, "by nobody: the turn has ended")
	}
	return nil, ctx.Err()
}

func (r *sharedSession) settleQuestion(w *openQuestion, answered string) {
	r.asked = nil
	r.answers[w.ID] = answered
	if r.order = append(r.order, w.ID); len(r.order) > maxPast {
		delete(r.answers, r.order[0])
		r.order = r.order[1:]
	}
	r.pass(item{question: w, answered: answered})
}

// answer settles the waiting question with a page's answer. It returns an error if another question
// is waiting.
func (r *sharedSession) answer(id string, a ask.Answer, words string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.asked
	if w == nil || w.ID != id {
		if before, known := r.answers[id]; known {
			return &refusal{http.StatusConflict, "too late: this was answered already (" + before + "), and nothing is done twice"}
		}
		return &refusal{http.StatusForbidden, "that was not asked here"}
	}
	if w.ask == nil {
		w.words = words
		r.settleQuestion(w, words)
	} else {
		answered, err := w.allows(a)
		if err != nil {
			return err
		}
		w.approval = &a
		r.settleQuestion(w, answered)
	}
	close(w.done)
	return nil
}

// allows describes an answer briefly, and refuses one that was not offered.
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
		if len(a.Refused) > 0 && w.ask.Question.WithoutHunks == nil || a.Text != "" && w.ask.Question.Editing == nil {
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

type approval struct {
	ID       string `json:"id"`
	Approved *bool  `json:"approved"`
	Reason   string `json:"reason"`
	call     tool.CallID
	input    json.RawMessage
}

// approve accepts an answer only for the waiting question, with the same call and arguments. It
// returns the reader that ended at the question, or nil without one.
func (r *sharedSession) approve(all []approval) (paused *turnStream, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var late string
	for _, a := range all {
		w := r.asked
		switch before, known := r.answers[a.ID]; {
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
		r.settleQuestion(w, answered)
		close(w.done)
		return r.takePaused(w.ID), nil
	}
	if late != "" {
		return nil, &refusal{http.StatusConflict, "too late: this was answered already (" + late + "), and nothing is done twice"}
	}
	return nil, &refusal{http.StatusBadRequest, "the newest message holds neither words of yours nor an answer to a question"}
}

func (r *sharedSession) takePaused(question string) *turnStream {
	t := r.turn.paused
	r.turn.paused = nil
	if t == nil || t.at != question {
		return nil
	}
	return t
}

// reply answers a waiting question of the model, or returns false without one.
func (r *sharedSession) reply(text string) (paused *turnStream, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.asked
	if w == nil || w.Kind != uistream.Inquiry {
		return nil, false
	}
	w.words = text
	r.settleQuestion(w, text)
	close(w.done)
	return r.takePaused(w.ID), true
}

// pause keeps a reader that ends at a question until it continues. It returns false if the question
// is already answered and the reader need not end.
func (r *sharedSession) pause(t *turnStream, question string) bool {
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

// hashOf returns a hash of the JSON value, independent of formatting, with numbers in JavaScript's
// precision.
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

var _ User = (*sharedSession)(nil)
