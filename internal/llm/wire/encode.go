package wire

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/text/jsontext"
	"adze/session"
	"adze/tool"
)

// JSON encodes a value without escaping <, > and &, which cost tokens. It panics on a value that
// cannot be encoded, which is a bug in an adapter.
func JSON(v any) []byte {
	raw, err := jsontext.Marshal(v)
	if err != nil {
		panic("wire: " + err.Error())
	}
	return raw
}

// Limit of a Cache in bytes, above which it starts over.
const maxCache = 64 << 20

// A Cache stores encoded messages and tool lists. A history grows by appending, so each message is
// encoded once per session; ids repeat between sessions, so a hit must also be equal.
type Cache struct {
	mu       sync.Mutex
	messages map[[2]string][]encoded // by variant and id
	tools    map[string][]byte
	size     int
	pictures map[*byte]tool.Attachment // scaled, by the first byte's address in the original
	damaged  []string                  // notices about pictures

	// The last request's messages, encoded under variant: the next request processes only new ones.
	seen    session.ReadMark
	variant string
	pieces  [][]byte
	list    []byte // the first listed pieces, with commas between
	listed  int

	// The last conversations that were valid and had no pictures.
	valid, pictureless session.ReadMark
}

// encoded holds what adapters send of a message, and its bytes.
type encoded struct {
	role            session.Role
	provider, model string
	parts           []session.Part
	bytes           []byte
}

// Messages returns each message's encoding, under one variant. The bytes are cached and must not be
// changed.
func (c *Cache) Messages(variant string, messages []session.Message, encode func(i int) []byte) [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.update(variant, messages, encode)
	return slices.Clip(c.pieces)
}

// List returns the non-empty encodings with commas between, as Messages does.
func (c *Cache) List(variant string, messages []session.Message, encode func(i int) []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.update(variant, messages, encode)
	c.list, c.listed = Join(c.list, c.pieces[c.listed:]), len(c.pieces)
	return c.list
}

// update encodes the messages that are new since the last request. The caller holds c.mu.
func (c *Cache) update(variant string, messages []session.Message, encode func(i int) []byte) {
	from := c.seen.Examined(messages)
	if from == 0 || c.variant != variant {
		c.pieces, c.list, c.listed, c.variant, from = make([][]byte, 0, len(messages)), nil, 0, variant, 0
	}
	for i := from; i < len(messages); i++ {
		c.pieces = append(c.pieces[:i], c.message(variant, messages[i], func() []byte { return encode(i) }))
	}
	c.seen.MarkAll(messages)
}

// Join appends the non-empty pieces to a list, with commas between.
func Join(list []byte, pieces [][]byte) []byte {
	size := 0
	for _, piece := range pieces {
		size += len(piece) + 1
	}
	list = slices.Grow(list, size)
	for _, piece := range pieces {
		if len(piece) > 0 && len(list) > 0 {
			list = append(list, ',')
		}
		list = append(list, piece...)
	}
	return list
}

// message returns one encoding, cached under variant and id. The caller holds c.mu.
func (c *Cache) message(variant string, m session.Message, encode func() []byte) []byte {
	key := [2]string{variant, m.ID}
	for i := range c.messages[key] {
		if e := &c.messages[key][i]; e.same(m) {
			return e.bytes
		}
	}
	raw := encode()
	if c.messages == nil || c.size > maxCache {
		c.messages, c.size = map[[2]string][]encoded{}, 0
	}
	c.messages[key] = append(c.messages[key], encoded{m.Role, m.Provider, m.Model, m.Parts, raw})
	c.size += len(raw)
	return raw
}

// Tools returns the bytes from encode, cached under a digest; an empty digest is not cached.
func (c *Cache) Tools(digest string, encode func() []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if raw, ok := c.tools[digest]; ok && digest != "" {
		return raw
	}
	raw := encode()
	if c.tools == nil || len(c.tools) > 16 {
		c.tools = map[string][]byte{}
	}
	c.tools[digest] = raw
	return raw
}

// same compares with a message. Pieces of one message share their bytes, so this is cheap.
func (e *encoded) same(m session.Message) bool {
	if e.role != m.Role || e.provider != m.Provider || e.model != m.Model || len(e.parts) != len(m.Parts) {
		return false
	}
	return len(e.parts) > 0 && &e.parts[0] == &m.Parts[0] || reflect.DeepEqual(e.parts, m.Parts)
}

// Object returns arguments as the JSON object that APIs require in a history. A valid object keeps
// its bytes; anything else is wrapped, so that the model sees its mistake.
func Object(arguments string) json.RawMessage {
	trimmed := strings.TrimSpace(arguments)
	switch {
	case trimmed == "" || trimmed == "null":
		return json.RawMessage("{}")
	case trimmed[0] == '{' && json.Valid([]byte(trimmed)):
		return json.RawMessage(trimmed)
	}
	return JSON(map[string]string{"invalid_arguments": arguments})
}

// BoundID keeps the server's id, because some models read their own ids (Kimi's functions.read:0),
// unless it is empty or longer than limit bytes.
func BoundID(id tool.CallID, limit int) string {
	if s := string(id); s != "" && len(s) <= limit && utf8.ValidString(s) {
		return s
	}
	return ShortID(id, limit)
}

// ShortID converts an id for an API that takes at most limit letters, digits, _ and -. A valid id
// stays; others keep their start and get a hash.
func ShortID(id tool.CallID, limit int) string {
	s := string(id)
	clean := strings.Map(wordRune, s)
	if clean == s && len(s) <= limit && s != "" {
		return s
	}
	sum := fmt.Sprintf("_%016x", hash(s))
	return clean[:min(len(clean), limit-len(sum))] + sum
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s) // a hash does not fail
	return h.Sum64()
}

// NineID converts an id for Mistral's API: nine letters and digits.
func NineID(id tool.CallID) string {
	s := string(id)
	if len(s) == 9 && strings.Trim(s, letters) == "" {
		return s
	}
	n := hash(s)
	var out [9]byte
	for i := range out {
		out[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(out[:])
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// Name converts a tool's name to one that the APIs accept: a model may have invented an invalid
// one.
func Name(name string) string {
	clean := strings.Map(wordRune, name)
	if clean == "" {
		return "unknown"
	}
	return clean[:min(len(clean), 64)]
}

func wordRune(r rune) rune {
	if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
		return r
	}
	return '_'
}
