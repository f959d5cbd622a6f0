package wire

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"adze/session"
	"adze/tool"
)

// NewID returns a random call id.
func NewID() string { return "call_" + rand.Text() }

// A Fragment is a piece of a call in a stream.
type Fragment struct {
	ID       string
	Index    int // the server's index of the call; -1 if none
	Position int // in the list with the fragment
	Name     string
	// Arguments is the next piece of text.
	Arguments string
	Opaque    json.RawMessage
	// New: the format marks the beginning of a call, and this is one.
	New bool
}

// Calls assembles calls from fragments. A fragment belongs to the call with its id, else its index,
// else its position. A new id under a used index opens a new call, as does a name after complete
// arguments: some servers use index 0 for all calls, and some repeat one id.
type Calls struct {
	// Mint returns ids for calls with none or a used one.
	Mint func() string
	// History is searched for used ids when the first call opens.
	History []session.Message

	list    []*call
	byID    map[string]*call
	byIndex map[int]*call
	used    map[tool.CallID]bool // by this answer
}

type call struct {
	id        tool.CallID
	index     int
	name      string
	arguments strings.Builder
	opaque    json.RawMessage
	halves    halves // for the arguments
	// last is the previous piece, as long as each piece began with all text before it; some servers
	// repeat the arguments in each piece.
	last   string
	pieces int // number of such pieces
}

// whole reports whether the arguments are a complete JSON object, so that more text cannot belong
// to them. It checks the last byte first, for servers that repeat the name in each fragment.
func (c *call) whole() bool {
	text := strings.TrimRight(c.arguments.String(), " \t\r\n")
	return strings.HasSuffix(text, "}") && json.Valid([]byte(text))
}

// Add adds a fragment and returns its call's progress.
func (s *Calls) Add(f Fragment) (session.Forming, error) {
	if f.Index < 0 {
		f.Index = f.Position
	}
	var c *call
	if !f.New {
		c = s.find(f)
	}
	if c == nil {
		c = s.open(f)
	}
	if f.ID != "" {
		s.byID[f.ID] = c
	}
	if err := c.named(f.Name); err != nil {
		return session.Forming{}, err
	}
	c.grow(c.halves.join(f.Arguments, false))
	if len(f.Opaque) > 0 {
		c.opaque = f.Opaque
	}
	return session.Forming{ID: c.id, Name: c.tool(), Bytes: len(c.told())}, nil
}

// find returns the call that a fragment continues, or nil if it opens one.
func (s *Calls) find(f Fragment) *call {
	c, known := s.byID[f.ID]
	if f.ID == "" {
		c, known = s.byIndex[f.Index]
	}
	switch {
	case !known && f.ID != "":
		return s.adopt(f)
	case !known:
		return nil
	case f.Name != "" && c.name != "" && c.index != f.Index:
		return nil // the same id for another call
	case f.Name != "" && f.Arguments != "" && c.whole() && !c.again(f):
		return nil
	}
	return c
}

// again reports whether a fragment repeats the call's text: some servers repeat it at the end, or
// begin it with an empty object. Only an id from the server allows this.
func (c *call) again(f Fragment) bool {
	return f.ID != "" && f.ID == string(c.id) && f.Name == c.name && (c.empty() || c.says(f.Arguments))
}

// says reports whether text equals the arguments so far.
func (c *call) says(text string) bool {
	return strings.TrimSpace(text) == strings.TrimSpace(c.arguments.String())
}

// told reports whether a whole call is a repetition.
func (s *Calls) told(f Fragment) bool {
	c := s.byID[f.ID]
	return c != nil && f.ID != "" && c.name == f.Name && c.says(f.Arguments)
}

// empty reports whether the arguments so far are an empty object.
func (c *call) empty() bool {
	return c.arguments.Len() < maxEmpty && len(c.arguments.String()) > 1 && strings.Join(strings.Fields(c.arguments.String()), "") == "{}"
}

// Bytes of an empty object with spaces.
const maxEmpty = 8

// grow adds the next text. Nothing can follow a complete object: an equal one is a repetition, and
// an empty one before another is how a gateway begins.
func (c *call) grow(text string) {
	switch {
	case strings.HasPrefix(text, "{") && c.empty():
		c.arguments.Reset()
	case strings.HasPrefix(text, "{") && c.whole() && c.says(text):
		return
	}
	c.restate(text)
	c.arguments.WriteString(text)
}

// restate tracks whether each piece repeats the arguments. The second piece decides: text that
// began before it cannot continue with an object, except after a colon, a comma or a bracket.
func (c *call) restate(text string) {
	switch {
	case text == "":
	case c.arguments.Len() == 0 && strings.HasPrefix(text, "{"):
		c.last, c.pieces = text, 1
	case c.last != "" && strings.HasPrefix(text, c.last) && (c.pieces > 1 || strings.TrimRight(c.last, " \t\r\n:,[") == c.last):
		c.last = text
		c.pieces++
	default:
		c.last = ""
	}
}

// told returns the arguments: all pieces joined, or the last one if each repeats the earlier ones.
func (c *call) told() string {
	if c.last != "" && c.pieces > 1 {
		return c.last
	}
	return c.arguments.String()
}

// adopt handles an unknown id: it opens a call, unless the call at its index is unfinished and the
// fragment has no name. Such a server sends ids late or renews them with each fragment.
func (s *Calls) adopt(f Fragment) *call {
	c := s.byIndex[f.Index]
	if c == nil || f.Name != "" || c.whole() {
		return nil
	}
	return c
}

func (s *Calls) open(f Fragment) *call {
	if s.used == nil {
		s.byID, s.byIndex, s.used = map[string]*call{}, map[int]*call{}, map[tool.CallID]bool{}
	}
	id := s.fresh(f)
	s.used[id] = true
	c := &call{id: id, index: f.Index}
	s.list = append(s.list, c)
	s.byIndex[f.Index] = c
	return c
}

// fresh returns an id for a new call: the server's, unless used. Kimi numbers its calls through a
// conversation and gets confused by other ids; if a server restarts at 0, the count continues.
func (s *Calls) fresh(f Fragment) tool.CallID {
	id := tool.CallID(f.ID)
	if number := strings.LastIndexByte(f.ID, ':'); number > 0 && strings.HasPrefix(f.ID, "functions.") && s.taken(id) {
		n := len(s.used)
		for i := range s.History {
			n += len(s.History[i].Calls())
		}
		for ; s.taken(id); n++ {
			id = tool.CallID(fmt.Sprintf("%s:%d", f.ID[:number], n))
		}
	}
	for id == "" || s.taken(id) {
		id = tool.CallID(s.Mint())
	}
	return id
}

// named sets the name, whole or in pieces; it may be repeated.
func (c *call) named(name string) error {
	switch {
	case name == "" || name == c.name:
	case c.arguments.Len() == 0:
		c.name += name
	default:
		return fmt.Errorf("a call that changes its name from %q to %q", clip(c.name, 60), clip(name, 60))
	}
	return nil
}

// tool returns the name without harmony marks, which servers of gpt-oss append:
// bash<|channel|>commentary.
func (c *call) tool() string {
	if name, _, _ := strings.Cut(c.name, "<|"); name != "" {
		return name
	}
	return c.name
}

// Len returns the number of calls so far.
func (s *Calls) Len() int { return len(s.list) }

// Release returns the calls once the message has ended well. It fails if a call has no name.
func (s *Calls) Release() ([]session.Call, error) {
	out := make([]session.Call, len(s.list))
	for i, c := range s.list {
		if c.name == "" {
			return nil, fmt.Errorf("a call without a name (%s)", clip(string(c.id), 60))
		}
		out[i] = session.Call{RawCall: tool.RawCall{
			ID: c.id, Name: c.tool(), Arguments: c.told() + c.halves.join("", true), Origin: tool.Native, Opaque: c.opaque,
		}}
	}
	return out, nil
}

// taken reports whether an id was used in this answer or the history.
func (s *Calls) taken(id tool.CallID) bool {
	if s.used[id] {
		return true
	}
	for i := range s.History {
		for n := range s.History[i].Parts {
			if c := s.History[i].Parts[n].Call; c != nil && c.ID == id {
				return true
			}
		}
	}
	return false
}

// Arguments reads arguments from a string, an object, null or nothing. An object's bytes stay
// unchanged.
func Arguments(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '"' {
		return string(raw), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", fmt.Errorf("arguments that are no text: %w", err)
	}
	return text, nil
}
