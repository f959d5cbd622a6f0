package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cenkalti/backoff/v5"
)

// cutOutput is how much of an output is left when the conversation does not fit even to be summed
// up.
const cutOutput = 2000

// sumUp asks the model for a summary of messages. It sends what the requests before it sent, so
// that the provider's cache still holds it, with the instruction at the end. What it says is not
// shown. attempt is the number of the last one.
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
		s.ledger.asked = 0 // its own size is no measure of the next request
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

// summarize reads one summary, of which most is better than none. Nothing runs for it.
func (s *Session) summarize(ctx context.Context, r Request) (*draft, error) {
	d := &draft{message: Message{ID: r.Messages[len(r.Messages)-1].ID, Role: Assistant}, began: s.config.Now()}
	d.message.Prompt = new(fingerprints).of(r)
	err := d.gather(ctx, s.config.Provider, r)
	if err == nil && d.message.Text() == "" {
		err = &ProviderError{Kind: BadResponse, Message: "the model summed up nothing"}
	}
	return d, err
}

// sumWords is what the model is asked at the end of what it sums up.
func (s *Session) sumWords(wish string) string {
	if wish == "" {
		return s.config.Sum
	}
	return s.config.Sum + "\n\nThe person says what must not be lost: " + wish
}

// errUnsummable says that the request for a summary is known not to fit.
var errUnsummable = errors.New("its newest message alone does not fit into the model's context")

// summable refuses a request for a summary that is known not to fit: it is larger than the context,
// or it holds the newest message and is as large as the request that the provider has just refused.
func (s *Session) summable(t *turn, cut int, wish string) error {
	l := &s.ledger
	_, size := l.fitting(s.history[:cut])
	size += l.tokens(l.fixedBytes + len(s.sumWords(wish)))
	if l.window > 0 && size > l.window || t.refused > 0 && cut == len(s.history) && size*50 >= t.refused*49 {
		return errUnsummable
	}
	return nil
}

// fitting is messages as far as they fit into a request, with their tokens: the outputs of calls
// are cut, the oldest first, and where that is not enough, the oldest messages are left out.
func (l *ledger) fitting(messages []Message) ([]Message, int) {
	room := l.window*9/10 - l.tokens(l.fixedBytes)
	if l.window <= 0 { // a request that was refused, by a provider whose window nobody knows
		room = l.since(0) * 6 / 10
	}
	size := l.since(0) - l.since(len(messages))
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
		size -= l.since(first) - l.since(first+1)
		first++
	}
	return out[first:], size
}

// withoutOutputs is a copy of a message with its outputs cut, and the bytes that this saves. It has
// an id of its own: adapters keep what they encoded by the id.
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

// begins is what stands in the place of what was summed up.
func (c Compaction) begins() []Message {
	if c.Notes == nil {
		return []Message{c.Summary}
	}
	return []Message{c.Summary, *c.Notes}
}

// summed is what an earlier compaction put at the beginning.
func summed(history []Message) []Message {
	switch {
	case len(history) == 0 || !history[0].Summary:
		return nil
	case len(history) > 1 && len(history[1].Notes) > 0:
		return history[:2]
	}
	return history[:1]
}

// wordsHead stands before the user's own words in a summary.
const wordsHead = "\nThe person's last message, word for word:\n"

// lastWords is the user's last message before the cut, word for word, when none comes after it.
func lastWords(history []Message, cut int) string {
	if slices.ContainsFunc(history[cut:], prompted) {
		return ""
	}
	for _, m := range slices.Backward(history[:cut]) {
		if prompted(m) {
			return wordsHead + "<message>\n" + shortened(m.Text(), wordBytes) + "\n</message>\n"
		}
		if m.Summary {
			if at := strings.LastIndex(m.Text(), wordsHead); at >= 0 { // what stands before is the model's
				return m.Text()[at:]
			}
		}
	}
	return ""
}

// prompted reports a message that the user wrote for the model.
func prompted(m Message) bool { return m.Role == User && m.Own == "" && !m.Summary && !m.Note }

// shortened keeps the beginning and the end of a long text.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most*2/3], text[len(text)-most/3:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[%d bytes left out]\n", len(text)-len(head)-len(tail)) + strings.ToValidUTF8(tail, "")
}

// leaveOut puts a note in the place of each picture and document but those of the newest message
// that has any, then, where it is of an earlier turn, of that too; and reports whether there were
// some. The log keeps them.
//
// Only room is made so, never a smaller request: as long as they fit, pictures are sent again as
// they were. A picture of 1,600 tokens at a tenth of the price costs 160 with each request. To
// leave it out once it was answered to, what stands behind it is paid for anew, and one more look
// at it costs a request, the whole prefix of 30,000 tokens at a tenth and the picture in full:
// 5,000, or thirty requests that carry it. And a model that no longer sees what it builds after
// guesses. The files that providers keep would spare bytes and no token: they outlive the session
// on somebody else's disk, a run that is killed removes none, and no two APIs name them alike. The
// bytes are kept small instead (package imagescale).
func (s *Session) leaveOut() bool {
	newest, first, count := true, -1, 0
	history := slices.Clone(s.history) // requests that were made keep theirs
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

// shownBefore tells where the turn that runs begins, and whether more than one message shows
// something.
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

// Bounds of what a compaction keeps of the notes, in tokens; of a small window a share.
const (
	noteTokens, noteShare = 8_000, 8
)

// lastingNotes puts the lasting notes before a cut that none after it replaces into a message for
// behind the summary, the newest first as long as there is room. What has none is named: it may be
// told again.
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
			if i >= cut || !n.Lasts || replaced {
				continue
			}
			tokens := s.ledger.tokens(len(texts[j]))
			if tokens > room || tokens == 0 {
				if n.Kind != LoopNote { // that can nobody read again
					dropped = append(dropped, n.From)
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

// notesOf are the notes of a message with their texts: those that it holds, or those that its
// outcomes are kept as.
func (s *Session) notesOf(m Message) (notes []Note, texts []string) {
	if len(m.Notes) > 0 || s.config.Kept == nil {
		return m.Notes, m.wrappedNotes()
	}
	for _, p := range m.Parts {
		if p.Outcome == nil {
			continue
		}
		if n, ok := s.config.Kept(*p.Outcome); ok {
			n.fill()
			notes, texts = append(notes, n), append(texts, n.wrapped())
		}
	}
	return notes, texts
}

// droppedNotes tells the model which notes a summary left out.
func droppedNotes(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "\nLeft out to make room; read them again where they matter: " + strings.Join(names, ", ") + "\n"
}
