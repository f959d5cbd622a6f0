package prompt

import (
	"cmp"
	"slices"
	"strings"

	"adze/session/api"
)

// Enqueue queues a message for the end of the turn.
func (p *Line) Enqueue(m api.Prompt) { p.queue = append(p.queue, m) }

// Unsent puts a message that was not accepted before the queued ones.
func (p *Line) Unsent(m api.Prompt) { p.queue = append([]api.Prompt{m}, p.queue...) }

// Steered records a message passed to the agent but not read yet.
func (p *Line) Steered(m api.Prompt) { p.steering = append(p.steering, m) }

// Queued returns the number of queued messages.
func (p *Line) Queued() int { return len(p.queue) }

// Unqueue moves the queued messages back into the prompt.
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

// Unsteer queues messages that the agent did not read before its turn ended.
func (p *Line) Unsteer() { p.queue, p.steering = append(p.steering, p.queue...), nil }

// Next removes and returns the first queued message.
func (p *Line) Next() (api.Prompt, bool) {
	if len(p.queue) == 0 {
		return api.Prompt{}, false
	}
	first := p.queue[0]
	p.queue = p.queue[1:]
	return first, true
}

// Waits returns the texts of queued messages, and those that the agent has not read yet.
func (p *Line) Waits() (queued, steered []string) {
	for _, q := range p.queue {
		queued = append(queued, q.Text)
	}
	for _, s := range p.steering {
		steered = append(steered, s.Text)
	}
	return queued, steered
}

// Withdraw removes a queued message by its text; it returns false if there is none.
func (p *Line) Withdraw(text string) bool {
	at := slices.IndexFunc(p.queue, func(q api.Prompt) bool { return q.Text == text })
	if at < 0 {
		return false
	}
	p.queue = slices.Delete(p.queue, at, at+1)
	return true
}

// takeBack moves the last queued message into an empty prompt.
func (p *Line) takeBack() bool {
	n := len(p.queue) - 1
	if n < 0 || !p.Empty() {
		return false
	}
	p.Set(written(p.queue[n]))
	p.queue = p.queue[:n]
	return true
}

// waiting returns the messages not read yet, with their labels.
func (p *Line) waiting() (lead, text []string) {
	for _, s := range p.steering {
		lead, text = append(lead, "before the next step: "), append(text, written(s))
	}
	for _, q := range p.queue {
		lead, text = append(lead, "next: "), append(text, written(q))
	}
	return lead, text
}

// written returns the message as written, pastes folded.
func written(p api.Prompt) string {
	return cmp.Or(p.Draft, p.Text)
}
