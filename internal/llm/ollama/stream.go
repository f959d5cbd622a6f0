package ollama

import (
	"encoding/json"
	"io"

	"adze/internal/llm/wire"
	"adze/session"
)

// The stream has one JSON object per line.
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

type answer struct {
	wire.Answer

	reason  string
	stopped bool // done:true
	came    tally
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	lines := wire.NewLines(a.Reply)
	for !a.stopped {
		line, err := lines.Next()
		if err == io.EOF {
			return a.Client.Ended()
		}
		if err != nil {
			return a.Client.Framing(err)
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
	if err := a.Decode(line, last, &c); err != nil {
		return err
	}
	if wire.IsSet(c.Error) {
		return a.Client.Object(c.Error)
	}
	m := c.Message.V
	if m.Content != "" || m.Thinking != "" || len(m.Calls.V) > 0 {
		a.Reply.Content()
	}
	a.came.take(m.Content, m.Thinking)
	if err := a.Chunks.Reasoning(m.Thinking); err != nil {
		return err
	}
	if err := a.Chunks.Text(m.Content); err != nil {
		return err
	}
	for _, f := range m.Calls.V {
		if err := a.AddCall(f.ID, f.Function.Name, f.Function.Arguments, nil); err != nil {
			return err
		}
	}
	if c.Done {
		a.stopped, a.reason = true, string(c.Reason)
		a.Done.Usage = session.Usage{Input: int(c.PromptCount), Output: int(c.EvalCount)}
		a.Reply.MarkEnd()
	}
	return nil
}

// conclude maps the reason and releases the calls; calls take precedence over the reason.
func (a *answer) conclude() error {
	if finished, err := a.Ending(a.reason, ""); !finished {
		return err
	}
	if a.Calls.Len() == 0 { // the tokens of a call are in the call
		a.Done.Lost = a.came.lost(a.Done.Usage.Output)
	}
	return a.Conclude(nil)
}
