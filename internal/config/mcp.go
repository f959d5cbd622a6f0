package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// MCP configures Model Context Protocol servers.
type MCP struct {
	Servers map[string]MCPServer `json:"servers,omitempty"`
}

// MCPServer is a program to start or a URL to connect to. In all strings, ${NAME} and
// ${NAME:-default} expand to the user's variables, except those with a provider's key.
type MCPServer struct {
	Type    string            `json:"type,omitempty"` // stdio, http in any spelling, or sse; optional
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Cwd is a program's working directory. The default is a folder of its own outside the
	// workspace. A relative path starts at the workspace; the user is asked about each workspace in
	// which a server starts.
	Cwd         string            `json:"cwd,omitempty"`
	URL         string            `json:"url,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	OAuth       map[string]string `json:"oauth,omitempty"` // for logging in, see OAuthNames
	Disabled    bool              `json:"off,omitempty"`
	Start       Duration          `json:"start_timeout,omitempty"` // until its tools are listed
	Call        Duration          `json:"timeout,omitempty"`       // for a call without progress
	Tools       []string          `json:"tools,omitempty"`         // names or patterns with *; a leading ! excludes
	Unsandboxed bool              `json:"outside,omitempty"`       // run outside the sandbox unless it is required
	// Pin "off" accepts changed tool descriptions; otherwise ("" or "on") the user is asked about a
	// change.
	Pin string `json:"pin,omitempty"`
}

// OAuthNames returns the keys allowed in "oauth". Those that end in _file name a file with the
// value.
func OAuthNames() []string {
	return []string{"assertion", "assertion_file", "client_id", "client_metadata", "client_secret", "client_secret_file", "grant",
		"idp_client_id", "idp_client_secret", "idp_client_secret_file", "idp_issuer", "issuer", "private_key", "private_key_file",
		"private_key_id", "scope", "signing_algorithm"}
}

func (c Config) checkMCP(path string) error {
	for _, name := range slices.Sorted(maps.Keys(c.MCP.Servers)) {
		if err := c.MCP.Servers[name].Check(name); err != nil {
			return &Error{Path: path, Message: fmt.Sprintf("mcp.servers.%s: %v", name, err), Hint: `say a program, "command": "npx", "args": ["-y", "server"], or an address, "url": "https://…"`}
		}
	}
	return nil
}

// goodServer is mcp.ValidName: a letter, then at most 39 letters, digits, "_", "." and "-".
func goodServer(name string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return name != "" && len(name) <= 40 && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+"0123456789_.-") == ""
}

// Check returns an error if a server with this name is invalid.
func (s MCPServer) Check(name string) error {
	switch {
	case !goodServer(name):
		return fmt.Errorf("a name is a letter and at most 39 letters, digits, _, . and -")
	case s.Command == "" && s.URL == "":
		return fmt.Errorf("it has neither a command nor a url")
	case s.Command != "" && s.URL != "":
		return fmt.Errorf("it has a command and a url")
	case !slices.Contains([]string{"", "stdio", "http", "streamable-http", "streamableHttp", "streamable_http", "sse"}, s.Type):
		return fmt.Errorf("there is no type %q; leave it out", s.Type)
	case !slices.Contains([]string{"", "on", "off"}, s.Pin):
		return fmt.Errorf("pin is on or off, and not %q", s.Pin)
	case len(s.OAuth) > 0 && s.URL == "":
		return fmt.Errorf("oauth is for a server with a url")
	}
	for name := range s.OAuth {
		if !slices.Contains(OAuthNames(), name) {
			return fmt.Errorf("oauth has no %q; it has %s", name, strings.Join(OAuthNames(), ", "))
		}
	}
	return nil
}

// KeepServer adds or replaces a server in the user's file, preserving comments and all other
// content.
func KeepServer(path, name string, s MCPServer) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	value, err := hujson.Parse(raw)
	if err != nil {
		return err
	}
	return changeServers(path, func(servers *hujson.Object) bool {
		memberOf(servers, name, hujson.Literal("null")).Value = value.Value
		return true
	})
}

// SwitchServer enables or disables a server in the user's file, preserving comments and all other
// content.
func SwitchServer(path, name string, off bool) error {
	var wrong error
	err := changeServers(path, func(servers *hujson.Object) bool {
		entry, ok := memberOf(servers, name, &hujson.Object{}).Value.(*hujson.Object)
		if !ok {
			wrong = fmt.Errorf("mcp.servers.%s is not an object", name)
			return false
		}
		if off {
			memberOf(entry, "off", hujson.Literal("null")).Value = hujson.Bool(true)
			return true
		}
		entry.Members = slices.DeleteFunc(entry.Members, func(m hujson.ObjectMember) bool {
			key, ok := m.Name.Value.(hujson.Literal)
			return ok && strings.EqualFold(key.String(), "off")
		})
		return true
	})
	return errors.Join(wrong, err)
}

// DropServer removes a server from the user's file and reports whether it was there.
func DropServer(path, name string) (was bool, err error) {
	err = changeServers(path, func(servers *hujson.Object) bool {
		servers.Members = slices.DeleteFunc(servers.Members, func(m hujson.ObjectMember) bool {
			key, ok := m.Name.Value.(hujson.Literal)
			is := ok && strings.EqualFold(key.String(), name)
			was = was || is
			return is
		})
		return was
	})
	return was, err
}

func changeServers(path string, change func(*hujson.Object) bool) error {
	var wrong error
	err := edit(path, func(object *hujson.Object) bool {
		for _, name := range []string{"mcp", "servers"} {
			inner, ok := memberOf(object, name, &hujson.Object{}).Value.(*hujson.Object)
			if !ok {
				wrong = errors.New("mcp.servers is not an object")
				return false
			}
			object = inner
		}
		return change(object)
	})
	return errors.Join(wrong, err)
}
