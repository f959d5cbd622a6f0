package wire

import (
	"strings"

	"adze/session"
)

// thoughtTags are the thinking tags that a server without a reasoning parser leaves in the text: of
// Qwen and DeepSeek, Seed, Mistral and Command.
func thoughtTags() [][2]string {
	return [][2]string{
		{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<seed:think>", "</seed:think>"}, {"[THINK]", "[/THINK]"}, {"<|START_THINKING|>", "<|END_THINKING|>"},
	}
}

// thoughts separates thinking from an answer's text. A thought begins an answer; if its opening tag
// was in the prompt, everything before a lone closing tag is one.
type thoughts struct {
	undecided string          // undecided
	end       string          // closing tag of the open thought, or ""
	said      strings.Builder // text so far, after a thought
	decided   bool            // no further thought can begin
	lone      bool            // a lone closing tag or a whole thought was seen
	behind    bool            // a thought has just ended: skip line breaks before the text
}

// split returns the decided chunks after a piece of text; last ends the text.
func (t *thoughts) split(piece string, last bool) (out []session.Chunk) {
	text := t.undecided + piece
	t.undecided = ""
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
				thought, t.undecided = withhold(thought, t.end)
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
				t.undecided = text
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

// begins reports whether text begins with a thought or may still do so, and returns the rest.
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

// untilLoneEnd reads text up to the end of a thought whose opening tag was in the prompt. A closing
// tag in code, in quotes, or after its own opening tag is only mentioned.
func (t *thoughts) untilLoneEnd(text string, last bool) (session.Chunk, string) {
	const end = "</think>"
	before, rest, found := strings.Cut(text, end)
	if t.lone || !found {
		if !last && !t.lone {
			before, t.undecided = withhold(text, end)
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

// withhold cuts off a possible beginning of a mark.
func withhold(text, mark string) (sure, held string) {
	for n := min(len(mark)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, mark[:n]) {
			return text[:len(text)-n], text[len(text)-n:]
		}
	}
	return text, ""
}
