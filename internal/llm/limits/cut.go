package limits

import (
	"fmt"
	"math/bits"

	"adze/session"
)

// Rules of what a count gives away.
const (
	// smallCount is the count below which a server may have counted only what was not cached.
	smallCount = 2048
	// roundRatio is how many bytes a token must seem to have for a count that is a power of two to
	// be a context: by chance one in two thousand counts is one, and text of so few tokens is rare.
	roundRatio = 5.0
	// still, in percent, is how little a count may move and yet stand; leastGrown is how many bytes
	// the request must have grown meanwhile, which are at least 250 tokens.
	still      = 1
	leastGrown = 4000
	// mostStands bounds how many conversations are watched.
	mostStands = 256
)

// asked is a request as it was sent: its bytes, those of its text alone, and the context that is
// known for it.
type asked struct{ size, text, limit int }

// stand is where the count of a conversation stands: since which size of its requests.
type stand struct {
	count, size int
	messages    int
	last        string // the id of the last message
}

// judged learns from what the server counted, and makes a failure of an answer to a prompt that was
// cut.
func (p *Provider) judged(r session.Request, a asked, done session.Done) session.Done {
	u := done.Usage
	count := u.Input + u.CacheRead + u.CacheWrite
	if done.Err != nil || count <= 0 || a.size < 1000 {
		return done
	}
	p.mu.Lock()
	context, cut := p.cut(r, a, count)
	if context > 0 {
		p.limits[r.Model] = context
	}
	if ratio := float64(a.size) / float64(count); !cut && ratio >= densest && ratio <= thinnest {
		p.ratios[r.Model] = ratio
	}
	p.mu.Unlock()
	if !cut {
		return done
	}
	if context > 0 && p.options.Learned != nil {
		p.options.Learned(r.Model, context)
	}
	done.Stop, done.Err = session.StopError, &session.ProviderError{
		Kind:    session.ContextError,
		Message: p.told(a, count, context),
		Hint:    p.hint(),
	}
	return done
}

func (p *Provider) told(a asked, count, context int) string {
	if context > 0 {
		return fmt.Sprintf("%s read only %d tokens of the prompt, which fill its context: it cut the rest in silence", p.Name(), count)
	}
	return fmt.Sprintf("%s cut the prompt in silence: of at least %d tokens it read %d", p.Name(), int(float64(a.text)/thinnest), count)
}

// cut reports whether a prompt was certainly cut, and the context when the count gives it away.
func (p *Provider) cut(r session.Request, a asked, count int) (context int, cut bool) {
	ratio := float64(a.text) / float64(count) // a picture may count as nothing
	stands := p.stood(r, a.text, count)
	switch {
	case a.limit > 0 && (count == a.limit || count == a.limit-1):
		return a.limit, true // no room is left for an answer
	case count >= smallCount-1 && ratio > roundRatio && (bits.OnesCount(uint(count)) == 1 || bits.OnesCount(uint(count+1)) == 1):
		return count, true
	case stands:
		return count, true
	case count >= smallCount && ratio > thinnest:
		return 0, true
	}
	return 0, false
}

// stood reports whether the count of a conversation stands still although it has grown.
func (p *Provider) stood(r session.Request, size, count int) bool {
	key := conversation(r)
	if key == "" {
		return false
	}
	was, known := p.stands[key]
	now := stand{count, size, len(r.Messages), r.Messages[len(r.Messages)-1].ID}
	goesOn := known && was.messages <= now.messages && r.Messages[was.messages-1].ID == was.last && size >= was.size
	if slack := max(16, was.count*still/100); goesOn && count >= smallCount-1 && max(count-was.count, was.count-count) <= slack {
		return size-was.size >= max(leastGrown, slack*2*int(thinnest))
	}
	if len(p.stands) >= mostStands {
		clear(p.stands)
	}
	p.stands[key] = now
	return false
}

// conversation tells conversations apart: by who speaks and by how it begins.
func conversation(r session.Request) string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Model + "\x00" + r.Agent + "\x00" + r.Messages[0].ID + "\x00" + r.Messages[0].Text()
}
