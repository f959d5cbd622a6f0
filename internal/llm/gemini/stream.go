package gemini

import (
	"encoding/json"
	"io"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
)

// What a stream is made of; fields that are not here are not needed.
type (
	chunk struct {
		Candidates []candidate     `json:"candidates"`
		Usage      *usage          `json:"usageMetadata"`
		Error      json.RawMessage `json:"error"`
		Feedback   struct {
			Reason  string `json:"blockReason"`
			Message string `json:"blockReasonMessage"`
		} `json:"promptFeedback"`
	}
	candidate struct {
		Index   int `json:"index"`
		Content struct {
			Parts []received `json:"parts"`
		} `json:"content"`
		Finish  string `json:"finishReason"`
		Message string `json:"finishMessage"`
	}
	received struct {
		Text      string `json:"text"`
		Thought   bool   `json:"thought"`
		Signature string `json:"thoughtSignature"`
		Call      *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
	}
	usage struct {
		Prompt   int `json:"promptTokenCount"`
		Tools    int `json:"toolUsePromptTokenCount"`
		Answer   int `json:"candidatesTokenCount"`
		Thoughts int `json:"thoughtsTokenCount"`
		Cached   int `json:"cachedContentTokenCount"` // part of Prompt
	}
)

// answer reads one stream.
type answer struct {
	client *wire.Client
	reply  *wire.Reply
	out    *wire.Out
	calls  wire.Calls
	done   session.Done

	finish  string
	message string // of finish
	hasty   bool   // the server gives a reason with every chunk
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	if err := a.events(); err != nil {
		return err
	}
	if a.finish == "" {
		return a.client.Ended()
	}
	return a.conclude()
}

func (a *answer) events() error {
	if strings.HasPrefix(a.reply.ContentType(), "application/json") {
		return a.single()
	}
	events := wire.NewEvents(a.reply)
	for {
		event, err := events.Next()
		if err == io.EOF || a.reply.OnlyTail(err) {
			return nil
		}
		if err != nil {
			return a.client.Framing(err)
		}
		if err := a.event(event.Data, events.Unfinished()); err != nil {
			return err
		}
	}
}

// single reads the answer of a gateway that does not stream events: one object, or a list of them.
func (a *answer) single() error {
	body, err := io.ReadAll(io.LimitReader(a.reply, wire.MaxLine))
	if err != nil {
		return err
	}
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
	if err := json.Unmarshal(data, &c); err != nil {
		return a.client.Malformed(data, last)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return explained(a.client.Object(c.Error))
	}
	if c.Usage != nil {
		a.done.Usage = c.Usage.count()
	}
	if reason := c.Feedback.Reason; reason != "" && reason != "BLOCK_REASON_UNSPECIFIED" {
		return a.client.Refused(strings.TrimSpace("prompt blocked: " + reason + " " + c.Feedback.Message))
	}
	for _, one := range c.Candidates {
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
	for _, p := range c.Content.Parts {
		if p.Text != "" || p.Call != nil {
			a.hasty = a.hasty || a.finish != ""
			a.finish = "" // an end that is followed by more was none
			a.reply.Content()
		}
		if err := a.part(p); err != nil {
			return err
		}
	}
	if c.Finish != "" && c.Finish != "FINISH_REASON_UNSPECIFIED" {
		a.finish, a.message = c.Finish, c.Message
		if !a.hasty {
			a.reply.Settle()
		}
	}
	return nil
}

func (a *answer) part(p received) error {
	switch {
	case p.Call != nil:
		return a.call(p)
	case p.Thought:
		r := session.Reasoning{Delta: p.Text}
		if p.Signature != "" {
			r.Opaque = wire.JSON(sealed{Signature: p.Signature})
		}
		if p.Text == "" && p.Signature == "" {
			return nil
		}
		return a.out.Send(r)
	}
	if err := a.out.Text(p.Text); err != nil || p.Signature == "" {
		return err
	}
	return a.out.Send(session.Reasoning{Opaque: wire.JSON(sealed{Signature: p.Signature, Text: true, Bytes: len(p.Text)})})
}

// call takes a call, which this format always sends whole.
func (a *answer) call(p received) error {
	arguments, err := wire.Arguments(p.Call.Args)
	if err != nil {
		return a.client.Framing(err)
	}
	f := wire.Fragment{New: true, ID: p.Call.ID, Index: a.calls.Len(), Name: p.Call.Name, Arguments: arguments}
	if s := (sealed{ID: p.Call.ID != "", Signature: p.Signature}); s != (sealed{}) {
		f.Opaque = wire.JSON(s)
	}
	forming, err := a.calls.Add(f)
	if err != nil {
		return a.client.Framing(err)
	}
	return a.out.Send(forming)
}

// conclude maps the reason and releases the calls; calls decide whether STOP means an end.
func (a *answer) conclude() error {
	switch a.finish {
	case "STOP":
	case "MAX_TOKENS":
		a.done.Stop = session.StopLength
		return nil
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY":
		return a.client.Refused(strings.TrimSpace(a.finish + " " + a.message))
	default:
		// MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, OTHER: the model stumbled, and may not again.
		return a.client.Object(wire.JSON(strings.TrimSpace("the model stopped with " + a.finish + " " + a.message)))
	}
	if a.calls.Len() == 0 {
		a.done.Stop = session.StopEnd
		return nil
	}
	calls, err := a.calls.Release()
	if err != nil {
		return a.client.Framing(err)
	}
	a.done.Stop = session.StopCalls
	return a.out.Release(calls)
}

// count maps the usage; what a server invents below zero is nothing.
func (u usage) count() session.Usage {
	cached, thoughts := max(0, u.Cached), max(0, u.Thoughts)
	return session.Usage{
		Input: max(0, u.Prompt+max(0, u.Tools)-cached), Output: max(0, u.Answer) + thoughts,
		CacheRead: cached, Reasoning: thoughts,
	}
}
