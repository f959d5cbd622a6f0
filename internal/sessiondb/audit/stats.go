package audit

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"adze/session"
	"adze/tool"
)

// Stats are the telemetry of one session or all, computed from the log on request and stored
// nowhere.
type Stats struct {
	Sessions int           `json:"sessions"`
	Requests int           `json:"requests"`
	Failed   int           `json:"failed_requests"`
	Calls    int           `json:"calls"`
	Usage    session.Usage `json:"usage"`
	Tools    []Group       `json:"tools"`
	Models   []Model       `json:"models"`
	// Unreadable counts entries whose data is not JSON.
	Unreadable int `json:"unreadable,omitempty"`
}

// A Group has the statistics of one tool's or one model's calls.
type Group struct {
	Name     string              `json:"name"`
	Calls    int                 `json:"calls"`
	Status   map[tool.Status]int `json:"status"`
	Codes    map[string]int      `json:"codes,omitempty"` // reasons for incomplete calls
	Repaired int                 `json:"repaired"`
	FromText int                 `json:"from_text,omitempty"`
	Latency  Latency             `json:"latency"` // of calls that ran
}

// Failures counts the calls that did not complete.
func (g Group) Failures() int { return g.Calls - g.Status[tool.Completed] }

// A Model has the statistics of one model: its requests and calls.
type Model struct {
	Group
	Requests int           `json:"requests"`
	Failed   int           `json:"failed_requests"`
	Usage    session.Usage `json:"usage"`
	Answers  Latency       `json:"answer_latency"`
}

// Latency is in milliseconds, by nearest rank.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
}

// Hand is the provider name in sessions whose calls a user made, without requests.
const Hand = "hand"

// Paths returns the values a Tally reads from an entry, in order.
func Paths() []string {
	return []string{"$.role", "$.id", "$.provider", "$.model", "$.usage", "$.duration_ns", "$.tool", "$.status", "$.code",
		"$.record.message", "$.record.repair", "$.record.origin"}
}

// StatsTypes returns the entry types a Tally reads.
func StatsTypes() []session.EntryType {
	return []session.EntryType{session.MessageEntry, session.RequestEntry, session.OutcomeEntry}
}

type pickedValues struct {
	role, id, provider, model string
	usage                     session.Usage
	took                      time.Duration
	tool, status, code        string
	message, repair, origin   string
}

// UnmarshalJSON decodes the array returned by a scan with Paths.
func (p *pickedValues) UnmarshalJSON(raw []byte) error {
	into := []any{&p.role, &p.id, &p.provider, &p.model, &p.usage, &p.took, &p.tool, &p.status, &p.code, &p.message, &p.repair, &p.origin}
	return json.Unmarshal(raw, &into)
}

// A Tally counts entries. The zero value is ready to use.
type Tally struct {
	stats   Stats
	tools   map[string]*counter
	models  map[string]*counter
	session session.ID
	asked   map[string]string // the model of each message of the session
}

// counter is a Model or Group in progress.
type counter struct {
	Model
	calls, answers []time.Duration
}

// Add adds the next entry, which must have one of StatsTypes and the values at Paths as its data. A
// session's entries must be added in log order, without others in between.
func (t *Tally) Add(id session.ID, kind session.EntryType, data json.RawMessage) {
	if t.tools == nil {
		t.tools, t.models = map[string]*counter{}, map[string]*counter{}
	}
	if id != t.session || t.asked == nil {
		t.session, t.asked = id, map[string]string{}
		t.stats.Sessions++
	}
	var p pickedValues
	if json.Unmarshal(data, &p) != nil {
		t.stats.Unreadable++
		return
	}
	switch {
	case kind == session.OutcomeEntry:
		t.call(p)
	case kind == session.RequestEntry || p.role == string(session.Assistant):
		t.request(p, kind == session.RequestEntry)
	}
}

func (t *Tally) request(p pickedValues, failed bool) {
	name := p.provider + "/" + p.model
	t.asked[p.id] = name
	if p.provider == Hand {
		return // not a request
	}
	c := named(t.models, name)
	c.Requests++
	t.stats.Requests++
	c.Usage, t.stats.Usage = c.Usage.Add(p.usage), t.stats.Usage.Add(p.usage)
	if failed {
		c.Failed++
		t.stats.Failed++
		return
	}
	if p.took > 0 {
		c.answers = append(c.answers, p.took)
	}
}

func (t *Tally) call(p pickedValues) {
	t.stats.Calls++
	named(t.tools, p.tool).count(p)
	if model, ok := t.asked[p.message]; ok {
		named(t.models, model).count(p)
	}
}

func named(m map[string]*counter, name string) *counter {
	if m[name] == nil {
		m[name] = &counter{Model: Model{Group: Group{Name: name, Status: map[tool.Status]int{}, Codes: map[string]int{}}}}
	}
	return m[name]
}

func (c *counter) count(p pickedValues) {
	c.Calls++
	c.Status[tool.Status(p.status)]++
	if p.code != "" {
		c.Codes[p.code]++
	}
	if p.repair != "" {
		c.Repaired++
	}
	if p.origin == string(tool.FromText) {
		c.FromText++
	}
	if p.status == string(tool.Completed) || p.status == string(tool.Failed) {
		c.calls = append(c.calls, p.took)
	}
}

// Stats returns the sums so far: tools and models by number of calls, then by name.
func (t *Tally) Stats() Stats {
	s := t.stats
	s.Tools, s.Models = []Group{}, []Model{}
	for _, c := range sorted(t.tools) {
		c.Latency = latencyOf(c.calls)
		s.Tools = append(s.Tools, c.Group)
	}
	for _, c := range sorted(t.models) {
		c.Latency, c.Answers = latencyOf(c.calls), latencyOf(c.answers)
		s.Models = append(s.Models, c.Model)
	}
	return s
}

func sorted(m map[string]*counter) []*counter {
	var out []*counter
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[name])
	}
	slices.SortStableFunc(out, func(a, b *counter) int { return b.Calls - a.Calls })
	return out
}

func latencyOf(all []time.Duration) Latency {
	if len(all) == 0 {
		return Latency{}
	}
	slices.Sort(all)
	rank := func(q float64) float64 {
		d := all[int(math.Ceil(q*float64(len(all))))-1]
		return float64(d.Microseconds()) / 1000
	}
	return Latency{rank(0.50), rank(0.99)}
}
