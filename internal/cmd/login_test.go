package cmd_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keptKey is what no file but the one of keys, and no output, may hold.
const keptKey = "sk-kept-0123456789abcdefghij"

// newKeyed is a server in OpenAI's format that takes one key.
func newKeyed(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+keptKey:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"`+r.Header.Get("Authorization")+` is no key"}}`)
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{"data":[{"id":"gpt-5.4"},{"id":"mine"}]}`)
		case strings.Contains(must(io.ReadAll(r.Body)), `"model":"mine"`):
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"it knows `+keptKey+`"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func must(raw []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// holds lists the files below a folder that hold a text.
func holds(t *testing.T, dir, text string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), text) {
			out = append(out, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// From a pipe to the model and out again; the key is shown nowhere.
func TestAKeyIsGivenUsedAndForgotten(t *testing.T) {
	u := newUser(t)
	u.configure(`{"providers": {"work": {"base_url": "` + newKeyed(t) + `"}}}`)
	steps := []ran{
		u.run("-p", "--model", "work/mine", "hi").wants(3),
		u.runWith(strings.NewReader(keptKey+"x\n"), "login", "work").wants(3, "work does not take this key", "--no-check"),
		u.runWith(strings.NewReader(""), "login", "work").wants(2, "there is no key"),
		u.runWith(strings.NewReader(keptKey+"\n"), "login", "wrok").wants(3, "did you mean work/"),
		u.runWith(strings.NewReader(keptKey+"\n"), "login", "work").wants(0, "keys.json, which only you can read"),
		u.run("-p", "--model", "work/mine", "hi").wants(0, "it knows"),
		u.run("doctor", "--json").wants(3, "adze models login work"),
		u.run("models", "--check", "--json").wants(0, `"mine"`),
		u.run("-p", "--model", "work/mined", "hi").wants(3, "did you mean work/mine?", "has gpt-5.4, mine"),
	}
	if at := holds(t, u.home, keptKey); len(at) != 1 || at[0] != "keys.json" {
		t.Errorf("the key stands in %v", at)
	}
	if info, err := os.Stat(filepath.Join(u.home, "state", "keys.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for i, r := range steps {
		if strings.Contains(r.out+r.err, keptKey) {
			t.Errorf("step %d shows the key: %s%s", i, r.out, r.err)
		}
	}
	u.run("logout", "wrk").wants(2, "keys are kept for work")
	u.run("logout", "work").wants(0, "is forgotten")
	u.run("logout", "work").wants(2, "no key for work is kept")
	u.run("-p", "--model", "work/mine", "hi").wants(3)
	if at := holds(t, u.home, keptKey); len(at) > 0 {
		t.Errorf("the key stays in %v", at)
	}
}

// No tool reads the keys, whatever is allowed; nor are they taken from a file that others can read.
func TestKeysThatAreKeptAreOutOfReach(t *testing.T) {
	u := newUser(t)
	keys := filepath.Join(u.home, "state", "keys.json")
	u.configure(`{"providers": {"work": {"base_url": "` + newKeyed(t) + `"}}}`)
	u.runWith(strings.NewReader(keptKey+"\n"), "login", "work").wants(0)
	steps := u.script("-- 1 --\ncall read: {\"file_path\": \"" + keys + "\"}\ncall bash: {\"command\": \"sh -c 'cat " + keys + "'\"}\n-- 2 --\nexpect read denied: kept keys\nexpect bash denied: kept keys\ntext: done\n")
	u.run("-p", "--permission-mode", "yolo", steps, "hi").wants(7, "done")
	if at := holds(t, u.home, keptKey); len(at) != 1 { // what a command prints is masked
		t.Errorf("the key stands in %v", at)
	}
	if err := os.Chmod(keys, 0o644); err != nil {
		t.Fatal(err)
	}
	u.run("-p", "--model", "work/mine", "hi").wants(3)
	u.run("doctor", "--offline").wants(0, "can be read or changed by others", "chmod 600")
	u.runWith(strings.NewReader(keptKey+"\n"), "login", "work").wants(3, "can be read or changed by others", "chmod 600")
}

// A key that is kept means a model by itself, as a variable does.
func TestAKeptKeyMeansAModel(t *testing.T) {
	u := newUser(t)
	u.runWith(strings.NewReader(keptKey+"\n"), "login", "openai", "--no-check").wants(0)
	r := u.run("models", "--json").wants(0, `"model":"openai/gpt-5.4"`, "adze models login kept")
	if strings.Contains(r.out, keptKey) {
		t.Error("the key is shown")
	}
	u.env = append(u.env, "OPENAI_API_KEY=another")
	u.run("doctor", "--offline").wants(0, "OPENAI_API_KEY (before the one that adze models login kept)")
	u.run("login").wants(2, "anthropic", "write it as adze models login PROVIDER")
}
