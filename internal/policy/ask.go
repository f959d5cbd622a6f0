package policy

import (
	"context"
	"errors"
	"strings"
	"sync"

	"adze/tool"
)

// An Asker puts a question to the user. Contract:
//   - it is never called twice at the same time;
//   - it returns ctx.Err() if ctx ends first;
//   - an error means no; ErrNobody means that nobody answered.
type Asker func(ctx context.Context, q tool.Question, p Prompt) (Answer, error)

// ErrNobody is an Asker's error once no user is present.
var ErrNobody = errors.New("nobody is there to ask")

// A Prompt asks the user about the open needs of a call.
type Prompt struct {
	Items []Item
	// Offers lists the possible grants for Session, narrowest first; empty if Session is not
	// available.
	Offers []Offer
	// NoOffer explains empty Offers.
	NoOffer string
	// Edits: mode edits may be chosen and would allow everything.
	Edits bool
}

// An Item is one need in a Prompt.
type Item struct {
	Need   tool.Need
	Target string // resolved: an absolute path, a command's argument vectors, an address
	Reason string
}

// Choice is the user's answer.
type Choice string

const (
	Once    Choice = "once"
	Session Choice = "session" // an offer's rules apply until the process ends
	No      Choice = "no"
)

// An Answer is the user's answer. Reason is passed to the model with No. Change replaces the call,
// with Once. Offer selects one of the Prompt's, with Session.
type Answer struct {
	Choice Choice
	Reason string
	Change *tool.Change
	Offer  int
	Client string // another window that answered
}

// askPerson waits for its turn and judges again, because the previous answer may have decided it.
func (p *Policy) askPerson(ctx context.Context, q tool.Question) (tool.Decision, error) {
	if q.Waits != nil {
		defer q.Waits()()
	}
	p.wait.Add(1)
	select {
	case p.turn <- struct{}{}:
		p.wait.Add(-1)
		defer func() { <-p.turn }()
	case <-ctx.Done():
		p.wait.Add(-1)
		return tool.Decision{}, ctx.Err()
	}
	for {
		p.mu.RLock()
		moved := p.moved
		p.mu.RUnlock()
		verdicts := p.judgeAll(p.modeFor(q), q)
		if d, no := denied(verdicts); no {
			return d, nil
		}
		open := unanswered(verdicts)
		if len(open) == 0 {
			return allowed(verdicts), nil
		}
		if d, no := p.futile(ctx, q); no {
			return d, nil
		}
		asking, end := untilSettled(ctx, moved, func() (bool, chan struct{}) {
			p.mu.RLock()
			next := p.moved
			p.mu.RUnlock()
			verdicts := p.judgeAll(p.modeFor(q), q)
			_, no := denied(verdicts)
			return no || len(unanswered(verdicts)) == 0, next
		})
		d, err := p.put(ctx, asking, q, open)
		settled := ctx.Err() == nil && asking.Err() != nil
		end()
		if err == nil || !settled { // otherwise the mode decided before the user
			return d, err
		}
	}
}

// untilSettled returns a context that ends when a mode change decides the question. settled judges
// again after a change, and returns a channel closed by the next one.
func untilSettled(ctx context.Context, moved chan struct{}, settled func() (bool, chan struct{})) (asking context.Context, end func()) {
	asking, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-asking.Done():
				return
			case <-moved:
			}
			done := false
			if done, moved = settled(); done {
				cancel()
				return
			}
		}
	})
	return asking, func() { cancel(); watch.Wait() }
}

// put asks the user until asking ends, and judges the answer.
func (p *Policy) put(ctx, asking context.Context, q tool.Question, open []verdict) (tool.Decision, error) {
	prompt := promptFor(open)
	prompt.Edits = p.editsAllow(q)
	if len(prompt.Offers) == 0 {
		prompt.NoOffer = unoffered(open)
	}
	answer, err := p.options.Ask(asking, q, prompt)
	switch {
	case ctx.Err() != nil:
		return tool.Decision{}, ctx.Err()
	case err != nil && asking.Err() != nil:
		return tool.Decision{}, asking.Err()
	}
	if errors.Is(err, ErrNobody) {
		return nobody(open, prompt.Edits), nil
	}
	if err != nil {
		return tool.Decision{}, err
	}
	d, err := p.take(answer, open, prompt)
	if d.Allow { // the mode or a rule may have changed meanwhile
		if now, no := denied(p.judgeAll(p.modeFor(q), q)); no {
			return now, nil
		}
	}
	return d, err
}

// futile rejects a call certain to fail, without a question. It looks for the reason only if the
// look needs no question itself.
func (p *Policy) futile(ctx context.Context, q tool.Question) (tool.Decision, bool) {
	if q.Check == nil {
		return tool.Decision{}, false
	}
	mode := p.modeFor(q)
	err := q.Check(ctx, func(n tool.Need) bool { return p.judge(mode, n).effect == Allow })
	if err == nil {
		return tool.Decision{}, false
	}
	return tool.Decision{Layer: string(builtIn), Code: tool.CodeOf(err), Reason: "refused before asking: it cannot work"}, true
}

// Waiting returns the number of questions queued behind the current one.
func (p *Policy) Waiting() int { return int(p.wait.Load()) }

// promptFor collects the open needs. Session is offered only if it would decide all of them.
func promptFor(open []verdict) Prompt {
	var prompt Prompt
	for _, v := range open {
		prompt.Items = append(prompt.Items, Item{v.need, v.target, v.reason})
	}
	prompt.Offers = offersFor(open)
	return prompt
}

func (p *Policy) take(a Answer, open []verdict, prompt Prompt) (tool.Decision, error) {
	d := tool.Decision{Asked: true, Layer: string(person), Client: a.Client}
	switch {
	case a.Choice == Session && a.Offer >= 0 && a.Offer < len(prompt.Offers):
		offer := prompt.Offers[a.Offer]
		if err := p.grant(offer); err != nil {
			return tool.Decision{}, err
		}
		d.Allow, d.Rule, d.Layer = true, offer.Rules[0], string(granted)
	case a.Choice == Once, a.Choice == Session:
		d.Allow, d.Change = true, a.Change
	case a.Choice == No:
		need := open[0].need
		d.Need, d.Reason, d.Reply = &need, "the person said no", a.Reason
		if a.Reason != "" {
			d.Reason += ": " + a.Reason
		}
	default:
		return tool.Decision{}, errAnswer
	}
	return d, nil
}

// grant stores an offer for the session: parts with a key by the key, the rest as rules.
func (p *Policy) grant(o Offer) error {
	var rules []Rule
	for _, g := range o.grants {
		if g.key != "" {
			continue
		}
		r, err := ParseRule(Allow, granted, strings.TrimPrefix(g.rule, "allow "))
		if err != nil {
			return err
		}
		rules = append(rules, r)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range o.grants {
		if g.key != "" {
			p.grants[g.key] = true
		}
	}
	p.lasts = append(p.lasts, rules...)
	return nil
}
