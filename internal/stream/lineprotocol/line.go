package lineprotocol

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/files/attachments"
	"adze/internal/text/jsontext"
	"adze/internal/text/lineread"
	"adze/internal/text/usage"
	"adze/tool"
)

// maxLine limits a line so that an endless one does not fill the memory.
const maxLine = 16 << 20

// Types of lines from a program.
const (
	promptLine = "prompt" // begins a turn, or waits for the running one
	steerLine  = "steer"  // remark for the running turn; a prompt if there is none
	answerLine = "answer" // answers a question
	abortLine  = "abort"  // aborts the running turn, or with call one of its calls
	setLine    = "set"    // sets the permission mode, effort or model
	userLine   = "user"   // prompt in other assistants' format
)

// An Input is a line of any type, which determines the allowed fields.
type Input struct {
	Type     string   `json:"type"`
	ID       string   `json:"id,omitempty"`
	Text     string   `json:"text,omitempty"`
	Attach   []string `json:"attach,omitempty"`
	Files    []File   `json:"files,omitempty"` // contained in the line
	Question string   `json:"question,omitempty"`
	Choice   string   `json:"choice,omitempty"`
	Offer    *int     `json:"offer,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Refused  []int    `json:"refused,omitempty"`
	Call     string   `json:"call,omitempty"`
	Mode     string   `json:"permission_mode,omitempty"`
	Model    string   `json:"model,omitempty"`
	Effort   string   `json:"effort,omitempty"`

	files  []tool.Attachment // included in the line
	beside string            // included texts
	by     string            // sender; "" for stdin
}

// A File is an attached picture, PDF or text.
type File struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

func fields() map[string][]string {
	return map[string][]string{
		promptLine: {"id", "text", "attach", "files"},
		steerLine:  {"id", "text"},
		answerLine: {"id", "question", "choice", "offer", "reason", "refused", "text"},
		abortLine:  {"id", "call"},
		setLine:    {"id", "permission_mode", "model", "effort"},
		userLine:   nil, // any; only the message is read
	}
}

func parse(raw []byte) (Input, error) {
	var kind struct {
		Type *string `json:"type"`
	}
	if !utf8.Valid(raw) {
		return Input{}, usage.Mistake("write UTF-8", "the line is not UTF-8")
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return Input{}, usage.Mistake("write one JSON object on a line", "the line cannot be read: %s", jsontext.Problem(err))
	}
	types := []string{promptLine, steerLine, answerLine, abortLine, setLine, userLine}
	if kind.Type == nil {
		return Input{}, usage.Mistake("add one of them: "+strings.Join(types, ", "), `the line has no "type"`)
	}
	known, ok := fields()[*kind.Type]
	if !ok {
		return Input{}, usage.Mistake(nearest(*kind.Type, types), "there is no line of type %q", *kind.Type)
	}
	if *kind.Type == userLine {
		return parseUser(raw)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return Input{}, usage.Mistake("write one JSON object on a line", "the line cannot be read: %s", jsontext.Problem(err))
	}
	for name := range all {
		if name != "type" && !slices.Contains(known, name) {
			return Input{}, usage.Mistake(nearest(name, known), "a line of type %q has no field %q", *kind.Type, name)
		}
	}
	var s Input
	if err := json.Unmarshal(raw, &s); err != nil {
		return Input{}, usage.Mistake("adze help lines has the fields of each line", "a line of type %q: %s", *kind.Type, jsontext.Problem(err))
	}
	if s.Type == setLine && s.Mode == "" && s.Model == "" && s.Effort == "" {
		return Input{}, usage.Mistake("add one of them: "+strings.Join(known[1:], ", "), "the line sets nothing")
	}
	for _, f := range s.Files {
		file, beside, err := attachments.FromFile(f.Name, f.Data)
		if err != nil {
			return Input{}, usage.Mistake("name its path in the text", "%s: %v", f.Name, err)
		}
		s.files, s.beside = append(s.files, file...), s.beside+beside
	}
	if (s.Type == promptLine && len(s.Attach)+len(s.Files) == 0 || s.Type == steerLine) && strings.TrimSpace(s.Text) == "" {
		return Input{}, usage.Mistake(`give it a "text"`, "the %s says nothing", s.Type)
	}
	return s, nil
}

// part is a part of a message in other assistants' format. An image's or document's content is in
// data or in source.
type part struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Data   string `json:"data"` // base64
	Source struct {
		Data string `json:"data"` // base64
	} `json:"source"`
}

// file returns the image or document in a part; n counts parts from 1.
func (p part) file(n int) (tool.Attachment, error) {
	const hint = `send the bytes as base64: {"type":"image","source":{"type":"base64","data":"…"}}, or name a file: {"type":"prompt","text":"…","attach":["FILE"]}`
	data := p.Source.Data
	if data == "" {
		data = p.Data
	}
	if data == "" {
		return tool.Attachment{}, usage.Mistake(hint, "part %d of the message, of type %q, holds no data", n, p.Type)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return tool.Attachment{}, usage.Mistake(hint, "part %d of the message is not base64", n)
	}
	a, is := attachments.File(fmt.Sprintf("%s %d", p.Type, n), raw)
	if !is {
		return a, usage.Mistake(hint, "part %d of the message is neither a picture nor a PDF", n)
	}
	return a, nil
}

// parseUser parses {"type":"user","message":{"role":"user","content":…}}. The content is a text or
// a list of texts, images and documents. Other parts are errors: a silent omission would be missed.
func parseUser(raw []byte) (Input, error) {
	var line struct {
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	const hint = `write {"type":"user","message":{"role":"user","content":"…"}}, or {"type":"prompt","text":"…"}`
	if err := json.Unmarshal(raw, &line); err != nil {
		return Input{}, usage.Mistake(hint, "the line cannot be read: %s", jsontext.Problem(err))
	}
	out := Input{Type: promptLine}
	var parts []part
	if json.Unmarshal(line.Message.Content, &out.Text) != nil {
		if json.Unmarshal(line.Message.Content, &parts) != nil {
			return Input{}, usage.Mistake(hint, "the message has no content that can be read")
		}
		var texts []string
		for n, p := range parts {
			switch p.Type {
			case "text":
				texts = append(texts, p.Text)
			case "image", "document":
				a, err := p.file(n + 1)
				if err != nil {
					return Input{}, err
				}
				out.files = append(out.files, a)
			default:
				return Input{}, usage.Mistake("write texts, images and documents", "a part of type %q is not taken here", p.Type)
			}
		}
		out.Text = strings.Join(texts, "\n\n")
	}
	if strings.TrimSpace(out.Text) == "" && len(out.files) == 0 {
		return Input{}, usage.Mistake(hint, "the message says nothing")
	}
	return out, nil
}

func nearest(word string, words []string) string {
	if near := tool.Nearest(word, words, 1); len(near) == 1 {
		return "did you mean " + near[0] + "?"
	}
	return "there are: " + strings.Join(words, ", ")
}

// readError means that input cannot be read any more.
type readError struct{ err error }

func (e *readError) Error() string { return "read stdin: " + e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// nextLine returns the next line, trimmed. After an oversized one, reading continues.
func nextLine(in *lineread.Reader) ([]byte, error) {
	line, err := in.Next()
	switch {
	case errors.Is(err, lineread.ErrLong):
		return nil, usage.Mistake("put it in a file and name the file", "the line is longer than %d MiB", maxLine>>20)
	case err == io.EOF:
		return nil, io.EOF
	case err != nil:
		return nil, &readError{err}
	}
	return bytes.TrimSpace(line), nil
}

// Take executes a line that is not from stdin.
func (t *Talk) Take(raw []byte, with Conversation) error { return t.take(raw, 0, with) }

// TakeOf is Take for an answer from the sender by.
func (t *Talk) TakeOf(by string, raw []byte) error {
	s, err := parse(raw)
	if err == nil {
		s.by = by
		err = t.answer(s)
	}
	return err
}

// An Actor executes lines in a conversation with its own turns, such as a terminal's. It is safe
// for concurrent use.
type Actor interface {
	// Prompt begins a turn, or waits for the running one.
	Prompt(p Prompt) error
	Steer(text string) bool
	CancelCall(id tool.CallID) bool
	// Abort aborts the running turn, or returns false.
	Abort() bool
	Set(mode, effort string) error
	Model(name string) error
}

// Act executes a line with an Actor, except answers.
func Act(raw []byte, a Actor) error {
	s, err := parse(raw)
	if err != nil {
		return err
	}
	return s.act(a)
}

func (s Input) act(a Actor) (err error) {
	switch s.Type {
	case promptLine:
		return a.Prompt(s.prompt())
	case steerLine:
		if !a.Steer(s.Text) {
			return a.Prompt(s.prompt())
		}
	case abortLine:
		if s.Call != "" && !a.CancelCall(tool.CallID(s.Call)) {
			return usage.Mistake("", "no call %q is running", s.Call)
		}
		if s.Call == "" && !a.Abort() {
			return usage.Mistake("", "no turn is running")
		}
	case setLine:
		if s.Mode != "" || s.Effort != "" {
			err = a.Set(s.Mode, s.Effort)
		}
		if err == nil && s.Model != "" {
			err = a.Model(s.Model)
		}
	default:
		return usage.Mistake("", "a line of type %q has no place here", s.Type)
	}
	return err
}

func (s Input) prompt() Prompt {
	return Prompt{ID: s.ID, Text: s.Text, Texts: s.beside, Attach: s.Attach, Files: s.files}
}

func (t *Talk) take(raw []byte, line int, with Conversation) error {
	s, err := parse(raw)
	switch {
	case err != nil:
		return err
	case s.Type == answerLine:
		return t.answer(s)
	}
	return s.act(talkActor{t, with, line})
}

// A talkActor executes a line in a Talk. Its mode and effort are set at once.
type talkActor struct {
	*Talk
	Conversation
	line int // number in stdin
}

// Prompt queues a prompt.
func (t talkActor) Prompt(p Prompt) error { return t.queue(p) }

// Model sets a model behind the running turn and queued prompts.
func (t talkActor) Model(name string) error { return t.queue(Prompt{model: name, line: t.line}) }

// Steer sends a remark to the running turn, which cannot end in between, or returns false.
func (t talkActor) Steer(text string) (steers bool) {
	t.set(func() {
		if steers = t.Conversation.Steer(text); steers {
			t.steered = append(t.steered, text)
		}
	})
	return steers
}

// Abort aborts the running turn, or returns false.
func (t talkActor) Abort() bool {
	var abort func()
	t.set(func() { abort = t.abort })
	if abort != nil {
		abort()
	}
	return abort != nil
}

func (t *Talk) queue(p Prompt) (err error) {
	t.set(func() {
		if t.over {
			err = usage.Mistake("go on with it by adze --resume", "the conversation has just ended")
			return
		}
		t.prompts = append(t.prompts, p)
	})
	t.stir()
	return err
}

func offered(n *int, of int) (int, error) {
	switch {
	case of == 0:
		return 0, usage.Mistake("answer once, or no", "this question offers nothing for the session")
	case n == nil:
		return 0, nil
	case *n < 0 || *n >= of:
		return 0, usage.Mistake(fmt.Sprintf("offers are counted from 0, and there are %d", of), "there is no offer %d", *n)
	}
	return *n, nil
}
