package session

import (
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// ClaimKind says what an answer claims that the calls do not show.
type ClaimKind string

// Kinds of claims.
const (
	TestsClaim   ClaimKind = "tests"   // tests pass
	CommandClaim ClaimKind = "command" // a command was run
)

// Claim is a statement of an answer beside what the calls of the session show.
type Claim struct {
	Kind  ClaimKind `json:"kind"`
	Quote string    `json:"quote"` // the sentence
	Text  string    `json:"text"`  // what is claimed; what is known
}

// Evidence is a clause of an answer that a call shows to be true.
type Evidence struct {
	Kind  ClaimKind   `json:"kind"`
	Quote string      `json:"quote"` // the clause
	Call  tool.CallID `json:"call"`
	Text  string      `json:"text"` // what shows it, such as the command
}

// String is the evidence as a user reads it, on one line.
func (e Evidence) String() string { return fmt.Sprintf("✓ %s: %s", e.Quote, e.Text) }

// Mark is what stands behind the clause: what shows it.
func (e Evidence) Mark() string { return "✓ " + e.Text }

// Mark is what stands behind the sentence: what is known instead.
func (c Claim) Mark() string {
	known := c.Text
	if _, after, ok := strings.Cut(c.Text, "; "); ok {
		known = after
	}
	return "✗ " + known
}

// EvidenceText is a Markdown list of what calls show of an answer and of what they do not, for a
// commit message or a pull request. It is empty where nothing is known.
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

// inMarkdown is a quote of an answer on one line, with no sign that could be taken for a mark.
func inMarkdown(quote string) string {
	quote = strings.NewReplacer("✓", "[x]", "✗", "[ ]", "<", "&lt;", "![", `!\[`, "](", `]\(`).Replace(quote)
	return strings.TrimRight(strings.Join(strings.Fields(quote), " "), ".:;,!")
}

// codeSpan is a text as code in Markdown, on one line.
func codeSpan(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if strings.Contains(text, "`") {
		return "`` " + strings.ReplaceAll(text, "``", "` `") + " ``"
	}
	return "`" + text + "`"
}

// String is the claim as a user reads it, on one line.
func (c Claim) String() string { return fmt.Sprintf("the answer %s (“%s”)", c.Text, c.Quote) }

// Answered is the answer that a turn would end with and the conversation that led to it.
type Answered struct {
	Text    string
	System  string
	History []Message // without the answer; it begins with a summary where one took the place of the rest
	Begin   int       // where the turn begins in it
}

// ClaimCheck compares answers with what was done.
type ClaimCheck struct {
	Check func(Answered) ([]Claim, []Evidence) // the claims that calls do not show, and those that they do; if nil, nobody looks
	Send  bool                                 // the model is told, once a turn
}

// Claimed says what a turn's answer claims that its calls do not show, and what they show. It comes
// before TurnEnd, whose result is stored with it. The model is not told.
type Claimed struct {
	Claims   []Claim
	Evidence []Evidence
}

func (Claimed) event() {}

// claims looks at the answer that the turn would end with. What it returns is for the model, where
// that is wanted, once a turn.
func (t *turn) claims(s *Session) string {
	if s.config.Claims.Check == nil || t.result.Text == "" {
		return ""
	}
	begin := max(0, slices.IndexFunc(s.history, func(m Message) bool { return m.ID == t.prompt })) // a summary may have taken it
	answer := Answered{Text: t.result.Text, System: s.config.Start.System, History: slices.Concat(s.earlier, s.history), Begin: len(s.earlier) + begin}
	t.result.Claims, t.result.Evidence = s.config.Claims.Check(answer)
	if len(t.result.Claims) == 0 || !s.config.Claims.Send || t.claimed {
		return ""
	}
	t.claimed = true
	return ClaimsText(t.result.Claims)
}

// ClaimsText tells the model what it claimed.
func ClaimsText(claims []Claim) string {
	var b strings.Builder
	b.WriteString("Your last answer was compared with the calls of this conversation:\n")
	for _, c := range claims {
		fmt.Fprintf(&b, "- It %s. You wrote: %s\n", c.Text, c.Quote)
	}
	return b.String() + "Do what is missing, or correct what you said."
}
