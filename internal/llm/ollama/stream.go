package ollama

import (
	"encoding/json"
	"io"

	"adze/internal/llm/wire"
	"adze/session"
)

// What a stream is made of: one JSON object a line.
type (
	chunk struct {
		Message wire.Maybe[struct {
			Content  string                 `json:"content"`
			Thinking string                 `json:"thinking"`
			Calls    wire.Maybe[[]received] `json:"tool_calls"`
		}] `json:"message"`
		Done        bool            `json:"done"`
		Reason      wire.Word       `json:"done_reason"`
		Error       json.RawMessage `json:"error"`
		PromptCount wire.Count      `json:"prompt_eval_count"`
		EvalCount   wire.Count      `json:"eval_count"`
	}
	received struct {
		ID       wire.Word `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
)

// answer reads one stream.
type answer struct {
	client *wire.Client
	reply  *wire.Reply
	out    *wire.Out
	calls  wire.Calls
	done   session.Done

	reason  string
	stopped bool // done:true
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	lines := wire.NewLines(a.reply)
	for !a.stopped {
		line, err := lines.Next()
		if err == io.EOF {
			return a.client.Ended()
		}
		if err != nil {
			return a.client.Framing(err)
		}
		if len(line) == 0 {
			continue
		}
		if err := a.line(line, lines.Unfinished()); err != nil {
			return err
		}
	}
	return a.conclude()
}

func (a *answer) line(line []byte, last bool) error {
	var c chunk
	if err := json.Unmarshal(line, &c); err != nil {
		return a.client.Malformed(line, last)
	}
	if wire.Given(c.Error) {
		return a.client.Object(c.Error)
	}
	m := c.Message.V
	if m.Content != "" || m.Thinking != "" || len(m.Calls.V) > 0 {
		a.reply.Content()
	}
	if err := a.out.Reasoning(m.Thinking); err != nil {
		return err
	}
	if err := a.out.Text(m.Content); err != nil {
		return err
	}
	for _, f := range m.Calls.V {
		if err := a.call(f); err != nil {
			return err
		}
	}
	if c.Done {
		a.stopped, a.reason = true, string(c.Reason)
		a.done.Usage = session.Usage{Input: int(c.PromptCount), Output: int(c.EvalCount)}
		a.reply.Settle()
	}
	return nil
}

// call takes a call, which Ollama always sends whole.
func (a *answer) call(f received) error {
	arguments, err := wire.Arguments(f.Function.Arguments)
	if err != nil {
		return a.client.Framing(err)
	}
	forming, err := a.calls.Add(wire.Fragment{
		New: true, ID: string(f.ID), Index: a.calls.Len(), Name: f.Function.Name, Arguments: arguments,
	})
	if err != nil {
		return a.client.Framing(err)
	}
	return a.out.Send(forming)
}

// conclude maps the reason and releases the calls; calls decide, not the reason.
func (a *answer) conclude() error {
	switch {
	case a.reason == "length":
		a.done.Stop = session.StopLength
		return nil
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
