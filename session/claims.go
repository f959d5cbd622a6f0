package session

import (
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// ClaimKind classifies claims without evidence.
type ClaimKind string

// Claim kinds.
const (
	TestsClaim   ClaimKind = "tests"   // tests pass
	CommandClaim ClaimKind = "command" // a command was run
)

// A Claim is a statement in an answer that the session's calls do not support.
type Claim struct {
	Kind  ClaimKind `json:"kind"`
	Quote string    `json:"quote"` // the sentence
	Text  string    `json:"text"`  // the claim, and the facts
}

// Evidence is a clause in an answer that a call proves.
type Evidence struct {
	Kind  ClaimKind   `json:"kind"`
	Quote string      `json:"quote"` // the clause
	Call  tool.CallID `json:"call"`
	Text  string      `json:"text"` // the proof, such as the command
}

// String formats the evidence on one line for the user.
func (e Evidence) String() string { return fmt.Sprintf("✓ %s: %s", e.Quote, e.Text) }

// Mark returns the annotation to put after the clause.
func (e Evidence) Mark() string { return "✓ " + e.Text }

// Mark returns the annotation to put after the sentence.
func (c Claim) Mark() string {
	known := c.Text
	if _, after, ok := strings.Cut(c.Text, "; "); ok {
		known = after
	}
	return "✗ " + known
}

// EvidenceText lists an answer's evidence and claims in Markdown, for a commit message or a pull
// request. It is "" if there are none.
func EvidenceText(evidence []Evidence, claims []Claim) string {
	var b strings.Builder
	for _, e := range evidence {
		text, when, _ := strings.Cut(e.Text, ", after the last edit")
		if e.Text != text {
			when = ", after the last edit" + when
		}
		fmt.Fprintf(&b, "- ✓ %s: %s%s\n", inMarkdown(e.Quote), codeSpan(text), when)
	}
	for _, c := range claims {
		fmt.Fprintf(&b, "- %s: %s\n", "✗ "+inMarkdown(c.Quote), inMarkdown(strings.TrimPrefix(c.Mark(), "✗ ")))
	}
	return b.String()
}

// inMarkdown returns a quote on one line, without mark-like characters.
func inMarkdown(quote string) string {
	quote = strings.NewReplacer("✓", "[x]", "✗", "[ ]", "<", "&lt;", "![", `!\[`, "](", `]\(`).Replace(quote)
	return strings.TrimRight(strings.Join(strings.Fields(quote), " "), ".:;,!")
}

func codeSpan(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if strings.Contains(text, "`") {
		return "`` " + strings.ReplaceAll(text, "``", "` `") + " ``"
	}
	return "`" + text + "`"
}

// String formats the claim on one line for the user.
func (c Claim) String() string { return fmt.Sprintf("the answer %s (“%s”)", c.Text, c.Quote) }

// Answered holds the answer that a turn would end with and the conversation before it.
type Answered struct {
	Text    string
	System  string
	History []Message // without the answer; may begin with a summary
	Begin   int       // the turn's first message
}

// ClaimCheck compares answers with the calls made.
type ClaimCheck struct {
	Check func(Answered) ([]Claim, []Evidence) // returns unproven and proven claims; may be nil
	Send  bool                                 // tell the model, once a turn
}

// Claimed holds a turn's claims and evidence. It comes before TurnEnd, whose result is stored with
// it. The model does not see it.
type Claimed struct {
	Claims   []Claim
	Evidence []Evidence
}

func (Claimed) event() {}

// claims checks the answer that the turn would end with. It returns a text for the model, if Send
// is set, once a turn.
func (t *turn) claims(s *Session) string {
	if s.config.Claims.Check == nil || t.result.Text == "" {
		return ""
	}
	begin := max(0, slices.IndexFunc(s.history, func(m Message) bool { return m.ID == t.prompt })) // a summary may have removed it
	answer := Answered{Text: t.result.Text, System: s.config.Start.System, History: slices.Concat(s.earlier, s.history), Begin: len(s.earlier) + begin}
	t.result.Claims, t.result.Evidence = s.config.Claims.Check(answer)
	if len(t.result.Claims) == 0 || !s.config.Claims.Send || t.claimed {
		return ""
	}
	t.claimed = true
	return ClaimsText(t.result.Claims)
}

// ClaimsText formats claims for the model.
func ClaimsText(claims []Claim) string {
	var b strings.Builder
	b.WriteString("Your last answer was compared with the calls of this conversation:\n")
	for _, c := range claims {
		fmt.Fprintf(&b, "- It %s. You wrote: %s\n", c.Text, c.Quote)
	}
	return b.String() + "Do what is missing, or correct what you said."
}
