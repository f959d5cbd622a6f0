package trust

import (
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// toolFolder holds a project's declared tools, one per file.
const toolFolder = ".adze/tools"

// tools finds declared tools. Only their commands are checked here.
func tools(f folder) (out []Item) {
	for _, name := range f.names(toolFolder, ".json") {
		i := Item{ID: strings.TrimSuffix(path.Base(name), ".json"), Source: name, Trigger: "the model calls it"}
		raw, err := f.read(name)
		if err == nil {
			i.Raw = raw
			err = i.declared(raw)
		}
		if err != nil {
			i.Problem = err.Error()
		}
		out = append(out, i)
	}
	return out
}

func (i *Item) declared(raw []byte) error {
	var d struct {
		Command []json.RawMessage `json:"command"`
		Workdir string            `json:"workdir"`
		Timeout string            `json:"timeout"`
	}
	plain, err := plainJSON(raw)
	if err == nil {
		err = json.Unmarshal(plain, &d)
	}
	if err != nil {
		return errors.New("it is not the JSON of a tool")
	}
	if _, err := time.ParseDuration(d.Timeout); d.Timeout != "" && err != nil {
		return errors.New("its timeout is none")
	}
	for _, element := range d.Command {
		var one string
		var many []string
		if json.Unmarshal(element, &one) == nil {
			i.Argv = append(i.Argv, one)
		} else if json.Unmarshal(element, &many) == nil {
			i.Argv = append(i.Argv, many...)
		}
	}
	if len(i.Argv) == 0 || i.Argv[0] == "" {
		return errors.New("it has no command")
	}
	if d.Workdir != "" && !filepath.IsLocal(d.Workdir) {
		return errors.New("its workdir is not below the workspace")
	}
	i.Cwd = d.Workdir
	i.Argv = slices.Clip(i.Argv)
	// A relative program path starts at the declaration's folder.
	if p := i.Argv[0]; strings.Contains(p, "/") && !path.IsAbs(p) && !strings.HasPrefix(p, "~/") {
		rel := path.Join(toolFolder, p)
		if strings.HasPrefix(rel, "../") {
			return errors.New("its program is outside the project; name it by its whole path")
		}
		i.Files = append(i.Files, Pinned{Path: rel})
	}
	return nil
}
