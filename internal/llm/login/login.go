// Package login validates a provider's API key, has its server check it, and stores it.
//
// The one rule: a key is never shown, and is sent only to the host it is stored for.
//
// Start reading at Service.Take.
//
// Known limits: a server that lists its models without a key (OpenRouter does) checks none.
package login

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"adze/internal/config/keyring"
	"adze/internal/llm/models"
	"adze/internal/text/usage"
	"adze/session"
)

// in bytes; the longest known keys, tokens of company gateways, have about 4,000
const maxKey = 16 << 10

// A Service validates and stores keys.
type Service struct {
	Find *models.Finder
	Keep *keyring.Store
	// Hide redacts a key in everything stored; nil means no redaction.
	Hide func(key string)
}

// Options control Take.
type Options struct {
	Unchecked bool // do not ask the server
	InFile    bool // not in the system keyring
}

// KeyResult is the result of Take.
type KeyResult struct {
	Location string   // where the key is stored
	Notices  []string // for the user
}

// Endpoint returns the named provider's endpoint, or an error if it needs no key.
func (d Service) Endpoint(provider string) (models.Endpoint, error) {
	e, err := d.Find.Endpoint(provider)
	if err != nil {
		return e, err
	}
	if e.SameServerAs != "" {
		return d.Endpoint(e.SameServerAs)
	}
	if e.Host() == "" {
		return e, usage.Mistake("adze models lists the providers", "%s is asked nothing, and needs no key", provider)
	}
	return e, nil
}

// Providers lists those that need a key.
func Providers(find *models.Finder) (names []string) {
	for _, e := range find.Endpoints() {
		if e.NeedsKey || e.Program == "" {
			names = append(names, e.Name)
		}
	}
	return names
}

// Take validates a key, has the server check it, and stores it.
func (d Service) Take(ctx context.Context, provider, key string, o Options) (KeyResult, error) {
	var t KeyResult
	e, err := d.Endpoint(provider)
	if err != nil {
		return t, err
	}
	if key, err = clean(key); err != nil {
		return t, err
	}
	if d.Hide != nil {
		d.Hide(key)
	}
	if of := models.Marked(key); of != "" && of != e.Name && e.NeedsKey && !o.Unchecked {
		return t, usage.Mistake("adze models login "+of, "this is a key of %s, not of %s", of, e.Name)
	}
	if !o.Unchecked {
		notice, err := check(ctx, e, key)
		if err != nil {
			return t, err
		}
		t.note(notice)
	}
	where, why, err := d.Keep.Keep(e.Name, e.Host(), key, o.InFile)
	if err != nil {
		return t, fmt.Errorf("keep the key: %w", err)
	}
	t.Location = where
	if why != nil {
		t.note("the key ring of the system took it not: " + why.Error())
	}
	if from := e.KeySource(); from != "" && !e.InKeyring {
		t.note(from + " is set, and counts before the key that is kept")
	}
	return t, nil
}

func (t *KeyResult) note(text string) {
	if text != "" {
		t.Notices = append(t.Notices, text)
	}
}

// clean removes text that is often copied with a key.
func clean(key string) (string, error) {
	key = strings.Trim(strings.TrimSpace(key), `"'`)
	if len(key) > 7 && strings.EqualFold(key[:7], "Bearer ") {
		key = strings.TrimSpace(key[7:])
	}
	odd := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r > unicode.MaxASCII }
	switch {
	case key == "":
		return "", usage.Mistake("paste the key, then press enter", "there is no key")
	case len(key) > maxKey:
		return "", usage.Mistake("paste the key alone", "this is too long for a key")
	case strings.ContainsFunc(key, odd):
		return "", usage.Mistake("paste the key alone, on one line", "the key holds characters that no key has")
	}
	return key, nil
}

// check requests the provider's model list with the key. A server without a list checks nothing.
func check(ctx context.Context, e models.Endpoint, key string) (notice string, err error) {
	e.Key = key
	_, err = e.Server().Models(ctx)
	var failed *session.ProviderError
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &failed) && (failed.Status == 404 || failed.Status == 405):
		return e.Name + " does not say whether it takes the key", nil
	case errors.As(err, &failed) && failed.Kind == session.AuthError:
		return "", &session.ProviderError{Kind: session.AuthError, Status: failed.Status, Message: e.Name + " does not take this key", Hint: "copy it again from your account there; --no-check keeps it as it is"}
	case errors.As(err, &failed):
		failed.Hint = "--no-check keeps the key without asking"
	}
	return "", err
}
