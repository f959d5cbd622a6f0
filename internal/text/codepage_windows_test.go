package text

import (
	"testing"

	"golang.org/x/sys/windows"
)

func TestOutputOfAConsoleOnWindows(t *testing.T) {
	if page := consolePage(); page != 437 && page != 850 || windows.GetACP() != 1252 {
		t.Skip("the code pages of this system are others:", page, windows.GetACP())
	}
	for in, want := range map[string]string{
		"gr\x94\xe1e\n":                  "größe\n", // as cmd writes
		"\x81ber \x84hnlich \x82t\x82\n": "über ähnlich été\n",
		"gr\xf6\xdfe\n":                  "größe\n", // as a program without a console does
		"\xc3\xc4\xc4\xc4src\n":          "├───src\n",
		"caf\xe9\n":                      "café\n",
		"gr\xc3\xb6\xc3\x9fe\n":          "größe\n",
		"größe\ngr\x94\xe1e\n":           "größe\ngröße\n",
	} {
		if got, pages := Output([]byte(in)); got != want {
			t.Errorf("%q: %q, %v", in, got, pages)
		}
	}
}
