package session

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"adze/tool"
)

// Bounds of repetition. A step is stale when all its calls were made before in the turn with the same results: it told
// the model nothing. Counted is how often the calls of a run of stale steps were made, so that it does not matter
// whether a model repeats one call or goes round in a circle.
const (
	// repeatsToTell is how often calls are made before the model is told.
	repeatsToTell = 3
	// repeatsToStop is how often they are made before the turn ends.
	repeatsToStop = 5
	// slowStep is how long the calls of a step take that may be waiting for something, such as a server that starts;
	// they may be made slowFactor times as often: what they cost in requests is bounded by the time that they take.
	slowStep   = 5 * time.Second
	slowFactor = 4
)

var errLoop = errors.New("the model repeats itself")

// sighting is a call with its result.
type sighting [sha256.Size]byte

// loopGuard watches the calls of a turn. Its zero value is ready.
type loopGuard struct {
	step  []sighting // of the step that runs
	took  time.Duration
	names []string

	seen    map[sighting]bool
	counts  map[sighting]int // in the stale steps since the last one that told something
	repeats int              // how often each call of the last step was made
	slow    bool
	told    bool // since then
	warn    bool // the model is to be told now
}

// saw takes a call that has ended.
func (g *loopGuard) saw(call tool.RawCall, o tool.Outcome) {
	if o.Status == tool.Aborted {
		g.forget() // a person stepped in, or the turn ends
		return
	}
	g.step = append(g.step, sightingOf(call, o))
	g.took += o.Duration
	g.names = append(g.names, call.Name)
}

// forget begins anew: the person said something, or the model no longer sees what it did.
func (g *loopGuard) forget() { *g = loopGuard{} }

// close weighs the step whose calls have all ended.
func (g *loopGuard) close() {
	if len(g.step) == 0 {
		return
	}
	if g.seen == nil {
		g.seen = map[sighting]bool{}
	}
	fresh := false
	for _, s := range g.step {
		fresh = fresh || !g.seen[s]
		g.seen[s] = true
	}
	if fresh {
		g.counts, g.repeats, g.told, g.slow = nil, 0, false, false
	} else {
		g.repeat()
	}
	g.step, g.took = nil, 0
	if !g.warn {
		g.names = nil
	}
}

func (g *loopGuard) repeat() {
	if g.counts == nil {
		g.counts = map[sighting]int{}
	}
	done := map[sighting]bool{} // the same call twice in one step counts once
	least := 0
	for _, s := range g.step {
		if done[s] {
			continue
		}
		done[s] = true
		g.counts[s]++
		if least == 0 || g.counts[s] < least {
			least = g.counts[s]
		}
	}
	g.repeats = least + 1 // the first time told something
	g.slow = g.took >= slowStep
	if g.repeats >= repeatsToTell && !g.told {
		g.told, g.warn = true, true
	}
}

// stuck ends a turn whose model went on after it was told.
func (g *loopGuard) stuck() error {
	most := repeatsToStop
	if g.slow {
		most *= slowFactor
	}
	if g.repeats < most {
		return nil
	}
	return fmt.Errorf("%w: the same calls were made %d times with the same results", errLoop, g.repeats)
}

// warning is what the model is told, once for each run of stale steps; empty: nothing.
func (g *loopGuard) warning() string {
	if !g.warn {
		return ""
	}
	g.warn = false
	names := strings.Join(distinct(g.names), ", ")
	g.names = nil
	return fmt.Sprintf("You have made the same calls (%s) %d times, and their results did not change. Making them again will not change them. "+
		"Use the results that you have, try something else, or say what stands in the way. If you are waiting for something, wait longer in one call. "+
		"The turn ends if this goes on.", names, g.repeats)
}

func distinct(names []string) []string {
	var out []string
	have := map[string]bool{}
	for _, n := range names {
		if !have[n] {
			have[n] = true
			out = append(out, n)
		}
	}
	return out
}

// sightingOf tells calls with the same result from others. How long something took is no part of a result: tests that
// fail again in 0.13 s and not in 0.12 s fail as before.
func sightingOf(call tool.RawCall, o tool.Outcome) (s sighting) {
	h := sha256.New()
	for _, field := range []string{call.Name, call.Arguments, string(o.Status), o.Code} {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		_, _ = io.WriteString(h, field)
	}
	rest := o.Output
	for {
		before, after, found := cutMeasured(rest)
		_, _ = io.WriteString(h, before)
		if !found {
			break
		}
		_, _ = h.Write([]byte{0})
		rest = after
	}
	for _, a := range o.Attachments {
		sum := sha256.Sum256(a.Data)
		_, _ = h.Write(sum[:])
	}
	h.Sum(s[:0])
	return s
}

// cutMeasured finds the first duration that somebody measured, such as 0.12s or 3 ms. Whole seconds are none: they are
// what a thing that one waits for counts ("12s elapsed"), and such a result did change. Every output goes through here,
// so it is no regular expression.
func cutMeasured(text string) (before, after string, found bool) {
	for at := 0; at < len(text); at++ {
		if text[at] < '0' || text[at] > '9' {
			continue
		}
		end := at + digits(text[at:])
		fraction := false
		if n := digits(text[min(end+1, len(text)):]); end < len(text) && text[end] == '.' && n > 0 {
			end, fraction = end+1+n, true
		}
		number := end
		if end < len(text) && text[end] == ' ' {
			end++
		}
		unit := end
		for end < len(text) && (letter(text[end]) || text[end] >= 0x80) {
			end++
		}
		if (at == 0 || !letter(text[at-1])) && isDuration(text[unit:end], fraction) {
			return text[:at], text[end:], true
		}
		at = number - 1
	}
	return text, "", false
}

func isDuration(unit string, fraction bool) bool {
	switch unit {
	case "ms", "us", "µs", "ns":
		return true
	case "s", "sec", "secs", "second", "seconds", "m", "min":
		return fraction
	}
	return false
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
