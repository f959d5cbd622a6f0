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
// Known limits: a model that changes a file a little in every step makes progress by this measure.
// A command that only looks counts as one that may change something.
package loop

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/tool"
)

// Bounds of repetition: how often calls are made.
const (
	circleTell, circleStop = 3, 5
	// A call among others that tell something may be made longer: a look at the list of todos
	// between two files, say.
	stillTell, stillStop = 6, 12
	// Steps that take long on average may be waiting for something, such as a server that starts;
	// they may go on longer, since what they cost in requests is bounded by the time that they
	// take. So may those that ask after a job that runs.
	slowStep, slowTell, slowStop     = time.Second, 2, 2
	slowerStep, slowerStop           = 5 * time.Second, 4
	pendingTell, pendingStop         = 4, 4
	mostNamed, mostArguments     int = 4, 80 // calls that a warning names, and how much of their arguments, in characters
)

// Err ends a turn.
var Err = errors.New("the model repeats itself")

// stepCall is a call of the step that runs.
type stepCall struct {
	callPrint
	name    string // with the beginning of its arguments
	pending bool   // it asks after something that goes on by itself
	effect  bool   // it may have changed something
	cost    int    // that it adds to the fruitless steps; if 0, it brought the work further
}

// Guard watches the calls of a turn. Its zero value is ready. It is for one goroutine.
type Guard struct {
	step []stepCall // that runs
	took time.Duration

	ever   map[callPrint]bool
	seen   map[callPrint]bool // since something changed that never did before
	circle count              // in the stale steps since the last one that told something
	still  count              // since something may have changed
	memory memory
	vain   fruitless
	warn   string
}

// Saw takes a call that has ended, and whether files of the workspace are known to have changed
// while it ran.
func (g *Guard) Saw(call tool.RawCall, o tool.Outcome, changed bool) {
	if o.Status == tool.Aborted {
		g.Forget() // a user stepped in, or the turn ends
		return
	}
	g.step = append(g.step, stepCall{sightingOf(call, o), named(call), o.Pending, effect(o), g.memory.cost(call, o, changed || len(o.Changed) > 0)})
	g.took += o.Duration
}

// Forget begins anew: the user said something, or the model no longer sees what it did.
func (g *Guard) Forget() { *g = Guard{} }

// Close weighs the step whose calls have all ended.
func (g *Guard) Close() {
	if len(g.step) == 0 {
		return
	}
	fresh, changed := false, false
	for _, m := range g.step {
		if !g.seen[m.callPrint] {
			fresh = true
		}
		changed = changed || m.effect && !g.ever[m.callPrint]
	}
	if g.ever == nil {
		g.ever = map[callPrint]bool{}
	}
	if changed || g.seen == nil { // the first look after a change tells something, also when it shows what it did before
		g.still, g.seen = count{}, map[callPrint]bool{}
	}
	for _, m := range g.step {
		g.seen[m.callPrint], g.ever[m.callPrint] = true, true
	}
	g.still.add(g.step, g.took)
	if fresh {
		g.circle = count{}
	} else {
		g.circle.add(g.step, g.took)
	}
	g.vain.add(g.step, g.took)
	g.step, g.took = nil, 0
	g.weigh()
}

// weigh has the model told once for each run.
func (g *Guard) weigh() {
	if n := g.circle.least + 1; !g.circle.told && n >= circleTell*g.circle.patience(g.circle.round(), slowTell, slowTell, pendingTell) { // the first time told something
		g.circle.told = true
		g.warn = fmt.Sprintf("You have made the same calls %d times, and their results did not change: %s. ", n, g.circle.names())
	}
	if n := g.still.most(); !g.still.told && g.warn == "" && n >= stillTell*g.still.patience(g.still.mean(), slowTell, slowTell, pendingTell) {
		g.still.told = true
		g.warn = fmt.Sprintf("You have made the same call %d times, and nothing was changed in between: %s. ", n, g.still.top())
	}
	if g.vain.tell() {
		g.vain.told = true
		if g.warn == "" {
			g.warn = fmt.Sprintf("Your last %d steps changed no file, and their results say nothing that earlier ones did not. ", g.vain.calls.steps)
		}
	}
}

// Stuck ends a turn whose model went on after it was told.
func (g *Guard) Stuck() error {
	if n := g.circle.least + 1; g.circle.told && n >= circleStop*g.circle.patience(g.circle.round(), slowStop, slowerStop, pendingStop) {
		return fmt.Errorf("%w: the same calls were made %d times with the same results", Err, n)
	}
	if n := g.still.most(); g.still.told && n >= stillStop*g.still.patience(g.still.mean(), slowStop, slowerStop, pendingStop) {
		return fmt.Errorf("%w: the same call was made %d times with the same result, and nothing was changed in between", Err, n)
	}
	if g.vain.stop() {
		return fmt.Errorf("%w: %d steps in a row changed no file and told nothing new", Err, g.vain.calls.steps)
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

// effect reports an outcome after which other calls may have other results.
func effect(o tool.Outcome) bool {
	if len(o.Changed) > 0 {
		return true
	}
	for _, n := range o.Record.Needs {
		if n.Permission == tool.Write || n.Permission == tool.Execute {
			return o.Status != tool.Denied && o.Status != tool.Invalid
		}
	}
	return false
}

// named is a call as the model knows it again.
func named(call tool.RawCall) string {
	arguments := []rune(strings.Join(strings.Fields(call.Arguments[:min(len(call.Arguments), 16*mostArguments)]), " "))
	if len(arguments) > mostArguments {
		arguments = append(arguments[:mostArguments], '…')
	}
	return strings.TrimSpace(call.Name + " " + string(arguments))
}
