package wire

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// MaxMessage is the longest message of a server that is read, in bytes. A longer one is an error of
// its request.
const MaxMessage = 8 << 20

// TooLong is the answer to a request whose own answer is too long to be read.
func TooLong(id json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the answer has more than %d MB; ask for a part of it"}}`, id, MaxMessage>>20)
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
