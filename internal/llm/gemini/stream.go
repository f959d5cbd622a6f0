package gemini

import (
	"encoding/json"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
)

// The fields of a stream chunk that adze uses.
type (
	chunk struct {
		Candidates wire.Maybe[[]candidate] `json:"candidates"`
		Usage      wire.Lenient[usage]     `json:"usageMetadata"`
		Error      json.RawMessage         `json:"error"`
		Feedback   wire.Maybe[struct {
			Reason  wire.Word `json:"blockReason"`
			Message wire.Word `json:"blockReasonMessage"`
		}] `json:"promptFeedback"`
		// Set if the server wraps the chunk: Code Assist.
		Response json.RawMessage `json:"response"`
	}
	candidate struct {
		Index   wire.Number `json:"index"`
		Content wire.Maybe[struct {
			Parts wire.Maybe[[]received] `json:"parts"`
		}] `json:"content"`
		Finish  wire.Word `json:"finishReason"`
		Message wire.Word `json:"finishMessage"`
	}
	received struct {
		Text      string            `json:"text"`
		Thought   bool              `json:"thought"`
		Signature string            `json:"thoughtSignature"`
		Call      *wire.Maybe[call] `json:"functionCall"`
	}
	call struct {
		ID   wire.Word       `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	usage struct {
		Prompt   wire.Count `json:"promptTokenCount"`
		Tools    wire.Count `json:"toolUsePromptTokenCount"`
		Answer   wire.Count `json:"candidatesTokenCount"`
		Thoughts wire.Count `json:"thoughtsTokenCount"`
		Cached   wire.Count `json:"cachedContentTokenCount"` // included in Prompt
		Total    wire.Count `json:"totalTokenCount"`
	}
)

type answer struct {
	wire.Answer

	finish  string
	message string // explains finish
	hasty   bool   // the server sends a reason with every chunk
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	_, err := a.Read(new(bool), func(e wire.Event, last bool) error { return a.event(e.Data, last) }, a.single)
	switch {
	case err != nil:
		return err
	case a.finish == "":
		return a.Client.Ended()
	}
	return a.conclude()
}

// single reads the answer of a gateway that does not stream: one object or a list.
func (a *answer) single(body []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) != nil {
		return a.event(body, true)
	}
	for _, one := range list {
		if err := a.event(one, false); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) event(data []byte, last bool) error {
	var c chunk
	if err := a.Decode(data, last, &c); err != nil {
		return err
	}
	if len(c.Candidates.V) == 0 && wire.IsSet(c.Response) {
		return a.event(c.Response, last)
	}
	if wire.IsSet(c.Error) {
		return a.Client.Object(c.Error)
	}
	if c.Usage.Present {
		a.Counted(c.Usage.V.counts())
	}
	if f := c.Feedback.V; f.Reason != "" && f.Reason != "BLOCK_REASON_UNSPECIFIED" {
		return a.Client.Refused(strings.TrimSpace(string("prompt blocked: " + f.Reason + " " + f.Message)))
	}
	for _, one := range c.Candidates.V {
		if one.Index != 0 {
			continue
		}
		if err := a.candidate(one); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) candidate(c candidate) error {
	for _, p := range c.Content.V.Parts.V {
		if p.Text != "" || p.Call != nil {
			a.hasty = a.hasty || a.finish != ""
			a.finish = "" // a reason followed by more was not the end
			a.Reply.Content()
		}
		if err := a.part(p); err != nil {
			return err
		}
	}
	if c.Finish != "" && c.Finish != "FINISH_REASON_UNSPECIFIED" {
		a.finish, a.message = strings.ToUpper(string(c.Finish)), string(c.Message)
		if !a.hasty {
			a.Reply.MarkEnd()
		}
	}
	return nil
}

func (a *answer) part(p received) error {
	switch {
	case p.Call != nil:
		return a.call(p)
	case p.Thought:
		if p.Signature == "" {
			return a.Chunks.Reasoning(p.Text)
		}
		return a.Chunks.Send(session.Reasoning{Delta: p.Text, Opaque: wire.JSON(opaquePart{Signature: p.Signature, Calls: a.Calls.Len()})})
	}
	if err := a.Chunks.Text(p.Text); err != nil || p.Signature == "" {
		return err
	}
	return a.Chunks.Send(session.Reasoning{Opaque: wire.JSON(opaquePart{Signature: p.Signature, Text: true, Bytes: len(p.Text), Calls: a.Calls.Len()})})
}

// call reads a call, which this format always sends whole.
func (a *answer) call(p received) error {
	var opaque json.RawMessage
	if s := (opaquePart{ID: p.Call.V.ID != "", Signature: p.Signature}); s != (opaquePart{}) {
		opaque = wire.JSON(s)
	}
	return a.AddCall(p.Call.V.ID, p.Call.V.Name, p.Call.V.Args, opaque)
}

// conclude maps the finish reason and releases the calls; calls decide whether STOP means an end.
func (a *answer) conclude() error {
	if finished, err := a.Ending(a.finish, a.message); !finished {
		return err
	}
	return a.Conclude(nil)
}

// counts maps the usage. Candidate counts exclude thoughts.
func (u usage) counts() wire.Counts {
	return wire.Counts{Prompt: u.Prompt + u.Tools, Answer: u.Answer + u.Thoughts, Cached: u.Cached, Thoughts: u.Thoughts, Total: u.Total}
}
