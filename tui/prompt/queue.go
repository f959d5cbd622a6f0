package prompt

import (
	"cmp"
	"slices"
	"strings"

	"adze/session/api"
)

// Enqueue has a message wait for the end of the turn.
func (p *Line) Enqueue(m api.Prompt) { p.queue = append(p.queue, m) }

// Unsent puts a message that was not taken before those that wait.
func (p *Line) Unsent(m api.Prompt) { p.queue = append([]api.Prompt{m}, p.queue...) }

// Steered remembers a message that the agent has but has not read yet.
func (p *Line) Steered(m api.Prompt) { p.steering = append(p.steering, m) }

// Queued counts the messages that wait.
func (p *Line) Queued() int { return len(p.queue) }

// Unqueue puts the messages that wait back into the prompt.
func (p *Line) Unqueue() {
	if len(p.queue) == 0 {
		return
	}
	var parts []string
	for _, q := range p.queue {
		parts = append(parts, written(q))
	}
	if !p.Empty() {
		parts = append(parts, p.Text)
	}
	p.Set(strings.Join(parts, "\n"))
	p.queue = nil
}

// Unsteer queues what the agent was given but did not read before its turn was over.
func (p *Line) Unsteer() { p.queue, p.steering = append(p.steering, p.queue...), nil }

// Next takes the first message that waits.
func (p *Line) Next() (api.Prompt, bool) {
	if len(p.queue) == 0 {
		return api.Prompt{}, false
	}
	first := p.queue[0]
	p.queue = p.queue[1:]
	return first, true
}

// Waits are the texts of the messages that wait, and of those that the agent has not read yet.
func (p *Line) Waits() (queued, steered []string) {
	for _, q := range p.queue {
		queued = append(queued, q.Text)
	}
	for _, s := range p.steering {
		steered = append(steered, s.Text)
	}
	return queued, steered
}

// Withdraw takes a message of this text out of those that wait; if false, none is there.
func (p *Line) Withdraw(text string) bool {
	at := slices.IndexFunc(p.queue, func(q api.Prompt) bool { return q.Text == text })
	if at < 0 {
		return false
	}
	p.queue = slices.Delete(p.queue, at, at+1)
	return true
}

// takeBack puts the message that was queued last into an empty prompt.
func (p *Line) takeBack() bool {
	n := len(p.queue) - 1
	if n < 0 || !p.Empty() {
		return false
	}
	p.Set(written(p.queue[n]))
	p.queue = p.queue[:n]
	return true
}

// waiting lists what was sent and not yet read, with what is said of it.
func (p *Line) waiting() (lead, text []string) {
	for _, s := range p.steering {
		lead, text = append(lead, "before the next step: "), append(text, written(s))
	}
	for _, q := range p.queue {
		lead, text = append(lead, "next: "), append(text, written(q))
	}
	return lead, text
}

// written is the message as it stood in the prompt, pastes folded.
func written(p api.Prompt) string {
	return cmp.Or(p.Draft, p.Text)
}
