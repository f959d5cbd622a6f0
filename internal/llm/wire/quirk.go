package wire

import (
	"net/http"

	"adze/session"
)

// Quirk is a way in which a model or a server differs from its format, as its refusals show. The
// adapter says by Name what it then does otherwise.
type Quirk struct {
	Name string
	// When are words of refusals in lower case: one of each list stands in the text.
	When [][]string
	Once bool // it may be the fault of one conversation, and is forgotten with the process
}

// Quirks are those that are known of a model, by name.
type Quirks map[string]bool

// quirk learns the first quirk that a refusal shows and that is not known yet; if false, it shows
// none.
func (m *mender) quirk(r *Refusal) bool {
	if r.Failed != session.RequestError || r.Status != http.StatusBadRequest && r.Status != http.StatusUnprocessableEntity {
		return false
	}
next:
	for _, q := range m.adapter.Quirks {
		if m.fit.Quirks[q.Name] || m.adapter.Usual[q.Name] {
			continue
		}
		for _, words := range q.When {
			if !has(r.Text, words...) {
				continue next
			}
		}
		if m.fit.Quirks == nil {
			m.fit.Quirks = Quirks{}
		}
		m.fit.Quirks[q.Name] = true
		return true
	}
	return false
}

// quirks are those that are known of a model with those that its server always has.
func (m *mender) quirks() Quirks {
	all := Quirks{}
	for _, known := range []Quirks{m.adapter.Usual, m.fit.Quirks} {
		for name := range known {
			all[name] = true
		}
	}
	return all
}
