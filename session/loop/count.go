package loop

import (
	"fmt"
	"strings"
	"time"
)

// count is how often calls were made in a run of steps.
type count struct {
	times   []times // in the order in which they were first made
	at      map[callPrint]int
	least   int // how often each call of the last step was made, at least
	steps   int
	took    time.Duration
	pending bool // a step of the run asked after something that goes on
	told    bool
}

// times is one call of the run.
type times struct {
	stepCall
	n int
}

// add takes a step; the same call twice in it counts once.
func (c *count) add(step []stepCall, took time.Duration) {
	if c.at == nil {
		c.at = map[callPrint]int{}
	}
	done := map[callPrint]bool{}
	c.least = 0
	for _, m := range step {
		if done[m.callPrint] {
			continue
		}
		done[m.callPrint] = true
		at, known := c.at[m.callPrint]
		if !known {
			at = len(c.times)
			c.at[m.callPrint], c.times = at, append(c.times, times{stepCall: m})
		}
		c.times[at].n++
		if n := c.times[at].n; c.least == 0 || n < c.least {
			c.least = n
		}
		c.pending = c.pending || m.pending
	}
	c.steps++
	c.took += took
}

// most is how often the call was made that was made most.
func (c *count) most() int {
	n := 0
	for _, t := range c.times {
		n = max(n, t.n)
	}
	return n
}

// top names that call, and names all of them.
func (c *count) top() string {
	for _, t := range c.times {
		if t.n == c.most() {
			return t.name
		}
	}
	return ""
}

func (c *count) names() string {
	var names []string
	for _, t := range c.times {
		names = append(names, t.name)
	}
	more := ""
	if left := len(names) - mostNamed; left > 0 {
		names, more = names[:mostNamed], fmt.Sprintf(" and %d more", left)
	}
	return strings.Join(names, ", ") + more
}

// patience is how many times as often calls may be stepCall: those of steps that take a second on
// average, those that take five, and those that ask after a job.
func (c *count) patience(took time.Duration, slow, slower, pending int) int {
	switch {
	case c.pending:
		return pending
	case took >= slowerStep:
		return slower
	case took >= slowStep:
		return slow
	}
	return 1
}

// mean is how long a step took; round is that of a circle, where a step that waits and one that
// looks count as one.
func (c *count) mean() time.Duration { return c.took / time.Duration(max(1, c.steps)) }
func (c *count) round() time.Duration {
	return c.took / time.Duration(max(1, c.least)*max(1, len(c.times)/2))
}
