package openai

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
		Choices []choice        `json:"choices"`
		Usage   *usage          `json:"usage"`
		Error   json.RawMessage `json:"error"`
		// Message is in the error of older vLLM servers: {"object":"error","message":...}.
		Message string `json:"message"`
	}
	choice struct {
		Index   int    `json:"index"`
		Delta   delta  `json:"delta"`
		Message *delta `json:"message"` // from a server that does not stream
		Finish  string `json:"finish_reason"`
	}
	delta struct {
		Content          content           `json:"content"`
		Reasoning        string            `json:"reasoning"`         // OpenRouter, vLLM, Ollama
		ReasoningContent string            `json:"reasoning_content"` // DeepSeek, llama.cpp
		Details          []json.RawMessage `json:"reasoning_details"` // OpenRouter
		Refusal          string            `json:"refusal"`
		Calls            []fragment        `json:"tool_calls"`
	}
	fragment struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
		Extra json.RawMessage `json:"extra_content"`
	}
	usage struct {
		Prompt        int `json:"prompt_tokens"`
		Completion    int `json:"completion_tokens"`
		PromptDetails struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
		CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek
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
	ended   bool // [DONE]
	choices bool // there was one
	refused bool
	chunk   bool // a thought that came among the content is not closed
	details details
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	if err := a.events(); err != nil {
		return err
	}
	if a.finish == "" && !a.ended {
		return a.client.Ended()
	}
	if !a.choices {
		return a.client.Bad("sent an answer without choices")
	}
	return a.conclude()
}

func (a *answer) events() error {
	if strings.HasPrefix(a.reply.ContentType(), "application/json") {
		return a.single()
	}
	events := wire.NewEvents(a.reply)
	for !a.ended {
		event, err := events.Next()
		if err == io.EOF {
			return nil
		}
		if a.reply.OnlyTail(err) {
			return nil
		}
		if err != nil {
			return a.client.Framing(err)
		}
		if err := a.event(event.Data, events.Unfinished()); err != nil {
			return err
		}
	}
	return nil
}

// single reads the answer of a server that does not stream.
func (a *answer) single() error {
	body, err := io.ReadAll(io.LimitReader(a.reply, wire.MaxLine))
	if err != nil {
		return err
	}
	return a.event(body, true)
}

func (a *answer) event(data []byte, last bool) error {
	if string(data) == "[DONE]" {
		a.ended = true
		a.reply.Settle()
		return nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return a.client.Malformed(data, last)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return a.client.Object(c.Error)
	}
	if c.Message != "" && len(c.Choices) == 0 {
		return a.client.Object(wire.JSON(c.Message))
	}
	if c.Usage != nil {
		a.done.Usage = c.Usage.count()
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if err := a.choice(choice); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) choice(c choice) error {
	a.choices = true
	if c.Message != nil {
		c.Delta = *c.Message
	}
	if err := a.delta(c.Delta); err != nil {
		return err
	}
	if c.Finish != "" {
		a.finish = c.Finish
		a.reply.Settle()
	}
	return nil
}

func (a *answer) delta(d delta) error {
	thought := d.ReasoningContent
	if thought == "" {
		thought = d.Reasoning
	}
	told, err := a.details.add(d.Details)
	if err != nil {
		return a.client.Framing(err)
	}
	if thought == "" {
		thought = told
	}
	if len(d.Content) > 0 || thought != "" || len(d.Details) > 0 || len(d.Calls) > 0 {
		a.reply.Content()
		a.finish = "" // an end that is followed by more was none
	}
	if err := a.out.Reasoning(thought); err != nil {
		return err
	}
	for _, p := range d.Content {
		if err := a.piece(p); err != nil {
			return err
		}
	}
	a.refused = a.refused || d.Refusal != ""
	if err := a.out.Text(d.Refusal); err != nil {
		return err
	}
	for i, f := range d.Calls {
		if err := a.fragment(f, i); err != nil {
			return err
		}
	}
	return nil
}

// piece passes on a piece of the content. A thought among it is closed by the text that follows.
func (a *answer) piece(p piece) error {
	if p.thought {
		a.chunk = true
		return a.out.Reasoning(p.text)
	}
	if err := a.closeThought(); err != nil {
		return err
	}
	return a.out.Text(p.text)
}

func (a *answer) closeThought() error {
	if !a.chunk {
		return nil
	}
	a.chunk = false
	return a.out.Send(session.Reasoning{Opaque: wire.JSON(kept{Chunk: true})})
}

// seal closes the thinking with what must go back with it.
func (a *answer) seal() error {
	if err := a.closeThought(); err != nil {
		return err
	}
	list := a.details.list()
	if len(list) == 0 {
		return nil
	}
	return a.out.Send(session.Reasoning{Opaque: wire.JSON(kept{Details: list})})
}

func (a *answer) fragment(f fragment, position int) error {
	arguments, err := wire.Arguments(f.Function.Arguments)
	if err != nil {
		return a.client.Framing(err)
	}
	index := -1
	if f.Index != nil {
		index = *f.Index
	}
	forming, err := a.calls.Add(wire.Fragment{
		ID: f.ID, Index: index, Position: position, Name: f.Function.Name, Arguments: arguments, Opaque: f.Extra,
	})
	if err != nil {
		return a.client.Framing(err)
	}
	return a.out.Send(forming)
}

// conclude maps the reason and releases the calls; calls decide, not the reason.
func (a *answer) conclude() error {
	if err := a.seal(); err != nil {
		return err
	}
	switch end := endOf(a.finish); {
	case end == session.StopLength:
		a.done.Stop = end
		return nil
	case a.refused:
		return a.client.Refused("the model declined")
	case end == session.StopRefused:
		return a.client.Refused(a.finish)
	case end == session.StopError:
		return a.client.Object(wire.JSON("the model stopped with " + a.finish))
	case a.calls.Len() == 0:
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
	cached := max(0, u.PromptDetails.Cached, u.CacheHit)
	return session.Usage{
		Input: max(0, u.Prompt-cached), Output: max(0, u.Completion), CacheRead: cached,
		Reasoning: max(0, u.CompletionDetails.Reasoning),
	}
}
