package wire

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

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
	} {
		got := Shorten([]byte(c.text), most)
		var a answer
		if err := json.Unmarshal(got, &a); err != nil || len(got) > most || !c.check(a) {
			t.Errorf("%s: %v, %d bytes: %.300s … %s", name, err, len(got), got, got[max(0, len(got)-200):])
		}
	}
	for name, text := range map[string]string{
		"many members":        `{"id":5,"result":{` + items(900, `"m":{"k":1},"m2":"`+strings.Repeat("x", 9000)+`"`) + `}}`,
		"a request":           `{"id":1,"method":"x","params":{` + strings.TrimSuffix(strings.Repeat(`"m":{"k":1},`, 2000), ",") + `}}`,
		"rubbish":             strings.Repeat(`]{"`, 9000),
		"several in one":      `[` + items(900, `{"id":1,"result":{}}`) + `]`,
		"an answer with half": `{"result":{"content":[` + strings.Repeat(`{"type":"text","text":"x"},`, 900),
	} {
		if got := Shorten([]byte(text), most); got != nil {
			t.Errorf("%s: %.100s", name, got)
		}
	}
}

// TestTheIDOfAnAnswerThatIsNotRead is found where the libraries of servers write it.
func TestTheIDOfAnAnswerThatIsNotRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":{"id":8}}`:       "7",
		`{"id":"a-b","jsonrpc":"2.0","result":{}}`:         `"a-b"`,
		`{"result":{"id":8},"jsonrpc":"2.0","id":7}`:       "7",
		`{"result":{"id":8},"id":7,"jsonrpc":"2.0"}`:       "7",
		`{"jsonrpc":"2.0","result":{"id":8}}`:              "",
		`{"jsonrpc":"2.0","method":"x","params":{"id":9}}`: "",
	} {
		if got := string(IDOf([]byte(text), []byte(text))); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestAFormKeepsItsOrder(t *testing.T) {
	schema := `{"type":"object","properties":{"z":{"type":"string","default":"x"},"a":{"type":"number"}}}`
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":` + schema + `}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"requestedSchema":` + schema + `}}}}}`,
	} {
		got := string(Read([]byte(text)))
		quoted, _ := json.Marshal(schema)
		if !json.Valid([]byte(got)) || !strings.Contains(got, `"`+Schema+`":`+string(quoted)) {
			t.Error(got)
		}
	}
	for _, text := range []string{`{"id":1,"result":{"content":[{"type":"text","text":"\"requestedSchema\""}]}}`, `{"id":1,"result":{}}`, `[1]`, `{"result":{"tools":[{"name":"tasks"}]},"a":"tasks"}`} {
		if got := string(Read([]byte(text))); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// TestOneBadToolLeavesTheOthers: in its place stands why it cannot be read.
func TestOneBadToolLeavesTheOthers(t *testing.T) {
	for _, bad := range []string{`{"name":5}`, `{"name":"b","description":[]}`, `7`, `null`, `{"name":"b","annotations":"x","inputSchema":{}}`, `{}`, `{"name":"b","_meta":1}`} {
		got := Read([]byte(`{"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},` + bad + `],"nextCursor":"2"}}`))
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
