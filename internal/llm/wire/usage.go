package wire

import "adze/session"

// Counts are a request's tokens as reported. Servers differ in whether the prompt includes cached
// tokens and whether the answer includes thinking.
type Counts struct {
	Prompt, Answer  Count // with or without the fields below
	Cached, Written Count // of the prompt: read from and written to the cache
	Thoughts        Count // thinking tokens
	Total           Count // 0 if unknown
	// ExcludesCache: the format defines the prompt without cached tokens.
	ExcludesCache bool
}

// Usage interprets the counts. If two readings fit, it uses the more expensive one.
func (c Counts) Usage() session.Usage {
	cache := c.Cached + c.Written
	input, output := c.Prompt, c.Answer
	beside := c.ExcludesCache || cache > c.Prompt
	whole := input + output // by the server's own total
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

// Counted sets an answer's counts; later ones replace earlier ones.
func (a *Answer) Counted(c Counts) { a.Done.Usage = c.Usage() }
