package wire

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// MaxMessage is the longest message read from a server, in bytes. A longer one becomes an error of
// its request.
const MaxMessage = 8 << 20

// TooLong returns an error response for a request whose response is too long.
func TooLong(id json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the answer has more than %d MB; ask for a part of it"}}`, id, MaxMessage>>20)
}

// IDOf finds the id at the start or end of an oversized response, in server libraries' usual
// layouts. It returns nil if neither has it.
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
