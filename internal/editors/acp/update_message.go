package acp

import (
	"cmp"
	"encoding/base64"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"adze/session"
	"adze/tool"
)

// updateEncoder turns a session's events into updates. observe is for live events, replay for
// session/load; both send the same for the same log.
type updateEncoder struct {
	thread *thread

	mu           sync.Mutex
	conversation Conversation // nil while it is being opened
	early        []string     // notices until then
	message      string       // id; its text is being sent
	text         int          // its bytes sent so far
	thought      int
	calls        map[tool.CallID]*shownCall
	mode         string     // last sent
	usage        [3]float64 // last sent
	questions    int        // questions without a call
}

// settled is called when the conversation is open.
func (t *updateEncoder) settled(with Conversation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conversation, t.mode, t.calls = with, with.Mode(), map[tool.CallID]*shownCall{}
}

// before returns the notices from the opening, once.
func (t *updateEncoder) before() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	early := t.early
	t.early = nil
	return early
}

func (t *updateEncoder) observe(e session.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case session.Notice:
		t.warn(e.Text)
		return
	case session.Compacted:
		t.warn(e.String())
		return
	case session.Unsaved:
		t.warn(e.String())
		return
	}
	if t.conversation == nil {
		return
	}
	switch e := e.(type) {
	case session.TextDelta:
		t.writes(e.Message)
		t.text += len(e.Delta)
		t.say(e.Message, e.Delta)
	case session.ReasoningDelta:
		t.writes(e.Message)
		t.thought += len(e.Delta)
		t.think(e.Message, e.Delta)
	case session.Retry:
		t.broken(e)
	case session.MessageDone:
		switch m := e.Message; {
		case m.Role == session.Assistant:
			t.finish(m)
		case m.Meanwhile: // another process's remark
			t.asked(m)
		}
	default:
		t.called(e)
	}
	t.modes()
}

func (t *updateEncoder) replay(e session.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	done, ok := e.(session.MessageDone)
	end, ended := e.(session.TurnEnd)
	switch {
	case ended:
		t.aside(endOf(end.Result))
	case !ok:
		t.called(e)
	case done.Message.Role == session.Assistant:
		t.finish(done.Message)
	case done.Message.Role == session.User && !done.Message.Note && !done.Message.Summary:
		t.asked(done.Message)
	}
}

// endOf describes an abnormal end of a turn, as in the response to its prompt.
func endOf(r session.Result) string {
	text := "this turn ended: " + cmp.Or(r.Message, string(r.Cause))
	if r.Hint != "" && r.Cause != session.CauseInterrupted {
		text += " (" + r.Hint + ")"
	}
	return text
}

func (t *updateEncoder) writes(message string) {
	if t.message != message {
		t.message, t.text, t.thought = message, 0, 0
	}
}

// finish sends the rest of a complete message. Its parts come in their original order.
func (t *updateEncoder) finish(m session.Message) {
	t.writes(m.ID)
	for _, p := range m.Parts {
		switch p.Kind {
		case session.TextPart:
			t.text = rest(t.text, p.Text, func(text string) { t.say(m.ID, text) })
		case session.ReasoningPart:
			t.thought = rest(t.thought, p.Text, func(text string) { t.think(m.ID, text) })
		}
	}
	t.message = ""
}

// rest sends a text without its first told bytes, and returns how many of those belong to the next
// text.
func rest(told int, text string, tell func(string)) int {
	if told >= len(text) {
		return told - len(text)
	}
	tell(text[told:])
	return 0
}

// broken sends a note that the partial answer is void: it cannot be withdrawn.
func (t *updateEncoder) broken(r session.Retry) {
	t.unformed()
	if t.message == r.Message && t.text > 0 {
		t.say(r.Message, "\n\n(the answer broke off and is asked for again)\n\n")
	}
	t.message = ""
}

// asked sends a user's prompt in the editor's original form.
func (t *updateEncoder) asked(m session.Message) {
	for _, p := range m.Parts {
		switch {
		case p.Kind == session.TextPart && p.Text != "":
			t.user(m.ID, sdk.TextBlock(p.Text))
		case p.Kind == session.AttachmentPart && p.Attachment != nil:
			t.user(m.ID, attachment(*p.Attachment))
		}
	}
}

// attachment returns an image, or a placeholder for a document.
func attachment(a tool.Attachment) sdk.ContentBlock {
	if strings.HasPrefix(a.MediaType, "image/") {
		return sdk.ImageBlock(base64.StdEncoding.EncodeToString(a.Data), a.MediaType)
	}
	return sdk.ResourceBlock(sdk.EmbeddedResourceResource{BlobResourceContents: &sdk.BlobResourceContents{
		Blob: base64.StdEncoding.EncodeToString(a.Data), MimeType: sdk.Ptr(a.MediaType), Uri: "attachment:" + a.Name,
	}})
}

func (t *updateEncoder) user(id string, block sdk.ContentBlock) {
	t.thread.post(sdk.SessionUpdate{UserMessageChunk: &sdk.SessionUpdateUserMessageChunk{Content: block, MessageId: &id}})
}

func (t *updateEncoder) say(id, text string) {
	if text != "" {
		t.thread.post(sdk.SessionUpdate{AgentMessageChunk: &sdk.SessionUpdateAgentMessageChunk{Content: sdk.TextBlock(text), MessageId: &id}})
	}
}

func (t *updateEncoder) think(id, text string) {
	if text != "" {
		t.thread.post(sdk.SessionUpdate{AgentThoughtChunk: &sdk.SessionUpdateAgentThoughtChunk{Content: sdk.TextBlock(text), MessageId: &id}})
	}
}

// notice shows the user a message outside the conversation.
func (t *updateEncoder) notice(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.warn(text)
}

// warn logs a notice and sends it, or keeps it until the conversation is open.
func (t *updateEncoder) warn(text string) {
	t.thread.agent.Program.Log(text)
	if t.conversation == nil {
		t.early = append(t.early, text)
		return
	}
	t.aside(text)
}

// aside sends a notice as a thought: the stable protocol has no other place, and a thought is no
// answer.
func (t *updateEncoder) aside(text string) {
	t.thread.post(sdk.SessionUpdate{AgentThoughtChunk: &sdk.SessionUpdateAgentThoughtChunk{
		Content: sdk.TextBlock("! " + text + "\n"), Meta: map[string]any{metaKey: map[string]any{"notice": true}},
	}})
}
