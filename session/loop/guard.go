// Package loop distinguishes a model that repeats itself from one that makes progress. A Guard
// watches one turn's calls and results. It warns the model once, and ends the turn if it continues.
//
// It counts three things:
//   - circles: steps whose calls were all made before with the same results, such as A A A or
//     A B A B;
//   - standing still: one call repeated among others with new results, while nothing ran that may
//     change its result;
//   - fruitless steps: calls that differ, by a counter or in their words, while no file changes and
//     no result has anything new.
//
// Start reading at Guard.Close.
//
// Known limits: small file changes in every step count as progress, as do results that differ in a
// number. A read-only command counts as one that may change something.
package loop

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/tool"
)

// Limits for repeated calls and for the cost of fruitless steps: the first warns the model, the
// second ends the turn.
const (
	circleTell, circleStop       = 3, 5
	stillTell, stillStop         = 6, 12
	fruitlessTell, fruitlessStop = 50, 100
	costFailed, costSeen         = 5, 1 // a failed step; a result seen before
	// Slow steps may be waiting for something, such as a starting server, and so may questions
	// about a job. They get higher limits.
	slowStep, patience       = time.Second / 2, 4
	mostNamed, mostArguments = 4, 80 // calls named in a warning, and characters from their arguments
)

// Err ends a turn.
var Err = errors.New("the model repeats itself")

type stepCall struct {
	print   callPrint // hash with result
	asked   callPrint // hash without result
	name    string    // with the start of the arguments
	pending bool      // its subject is still running
	effect  bool      // may have changed something
	cost    int       // 0 for progress
}

type run struct {
	names           []string // calls by first appearance
	times           map[callPrint]int
	least, most     int // fewest repetitions in the last step, and most overall
	top             string
	steps, cost     int
	took            time.Duration
	pending, warned bool
}

// add adds a step; duplicate calls in it count once.
func (r *run) add(step []stepCall, took time.Duration) {
	if r.times == nil {
		r.times = map[callPrint]int{}
	}
	cost, done := costFailed, map[callPrint]bool{}
	r.least = 0
	for _, m := range step {
		cost, r.pending = min(cost, m.cost), r.pending || m.pending
		if done[m.print] {
			continue
		}
		done[m.print] = true
		if r.times[m.print]++; r.times[m.print] == 1 {
			r.names = append(r.names, m.name)
		}
		n := r.times[m.print]
		if r.least == 0 || n < r.least {
			r.least = n
		}
		if n > r.most {
			r.most, r.top = n, m.name
		}
	}
	r.steps, r.cost, r.took = r.steps+1, r.cost+cost, r.took+took
}

// is reports whether a measure has reached a limit.
func (r *run) is(measure, bound int) bool {
	if r.pending || r.steps > 0 && r.took/time.Duration(r.steps) >= slowStep {
		bound *= patience
	}
	return measure >= bound
}

// Guard watches a turn's calls. The zero value is ready to use. It is not safe for concurrent use.
type Guard struct {
	step     []stepCall // the current step
	duration time.Duration

	ever      map[callPrint]bool
	seen      map[callPrint]bool // since the last new kind of change
	circle    run                // stale steps since the last new result
	unchanged run                // steps since something may have changed
	fruitless run                // steps since the last progress
	memory    memory
	warn      string
}

// Observe adds an ended call. changed reports whether workspace files are known to have changed
// while it ran.
func (g *Guard) Observe(call tool.RawCall, o tool.Outcome, changed bool) {
	if o.Status == tool.Aborted {
		g.Forget() // a user intervened, or the turn ends
		return
	}
	name, arguments := cmp.Or(o.Tool, call.Name), canonical(call.Arguments)
	o.Output = measured().ReplaceAllString(o.Output, " \x00")
	m := stepCall{asked: printOf(nil, name, arguments), name: named(call), pending: o.Pending, effect: effect(o)}
	m.print = printOf(o.Attachments, name, arguments, string(o.Status), o.Code, o.Output)
	m.cost = g.memory.cost(m, arguments, o, changed || len(o.Changed) > 0)
	g.step = append(g.step, m)
	g.duration += o.Duration
}

// Forget restarts: the user sent a message, or the model no longer sees its calls.
func (g *Guard) Forget() { *g = Guard{} }

// Close evaluates the step after all its calls have ended.
func (g *Guard) Close() {
	if len(g.step) == 0 {
		return
	}
	fresh, changed, useful := false, false, false
	for _, m := range g.step {
		fresh = fresh || !g.seen[m.print]
		changed = changed || m.effect && !g.ever[m.print]
		useful = useful || m.cost == 0
	}
	if g.ever == nil {
		g.ever = map[callPrint]bool{}
	}
	if changed || g.seen == nil { // the first read after a change is new, even with an old result
		g.unchanged, g.seen = run{}, map[callPrint]bool{}
	}
	for _, m := range g.step {
		g.seen[m.print], g.ever[m.print] = true, true
	}
	g.unchanged.add(g.step, g.duration)
	if g.circle.add(g.step, g.duration); fresh {
		g.circle = run{}
	}
	if g.fruitless.add(g.step, g.duration); useful {
		g.fruitless = run{}
	}
	g.step, g.duration = nil, 0
	g.weigh()
}

// weigh warns the model once for each run.
func (g *Guard) weigh() {
	tell := func(r *run, measure, bound int, format string, args ...any) {
		if r.warned || !r.is(measure, bound) {
			return
		}
		if r.warned = true; g.warn == "" {
			g.warn = fmt.Sprintf(format, args...)
		}
	}
	rounds := g.circle.least + 1 // the first round was new
	tell(&g.circle, rounds, circleTell, "You have made the same calls %d times, and their results did not change: %s. ", rounds, g.circle.list())
	tell(&g.unchanged, g.unchanged.most, stillTell, "You have made the same call %d times, and nothing was changed in between: %s. ", g.unchanged.most, g.unchanged.top)
	tell(&g.fruitless, g.fruitless.cost, fruitlessTell, "Your last %d steps changed no file, and their results say nothing that earlier ones did not. ", g.fruitless.steps)
}

// Stuck returns an error if the model continued after the warning.
func (g *Guard) Stuck() error {
	switch rounds := g.circle.least + 1; {
	case g.circle.warned && g.circle.is(rounds, circleStop):
		return fmt.Errorf("%w: the same calls were made %d times with the same results", Err, rounds)
	case g.unchanged.warned && g.unchanged.is(g.unchanged.most, stillStop):
		return fmt.Errorf("%w: the same call was made %d times with the same result, and nothing was changed in between", Err, g.unchanged.most)
	case g.fruitless.warned && g.fruitless.is(g.fruitless.cost, fruitlessStop):
		return fmt.Errorf("%w: %d steps in a row changed no file and told nothing new", Err, g.fruitless.steps)
	}
	return nil
}

// Warning returns the text for the model, or "".
func (g *Guard) Warning() string {
	text := g.warn
	if g.warn = ""; text == "" {
		return ""
	}
	return text + "Making such calls again will not change that. Use the results that you have, try something else, or say what stands in the way. " +
		"If you are waiting for something, wait longer in one call. The turn ends if this goes on."
}

func (r *run) list() string {
	names, more := r.names, ""
	if left := len(names) - mostNamed; left > 0 {
		names, more = names[:mostNamed], fmt.Sprintf(" and %d more", left)
	}
	return strings.Join(names, ", ") + more
}

// effect reports whether other calls may have new results after this outcome.
func effect(o tool.Outcome) bool {
	if len(o.Changed) > 0 {
		return true
	}
	return o.Status != tool.Denied && o.Status != tool.Invalid && (needs(o, tool.Write) || needs(o, tool.Execute))
}

// named returns a call in a form that the model recognizes.
func named(call tool.RawCall) string {
	arguments := []rune(strings.Join(strings.Fields(call.Arguments[:min(len(call.Arguments), 16*mostArguments)]), " "))
	if len(arguments) > mostArguments {
		arguments = append(arguments[:mostArguments], '…')
	}
	return strings.TrimSpace(call.Name + " " + string(arguments))
}
