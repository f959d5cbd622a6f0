package run_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// plantedSecrets are made up, and put together here so that no scanner takes this file for a leak.
func plantedSecrets() map[string]string {
	filler := strings.Repeat("aB3dE5gH7j", 10)
	return map[string]string{
		"the provider's key":       "planted-key-0123456789-of-no-shape",
		"a variable of the person": "planted-variable-9876543210",
		"a password in a variable": "hunter2-of-the-database",
		"github":                   "ghp_" + filler[:36],
		"anthropic":                "sk-ant-" + "api03-" + filler[:80],
		"google":                   "AIza" + filler[:35],
		"aws":                      "AKIA" + "ABCDEFGH01234567",
		"slack":                    "xoxb-" + "123456789012-" + filler[:24],
		"stripe":                   "sk_live_" + filler[:24],
		"jwt":                      "eyJ" + filler[:20] + ".eyJ" + filler[:30] + "." + filler[:43],
		"a private key":            "-----BEGIN " + "PRIVATE KEY-----\n" + filler[:64] + "\n" + filler[:40] + "\n-----END " + "PRIVATE KEY-----",
		"telegram":                 "123456789:AA" + filler[:33],
		"sendgrid":                 "SG." + filler[:22] + "." + filler[:43],
		"hugging face":             "hf_" + filler[:34],
		"npm":                      "npm_" + filler[:36],
		"gitlab":                   "glpat-" + filler[:20],
		"databricks":               "dapi" + "0123456789abcdef0123456789abcdef",
	}
}

// chatStream answers as an OpenAI server, with text in pieces of n bytes, or one call.
func chatStream(text string, n int, calls ...string) string {
	var b strings.Builder
	line := func(delta any) {
		raw, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta}}})
		fmt.Fprintf(&b, "data: %s\n\n", raw)
	}
	for text != "" {
		k := min(n, len(text))
		line(map[string]any{"content": text[:k]})
		text = text[k:]
	}
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		line(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{"name": name, "arguments": args}}}})
	}
	reason := "stop"
	if len(calls) > 0 {
		reason = "tool_calls"
	}
	fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", reason)
	return b.String()
}

// TestNoSecretLasts plants every secret wherever one can come from (the prompt, a file, a command's
// output, arguments, an answer in pieces, a server's error), and looks for it in every byte that
// lasts.
func TestNoSecretLasts(t *testing.T) {
	secrets := plantedSecrets()
	var all []string
	for _, s := range secrets {
		all = append(all, s)
	}
	text := "Here: " + strings.Join(all, " ,\n") + " ."
	u := newUser(t)
	u.file("secrets.txt", text)
	args, _ := json.Marshal(map[string]string{"path": "copy.txt", "content": text})
	command, _ := json.Marshal(map[string]string{"command": "cat secrets.txt; echo " + secrets["github"] + "; git clone http://me:" + secrets["a password in a variable"] + "@127.0.0.1:1/x"})
	steps := []string{
		chatStream(text, 3, `read {"path":"secrets.txt"}`, "write "+string(args), "bash "+string(command), `grep {"pattern":"Here"}`),
		chatStream(text, 1),
	}
	var mu sync.Mutex // guards asked
	var asked []string
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		var body strings.Builder
		_, _ = fmt.Fprint(&body, readAll(r))
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, body.String())
		if len(asked) > len(steps) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, "wrong: "+strings.Join(all, " "))
			return
		}
		fmt.Fprint(w, steps[len(asked)-1])
	})
	u.env = append(u.env, "OPENAI_API_KEY="+secrets["the provider's key"], "MY_DEPLOY_TOKEN="+secrets["a variable of the person"],
		"DATABASE_URL=postgres://app:"+secrets["a password in a variable"]+"@db/x")
	tape := filepath.Join(u.home, "tape.json")
	first := u.run("-p", "--model", "openai/m", "--permission-mode", "yolo", "--output-format", "stream-json", "--record", tape, "my keys: "+text).wants(0)
	mu.Lock()
	sent := slices.Clone(asked)
	mu.Unlock()
	if len(sent) != 2 {
		t.Fatalf("the model was asked %d times", len(sent))
	}
	results := resultsOf(sent[1])
	for name, s := range secrets {
		if strings.Contains(results, s) {
			t.Errorf("the model got %s from a tool", name)
		}
	}
	if n := strings.Count(results, "[masked] stands for a secret"); n < 2 { // grep shows one line, which may hold no whole secret
		t.Errorf("the model is not told what was masked:\n%s", results)
	}
	if raw, err := os.ReadFile(filepath.Join(u.dir, "copy.txt")); err != nil || string(raw) != text {
		t.Errorf("what was written is not what was asked for: %v\n%s", err, raw)
	}
	failed := u.run("-p", "--continue", "--model", "openai/m", "again "+text).wants(4)
	plain := u.run("audit", "show").wants(0)
	asJSON := u.run("audit", "show", "--json").wants(0)
	list := u.run("session", "list").wants(0)
	u.run("audit", "verify", "--all").wants(0)

	lasting := map[string]string{
		"stream-json": first.out, "stderr": first.err, "stderr of a failed run": failed.err, "audit show": plain.out, "audit show --json": asJSON.out, "session list": list.out,
	}
	err := filepath.WalkDir(u.home, func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(path, filepath.Join(u.home, "state", "undo")+"/") {
			return err // what undo keeps is the files of the folder themselves
		}
		if err == nil && d.Type().IsRegular() {
			raw, rerr := os.ReadFile(path)
			lasting[strings.TrimPrefix(path, u.home)], err = string(raw), rerr
		}
		return err
	})
	if err != nil || lasting["/state/sessions.db"] == "" || lasting["/tape.json"] == "" {
		t.Fatalf("nothing was kept: %v", err)
	}
	for where, have := range lasting {
		joined := deltasOf(have)
		for name, s := range secrets {
			quoted, _ := json.Marshal(s)
			for _, spelling := range []string{s, strings.Trim(string(quoted), `"`), strings.ReplaceAll(s, "\n", `\\n`)} {
				if strings.Contains(have, spelling) || strings.Contains(joined, spelling) {
					t.Errorf("%s stands in %s", name, where)
					break
				}
			}
		}
	}
	if !strings.Contains(first.out, "[masked]") || !strings.Contains(lasting["/tape.json"], "[masked]") {
		t.Error("nothing was masked")
	}
}

// resultsOf joins what the calls of a request gave the model.
func resultsOf(body string) string {
	var q struct {
		Messages []struct{ Role, Content string }
	}
	_ = json.Unmarshal([]byte(body), &q) // a request that is no JSON has no results
	var b strings.Builder
	for _, m := range q.Messages {
		if m.Role == "tool" {
			b.WriteString(m.Content + "\n")
		}
	}
	return b.String()
}

func readAll(r *http.Request) string {
	var b strings.Builder
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}

// deltasOf joins the pieces of text in a stream, as its reader does.
func deltasOf(lines string) string {
	var b strings.Builder
	for l := range strings.Lines(lines) {
		var d struct{ Delta string }
		if json.Unmarshal([]byte(l), &d) == nil {
			b.WriteString(d.Delta)
		}
	}
	return b.String()
}

// TestResumingWhatWasMasked goes on with a session whose log holds marks: each time with the same
// bytes, and the change is told as what it is.
func TestResumingWhatWasMasked(t *testing.T) {
	u := newUser(t)
	var mu sync.Mutex // guards asked
	var asked []string
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, readAll(r))
		mu.Unlock()
		fmt.Fprint(w, chatStream("ok", 1))
	})
	key := "ghp_" + strings.Repeat("aB3dE5gH7j", 4)[:36]
	run := func(args ...string) ran {
		return u.run(append([]string{"-p", "--model", "openai/m", "--output-format", "stream-json"}, args...)...).wants(0)
	}
	run("it is " + key)
	second := run("--continue", "two")
	third := run("--continue", "three")
	messages := func(body string) string {
		var q struct{ Messages []json.RawMessage }
		if err := json.Unmarshal([]byte(body), &q); err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(q.Messages[:4]) // system, prompt, answer, "two"
		return string(raw)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 3 || strings.Contains(asked[1], key) || messages(asked[1]) != messages(asked[2]) {
		t.Errorf("asked\n%s", strings.Join(asked, "\n"))
	}
	if said := second.out + third.out; strings.Contains(said, "the system prompt or the tools changed") || strings.Contains(said, `"prefix"`) {
		t.Errorf("the later runs say\n%s", said)
	}
}

// A key of one letter, as local servers are given, masks no words.
func TestAShortKeyMasksNoWords(t *testing.T) {
	for _, key := range []string{"x", "none", "ollama", "lm-studio"} {
		u := newUser(t)
		u.serve(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, chatStream("The axe and none of lm-studio, xx.", 4))
		})
		u.env = append(u.env, "OPENAI_API_KEY="+key)
		r := u.run("-p", "--model", "openai/m", "--output-format", "json", "x").wants(0).result()
		if r["text"] != "The axe and none of lm-studio, xx." {
			t.Errorf("with the key %q: %v", key, r["text"])
		}
	}
}
