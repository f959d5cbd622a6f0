package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// cut sends a message through a cutter in pieces.
func cut(text string, most int, r *rand.Rand) []byte {
	c := NewCutter(most)
	for len(text) > 0 {
		n := 1 + r.IntN(min(len(text), 97))
		_, _ = c.Write([]byte(text[:n]))
		text = text[n:]
	}
	return c.Message()
}

type answer struct {
	ID     any
	Result struct {
		Content           []struct{ Type, Text, Data string }
		StructuredContent any
		Tools             []struct{ Name string }
		NextCursor        string
	}
	Error struct{ Message string }
}

func TestAnAnswerThatIsTooLongIsCut(t *testing.T) {
	const most = 8000
	long := strings.Repeat(`a\"é\ud83d\ude00\n`, 3000)
	items := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	for name, c := range map[string]struct {
		text  string
		check func(answer) bool
	}{
		"one text, the id last": {`{"result":{"content":[{"type":"text","text":"` + long + `"}]},"jsonrpc":"2.0","id":7}`, func(a answer) bool {
			return a.ID == 7.0 && strings.Contains(a.Result.Content[0].Text, "bytes are left out here") && len(a.Result.Content[0].Text) > 1000
		}},
		"many texts": {`{"jsonrpc":"2.0","id":"x","result":{"content":[` + items(900, `{"type":"text","text":"one of many"}`) + `],"isError":false}}`, func(a answer) bool {
			n := len(a.Result.Content)
			return a.ID == "x" && n > 100 && n < 900 && strings.Contains(a.Result.Content[n-1].Text, "what follows is left out")
		}},
		"a picture": {`{"id":1,"result":{"content":[{"type":"text","text":"before"},{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("A", 20000) + `"}]}}`, func(a answer) bool {
			return len(a.Result.Content) == 2 && a.Result.Content[0].Text == "before" && a.Result.Content[1].Data == ""
		}},
		"structured content beside a text": {`{"id":1,"result":{"structuredContent":{"rows":[` + items(900, `{"n":12345,"s":"x"}`) + `]},"content":[{"type":"text","text":"short"}]}}`, func(a answer) bool {
			return a.Result.StructuredContent == nil && len(a.Result.Content) == 1 && a.Result.Content[0].Text == "short"
		}},
		"a list of tools": {`{"id":1,"result":{"tools":[` + items(900, `{"name":"t","inputSchema":{"type":"object"}}`) + `],"nextCursor":"2"}}`, func(a answer) bool {
			return len(a.Result.Tools) > 50 && a.Result.NextCursor == "2"
		}},
		"many members": {`{"id":5,"result":{` + strings.TrimSuffix(strings.Repeat(`"m":{"k":1},`, 2000), ",") + `}}`, func(a answer) bool {
			return a.ID == 5.0 && strings.Contains(a.Error.Message, "could not be cut")
		}},
	} {
		for seed := range uint64(5) {
			got := cut(c.text, most, rand.New(rand.NewPCG(seed, 1)))
			var a answer
			if err := json.Unmarshal(got, &a); err != nil || len(got) > most || !c.check(a) {
				t.Errorf("%s: %v, %d bytes: %.300s … %s", name, err, len(got), got, got[max(0, len(got)-200):])
			}
		}
	}
	for name, text := range map[string]string{
		"a request":           `{"id":1,"method":"x","params":{` + strings.TrimSuffix(strings.Repeat(`"m":{"k":1},`, 2000), ",") + `}}`,
		"rubbish":             strings.Repeat(`]{"`, 9000),
		"several in one":      `[` + items(900, `{"id":1,"result":{}}`) + `]`,
		"an answer with half": `{"result":{"content":[` + strings.Repeat(`{"type":"text","text":"x"},`, 900),
	} {
		if got := cut(text, most, rand.New(rand.NewPCG(1, 1))); got != nil {
			t.Errorf("%s: %.100s", name, got)
		}
	}
}

// generate makes a value of JSON.
func generate(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n < 2 && depth > 0:
		out := map[string]any{}
		for i := range r.IntN(6) {
			out[fmt.Sprintf("k%d", i)] = generate(r, depth-1)
		}
		return out
	case n < 5 && depth > 0:
		out := []any{}
		for range r.IntN(12) {
			out = append(out, generate(r, depth-1))
		}
		return out
	case n == 5:
		return r.IntN(1e9)
	case n == 6:
		return r.IntN(2) == 0
	}
	return strings.Repeat([]string{"a", "é", "\"", "\\", "\n", "𝄞", "<"}[r.IntN(7)], r.IntN(200))
}

// TestWhatComesOfAMessageIsOne: whatever it holds, what comes of it is valid, short enough and has
// its id; one that is short enough stays as it is.
func TestWhatComesOfAMessageIsOne(t *testing.T) {
	const most = 4000
	long, failed := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 2))
		value := map[string]any{"jsonrpc": "2.0", "id": seed, "result": map[string]any{"content": generate(r, 5), "structuredContent": generate(r, 4), "x": generate(r, 3)}}
		raw, _ := json.Marshal(value)
		got := cut(string(raw), most, r)
		var a struct {
			ID    uint64
			Error any
		}
		if err := json.Unmarshal(got, &a); err != nil || a.ID != seed || len(got) > most {
			t.Fatalf("%d: %v, %d bytes of %d: %s\n%s", seed, err, len(got), len(raw), raw, got)
		}
		if len(raw) <= most/2-512 && string(got) != string(raw) {
			t.Fatalf("%d: it was changed: %s\n%s", seed, raw, got)
		}
		if len(raw) > most {
			if long++; a.Error != nil {
				failed++
			}
		}
	}
	if long < 100 || failed > long/10 {
		t.Errorf("%d of %d could not be cut", failed, long)
	}
}

func TestAFormKeepsItsOrder(t *testing.T) {
	var f Filter
	schema := `{"type":"object","properties":{"z":{"type":"string","default":"x"},"a":{"type":"number"}}}`
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":` + schema + `}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"requestedSchema":` + schema + `}}}}}`,
	} {
		got := string(f.In([]byte(text)))
		quoted, _ := json.Marshal(schema)
		if !json.Valid([]byte(got)) || !strings.Contains(got, `"`+Schema+`":`+string(quoted)) {
			t.Error(got)
		}
	}
	for _, text := range []string{`{"id":1,"result":{"content":[{"text":"\"requestedSchema\""}]}}`, `{"id":1,"result":{}}`, `[1]`, `{"result":{"tools":[{"name":"tasks"}]},"a":"tasks"}`} {
		if got := string(f.In([]byte(text))); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestARawRequestPassesTheLibrary(t *testing.T) {
	var f Filter
	got := string(f.Out([]byte(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"_meta":{"adze/raw":{"method":"tasks/get","params":{"taskId":"1"}}},"name":"x","arguments":{}}}` + "\n")))
	if got != `{"jsonrpc":"2.0","id":9,"method":"tasks/get","params":{"taskId":"1"}}`+"\n" {
		t.Error(got)
	}
	if got := string(f.In([]byte(`{"jsonrpc":"2.0","id":8,"result":{"taskId":"1"}}`))); strings.Contains(got, "structuredContent") {
		t.Error(got)
	}
	if got := string(f.In([]byte(`{"jsonrpc":"2.0","id":9,"result":{"taskId":"1"}}`))); got != `{"id":9,"jsonrpc":"2.0","result":{"content":[],"structuredContent":{"taskId":"1"}}}` {
		t.Error(got)
	}
	if len(f.raw) > 0 {
		t.Error(f.raw)
	}
	// What a model writes is no raw request.
	text := `{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"x","arguments":{"_meta":{"adze/raw":{"method":"tasks/get"}}}}}`
	if got := string(f.Out([]byte(text))); got != text {
		t.Error(got)
	}
}

func TestWhatIsSaidOfTasksIsHandedOver(t *testing.T) {
	var f Filter
	got := string(f.In([]byte(`{"jsonrpc":"2.0","id":2,"result":{"capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}}}`)))
	if !strings.Contains(got, `"experimental":{"adze/tasks":{"requests":{"tools":{"call":{}}}}}`) {
		t.Error(got)
	}
	got = string(f.In([]byte(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"},{"name":"b","execution":{"taskSupport":"required"}}]}}`)))
	if !strings.Contains(got, `{"_meta":{"adze/taskSupport":"required"},"execution":{"taskSupport":"required"},"name":"b"}`) {
		t.Error(got)
	}
}

// TestOneBadToolLeavesTheOthers: in its place stands why it cannot be read.
func TestOneBadToolLeavesTheOthers(t *testing.T) {
	var f Filter
	for _, bad := range []string{`{"name":5}`, `{"name":"b","description":[]}`, `7`, `null`, `{"name":"b","annotations":"x","inputSchema":{}}`, `{}`, `{"name":"b","_meta":1}`} {
		got := f.In([]byte(`{"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},` + bad + `],"nextCursor":"2"}}`))
		var list sdk.ListToolsResult
		var m struct{ Result json.RawMessage }
		if err := json.Unmarshal(got, &m); err != nil {
			t.Fatal(bad, err)
		}
		if err := json.Unmarshal(m.Result, &list); err != nil || len(list.Tools) != 2 || list.Tools[0].Name != "a" || list.NextCursor != "2" || list.Tools[1].Name == "" || list.Tools[1].Meta[Bad] == nil {
			t.Errorf("%s: %s, %v", bad, got, err)
		}
	}
}
