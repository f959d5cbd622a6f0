package models

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"adze/internal/config"
	"adze/internal/llm/replay"
	"adze/internal/text/usage"
)

// Recording returns a model that replays a recording.
func Recording(path string, secrets []string) (Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return Model{}, usage.Mistake("check the path", "--replay: %v", err)
	}
	defer f.Close()
	p, err := replay.NewPlayer(f, secrets...)
	if err != nil {
		return Model{}, usage.Mistake("record the run again with --record", "--replay %s: %v", path, err)
	}
	v, _ := vendor(p.Name())
	return Model{Provider: p, Name: p.Model(), Origin: "--replay", Profile: v.Profile()}, nil
}

// Record writes all requests and answers to a new file that only the user can read. The caller
// closes it.
func (m Model) Record(path string, secrets []string) (Model, io.Closer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return m, nil, usage.Mistake("name a new file, or remove that one", "--record %s: the file exists", path)
	}
	if err != nil {
		return m, nil, usage.Mistake("name a file that can be written", "--record: %v", err)
	}
	m.Provider = replay.NewRecorder(m.Provider, f, secrets...)
	return m, f, nil
}

// KeyNames returns the variables that hold providers' keys; commands never see them.
func KeyNames(cfg config.Config) []string {
	var names []string
	for _, v := range vendors() {
		names = append(names, v.Keys...)
	}
	for _, p := range cfg.Providers {
		names = append(names, variables(p)...)
		if p.KeyEnv != "" {
			names = append(names, p.KeyEnv)
		}
	}
	if name := cfg.Search.KeyEnv; name != "" {
		names = append(names, name)
	}
	return append(names, config.SearchKeys()...)
}
