package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"adze/internal/editors/uistream"
	"adze/internal/files/attachments"
	"adze/session"
	"adze/tool"
)

// A Prompt starts a turn.
type Prompt struct {
	Text        string // as typed by the user
	Texts       string // attached texts
	Attachments []tool.Attachment
	// Replace replaces the newest prompt, which is reverted with its results. Effects of calls
	// remain.
	Replace bool
}

// bare reports whether the prompt is only text, so it can be sent to a running turn.
func (p Prompt) bare() bool { return !p.Replace && p.Texts == "" && len(p.Attachments) == 0 }

type piece struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	MediaType string `json:"mediaType"`
	Filename  string `json:"filename"`
	URL       string `json:"url"`
}

// prompt returns the user's text and attachments. It refuses invalid ones: a silently dropped
// picture would be missed.
func (m newestPart) prompt() (p Prompt, err error) {
	var texts []string
	for _, part := range m.Parts {
		switch part.Type {
		case "text":
			texts = append(texts, part.Text)
		case "file":
			if err := p.enclose(part.piece); err != nil {
				return p, err
			}
		}
	}
	p.Text = strings.Join(texts, "\n\n")
	if strings.TrimSpace(p.Text) == "" && p.bare() {
		return p, &refusal{http.StatusBadRequest, "the message says nothing"}
	}
	return p, nil
}

// enclose adds a file contained in the request.
func (p *Prompt) enclose(f piece) error {
	name := f.Filename
	if name == "" {
		name = fmt.Sprintf("file %d", len(p.Attachments)+1)
	}
	raw, err := attachments.Data(f.URL)
	switch {
	case errors.Is(err, attachments.ErrElsewhere):
		return &refusal{http.StatusUnsupportedMediaType, name + " is not in the request (a data: URL); name its path or its address in your words instead"}
	case err != nil:
		return &refusal{http.StatusBadRequest, fmt.Sprintf("%s cannot be read: %v", name, err)}
	}
	file, beside, err := attachments.FromFile(name, raw)
	if err != nil {
		return &refusal{http.StatusUnsupportedMediaType, fmt.Sprintf("%s (%s) is no picture, no PDF and no text", name, f.MediaType)}
	}
	p.Attachments, p.Texts = append(p.Attachments, file...), p.Texts+beside
	return nil
}

// again checks that the message to regenerate is the newest answer: a client with an outdated
// conversation would revert later messages.
func (s *Server) again(r *http.Request, in postMeaning) error {
	l := scroll{all: true}
	err := ignoreMissing(s.Backend.Log(r.Context(), in.id, 0, func(seq int64, e session.Entry) error {
		l.add(seq, e)
		return nil
	}))
	switch {
	case err != nil:
		return err
	case len(l.turns) == 0:
		return &refusal{http.StatusConflict, "there is no answer to make again"}
	case l.older(in.answer) || in.users < len(l.turns) && (in.users != 1 || !strings.HasPrefix(l.turns[len(l.turns)-1].prompt.Text(), in.prompt.Text)): // a client that sends only the newest prompt knows it
		return &refusal{http.StatusConflict, "the conversation has gone on since; read it again, and then make its newest answer again"}
	}
	return nil
}

// older reports whether a message belongs to a turn before the last one.
func (l *scroll) older(id string) bool {
	for _, t := range l.turns[:len(l.turns)-1] {
		if id != "" && (t.prompt.ID == id || uistream.AnswerID(t.prompt.ID) == id) {
			return true
		}
	}
	return false
}
