package wire_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"adze/internal/llm/wire"
	"adze/session"
)

// However histories grow, are cut, go back, change under their ids and turn from one variant to
// another, what is kept is what encoding anew would make.
func TestKeptMessagesAreThoseOfTheHistory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var cache wire.Cache
	var history []session.Message
	add := func() {
		text := fmt.Sprint("text ", random.IntN(40))
		id := fmt.Sprint("m", random.IntN(60)) // ids repeat between sessions
		history = append(history, session.Message{ID: id, Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}})
	}
	made := 0
	for range 3000 {
		switch k := random.IntN(20); {
		case k < 12 || len(history) == 0:
			add()
		case k < 14:
			history = history[:random.IntN(len(history))]
		case k < 16: // outputs that were cut, under the same id
			at := random.IntN(len(history))
			history[at].Parts = []session.Part{{Kind: session.TextPart, Text: fmt.Sprint("short ", random.IntN(9))}}
		case k < 17:
			history = append([]session.Message(nil), history[random.IntN(len(history)):]...)
		}
		marked := max(0, len(history)-random.IntN(3))
		for i, m := range history {
			variant := map[bool]string{true: "marked", false: "plain"}[i >= marked]
			encode := func(m session.Message) []byte {
				made++
				return []byte(variant + " " + string(m.Role) + " " + m.Parts[0].Text)
			}
			if got, want := string(encoded(&cache, variant, m, encode)), variant+" user "+m.Parts[0].Text; got != want {
				t.Fatalf("message %d of %d is %q, want %q", i, len(history), got, want)
			}
		}
	}
	if most := 2 * 60 * (40 + 9); made > most {
		t.Errorf("%d messages were encoded, there are at most %d", made, most)
	}
}

// However a conversation grows, and whatever is asked beside it, each message has the bytes of its
// own variant.
func TestPiecesOfAConversationThatGrows(t *testing.T) {
	var cache wire.Cache
	var history []session.Message
	var lists [][]byte
	var wants []string
	asks := func(variant string, messages []session.Message) {
		t.Helper()
		pieces := cache.Messages(variant, messages, func(i int) []byte { return []byte(variant + messages[i].ID) })
		for i, m := range messages {
			if string(pieces[i]) != variant+m.ID || len(pieces) != len(messages) {
				t.Fatalf("piece %d of %d is %q, want %q", i, len(pieces), pieces[i], variant+m.ID)
			}
		}
		list := cache.List(variant, messages, func(i int) []byte { return []byte(variant + messages[i].ID) })
		if want := bytes.Join(pieces, []byte(",")); !bytes.Equal(list, want) {
			t.Fatalf("the list is %q, want %q", list, want)
		}
		lists, wants = append(lists, list), append(wants, string(list))
	}
	for i := range 100 {
		history = append(history, session.Message{ID: fmt.Sprint("m", i), Role: session.User, Parts: []session.Part{{Text: "x"}}})
		asks(fmt.Sprint("variant ", i/10), history)
		if i%7 == 0 {
			asks("beside", append(slices.Clone(history), session.Message{ID: "summary"}))
		}
	}
	for i, list := range lists {
		if string(list) != wants[i] {
			t.Errorf("list %d changed to %q", i, list)
		}
	}
}
