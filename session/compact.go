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

// Compaction replaces the beginning of a conversation by a summary that the model writes. The log
// keeps every message: only what is sent gets shorter.
//
// It happens before a request that would nearly fill the model's window, after one that the
// provider refused as too long, and when the user asks. The newest messages stay as they are, and
// so does the user's last message, word for word.

// Rules of compaction, in tokens as the ledger estimates them. On a small window a share of it
// counts instead.
const (
	// freeTokens is what stays free for an answer and for the request that sums up.
	freeTokens, freeShare = 20_000, 5
	// keptTokens is how much of the end stays as it is.
	keptTokens, keptShare = 20_000, 4
	// mostLeft, in percent: what frees less is not worth its price and the provider's cache.
	mostLeft = 70
	// growth, in percent: from where on a conversation that was compacted just now may be so again.
	growth = 120
	// wordBytes is how much of the user's last message goes into the summary.
	wordBytes = 8 << 10
	// sumAttempts is how often the model is asked to sum up.
	sumAttempts = 3
)

// youAsked is the cause of a compaction that the user wants.
const youAsked = "you asked for it"

// ErrShort is returned when there is nothing to sum up, errLittle when the summary is nearly as
// long as that.
var (
	ErrShort  = errors.New("the conversation is too short to sum up")
	errLittle = errors.New("summing up would free too little")
)

// Compaction is the data of a compact entry: what stands in the place of all messages before Kept.
type Compaction struct {
	Summary Message `json:"summary"`
	// Notes are those that still hold, said again behind the summary; if nil, there are none.
	Notes    *Message `json:"notes,omitempty"`
	Kept     string   `json:"kept,omitempty"` // the id of the first message that stayed; if empty, none
	Messages int      `json:"messages"`       // how many are not sent any more
	Before   int      `json:"tokens_before"`  // of the next request, an estimate
	After    int      `json:"tokens_after"`
	Cause    string   `json:"cause"` // for the user: lower case, no period
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Prompt   string   `json:"prompt_sha256"`
	Usage    *Usage   `json:"usage,omitempty"`
	// Took is the time from the request to the end of the summary.
	Took time.Duration `json:"duration_ns,omitempty"`
}

// String is the compaction as a user reads it.
func (c Compaction) String() string {
	return fmt.Sprintf("%s: %s summed up, %.1fk → %.1fk tokens", c.Cause, plural.Of(c.Messages, "message"), float64(c.Before)/1000, float64(c.After)/1000)
}

// Compact sums the conversation up now; wish says what must not be lost, and may be empty. The last
// event is TurnEnd with the result returned. It is not for use while a turn runs.
func (s *Session) Compact(ctx context.Context, wish string) Result {
	t, cancel := s.begin(ctx)
	defer cancel()
	return s.end(t, s.compact(t, youAsked, wish))
}

// Earlier returns the messages of earlier runs that were summed up: no request holds them, but the
// user may want to see them, and what their calls did stays done. They are read when they are first
// asked for, and Ran knows theirs from then on.
func (s *Session) Earlier() []Message {
	if s.skimmed > 0 {
		if l, err := s.config.readWhole(context.Background(), s.skimmed); err == nil { // else what is sent is shown
			s.earlier, s.ran, s.skimmed = l.earlier, l.ran, 0
		}
	}
	return s.earlier
}

// Failed are the ends of turns of earlier runs that did not come to their own end, by the id of the
// message that each ended with.
func (s *Session) Failed() map[string][]Result { return s.failed }

// Mode is the permission mode that was chosen for the session in an earlier run; if empty, none
// was.
func (s *Session) Mode() string { return s.mode }

func modeOf(e Entry) string {
	var p Permits
	_ = json.Unmarshal(e.Data, &p) // a damaged one chooses none
	return p.Mode
}

// Claims are those of the last answer, also of an earlier run.
func (s *Session) Claims() []Claim { return s.claims }

// Evidence shows clauses of that answer.
func (s *Session) Evidence() []Evidence { return s.evidence }

// Ran is what a command of the user's own came to in an earlier run: Message.Own names it.
func (s *Session) Ran(own tool.CallID) (tool.Outcome, bool) {
	o, ok := s.ran[own]
	return o, ok
}

// makeRoom compacts before a request that would nearly fill the window. Where that fails, the
// request is made all the same: it may fit. What the model did not answer is asked again in the
// next turn, not in this one.
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

// goOn tells of a compaction that failed, unless that ends the turn.
func (s *Session) goOn(t *turn, err error) error {
	if err == nil || errors.Is(err, errStore) || errors.Is(err, ErrBudget) || t.ctx.Err() != nil {
		return err
	}
	s.emit(Notice{Text: "summing up failed: " + err.Error()})
	return nil
}

// shrink leaves pictures out after a request that was too long, else shortens what one result has
// too much, else compacts. That is done once in a row: what is refused again stays refused.
func (s *Session) shrink(t *turn, refused error) error {
	var p *ProviderError
	if !errors.As(refused, &p) || p.Kind != ContextError {
		return refused
	}
	t.refused = s.ledger.tokens(s.ledger.bytes())
	s.ledger.window = 0 // the refusal may have told another one
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

// compact asks for a summary, stores it and puts it in the place of what it sums up.
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
	c := Compaction{Messages: cut, Before: s.ledger.tokens(s.ledger.bytes()), Cause: cause,
		Provider: s.config.Provider.Name(), Model: s.config.Model}
	notes, dropped := s.lastingNotes(cut)
	words := droppedNotes(dropped) + lastWords(s.history, cut)
	rest := func(text string) int { // in tokens, as a request of that size has them
		bytes := s.ledger.fixedBytes + len(notes.Text()) + len(text)
		return int(float64(bytes)/bytesPerToken*s.ledger.correction.factor(bytes)) + s.ledger.since(cut)
	}
	// What is sure before the model is asked is not paid for: the shortest summary frees too little
	// already.
	if err := c.worth(rest(summaryHead + words)); err != nil {
		return fmt.Errorf("%w; tools and instructions alone take %d", err, s.ledger.tokens(s.ledger.fixedBytes))
	}
	s.emit(Notice{Text: cause + ": summing up the conversation", Kind: Remark})
	d, attempt, err := s.sumUp(t, s.history[:cut], wish)
	if err != nil {
		return err
	}
	c.Prompt, c.Usage, c.Took = d.message.Prompt, &d.done.Usage, s.config.Now().Sub(d.began)
	text := summaryHead + strings.TrimSpace(d.message.Text()) + "\n" + words
	c.Summary = Message{ID: s.nextID(), Role: User, Summary: true, Parts: []Part{{Kind: TextPart, Text: text}}}
	if len(notes.Notes) > 0 {
		notes.ID = s.nextID()
		c.Notes = &notes
	}
	if cut < len(s.history) {
		c.Kept = strings.TrimSuffix(s.history[cut].ID, seenEnd)
	}
	c.After = rest(text)
	if err := c.worth(c.After); err != nil {
		return cmp.Or(s.noteFailure(t, d, failedAttempt{attempt, true, err}), err)
	}
	if err := s.store(t.ctx, s.entry(CompactEntry, c)); err != nil {
		return err
	}
	t.guard.Forget() // what the model did is out of its sight, and it may look again
	s.foresee(0, "the conversation was summed up")
	s.history = append(c.begins(), s.history[cut:]...)
	s.emit(Compacted{c})
	s.tell("")
	return nil
}

// worth refuses a compaction after which so many tokens are left.
func (c Compaction) worth(left int) error {
	if left*100 <= c.Before*mostLeft {
		return nil
	}
	return fmt.Errorf("%w: about %d of %d tokens would be left", errLittle, left, c.Before)
}

// summaryHead tells the model what it reads.
const summaryHead = "The conversation before this point was summed up to make room. What follows is the summary; go on with the work from there.\n\n"

// cut is how many messages are summed up: as many as leave the newest ones, up to a bound, as they
// are. A message with calls and its outcomes stay together.
func (l *ledger) cut(history []Message) int {
	keep := min(keptTokens, l.since(0)/keptShare)
	if w := l.window; w > 0 {
		keep = min(keep, w/keptShare)
	}
	at := len(history)
	for i := len(history) - 1; i > 0 && l.since(i) <= keep; i-- {
		if history[i].Role != ToolRole {
			at = i
		}
	}
	if n := len(summed(history)); n > 0 && at <= n {
		return 0 // a summary of a summary
	}
	return at
}

// compact obeys a compact entry.
func (l *log) compact(messages []Message, e Entry) ([]Message, error) {
	var c Compaction
	if err := json.Unmarshal(e.Data, &c); err != nil {
		return messages, err
	}
	at := len(messages)
	if c.Kept != "" {
		at = slices.IndexFunc(messages, func(m Message) bool { return m.ID == c.Kept })
	}
	if at < 0 {
		return messages, nil
	}
	l.messages = max(l.messages, lastNumber(messages)+1) // the last one's outcomes had a number of their own
	l.past.request(c.Provider, c.Model, c.Usage)
	l.summed = append(l.summed, messages[:at]...)
	left := append(c.begins(), messages[at:]...)
	l.past.begun, l.past.after = len(left), c.After
	return left, nil
}

// shorten cuts the results that have more than so many tokens, and reports whether there were any.
func (s *Session) shorten(large int) bool {
	shortened := false
	for i, m := range s.history {
		if m.Role != ToolRole || s.ledger.since(i)-s.ledger.since(i+1) <= large {
			continue
		}
		if cut, told := s.ledger.shorter(m, large); len(told) > 0 {
			s.foresee(i, "a result was shortened")
			s.history = slices.Clone(s.history) // requests that were made keep theirs
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
