package app

import (
	"errors"
	"io/fs"
	"os"

	"adze/internal/config"
	"adze/internal/llm/replay"
)

// recording serves a recording in place of a model.
func recording(path string, secrets []string) (model, error) {
	f, err := os.Open(path)
	if err != nil {
		return model{}, misuse("check the path", "--replay: %v", err)
	}
	defer f.Close()
	p, err := replay.NewPlayer(f, secrets...)
	if err != nil {
		return model{}, misuse("record the run again with --record", "--replay %s: %v", path, err)
	}
	m := model{provider: p, name: p.Model(), origin: "--replay", profile: coderProfile()}
	if p.Name() == "ollama" {
		m.profile = localProfile()
	}
	return m, nil
}

// recorded writes down what the chosen model is sent and answers, to a new file that only the person reads.
func (o *options) recorded(m model, w *wired, secrets []string) (model, error) {
	if o.record == "" {
		return m, nil
	}
	f, err := os.OpenFile(o.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return m, misuse("name a new file, or remove that one", "--record %s: the file exists", o.record)
	}
	if err != nil {
		return m, misuse("name a file that can be written", "--record: %v", err)
	}
	w.closers = append(w.closers, func() { f.Close() })
	m.provider = replay.NewRecorder(m.provider, f, secrets...)
	return m, nil
}

// secrets are the values of all variables that hold keys.
func (a *app) secrets(cfg config.Config) []string {
	var out []string
	for _, name := range keyNames(cfg) {
		if v := a.getenv(name); v != "" {
			out = append(out, v)
		}
	}
	return out
}
