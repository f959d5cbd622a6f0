package nodetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// hello is an answer of Anthropic's Messages, streamed and whole.
const (
	helloStream = `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

`
	hello = `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
)

// Requests calls run, which starts an assistant, with the address of a model server on this
// machine, and returns the bodies of the requests. The server speaks Anthropic's Messages and
// answers each with "hello".
func Requests(run func(address string)) (bodies []string) {
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a request that broke off is none
		kind, answer := "application/json", hello
		if strings.Contains(string(body), `"stream":true`) {
			kind, answer = "text/event-stream", helloStream
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, answer) // it may have hung up
		if r.Method == http.MethodPost {
			mu.Lock()
			defer mu.Unlock()
			bodies = append(bodies, string(body))
		}
	}))
	defer server.Close()
	run(server.URL)
	mu.Lock()
	defer mu.Unlock()
	return bodies
}
