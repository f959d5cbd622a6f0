package wire

import (
	"strings"

	"adze/session"
)

// thoughtTags are the marks around a thought that a server without a reasoning parser leaves in the
// text: those of Qwen and DeepSeek, of Seed, Mistral and Command.
func thoughtTags() [][2]string {
	return [][2]string{
		{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<seed:think>", "</seed:think>"}, {"[THINK]", "[/THINK]"}, {"<|START_THINKING|>", "<|END_THINKING|>"},
	}
}

// thoughts tells thoughts from the text of one answer. A thought begins an answer; where its
// beginning stood in the prompt, everything before the lone end is one.
type thoughts struct {
	held    string          // undecided
	end     string          // of the thought that is open; if empty, none is
	said    strings.Builder // the text so far, behind a thought
	decided bool            // no thought begins any more
	lone    bool            // a lone end was seen, or a whole thought
	behind  bool            // a thought has just ended: the line breaks before the text are its own
}

// split takes a piece of text and returns what is decided; last says that no more comes.
func (t *thoughts) split(piece string, last bool) (out []session.Chunk) {
	text := t.held + piece
	t.held = ""
	for text != "" {
		if t.behind {
			if text = strings.TrimLeft(text, "\r\n"); text == "" {
				return out
			}
			t.behind = false
		}
		switch {
		case t.end != "":
			thought, rest, closed := strings.Cut(text, t.end)
			if !closed && !last {
				thought, t.held = withhold(thought, t.end)
			}
			if thought != "" {
				out = append(out, session.Reasoning{Delta: thought})
			}
			if text = rest; closed {
				t.end, t.lone, t.behind = "", true, true
			}
		case !t.decided:
			rest, begun, open := t.begins(text)
			if !begun && open && !last {
				t.held = text
				return out
			}
			if t.decided = !begun; begun {
				text = rest
			}
		default:
			plain, rest := t.untilLoneEnd(text, last)
			if text = rest; plain != nil {
				out = append(out, plain)
			}
		}
	}
	return out
}

// begins reports whether a text begins with a thought, or may still do so, and what follows.
func (t *thoughts) begins(text string) (rest string, begun, open bool) {
	text = strings.TrimLeft(text, " \t\r\n")
	for _, tag := range thoughtTags() {
		if rest, begun := strings.CutPrefix(text, tag[0]); begun {
			t.end = tag[1]
			return rest, true, false
		}
		open = open || strings.HasPrefix(tag[0], text)
	}
	return text, false, open
}

// untilLoneEnd reads text up to the end of a thought whose beginning stood in the prompt. An end in
// code, in quotation marks, or behind its own beginning is spoken of.
func (t *thoughts) untilLoneEnd(text string, last bool) (session.Chunk, string) {
	const end = "</think>"
	before, rest, found := strings.Cut(text, end)
	if t.lone || !found {
		if !last && !t.lone {
			before, t.held = withhold(text, end)
		} else {
			before = text
		}
		t.said.WriteString(before)
		if before == "" {
			return nil, ""
		}
		return session.Text{Delta: before}, ""
	}
	t.said.WriteString(before)
	said := t.said.String()
	if strings.Contains(said, "<think>") || strings.Count(said, "`")%2 == 1 || strings.HasSuffix(said, `"`) || strings.HasSuffix(said, "'") {
		t.said.WriteString(end)
		return session.Text{Delta: before + end}, rest
	}
	t.lone, t.behind = true, true
	return session.Reasoning{Delta: before, Earlier: true}, rest
}

// withhold cuts off what may be the beginning of a mark.
func withhold(text, mark string) (sure, held string) {
	for n := min(len(mark)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, mark[:n]) {
			return text[:len(text)-n], text[len(text)-n:]
		}
	}
	return text, ""
}
