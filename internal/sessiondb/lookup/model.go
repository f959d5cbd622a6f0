package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"adze/session"
)

// Past is what a session worked with. What is empty, the log does not say.
type Past struct {
	Model  string // its own that was used last, as provider/name
	Lead   string // the agent that leads it
	Server string // which program answers for Model
}

// errFound ends the reading of a log.
var errFound = errors.New("found")

// Last is what a session worked with last.
func Last(ctx context.Context, logs session.Store, id session.ID) (last Past) {
	var start session.Start
	begun := func(e session.Entry) bool {
		start = session.Start{}
		return json.Unmarshal(e.Data, &start) != nil || start.Model == ""
	}
	err := session.Back(ctx, logs, id, []session.EntryType{session.StartEntry, session.MessageEntry}, func(e session.Entry) bool {
		if e.Type == session.StartEntry {
			return begun(e)
		}
		var m struct { // of the user's there is none
			Provider, Model string
			Lent            bool
		}
		if json.Unmarshal(e.Data, &m) == nil && m.Provider != "" && m.Model != "" && !m.Lent {
			last.Model = m.Provider + "/" + m.Model
		}
		return last.Model == ""
	})
	if err == nil && start.Model == "" { // it is the first entry, nearly always
		err = session.Stream(ctx, logs, id, func(e session.Entry) error {
			if e.Type == session.StartEntry && !begun(e) {
				return errFound
			}
			return nil
		})
	}
	if err != nil && err != errFound {
		return Past{} // resuming it tells why
	}
	last.Model, last.Lead = cmp.Or(last.Model, start.Model), start.Lead
	if last.Model == start.Model {
		last.Server = start.Server
	}
	return last
}
