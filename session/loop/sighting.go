package loop

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"io"

	"adze/tool"
)

// callPrint is a call with its result.
type callPrint [sha256.Size]byte

// sightingOf tells calls with the same result from others. How long something took is no part of a
// result: tests that fail again in 0.13 s and not in 0.12 s fail as before.
func sightingOf(call tool.RawCall, o tool.Outcome) (s callPrint) {
	h := sha256.New()
	for _, field := range []string{cmp.Or(o.Tool, call.Name), canonical(call.Arguments), string(o.Status), o.Code} {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		_, _ = io.WriteString(h, field)
	}
	rest := o.Output
	for {
		before, after, found := cutMeasured(rest)
		_, _ = io.WriteString(h, before)
		if !found {
			break
		}
		_, _ = h.Write([]byte{0})
		rest = after
	}
	for _, a := range o.Attachments {
		sum := sha256.Sum256(a.Data)
		_, _ = h.Write(sum[:])
	}
	h.Sum(s[:0])
	return s
}

// cutMeasured finds the first duration that somebody measured, such as 0.12s or 3 ms, or address
// such as 0xc000012a80. Whole seconds are none: they are what a thing that one waits for counts
// ("12s elapsed"), and such a result did change. Every output goes through here, so it is no
// regular expression.
func cutMeasured(text string) (before, after string, found bool) {
	for at := 0; at < len(text); at++ {
		if text[at] < '0' || text[at] > '9' {
			continue
		}
		if n := address(text[at:]); n > 0 {
			return text[:at], text[at+n:], true
		}
		end := at + digits(text[at:])
		fraction := false
		if n := digits(text[min(end+1, len(text)):]); end < len(text) && text[end] == '.' && n > 0 {
			end, fraction = end+1+n, true
		}
		number := end
		if end < len(text) && text[end] == ' ' {
			end++
		}
		unit := end
		for end < len(text) && (letter(text[end]) || text[end] >= 0x80) {
			end++
		}
		if (at == 0 || !letter(text[at-1])) && isDuration(text[unit:end], fraction) {
			return text[:at], text[end:], true
		}
		at = number - 1
	}
	return text, "", false
}

// mostCanonical is up to which size, in bytes, arguments are decoded to be compared: longer ones
// are compared as they are.
const mostCanonical = 64 << 10

// canonical is JSON with sorted keys and without spaces; what is no JSON stays as it is.
func canonical(arguments string) string {
	if len(arguments) > mostCanonical {
		return arguments
	}
	d := json.NewDecoder(bytes.NewReader([]byte(arguments)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return arguments
	}
	out, err := json.Marshal(v)
	if err != nil {
		return arguments
	}
	return string(out)
}

func isDuration(unit string, fraction bool) bool {
	switch unit {
	case "ms", "us", "µs", "ns":
		return true
	case "s", "sec", "secs", "second", "seconds", "m", "min":
		return fraction
	}
	return false
}

// address is how long the address is that a text begins with; if 0, it begins with none.
func address(s string) int {
	const shortest = 6 // digits: fewer are a number that somebody wrote
	if len(s) < 2 || s[0] != '0' || s[1]|0x20 != 'x' {
		return 0
	}
	n := 2
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'f') {
		n++
	}
	if n < 2+shortest {
		return 0
	}
	return n
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
