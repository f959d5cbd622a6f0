package hostio

import (
	"cmp"

	"adze/internal/config"
)

// Defaults stores the user's choices for later sessions in the configuration.
type Defaults struct {
	File string
	May  func() error // refuses a change; may be nil
}

// Keep stores a choice: "model", "interface.theme" or "interface.keys".
func (d Defaults) Keep(name, value string) error {
	if d.May != nil {
		if err := d.May(); err != nil {
			return err
		}
	}
	return config.Keep(d.File, name, value)
}

// Kept returns the current value, or "" if the configuration is invalid.
func (d Defaults) Kept(name string) string {
	cfg, err := config.Load(d.File)
	if err != nil {
		return ""
	}
	return map[string]string{
		"model": cfg.Model, "interface.theme": cmp.Or(cfg.Interface.Theme, config.Themes()[0]), "interface.keys": cmp.Or(cfg.Interface.Keys, config.Keys()[0]),
	}[name]
}
