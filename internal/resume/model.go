package resume

import (
	"context"
	"encoding/json"

	"adze/session"
)

// Last is what a session worked with last: its own model, as provider/name, and the agent that leads it. Empty: the log does not
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
			var m struct { // of the user's there is none
				Provider, Model string
				Lent            bool
			}
			if json.Unmarshal(e.Data, &m) == nil && m.Provider != "" && m.Model != "" && !m.Lent {
				full = m.Provider + "/" + m.Model
			}
		}
	}
	return full, lead
}
