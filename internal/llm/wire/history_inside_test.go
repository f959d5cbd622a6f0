package wire

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"adze/session"
	"adze/tool"
)

// muddle makes a conversation that is in order, or has lost, moved or doubled something.
func muddle(r *rand.Rand) (out []session.Message) {
	next := 0
	for range r.IntN(6) {
		switch r.IntN(3) {
		case 0:
			out = append(out, session.Message{ID: fmt.Sprint("u", len(out)), Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "hi"}}})
		default:
			asked := session.Message{ID: fmt.Sprint("a", len(out)), Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: "so"}}}
			told := session.Message{ID: fmt.Sprint("t", len(out)), Role: session.ToolRole}
			for range r.IntN(3) {
				next++
				id := tool.CallID(fmt.Sprint("c", next))
				asked.Parts = append(asked.Parts, session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: id, Name: "read"}})
				told.Parts = append(told.Parts, session.Part{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: id, Tool: "read"}})
			}
			if out = append(out, asked); len(told.Parts) > 0 {
				out = append(out, told)
			}
		}
	}
	for range r.IntN(3) {
		if len(out) == 0 {
			break
		}
		i, j := r.IntN(len(out)), r.IntN(len(out))
		switch r.IntN(4) {
		case 0:
			out[i], out[j] = out[j], out[i]
		case 1:
			out = append(out[:i:i], out[i+1:]...)
		case 2:
			out = append(out, out[i])
		case 3:
			if n := len(out[i].Parts); n > 1 {
				parts := append([]session.Part{}, out[i].Parts...)
				parts[0], parts[n-1] = parts[n-1], parts[0]
				out[i].Parts = parts
			}
		}
	}
	return out
}

// A conversation that is in order is returned itself, and only such a one.
func TestAStrictConversationIsReturnedItself(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	itself := 0
	for range 20_000 {
		given := muddle(r)
		got, want := History(given), ordered(given)
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nbecomes\n%+v\nwant\n%+v", given, got, want)
		}
		if len(given) > 0 && len(got) > 0 && &got[0] == &given[0] {
			itself++
		}
	}
	if itself < 2_000 || itself > 19_000 {
		t.Errorf("%d of 20000 were returned themselves", itself)
	}
}
