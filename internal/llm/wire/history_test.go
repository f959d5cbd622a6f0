package wire_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

func asks(id string, calls ...tool.CallID) session.Message {
	m := session.Message{ID: id, Role: session.Assistant}
	for _, c := range calls {
		m.Parts = append(m.Parts, session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: c, Name: "read"}})
	}
	return m
}

func answers(id string, calls ...tool.CallID) session.Message {
	m := session.Message{ID: id, Role: session.ToolRole}
	for _, c := range calls {
		m.Parts = append(m.Parts, session.Part{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: c, Output: "out " + string(c)}})
	}
	return m
}

func says(id string) session.Message { return session.Message{ID: id, Role: session.User} }

// show writes a history as "id(call=output ...)".
func show(messages []session.Message) string {
	var out []string
	for _, m := range messages {
		s := m.ID
		for _, p := range m.Parts {
			if p.Outcome != nil {
				s += fmt.Sprintf(" %s=%.6s", p.Outcome.Call, p.Outcome.Output)
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func TestHistoryAnswersEachCallOnce(t *testing.T) {
	for _, c := range []struct {
		name, want string
		messages   []session.Message
	}{
		{"as it should be", "u | a | o x=out x y=out y | b", []session.Message{says("u"), asks("a", "x", "y"), answers("o", "x", "y"), asks("b")}},
		{"other order", "a | a/outcomes x=out x y=out y", []session.Message{asks("a", "x", "y"), answers("o", "y", "x")}},
		{"one missing", "a | a/outcomes x=out x y=no out", []session.Message{asks("a", "x", "y"), answers("o", "x")}},
		{"all missing", "a | a/outcomes x=no out | u", []session.Message{asks("a", "x"), says("u")}},
		{"in two messages", "a | a/outcomes x=out x y=out y | u", []session.Message{asks("a", "x", "y"), answers("o", "x"), answers("p", "y"), says("u")}},
		{"one too many", "a | a/outcomes x=out x", []session.Message{asks("a", "x"), answers("o", "x", "z")}},
		{"orphans", "u | a", []session.Message{answers("o", "z"), says("u"), asks("a"), answers("p", "z")}},
	} {
		if got := show(new(wire.Cache).History(c.messages)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// However a conversation grows, its history is what it would be by itself.
func TestHistoryOfAConversationThatGrows(t *testing.T) {
	var cache wire.Cache
	messages := []session.Message{
		says("u"), asks("a", "x"), answers("o", "x"), asks("b", "y"), answers("p", "y"), answers("q", "z"), says("v"), asks("c", "v"), says("w"),
	}
	for n := range messages {
		if got, want := show(cache.History(messages[:n+1])), show(new(wire.Cache).History(messages[:n+1])); got != want {
			t.Errorf("%d messages: %s, want %s", n+1, got, want)
		}
	}
}

func TestAHistoryInOrderIsNotCopied(t *testing.T) {
	history := []session.Message{says("u"), asks("a", "x", "y"), answers("o", "x", "y"), says("v")}
	var cache wire.Cache
	if n := testing.AllocsPerRun(10, func() { cache.History(history) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// encoded is one message by itself.
func encoded(cache *wire.Cache, variant string, m session.Message, encode func(session.Message) []byte) []byte {
	return cache.Messages(variant, []session.Message{m}, func(int) []byte { return encode(m) })[0]
}

func TestMessagesAreEncodedOnce(t *testing.T) {
	var cache wire.Cache
	encodings := 0
	encode := func(m session.Message) []byte { encodings++; return []byte(m.ID) }
	var history []session.Message
	for i := range 400 {
		history = append(history, asks(fmt.Sprint("a", i), "x"), answers(fmt.Sprint("o", i), "x"))
		history = cache.History(history)
		cache.Messages("", history, func(i int) []byte { return encode(history[i]) })
	}
	if encodings != 800 {
		t.Errorf("%d encodings of 800 messages", encodings)
	}
	// The same messages, loaded anew, are equal but elsewhere in memory.
	for i := range 400 {
		encoded(&cache, "", asks(fmt.Sprint("a", i), "x"), encode)
	}
	if encodings != 800 {
		t.Errorf("%d encodings after loading anew", encodings)
	}
}

func TestCacheTellsSessionsApart(t *testing.T) {
	var cache wire.Cache
	text := func(s string) session.Message {
		return session.Message{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: s}}}
	}
	encode := func(m session.Message) []byte { return []byte(m.Text()) }
	for range 2 {
		for _, s := range []string{"one", "two"} {
			if got := encoded(&cache, "", text(s), encode); string(got) != s {
				t.Errorf("%s became %s", s, got)
			}
		}
	}
	for _, change := range []func(*session.Message){
		func(m *session.Message) { m.Provider = "other" },
		func(m *session.Message) { m.Parts[0].Opaque = []byte("{}") },
		func(m *session.Message) { m.Parts[0] = asks("", "x").Parts[0] },
		func(m *session.Message) { m.Parts[0] = answers("", "x").Parts[0] },
		func(m *session.Message) {
			m.Parts[0] = session.Part{Kind: session.AttachmentPart, Attachment: &tool.Attachment{Name: "a"}}
		},
	} {
		m, hit := text("one"), true
		change(&m)
		for range 2 {
			hit = true
			encoded(&cache, "", m, func(session.Message) []byte { hit = false; return []byte("x") })
		}
		first := m
		first.Parts = append([]session.Part(nil), m.Parts...)
		if !hit || string(encoded(&cache, "", first, encode)) != "x" {
			t.Errorf("%+v was taken for another message", m)
		}
	}
}

func TestToolsAreEncodedOncePerDigest(t *testing.T) {
	var cache wire.Cache
	n := 0
	encode := func() []byte { n++; return []byte("tools") }
	for _, digest := range []string{"a", "a", "b", "a", "", ""} {
		cache.Tools(digest, encode)
	}
	if n != 4 {
		t.Errorf("%d encodings", n)
	}
}

func TestCacheTogether(t *testing.T) {
	var cache wire.Cache
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 50 {
				id := fmt.Sprint(i%2, j)
				if got := encoded(&cache, "", says(id), func(m session.Message) []byte { return []byte(m.ID) }); string(got) != id {
					t.Error(id, string(got))
				}
			}
		})
	}
	group.Wait()
}

func TestBodyIsReadFromItsStartEachTime(t *testing.T) {
	b := &wire.Body{}
	for _, piece := range []string{"one", "", "two", "three"} {
		b.Text(piece)
	}
	for range 2 {
		got, err := io.ReadAll(b.Reader())
		if string(got) != "onetwothree" || err != nil || b.Len() != 11 {
			t.Errorf("%s, %v, %d", got, err, b.Len())
		}
	}
}

func TestAttachmentKinds(t *testing.T) {
	for _, c := range []struct{ media, data, want, note string }{
		{"image/PNG", "x", wire.Image, "[attachment a (image/PNG, 1 bytes) cannot be shown to this model]"},
		{"application/pdf", "x", wire.Document, "[attachment a (application/pdf, 1 bytes) cannot be shown to this model]"},
		{"text/plain; charset=utf-8", "hi", wire.Plain, "[a]\nhi"},
		{"text/plain", "\xff", wire.Other, "[attachment a (text/plain, 1 bytes) cannot be shown to this model]"},
		{"image/svg+xml", "x", wire.Other, "[attachment a (image/svg+xml, 1 bytes) cannot be shown to this model]"},
	} {
		a := tool.Attachment{Name: "a", MediaType: c.media, Data: []byte(c.data)}
		if wire.KindOf(a) != c.want || wire.Note(a) != c.note {
			t.Errorf("%s: %s, %s", c.media, wire.KindOf(a), wire.Note(a))
		}
	}
}

// BenchmarkHistory is what the messages of a 400-turn session cost at its last request.
func BenchmarkHistory(b *testing.B) {
	var cache wire.Cache
	var history []session.Message
	for i := range 400 {
		history = append(history, asks(fmt.Sprint("a", i), "x"), answers(fmt.Sprint("o", i), "x"))
	}
	encode := func(m session.Message) []byte { return wire.JSON(m) }
	b.ReportAllocs()
	for b.Loop() {
		history := cache.History(history)
		cache.Messages("", history, func(i int) []byte { return encode(history[i]) })
	}
}
