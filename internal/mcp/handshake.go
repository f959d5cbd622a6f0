package mcp

import (
	"encoding/json"
	"sync"
	"time"
)

// ourInitialize is the id of the initialize that a handshake sends itself.
const ourInitialize = `"adze-initialize"`

// handshake begins a conversation with a program of either era of the protocol, without ending it:
// the library asks in the newest words, and when the program is silent for a while, as one is that
// still installs itself or leaves alone what it does not know, it is asked in the older ones too,
// under another id. Whichever it answers counts. It stands between the library and the program.
type handshake struct {
	probe   time.Duration
	send    func([]byte) // to the program
	deliver func([]byte) // to the library

	mu       sync.Mutex
	timer    *time.Timer
	discover string          // the id of the library's question in the newest words; if empty, there is none
	can      json.RawMessage // what it says of the client
	who      json.RawMessage
	answered bool   // it has an answer, of the program or of ours
	told     bool   // the program has answered it
	sent     bool   // initialize was sent
	want     string // the id of the library's own initialize, which waits for the answer to ours
	heard    *reply // the answer to ours; if nil, there is none so far
}

// reply is an answer as it came.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// as is the answer under another id.
func (r reply) as(id string) []byte {
	out, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result,omitempty"`
		Error   json.RawMessage `json:"error,omitempty"`
	}{"2.0", json.RawMessage(id), r.Result, r.Error}) // it came as JSON
	return out
}

// out looks at a message of the library's and reports whether it goes to the program.
func (h *handshake) out(text []byte) bool {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(text, &m) != nil {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch m.Method {
	case "server/discover":
		h.discover, h.answered, h.told = string(m.ID), false, false
		h.can, h.who = m.Params.Meta["io.modelcontextprotocol/clientCapabilities"], m.Params.Meta["io.modelcontextprotocol/clientInfo"]
		if h.timer == nil && h.probe > 0 {
			h.timer = time.AfterFunc(h.probe, h.silent)
		}
	case "initialize":
		switch {
		case !h.sent:
			h.stop()
		case h.heard != nil:
			go h.deliver(h.heard.as(string(m.ID)))
			return false
		default:
			h.want = string(m.ID)
			return false
		}
	}
	return true
}

// silent asks in the older words.
func (h *handshake) silent() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answered || h.sent {
		return
	}
	params, err := json.Marshal(map[string]any{"protocolVersion": lastOld, "capabilities": orEmpty(h.can), "clientInfo": orEmpty(h.who)})
	if err != nil {
		return
	}
	h.sent = true
	h.send([]byte(`{"jsonrpc":"2.0","id":` + ourInitialize + `,"method":"initialize","params":` + string(params) + "}\n"))
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// in looks at a message of the program's and returns what the library gets in its place.
func (h *handshake) in(text []byte) [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if (h.discover == "" || h.told) && (!h.sent || h.heard != nil) {
		return [][]byte{text} // nothing is waited for
	}
	var r reply
	if json.Unmarshal(text, &r) != nil || r.Method != "" {
		return [][]byte{text}
	}
	switch string(r.ID) {
	case h.discover:
		if h.told = true; h.answered {
			return nil // it has answered the other question already
		}
		h.answered = true
		return [][]byte{text}
	case ourInitialize:
		if h.heard = &r; h.want != "" {
			return [][]byte{r.as(h.want)}
		}
		if h.answered || r.Error != nil {
			return nil // a refusal: the newest words count, when they are answered
		}
		h.answered = true
		return [][]byte{reply{Error: json.RawMessage(`{"code":-32601,"message":"it answered initialize"}`)}.as(h.discover)}
	}
	return [][]byte{text}
}

// stop has the program asked nothing more; the lock is held.
func (h *handshake) stop() {
	if h.timer != nil {
		h.timer.Stop()
	}
}

// end is stop for who does not hold the lock.
func (h *handshake) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered = true
	h.stop()
}
