package sessiondb

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestShortenCutsLongStringsAndNothingElse(t *testing.T) {
	long := strings.Repeat("x", 2000)
	first := long[:openingString]
	for text, want := range map[string]string{
		`{"short":"` + long[:900] + `"}`:                   `{"short":"` + long[:900] + `"}`, // as it is up to a kilobyte
		`{"a":1,"b":"` + long + `","c":[true,null,"d"]}`:   `{"a":1,"b":"` + first + `","c":[true,null,"d"]}`,
		`["` + long + `", "` + long + `",1e9]`:             `["` + first + `","` + first + `",1e9]`,
		`"` + strings.Repeat("ü", 2000) + `"`:              `"` + strings.Repeat("ü", openingString) + `"`,
		`"` + strings.Repeat(`\"`, 2000) + `"`:             `"` + strings.Repeat(`\"`, openingString) + `"`,
		`"` + strings.Repeat(`\\`, 2000) + `"`:             `"` + strings.Repeat(`\\`, openingString) + `"`,
		`"` + strings.Repeat(`\u00e9`, 2000) + `"`:         `"` + strings.Repeat("é", openingString) + `"`,
		`"` + strings.Repeat(`\uD83D\ude00`, 2000) + `"`:   `"` + strings.Repeat("😀", openingString) + `"`,
		`"` + long + `" ` + strings.Repeat(" ", 10) + "\n": `"` + first + `"`,
		`{"torn":"` + long:                                 `{"torn":"` + long,
	} {
		if got := *shorten(json.RawMessage(text)); got != want {
			t.Errorf("%.40s…: got %.80s… of %d bytes, want %.80s… of %d", text, got, len(got), want, len(want))
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add(`{"a":"` + strings.Repeat(`\u00e9\"é`, 500) + `","b":[{"c":"d"}]}`)
	f.Add(`"` + strings.Repeat(`\uD83D\ude00\ud83d`, 200) + `"`)
	f.Fuzz(func(t *testing.T, text string) {
		got := *shorten(json.RawMessage(text))
		if !json.Valid([]byte(text)) {
			return
		}
		var v any
		if err := json.Unmarshal([]byte(got), &v); err != nil {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		if len(text) > wholeOpening && longest(v) > openingString {
			t.Errorf("a string of %d characters is left in %q", longest(v), got)
		}
	})
}

func longest(value any) (n int) {
	switch v := value.(type) {
	case string:
		n = utf8.RuneCountInString(v)
	case []any:
		for _, item := range v {
			n = max(n, longest(item))
		}
	case map[string]any:
		for _, item := range v {
			n = max(n, longest(item))
		}
	}
	return n
}
