package doctor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode"

	"adze/internal/llm/models"
	"adze/session"
)

// checkKeys reports which keys are set and plainly wrong. It shows no part of a key.
func (d Doctor) checkKeys(find *models.Finder) []Check {
	var set []string
	var bad []Check
	var unkept error // reported once: all keys share the file
	for _, e := range find.Endpoints() {
		if err := e.Unkept(); err != nil && unkept == nil {
			unkept = err
			c := d.failing("keys", e.CheckUsable())
			bad = append(bad, missingCheck(c.Name, c.Finding, c.Mend)) // another key may work
		}
		if err := e.Lacks(); err != nil {
			c := d.failing(e.Name, err)
			bad = append(bad, missingCheck(c.Name, c.Finding, c.Mend)) // another provider may work
		}
		if e.Key == "" || e.KeyEnv == "" && !e.InKeyring {
			continue
		}
		from := e.KeySource()
		if !e.InKeyring && find.Keeps(e.Name) {
			from += " (before the one that adze models login kept)"
		}
		if !slices.Contains(set, from) {
			set = append(set, from)
		}
		if fault := keyFault(e.Name, e.Key); fault != "" && atCompany(find, e) {
			bad = append(bad, missingCheck("keys", e.KeySource()+" "+fault, "copy the key again from your account at "+e.Name))
		}
	}
	if len(set) == 0 && len(bad) > 0 {
		return bad
	}
	if len(set) == 0 {
		return []Check{fine("keys", "none is set; local models need none")}
	}
	return append([]Check{fine("keys", strings.Join(set, ", "))}, bad...)
}

// atCompany reports whether an endpoint is the company's own: other servers accept any key.
func atCompany(find *models.Finder, e models.Endpoint) bool {
	return e.NeedsKey && find.AtHome(e.Name)
}

// keyFault returns a key's obvious fault, or "".
func keyFault(provider, key string) string {
	low := strings.ToLower(key)
	switch {
	case strings.HasPrefix(low, "bearer "):
		return "begins with Bearer, which is not part of a key"
	case strings.ContainsAny(key, `"'`):
		return "has quotes in it"
	case strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r > unicode.MaxASCII }):
		return "has characters in it that no key has"
	case strings.Contains(low, "your") || strings.Contains(low, "xxxx") || strings.ContainsAny(key, "<>$"):
		return "looks like an example, not like a key"
	case len(key) < 16:
		return "is too short for a key"
	}
	if of := models.Marked(key); of != "" && of != provider {
		return "holds a key of " + of
	}
	return ""
}

// checkOnline asks each server with a key for its models, which is free.
func checkOnline(ctx context.Context, find *models.Finder) []Check {
	var asked []models.Endpoint
	for _, e := range find.Endpoints() {
		if e.Lacks() == nil && (e.KeySource() != "" || e.SignedBy() != "") {
			asked = append(asked, e)
		}
	}
	out := make([]Check, len(asked))
	var group sync.WaitGroup
	for i, e := range asked {
		group.Go(func() {
			_, err := e.Models(ctx)
			var failed *session.ProviderError
			switch {
			case err == nil || e.Cloud != "" && models.MayNotList(err):
				out[i] = fine("online", e.Name+" takes "+cmp.Or(e.SignedBy(), e.KeySource()))
			case errors.As(err, &failed):
				out[i] = missingCheck("online", failed.Error(), cmp.Or(failed.Hint, "try again"))
			default:
				out[i] = missingCheck("online", e.Name+": "+err.Error(), "try again")
			}
		})
	}
	group.Wait()
	return out
}
