package resume

import (
	"context"
	"encoding/json"

	"adze/session"
)

// Last is what a session worked with last: the model, as provider/name, and the agent that leads it. Empty: the log does not
// say, or none does.
func Last(ctx context.Context, logs session.Store, id session.ID) (full, lead string) {
	entries, err := logs.Load(ctx, id)
	if err != nil {
		return "", "" // resuming it tells why
	}
	for _, e := range entries {
		switch e.Type {
		case session.StartEntry:
			var s session.Start
			if json.Unmarshal(e.Data, &s) == nil && s.Model != "" {
				full, lead = s.Model, s.Lead
			}
		case session.MessageEntry:
			var m struct{ Provider, Model string } // of the user's there is none
			if json.Unmarshal(e.Data, &m) == nil && m.Provider != "" && m.Model != "" {
				full = m.Provider + "/" + m.Model
			}
		}
	}
	return full, lead
}
