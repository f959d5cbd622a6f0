package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"adze/session"
)

// A Player is a Provider that replays a recording. It is safe for concurrent use.
type Player struct {
	head   Header
	steps  []Step
	masker masker

	mu    sync.Mutex
	next  map[string]int // index of the next step, by conversation
	talks map[string]*talk
}

// NewPlayer reads a whole recording; its error gives the position of damage. Secrets are masked as
// in the recorder before comparison.
func NewPlayer(in io.Reader, secrets ...string) (*Player, error) {
	dec := json.NewDecoder(in)
	p := &Player{masker: newMasker(secrets), next: map[string]int{}, talks: map[string]*talk{}}
	if err := dec.Decode(&p.head); err != nil || p.head.Format == "" {
		return nil, fmt.Errorf("not a recording: its first value is no header (%w)", errors.Join(err))
	}
	if p.head.Format != Format {
		return nil, fmt.Errorf("the recording's format is %q; this adze reads %q", p.head.Format, Format)
	}
	for {
		var s Step
		err := dec.Decode(&s)
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the recording is damaged after step %d: %w", len(p.steps), err)
		}
		if s.Step != len(p.steps)+1 || len(s.Answer) == 0 || s.Answer[len(s.Answer)-1].Done == nil {
			return nil, fmt.Errorf("the recording is damaged: step %d is not whole", len(p.steps)+1)
		}
		p.steps = append(p.steps, s)
	}
}

// Name returns the recorded provider's name, so that a replayed run looks like the first.
func (p *Player) Name() string { return p.head.Provider }

// Model returns the recorded model's name.
func (p *Player) Model() string { return p.head.Model }

// Stream replays the next step if the request equals the recorded one.
func (p *Player) Stream(ctx context.Context, q session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		step, err := p.take(q)
		if err != nil {
			yield(session.Done{Stop: session.StopError, Err: err})
			return
		}
		for _, a := range step.Answer {
			if ctx.Err() != nil {
				yield(session.Done{Stop: session.StopAborted, Err: ctx.Err()})
				return
			}
			if c := a.chunk(); c != nil && !yield(c) {
				return
			}
		}
	}
}

func (p *Player) take(q session.Request) (Step, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := talkOf(q)
	if p.talks[name] == nil {
		p.talks[name] = &talk{}
	}
	at := p.next[name]
	for at < len(p.steps) && p.steps[at].talk() != name {
		at++
	}
	if at == len(p.steps) && q.Agent != "" && p.next[name] == 0 {
		return Step{}, failed(len(p.steps), "the recording has no subagent %s that was asked this: %.60q", q.Agent, firstWords(q))
	}
	if at == len(p.steps) {
		return Step{}, failed(len(p.steps)+1, "the recording has only %d steps", len(p.steps))
	}
	step := p.steps[at]
	if difference := p.masker.compare(step.NewMessages, p.masker.sent(p.talks[name].news(q.Messages))); difference != "" {
		return Step{}, failed(step.Step, "%s", difference)
	}
	p.next[name] = at + 1
	return step, nil
}

// compare describes the first relevant difference between recorded and current messages, or returns
// "".
func (m masker) compare(then, now []SentMessage) string {
	for i := range max(len(then), len(now)) {
		switch {
		case i >= len(now):
			return fmt.Sprintf("a message of the %s is missing", then[i].Role)
		case i >= len(then):
			return fmt.Sprintf("a message of the %s is new", now[i].Role)
		case then[i].Role != now[i].Role:
			return fmt.Sprintf("the %s speaks where the %s spoke", now[i].Role, then[i].Role)
		}
		if d := m.compareParts(then[i], now[i]); d != "" {
			return d
		}
	}
	return ""
}

func (m masker) compareParts(then, now SentMessage) string {
	for i := range max(len(then.Parts), len(now.Parts)) {
		var a, b SentPart
		if i < len(then.Parts) {
			a = then.Parts[i]
		}
		if i < len(now.Parts) {
			b = now.Parts[i]
		}
		was, is := spell(a), spell(b)
		if m.comparable(was) == m.comparable(is) {
			continue
		}
		what := "the message of the " + string(then.Role)
		if a.Outcome != nil {
			what = "the outcome of " + a.Outcome.Tool
		}
		return fmt.Sprintf("%s differs: recorded %s, now %s", what, around(was, is), around(is, was))
	}
	return ""
}

// spell returns a part as text for comparison.
func spell(p SentPart) string {
	if o := p.Outcome; o != nil {
		return string(o.Status) + ": " + o.Output
	}
	if c := p.Call; c != nil {
		return c.Name + " " + c.Arguments
	}
	return p.Text + p.Reasoning + p.Attachment
}

// around quotes the first difference with some preceding context.
func around(s, other string) string {
	at := 0
	for at < len(s) && at < len(other) && s[at] == other[at] {
		at++
	}
	from := max(0, at-20)
	piece := strings.ToValidUTF8(s[from:min(len(s), at+60)], "")
	return fmt.Sprintf("%q at byte %d", piece, at)
}
