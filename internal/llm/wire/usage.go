package wire

import (
	"fmt"
	"strings"
	"sync"

	"adze/session"
)

// Counts are the tokens of one request as a server reports them. Servers do not agree on whether
// the prompt includes what their cache held, nor on whether the answer includes the thinking.
type Counts struct {
	Prompt, Answer  Count // with or without what follows
	Cached, Written Count // of the prompt: read from the cache, and written to it
	Thoughts        Count // of the model
	Total           Count // of all; if 0, the server does not say
	// Beside says that the format defines the prompt without what its cache held.
	Beside bool
}

// Usage reads the counts. Where two readings fit, the dearer one counts, and doubt says so.
func (c Counts) Usage() (u session.Usage, doubt string) {
	var why []string
	cache := c.Cached + c.Written
	input, output := c.Prompt, c.Answer
	if !c.Beside && cache > c.Prompt {
		c.Beside = true
		why = append(why, fmt.Sprintf("%d tokens of its cache, more than the prompt of %d, count beside the prompt", cache, c.Prompt))
	}
	whole := input + output // as far as the server's own total counts
	if c.Beside {
		whole += cache
	}
	switch more := c.Total - whole; {
	case more <= 0 && c.Thoughts > output:
		output += c.Thoughts
		why = append(why, fmt.Sprintf("%d tokens of thinking, more than the answer, count beside the answer", c.Thoughts))
	case more <= 0:
	case more == cache && more != c.Thoughts && !c.Beside:
		c.Beside = true
		why = append(why, fmt.Sprintf("its total counts %d tokens of its cache beside the prompt, and so do these figures", cache))
	default:
		output += more
		why = append(why, fmt.Sprintf("its total is %d tokens larger than prompt and answer, which are counted at the price of the answer", more))
	}
	if !c.Beside {
		input -= cache
	}
	return session.Usage{
		Input: int(input), Output: int(output), CacheRead: int(c.Cached), CacheWrite: int(c.Written), Reasoning: int(c.Thoughts),
	}, strings.Join(why, "; ")
}

// Counted takes the counts of an answer. Those that come later replace the earlier ones.
func (a *Answer) Counted(c Counts) {
	var doubt string
	a.Done.Usage, doubt = c.Usage()
	if a.remarks != nil {
		a.remarks.doubt = doubt
	}
}

// remarks are what a reading of one answer leaves for the user.
type remarks struct{ doubt string }

// once remembers for which models something was said.
type once struct{ said sync.Map }

// first reports that nothing of this kind was said of a model before.
func (o *once) first(model string) bool {
	_, before := o.said.LoadOrStore(model, true)
	return !before
}

// tell adds what is to be said of an answer to its end, once for each model.
func (a *Adapter) tell(model string, r *remarks, done *session.Done) {
	if r.doubt == "" || !a.doubted.first(model) {
		return
	}
	text := a.Name() + " counts the tokens of " + model + " in its own way: " + r.doubt
	done.Notice = strings.TrimPrefix(done.Notice+"; "+text, "; ")
}
