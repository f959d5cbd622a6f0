package replay

import (
	"adze/session"
)

func talkOf(q session.Request) string { return q.Agent + "/" + talkHash(q) }

func talkHash(q session.Request) string {
	if q.Agent == "" {
		return ""
	}
	return digest([]byte(firstWords(q)))[:12]
}

func firstWords(q session.Request) string {
	if len(q.Messages) == 0 {
		return ""
	}
	return q.Messages[0].Text()
}

func (s Step) talk() string { return s.Agent + "/" + s.Talk }

type talk struct{ sent []string } // message ids in its last request

// news returns the messages added since the previous request; after an undo, those from the first
// difference on.
func (t *talk) news(messages []session.Message) []session.Message {
	same := 0
	for same < len(t.sent) && same < len(messages) && t.sent[same] == messages[same].ID {
		same++
	}
	t.sent = t.sent[:0]
	for _, m := range messages {
		t.sent = append(t.sent, m.ID)
	}
	return messages[same:]
}
