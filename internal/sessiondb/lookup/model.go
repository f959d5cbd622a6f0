package lookup

import (
	"context"
	"encoding/json"

	"adze/session"
)

// Past is what a session worked with. What is empty, the log does not say.
type Past struct {
	Model  string // its own that was used last, as provider/name
	Lead   string // the agent that leads it
	Server string // which program answers for Model
}

// Last is what a session worked with last.
func Last(ctx context.Context, logs session.Store, id session.ID) (last Past) {
	entries, err := logs.Load(ctx, id)
	if err != nil {
		return Past{} // resuming it tells why
	}
	var start session.Start
	for _, e := range entries {
		switch e.Type {
		case session.StartEntry:
			var s session.Start
			if json.Unmarshal(e.Data, &s) == nil && s.Model != "" {
				start, last.Model, last.Lead = s, s.Model, s.Lead
			}
		case session.MessageEntry:
			var m struct { // of the user's there is none
				Provider, Model string
				Lent            bool
			}
			if json.Unmarshal(e.Data, &m) == nil && m.Provider != "" && m.Model != "" && !m.Lent {
				last.Model = m.Provider + "/" + m.Model
			}
		}
	}
	if last.Model == start.Model {
		last.Server = start.Server
	}
	return last
}
