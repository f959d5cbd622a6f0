package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/text/plural"
	"adze/tool"
)

// Compaction replaces a conversation's start by a summary that the model writes. The log keeps
// every message; only requests get shorter.
//
// It happens before a request that would nearly fill the model's context window, after the provider
// refused one as too long, and at the user's command. The newest messages and the user's last
// message stay verbatim.

// Compaction rules, in estimated tokens. In a small window the share applies.
const (
	// freeTokens stay free for an answer and for the request for a summary.
	freeTokens, freeShare = 20_000, 5
	// keptTokens is the size that stays unchanged at the end.
	keptTokens, keptShare = 20_000, 4
	// mostLeft, in percent: a compaction that leaves more is not worth its price and the provider's
	// cache.
	mostLeft = 70
	// growth, in percent: a compacted conversation must grow to this before the next compaction.
	growth = 120
	// wordBytes limits the user's last message in the summary.
	wordBytes   = 8 << 10
	sumAttempts = 3
)

// youAsked is the cause when the user asks for a compaction.
const youAsked = "you asked for it"

// ErrShort means that there is nothing to summarize, errLittle that the summary would be nearly as
// long as the original.
var (
	ErrShort  = errors.New("the conversation is too short to sum up")
	errLittle = errors.New("summing up would free too little")
)

// Compaction is a compact entry's data. It replaces all messages before Kept.
type Compaction struct {
	Summary Message `json:"summary"`
	// Notes are repeated after the summary because they still hold; may be nil.
	Notes     *Message `json:"notes,omitempty"`
	FirstKept string   `json:"kept,omitempty"` // the first kept message, or ""
	Messages  int      `json:"messages"`       // messages no longer sent
	Before    int      `json:"tokens_before"`  // the next request's estimated size
	After     int      `json:"tokens_after"`
	Cause     string   `json:"cause"` // for the user: lower case, no period
	Provider  string   `json:"provider"`
	Model     string   `json:"model"`
	Prompt    string   `json:"prompt_sha256"`
	Usage     *Usage   `json:"usage,omitempty"`
	// Duration is the time to request and read the summary.
	Duration time.Duration `json:"duration_ns,omitempty"`
}

// String formats the compaction for the user.
func (c Compaction) String() string {
	return fmt.Sprintf("%s: %s summed up, %.1fk → %.1fk tokens", c.Cause, plural.Of(c.Messages, "message"), float64(c.Before)/1000, float64(c.After)/1000)
}

// Compact summarizes the conversation now. wish names things to keep and may be empty. The last
// event is TurnEnd with the returned result. It must not be called during a turn.
func (s *Session) Compact(ctx context.Context, wish string) Result {
	t, cancel := s.begin(ctx)
	defer cancel()
	return s.end(t, s.compact(t, youAsked, wish))
}

// Earlier returns earlier runs' summarized messages, which no request holds but the user may want
// to see. They are read on the first call, and Ran knows their calls from then on.
func (s *Session) Earlier() []Message {
	if s.skimmed > 0 {
		if l, err := s.config.readWhole(context.Background(), s.skimmed); err == nil { // else only the messages sent are shown
			s.earlier, s.ran, s.skimmed = l.earlier, l.ownOutcomes, 0
		}
	}
	return s.earlier
}

// Failed returns the abnormal ends of earlier runs' turns by each turn's last message id.
func (s *Session) Failed() map[string][]Result { return s.failed }

// Mode returns the permission mode chosen in an earlier run, or "".
func (s *Session) Mode() string { return s.mode }

func modeOf(e Entry) string {
	var p Permits
	_ = json.Unmarshal(e.Data, &p) // a damaged entry chooses none
	return p.Mode
}

// Claims returns the last answer's claims, also from an earlier run.
func (s *Session) Claims() []Claim { return s.claims }

// Evidence returns the last answer's evidence.
func (s *Session) Evidence() []Evidence { return s.evidence }

// OwnCommandOutcome returns the outcome for a user's command in an earlier run. Message.OwnCall
// names it.
func (s *Session) OwnCommandOutcome(own tool.CallID) (tool.Outcome, bool) {
	o, ok := s.ran[own]
	return o, ok
}

// makeRoom compacts before a request that would nearly fill the window. If that fails, the request
// is made all the same: it may fit. A failed summary is retried in the next turn, not in this one.
func (s *Session) makeRoom(t *turn) error {
	s.recount()
	l := &s.ledger
	now := l.tokens(l.bytes())
	if s.config.Sum == "" || l.window <= 0 || now < l.window-min(freeTokens, l.window/freeShare) || now < s.squeezed || t.unsummed {
		return nil
	}
	if s.leaveOut() && l.tokens(l.bytes()) < l.window-min(freeTokens, l.window/freeShare) {
		return nil
	}
	if s.shorten(l.window) && l.tokens(l.bytes()) < l.window-min(freeTokens, l.window/freeShare) {
		return nil
	}
	now = l.tokens(l.bytes())
	err := s.compact(t, fmt.Sprintf("the context was %d%% full", 100*now/l.window), "")
	if err == nil || errors.Is(err, ErrShort) || errors.Is(err, errLittle) {
		s.squeezed = l.tokens(l.bytes()) * growth / 100
	} else {
		t.unsummed = true
	}
	return s.goOn(t, err)
}

// goOn reports a failed compaction, unless it ends the turn.
func (s *Session) goOn(t *turn, err error) error {
	if err == nil || errors.Is(err, errStore) || errors.Is(err, ErrBudget) || t.ctx.Err() != nil {
		return err
	}
	s.emit(Notice{Text: "summing up failed: " + err.Error()})
	return nil
}

// shrink handles a too long request: it leaves images out, else shortens oversized results, else
// compacts. A second refusal in a row is final.
func (s *Session) shrink(t *turn, refused error) error {
	var p *ProviderError
	if !errors.As(refused, &p) || p.Kind != ContextError {
		return refused
	}
	t.refused = s.ledger.tokens(s.ledger.bytes())
	s.ledger.window = 0 // the refusal may have revealed another window
	s.recount()
	if s.leaveOut() || s.shorten(s.ledger.room()/largeShare) {
		return nil
	}
	if s.config.Sum == "" || t.shrunk {
		return refused
	}
	t.shrunk = true
	err := s.compact(t, "the request was too long for the model", "")
	if err == nil {
		return nil
	}
	if err := s.goOn(t, err); err != nil {
		return err
	}
	return refused
}

// compact requests a summary, stores it and replaces the summarized messages.
func (s *Session) compact(t *turn, cause, wish string) error {
	s.recount()
	cut := s.ledger.cut(s.history)
	if cut == 0 || s.config.Sum == "" {
		return ErrShort
	}
	if err := s.summable(t, cut, wish); err != nil {
		return err
	}
	if err := s.hooks.spared(t.ctx, cause == youAsked, wish); err != nil {
		return err
	}
	c := Compaction{Messages: cut, Before: s.ledger.tokens(s.ledger.bytes()), Cause: cause}
	notes, dropped := s.lastingNotes(cut)
	words := droppedNotes(dropped) + lastWords(s.history, cut)
	rest := func(text string) int { // in tokens, estimated for a request that large
		bytes := s.ledger.fixedBytes + len(notes.Text()) + len(text)
		return int(float64(bytes)/bytesPerToken*s.ledger.correction.factor(bytes)) + s.ledger.tokensSince(cut)
	}
	// Do not pay for a summary if even the shortest frees too little.
	if err := c.worth(rest(summaryHead + words)); err != nil {
		return fmt.Errorf("%w; tools and instructions alone take %d", err, s.ledger.tokens(s.ledger.fixedBytes))
	}
	s.emit(Notice{Text: cause + ": summing up the conversation", Kind: Remark})
	d, attempt, err := s.sumUp(t, s.history[:cut], wish)
	if err != nil {
		return err
	}
	c.Provider, c.Model = d.answering(s.config)
	c.Prompt, c.Usage, c.Duration = d.message.Prompt, &d.done.Usage, s.config.Now().Sub(d.start)
	text := summaryHead + strings.TrimSpace(d.message.Text()) + "\n" + words
	c.Summary = Message{ID: s.nextID(), Role: User, Summary: true, Parts: []Part{{Kind: TextPart, Text: text}}}
	if len(notes.Notes) > 0 {
		notes.ID = s.nextID()
		c.Notes = &notes
	}
	if cut < len(s.history) {
		c.FirstKept = strings.TrimSuffix(s.history[cut].ID, seenEnd)
	}
	c.After = rest(text)
	if err := c.worth(c.After); err != nil {
		return cmp.Or(s.noteFailure(t, d, failedAttempt{attempt, true, err}), err)
	}
	if err := s.store(t.ctx, s.entry(CompactEntry, c)); err != nil {
		return err
	}
	t.guard.Forget() // the model no longer sees its calls and may repeat them
	s.foresee(0, "the conversation was summed up")
	s.history = append(c.begins(), s.history[cut:]...)
	s.emit(Compacted{c})
	s.emitLedger("")
	return nil
}

// worth returns an error if a compaction to left tokens frees too little.
func (c Compaction) worth(left int) error {
	if left*100 <= c.Before*mostLeft {
		return nil
	}
	return fmt.Errorf("%w: about %d of %d tokens would be left", errLittle, left, c.Before)
}

const summaryHead = "The conversation before this point was summed up to make room. What follows is the summary; go on with the work from there.\n\n"

// cut returns how many messages to summarize. It keeps the newest ones up to a limit, and never
// separates calls from their outcomes.
func (l *ledger) cut(history []Message) int {
	keep := min(keptTokens, l.tokensSince(0)/keptShare)
	if w := l.window; w > 0 {
		keep = min(keep, w/keptShare)
	}
	at := len(history)
	for i := len(history) - 1; i > 0 && l.tokensSince(i) <= keep; i-- {
		if history[i].Role != ToolRole {
			at = i
		}
	}
	if n := len(summed(history)); n > 0 && at <= n {
		return 0 // would summarize a summary
	}
	return at
}

func (l *log) compact(messages []Message, e Entry) ([]Message, error) {
	var c Compaction
	if err := json.Unmarshal(e.Data, &c); err != nil {
		return messages, err
	}
	at := len(messages)
	if c.FirstKept != "" {
		at = slices.IndexFunc(messages, func(m Message) bool { return m.ID == c.FirstKept })
	}
	if at < 0 {
		return messages, nil
	}
	l.messages = max(l.messages, lastNumber(messages)+1) // the last message's outcomes had their own number
	l.earlierRequests.request(c.Provider, c.Model, c.Usage)
	l.summed = append(l.summed, messages[:at]...)
	left := append(c.begins(), messages[at:]...)
	l.earlierRequests.begun, l.earlierRequests.after = len(left), c.After
	return left, nil
}

// shorten cuts the results over large tokens and reports whether there were any.
func (s *Session) shorten(large int) bool {
	shortened := false
	for i, m := range s.history {
		if m.Role != ToolRole || s.ledger.tokensSince(i)-s.ledger.tokensSince(i+1) <= large {
			continue
		}
		if cut, told := s.ledger.shorter(m, large); len(told) > 0 {
			s.foresee(i, "a result was shortened")
			s.history = slices.Clone(s.history) // earlier requests share the old slice
			s.history[i] = cut
			shortened = true
			for _, text := range told {
				s.emit(Notice{Text: text})
			}
		}
	}
	if shortened {
		s.recount()
	}
	return shortened
}
