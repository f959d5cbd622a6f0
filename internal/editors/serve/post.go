package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"adze/internal/editors/uistream"
	"adze/internal/text/jsontext"
	"adze/session"
	"adze/tool"
)

// chatPost is the request of the AI SDK's transport. Only the newest message of the conversation is
// read; the rest comes from the store, not the client.
type chatPost struct {
	ID        session.ID        `json:"id"`
	Messages  []json.RawMessage `json:"messages"`
	Trigger   string            `json:"trigger"`
	MessageID string            `json:"messageId"` // to be regenerated
}

// newestPart is the last message of a POST.
type newestPart struct {
	Role  string `json:"role"`
	Parts []struct {
		piece
		State      string          `json:"state"`
		ToolCallID tool.CallID     `json:"toolCallId"`
		Input      json.RawMessage `json:"input"`
		Approval   *approval       `json:"approval"`
	} `json:"parts"`
}

// postMeaning is a POST's content: a prompt, or answers.
type postMeaning struct {
	id        session.ID
	prompt    *Prompt
	approvals []approval
	users     int    // number of user messages the client knows
	answer    string // message to regenerate; empty means the newest
}

func read(r *http.Request) (postMeaning, error) {
	raw, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return postMeaning{}, &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the request has more than %d MiB; only the newest message is needed", maxBody>>20)}
	}
	var p chatPost
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return postMeaning{}, &refusal{http.StatusBadRequest, "the request cannot be read: " + jsontext.Problem(err)}
	}
	if len(p.Messages) == 0 {
		return postMeaning{}, &refusal{http.StatusBadRequest, "the request has no message"}
	}
	var m newestPart
	if err := json.Unmarshal(p.Messages[len(p.Messages)-1], &m); err != nil {
		return postMeaning{}, &refusal{http.StatusBadRequest, "the newest message cannot be read: " + jsontext.Problem(err)}
	}
	return p.mean(m)
}

// mean interprets a POST by its newest message.
func (p chatPost) mean(m newestPart) (postMeaning, error) {
	s := postMeaning{id: p.ID, answer: p.MessageID, users: p.users()}
	anew := p.Trigger == "regenerate-message"
	switch {
	case p.Trigger != "" && p.Trigger != "submit-message" && !anew:
		return s, &refusal{http.StatusBadRequest, fmt.Sprintf("nothing is known of the trigger %.40q", p.Trigger)}
	case m.Role == "user":
		prompt, err := m.prompt()
		prompt.Replace = anew
		s.prompt = &prompt
		return s, err
	case anew:
		return s, &refusal{http.StatusBadRequest, "to make an answer again, send the conversation up to the person's message"}
	}
	for _, part := range m.Parts {
		if a := part.Approval; a != nil && part.State == "approval-responded" && a.Approved != nil {
			a.call, a.input = part.ToolCallID, part.Input
			s.approvals = append(s.approvals, *a)
		}
	}
	return s, nil
}

func (p chatPost) users() (n int) {
	for _, raw := range p.Messages {
		var m struct {
			Role string `json:"role"`
		}
		if json.Unmarshal(raw, &m) == nil && m.Role == "user" {
			n++
		}
	}
	return n
}

// bodyTime limits the time to receive a request's body.
const bodyTime = 30 * time.Second

// post accepts a prompt, a remark or an answer, and streams until the turn ends or asks a question.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	// The deadline applies to the body; the response may take as long as it needs.
	conn := http.NewResponseController(w)
	err := conn.SetReadDeadline(s.Now().Add(bodyTime))
	var in postMeaning
	if err == nil {
		in, err = read(r)
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	if err != nil {
		refuse(w, err)
		return
	}
	if in.id == "" {
		refuse(w, &refusal{http.StatusBadRequest, "the request names no session; POST /api/session begins one"})
		return
	}
	t, err := s.take(r, in)
	if err != nil {
		refuse(w, err)
		return
	}
	s.tell(w, r, t)
}

// take runs a POST and returns the stream to send.
func (s *Server) take(r *http.Request, in postMeaning) (*turnStream, error) {
	if _, is := s.find(in.id).(remoteSession); is {
		return nil, session.ErrLocked
	}
	if in.prompt == nil {
		room := s.open(in.id)
		if room == nil {
			return nil, &refusal{http.StatusConflict, "too late: nothing waits for an answer in this session"}
		}
		paused, err := room.approve(in.approvals)
		if err != nil {
			return nil, err
		}
		return s.goOn(r, room, paused, ""), nil
	}
	if room := s.open(in.id); room != nil && in.prompt.bare() { // the text may be an answer
		if paused, is := room.reply(in.prompt.Text); is {
			return s.goOn(r, room, paused, "reply-"+newApproval()), nil
		}
	}
	if in.prompt.Replace {
		if err := s.again(r, in); err != nil {
			return nil, err
		}
	}
	room, err := s.enter(r.Context(), in.id, "")
	if err != nil {
		return nil, err
	}
	q, err := room.say(*in.prompt)
	if err != nil {
		return nil, err
	}
	if q == nil {
		return heard(), nil
	}
	return &turnStream{from: room, reader: q, encoder: s.encoder(room), pausing: true}, nil
}

// heard responds to a remark for the running turn, whose readers get the results.
func heard() *turnStream {
	e := uistream.New(uistream.Options{})
	parts := e.Resume("remark-" + newApproval())
	parts = append(parts, e.Take(session.Notice{Text: "the running turn reads it"})...)
	return &turnStream{first: append(parts, e.Take(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})...), encoder: e}
}

// goOn streams the rest of a turn after an answered question: with the reader that ended there, or
// a new one for a client that read the turn elsewhere.
func (s *Server) goOn(r *http.Request, room *sharedSession, t *turnStream, message string) *turnStream {
	if t == nil {
		if t = s.catchUp(r, room); t == nil {
			return heard() // the turn has ended in the meantime
		}
		t.first = nil // the client has read it
	}
	t.pausing = true
	t.first = t.encoder.Resume(message)
	return t
}

func (s *Server) encoder(r *sharedSession) *uistream.Encoder {
	return uistream.New(uistream.Options{Mask: s.Mask, Blocks: r.conv.Blocks})
}
