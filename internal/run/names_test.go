package run_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// wrapped is a written Ollama whose model calls tools as wrappers for local models name them, and
// once by text.
func wrapped(t *testing.T) (address string, bodies *[]string) {
	t.Helper()
	bodies = &[]string{}
	says := []string{
		`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"path":"a.txt"}}}]}`,
		`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"edit","arguments":{"path":"a.txt","old_string":"one","new_string":"two"}}}]}`,
		`{"role":"assistant","content":"<tool_call>\n{\"name\": \"run_command\", \"arguments\": {\"command\": \"cat a.txt\"}}\n</tool_call>"}`,
		`{"role":"assistant","content":"done"}`,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/show", showModel)
	mux.HandleFunc("/api/chat", func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) // one that breaks off does not hold what is looked for
		fmt.Fprintf(w, `{"model":"m","message":%s,"done":true,"done_reason":"stop","prompt_eval_count":900,"eval_count":9}`+"\n", says[min(len(*bodies), len(says)-1)])
		*bodies = append(*bodies, string(raw))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, bodies
}

// A small model is told of tools by the names that it knows; everything else has one name for each,
// also in a recording, which is replayed without the model.
func TestSmallModelsAreToldOtherNames(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "one\n")
	address, bodies := wrapped(t)
	u.env = append(u.env, "OLLAMA_HOST="+address)
	tape := u.home + "/tape.jsonl"
	args := []string{"-p", "--output-format", "stream-json", "--permission-mode", "yolo"}
	r := u.run(append(args, "--model", "ollama/coder:7b", "--record", tape, "go")...).wants(0)
	wantCalls(t, r.lines())
	last := (*bodies)[len(*bodies)-1]
	for _, name := range []string{`"name":"run_command"`, `"name":"search_text"`} {
		if !strings.Contains(last, name) {
			t.Errorf("the model is not told %s", name)
		}
	}
	for _, name := range []string{`"bash"`, `"grep"`} {
		if strings.Contains(last, name) {
			t.Errorf("the model is told %s too", name)
		}
	}
	u.file("a.txt", "one\n")
	wantCalls(t, u.run(append(args, "--replay", tape, "go")...).wants(0).lines())
	if len(*bodies) != 4 {
		t.Errorf("the model was asked %d times", len(*bodies))
	}
	// The audit knows the real name, and no call as mended.
	if shown := u.run("audit", "show").wants(0).out; !strings.Contains(shown, "bash completed") || strings.Contains(shown, "run_command") || strings.Contains(shown, "alias") {
		t.Errorf("%s", shown)
	}
}

// wantCalls holds a run to its calls by their real names, none of them mended.
func wantCalls(t *testing.T, lines []line) {
	t.Helper()
	var got []string
	for _, l := range lines {
		if l["type"] != "tool_start" {
			continue
		}
		provenance, _ := json.Marshal(l["provenance"])
		if strings.Contains(string(provenance), "alias") || strings.Contains(string(provenance), "repaired") {
			t.Errorf("%v came by %s", l["name"], provenance)
		}
		got = append(got, fmt.Sprint(l["name"]))
	}
	if strings.Join(got, " ") != "read edit bash" {
		t.Errorf("calls: %v", got)
	}
}
