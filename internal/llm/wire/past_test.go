package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// However conversations grow, are taken back, change (and are then made anew), take turns with
// others and turn from one variant to another: what is known of one from before is what a look at
// all of it would tell, and the body that is made of it is the same bytes.
func TestWhatIsKnownOfAConversationIsTrueOfIt(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var cache wire.Cache
	talks := make([][]session.Message, 2)
	encoded, asked := 0, 0
	for range 4000 {
		which := random.IntN(20) / 17 // the second one seldom
		talk := change(random, talks[which])
		talks[which] = talk
		variant := map[bool]string{true: "a", false: "b"}[random.IntN(9) > 0]
		encode := func(i int) []byte { encoded++; return textOf(variant, talk[i]) }
		got := cache.Messages(variant, talk, encode)
		asked += len(talk)
		var joined, want []string
		var body wire.Body
		body.Text("[")
		for i, piece := range got {
			joined, want = append(joined, string(piece)), append(want, string(textOf(variant, talk[i])))
		}
		body.Elements(got, true)
		if strings.Join(joined, "|") != strings.Join(want, "|") {
			t.Fatalf("%q, want %q", joined, want)
		}
		checkBody(t, &body, "["+joinSaid(want))
		if a, b := cache.History(talk), wire.History(talk); fmt.Sprint(told(a)) != fmt.Sprint(told(b)) {
			t.Fatalf("in order\n%v, want\n%v", told(a), told(b))
		}
	}
	if encoded*4 > asked {
		t.Errorf("%d of %d messages were encoded: nothing is known from before", encoded, asked)
	}
}

// change is what happens to a conversation between two requests.
func change(random *rand.Rand, talk []session.Message) []session.Message {
	switch k := random.IntN(40); {
	case k < 30 || len(talk) == 0:
		for range random.IntN(3) + 1 {
			talk = append(talk, someMessage(random))
		}
	case k < 33: // as a turn that failed is
		at := random.IntN(len(talk))
		talk = talk[:at:at]
	case k < 35: // outputs are cut, under the same id
		talk = append([]session.Message(nil), talk...)
		talk[random.IntN(len(talk))].Parts = someMessage(random).Parts
	case k < 36: // the rest is summed up
		talk = append([]session.Message{someMessage(random)}, talk[random.IntN(len(talk)):]...)
	}
	return talk
}

func someMessage(random *rand.Rand) session.Message {
	m := session.Message{ID: fmt.Sprint("m", random.IntN(60)), Role: session.User}
	if random.IntN(9) == 0 {
		return m // has nothing to say
	}
	id := tool.CallID(fmt.Sprint("c", random.IntN(30)))
	switch random.IntN(3) {
	case 0:
		m.Parts = []session.Part{{Kind: session.TextPart, Text: strings.Repeat("text ", random.IntN(900))}}
	case 1:
		m.Role = session.Assistant
		m.Parts = []session.Part{{Kind: session.CallPart, Call: &tool.RawCall{ID: id, Name: "read"}}}
	case 2:
		m.Role = session.ToolRole
		m.Parts = []session.Part{{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: id, Tool: "read"}}}
	}
	return m
}

func textOf(variant string, m session.Message) []byte {
	if len(m.Parts) == 0 {
		return nil
	}
	return []byte(variant + string(m.Role) + m.Parts[0].Text)
}

func joinSaid(texts []string) string {
	var said []string
	for _, text := range texts {
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, ",")
}

func told(messages []session.Message) (out []string) {
	for _, m := range messages {
		line := string(m.Role)
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				line += " calls " + string(p.Call.ID)
			case p.Outcome != nil:
				line += " had " + string(p.Outcome.Call)
			}
		}
		out = append(out, line)
	}
	return out
}

func checkBody(t *testing.T, body *wire.Body, want string) {
	t.Helper()
	got, err := io.ReadAll(body.Reader())
	if err != nil || string(got) != want || body.Len() != int64(len(want)) {
		t.Fatalf("a body of %d bytes (%d) is not the %d that it is made of: %v", len(got), body.Len(), len(want), err)
	}
}

// A body never takes in memory that only happens to lie behind a piece.
func TestOnlyWhatFollowsIsJoined(t *testing.T) {
	memory := []byte("one,two;three,four")
	var body wire.Body
	body.Add(memory[:3])
	body.Next(memory[4:7])               // behind a comma
	body.Next(memory[8:13])              // behind something else
	body.Next(memory[14:])               // behind a comma
	body.Next([]byte("five"))            // elsewhere
	body.Next(memory[:3])                // before
	body.Next(nil)                       // nothing
	body.Next(memory[4:7:7])             // behind a comma
	body.Next(memory[8:8])               // nothing
	body.Next(bytes.Clone(memory[:3:3])) // elsewhere
	checkBody(t, &body, "one,two,three,four,five,one,,two,,one")
}
