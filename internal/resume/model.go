package resume

import (
	"context"
	"encoding/json"

	"adze/session"
)

// Model is the model that a session worked with last, as provider/name; empty: the log does not say.
func Model(ctx context.Context, logs session.Store, id session.ID) string {
	entries, err := logs.Load(ctx, id)
	if err != nil {
		return "" // resuming it tells why
	}
	full := ""
	for _, e := range entries {
		switch e.Type {
		case session.StartEntry:
			var s session.Start
			if json.Unmarshal(e.Data, &s) == nil && s.Model != "" {
				full = s.Model
			}
		case session.MessageEntry:
			var m struct{ Provider, Model string } // of the user's there is none
			if json.Unmarshal(e.Data, &m) == nil && m.Provider != "" && m.Model != "" {
				full = m.Provider + "/" + m.Model
			}
		}
	}
	return full
}
