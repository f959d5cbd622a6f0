package run_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"adze/internal/testkit/nodetest"
)

// chatStart begins a session with the AI SDK; the others are what is said in it.
var (
	//go:embed testdata/aisdk.mjs
	chatStart string
	//go:embed testdata/chat.mjs
	chatScript string
	//go:embed testdata/files.mjs
	filesScript string
)

// serving starts adze serve and returns the address that it prints.
func (u *user) serving(args ...string) (*started, string) {
	u.t.Helper()
	s := u.start(append([]string{"serve"}, args...)...)
	s.until("http://")
	return s, strings.TrimSpace(s.seen.String())
}

// TestTheAISDKHoldsAConversation: its own Chat and transport, of both versions, prompt, approve one
// call and deny another of one answer, are told that an answer is late, follow a turn of another
// tab, and read an abort; the store has the same.
func TestTheAISDKHoldsAConversation(t *testing.T) {
	script := nodetest.Script(t, "chat.mjs", chatStart+chatScript, "ai", "ai7")
	for _, pkg := range []string{"ai", "ai7"} {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			s, address := u.serving("--sandbox=off", "--allow", "execute(sleep **)", u.script("-- 1 --\nreasoning: Two files.\ntext: I write both.\n"+
				"call write: {\"file_path\":\"a.txt\",\"content\":\"one\\n\"}\ncall write: {\"file_path\":\"b.txt\",\"content\":\"two\\n\"}\n"+
				"-- 2 --\nexpect write denied: not b\ntext: One of two.\nusage: input=10 output=4\n"+
				"-- 3 --\ncall bash: {\"command\":\"sleep 600\"}\n-- 4 --\ntext: never\n"))
			out, err := exec.Command("node", script, pkg, address).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, s.errs)
			}
			judgeConversation(t, out)
			if text, err := os.ReadFile(filepath.Join(u.dir, "a.txt")); err != nil || string(text) != "one\n" {
				t.Errorf("a.txt: %q %v", text, err)
			}
			if _, err := os.Stat(filepath.Join(u.dir, "b.txt")); err == nil {
				t.Error("the call that was denied has run")
			}
			if r := s.signal(syscall.SIGINT); r.code != 130 {
				t.Errorf("it ended with %d\n%s", r.code, r.err)
			}
		})
	}
}

// message is what the script tells of one.
type message struct {
	Role, ID string
	Parts    []string
}

func judgeConversation(t *testing.T, out []byte) {
	t.Helper()
	var got struct {
		Errors, Asked           []string
		Late                    string
		Messages, Third, Stored []message
		Idle                    int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(got.Errors) > 0 || fmt.Sprint(got.Asked) != "[a.txt b.txt]" || !strings.Contains(got.Late, "too late") || got.Idle != 4 {
		t.Errorf("errors %q, asked %q, late %q, idle %d", got.Errors, got.Asked, got.Late, got.Idle)
	}
	for name, all := range map[string][]message{"the chat": got.Messages, "the store": got.Stored, "another tab": got.Third} {
		if len(all) != 4 {
			t.Errorf("%s has %d messages: %+v", name, len(all), all)
			continue
		}
		said := strings.Join(all[1].Parts, "\n")
		for _, want := range []string{"reasoning done Two files.", "text done I write both.", "dynamic-tool output-available created a.txt", "dynamic-tool output-error denied", "not b", "text done One of two."} {
			if strings.Count(said, want) != 1 {
				t.Errorf("%s: the answer says %q %d times:\n%s", name, want, strings.Count(said, want), said)
			}
		}
		if last := strings.Join(all[3].Parts, "\n"); !strings.Contains(last, "dynamic-tool output-error abort") {
			t.Errorf("%s: the turn that was stopped: %s", name, last)
		}
		if all[1].ID != got.Stored[1].ID || all[3].ID != got.Stored[3].ID {
			t.Errorf("%s has other ids than the store: %+v", name, all)
		}
	}
}

// TestTheAISDKSendsFilesAndRegenerates: a picture and a text of its Chat reach the model,
// regenerate() takes the answer back and makes another, the store shows the files again, and a tab
// that has not seen the newest prompt takes none back.
func TestTheAISDKSendsFilesAndRegenerates(t *testing.T) {
	script := nodetest.Script(t, "files.mjs", chatStart+filesScript, "ai", "ai7")
	for _, pkg := range []string{"ai", "ai7"} {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			var mu sync.Mutex
			var bodies []string
			u.serve(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				bodies = append(bodies, string(body))
				text := fmt.Sprintf("answer %d", len(bodies))
				mu.Unlock()
				fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", text)
			})
			s, address := u.serving("--sandbox=off", "--model", "openai/m")
			out, err := exec.Command("node", script, pkg, address).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, s.errs)
			}
			want := `{"errors":[],"late":["the conversation has gone on since; read it again, and then make its newest answer again"],"answers":["answer 1","answer 2"],"count":4,"id":true,` +
				`"stored":[["text what is it?\n\nnote.txt (as it was sent along):\n` + "```\\nhello\\n```" + `\n","file dot.png image/png"],["text answer 2"]]}`
			if got := strings.TrimSpace(string(out)); got != want {
				t.Errorf("it tells\n%s\nwant\n%s", got, want)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(bodies) != 3 || strings.Contains(bodies[1], "answer 1") || !strings.Contains(bodies[2], "answer 2") {
				t.Fatalf("the model was asked %d times:\n%s", len(bodies), strings.Join(bodies, "\n"))
			}
			for _, body := range bodies {
				if !strings.Contains(body, "data:image/png;base64,") || !strings.Contains(body, "hello") {
					t.Errorf("the model does not get what was sent along: %s", body)
				}
			}
			s.signal(syscall.SIGINT)
		})
	}
}

// TestTheAddressIsThePersonsAlone: it stands in a file that nobody else can read, no call of a
// model reads it, and it goes with the server; what a turn runs ends with it, too.
func TestTheAddressIsThePersonsAlone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the census of processes needs /proc")
	}
	u := newUser(t)
	tag := fmt.Sprintf("6%d.25", os.Getpid())
	port := freePort(t)
	file := filepath.Join(u.home, "state", "serve", port)
	s, address := u.serving("--port", port, "--permission-mode", "yolo", u.script("-- 1 --\ncall read: {\"path\":\""+file+"\"}\n"+
		"-- 2 --\nexpect read denied: .\ncall bash: {\"command\":\"(setsid sleep "+tag+" &) ; sleep "+tag+"\"}\n-- 3 --\ntext: never\n"))
	if text, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(text)) != address {
		t.Fatalf("the file says %q, %v; printed was %q", text, err, address)
	}
	for path, want := range map[string]fs.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	base, token, _ := strings.Cut(address, "/#")
	id := postTo(t, base+"/api/session", token, "{}")["id"]
	go func() {
		r, _ := http.NewRequest("POST", base+"/api/chat", strings.NewReader(fmt.Sprintf(`{"id":%q,"messages":[{"role":"user","parts":[{"type":"text","text":"go"}]}]}`, id)))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(r); err == nil {
			defer resp.Body.Close()
			_, _ = resp.Body.Read(make([]byte, 1))
		}
	}()
	waitFor(t, "the command", func() bool { return len(carrying(tag)) > 1 })
	r := s.signal(syscall.SIGTERM)
	if r.code != 143 {
		t.Errorf("it ended with %d\n%s", r.code, r.err)
	}
	wantNobody(t, tag)
	if _, err := os.Stat(file); err == nil {
		t.Error("the address outlives the server")
	}
	show := u.run("audit", "show").wants(0, "denied", "aborted")
	if strings.Contains(show.out, token) {
		t.Error("the log has the token")
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func postTo(t *testing.T, url, token, body string) map[string]string {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]string
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPairedDevicesAreGone: their commands and flags fail, and name what serves instead.
func TestPairedDevicesAreGone(t *testing.T) {
	u := newUser(t)
	for _, words := range []string{"serve pair", "serve pair --may look", "serve devices", "serve devices revoke 3fa9", "serve --listen :4443", "serve --cert a.pem", "pair", "devices list --json"} {
		u.run(strings.Fields(words)...).wants(2, "gone", "adze help remote")
	}
	u.run("serve", "--name", "https://box.example").wants(2, "no host name")
}
