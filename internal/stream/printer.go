// Package stream prints a headless run: it turns session events into text, one JSON object, or JSON
// lines on stdout, with progress on stderr.
//
// The one rule: stdout has only documented output and always ends with exactly one result. Foreign
// text is escaped by safeterm or JSON on both streams.
//
// Start reading at Printer.Observe; the lines are in line.go (documented in docs/scripts.md), the
// exit codes in exit.go.
//
// Known limits: a reader that does not read blocks the run, because nothing is dropped.
package stream

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"

	"adze/internal/text/redact"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
)

// Format is the format of stdout.
type Format string

// Values of --output-format.
const (
	Text       Format = "text"
	JSON       Format = "json"
	StreamJSON Format = "stream-json"
)

// ParseFormat parses a value of --output-format.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case Text, JSON, StreamJSON:
		return f, nil
	}
	return "", fmt.Errorf("unknown output format %q: want text, json or stream-json", s)
}

// A Printer prints one run. It is safe for concurrent use.
type Printer struct {
	Out, Err io.Writer
	Format   Format
	// Closed is called once when the reader of Out is gone.
	Closed func(error)
	// Mask hides secrets. If nil, only those with a known form are hidden.
	Mask func() *redact.Masker
	// Mode returns the current permission mode. If nil, the first line's mode stays.
	Mode func() string
	// Prompts also prints the user's messages, for a reader that did not send them.
	Prompts bool

	mu       sync.Mutex
	head     Head
	waiting  bool  // for the session's first commit, with the first line
	queued   []any // lines after the first line
	unsaved  bool  // current events cannot be stored
	later    []any // lines to print after storage
	broken   error
	finished bool
	arriving messageText
}

// Head is the first line's content.
type Head struct {
	Version        string   `json:"version"`
	Session        string   `json:"session"`
	Cwd            string   `json:"cwd"`
	Model          string   `json:"model"`
	Provider       string   `json:"provider"`
	Tools          []string `json:"tools"`
	PermissionMode string   `json:"permission_mode"`
	Agent          string   `json:"agent,omitempty"` // the conversation's main agent
	Sandbox        Sandbox  `json:"sandbox"`
	// Ignored counts the project's items without consent.
	Ignored int `json:"project_items_ignored"`
	// Waiting names those that the user can allow.
	Waiting []string `json:"project_items_waiting,omitempty"`
}

// Sandbox is the reported level (full, degraded or none) and its mechanism.
type Sandbox struct {
	Level       string `json:"level"`
	Explanation string `json:"how"`
}

// Begin sets the first line. It is printed when the first message is stored, so that a reader can
// resume that session.
func (p *Printer) Begin(h Head) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.head, p.waiting = h, true
}

// Open prints the first line now: a program that controls a conversation reads it before it sends
// anything. The session is stored with the first prompt.
func (p *Printer) Open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting {
		p.begin()
	}
}

// begin prints the first line and those that waited for it.
func (p *Printer) begin() {
	p.waiting = false
	p.line(initLine{Type: "init", Schema: Schema, Head: p.head})
	for _, l := range p.queued {
		p.line(l)
	}
	p.queued = nil
}

// Observe prints one event. It blocks while the reader does; nothing is dropped.
func (p *Printer) Observe(e session.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return
	}
	if p.waiting && begins(e) {
		p.begin()
	}
	if p.Format == StreamJSON {
		p.changes(e)
		p.stream(e)
	}
	if p.Format == Text || p.Format == JSON && isNotice(e) { // the JSON object has no field for a notice
		p.progress(e)
	}
}

// changes prints a changed permission mode or model.
func (p *Printer) changes(e session.Event) {
	if p.Mode != nil {
		p.modeIs(p.Mode())
	}
	if r, ok := e.(session.Requested); ok && r.Parent == "" && r.Message != "" {
		p.modelIs(r.Provider, r.Model)
	}
}

func (p *Printer) modeIs(mode string) {
	if mode != p.head.PermissionMode {
		p.head.PermissionMode = mode
		p.event(modeLine{"mode", mode})
	}
}

func (p *Printer) modelIs(provider, model string) {
	if provider != p.head.Provider || model != p.head.Model {
		p.head.Provider, p.head.Model = provider, model
		p.event(modelLine{"model", provider, model})
	}
}

// PrintMode prints a mode or model set without an event.
func (p *Printer) PrintMode(mode, provider, model string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished || p.Format != StreamJSON {
		return
	}
	p.modeIs(mode)
	p.modelIs(provider, model)
}

// begins reports whether an event follows the session's first commit: a user's message, or a call.
func begins(e session.Event) bool {
	switch e := e.(type) {
	case session.MessageDone:
		return e.Message.Role == session.User
	case session.ToolStart, session.ToolAsk:
		return true
	}
	return false
}

func isNotice(e session.Event) bool {
	switch e := e.(type) {
	case session.Notice:
		return true
	case session.MessageDone:
		return e.Message.Note
	}
	return false
}

// Finish prints the result and returns the exit code. Only the first call has an effect.
func (p *Printer) Finish(r session.Result) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	code := ExitCode(r.Cause)
	if p.finished {
		return code
	}
	switch p.Format {
	case Text:
		text := r.Text
		if r.Structured != nil {
			text = string(r.Structured) // without the model's code fence
		}
		if text != "" {
			// A key in the answer itself may be the user's request, unless it is one of the user's
			// own.
			p.writeText(p.mask().RedactKnown(safeterm.Clean(text).String()))
			if !strings.HasSuffix(text, "\n") {
				p.writeText("\n")
			}
		}
	default:
		p.waiting = false
		for _, l := range p.queued { // from a run whose session could not begin
			p.line(l)
		}
		p.endStreams()
		p.emit(resultOf(r, p.head))
	}
	p.finished = true
	if r.Cause != session.CauseDone && r.Cause != session.CauseClosed {
		Complain(p.stderr(), r.Message, r.Hint)
	}
	if p.broken == nil {
		return code
	}
	if !errors.Is(p.broken, syscall.EPIPE) { // a reader that left knows; a full disk is silent
		Complain(p.stderr(), p.broken.Error(), "the answer is incomplete there")
	}
	return ExitCode(session.CauseClosed)
}

// Complain prints an error and the next step: "adze: error: …", then "hint: …".
func Complain(w io.Writer, message, hint string) {
	if message == "" {
		message = "the run failed"
	}
	fmt.Fprintf(w, "adze: error: %s\n", safeterm.Clean(message))
	for line := range strings.SplitSeq(hint, "\n") {
		if line != "" {
			fmt.Fprintf(w, "hint: %s\n", safeterm.Clean(line))
		}
	}
}

// line prints one line of stream-json; other formats have none.
func (p *Printer) line(l any) {
	switch {
	case p.Format != StreamJSON || l == nil:
	case p.waiting:
		p.queued = append(p.queued, l)
	default:
		p.emit(l)
	}
}

func (p *Printer) write(raw []byte) {
	p.out(func() (int, error) { return p.Out.Write(escapeHidden(raw)) })
}

func (p *Printer) writeText(s string) {
	p.out(func() (int, error) { return io.WriteString(p.Out, s) })
}

// out calls write unless an earlier write failed.
func (p *Printer) out(write func() (int, error)) {
	if p.broken != nil {
		return
	}
	if _, err := write(); err != nil {
		p.broken = err
		if p.Closed != nil {
			p.Closed(err)
		}
	}
}

// progress informs the user on stderr while stdout waits for the answer.
func (p *Printer) progress(e session.Event) {
	switch e := e.(type) {
	case session.ToolEnd:
		o := e.Outcome
		line := o.Headed().String()
		if o.Status != tool.Completed && o.Code != tool.CodeExit { // the heading contains the exit code
			line += " · " + tool.InWords(cmp.Or(o.Code, string(o.Status)))
		}
		fmt.Fprintf(p.stderr(), "%s %s%s\n", mark(o.Status), of(e.Agent), safeterm.Name(line))
	case session.ToolAsk:
		if e.Decision != nil && !e.Decision.Allow {
			fmt.Fprintf(p.stderr(), "! %s%s denied: %s\n", of(e.Agent), safeterm.Name(e.Tool), safeterm.Name(e.Decision.Reason))
		}
	case session.Retry:
		fmt.Fprintf(p.stderr(), "! %s; attempt %d of %d in %s\n", safeterm.Name(e.Cause), e.Attempt, e.Of, e.Delay.Round(100_000_000))
	case session.Notice:
		fmt.Fprintf(p.stderr(), "! %s\n", strings.ReplaceAll(safeterm.Clean(e.Text).String(), "\n", "\n  "))
	case session.Claimed:
		for _, c := range e.Claims {
			fmt.Fprintf(p.stderr(), "! %s\n", safeterm.Name(c.String()))
		}
	case session.MessageDone:
		if e.Message.Note {
			for line := range strings.SplitSeq(e.Message.NoteText(), "\n") {
				fmt.Fprintf(p.stderr(), "! %s\n", safeterm.Name(line))
			}
		}
	case session.Compacted:
		fmt.Fprintf(p.stderr(), "! %s\n", safeterm.Name(e.String()))
	case session.PrefixChanged:
		if !e.Change.Expected {
			fmt.Fprintf(p.stderr(), "! warning: %s\n", safeterm.Name(e.Change.String()))
		}
	}
}

// of returns the prefix for a subagent's call.
func of(agent string) safeterm.Text {
	if agent == "" {
		return safeterm.Text{}
	}
	return safeterm.Name(agent + " › ")
}
