// Package loop tells a model that repeats itself from one that makes progress. A Guard watches the
// calls of one turn and their results. It warns the model once, and ends the turn when the model
// goes on.
//
// Three things are counted:
//   - a circle: a run of steps all of whose calls were made before with the same results, such as A
//     A A or A B A B;
//   - standing still: one call made over and over among others that tell something, while nothing
//     that may change its result ran;
//   - fruitless steps: calls that differ, by a counter or in their words, while no file changes and
//     no result says anything new.
//
// Start reading at Guard.Close.
//
// Known limits: a model that changes a file a little in every step makes progress by this measure,
// and so does one whose results differ in a number. A command that only looks counts as one that
// may change something.
package loop

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/tool"
)

// Bounds of the counts of repeated calls, and of the cost of fruitless steps: at one the model is
// told, at one the turn ends.
const (
	circleTell, circleStop       = 3, 5
	stillTell, stillStop         = 6, 12
	fruitlessTell, fruitlessStop = 50, 100
	costFailed, costSeen         = 5, 1 // of a step that failed, and of one whose result was seen before
	// Steps that take long on average may be waiting for something, such as a server that starts, and
	// so may those that ask after a job. They may go on longer.
	slowStep, patience       = time.Second / 2, 4
	mostNamed, mostArguments = 4, 80 // calls that a warning names, and how much of their arguments, in characters
)

// Err ends a turn.
var Err = errors.New("the model repeats itself")

// stepCall is a call of the step that runs.
type stepCall struct {
	print   callPrint // of the call and its result
	asked   callPrint // of the call
	name    string    // with the beginning of its arguments
	pending bool      // it asks after something that goes on by itself
	effect  bool      // it may have changed something
	cost    int       // if 0, it brought the work further
}

// run is some steps in a row.
type run struct {
	names         []string // of the calls, in the order in which they were first made
	times         map[callPrint]int
	least, most   int // how often each call of the last step was made at least, and any call at most
	top           string
	steps, cost   int
	took          time.Duration
	pending, told bool
}

// add takes a step; the same call twice in it counts once.
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

// is reports that a measure of the run has come to a bound.
func (r *run) is(measure, bound int) bool {
	if r.pending || r.steps > 0 && r.took/time.Duration(r.steps) >= slowStep {
		bound *= patience
	}
	return measure >= bound
}

// Guard watches the calls of a turn. Its zero value is ready. It is for one goroutine.
type Guard struct {
	step []stepCall // that runs
	took time.Duration

	ever      map[callPrint]bool
	seen      map[callPrint]bool // since something changed that never did before
	circle    run                // the stale steps since the last one that told something
	still     run                // the steps since something may have changed
	fruitless run                // the steps since the last one that brought the work further
	memory    memory
	warn      string
}

// Saw takes a call that has ended, and whether files of the workspace are known to have changed
// while it ran.
func (g *Guard) Saw(call tool.RawCall, o tool.Outcome, changed bool) {
	if o.Status == tool.Aborted {
		g.Forget() // a user stepped in, or the turn ends
		return
	}
	name, arguments := cmp.Or(o.Tool, call.Name), canonical(call.Arguments)
	o.Output = measured().ReplaceAllString(o.Output, " \x00")
	m := stepCall{asked: printOf(nil, name, arguments), name: named(call), pending: o.Pending, effect: effect(o)}
	m.print = printOf(o.Attachments, name, arguments, string(o.Status), o.Code, o.Output)
	m.cost = g.memory.cost(m, arguments, o, changed || len(o.Changed) > 0)
	g.step = append(g.step, m)
	g.took += o.Duration
}

// Forget begins anew: the user said something, or the model no longer sees what it did.
func (g *Guard) Forget() { *g = Guard{} }

// Close weighs the step whose calls have all ended.
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
	if changed || g.seen == nil { // the first look after a change tells something, also when it shows what it did before
		g.still, g.seen = run{}, map[callPrint]bool{}
	}
	for _, m := range g.step {
		g.seen[m.print], g.ever[m.print] = true, true
	}
	g.still.add(g.step, g.took)
	if g.circle.add(g.step, g.took); fresh {
		g.circle = run{}
	}
	if g.fruitless.add(g.step, g.took); useful {
		g.fruitless = run{}
	}
	g.step, g.took = nil, 0
	g.weigh()
}

// weigh has the model told once for each run.
func (g *Guard) weigh() {
	tell := func(r *run, measure, bound int, format string, args ...any) {
		if r.told || !r.is(measure, bound) {
			return
		}
		if r.told = true; g.warn == "" {
			g.warn = fmt.Sprintf(format, args...)
		}
	}
	rounds := g.circle.least + 1 // the first time told something
	tell(&g.circle, rounds, circleTell, "You have made the same calls %d times, and their results did not change: %s. ", rounds, g.circle.list())
	tell(&g.still, g.still.most, stillTell, "You have made the same call %d times, and nothing was changed in between: %s. ", g.still.most, g.still.top)
	tell(&g.fruitless, g.fruitless.cost, fruitlessTell, "Your last %d steps changed no file, and their results say nothing that earlier ones did not. ", g.fruitless.steps)
}

// Stuck ends a turn whose model went on after it was told.
func (g *Guard) Stuck() error {
	switch rounds := g.circle.least + 1; {
	case g.circle.told && g.circle.is(rounds, circleStop):
		return fmt.Errorf("%w: the same calls were made %d times with the same results", Err, rounds)
	case g.still.told && g.still.is(g.still.most, stillStop):
		return fmt.Errorf("%w: the same call was made %d times with the same result, and nothing was changed in between", Err, g.still.most)
	case g.fruitless.told && g.fruitless.is(g.fruitless.cost, fruitlessStop):
		return fmt.Errorf("%w: %d steps in a row changed no file and told nothing new", Err, g.fruitless.steps)
	}
	return nil
}

// Warning is what the model is told now; if empty, nothing.
func (g *Guard) Warning() string {
	text := g.warn
	if g.warn = ""; text == "" {
		return ""
	}
	return text + "Making such calls again will not change that. Use the results that you have, try something else, or say what stands in the way. " +
		"If you are waiting for something, wait longer in one call. The turn ends if this goes on."
}

// list names the calls of a run.
func (r *run) list() string {
	names, more := r.names, ""
	if left := len(names) - mostNamed; left > 0 {
		names, more = names[:mostNamed], fmt.Sprintf(" and %d more", left)
	}
	return strings.Join(names, ", ") + more
}

// effect reports an outcome after which other calls may have other results.
func effect(o tool.Outcome) bool {
	if len(o.Changed) > 0 {
		return true
	}
	return o.Status != tool.Denied && o.Status != tool.Invalid && (needs(o, tool.Write) || needs(o, tool.Execute))
}

// named is a call as the model knows it again.
func named(call tool.RawCall) string {
	arguments := []rune(strings.Join(strings.Fields(call.Arguments[:min(len(call.Arguments), 16*mostArguments)]), " "))
	if len(arguments) > mostArguments {
		arguments = append(arguments[:mostArguments], '…')
	}
	return strings.TrimSpace(call.Name + " " + string(arguments))
}
