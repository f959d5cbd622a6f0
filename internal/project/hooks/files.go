package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"adze/internal/osfile/ownfile"
	"adze/internal/project/hooks/dialect"
	"adze/internal/text/jsonc"
)

// File is the name of a hooks file: in a user's configuration folder, beside the machine owner's
// file, and in a project's .adze folder.
const File = "hooks.json"

// in bytes
const maxFile = 256 << 10

// Load reads the user's or the machine owner's hooks. owner is the file's required user id, layer
// the prefix for the hooks' names. A missing file has none. A file that others can write, or a hook
// that cannot run, is an error and prevents the start, because a guard would be missing.
func Load(path string, owner int, layer string) ([]Program, error) {
	raw, err := ownfile.Rule{Owner: owner, MaxSize: maxFile}.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var shape struct {
		Hooks  map[string]json.RawMessage `json:"hooks"`
		Schema string                     `json:"$schema"`
	}
	plain, err := jsonc.Decode(raw, &shape)
	if err != nil {
		return nil, err
	}
	hooks, err := dialect.Read(File, plain)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	programs := make([]Program, len(hooks))
	for n, h := range hooks {
		count[h.Event]++
		programs[n] = Program{Hook: h, Name: fmt.Sprintf("%s/%s/%d", layer, h.Native, count[h.Event])}
		if h.Unsupported == "" && len(h.Argv) > 0 && strings.Contains(h.Argv[0], "/") && !filepath.IsAbs(h.Argv[0]) {
			h.Unsupported = fmt.Sprintf("name %s by its whole path: hooks run in the folder that adze works in, and each project would bring its own", h.Argv[0])
		}
		if h.Unsupported != "" {
			return nil, fmt.Errorf("the hook %d of %s cannot run: %s", count[h.Event], h.Native, h.Unsupported)
		}
	}
	return programs, nil
}
