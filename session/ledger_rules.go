package session

import (
	"fmt"
	"strings"

	"adze/tool"
)

// attachedAs names the source that an attachment counts for.
func attachedAs(a tool.Attachment) string {
	switch kind := strings.ToLower(a.MediaType); {
	case strings.HasPrefix(kind, "image/"):
		return "pictures"
	case strings.HasPrefix(kind, "application/pdf"):
		return "documents"
	}
	return "attached files"
}

// attachedBytes is what an attachment counts: a picture and each begun 100 kB of a PDF
// PictureTokens, text its bytes, anything else the line that models get in its place.
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

// correction is what the provider counted of requests to one model: of the smallest, of which tools
// and instructions are most, and of the newest.
type correction struct {
	least, newest sentSize
	requests      int
}

// sentSize is the size of a request in bytes and in the provider's tokens.
type sentSize struct{ bytes, tokens int }

// Bounds of a correction. No tokenizer makes one token of 16 bytes of text, or four of each 4
// bytes; a count outside is of something else: only the part that was not in a cache, or no count
// at all.
const (
	lowestFactor, highestFactor = 0.25, 4.0
	// leastCounted is the smallest request in bytes that corrects: in smaller ones what a provider
	// adds by itself weighs more than what was sent.
	leastCounted = 1000
)

// factor is by how much a request of so many bytes has more tokens than bytesPerToken says. The
// rate between the two counts holds above them, too.
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

// counted takes the provider's count of the newest request.
func (l *ledger) counted(u Usage) {
	if _, ok := u.Sent(); ok {
		l.last = &u
	}
	l.correction.learn(l.asked, u)
}

// learn takes the provider's count of a request of so many bytes. One that is missing or absurd is
// ignored.
func (c *correction) learn(bytes int, u Usage) {
	tokens, ok := u.Sent()
	factor := float64(tokens) * bytesPerToken / float64(max(bytes, 1))
	if !ok || bytes < leastCounted || factor < lowestFactor || factor > highestFactor {
		return
	}
	c.newest = sentSize{bytes, tokens}
	if c.requests++; c.requests == 1 || bytes <= c.least.bytes {
		c.least = c.newest
	}
}

// Sent is the tokens of the request as the provider counted them, from its cache or not; if false,
// it did not.
func (u Usage) Sent() (int, bool) {
	const absurd = 1 << 40 // more than any model takes; sums of such would overflow
	if u.Input < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || max(u.Input, u.CacheRead, u.CacheWrite) > absurd {
		return 0, false
	}
	n := u.Input + u.CacheRead + u.CacheWrite
	return n, n > 0
}

// Basis says what the estimate is, for a user.
func (l Ledger) Basis() string {
	text := fmt.Sprintf("estimated as bytes/%d, a picture as %d tokens", bytesPerToken, PictureTokens)
	if l.Corrected == 0 {
		return text + "; no provider has counted yet"
	}
	return fmt.Sprintf("%s, corrected by the provider's count: ×%.2f", text, l.Factor)
}

// Fill is how much of the window the next request takes, in percent; if false, the window is not
// known.
func (l Ledger) Fill() (percent int, known bool) {
	if l.Window <= 0 {
		return 0, false
	}
	return 100 * l.Estimate / l.Window, true
}

// fillSteps are the percents of the window of which the user is told, each once.
var fillSteps = [...]int{80, 95, 100}

// warning is what to tell the user before the next request, or nothing.
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
	l.told = step // a conversation that shrank is told of again when it grows
	if step <= before {
		return ""
	}
	if step == 100 {
		return fmt.Sprintf("the next request holds about %d tokens, and the model takes %d with its answer: it may be refused or cut (%s)",
			now.Estimate, now.Window, now.Basis())
	}
	return fmt.Sprintf("the context is %d%% full: about %d of %d tokens (%s)", percent, now.Estimate, now.Window, now.Basis())
}
