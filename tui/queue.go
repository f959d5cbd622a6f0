package tui

import "strings"

// enqueue has a message wait for the end of the turn.
func (p *prompt) enqueue(m Prompt) { p.queue = append(p.queue, m) }

// unsent puts a message that was not taken before those that wait.
func (p *prompt) unsent(m Prompt) { p.queue = append([]Prompt{m}, p.queue...) }

// steered remembers a message that the agent has but has not read yet.
func (p *prompt) steered(m Prompt) { p.steering = append(p.steering, m) }

// queued counts the messages that wait.
func (p *prompt) queued() int { return len(p.queue) }

// unqueue puts the messages that wait back into the prompt.
func (p *prompt) unqueue() {
	if len(p.queue) == 0 {
		return
	}
	var parts []string
	for _, q := range p.queue {
		parts = append(parts, written(q))
	}
	if !p.empty() {
		parts = append(parts, p.text)
	}
	p.set(strings.Join(parts, "\n"))
	p.queue = nil
}

// unsteer queues what the agent was given but did not read before its turn was over.
func (p *prompt) unsteer() { p.queue, p.steering = append(p.steering, p.queue...), nil }

// next takes the first message that waits.
func (p *prompt) next() (Prompt, bool) {
	if len(p.queue) == 0 {
		return Prompt{}, false
	}
	first := p.queue[0]
	p.queue = p.queue[1:]
	return first, true
}

// takeBack puts the message that was queued last into an empty prompt.
func (p *prompt) takeBack() bool {
	n := len(p.queue) - 1
	if n < 0 || !p.empty() {
		return false
	}
	p.set(written(p.queue[n]))
	p.queue = p.queue[:n]
	return true
}

// waiting lists what was sent and not yet read, with what is said of it.
func (p *prompt) waiting() (lead, text []string) {
	for _, s := range p.steering {
		lead, text = append(lead, "before the next step: "), append(text, written(s))
	}
	for _, q := range p.queue {
		lead, text = append(lead, "next: "), append(text, written(q))
	}
	return lead, text
}

// written is the message as it stood in the prompt, pastes folded.
func written(p Prompt) string {
	if p.Draft != "" {
		return p.Draft
	}
	return p.Text
}
