package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"adze/tool"
)

// providers' limit
const maxName = 64

// toolName returns the model's name for a server's tool: server_tool, with letters, digits, _ and -
// only. A name that is too long or taken is cut and ends with the original's hash.
func toolName(server, name string, taken map[string]bool) string {
	whole := tool.PlainName(server) + "_" + tool.PlainName(name)
	if !letter(whole[0]) {
		whole = "mcp_" + whole
	}
	if len(whole) <= maxName && !taken[strings.ToLower(whole)] {
		return whole
	}
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	return whole[:min(len(whole), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}

// ToolNames maps, for each server, its names of usable tools to the model's names.
func (p *Pool) ToolNames() map[string]map[string]string {
	servers, taken := map[string]map[string]string{}, map[string]bool{}
	for _, name := range p.order {
		if c := p.Catalogue(name); c != nil {
			servers[name] = c.toolNames(name, taken)
		}
	}
	return servers
}

// toolNames names a server's tools. Of names that differ only in punctuation or case, the first
// gets no hash.
func (c *Catalogue) toolNames(server string, taken map[string]bool) map[string]string {
	all := map[string]string{}
	for _, t := range c.Tools {
		if t.Bad == "" {
			all[t.Name] = toolName(server, t.Name, taken)
			taken[strings.ToLower(all[t.Name])] = true
		}
	}
	return all
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

const goodInName = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

// ValidName reports whether a server may have this name. Rules and tool names contain it.
func ValidName(name string) bool {
	const most = 40
	return name != "" && len(name) <= most && letter(name[0]) && strings.Trim(name, goodInName) == ""
}
