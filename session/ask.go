package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"adze/tool"
)

// ask makes one model request and stores the answer before its calls run. A failed or aborted
// message is stored as far as it came, without calls.
func (s *Session) ask(t *turn) (Message, error) {
	id := s.nextID()
	if err := s.inspect(t.ctx, id); err != nil {
		return Message{}, err
	}
	d, err := s.attempts(t, id)
	m := d.message
	m.Provider, m.Model = d.answering(s.config)
	m.LentModel = s.defaults != nil || d.done.Model != ""
	if text := m.Text(); text != "" {
		t.result.Text = text
	}
	switch {
	case len(m.Parts) == 0:
	case err == nil && len(d.calls) == 0 && d.done.Notice == "":
		t.last = &m // stored together with the turn's end
	case err == nil && len(d.calls) > 0:
		s.hold(s.entry(MessageEntry, said(m)))
		s.keep(m)
	default:
		if serr := s.store(t.ctx, s.entry(MessageEntry, said(m))); serr != nil {
			return m, serr
		}
		s.keep(m)
	}
	if t.last == nil && !errors.Is(err, errStore) {
		s.emitLedger(id)
	}
	if d.done.Notice != "" {
		s.emit(Notice{Text: d.done.Notice})
	}
	if err == nil {
		t.silences.saw(m, d.done, s.offeredTools())
	}
	return m, err
}

// answering returns the provider and the model that a draft is from.
func (d *draft) answering(c Config) (provider, model string) {
	return cmp.Or(d.done.Provider, c.Provider.Name()), cmp.Or(d.done.Model, c.Model)
}

// keep adds a stored message to the conversation and shows it.
func (s *Session) keep(m Message) {
	s.history = append(s.history, m)
	s.emit(MessageDone{m})
	s.tellBlind(m)
}

// draft is an arriving assistant message.
type draft struct {
	message Message
	calls   []tool.RawCall
	done    Done
	ended   bool
	forming string // the call written last, or ""
	worked  bool   // the model had begun to answer
	start   time.Time
	heard   time.Time // first chunk's time
	saved   time.Time
	fresh   int  // bytes since the last fragment
	named   bool // a fragment names the model
	stored  []storedPart
}

func (s *Session) stream(t *turn, id string) (*draft, error) {
	now := s.config.Now()
	d := &draft{message: Message{ID: id, Role: Assistant}, start: now, saved: now}
	request := s.request()
	if t.tries > 0 || len(request.Tools) == 0 { // a grammar leaves no room for a call
		request.Schema = s.config.Schema
	}
	d.message.Prompt = s.prints.promptHash(request)
	defer func() { d.message.Duration = s.config.Now().Sub(d.start) }()
	for c := range s.config.Provider.Stream(t.ctx, request) {
		if d.ended {
			return d, errAfterEnd()
		}
		if m, ok := c.(Mended); ok {
			if err := s.store(t.ctx, s.entry(MendedEntry, m)); err != nil {
				return d, err
			}
			for _, why := range m.Reasons {
				s.emit(Notice{Text: why})
			}
			if first, history := mended(s.history, m.Messages); first >= 0 {
				s.foresee(first, "a picture or document was refused")
				s.history = history
			}
			continue
		}
		s.take(d, c)
		if err := s.saveFragments(t, d); err != nil {
			return d, err
		}
	}
	return d, d.settle(t.ctx)
}

func (s *Session) request() Request {
	effort := s.Effort()
	if s.defaults != nil {
		effort = "" // chosen for the session's model
	}
	return Request{
		Model: s.config.Model, System: s.config.Start.System, Messages: s.visible(),
		Tools: s.offeredTools(), ToolsDigest: s.digest, Agent: s.config.Start.Agent, Effort: effort,
	}
}

// take adds a chunk to the draft and shows it.
func (s *Session) take(d *draft, c Chunk) {
	if _, ended := c.(Done); !ended {
		d.worked = true
	}
	switch c := c.(type) {
	case Text:
		d.append(TextPart, c.Delta, nil)
		s.emit(TextDelta{d.message.ID, c.Delta})
	case Reasoning:
		for i := range d.message.Parts {
			if p := &d.message.Parts[i]; c.Earlier && p.Kind == TextPart {
				p.Kind = ReasoningPart
			}
		}
		d.append(ReasoningPart, c.Delta, unspaced(c.Opaque))
		if c.Delta != "" {
			s.emit(ReasoningDelta{d.message.ID, c.Delta})
		}
	case Forming:
		d.forming = cmp.Or(c.Name, d.forming, "a tool")
		s.emit(CallForming{d.message.ID, c.ID, c.Name, c.Bytes})
	case Call:
		c.Opaque = unspaced(c.Opaque)
		d.calls = append(d.calls, c.RawCall)
	case Done:
		d.done, d.ended = c, true
	}
}

// unspaced removes the spaces from a provider's opaque value, as storing it does: a resumed session
// must send the same bytes as the original one.
func unspaced(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// append extends the last part if it is open and has the same kind. settle joins the deltas, so
// that many small ones stay cheap.
func (d *draft) append(kind PartKind, delta string, opaque []byte) {
	parts := &d.message.Parts
	last := len(*parts) - 1
	if last < 0 || (*parts)[last].Kind != kind || (*parts)[last].Opaque != nil {
		*parts = append(*parts, Part{Kind: kind})
		last++
	}
	(*parts)[last].grow(delta)
	d.fresh += len(delta)
	if opaque != nil {
		(*parts)[last].Opaque = opaque
	}
}

// settle enforces the stream contract: one Done, and calls only from a message that ended well.
func (d *draft) settle(ctx context.Context) error {
	m := &d.message
	for i := range m.Parts {
		m.Parts[i].close()
	}
	m.Stop, m.Usage = d.done.Stop, &d.done.Usage
	err := d.done.Err
	switch {
	case ctx.Err() != nil:
		m.Stop = StopAborted
		return context.Cause(ctx)
	case !d.ended:
		err = &ProviderError{Kind: BadResponse, Message: "the stream ended without its end"}
	case err == nil && d.done.Stop == StopRefused:
		err = &ProviderError{Kind: RefusedAnswer, Message: "the model refused to answer"}
	case err == nil && d.done.Stop == StopLength:
		return d.cutOff()
	}
	if err != nil {
		m.Stop = StopError
		return err
	}
	for _, c := range d.calls {
		m.Parts = append(m.Parts, Part{Kind: CallPart, Call: &c})
	}
	return nil
}

// temporary reports whether an error may pass while a turn waits, and returns the provider's
// requested wait.
func temporary(err error) (time.Duration, bool) {
	var p *ProviderError
	if !errors.As(err, &p) || !p.Temporary() || p.lasts() {
		return 0, false
	}
	return p.RetryAfter, true
}

// saveFragments stores the text since the last fragment, if one is due.
func (s *Session) saveFragments(t *turn, d *draft) error {
	now := s.config.Now()
	if d.worked && d.heard.IsZero() {
		d.heard = now
	}
	if d.fresh == 0 || now.Sub(d.saved) < fragmentsEvery && d.fresh < fragmentBytes {
		return nil
	}
	d.saved, d.fresh = now, 0
	var entries []Entry
	for _, p := range d.fragments() {
		if p.Part == 0 && len(entries) == 0 && !d.named {
			p.Provider, p.Model, p.Prompt = s.config.Provider.Name(), s.config.Model, d.message.Prompt
			d.named = true
		}
		entries = append(entries, s.entry(FragmentEntry, p))
	}
	if len(entries) == 0 {
		return nil
	}
	return s.store(t.ctx, entries...)
}

// blind reports whether the model is known to take no images.
func (s *Session) blind() bool {
	return s.config.RejectsImages != nil && s.config.RejectsImages(s.config.Provider.Name(), s.config.Model)
}

// visible returns the conversation with notes instead of images if the model takes none.
func (s *Session) visible() []Message {
	if !s.ledger.shows.any(s.history) || !s.blind() {
		return s.history
	}
	out := slices.Clone(s.history)
	for i := range out {
		if pictures(&out[i]) > 0 {
			out[i] = out[i].WithoutPictures("[%s cannot be shown to you: you take no pictures]")
		}
	}
	return out
}

// tellBlind warns the user about an image hidden from the model.
func (s *Session) tellBlind(m Message) {
	if pictures(&m) > 0 && s.blind() {
		s.emit(Notice{Text: s.config.Model + " takes no pictures: it gets a note in their place; /model shows the models with vision"})
	}
}
