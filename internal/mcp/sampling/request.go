package sampling

//lint:file-ignore SA1019 see sampling.go

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/session"
	"adze/tool"
)

// Bounds of one request.
const (
	maxMessages = 50
	maxText     = 64 << 10 // bytes of all texts
	maxPictures = 4
	maxPicture  = 2 << 20   // bytes of one
	maxTokens   = 4096      // of the answer; a server that wants more gets so many
	maxAnswer   = 256 << 10 // bytes of the answer
	maxStops    = 8
	maxShown    = 4000 // bytes that a user is shown
	maxTold     = 200  // bytes of a question in a line
)

// agent is the name by which written and recorded models know these requests.
const agent = "sampling"

// request is what a server asks, bounded and cleaned, without the secrets that are known.
func (d *Desk) request(p *sdk.CreateMessageWithToolsParams, m Model) (r session.Request, err error) {
	switch {
	case p == nil || len(p.Messages) == 0:
		return r, invalid("there is no message")
	case len(p.Messages) > maxMessages:
		return r, invalid("%d messages are more than %d", len(p.Messages), maxMessages)
	case p.MaxTokens <= 0:
		return r, invalid("maxTokens has to be more than 0")
	case len(p.Tools) > 0 || p.ToolChoice != nil && p.ToolChoice.Mode != "none":
		return r, invalid("tools are not supported")
	case len(p.StopSequences) > maxStops:
		return r, invalid("%d stop sequences are more than %d", len(p.StopSequences), maxStops)
	}
	d.mu.Lock()
	d.ids++
	id := fmt.Sprintf("%s%d", agent, d.ids)
	d.mu.Unlock()
	b := builder{desk: d, blind: m.Blind}
	r = session.Request{System: b.text(p.SystemPrompt), MaxTokens: int(min(p.MaxTokens, maxTokens)), Choice: session.ChooseNone, Agent: agent}
	for i, one := range p.Messages {
		if one == nil || one.Role != sdk.Role(session.User) && one.Role != sdk.Role(session.Assistant) {
			return r, invalid("a message is of a user or an assistant")
		}
		said := session.Message{ID: fmt.Sprintf("%s-%d", id, i+1), Role: session.Role(one.Role)}
		if said.Parts, err = b.parts(one); err != nil {
			return r, err
		}
		r.Messages = append(r.Messages, said)
	}
	if r.Messages[len(r.Messages)-1].Role != session.User {
		return r, invalid("the last message has to be of a user")
	}
	return r, b.fits()
}

// builder counts what a request holds.
type builder struct {
	desk            *Desk
	blind           func() bool
	bytes, pictures int
}

// text is cleaned as what is shown is: the model gets what the user saw.
func (b *builder) text(s string) string {
	b.bytes += len(s)
	if b.bytes > maxText {
		return ""
	}
	return b.desk.masked(mcp.Clean(s, maxText))
}

func (b *builder) fits() error {
	switch {
	case b.bytes > maxText:
		return invalid("%d bytes of text are more than %d", b.bytes, maxText)
	case b.pictures > maxPictures:
		return invalid("%d pictures are more than %d", b.pictures, maxPictures)
	}
	return nil
}

func (b *builder) parts(m *sdk.SamplingMessageV2) (out []session.Part, err error) {
	for _, c := range m.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			if text := b.text(c.Text); text != "" {
				out = append(out, session.Part{Kind: session.TextPart, Text: text})
			}
		case *sdk.ImageContent:
			kind := http.DetectContentType(c.Data) // what it says of itself is a stranger's word
			switch {
			case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
				return nil, invalid("pictures are PNG, JPEG, GIF or WebP")
			case len(c.Data) > maxPicture:
				return nil, invalid("a picture of %d bytes is more than %d", len(c.Data), maxPicture)
			case b.blind():
				return nil, invalid("the model takes no pictures")
			case m.Role != sdk.Role(session.User):
				return nil, invalid("a picture is in a message of a user")
			}
			b.pictures++
			out = append(out, session.Part{Kind: session.AttachmentPart, Attachment: &tool.Attachment{Name: fmt.Sprintf("picture %d", b.pictures), MediaType: kind, Data: c.Data}})
		default:
			return nil, invalid("messages hold texts and pictures")
		}
	}
	if len(out) == 0 && b.bytes <= maxText {
		return nil, invalid("a message is empty")
	}
	return out, nil
}

// lastOf is the text that is asked last.
func lastOf(r session.Request) string {
	last := r.Messages[len(r.Messages)-1]
	if text := last.Text(); text != "" {
		return text
	}
	return "(a picture)"
}

// show is a request as a user is shown it: the beginning and the end of what is too long.
func show(server string, m Model, r session.Request) string {
	var out strings.Builder
	if r.System != "" {
		fmt.Fprintf(&out, "instructions: %s\n", r.System)
	}
	for _, said := range r.Messages {
		for _, p := range said.Parts {
			switch {
			case p.Attachment != nil:
				fmt.Fprintf(&out, "%s: (%s, %s, %d bytes)\n", said.Role, p.Attachment.Name, p.Attachment.MediaType, len(p.Attachment.Data))
			default:
				fmt.Fprintf(&out, "%s: %s\n", said.Role, p.Text)
			}
		}
	}
	return fmt.Sprintf("The MCP server %s wants to ask the model %s, at your cost, for an answer of at most %d tokens, which you see before it goes back. For this session: all of them, unseen. It asks:\n\n%s", server, m.Name, r.MaxTokens, middle(out.String()))
}

// showAnswer is an answer as a user is shown it before the server gets it.
func showAnswer(server string, m Model, text string) string {
	if strings.TrimSpace(text) == "" {
		text = "(nothing)"
	}
	return fmt.Sprintf("The model %s answered what the MCP server %s asked. Does the server get it? For this session: all of them, unseen. The answer:\n\n%s", m.Name, server, middle(text))
}

// middle leaves out the middle of a text that is too long to be looked at.
func middle(text string) string {
	text = strings.TrimRight(text, "\n")
	if len(text) <= maxShown {
		return text
	}
	return fmt.Sprintf("%s\n[%d bytes are not shown]\n%s", strings.ToValidUTF8(text[:maxShown*3/4], ""), len(text)-maxShown, strings.ToValidUTF8(text[len(text)-maxShown/4:], ""))
}

// result is an answer as the server gets it, and its text. It is cleaned: the server gets what a
// user is shown.
func (d *Desk) result(said session.Message, m Model, stops []string) (*sdk.CreateMessageWithToolsResult, string) {
	text, stop := said.Text(), "endTurn"
	if said.Stop == session.StopLength {
		stop = "maxTokens"
	}
	for _, s := range stops {
		if at := strings.Index(text, s); s != "" && at >= 0 {
			text, stop = text[:at], "stopSequence"
		}
	}
	text = d.masked(mcp.Clean(text, len(text)))
	if len(text) > maxAnswer {
		text, stop = strings.ToValidUTF8(text[:maxAnswer], ""), "maxTokens"
	}
	return &sdk.CreateMessageWithToolsResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, Model: m.Name, Role: sdk.Role(session.Assistant), StopReason: stop}, text
}
