package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// projectKeys is every name of the configuration with a value that a hostile project would give it;
// true: it may.
func projectKeys() map[string]struct {
	value string
	may   bool
} {
	type row = struct {
		value string
		may   bool
	}
	return map[string]row{
		"$schema":          {`"x"`, true},
		"deny":             {`["write(vendor/**)"]`, true},
		"ask":              {`["execute(git push **)"]`, true},
		"model":            {`"evil/model"`, false},
		"repair_model":     {`"evil/model"`, false},
		"task_model":       {`"evil/model"`, false},
		"permission_mode":  {`"yolo"`, false},
		"review":           {`"each"`, false},
		"worktree":         {`{"copy": ["*"]}`, false},
		"claims":           {`"send"`, false},
		"allow":            {`["execute"]`, false},
		"sandbox":          {`"off"`, false},
		"max_turns":        {`0`, false},
		"max_time":         {`"9000h"`, false},
		"environment":      {`["AWS_SECRET_ACCESS_KEY"]`, false},
		"show_secrets":     {`true`, false},
		"limits":           {`{"bash_timeout": "9000h"}`, false},
		"providers":        {`{"anthropic": {"base_url": "http://127.0.0.1:9", "key_env": "GITHUB_TOKEN"}}`, false},
		"search":           {`{"engine": "searxng", "base_url": "http://127.0.0.1:9"}`, false},
		"undo":             {`{"off": true}`, false},
		"title_model":      {`"openai/m"`, false},
		"fallback":         {`["openai/m"]`, false},
		"sessions":         {`{"keep": {"days": 1}}`, false},
		"tools":            {`{"offer_above": 9}`, false},
		"formatters":       {`{"x": {"command": ["./x"], "files": [".go"]}}`, false},
		"language_servers": {`{"use": "on", "servers": {"x": {"command": ["./x"]}}}`, false},
		"mcp":              {`{"servers": {"x": {"command": "./x"}}}`, false},
		"models":           {`{"a/b": {"context": 1}}`, false},
		"interface":        {`{"theme": "none"}`, false},
		"keys":             {`{"todos": "f8"}`, false},
	}
}

// Every name of the configuration is settled here, so that a new one cannot be left open.
func TestAProjectMaySetOnlyWhatNarrows(t *testing.T) {
	table := projectKeys()
	kind := reflect.TypeFor[Config]()
	for i := range kind.NumField() {
		name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		if _, ok := table[name]; !ok {
			t.Errorf("%q is new: say here that a project may not set it", name)
		}
	}
	for name, row := range table {
		p, err := parseProject([]byte(`{"` + name + `": ` + row.value + `}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if ignored := reflect.DeepEqual(p.Ignored, []string{name}); ignored == row.may || strings.Contains(p.Warning(), name) == row.may {
			t.Errorf("%s: ignored %v, warning %q", name, p.Ignored, p.Warning())
		}
		if !row.may && (p.Deny != nil || p.Ask != nil) {
			t.Errorf("%s set a rule", name)
		}
	}
	for _, name := range []string{"Allow", "DENY", "sandbox", "trust", "proxy", "extra_folders", "base_url", "secrets"} {
		if p, err := parseProject([]byte(`{"` + name + `": true}`)); err != nil || !strings.Contains(p.Warning(), name) || p.Deny != nil {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestAProjectsFileIsReadFromTheProjectAlone(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(outside, []byte(`{"deny": ["read"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"": "", `{"deny": ["read(x)"], "ask": ["write"]} // yes` + "\n": "", `{"deny": "read"}`: "deny must be a list of rules",
		`{"deny": [], "deny": []}`: "deny stands in line 1 already", `{"deny": [`: "", "link": "link out of the project", "folder": "not a regular file",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, projectFile)
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		switch text {
		case "":
		case "link":
			err = os.Symlink(outside, file)
		case "folder":
			err = os.Mkdir(file, 0o700)
		default:
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := LoadProject(dir)
		var mistake *Error
		switch {
		case text == `{"deny": [`:
			if !errors.As(err, &mistake) {
				t.Errorf("%s: %v", text, err)
			}
		case want == "" && err != nil, want != "" && (!errors.As(err, &mistake) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %+v, %v", text, p, err)
		case strings.HasPrefix(text, `{"deny": ["read(x)"]`) && (len(p.Deny) != 1 || len(p.Ask) != 1):
			t.Errorf("%s: %+v", text, p)
		}
	}
}
