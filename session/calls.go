package session

import (
	"context"
	"fmt"
	"slices"

	"adze/tool"
)

// answer runs the calls of one message and stores their outcomes in the model's order. Calls that only
// read or use the network run together; any other runs alone. It reports whether a tool ended the turn.
func (s *Session) answer(t *turn, message string, calls []tool.RawCall) (stop bool, err error) {
	for i := range calls {
		calls[i].Message = message
	}
	hydrated := s.runner.Hydrate(t.ctx, s.config.Tools, calls)
	for _, h := range hydrated {
		s.emit(ToolQueued{tool.Event{Kind: tool.Queued, Call: h.Call, Tool: h.Tool, Args: h.Exposed()}})
	}
	outcomes := Message{ID: s.nextID(), Role: ToolRole}
	for i := 0; i < len(calls); {
		n := together(hydrated[i:])
		results := s.run(t, hydrated[i:i+n])
		for j, result := range results {
			o := <-result
			if serr := s.settleCall(t, calls[i+j], o); serr != nil && err == nil {
				err = serr
			}
			stop = stop || o.Stop
			outcomes.Parts = append(outcomes.Parts, Part{Kind: OutcomePart, Outcome: &o})
		}
		i += n
		if err != nil {
			// A store that cannot save must not see further effects; the rest is aborted on load.
			return stop, err
		}
	}
	t.guard.close()
	s.history = append(s.history, outcomes)
	s.tellBlind(outcomes)
	return stop, s.reconsider(t, outcomes)
}

// together is how many of the next calls may run beside each other: at least one.
func together(h []tool.Hydration) int {
	n := 0
	for n < len(h) && h[n].Concurrent() {
		n++
	}
	return max(n, 1)
}

// run starts calls and returns where each outcome will come.
func (s *Session) run(t *turn, calls []tool.Hydration) []chan tool.Outcome {
	results := make([]chan tool.Outcome, len(calls))
	for i, h := range calls {
		results[i] = make(chan tool.Outcome, 1)
		if most, ok := t.budget.call(); !ok {
			results[i] <- s.runner.Skip(h, tool.CodeLimit, fmt.Sprintf("not run: the budget of %d calls is spent", most))
			continue
		}
		if len(calls) == 1 {
			results[i] <- s.exec(t.ctx, h)
			continue
		}
		go func() { results[i] <- s.exec(t.ctx, h) }()
	}
	return results
}

// settleCall stores one outcome, then shows it.
func (s *Session) settleCall(t *turn, call tool.RawCall, o tool.Outcome) error {
	t.count(s.config.Start, o)
	t.guard.saw(call, o)
	if o.Stop {
		t.result.Text = o.Output
	}
	if err := s.store(context.WithoutCancel(t.ctx), s.entry(OutcomeEntry, o)); err != nil {
		return err
	}
	s.emit(ToolEnd{Outcome: o, Redacted: s.config.Tools.Redact(o.Tool, o.Metadata)})
	return nil
}

// leaveOut puts a note in the place of each picture and document but those of the newest message that has any, and
// reports whether there were some. They are sent again with every request, and what they showed was said since; the
// log keeps them.
func (s *Session) leaveOut() bool {
	newest, first, count := true, -1, 0
	history := slices.Clone(s.history) // requests that were made keep theirs
	for i := len(history) - 1; i >= 0; i-- {
		n := pictures(history[i])
		switch {
		case n == 0:
		case newest:
			newest = false
		default:
			history[i] = withoutPictures(history[i], "[%s was shown here and is left out now to make room; read the file again where it is needed]")
			first, count = i, count+n
		}
	}
	if count == 0 {
		return false
	}
	s.foresee(first, "pictures were left out")
	s.history = history
	s.emit(Notice{fmt.Sprintf("to make room, pictures and documents shown before are not sent any more: %d; the log keeps them", count)})
	s.recount()
	return true
}
