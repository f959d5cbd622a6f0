package wire

import (
	"cmp"
	"slices"

	"adze/session"
)

// Effort is how hard the model is to think: as the request says, else as the provider is
// configured; if empty, nothing is said about it. Of the usual words the one nearest to what the
// format knows is taken, from least to most; a word of the server's own stays as it is.
func (a *Adapter) Effort(r session.Request, least, most string) string {
	return Between(cmp.Or(r.Effort, a.Options.Effort), least, most)
}

// Between is the usual word nearest to an effort, from least to most.
func Between(effort, least, most string) string {
	all := session.Efforts()
	at := slices.Index(all, effort)
	if at < 0 {
		return effort
	}
	return all[min(max(at, slices.Index(all, least)), slices.Index(all, most))]
}
