package wire

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Bounds of one message, in bytes.
const (
	// MaxFrame is the longest message that the library gets.
	MaxFrame = 4 << 20
	// MaxRead is the longest message that is read whole and shortened to a frame. A longer one is
	// an error of its request.
	MaxRead = 2 * MaxFrame
)

// lists are the members of a result that are lists of items.
var lists = []string{"content", "contents", "tools", "prompts", "resources", "resourceTemplates"}

// Shorten cuts an answer to at most so many bytes: long texts and lists end early, with a note for
// the model, and pictures that do not fit are emptied. It returns nil where it cannot.
func Shorten(text []byte, most int) []byte {
	var m message
	if json.Unmarshal(text, &m) != nil || m["method"] != nil || m["id"] == nil {
		return nil
	}
	m.change("result", func(result message) bool {
		if result["structuredContent"] != nil && result["content"] != nil {
			result["structuredContent"] = json.RawMessage("null")
		}
		for _, name := range lists {
			if result[name] != nil {
				result[name] = shortList(result[name], most, name == "content")
			}
		}
		return true
	})
	if out := encode(m); len(out) <= most {
		return out
	}
	return nil
}

// shortList keeps the first items of a list that fit, the long ones shortened.
func shortList(raw json.RawMessage, most int, note bool) json.RawMessage {
	var items, kept []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return raw
	}
	room := most - most/64 - 512
	for _, item := range items {
		if len(item) > most/2 {
			item = shortItem(item, most)
		}
		if room -= len(item) + 1; room < 0 {
			if note {
				kept = append(kept, encode(map[string]any{"type": "text", "text": fmt.Sprintf("[what follows is left out: the answer is longer than %d bytes]", most)}))
			}
			break
		}
		kept = append(kept, item)
	}
	if kept == nil {
		return json.RawMessage("[]")
	}
	return encode(kept)
}

// shortItem cuts the long text of one item, and empties its data.
func shortItem(item json.RawMessage, most int) json.RawMessage {
	var m message
	if json.Unmarshal(item, &m) != nil || m == nil {
		return item
	}
	for _, name := range []string{"data", "blob"} {
		if m[name] != nil {
			m[name] = json.RawMessage(`""`)
		}
	}
	for _, name := range []string{"text", "description"} {
		var text string
		if len(m[name]) > most/2 && json.Unmarshal(m[name], &text) == nil {
			m[name] = shortText(text, most)
		}
	}
	m.change("resource", func(inner message) bool {
		return json.Unmarshal(shortItem(encode(inner), most), &inner) == nil
	})
	return encode(m)
}

// shortText keeps the beginning of a text, at most half of the message once it is encoded.
func shortText(text string, most int) json.RawMessage {
	for n := min(len(text), most/2); ; n /= 2 {
		short := strings.ToValidUTF8(text[:n], "")
		out := encode(fmt.Sprintf("%s\n[%d bytes are left out here: the answer was longer than %d bytes]", short, len(text)-len(short), most))
		if len(out) <= most/2+most/4 {
			return out
		}
	}
}

// TooLong is the answer to a request whose own answer is too long to be read.
func TooLong(id json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the answer has more than %d MB and could not be cut; ask for a part of it"}}`, id, MaxFrame>>20)
}

// IDOf finds the id of an answer that is too long to be read, by its beginning and its end, as the
// libraries of servers write it. It returns nil where neither tells.
func IDOf(start, end []byte) json.RawMessage {
	const id = `"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")`
	for _, one := range []struct {
		in      []byte
		pattern string
	}{{start[:min(len(start), 300)], `^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?` + id}, {end, id + `\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`}} {
		if found := regexp.MustCompile(one.pattern).FindSubmatch(one.in); found != nil {
			return found[1]
		}
	}
	return nil
}
