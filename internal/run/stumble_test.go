package run_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A call that Gemini's server could not read is fed back once; it is not asked again as if nothing
// had been.
func TestAMalformedCallOfGeminiIsFedBack(t *testing.T) {
	u := newUser(t)
	var mutex sync.Mutex // the server answers on goroutines of its own
	var bodies []string
	answers := []string{
		`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","index":0,"finishMessage":"Malformed function call: print(default_api.read(path='a'"}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"in words"}]},"finishReason":"STOP","index":0}]}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) // one that breaks off does not hold what is looked for
		mutex.Lock()
		defer mutex.Unlock()
		bodies = append(bodies, string(raw))
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: "+answers[min(len(bodies), len(answers))-1]+"\n\n")
	}))
	t.Cleanup(s.Close)
	u.env = append(u.env, "GEMINI_API_KEY=k-of-the-test", "GEMINI_BASE_URL="+s.URL)
	u.run("-p", "--model", "gemini/m", "go").wants(0, "in words")
	mutex.Lock()
	if len(bodies) != 2 || strings.Contains(bodies[0], "default_api") || !strings.Contains(bodies[1], "print(default_api.read(path='a'") {
		t.Errorf("%d requests, the last %s", len(bodies), bodies[len(bodies)-1])
	}
	answers[1] = answers[0]
	bodies = nil
	mutex.Unlock()
	u.run("-p", "--model", "gemini/m", "go").wants(4, "could not read a call")
	mutex.Lock()
	defer mutex.Unlock()
	if len(bodies) != 2 {
		t.Errorf("%d requests", len(bodies))
	}
}
