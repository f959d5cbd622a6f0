package textparse

import (
	"bytes"
	"slices"
	"strings"

	"adze/session"
)

// block is markup between text, until it is decided.
type block struct {
	raw   string
	calls []blockCall
	doubt doubt
	gap   bool
	// hidden: a format mark without meaning for the user, such as a channel header.
	hidden bool
}

// doubt is the kind of following text that turns a block into text.
type doubt int

const (
	firm     doubt = iota // none
	sameLine              // on the same line: a tag in a sentence is mentioned, not used
	anyText               // any: the markup is not unique to calls
	spoken                // any: inside a sentence, and so are adjacent blocks without words between
)

// doubts classifies a block by its form and the preceding text.
func (s *scanner) doubts(f *form, r blockResult, held string) doubt {
	before := firm
	for _, b := range s.blocks[s.loose:] {
		if !b.gap {
			before = b.doubt
		}
	}
	switch {
	case before == spoken, len(r.calls) == 0: // a mark alone decides nothing
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

// special reports whether a block opens with a reserved token.
func special(held string) bool {
	return strings.HasPrefix(held, "<|") || strings.HasPrefix(held, "<｜")
}

// accept removes a block from the text.
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

// harden keeps the results before a certain block and drops the space between them.
func (s *scanner) harden() {
	for i := s.loose; i < len(s.blocks); i++ {
		s.blocks[i].doubt = firm
	}
	s.loose = len(s.blocks)
}

// endLine settles blocks with nothing between them once text begins on a later line.
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

// plain handles text. Space after a block is held back and dropped at the end.
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
	s.line.add([]byte(strings.ReplaceAll(text, ";", " "))) // Llama's separator between calls
	s.blocks = append(s.blocks, block{raw: text, gap: true})
}

// soften turns gaps and doubtful blocks into text, because text follows.
func (s *scanner) soften() {
	s.endLine()
	for _, b := range s.blocks[s.loose:] {
		if b.doubt != firm || b.gap {
			s.say(b.raw)
		}
	}
	s.blocks = s.blocks[:s.loose]
}
