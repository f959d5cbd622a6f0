package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/policy"
	"adze/internal/text/safeterm"
	"adze/tool"
)

// question is a question to a client, with the channel for its answer.
type question struct {
	params *mcp.ElicitParams
	answer chan *mcp.ElicitResult // nil for none
}

// Ask asks the user at the client that made ctx's call; it is a policy.Asker. Only the exact
// answers once and session allow anything. It fails if the client does not support questions.
func (s *Server) Ask(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil || !c.takesQuestions {
		c.remember(p)
		return policy.Answer{}, policy.ErrNobody
	}
	got, err := c.elicit(ctx, s.ask(ctx, q, p, c.client.name))
	if err != nil {
		return policy.Answer{}, err
	}
	if got == nil {
		return policy.Answer{}, policy.ErrNobody
	}
	word, _ := got.Content["answer"].(string)
	reason, _ := got.Content["reason"].(string)
	switch {
	case got.Action == "accept" && word == string(policy.Once):
		return policy.Answer{Choice: policy.Once}, nil
	case got.Action == "accept" && word == string(policy.Session) && len(p.Offers) > 0:
		return policy.Answer{Choice: policy.Session, Offer: max(policy.DefaultOffer(p.Offers), 0)}, nil
	}
	return policy.Answer{Choice: policy.No, Reason: reason}, nil
}

// remember stores the rules that would have avoided the question.
func (c *call) remember(p policy.Prompt) {
	if c == nil || len(p.Offers) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range p.Offers[0].Rules {
		c.rules = append(c.rules, strings.TrimPrefix(r, "allow "))
	}
}

// elicit asks in the form of the client's protocol version.
func (c *call) elicit(ctx context.Context, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if !c.modern {
		return c.session.Elicit(ctx, params)
	}
	q := &question{params: params, answer: make(chan *mcp.ElicitResult, 1)}
	select {
	case c.asked <- q:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case got := <-q.answer:
		return got, nil
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), context.Cause(ctx))
	}
}

// mostShown limits the shown part of a change, in bytes.
const mostShown = 4 << 10

// ask builds the question, with the same choices as in adze's own interface.
func (s *Server) ask(ctx context.Context, q tool.Question, p policy.Prompt, client string) *mcp.ElicitParams {
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants adze to run %s:\n", client, q.Tool.Name)
	for _, i := range p.Items {
		fmt.Fprintf(&b, "- %s %s\n", i.Need.Permission, i.Need.Touches())
		if i.Target != "" && i.Target != i.Need.Target {
			fmt.Fprintf(&b, "  that is: %s\n", i.Target)
		}
		if i.Reason != "" {
			fmt.Fprintf(&b, "  asked because: %s\n", i.Reason)
		}
	}
	if q.Wanted != "" {
		fmt.Fprintf(&b, "A hook wants you to look: %s\n", q.Wanted)
	}
	b.WriteString(shown(ctx, q))
	words := []any{string(policy.Once), string(policy.No)}
	means := "once: allow this call; no: deny it"
	if len(p.Offers) > 0 {
		offer := p.Offers[max(policy.DefaultOffer(p.Offers), 0)]
		covers := offer.Covers
		if offer.Spares != "" {
			covers += " (not " + offer.Spares + ")"
		}
		words = []any{string(policy.Once), string(policy.Session), string(policy.No)}
		means = fmt.Sprintf("once: allow this call; session: allow %s until the client goes; no: deny it", covers)
	}
	return &mcp.ElicitParams{
		Mode: "form", Message: s.clean(strings.TrimRight(b.String(), "\n")),
		RequestedSchema: map[string]any{
			"type": "object", "required": []any{"answer"},
			"properties": map[string]any{
				"answer": map[string]any{"type": "string", "title": "Allow it?", "description": s.clean(means), "enum": words},
				"reason": map[string]any{"type": "string", "title": "Why not?", "description": "what the model is told with a no"},
			},
		},
	}
}

// shown describes the call, up to a limit.
func shown(ctx context.Context, q tool.Question) string {
	if q.Preview == nil {
		return ""
	}
	var b strings.Builder
	for _, block := range q.Preview(ctx) {
		if block.Text != "" {
			b.WriteString(strings.TrimRight(block.Text, "\n") + "\n")
		}
	}
	text := b.String()
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "") + fmt.Sprintf("\n(%d more bytes)", len(text)-mostShown)
	}
	return text
}

// clean masks secrets and escapes control characters.
func (s *Server) clean(text string) string { return safeterm.Reveal(s.o.Mask(text)).String() }
