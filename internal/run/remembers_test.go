package run_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// scripts writes conversations and returns the full names of their models.
func (u *user) scripts(steps ...string) (models []string) {
	u.t.Helper()
	for i, text := range steps {
		path := filepath.Join(u.home, "model"+string(rune('a'+i))+".txtar")
		if err := os.WriteFile(path, []byte("# a test\n"+text), 0o600); err != nil {
			u.t.Fatal(err)
		}
		models = append(models, "script/"+path)
	}
	return models
}

// A session goes on with its model, whatever the configuration names for new ones; a flag wins.
func TestASessionKeepsItsModel(t *testing.T) {
	u := newUser(t)
	m := u.scripts("-- 1 --\ntext: by a\n", "-- 1 --\ntext: by b\n")
	u.configure(`{"model": "` + m[1] + `"}`)
	u.run("-p", "--model", m[0], "hi").wants(0, "by a")
	u.run("-p", "--continue", "go on").wants(0, "by a")
	u.run("-p", "--continue", "--model", m[1], "go on").wants(0, "by b")
	u.run("-p", "--continue", "go on").wants(0, "by b")
	u.run("-p", "--continue", "--fork", "--model", m[0], "go on").wants(0, "by a") // a copy remembers too
	u.run("-p", "--continue", "go on").wants(0, "by a")
	u.run("-p", "hi").wants(0, "by b")
}

// A model that cannot be used any more is said, and the configured one goes on.
func TestASessionWhoseModelIsGoneGoesOn(t *testing.T) {
	u := newUser(t)
	m := u.scripts("-- 1 --\ntext: by a\n", "-- 1 --\ntext: by b\n")
	u.configure(`{"model": "` + m[1] + `"}`)
	u.run("-p", "--model", m[0], "hi").wants(0, "by a")
	if err := os.Remove(filepath.Join(u.home, "modela.txtar")); err != nil {
		t.Fatal(err)
	}
	u.run("-p", "--continue", "go on").wants(0, "by b", "this session worked with "+m[0]+", which cannot be used")
}

// What a server refuses of a model is known to the next process, which pays no refused request.
func TestARefusalIsRememberedByTheNextProcess(t *testing.T) {
	u := newUser(t)
	var refused, taken atomic.Int64
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		for part, says := range map[string]string{
			`"stream_options"`:   "Unrecognized request argument supplied: stream_options",
			`"max_tokens":64000`: "max_tokens must be at most 8192",
			`"tools":`:           "m does not support tools",
		} {
			if strings.Contains(string(raw), part) {
				refused.Add(1)
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, says)
				return
			}
		}
		taken.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"well\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	u.configure(`{"models": {"openai/m": {"output": 64000}}}`)
	u.run("-p", "--model", "openai/m", "hi").wants(0, "well", "takes no tools")
	if refused.Load() < 3 {
		t.Fatalf("%d requests were refused", refused.Load())
	}
	refused.Store(0)
	taken.Store(0)
	u.run("-p", "--model", "openai/m", "hi").wants(0, "well", "takes no tools")
	if refused.Load() != 0 || taken.Load() != 1 {
		t.Errorf("the next process made %d refused requests and %d others", refused.Load(), taken.Load())
	}
}

// A picture that breaks off is not sent, and the user is told.
func TestTheUserIsToldOfADamagedPicture(t *testing.T) {
	u := newUser(t)
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		if raw, _ := io.ReadAll(r.Body); strings.Contains(string(raw), "image_url") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"well\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	path := filepath.Join(u.home, "shot.png")
	if err := os.WriteFile(path, []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.run("-p", "--model", "openai/m", "--attach", path, "hi").wants(0, "well", "shot.png cannot be shown")
}
