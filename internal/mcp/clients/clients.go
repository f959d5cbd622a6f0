// Package clients reads the user's MCP servers in other assistants, to import them.
//
// The one rule: it only reads regular, short files of the user, and starts or connects to nothing.
//
// Start reading at Find.
//
// Known limits: inputs that an assistant asks for at a server's start (${input:…}) are reported and
// not imported; servers from an assistant's account or extension are in no file.
package clients

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"adze/internal/mcp"
	"adze/internal/text/jsonc"
)

// maxFile limits one file, in bytes. Claude Code keeps its history beside its servers.
const maxFile = 64 << 20

// ServerEntry is another assistant's server.
type ServerEntry struct {
	mcp.Server
	Client   string // the assistant, such as claude or cursor
	Disabled bool   // disabled there
	Problem  string // why it cannot be imported, or ""
}

// place is an assistant's file with the user's servers.
type place struct {
	client string
	path   string // below the home folder, or with a leading + below the configuration folder
	member string // JSON member with the servers
}

// places lists these files. There are two configuration folders: the system's and ~/.config.
var places = []place{
	{"claude", ".claude.json", "mcpServers"},
	{"claude-desktop", "+Claude/claude_desktop_config.json", "mcpServers"},
	{"cursor", ".cursor/mcp.json", "mcpServers"},
	{"vscode", "+Code/User/mcp.json", "servers"},
	{"vscode", "+Code/User/settings.json", "mcp"},
	{"codex", ".codex/config.toml", "mcp_servers"},
	{"gemini", ".gemini/settings.json", "mcpServers"},
	{"opencode", "+opencode/opencode.json", "mcp"},
	{"opencode", "+opencode/opencode.jsonc", "mcp"},
	{"zed", "+zed/settings.json", "context_servers"},
	{"windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"},
}

// Names returns the supported assistants.
func Names() (out []string) {
	for _, p := range places {
		out = append(out, p.client)
	}
	return slices.Compact(out)
}

// Find reads all servers, sorted by name within a file. top is the top of the run's repository:
// Claude Code keeps servers for one beside those for all, under the main work tree's name.
func Find(home string, getenv func(string) string, top string) (out []ServerEntry) {
	text, _ := os.ReadFile(filepath.Join(top, ".git")) // a file in a linked work tree
	if main, _, linked := strings.Cut(string(text), "/.git/worktrees/"); linked {
		top = strings.TrimPrefix(main, "gitdir: ")
	}
	for _, p := range places {
		for _, path := range p.files(home, getenv) {
			out = append(out, p.read(path, top)...)
		}
	}
	return out
}

func (p place) files(home string, getenv func(string) string) []string {
	rest, configured := strings.CutPrefix(p.path, "+")
	if !configured {
		if at := getenv("CODEX_HOME"); p.client == "codex" && at != "" {
			return []string{filepath.Join(at, "config.toml")}
		}
		return []string{filepath.Join(home, filepath.FromSlash(rest))}
	}
	all := []string{filepath.Join(home, ".config"), filepath.Join(home, "Library", "Application Support")}
	if at := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(at) {
		all[0] = at
	}
	for i := range all {
		all[i] = filepath.Join(all[i], filepath.FromSlash(rest))
	}
	return all
}

func (p place) read(path, top string) (out []ServerEntry) {
	raw, err := contents(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var file map[string]json.RawMessage
	if err == nil && p.client == "codex" {
		file, err = p.fromTOML(raw)
	} else if err == nil {
		_, err = jsonc.Decode(raw, &file)
	}
	if err != nil {
		return []ServerEntry{{Server: mcp.Server{Source: path}, Client: p.client, Problem: "it cannot be read: " + err.Error()}}
	}
	member := file[p.member]
	if p.member == "mcp" && p.client == "vscode" { // in settings.json they are one level deeper
		var inner map[string]json.RawMessage
		_ = json.Unmarshal(member, &inner) // none on an error
		member = inner["servers"]
	}
	out = p.entries(path, member)
	if p.client == "claude" {
		var projects map[string]map[string]json.RawMessage
		_ = json.Unmarshal(file["projects"], &projects) // none on an error
		out = append(out, p.entries(path, projects[top][p.member])...)
	}
	return out
}

// fromTOML converts a TOML file's member with servers to JSON.
func (p place) fromTOML(raw []byte) (map[string]json.RawMessage, error) {
	var tables map[string]any
	if err := toml.Unmarshal(raw, &tables); err != nil {
		return nil, err
	}
	member, err := json.Marshal(tables[p.member])
	return map[string]json.RawMessage{p.member: member}, err
}

func (p place) entries(path string, member json.RawMessage) (out []ServerEntry) {
	var entries map[string]json.RawMessage
	if json.Unmarshal(member, &entries) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		s, off, err := mcp.Read(name, entries[name])
		f := ServerEntry{Client: p.client, Disabled: off}
		more := struct {
			Timeout  float64           `json:"timeout"`
			Include  []string          `json:"includeTools"`
			Exclude  []string          `json:"excludeTools"`
			Disabled []string          `json:"disabledTools"`
			Enabled  []string          `json:"enabled_tools"`
			Without  []string          `json:"disabled_tools"`
			Start    float64           `json:"startup_timeout_sec"`
			Call     float64           `json:"tool_timeout_sec"`
			Bearer   string            `json:"bearer_token_env_var"`
			Passed   []string          `json:"env_vars"`
			Headers  map[string]string `json:"http_headers"`
			Variable map[string]string `json:"env_http_headers"`
		}{}
		_ = json.Unmarshal(entries[name], &more) // other forms are skipped
		s = s.Rewrite(p.variables)
		s.Source, s.Tools = path, append(more.Include, more.Enabled...)
		for _, not := range slices.Concat(more.Exclude, more.Disabled, more.Without) {
			s.Tools = append(s.Tools, "!"+not)
		}
		s.Start, s.Call = time.Duration(more.Start*float64(time.Second)), time.Duration(more.Call*float64(time.Second))
		if p.client == "gemini" {
			s.Call = time.Duration(more.Timeout * float64(time.Millisecond))
		}
		for _, variable := range more.Passed {
			s.Env[variable] = "${" + variable + ":-}"
		}
		maps.Copy(s.Headers, more.Headers)
		for header, variable := range more.Variable {
			s.Headers[header] = "${" + variable + "}"
		}
		if more.Bearer != "" {
			s.Headers["Authorization"] = "Bearer ${" + more.Bearer + "}"
		}
		f.Server, f.Name = s, name
		switch {
		case err != nil:
			f.Problem = err.Error()
		case strings.Contains(string(entries[name]), "${input:"), p.client == "opencode" && strings.Contains(string(entries[name]), "{file:"):
			f.Problem = "it names ${input:…} or {file:…}, which adze does not fill in; put a variable of yours in its place with adze mcp add"
		case !mcp.ValidName(name):
			if f.Name = rename(name); !mcp.ValidName(f.Name) {
				f.Name, f.Problem = name, "its name is none that a server can have here; add it by adze mcp add"
			}
		}
		out = append(out, f)
	}
	return out
}

// variables converts an assistant's variable syntax to adze's and keeps other text: ${:-${} yields
// ${.
func (p place) variables(text string) string {
	switch p.client {
	case "gemini":
		return regexp.MustCompile(`\$([A-Za-z_]\w*)`).ReplaceAllString(text, "$${$1}")
	case "codex":
		return strings.ReplaceAll(text, "${", "${:-${}")
	case "opencode":
		return regexp.MustCompile(`\{env:([^}]+)\}`).ReplaceAllString(strings.ReplaceAll(text, "${", "${:-${}"), "$${$1:-}")
	}
	return text
}

// rename replaces invalid characters in a name; letters, digits, _, . and - are valid.
func rename(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-", r) {
			return r
		}
		return '-'
	}, name)
	return strings.Trim(name[:min(len(name), 40)], "-_.")
}

func contents(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case info.Size() > maxFile:
		return nil, errors.New("it is too long to be read")
	}
	return os.ReadFile(path)
}
