package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"adze/session"
)

// LastModel holds a session's model, agent and server. Fields are empty if the log does not have
// them.
type LastModel struct {
	Model  string // last used by the session itself, as provider/name
	Lead   string // its main agent
	Server string // the program that serves Model
}

// errFound stops reading a log.
var errFound = errors.New("found")

// Last returns what a session used last.
func Last(ctx context.Context, logs session.Store, id session.ID) (last LastModel) {
	var start session.Start
	begun := func(e session.Entry) bool {
		start = session.Start{}
		return json.Unmarshal(e.Data, &start) != nil || start.Model == ""
	}
	err := session.Back(ctx, logs, id, []session.EntryType{session.StartEntry, session.MessageEntry}, func(e session.Entry) bool {
		if e.Type == session.StartEntry {
			return begun(e)
		}
		var m struct { // a user's message has none
			Provider, Model string
			Lent            bool
		}
		if json.Unmarshal(e.Data, &m) == nil && m.Provider != "" && m.Model != "" && !m.Lent {
			last.Model = m.Provider + "/" + m.Model
		}
		return last.Model == ""
	})
	if err == nil && start.Model == "" { // almost always the first entry
		err = session.Stream(ctx, logs, id, func(e session.Entry) error {
			if e.Type == session.StartEntry && !begun(e) {
				return errFound
			}
			return nil
		})
	}
	if err != nil && err != errFound {
		return LastModel{} // resuming it returns the error
	}
	last.Model, last.Lead = cmp.Or(last.Model, start.Model), start.Lead
	if last.Model == start.Model {
		last.Server = start.Server
	}
	return last
}
