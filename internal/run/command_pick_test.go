package run_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func labelledTools(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../testdata/pick")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The offer is made once, changes only after tool_search found something, and a continued session
// begins with the same bytes of tools.
func TestManyToolsAreOfferedByWhatFits(t *testing.T) {
	u := newUser(t)
	u.configure(`{"tools": {"offer_above": 5}}`)
	var offers []string
	var mu sync.Mutex
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Tools json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		offers = append(offers, string(body.Tools))
		delta := `{"content":"done"}`
		if len(offers) == 2 {
			delta = `{"tool_calls":[{"index":0,"id":"c2","type":"function","function":{"name":"tool_search","arguments":"{\"query\":\"running processes\"}"}}]}`
		}
		if len(offers) == 1 {
			delta = `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"todoread","arguments":"{}"}}]}`
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", delta)
	})
	r := u.run("-p", "--model", "openai/m", "--output-format", "stream-json", "who made these commits?").wants(0)
	var notices []string
	for _, l := range r.lines() {
		if l["type"] == "notice" {
			notices = append(notices, fmt.Sprint(l["text"]))
		}
	}
	if len(notices) != 3 || !strings.Contains(notices[0], "tools are offered: the core and what fits the prompt") || !strings.Contains(notices[1], "+list_processes") ||
		!strings.Contains(notices[2], "read again without the cache") {
		t.Errorf("notices: %q", notices)
	}
	u.run("-p", "--continue", "--model", "openai/m", "thank you").wants(0)
	mu.Lock()
	defer mu.Unlock()
	if len(offers) != 4 || offers[0] != offers[1] || offers[1] == offers[2] || offers[2] != offers[3] {
		t.Fatalf("%d requests; the offer must change at the third and nowhere else", len(offers))
	}
	has := func(n int, name string) bool { return strings.Contains(offers[n], `"name":"`+name+`"`) }
	for _, name := range []string{"read", "bash", "tool_search", "git_log"} {
		if !has(0, name) {
			t.Errorf("%s is not offered at first", name)
		}
	}
	if has(0, "list_processes") || !has(2, "list_processes") {
		t.Error("list_processes must be offered after it was found, not before")
	}
}

func TestFewToolsNeedNoSearch(t *testing.T) {
	u := newUser(t)
	for _, args := range [][]string{{}, {"--tools", "read,bash"}} {
		if args != nil {
			u.configure(`{"tools": {"offer_above": 50}}`)
		}
		model := u.script("-- step --\nexpect: ^hi$\n-- text --\nhello\n")
		r := u.run(append(args, "-p", model, "--output-format", "stream-json", "hi")...)
		if strings.Contains(r.out, "tool_search") || strings.Contains(r.out, "are offered") {
			t.Errorf("%q: the run speaks of pre-selection:\n%s", args, r.out)
		}
	}
}

func TestPickShowsWhatWouldBeChosenAndWhy(t *testing.T) {
	u := newUser(t)
	set := labelledTools(t)
	r := u.run("pick", "why is this pod stuck in pending?", "--from", set, "--max", "2", "--debug").wants(0)
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if len(lines) != 329 || !strings.HasPrefix(lines[0], "  k8s_") || !strings.Contains(lines[0], "pod in ") || !strings.Contains(r.out, "not among the best 2") {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines[:min(5, len(lines))], "\n"))
	}
	for _, l := range lines[2:] {
		if !strings.HasPrefix(l, "- ") || len(strings.Fields(l)) < 4 {
			t.Errorf("an exclusion without its reason: %q", l)
		}
	}
	u.run("pick", "zebra", "--from", set).wants(0, "no tool fits", "--debug")
	u.run("pick", "run a shell command").wants(0, "bash")
	if r := u.run("pick", "where is this function called").wants(0); !strings.HasPrefix(r.out, "  grep ") {
		t.Errorf("grep is not the first:\n%s", r.out)
	}
	if r := u.run("pick", "run a shell command", "--safe").wants(0); strings.Contains(r.out, "bash ") {
		t.Errorf("bash is not safe:\n%s", r.out)
	}
}

func TestPickInJSON(t *testing.T) {
	u := newUser(t)
	r := u.run("pick", "stop the music", "--from", labelledTools(t), "--json", "--scorer", "keyword").wants(0)
	var got struct {
		Query, Scorer, Fallback string
		Candidates              []struct {
			Name, Reason string
			Score        float64
			Excluded     bool
			Rank         int
		}
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Query != "stop the music" || got.Scorer != "keyword" || len(got.Candidates) != 3 {
		t.Errorf("got %+v", got)
	}
	for i, c := range got.Candidates {
		if c.Excluded || c.Rank != i+1 || c.Reason == "" || c.Score <= 0 || c.Score > 1 {
			t.Errorf("candidate %d is %+v", i, c)
		}
	}
}

func TestPickMeasuresScorers(t *testing.T) {
	u := newUser(t)
	r := u.run("pick", "--eval", labelledTools(t)).wants(0, "329 tools", "@1", "@3", "@5", "@10", "dev", "test", "keyword", "bm25", "issues")
	if n := strings.Count(r.out, "\n"); n != 11 {
		t.Errorf("%d lines:\n%s", n, r.out)
	}
	u.run("pick", "--eval", labelledTools(t), "--scorer", "keyword", "--json").wants(0, `"scorer":"keyword"`, `"half":"test"`, `"depths":[1,3,5,10]`)
}

func TestPickWithEmbeddings(t *testing.T) {
	u := newUser(t)
	var asked atomic.Int64
	var gone atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler) // the connection breaks off
		}
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		var data []string
		for i, text := range in.Input {
			asked.Add(1)
			x, y := 1, 0 // like the query when it is about processes, else unlike
			if !strings.Contains(text, "process") {
				x, y = 0, 1
			}
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,%d]}`, i, x, y))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(server.Close)
	u.configure(`{"tools": {"scorer": "embedding", "embeddings": {"base_url": "` + server.URL + `/v1", "model": "tiny"}}}`)
	r := u.run("pick", "process").wants(0, "list_processes", "near in meaning")
	before := asked.Load()
	if again := u.run("pick", "process").wants(0); again.out != r.out || asked.Load() != before+1 {
		t.Errorf("the second time %d texts were asked for, want the query alone; %q, then %q", asked.Load()-before, r.out, again.out)
	}
	gone.Store(true)
	u.run("pick", "process").wants(0, "tools are in the order of registration", "read ")
}

func TestMistakesOfPick(t *testing.T) {
	u := newUser(t)
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"nothing":        {nil, []string{"either a query or --eval"}},
		"both":           {[]string{"x", "--eval", "d"}, []string{"either a query or --eval"}},
		"blank":          {[]string{"  "}, []string{"either a query or --eval"}},
		"no scorer":      {[]string{"x", "--scorer", "tarot"}, []string{`"tarot"`, "bm25, keyword"}},
		"no server":      {[]string{"x", "--scorer", "hybrid"}, []string{"embeddings need a server", "base_url"}},
		"no model":       {[]string{"x", "--scorer", "model"}, []string{"needs a model to ask", `"model"`}},
		"no set":         {[]string{"x", "--from", "/no/such"}, []string{"/no/such", "tools.jsonl"}},
		"no candidates":  {[]string{"x", "--max", "0"}, []string{"--max is at least 1"}},
		"score too high": {[]string{"x", "--min-score", "2"}, []string{"--min-score from 0 to 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			u.run(append([]string{"pick"}, c.args...)...).wants(2, slices.Concat(c.says, []string{"hint: "})...)
		})
	}
}
