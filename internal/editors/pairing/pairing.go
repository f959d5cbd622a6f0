// Package pairing gives a device of the user, such as a phone, a token of its own for adze serve.
//
// The one rule: a device gets a token only after the user confirmed, on the machine that serves, a
// word that both show. The code that travels before that is of use once, for some minutes, and is
// worth nothing without the confirmation.
//
// Start reading at Exchange (one device that wants in), then devices.go (those that are in) and
// qr.go (how a code is shown).
//
// Known limits: one pairing is open at a time. The word tells two devices apart that use the same
// code; it does not prove the connection, which is the task of the certificate's fingerprint.
package pairing

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"time"

	"adze/internal/text/safeterm"
)

// Errors of a device that wants in. The device is told no more than they say.
var (
	ErrClosed  = errors.New("no pairing is open: run adze serve pair on the machine that serves")
	ErrWrong   = errors.New("the code is wrong")
	ErrUsed    = errors.New("the code was used already: run adze serve pair again")
	ErrExpired = errors.New("the code is too old: run adze serve pair again")
	ErrLocked  = errors.New("too many wrong codes came, and the pairing is locked: run adze serve pair again")
	ErrRefused = errors.New("the user refused this device")
	ErrWaiting = errors.New("the user has not answered yet")
)

const (
	// Lifetime is how long a code is good for.
	Lifetime = 5 * time.Minute
	// maxWrong is how many wrong codes lock a pairing. A code has 50 bits.
	maxWrong  = 5
	codeChars = 10
	// maxName bounds the name that a device gives itself, in characters.
	maxName = 40
)

// alphabet has no letters that are mistaken for others. Each letter is five bits.
const alphabet = "ABCDEFGHJKMNPQRSTVWXYZ0123456789"

// newCode is one that nobody guesses.
func newCode() string {
	var b [codeChars]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails since Go 1.24
	for i := range b {
		b[i] = alphabet[b[i]%byte(len(alphabet))]
	}
	return string(b[:])
}

// typed makes a code of what was typed from a screen.
var typed = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1", "U", "V")
})

// Exchange is where devices become paired, one after the other. Its zero value has no pairing open.
// All methods are safe for concurrent use.
type Exchange struct {
	Devices *Devices
	Now     func() time.Time // the clock; if nil, time.Now

	mu      sync.Mutex
	code    string // of the open pairing, also after it was used; if empty, none was ever open
	ends    time.Time
	may     []Scope
	wrong   int
	claim   *claim
	stirred chan struct{} // closed and made anew when something of the above changes
}

// claim is a device that knew the code.
type claim struct {
	secret string // by which the device is known until it has its token
	name   string
	word   string
	state  state
}

// state is how far a claim is.
type state int

const (
	waiting state = iota
	allowed
	refused
	collected
)

// Claim is a device that waits for the user's word, as the user sees it.
type Claim struct {
	Name string `json:"name"` // that it gave itself: safe to print, and not to be trusted
	Word string `json:"word"` // that the device shows, too
}

// Begin opens a pairing, in place of one that is open, and returns its code.
func (x *Exchange) Begin(may []Scope) (code string, ends time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.code, x.ends, x.may, x.wrong, x.claim = newCode(), x.now().Add(Lifetime), may, 0, nil
	x.stir()
	return x.code, x.ends
}

// End closes the pairing that is open, if one is. A device that waits is refused.
func (x *Exchange) End() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.claim != nil && x.claim.state == waiting {
		x.claim.state = refused
	}
	x.ends = time.Time{}
	x.stir()
}

// Claim is what a device does first: it hands in the code, and gets a secret by which it is known
// until it has its token, and the word that the user compares.
func (x *Exchange) Claim(code, name string) (secret, word string, err error) {
	code = typed().Replace(strings.ToUpper(code))
	x.mu.Lock()
	defer x.mu.Unlock()
	right := subtle.ConstantTimeCompare([]byte(code), []byte(x.code)) == 1
	switch {
	case x.code == "":
		return "", "", ErrClosed
	case x.wrong >= maxWrong:
		return "", "", ErrLocked
	case !right:
		if x.wrong++; x.wrong >= maxWrong {
			x.stir()
			return "", "", ErrLocked
		}
		return "", "", ErrWrong
	case x.claim != nil:
		return "", "", ErrUsed
	case x.ends.IsZero():
		return "", "", ErrClosed
	case !x.now().Before(x.ends):
		return "", "", ErrExpired
	}
	secret = NewToken()
	x.claim = &claim{secret: secret, name: nameOf(name), word: wordOf(x.code, secret)}
	x.stir()
	return secret, x.claim.word, nil
}

// Claimed waits for a device that knew the code. The error is ErrLocked, ErrExpired or ErrClosed if
// none will come, and ErrWaiting if ctx ended first.
func (x *Exchange) Claimed(ctx context.Context) (Claim, error) {
	for {
		x.mu.Lock()
		c, stirred := x.claim, x.stirring()
		var err error
		switch {
		case c != nil && c.state == waiting:
			x.mu.Unlock()
			return Claim{Name: c.name, Word: c.word}, nil
		case x.wrong >= maxWrong:
			err = ErrLocked
		case c != nil || x.ends.IsZero():
			err = ErrClosed
		case !x.now().Before(x.ends):
			err = ErrExpired
		}
		x.mu.Unlock()
		if err != nil {
			return Claim{}, err
		}
		select {
		case <-stirred:
		case <-ctx.Done():
			return Claim{}, ErrWaiting
		}
	}
}

// Decide is the user's answer about the device that waits.
func (x *Exchange) Decide(allow bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.claim == nil || x.claim.state != waiting {
		return ErrClosed
	}
	x.claim.state = refused
	if allow {
		x.claim.state = allowed
	}
	x.stir()
	return nil
}

// Collect waits for the user's answer and makes the device's token, once. The error is ErrWaiting
// if ctx ended first.
func (x *Exchange) Collect(ctx context.Context, secret string) (token string, d Device, err error) {
	for {
		x.mu.Lock()
		c, may, stirred := x.claim, x.may, x.stirring()
		known := c != nil && subtle.ConstantTimeCompare([]byte(secret), []byte(c.secret)) == 1
		switch {
		case !known || c.state == collected:
			err = ErrClosed
		case c.state == refused:
			err = ErrRefused
		case c.state == allowed:
			token, d, err = x.Devices.Add(c.name, may)
			if err == nil {
				c.state = collected
			}
			x.mu.Unlock()
			return token, d, err
		}
		x.mu.Unlock()
		if err != nil {
			return "", Device{}, err
		}
		select {
		case <-stirred:
		case <-ctx.Done():
			return "", Device{}, ErrWaiting
		}
	}
}

func (x *Exchange) now() time.Time {
	if x.Now != nil {
		return x.Now()
	}
	return time.Now()
}

// stir wakes who waits. The caller holds x.mu.
func (x *Exchange) stir() {
	if x.stirred != nil {
		close(x.stirred)
		x.stirred = nil
	}
}

func (x *Exchange) stirring() <-chan struct{} {
	if x.stirred == nil {
		x.stirred = make(chan struct{})
	}
	return x.stirred
}

// NewToken is 256 bits that nobody guesses, as they may stand in an address.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails since Go 1.24
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// nameOf is a device's name for itself as it may be printed.
func nameOf(name string) string {
	letters := []rune(strings.Join(strings.Fields(safeterm.Name(name).String()), " "))
	if len(letters) == 0 {
		return "a device without a name"
	}
	return string(letters[:min(len(letters), maxName)])
}

// The syllables of a word: 16 × 16 × 16 × 16 words, each easy to read out.
var (
	heads = [16]string{"b", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z"}
	tails = [16]string{"a", "e", "i", "o", "u", "an", "en", "in", "on", "un", "ar", "er", "ir", "or", "ur", "al"}
)

// wordOf is the word that belongs to a code and the device that claimed it.
func wordOf(code, secret string) string {
	mac := hmac.New(sha256.New, []byte(code))
	mac.Write([]byte(secret))
	sum := mac.Sum(nil)
	return heads[sum[0]>>4] + tails[sum[0]&15] + heads[sum[1]>>4] + tails[sum[1]&15] // 65,536 words
}

// Opened is a pairing that adze serve pair asked for.
type Opened struct {
	Code        string    `json:"code"`
	Address     string    `json:"address"` // with the code, for a QR code
	Fingerprint string    `json:"fingerprint,omitempty"`
	Ends        time.Time `json:"ends"`
}
