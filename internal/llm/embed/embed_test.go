package embed_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/llm/embed"
	"adze/tool/rank"
)

// server answers with vectors whose first number is the length of the text.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	auth  string
	say   func(n int) string // replaces the answer
}

func newServer(t *testing.T) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || in.Model != "small" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked, s.auth = append(s.asked, in.Input...), r.Header.Get("Authorization")
		if s.say != nil {
			fmt.Fprint(w, s.say(len(in.Input)))
			return
		}
		var data []string
		for i := range in.Input { // the last first: the index counts
			at := len(in.Input) - 1 - i
			data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,1]}`, at, len(in.Input[at])))
		}
		fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"small"}`, strings.Join(data, ","))
	}))
	t.Cleanup(s.Close)
	return s
}

func key(n int) string { return fmt.Sprintf("%064x", n) }

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	s := newServer(t)
	c := embed.New(embed.Options{BaseURL: s.URL + "/v1/", Model: "small", Key: "sk-1"})
	texts := make([]rank.EmbedText, 130) // three requests
	var want [][]float32
	for i := range texts {
		texts[i].Text = strings.Repeat("x", i+1)
		want = append(want, []float32{float32(i + 1), 1})
	}
	got, err := c.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || s.auth != "Bearer sk-1" {
		t.Errorf("authorised as %q, vectors (-want +got):\n%s", s.auth, diff)
	}
}

func TestOnlyDefinitionsAreKept(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	texts := []rank.EmbedText{{Key: key(1), Text: "a"}, {Text: "secret query"}, {Key: "../../escape", Text: "ccc"}, {Key: key(2), Text: "dd"}}
	for range 2 {
		c := embed.New(embed.Options{BaseURL: s.URL + "/v1", Model: "small", Cache: dir})
		got, err := c.Embed(t.Context(), texts)
		if diff := cmp.Diff([][]float32{{1, 1}, {12, 1}, {3, 1}, {2, 1}}, got); err != nil || diff != "" {
			t.Fatalf("err %v, vectors (-want +got):\n%s", err, diff)
		}
	}
	if diff := cmp.Diff([]string{"a", "secret query", "ccc", "dd", "secret query", "ccc"}, s.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if len(files) != 2 {
		t.Errorf("kept %q, want two vectors", files)
	}
}

func TestADamagedFileIsAskedForAgain(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	c := embed.New(embed.Options{BaseURL: s.URL + "/v1", Model: "small", Cache: dir})
	text := []rank.EmbedText{{Key: key(1), Text: "a"}}
	if _, err := c.Embed(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err := os.WriteFile(files[0], []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := c.Embed(t.Context(), text)
	if err != nil || len(got[0]) != 2 || len(s.asked) != 2 {
		t.Errorf("got %v, err %v, asked %q", got, err, s.asked)
	}
}

func TestAnswersThatAreNoVectors(t *testing.T) {
	for name, c := range map[string]struct{ answer, says string }{
		"page":           {"<html>", "no list of vectors"},
		"too few":        {`{"data":[]}`, "0 vectors for 2 texts"},
		"twice":          {`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "out of order"},
		"out of range":   {`{"data":[{"index":7,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "out of order"},
		"uneven":         {`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, "of 1 and 2 numbers"},
		"without number": {`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, "of 0 and 0 numbers"},
	} {
		s := newServer(t)
		s.say = func(int) string { return c.answer }
		client := embed.New(embed.Options{BaseURL: s.URL + "/v1", Model: "small"})
		_, err := client.Embed(t.Context(), []rank.EmbedText{{Text: "a"}, {Text: "b"}})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: err = %v, want %q", name, err, c.says)
		}
	}
}

func TestFailuresNeverShowTheKey(t *testing.T) {
	var gone atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler) // the connection breaks off
		}
		http.Error(w, `{"error":{"message":"bad key sk-very-secret-1"}}`, http.StatusUnauthorized)
	}))
	defer s.Close()
	c := embed.New(embed.Options{BaseURL: s.URL + "/v1", Model: "small", Key: "sk-very-secret-1"})
	_, err := c.Embed(t.Context(), []rank.EmbedText{{Text: "a"}})
	if err == nil || strings.Contains(err.Error(), "very-secret") {
		t.Errorf("err = %v", err)
	}
	gone.Store(true)
	if _, err := c.Embed(t.Context(), []rank.EmbedText{{Text: "a"}}); err == nil || !strings.Contains(err.Error(), "the server of embeddings") {
		t.Errorf("err = %v", err)
	}
}
