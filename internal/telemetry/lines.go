package telemetry

import (
	"bytes"
	"encoding/json"
	"time"

	"adze/internal/sessiondb/audit"
	"adze/session"
)

// Line counts a line of adze.stream/1: what a run says that is another process.
func (f *Figures) Line(line []byte) {
	if f == nil || !Tells(line) {
		return
	}
	var l struct {
		Type, Provider, Model, Name, Status, Code, Cause string
		Stop                                             session.Stop
		Kind                                             session.ErrorKind
		Usage                                            json.RawMessage // of a result by model
		Cost                                             *float64        `json:"cost_usd"`
		Took                                             int64           `json:"duration_ms"`
		First                                            int64           `json:"first_ms"`
	}
	if json.Unmarshal(line, &l) != nil {
		return
	}
	took := time.Duration(l.Took) * time.Millisecond
	switch l.Type {
	case "request":
		if l.Provider == audit.Hand {
			return
		}
		r := asked{name(l.Provider), name(l.Model), statusOf(l.Stop, l.Kind), session.Usage{}, l.Cost, took, time.Duration(l.First) * time.Millisecond}
		_ = json.Unmarshal(l.Usage, &r.usage) // what it has of the fields counts
		f.request(r)
	case "tool_end":
		f.called(l.Name, l.Status, l.Code, took)
	case "result":
		f.turned(l.Cause, took)
	}
}

// Tells reports by its beginning whether a line is counted.
func Tells(start []byte) bool {
	for _, kind := range []string{"request", "tool_end", "result"} {
		if bytes.HasPrefix(start, []byte(`{"type":"`+kind+`"`)) {
			return true
		}
	}
	return false
}
