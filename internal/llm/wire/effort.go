package wire

import (
	"cmp"
	"slices"

	"adze/session"
)

// Effort returns the reasoning effort: the request's, else the configured one, or "" for none. A
// standard word is limited to the range from least to most; a server's own word is kept.
func (a *Adapter) Effort(r session.Request, least, most string) string {
	return ClampEffort(cmp.Or(r.Effort, a.Options.Effort), least, most)
}

// ClampEffort returns the standard word nearest to an effort within the range from least to most.
func ClampEffort(effort, least, most string) string {
	all := session.Efforts()
	at := slices.Index(all, effort)
	if at < 0 {
		return effort
	}
	return all[min(max(at, slices.Index(all, least)), slices.Index(all, most))]
}
