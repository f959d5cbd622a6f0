package cmd_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

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
	r := u.run("-p", "--model", "openai/m", "--output-format", "stream-json", "what does git say of this branch?").wants(0)
	var notices []string
	for _, l := range r.lines() {
		if l["type"] == "notice" && !strings.Contains(fmt.Sprint(l["text"]), "holds in this release only") {
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
	for _, name := range []string{"read", "bash", "tool_search", "git_status"} {
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
	r := u.run("pick", "which processes are running?", "--max", "2", "--debug").wants(0)
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if len(lines) < 15 || !strings.HasPrefix(lines[0], "  ") || !strings.Contains(lines[0], "running in ") || !strings.Contains(r.out, "not among the best 2") {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines[:min(5, len(lines))], "\n"))
	}
	for _, l := range lines[2:] {
		if !strings.HasPrefix(l, "- ") || len(strings.Fields(l)) < 4 {
			t.Errorf("an exclusion without its reason: %q", l)
		}
	}
	u.run("pick", "zebra").wants(0, "no tool fits", "--debug")
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
	r := u.run("pick", "read a file and edit it", "--json", "--scorer", "bm25").wants(0)
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
	if got.Query != "read a file and edit it" || got.Scorer != "bm25" || len(got.Candidates) != 3 {
		t.Errorf("got %+v", got)
	}
	for i, c := range got.Candidates {
		if c.Excluded || c.Rank != i+1 || c.Reason == "" || c.Score <= 0 || c.Score > 1 {
			t.Errorf("candidate %d is %+v", i, c)
		}
	}
}

func TestMistakesOfPick(t *testing.T) {
	u := newUser(t)
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"nothing":        {nil, []string{"a query is missing"}},
		"blank":          {[]string{"  "}, []string{"a query is missing"}},
		"hybrid":         {[]string{"x", "--scorer", "hybrid"}, []string{`"hybrid" for "--scorer" flag: it is gone`, "bm25"}},
		"model":          {[]string{"x", "--scorer=model"}, []string{`"model" for "--scorer" flag: it is gone`, "bm25"}},
		"timeout":        {[]string{"x", "--timeout", "3s"}, []string{`"--timeout" flag: it is gone`}},
		"from":           {[]string{"x", "--from", "d"}, []string{`"--from" flag: it is gone`}},
		"eval":           {[]string{"--eval", "d"}, []string{`"--eval" flag: it is gone`, "go test"}},
		"no candidates":  {[]string{"x", "--max", "0"}, []string{"--max is at least 1"}},
		"score too high": {[]string{"x", "--min-score", "2"}, []string{"--min-score from 0 to 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			u.run(append([]string{"pick"}, c.args...)...).wants(2, slices.Concat(c.says, []string{"hint: "})...)
		})
	}
}
