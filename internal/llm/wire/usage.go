package wire

import "adze/session"

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

// Usage reads the counts. Where two readings fit, the dearer one counts.
func (c Counts) Usage() session.Usage {
	cache := c.Cached + c.Written
	input, output := c.Prompt, c.Answer
	beside := c.Beside || cache > c.Prompt
	whole := input + output // as far as the server's own total counts
	if beside {
		whole += cache
	}
	switch more := c.Total - whole; {
	case more <= 0 && c.Thoughts > output:
		output += c.Thoughts
	case more <= 0:
	case more == cache && more != c.Thoughts && !beside:
		beside = true
	default:
		output += more
	}
	if !beside {
		input -= cache
	}
	return session.Usage{
		Input: int(input), Output: int(output), CacheRead: int(c.Cached), CacheWrite: int(c.Written), Reasoning: int(c.Thoughts),
	}
}

// Counted takes the counts of an answer. Those that come later replace the earlier ones.
func (a *Answer) Counted(c Counts) { a.Done.Usage = c.Usage() }
