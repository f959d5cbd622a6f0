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

// File is the name of the file of hooks in a user's configuration folder, beside the owner's file
// of the machine, and in the folder .adze of a project.
const File = "hooks.json"

// maxFile bounds a file of hooks, in bytes.
const maxFile = 256 << 10

// Load reads the hooks of a user or of the machine's owner: path is the file, owner the number of
// the user who must own it, layer what stands before their names. A file that is not there has
// none. What others can write is nobody's word, and a hook that could not run would guard nothing:
// both are errors, and stop the start.
func Load(path string, owner int, layer string) ([]Program, error) {
	raw, err := ownfile.Rule{Owner: owner, Most: maxFile}.Read(path)
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
		if h.Cannot == "" && len(h.Argv) > 0 && strings.Contains(h.Argv[0], "/") && !filepath.IsAbs(h.Argv[0]) {
			h.Cannot = fmt.Sprintf("name %s by its whole path: hooks run in the folder that adze works in, and each project would bring its own", h.Argv[0])
		}
		if h.Cannot != "" {
			return nil, fmt.Errorf("the hook %d of %s cannot run: %s", count[h.Event], h.Native, h.Cannot)
		}
	}
	return programs, nil
}
