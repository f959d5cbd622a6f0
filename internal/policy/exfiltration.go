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

// whySecret refuses what would send a known secret away. No rule and no mode allows it: the model
// was never shown the value.
const whySecret = "it holds a secret that is known here, as it is or encoded, and would send it away; leave the secret out, or name the variable or file that holds it and let the user decide"

// carriesSecret reports a need that sends a known secret away: in an address, in what goes there,
// or in a command that connects.
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

// commandLeaks reports a command with a known secret in its words where one of its programs
// connects, or in an address. Whether a program of no such name sends it is not known.
func (p *Policy) commandLeaks(text string, c *command) bool {
	if c.refused != nil || c.broken != nil {
		return strings.Contains(text, "://") && p.options.Leaks(text)
	}
	connects := false
	all := []string{text}
	for _, s := range c.simples {
		connects = connects || s.words[0].Known && programs.Does("sends", script.Texts(s.words)...)
		all = append(all, strings.Join(script.Texts(s.words), " "))
	}
	if connects {
		return slices.ContainsFunc(all, p.options.Leaks)
	}
	return slices.ContainsFunc(c.simples, func(s simple) bool {
		return slices.ContainsFunc(s.words, func(w script.Word) bool { return strings.Contains(w.Text, "://") && p.options.Leaks(w.Text) })
	})
}

// Fetches that a run makes in a minute before somebody is asked, and that minute.
const (
	mostFetches  = 60
	fetchesEvery = time.Minute
)

// pace counts the fetches of the last minute. The zero value has seen none.
type pace struct {
	mu   sync.Mutex
	made []time.Time
}

// full reports that as many were made as need no question.
func (f *pace) full(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made = slices.DeleteFunc(f.made, func(at time.Time) bool { return now.Sub(at) >= fetchesEvery })
	return len(f.made) >= mostFetches
}

// add counts one. A yes of the user begins the count anew, so that not each fetch from then on is a
// question.
func (f *pace) add(now time.Time, asked bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if asked {
		f.made = nil
	}
	f.made = append(f.made, now)
}

// fetches reports a call of a tool that always connects, to a page or a search engine.
func fetches(q tool.Question) bool { return slices.Contains(q.Tool.Permissions.Required, tool.Network) }

// paced is the verdict on a fetch of more than there may be in a minute.
func (p *Policy) paced(mode Mode, q tool.Question) (verdict, bool) {
	if mode == Yolo || !fetches(q) || !p.pace.full(p.options.Now()) {
		return verdict{}, false
	}
	need := firstNeed(q)
	return verdict{need: need, effect: Ask, layer: builtIn, target: need.Touches(),
		reason: fmt.Sprintf("%d fetches were made within a minute, and more need approval; go on with what is there, or wait", mostFetches)}, true
}
