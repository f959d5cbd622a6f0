package session

import (
	"errors"
	"fmt"

	"adze/tool"
)

// maxRepeats is how often the same failing call may come in a row before the turn ends. The tools' errors
// name the next move, so a model that repeats a call this often is stuck.
const maxRepeats = 5

var errStuck = errors.New("the model repeats the same failing call")

// loopGuard counts identical failing calls in a row.
type loopGuard struct {
	last  string
	count int
}

func (g *loopGuard) saw(call tool.RawCall, o tool.Outcome) {
	key := call.Name + "\x00" + call.Arguments
	switch {
	case o.Status == tool.Completed || o.Status == tool.Aborted:
		*g = loopGuard{}
	case key == g.last:
		g.count++
	default:
		*g = loopGuard{last: key, count: 1}
	}
}

func (g *loopGuard) stuck() error {
	if g.count < maxRepeats {
		return nil
	}
	return fmt.Errorf("%w (%d times)", errStuck, g.count)
}
