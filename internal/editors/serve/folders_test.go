package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"adze/internal/editors/serve"
	"adze/session"
)

// twoFolders is a backend that serves pool and site. The user did not name their folder secret.
func twoFolders() *backend {
	h := sceneBackend()
	h.folders = []string{"/home/kim/src/pool", "/home/kim/src/site"}
	h.heads = []session.Head{headIn("here", "Session here", "/home/kim/src/pool"), headIn("there", "Session there", "/home/kim/src/site"), headIn("hidden", "Session hidden", "/home/kim/secret")}
	for _, id := range []session.ID{"here", "there", "hidden"} {
		h.store(id, session.MessageEntry, session.Message{ID: "m", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "words of " + string(id)}}})
		h.store(id, session.EndEntry, session.Result{Cause: session.CauseDone, Changed: []string{"file-of-" + string(id)}})
	}
	return h
}

// TestNothingLeaksOfAFolderThatWasNotNamed: the page is told nothing of its sessions in a list, by
// a search or by an id. With all, it is told.
func TestNothingLeaksOfAFolderThatWasNotNamed(t *testing.T) {
	h := twoFolders()
	s := listen(t, h)
	look := func(who string, send func(method, path, body string) (int, string), sees bool) {
		t.Helper()
		for path, want := range map[string]string{"/api/session": "there", "/api/page/search?q=words": "there"} {
			code, text := send("GET", path, "")
			if code != 200 || !strings.Contains(text, want) || strings.Contains(text, "hidden") != sees || strings.Contains(text, "secret") != sees && path == "/api/session" {
				t.Errorf("%s: %s: %d %s", who, path, code, text)
			}
		}
		if sees {
			return
		}
		for _, path := range []string{"/api/page/watch?session=hidden", "/api/chat/hidden", "/api/chat/hidden/stream?after=x", "/api/page/hidden/peek", "/api/page/hidden/export?form=md", "/api/page/hidden/menu",
			"/api/page/hidden/models", "/api/page/hidden/files", "/api/page/hidden/changes", "/api/page/hidden/output?call=x"} {
			if code, text := send("GET", path, ""); code != http.StatusNotFound || strings.Contains(text, "words of") {
				t.Errorf("%s: %s: %d %s", who, path, code, text)
			}
		}
		for _, act := range []string{"say", "again", "rename", "tag", "fork", "undo", "rewind", "compact", "revert", "stage", "reviewed"} {
			if code, text := send("POST", "/api/page/hidden/"+act, `{"text":"x","name":"x"}`); code != http.StatusNotFound {
				t.Errorf("%s: %s: %d %s", who, act, code, text)
			}
		}
		if code, text := send("POST", "/api/chat", prompt("hidden", "x")); code != http.StatusNotFound {
			t.Errorf("%s: a prompt: %d %s", who, code, text)
		}
		if code, text := send("POST", "/api/page/new/begin", `{"text":"x","folder":"/home/kim/secret"}`); code != http.StatusNotFound {
			t.Errorf("%s: begin: %d %s", who, code, text)
		}
	}
	here := func(method, path, body string) (int, string) { return s.get(method, path, body) }
	look("the page", here, false)
	h.all = true
	look("the page with all", here, true)
	list := until(s.watcher("session="), func(n told) bool { return n.T == "list" }).HTML
	if !strings.Contains(list, "Session hidden") || !strings.Contains(list, `data-folder="/home/kim/src/site"`) {
		t.Errorf("the page with all: %s", list)
	}
	if opened, _ := h.counts(); opened != 0 {
		t.Errorf("%d sessions were opened", opened)
	}
}

// TestASessionOfAnotherFolderGoesOnInTheBackground: the server opens it never; a prompt begins a
// process for it there, as for a new session, and what needs an open one says so.
func TestASessionOfAnotherFolderGoesOnInTheBackground(t *testing.T) {
	h := twoFolders()
	s := listen(t, h)
	var came struct{ ID string }
	if err := json.Unmarshal([]byte(s.act("new", "begin", map[string]any{"text": "a new site", "folder": "/home/kim/src/site"})), &came); err != nil || !strings.HasPrefix(came.ID, "b") {
		t.Fatalf("%+v %v", came, err)
	}
	s.act("there", "say", map[string]any{"text": "go on"})
	for id, want := range map[string]string{came.ID: "a new site", "there": "go on"} {
		if _, text := s.get("GET", "/api/chat/"+id, ""); !strings.Contains(text, want) {
			t.Errorf("%s: %s", id, text)
		}
	}
	for _, path := range []string{"POST undo", "POST compact", "GET changes", "GET models"} {
		method, what, _ := strings.Cut(path, " ")
		if code, text := s.get(method, "/api/page/there/"+what, "{}"); code != http.StatusConflict || !strings.Contains(text, "another folder") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if code, text := s.get("POST", "/api/page/there/say", `{"text":"look","files":[{"type":"file","url":"data:text/plain;base64,eA=="}]}`); code != http.StatusConflict || !strings.Contains(text, "name their paths") {
		t.Errorf("a file: %d %s", code, text)
	}
	if opened, _ := h.counts(); opened != 0 {
		t.Errorf("%d sessions were opened", opened)
	}
}

// TestARowIsPeekedPinnedAndTagged: the list shows it at once, and nothing of it is opened.
func TestARowIsPeekedPinnedAndTagged(t *testing.T) {
	h := twoFolders()
	s := listen(t, h)
	w := s.watcher("session=")
	code, text := s.get("GET", "/api/page/there/peek", "")
	if code != 200 || !strings.Contains(text, `"asked":"words of there"`) || !strings.Contains(text, "file-of-there") {
		t.Errorf("%d %s", code, text)
	}
	s.act("there", "tag", map[string]any{"text": "+pinned"})
	until(w, func(n told) bool { return n.T == "list" && strings.Contains(n.HTML, `class="row done pinned"`) })
	s.act("there", "tag", map[string]any{"text": "keep"})
	until(w, func(n told) bool { return n.T == "list" && strings.Contains(n.HTML, `<span class="tag">keep</span>`) })
	s.act("there", "tag", map[string]any{"text": "review"})
	until(w, func(n told) bool { return n.T == "list" && strings.Contains(n.HTML, "To review") })
	s.act("there", "reviewed", map[string]any{})
	until(w, func(n told) bool { return n.T == "list" && !strings.Contains(n.HTML, "To review") })
	if opened, _ := h.counts(); opened != 0 {
		t.Errorf("%d sessions were opened", opened)
	}
}

// TestALiveSessionIsSeenByItsFolder: one that another process has and in which nothing was said yet
// is in the list where its folder was named, and else it is told to nobody and steered by nobody.
func TestALiveSessionIsSeenByItsFolder(t *testing.T) {
	e := beside(t)
	e.h.heads = nil
	s := listen(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	w := s.watcher("session=")
	for _, act := range []string{"say", "stop", "answer", "set", "undo", "run"} {
		if code, text := s.get("POST", "/api/page/x/"+act, `{"text":"x","question":"1","choice":"once","name":"mode"}`); code != http.StatusNotFound {
			t.Errorf("%s: %d %s", act, code, text)
		}
	}
	for _, what := range []string{"menu", "models", "files", "changes", "peek", "export?form=md"} {
		if code, text := s.get("GET", "/api/page/x/"+what, ""); code != http.StatusNotFound {
			t.Errorf("%s: %d %s", what, code, text)
		}
	}
	if _, text := s.get("GET", "/api/session", ""); text != "[]\n" {
		t.Errorf("the list: %s", text)
	}
	select {
	case line := <-e.acts:
		t.Errorf("the owner was told %s", line)
	default:
	}
	e.h.mu.Lock()
	e.h.folders = []string{"/home/kim/src/pool", "/there"}
	e.h.mu.Unlock()
	s.act("x", "stop", map[string]any{})
	if line := <-e.acts; !strings.Contains(line, "abort") {
		t.Errorf("the owner was told %s", line)
	}
	until(w, func(n told) bool { return n.T == "list" && strings.Contains(n.HTML, `data-folder="/there"`) })
}
