package textparse

import (
	"bytes"
	"slices"
	"strings"

	"adze/session"
)

// block is a piece of the message that is no text, as long as it stands.
type block struct {
	raw   string
	calls []blockCall
	doubt doubt
	gap   bool
	// hidden blocks are marks of a format that nobody misses, such as the header of a channel.
	hidden bool
}

// doubt is which text after a block makes it text, too.
type doubt int

// Doubts.
const (
	firm     doubt = iota // none
	sameLine              // of the same line: a tag in a sentence is spoken of, not used
	anyText               // any: there is no markup that only a call would use
	spoken                // any: it stands in the middle of a sentence, and so does what follows it without words between
)

// doubts judges a block by its form and by what stands before it.
func (s *scanner) doubts(f *form, r blockResult, held string) doubt {
	before := firm
	for _, b := range s.blocks[s.loose:] {
		if !b.gap {
			before = b.doubt
		}
	}
	switch {
	case before == spoken, len(r.calls) == 0: // a mark decides about nothing
		return before
	case f.weak:
		return anyText
	case s.line.words && !s.line.sentence():
		return spoken
	case s.line.words || !special(held) || before == sameLine:
		return sameLine
	}
	return firm
}

// special reports whether a block opens with a token that models have for nothing else.
func special(held string) bool {
	return strings.HasPrefix(held, "<|") || strings.HasPrefix(held, "<｜")
}

// accept takes a block out of the text.
func (s *scanner) accept(f *form, held string, r blockResult) {
	if r.reasoning != "" {
		s.flush()
		s.ready = append(s.ready, session.Reasoning{Delta: r.reasoning})
	}
	raw := held[:len(held)-r.rest]
	made := block{
		raw: raw, calls: r.calls, doubt: s.doubts(f, r, held),
		hidden: len(r.calls) == 0 && special(held),
	}
	s.blocks = append(s.blocks, made)
	if made.doubt == firm {
		s.harden()
	}
	words := s.line.words && !strings.Contains(raw, "\n")
	s.line = line{blank: true, fresh: true, words: words, end: s.line.end}
	s.start = s.pos - r.rest
	s.pos = s.start
}

// harden keeps what came before a block that is certain; the space between them is dropped.
func (s *scanner) harden() {
	for i := s.loose; i < len(s.blocks); i++ {
		s.blocks[i].doubt = firm
	}
	s.loose = len(s.blocks)
}

// endLine ends the doubt about blocks with nothing between them, when text begins on a line behind
// the last.
func (s *scanner) endLine() {
	ended := false
	for i := len(s.blocks) - 1; i >= s.loose; i-- {
		if b := s.blocks[i]; b.gap {
			ended = ended || strings.Contains(b.raw, "\n")
		} else if !ended || b.doubt == spoken || b.doubt == anyText {
			return
		} else {
			rest := slices.Clone(s.blocks[i+1:])
			s.blocks = s.blocks[:i+1]
			s.harden()
			s.blocks = append(s.blocks, rest...)
			return
		}
	}
}

// plain takes text. Space after a block is kept back: at the end it is nobody's.
func (s *scanner) plain(text []byte) {
	for len(text) > 0 && len(s.blocks) > 0 && s.line.fresh {
		n := len(text) - len(bytes.TrimLeft(text, " \t\r\n;"))
		if n > 0 {
			s.gap(string(text[:n]))
		}
		text = text[n:]
		if len(text) > 0 {
			s.soften()
			s.line.fresh = false
		}
	}
	if len(text) > 0 {
		s.line.add(text)
		s.say(string(text))
	}
}

func (s *scanner) gap(text string) {
	s.line.add([]byte(strings.ReplaceAll(text, ";", " "))) // Llama's sign between calls
	s.blocks = append(s.blocks, block{raw: text, gap: true})
}

// soften makes gaps and blocks in doubt text, because text follows them.
func (s *scanner) soften() {
	s.endLine()
	for _, b := range s.blocks[s.loose:] {
		if b.doubt != firm || b.gap {
			s.say(b.raw)
		}
	}
	s.blocks = s.blocks[:s.loose]
}
