package policy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
	"adze/tool"
)

// No rule and no mode allows sending a known secret away: the model was never shown its value.
const whySecret = "it holds a secret that is known here, as it is or encoded, and would send it away; leave the secret out, or name the variable or file that holds it and let the user decide"

// carriesSecret reports whether a need sends a known secret away: in an address, in request data,
// or in a command with network access.
func (p *Policy) carriesSecret(v verdict) bool {
	n := v.need
	switch {
	case p.options.Leaks == nil:
		return false
	case n.Permission == tool.Network:
		return p.options.Leaks(n.Target) || n.Sends != "" && p.options.Leaks(n.Sends)
	case n.Sends != "":
		return p.options.Leaks(n.Sends)
	}
	return n.Permission == tool.Execute && p.commandLeaks(n.Target, v.command)
}

// commandLeaks reports a known secret in the words of a command with a network program, or in an
// address. Whether others send it is unknown.
func (p *Policy) commandLeaks(text string, c *command) bool {
	if c.refused != nil || c.broken != nil {
		return strings.Contains(text, "://") && p.options.Leaks(text)
	}
	connects := false
	all := []string{text}
	for _, s := range c.simples {
		connects = connects || s.words[0].Known && programs.CommandIs("sends", script.Texts(s.words)...)
		all = append(all, strings.Join(script.Texts(s.words), " "))
	}
	if connects {
		return slices.ContainsFunc(all, p.options.Leaks)
	}
	return slices.ContainsFunc(c.simples, func(s simple) bool {
		return slices.ContainsFunc(s.words, func(w script.Word) bool { return strings.Contains(w.Text, "://") && p.options.Leaks(w.Text) })
	})
}

// The number of fetches per window before a question.
const (
	mostFetches  = 60
	fetchesEvery = time.Minute
)

// pace counts the last minute's fetches. The zero value has none.
type pace struct {
	mu    sync.Mutex
	times []time.Time
}

// full reports whether the next fetch requires a question.
func (f *pace) full(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times = slices.DeleteFunc(f.times, func(at time.Time) bool { return now.Sub(at) >= fetchesEvery })
	return len(f.times) >= mostFetches
}

// add counts a fetch. The user's approval restarts the count, so that not every further fetch is a
// question.
func (f *pace) add(now time.Time, asked bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if asked {
		f.times = nil
	}
	f.times = append(f.times, now)
}

// fetches reports whether a tool always connects, to a page or a search engine.
func fetches(q tool.Question) bool { return slices.Contains(q.Tool.Permissions.Required, tool.Network) }

// paced judges a fetch beyond the limit.
func (p *Policy) paced(mode Mode, q tool.Question) (verdict, bool) {
	if mode == Yolo || !fetches(q) || !p.pace.full(p.options.Now()) {
		return verdict{}, false
	}
	need := firstNeed(q)
	return verdict{need: need, effect: Ask, layer: builtIn, target: need.Touches(),
		reason: fmt.Sprintf("%d fetches were made within a minute, and more need approval; go on with what is there, or wait", mostFetches)}, true
}
