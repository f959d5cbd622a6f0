package hostio

import (
	"cmp"

	"adze/internal/config"
)

// Defaults are the choices of a user that hold for later sessions, in their configuration.
type Defaults struct {
	File string
	May  func() error // refuses a change; if nil, every change is allowed
}

// Keep writes one down: "model", "interface.theme" or "interface.keys".
func (d Defaults) Keep(name, value string) error {
	if d.May != nil {
		if err := d.May(); err != nil {
			return err
		}
	}
	return config.Keep(d.File, name, value)
}

// Kept is what holds for one now; of a file with a mistake nothing is known.
func (d Defaults) Kept(name string) string {
	cfg, err := config.Load(d.File)
	if err != nil {
		return ""
	}
	return map[string]string{
		"model": cfg.Model, "interface.theme": cmp.Or(cfg.Interface.Theme, config.Themes()[0]), "interface.keys": cmp.Or(cfg.Interface.Keys, config.Keys()[0]),
	}[name]
}
