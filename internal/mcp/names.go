package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// maxName is what providers take.
const maxName = 64

// ToolName is a server's tool as a model calls it: server_tool, of letters, digits, _ and -. One that is too long is cut,
// and ends with a hash of the whole.
func ToolName(server, name string) string {
	whole := plain(server) + "_" + plain(name)
	if c := whole[0]; !('a' <= c|0x20 && c|0x20 <= 'z') {
		whole = "mcp_" + whole
	}
	if len(whole) <= maxName {
		return whole
	}
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	return whole[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
}

func plain(s string) string {
	out := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
	if out == "" {
		return "_"
	}
	return out
}

// GoodServer reports whether a server may have this name: rules and tools are named after it.
func GoodServer(name string) bool {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,39}$`).MatchString(name)
}
