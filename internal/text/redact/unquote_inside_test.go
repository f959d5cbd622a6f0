package redact

import (
	"bytes"
	"encoding/json"
	"testing"
)

// What is read of a string is what encoding/json reads, for whatever bytes.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{
		``, `a`, `\n\t\r\b\f\/\\\"`, `\u00e4\u20AC`, `\ud83d\ude00`, `\ud83d`, `\ud83dx`, `\ud83d\u0041`, `\ude00\ud83d\ude00`, `\ufffd`,
		`\u12`, `\u12g4`, `\x`, `\`, `a"b`, "a\nb", "\xff", "\xe2\x82", "ä€😀", `\u0000`, "\x7f", `\uDBFF\uDFFF`, `\ud83d\`, `\ud83d\u`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, inner []byte) {
		for _, raw := range [][]byte{append(append([]byte{'"'}, inner...), '"'), append([]byte{'"'}, inner...)} {
			if len(bytes.TrimRight(raw, " \t\r\n")) < len(raw) {
				continue // no string ends so; encoding/json passes over it
			}
			var want string
			err := json.Unmarshal(raw, &want)
			got, ok := unquote(raw)
			if ok != (err == nil) || ok && got != want {
				t.Errorf("%q is %q, %v; encoding/json says %q, %v", raw, got, ok, want, err)
			}
		}
	})
}
