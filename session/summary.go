package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cenkalti/backoff/v5"
)

// cutOutput is the size of a cut output when the conversation is too long even for the summary
// request.
const cutOutput = 2000

// sumUp asks the model for a summary of messages. It repeats the previous requests, to use the
// provider's cache, with the instruction at the end. The summary is not shown. attempt is the
// number of the last attempt.
func (s *Session) sumUp(t *turn, messages []Message, wish string) (d *draft, attempt int, err error) {
	ask := s.sumWords(wish)
	r := s.request()
	r.Choice = ChooseNone
	kept, _ := s.ledger.fitting(messages)
	r.Messages = append(slices.Clone(kept), Message{ID: s.nextID(), Role: User, Parts: []Part{{Kind: TextPart, Text: ask}}})
	pause := backoff.NewExponentialBackOff()
	for attempt = 1; ; attempt++ {
		if err := t.budget.step(); err != nil {
			return nil, attempt, err
		}
		d, err = s.summarize(t.ctx, r)
		s.ledger.asked = 0 // the summary's size says nothing about the next request
		s.spend(t, d, err)
		asked, again := temporary(err)
		if err == nil {
			return d, attempt, nil
		}
		if serr := s.noteFailure(t, d, failedAttempt{attempt, true, err}); serr != nil {
			return d, attempt, serr
		}
		if !again || attempt == sumAttempts || t.ctx.Err() != nil {
			return d, attempt, err
		}
		delay := max(pause.NextBackOff(), min(asked, maxRetryAfter))
		s.emit(Retry{Message: d.message.ID, Attempt: attempt + 1, Of: sumAttempts, Delay: delay, Cause: err.Error()})
		if err := s.config.Wait(t.ctx, delay); err != nil {
			return d, attempt, err
		}
	}
}

// summarize reads one summary; a partial one is better than none. No calls run.
func (s *Session) summarize(ctx context.Context, r Request) (*draft, error) {
	d := &draft{message: Message{ID: r.Messages[len(r.Messages)-1].ID, Role: Assistant}, start: s.config.Now()}
	d.message.Prompt = new(fingerprints).promptHash(r)
	err := d.gather(ctx, s.config.Provider, r)
	if err == nil && d.message.Text() == "" {
		err = &ProviderError{Kind: BadResponse, Message: "the model summed up nothing"}
	}
	return d, err
}

// sumWords returns the instruction after the messages to summarize.
func (s *Session) sumWords(wish string) string {
	if wish == "" {
		return s.config.Sum
	}
	return s.config.Sum + "\n\nThe person says what must not be lost: " + wish
}

// errUnsummable means that the summary request cannot fit.
var errUnsummable = errors.New("its newest message alone does not fit into the model's context")

// summable returns an error if the summary request cannot fit: it exceeds the window, or it holds
// the newest message and is as large as the request that the provider just refused.
func (s *Session) summable(t *turn, cut int, wish string) error {
	l := &s.ledger
	_, size := l.fitting(s.history[:cut])
	size += l.tokens(l.fixedBytes + len(s.sumWords(wish)))
	if l.window > 0 && size > l.window || t.refused > 0 && cut == len(s.history) && size*50 >= t.refused*49 {
		return errUnsummable
	}
	return nil
}

// fitting returns the messages that fit into a request, with their tokens. It cuts outputs, oldest
// first, and if that is not enough drops the oldest messages.
func (l *ledger) fitting(messages []Message) ([]Message, int) {
	room := l.window*9/10 - l.tokens(l.fixedBytes)
	if l.window <= 0 { // refused by a provider with an unknown window
		room = l.tokensSince(0) * 6 / 10
	}
	size := l.tokensSince(0) - l.tokensSince(len(messages))
	if size <= room {
		return messages, size
	}
	out := slices.Clone(messages)
	for i := range out {
		cut, saved := withoutOutputs(out[i])
		if size <= room || saved == 0 {
			continue
		}
		out[i] = cut
		size -= l.tokens(saved)
	}
	first := 0
	for first < len(out)-1 && (size > room || out[first].Role == ToolRole) {
		size -= l.tokensSince(first) - l.tokensSince(first+1)
		first++
	}
	return out[first:], size
}

// withoutOutputs returns a copy of a message with its outputs cut, and the bytes saved. The copy
// has its own id, since adapters cache encodings by id.
func withoutOutputs(m Message) (Message, int) {
	saved := 0
	out := m
	out.ID += "-cut"
	out.Parts = slices.Clone(m.Parts)
	for i, p := range out.Parts {
		if p.Outcome == nil || len(p.Outcome.Output) <= cutOutput {
			continue
		}
		o := *p.Outcome
		o.Output = shortened(o.Output, cutOutput)
		saved += len(p.Outcome.Output) - len(o.Output)
		out.Parts[i].Outcome = &o
	}
	return out, saved
}

// begins returns the messages that replace the summarized ones.
func (c Compaction) begins() []Message {
	if c.Notes == nil {
		return []Message{c.Summary}
	}
	return []Message{c.Summary, *c.Notes}
}

// summed returns an earlier compaction's messages at the start.
func summed(history []Message) []Message {
	switch {
	case len(history) == 0 || !history[0].Summary:
		return nil
	case len(history) > 1 && len(history[1].Notes) > 0:
		return history[:2]
	}
	return history[:1]
}

const wordsHead = "\nThe person's last message, word for word:\n"

// lastWords returns the user's last message before the cut verbatim, if none follows it.
func lastWords(history []Message, cut int) string {
	if slices.ContainsFunc(history[cut:], prompted) {
		return ""
	}
	for _, m := range slices.Backward(history[:cut]) {
		if prompted(m) {
			return wordsHead + "<message>\n" + shortened(m.Text(), wordBytes) + "\n</message>\n"
		}
		if m.Summary {
			if at := strings.LastIndex(m.Text(), wordsHead); at >= 0 { // the text before is the model's
				return m.Text()[at:]
			}
		}
	}
	return ""
}

// prompted reports whether the user wrote the message for the model.
func prompted(m Message) bool { return m.Role == User && m.OwnCall == "" && !m.Summary && !m.Note }

// shortened keeps the start and the end of a long text.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most*2/3], text[len(text)-most/3:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[%d bytes left out]\n", len(text)-len(head)-len(tail)) + strings.ToValidUTF8(tail, "")
}

// leaveOut replaces the images and documents in all messages but the newest with any by notes. If
// only that one is left and it belongs to an earlier turn, it replaces those too. It reports
// whether there were any. The log keeps them.
//
// This only makes room and never saves money: as long as images fit, they are sent again. An image
// of 1,600 tokens costs 160 with each request at the cached price of a tenth. Leaving it out makes
// the provider read everything after it again at full price, and another look costs a request with
// a cached prefix of 30,000 tokens and the image in full: 5,000, or thirty requests that carry it.
// Also, a model that no longer sees its work guesses. Files stored at a provider would save bytes
// but no tokens: they outlive the session on a foreign disk, a killed run leaves them behind, and
// no two APIs name them alike. Package imagescale keeps the bytes small instead.
func (s *Session) leaveOut() bool {
	newest, first, count := true, -1, 0
	history := slices.Clone(s.history) // earlier requests share the old slice
	begun, earlier := s.shownBefore()
	for i := len(history) - 1; i >= 0; i-- {
		n := pictures(&history[i])
		switch {
		case n == 0:
		case newest && (i >= begun || earlier):
			newest = false
		default:
			history[i] = history[i].WithoutPictures("[%s was shown here and is left out now to make room; read the file again where it is needed]")
			first, count = i, count+n
		}
	}
	if count == 0 {
		return false
	}
	s.foresee(first, "pictures were left out")
	s.history = history
	s.emit(Notice{Text: fmt.Sprintf("to make room, pictures and documents shown before are not sent any more: %d; the log keeps them", count), Kind: Remark})
	s.recount()
	return true
}

// shownBefore returns the current turn's start, and whether several messages have images or
// documents.
func (s *Session) shownBefore() (begun int, several bool) {
	shown := 0
	for i, m := range s.history {
		if prompted(m) {
			begun = i
		}
		if pictures(&m) > 0 {
			shown++
		}
	}
	return begun, shown > 1
}

// Limits of the notes kept by a compaction, in tokens; in a small window a share applies.
const (
	noteTokens, noteShare = 8_000, 8
)

// lastingNotes collects the lasting notes before a cut that no later note replaces into a message
// for after the summary, newest first while there is room. It names the dropped ones, which may be
// repeated later.
func (s *Session) lastingNotes(cut int) (m Message, dropped []string) {
	room := noteTokens
	if w := s.ledger.window; w > 0 {
		room = min(room, w/noteShare)
	}
	m = Message{Role: User, Note: true}
	var newer []Note
	text := ""
	for i, old := range slices.Backward(s.history) {
		notes, texts := s.notesOf(old)
		for j, n := range slices.Backward(notes) {
			replaced := slices.ContainsFunc(newer, n.same)
			newer = append(newer, n)
			if i >= cut || !n.KeepInCompaction || replaced {
				continue
			}
			tokens := s.ledger.tokens(len(texts[j]))
			if tokens > room || tokens == 0 {
				if n.Kind != LoopNote { // cannot be read again
					dropped = append(dropped, n.Source)
				}
				continue
			}
			room -= tokens
			m.Notes, text = append(m.Notes, n), texts[j]+text
		}
	}
	slices.Reverse(m.Notes)
	slices.Reverse(dropped)
	m.Parts = []Part{{Kind: TextPart, Text: text}}
	return m, dropped
}

// notesOf returns the notes and texts in a message, or the notes that Config.Kept makes of its
// outcomes.
func (s *Session) notesOf(m Message) (notes []Note, texts []string) {
	if len(m.Notes) > 0 || s.config.CarryOver == nil {
		return m.Notes, m.wrappedNotes()
	}
	for _, p := range m.Parts {
		if p.Outcome == nil {
			continue
		}
		if n, ok := s.config.CarryOver(*p.Outcome); ok {
			n.fill()
			notes, texts = append(notes, n), append(texts, n.wrapped())
		}
	}
	return notes, texts
}

func droppedNotes(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "\nLeft out to make room; read them again where they matter: " + strings.Join(names, ", ") + "\n"
}
