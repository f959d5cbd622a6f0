package workspace

import "sync"

const (
	snapshotLimit = 256 << 10 // bytes kept from one file to show later changes
	snapshotTotal = 8 << 20   // bytes for all kept texts; the oldest are dropped
)

// State identifies a file's content at one moment. It is stored with tool calls, so that a resumed
// session still knows it.
type State struct {
	Path     string `json:"path"` // absolute
	SHA256   string `json:"sha256,omitempty"`
	Stamp    Stamp  `json:"stamp"` // compared if there is no hash
	Mode     uint32 `json:"mode"`
	Encoding string `json:"encoding,omitempty"`
	EOL      string `json:"eol,omitempty"`
	BOM      bool   `json:"bom,omitempty"`
}

// SameContent reports whether both describe the same content in the same file: by hash if both have
// one, so that touch makes no difference, else by stamp.
func (s State) SameContent(now State) bool {
	if s.Path != now.Path {
		return false
	}
	if s.SHA256 != "" && now.SHA256 != "" {
		return s.SHA256 == now.SHA256
	}
	return s.Stamp == now.Stamp
}

// KnownFiles records, for each session, the state of every file it read or wrote. The zero value is
// ready to use; it is safe for concurrent use.
type KnownFiles struct {
	mu     sync.Mutex
	states map[seenKey]State
	texts  map[seenKey]string
	order  []seenKey // keys with texts, oldest first
	held   int
}

type seenKey struct{ session, path string }

// Record notes that the session knows the file in this state. text is the decoded content, kept if
// it is small; "" means none.
func (s *KnownFiles) Record(session string, state State, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.states == nil {
		s.states, s.texts = map[seenKey]State{}, map[seenKey]string{}
	}
	key := seenKey{session, state.Path}
	s.states[key] = state
	s.drop(key)
	if text == "" || len(text) > snapshotLimit {
		return
	}
	s.texts[key] = text
	s.order = append(s.order, key)
	for s.held += len(text); s.held > snapshotTotal; {
		s.drop(s.order[0])
	}
}

func (s *KnownFiles) drop(key seenKey) {
	text, ok := s.texts[key]
	if !ok {
		return
	}
	delete(s.texts, key)
	s.held -= len(text)
	for i, k := range s.order {
		if k == key {
			s.order = append(s.order[:i:i], s.order[i+1:]...)
			return
		}
	}
}

// Get returns the state in which the session last saw the path.
func (s *KnownFiles) Get(session string, p Path) (State, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok := s.states[seenKey{session, p.abs}]
	return state, ok
}

// Text returns the content that the session last saw, if it was kept.
func (s *KnownFiles) Text(session string, p Path) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.texts[seenKey{session, p.abs}]
	return text, ok
}

// Restore adds a resumed session's states, oldest first.
func (s *KnownFiles) Restore(session string, states ...State) {
	for _, state := range states {
		s.Record(session, state, "")
	}
}
