package run_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoCommandReadsTheKey lets a command look at the environments of all processes, and at its
// own.
func TestNoCommandReadsTheKey(t *testing.T) {
	u := newUserAlone(t)
	const key, own = "sk-planted-0123456789abcdef", "planted-in-a-name-of-its-own"
	s := u.serve(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n")
	})
	u.env = append(u.env, "OPENAI_API_KEY="+key, "MY_OWN_WORD="+own)
	config := `{"environment": ["*"], "providers": {"work": {"base_url": "` + s.URL + `/v1", "key_env": "MY_OWN_WORD"}}}`
	u.configure(config)
	// tr, because what is read holds NUL; only processes below this test count, for the key is in
	// the test's own hands.
	look := `pid=$$; while test \"$pid\" -gt 1; do cat /proc/$pid/environ >> seen 2>/dev/null; tr '\\0' ' ' < /proc/$pid/cmdline >> seen; ` +
		`test $pid = ` + fmt.Sprint(os.Getpid()) + ` && break; pid=$(awk '/^PPid/{print $2}' /proc/$pid/status); done; env >> seen; echo looked >> seen`
	u.run("-p", u.script("-- 1 --\ncall bash: {\"command\":\""+look+"\"}\n-- 2 --\ntext: end\n"), "--permission-mode", "yolo", "look").wants(0)
	seen, err := os.ReadFile(filepath.Join(u.dir, "seen"))
	if err != nil || !strings.Contains(string(seen), "looked") || !strings.Contains(string(seen), "__shim") {
		t.Fatalf("the command did not look: %v\n%s", err, seen)
	}
	for _, secret := range []string{key, own} {
		if strings.Contains(string(seen), secret) {
			t.Errorf("the command read %s", secret)
		}
	}
}

func TestKeyOfTwoLinesIsAMistake(t *testing.T) {
	for _, key := range []string{"sk-one\nsk-two", "sk-one\rsk-two", "sk-one\x1b[2J"} {
		u := newUser(t)
		u.env = append(u.env, "OPENAI_API_KEY="+key)
		r := u.run("-p", "--model", "openai/some", "hi").wants(2, "OPENAI_API_KEY holds a line break", "hint: ")
		if strings.Contains(r.err, "sk-one") {
			t.Errorf("the message shows the key: %s", r.err)
		}
		u.run("models").wants(2, "OPENAI_API_KEY")
	}
	u := newUser(t)
	u.env = append(u.env, "OPENAI_API_KEY=sk-one\n", "OPENAI_BASE_URL=http://127.0.0.1:1/v1")
	u.run("-p", "--model", "openai/some", "hi").wants(4) // a line break at the end is no part of it
}
