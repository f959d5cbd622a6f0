package wire

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"adze/session"
	"adze/tool"
)

// NewID mints a call id.
func NewID() string { return "call_" + rand.Text() }

// Fragment is a piece of a call as it came over the wire.
type Fragment struct {
	ID       string
	Index    int // the wire's number of the call; if -1, none
	Position int // in the list that held the fragment
	Name     string
	// Arguments is the next piece of text.
	Arguments string
	Opaque    json.RawMessage
	// New says that the format itself tells where a call begins, and this is such a place.
	New bool
}

// Calls assembles calls from fragments. A fragment belongs to the call with its id when it has one,
// else with its index, else with its position; a new id under a used index opens a new call, and so
// does a name for a call whose arguments are already whole: some servers number every call 0, and
// some repeat one id.
type Calls struct {
	// Mint makes ids for calls that have none, or one that was used before.
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
	halves    halves // of the arguments
	// last is the piece before, as long as each one began with all that was told before it; some
	// servers restate the arguments with each piece.
	last   string
	pieces int // that restated, or one
}

// whole reports whether the arguments are a complete JSON object, so that further text cannot
// belong to them. The look at the last byte keeps a server cheap that repeats the name with each
// fragment.
func (c *call) whole() bool {
	text := strings.TrimRight(c.arguments.String(), " \t\r\n")
	return strings.HasSuffix(text, "}") && json.Valid([]byte(text))
}

// Add takes a fragment and reports the progress of its call.
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

// find returns the call that a fragment continues, or nil when it opens one.
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

// again reports whether a fragment tells a call anew that was told before: some servers repeat it
// whole at the end, or begin it with an empty object. Only an id that the server gave can say so.
func (c *call) again(f Fragment) bool {
	return f.ID != "" && f.ID == string(c.id) && f.Name == c.name && (c.empty() || c.says(f.Arguments))
}

// says reports whether a text is what the arguments are so far.
func (c *call) says(text string) bool {
	return strings.TrimSpace(text) == strings.TrimSpace(c.arguments.String())
}

// told reports whether a whole call was told before.
func (s *Calls) told(f Fragment) bool {
	c := s.byID[f.ID]
	return c != nil && f.ID != "" && c.name == f.Name && c.says(f.Arguments)
}

// empty reports whether the arguments so far are an empty object.
func (c *call) empty() bool {
	return c.arguments.Len() < maxEmpty && len(c.arguments.String()) > 1 && strings.Join(strings.Fields(c.arguments.String()), "") == "{}"
}

// maxEmpty bounds an empty object with space in it, in bytes.
const maxEmpty = 8

// grow adds the next text. After an object that is whole, nothing can follow: the same object once
// more says nothing new, and before another one an empty object was the form that a gateway begins
// with.
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

// restate follows whether each piece tells the arguments anew. The second tells: what began before
// it cannot go on with an object, but behind a colon, a comma or a bracket.
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

// told are the arguments: what the pieces make together, or the last of them where each restates
// those before.
func (c *call) told() string {
	if c.last != "" && c.pieces > 1 {
		return c.last
	}
	return c.arguments.String()
}

// adopt decides about an unknown id: it opens a call, unless the call at its index is unfinished
// and the fragment brings no name. Such a server sends ids late or renews them with each fragment.
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

// fresh is an id for a new call: the server's, unless it was used. Kimi numbers its calls through a
// conversation and loses its way when others are called otherwise; a server that begins at 0 again
// is counted on for.
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

// named takes the name, whole or in pieces; repeating it is fine.
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

// tool is the name without marks behind it: servers of gpt-oss leave those of harmony there,
// bash<|channel|>commentary.
func (c *call) tool() string {
	if name, _, _ := strings.Cut(c.name, "<|"); name != "" {
		return name
	}
	return c.name
}

// Len is the number of calls so far.
func (s *Calls) Len() int { return len(s.list) }

// Release returns the calls, once the message has ended well. A call without a name makes it fail.
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

// taken reports whether an id was used, by this answer or before it.
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

// Arguments reads arguments that a server sends as a string, an object, null or not at all. An
// object is passed as its exact bytes.
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
