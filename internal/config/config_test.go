package config_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/config"
	"adze/internal/testkit/posix"
)

func TestParseReadsCommentsAndSaysWhereValuesCameFrom(t *testing.T) {
	c, err := config.Parse("/home/ada/config.json", []byte(`{
		// the model at work
		"model": "ollama/qwen3",
		"max_time": "90s",
		"deny": ["execute(rm **)",],
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Model != "ollama/qwen3" || time.Duration(c.MaxTime) != 90*time.Second || !slices.Equal(c.Deny, []string{"execute(rm **)"}) {
		t.Errorf("config = %+v", c)
	}
	if got := c.Origin("model"); got != "/home/ada/config.json" {
		t.Errorf("origin of model = %q", got)
	}
	if got := c.Origin("allow"); got != "default" {
		t.Errorf("origin of allow = %q", got)
	}
	c.Set("model", "flag --model")
	if got := c.Origin("model"); got != "flag --model" {
		t.Errorf("origin of model after a flag = %q", got)
	}
}

func TestParseNamesTheMistake(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a lost denial":  {`{"denny": ["execute(rm **)"]}`, "line 1: denny is not known"},
		"in UTF-16":      {"\xff\xfe{\x00}\x00", "UTF-16"},
		"wrong type":     {`{"max_turns": "many"}`, "max_turns must be a whole number, is string"},
		"a list":         {`["model"]`, "the whole file must be an object, is array"},
		"bad duration":   {`{"max_time": "soon"}`, `"soon" is not a duration`},
		"number as time": {`{"max_time": 3}`, "a duration is a string"},
		"broken JSON":    {"{\n\"model\": }", "line 2"},
		"said twice":     {"{\"deny\": [\"execute(rm **)\"],\n\"deny\": []}", "line 2: deny stands in line 1 already"},
		"by case":        {"{\"deny\": [\"execute(rm **)\"],\n\"Deny\": []}", `line 2: Deny is "deny" of line 1 again`},
		"twice inside":   {`{"providers": {"openai": {"base_url": "a", "BASE_URL": "b"}}}`, "providers.openai.BASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("c.json", []byte(c.text))
			var mistake *config.Error
			if !errors.As(err, &mistake) {
				t.Fatalf("err = %v, want a *config.Error", err)
			}
			if !strings.Contains(err.Error(), c.want) || mistake.Hint == "" {
				t.Errorf("error %q, hint %q; want %q and a hint", err, mistake.Hint, c.want)
			}
		})
	}
}

func TestLoadTakesAMissingFileForAnEmptyOne(t *testing.T) {
	c, err := config.Load(filepath.Join(t.TempDir(), "none.json"))
	if err != nil || c.Model != "" {
		t.Fatalf("config %+v, err %v", c, err)
	}
}

func TestLoadSaysThatAFileCannotBeRead(t *testing.T) {
	_, err := config.Load(t.TempDir()) // a folder
	var mistake *config.Error
	if !errors.As(err, &mistake) || mistake.Hint == "" {
		t.Fatalf("err = %v, want a *config.Error with a hint", err)
	}
}

// TestAHomeThatIsNotOnesOwn is that of another user, as in a container: the hint names the variable
// that leads elsewhere. A file in the path stands for it, since root may enter each folder.
func TestAHomeThatIsNotOnesOwn(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(filepath.Join(home, ".config", "adze", "config.json"))
	var mistake *config.Error
	if runtime.GOOS != "windows" && (!errors.As(err, &mistake) || !strings.Contains(mistake.Hint, "XDG_CONFIG_HOME")) {
		t.Errorf("%v", err)
	}
}

func TestLoadRefusesWhatIsNoFileOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	if err := posix.Fifo(t, filepath.Join(dir, "pipe")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "huge"), make([]byte, 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "pipe"), filepath.Join(dir, "huge"), dir} {
		var mistake *config.Error
		if _, err := config.Load(path); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "not a regular file") && !strings.Contains(err.Error(), "more than 4096 KiB") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestFilePrefersTheVariable(t *testing.T) {
	env := map[string]string{"ADZE_CONFIG": "/etc/adze.json"}
	if got := config.File(func(k string) string { return env[k] }, "/home/ada"); got != "/etc/adze.json" {
		t.Errorf("with the variable: %s", got)
	}
	if got := config.File(func(string) string { return "" }, "/home/ada"); got != filepath.Join("/home/ada", "config.json") {
		t.Errorf("without: %s", got)
	}
}

// published is the JSON Schema of the file, which editors read.
func published(t *testing.T) []byte {
	t.Helper()
	raw, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// described is a part of a JSON Schema.
type described struct {
	Properties map[string]described
	Rest       json.RawMessage `json:"additionalProperties"` // false, or what stands under any name
}

// TestSchemaKnowsEveryName keeps the published schema and the struct together, at every depth.
func TestSchemaKnowsEveryName(t *testing.T) {
	var whole described
	if err := json.Unmarshal(published(t), &whole); err != nil {
		t.Fatal(err)
	}
	whole.compare(t, reflect.TypeFor[config.Config](), "the file")
}

func (d described) compare(t *testing.T, kind reflect.Type, place string) {
	if kind.Kind() == reflect.Map {
		var each described
		if err := json.Unmarshal(d.Rest, &each); err != nil {
			t.Fatalf("%s: %v", place, err)
		}
		each.compare(t, kind.Elem(), place+".*")
		return
	}
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if kind.Kind() != reflect.Struct {
		return
	}
	var names []string
	for i := range kind.NumField() {
		f := kind.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || f.Tag.Get("retired") != "" {
			continue
		}
		names = append(names, name)
		if inner, ok := d.Properties[name]; ok {
			inner.compare(t, f.Type, place+"."+name)
		}
	}
	slices.Sort(names)
	if have := slices.Sorted(maps.Keys(d.Properties)); !slices.Equal(names, have) {
		t.Errorf("%s: struct %v, schema %v", place, names, have)
	}
	if string(d.Rest) != "false" {
		t.Errorf("%s: the schema takes names that the program refuses", place)
	}
}

func TestOriginSurvivesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(`{"permission_mode": "edits"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil || c.PermissionMode != "edits" || c.Origin("permission_mode") != path {
		t.Fatalf("config %+v, origin %s, err %v", c, c.Origin("permission_mode"), err)
	}
}

func TestLanguageServersThatCannotBe(t *testing.T) {
	for text, says := range map[string]string{
		`{"language_servers": {"use": "sometimes"}}`:                                                 "want auto, on or off",
		`{"language_servers": {"servers": {"zls": {"command": ["zls"]}}}}`:                           "say both",
		`{"language_servers": {"servers": {"gopls": {"files": {"go": "go"}}}}}`:                      "with their point",
		`{"language_servers": {"servers": {"zls": {"command": ["zls"], "files": {".ZIG": "zig"}}}}}`: "small letters",
	} {
		_, err := config.Parse("c.json", []byte(text))
		var mistake *config.Error
		if !errors.As(err, &mistake) || !strings.Contains(mistake.Hint, says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := config.Parse("c.json", []byte(`{"language_servers": {"servers": {"gopls": {"off": true}, "zls": {"command": ["zls"], "files": {".zig": "zig"}}}}}`)); err != nil {
		t.Error(err)
	}
}

// TestAConfigurationOfOthersIsNotTaken: what others could have written names programs that run, so
// it is refused like hooks.
func TestAConfigurationOfOthersIsNotTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(`{"formatters": {"go": {"command": ["/bin/true"]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	var e *config.Error
	if _, err := config.Load(path); !errors.As(err, &e) || !strings.Contains(e.Error(), path) || !strings.Contains(e.Hint, "chmod go-w") {
		t.Errorf("writable by all: %v", err)
	}
	if err := config.Keep(path, "model", "a/b"); err == nil {
		t.Error("and it was rewritten")
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path); !errors.As(err, &e) || !strings.Contains(e.Error(), "belongs to") || !strings.Contains(e.Hint, "chown") {
		t.Errorf("of another user: %v", err)
	}
}
