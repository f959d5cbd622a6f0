package session

import (
	"fmt"
	"strings"

	"adze/tool"
)

// attachedAs returns an attachment's source name.
func attachedAs(a tool.Attachment) string {
	switch kind := strings.ToLower(a.MediaType); {
	case strings.HasPrefix(kind, "image/"):
		return "pictures"
	case strings.HasPrefix(kind, "application/pdf"):
		return "documents"
	}
	return "attached files"
}

// attachedBytes returns an attachment's size: PictureTokens for an image and for each started 100
// kB in a PDF, a text's bytes, and the replacement line for anything else.
func attachedBytes(a tool.Attachment) int {
	const picture = PictureTokens * bytesPerToken
	switch kind := strings.ToLower(a.MediaType); {
	case strings.HasPrefix(kind, "image/"):
		return picture
	case strings.HasPrefix(kind, "application/pdf"):
		return picture * max(1, (len(a.Data)+documentStep-1)/documentStep)
	case strings.HasPrefix(kind, "text/"), strings.HasPrefix(kind, "application/json"):
		return len(a.Data) + len(a.Name)
	}
	return noteBytes
}

// correction holds the provider's counts for one model's requests: the smallest, which is mostly
// tools and instructions, and the newest.
type correction struct {
	least, newest sentSize
	requests      int
}

// sentSize is a request's size in bytes and in the provider's tokens.
type sentSize struct{ bytes, tokens int }

// Correction bounds. No tokenizer makes one token from 16 bytes, or four from 4 bytes; a count
// outside covers something else, such as only the uncached part.
const (
	lowestFactor, highestFactor = 0.25, 4.0
	// leastCounted is the smallest request in bytes used for a correction: in smaller ones the
	// provider's own additions outweigh the content.
	leastCounted = 1000
)

// factor returns the ratio between a request's real tokens and the estimate by bytesPerToken.
// Beyond the smallest request it follows the rate between the two counts.
func (c correction) factor(bytes int) float64 {
	if c.requests == 0 {
		return 1
	}
	at := c.newest
	if grown := at.bytes - c.least.bytes; bytes <= c.least.bytes {
		at = c.least
	} else if grown >= leastCounted && at.tokens > c.least.tokens {
		at = sentSize{bytes, at.tokens + (bytes-at.bytes)*(at.tokens-c.least.tokens)/grown}
	}
	return min(max(float64(at.tokens)*bytesPerToken/float64(at.bytes), lowestFactor), highestFactor)
}

func (l *ledger) counted(u Usage) {
	if _, ok := u.InputTokens(); ok {
		l.last = &u
	}
	l.correction.learn(l.asked, u)
}

// learn stores the provider's token count for a request, unless it is missing or absurd.
func (c *correction) learn(bytes int, u Usage) {
	tokens, ok := u.InputTokens()
	factor := float64(tokens) * bytesPerToken / float64(max(bytes, 1))
	if !ok || bytes < leastCounted || factor < lowestFactor || factor > highestFactor {
		return
	}
	c.newest = sentSize{bytes, tokens}
	if c.requests++; c.requests == 1 || bytes <= c.least.bytes {
		c.least = c.newest
	}
}

// InputTokens returns the request's tokens, cached or not, as the provider counted them, and false
// if it did not.
func (u Usage) InputTokens() (int, bool) {
	const absurd = 1 << 40 // more than any model takes; sums would overflow
	if u.Input < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || max(u.Input, u.CacheRead, u.CacheWrite) > absurd {
		return 0, false
	}
	n := u.Input + u.CacheRead + u.CacheWrite
	return n, n > 0
}

// Basis describes the estimate's origin for the user.
func (l Ledger) Basis() string {
	text := fmt.Sprintf("estimated as bytes/%d, a picture as %d tokens", bytesPerToken, PictureTokens)
	if l.Corrected == 0 {
		return text + "; no provider has counted yet"
	}
	return fmt.Sprintf("%s, corrected by the provider's count: ×%.2f", text, l.Factor)
}

// Fill returns how many percent of the window the next request takes, and false if the window is
// unknown.
func (l Ledger) Fill() (percent int, known bool) {
	if l.Window <= 0 {
		return 0, false
	}
	return 100 * l.Estimate / l.Window, true
}

// fillSteps are the percentages that warn the user, each once.
var fillSteps = [...]int{80, 95, 100}

// warning returns a warning for the user before the next request, or "".
func (l *ledger) warning() string {
	now := l.snapshot()
	percent, known := now.Fill()
	if !known {
		return ""
	}
	step := 0
	for _, s := range fillSteps {
		if percent >= s {
			step = s
		}
	}
	before := l.told
	l.told = step // a shrunken conversation may warn again
	if step <= before {
		return ""
	}
	if step == 100 {
		return fmt.Sprintf("the next request holds about %d tokens, and the model takes %d with its answer: it may be refused or cut (%s)",
			now.Estimate, now.Window, now.Basis())
	}
	return fmt.Sprintf("the context is %d%% full: about %d of %d tokens (%s)", percent, now.Estimate, now.Window, now.Basis())
}
