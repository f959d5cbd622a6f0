package wire_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// assemble shows what becomes of fragments: "id name arguments" per call.
func assemble(t *testing.T, history []session.Message, fragments ...wire.Fragment) string {
	t.Helper()
	n := 0
	c := wire.Calls{History: history, Mint: func() string { n++; return fmt.Sprintf("new%d", n) }}
	for _, f := range fragments {
		if _, err := c.Add(f); err != nil {
			return err.Error()
		}
	}
	calls, err := c.Release()
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, call := range calls {
		out = append(out, fmt.Sprintf("%s %s %s", call.ID, call.Name, call.Arguments))
	}
	return strings.Join(out, "; ")
}

func TestFragmentsFindTheirCall(t *testing.T) {
	type f = wire.Fragment
	for _, c := range []struct {
		name, want string
		fragments  []wire.Fragment
	}{
		{"by id", `a read {"p":1}; b list {"q":2}`, []f{
			{ID: "a", Index: 0, Name: "read", Arguments: `{"p"`}, {ID: "b", Index: 0, Name: "list", Arguments: `{"q"`},
			{ID: "a", Index: 0, Arguments: `:1}`}, {ID: "b", Index: 0, Arguments: `:2}`},
		}},
		{"by index", `a read {"p":1}; b list {"q":2}`, []f{
			{ID: "a", Index: 3, Name: "read"}, {ID: "b", Index: 9, Name: "list"},
			{Index: 9, Arguments: `{"q":2}`}, {Index: 3, Arguments: `{"p":1}`},
		}},
		{"by position", `new1 read {"p":1}; new2 list {}`, []f{
			{Index: -1, Position: 0, Name: "read", Arguments: `{"p"`}, {Index: -1, Position: 1, Name: "list", Arguments: `{}`},
			{Index: -1, Position: 0, Arguments: `:1}`},
		}},
		{"one call a chunk, no numbers", `new1 read {"p":1}; new2 read {"p":2}`, []f{
			{Index: -1, Name: "read", Arguments: `{"p":1}`}, {Index: -1, Name: "read", Arguments: `{"p":2}`},
		}},
		{"new id under a used index", `a read {"p":1}; b list {"q":2}`, []f{
			{ID: "a", Name: "read", Arguments: `{"p":1}`}, {ID: "b", Name: "list", Arguments: `{"q":2}`},
		}},
		{"new id without a name continues", `a read {"p":1}`, []f{
			{ID: "a", Name: "read", Arguments: `{"p"`}, {ID: "b", Arguments: `:1}`},
		}},
		{"name in pieces", `a read {}`, []f{{ID: "a", Name: "re"}, {Name: "ad"}, {Arguments: "{}"}}},
		{"name repeated at the end", `a read {}`, []f{{ID: "a", Name: "read", Arguments: "{}"}, {ID: "a", Name: "read"}}},
		{"used id of the history", `new1 read {}`, []f{{ID: "old", Name: "read", Arguments: "{}"}}},
		{"renamed", `a call that changes its name from "read" to "list"`, []f{
			{ID: "a", Name: "read", Arguments: "{"}, {ID: "a", Name: "list", Arguments: "}"},
		}},
		{"no name", `a call without a name (a)`, []f{{ID: "a", Arguments: "{}"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := []session.Message{{Role: session.Assistant, Parts: []session.Part{{
				Kind: session.CallPart, Call: &tool.RawCall{ID: "old"},
			}}}}
			if got := assemble(t, old, c.fragments...); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	for raw, want := range map[string]string{
		``: "", `null`: "", `""`: "", `"{\"a\":1}"`: `{"a":1}`, `{"a": 1.0}`: `{"a": 1.0}`, `[1]`: `[1]`,
	} {
		if got, err := wire.Arguments(json.RawMessage(raw)); got != want || err != nil {
			t.Errorf("%s: %q, %v", raw, got, err)
		}
	}
}

func TestObjectForAHistory(t *testing.T) {
	for arguments, want := range map[string]string{
		``: `{}`, ` null `: `{}`, `{"a": 1.0,"b":[ ]}`: `{"a": 1.0,"b":[ ]}`,
		`{"a": cut`: `{"invalid_arguments":"{\"a\": cut"}`, `[1]`: `{"invalid_arguments":"[1]"}`, `<b>`: `{"invalid_arguments":"<b>"}`,
	} {
		if got := string(wire.Object(arguments)); got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
}

func TestShortID(t *testing.T) {
	long := tool.CallID(strings.Repeat("x", 90))
	for id, keep := range map[tool.CallID]bool{"call_1": true, "toolu-A": true, "functions.read:0": false, "": false, long: false} {
		got := wire.ShortID(id, 40)
		if (got == string(id)) != keep || len(got) > 40 || got == "" || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzA0123456789_-") != "" {
			t.Errorf("%s became %s", id, got)
		}
	}
	if wire.ShortID("a.b", 40) == wire.ShortID("a:b", 40) || wire.ShortID(long, 40) == wire.ShortID(long+"x", 40) {
		t.Error("two ids became one")
	}
}

// Kimi's calls are numbered through a conversation; a server that begins at 0 again is counted on
// for.
func TestNumberedIDs(t *testing.T) {
	history := []session.Message{{Role: session.Assistant, Parts: []session.Part{
		{Kind: session.CallPart, Call: &tool.RawCall{ID: "functions.read:0"}}, {Kind: session.CallPart, Call: &tool.RawCall{ID: "functions.list:1"}},
	}}}
	calls := wire.Calls{History: history, Mint: func() string { return "minted" }}
	var got []tool.CallID
	for i, id := range []string{"functions.read:0", "functions.read:1", "functions.grep:2"} {
		f, err := calls.Add(wire.Fragment{ID: id, Index: i, Name: "read", Arguments: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.ID)
	}
	if want := []tool.CallID{"functions.read:2", "functions.read:1", "functions.grep:2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
