package wire

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

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
