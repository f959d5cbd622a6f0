package redact_test

import (
	"encoding/base32"
	"encoding/base64"
	hexcode "encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"adze/internal/text/redact"
)

// TestKnownValuesDoNotLeave writes known values in every way that programs offer for it, behind and
// before other bytes.
func TestKnownValuesDoNotLeave(t *testing.T) {
	everyByte := func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, "%%%02x", s[i])
		}
		return b.String()
	}
	back := func(s string) string { b := []byte(s); slices.Reverse(b); return string(b) }
	for _, v := range []string{own, "hunter2!x", "k/+ = &7%ü-letters", "sk-" + "proj-Ab3dEf6hIj9lMn0p", strings.Repeat("a1", 300)} {
		m := redact.New(v, "another-value-0")
		for pad := range 6 {
			before := strings.Repeat("p", pad)
			for name, text := range map[string]string{
				"plain":     v,
				"query":     url.QueryEscape(v),
				"path":      url.PathEscape(v),
				"twice":     url.QueryEscape(url.QueryEscape(v)),
				"each byte": everyByte(v),
				"base64":    base64.StdEncoding.EncodeToString([]byte(before + v + "tail")),
				"base64url": url.QueryEscape(base64.URLEncoding.EncodeToString([]byte(before + v))),
				"base32":    strings.ToLower(base32.StdEncoding.EncodeToString([]byte(before + v))),
				"hex":       hexcode.EncodeToString([]byte(before + v)),
				"HEX":       strings.ToUpper(hexcode.EncodeToString([]byte(v))),
				"labels":    strings.Join(slices.Collect(chunks(hexcode.EncodeToString([]byte(v)), 60)), "."),
				"backwards": back(v),
			} {
				if !m.Leaks("https://a.example/x?" + before + "=" + text) {
					t.Errorf("%q as %s is not seen: %s", v, name, text)
				}
			}
		}
		for _, text := range []string{"https://a.example/x?y=z", "", "%", "%zz%4", v[:len(v)/2], hexcode.EncodeToString([]byte("something else that is long"))} {
			if m.Leaks(text) {
				t.Errorf("%q is seen in %q", v, text)
			}
		}
	}
	if (&redact.Masker{}).Leaks(own) || (*redact.Masker)(nil).Leaks(own) {
		t.Error("who knows no value sees one")
	}
}

func chunks(s string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for c := range slices.Chunk([]byte(s), n) {
			if !yield(string(c)) {
				return
			}
		}
	}
}
