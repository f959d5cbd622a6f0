package stdio

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"adze/internal/text/usage"
	"adze/session"
)

// listener is a stdin that is a pipe and whose clock is turned by hand.
func listener(t *testing.T) (a Stdin, stdin *os.File, over chan time.Time) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	over = make(chan time.Time, 1)
	return Stdin{In: r, Err: &bytes.Buffer{}, After: func(d time.Duration) <-chan time.Time {
		if d != stdinPatience {
			t.Errorf("waits %s", d)
		}
		return over
	}}, w, over
}

func TestASilentPipeBesideAPromptIsLeft(t *testing.T) {
	a, _, over := listener(t)
	over <- time.Time{}
	got, err := a.Prompt(t.Context(), "go", false)
	if err != nil || got != "go" {
		t.Errorf("%q, %v", got, err)
	}
	if said := a.Err.(*bytes.Buffer).String(); !strings.Contains(said, "nothing came from stdin for 3s") {
		t.Errorf("said %q", said)
	}
}

// What has begun to speak is read to its end; so is what is asked for, and what is the only prompt,
// though the time is over.
func TestAPipeThatSpeaksIsReadToItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		words string
		asked bool
		first string // else the time is over before anything comes
		want  string
	}{
		"it began to speak": {"go", false, "a", "go\n\n<stdin>\nab\n</stdin>"},
		"it was asked for":  {"go", true, "", "go\n\n<stdin>\nb\n</stdin>"},
		"it is the prompt":  {"", false, "", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			a, stdin, over := listener(t)
			if _, err := stdin.WriteString(c.first); err != nil {
				t.Fatal(err)
			}
			done := make(chan string, 1)
			go func() {
				got, err := a.Prompt(t.Context(), c.words, c.asked)
				if err != nil {
					t.Error(err)
				}
				done <- got
			}()
			if c.first == "" {
				over <- time.Time{}
			}
			if _, err := stdin.WriteString("b"); err != nil {
				t.Fatal(err)
			}
			stdin.Close()
			if got := <-done; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAFileIsReadAtOnce(t *testing.T) {
	a, _, over := listener(t)
	over <- time.Time{}
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	a.In = f
	if got, err := a.Prompt(t.Context(), "go", false); err != nil || !strings.Contains(got, "text") {
		t.Errorf("%q, %v", got, err)
	}
}

// What is piped in arrives as its writer saw it, whatever the encoding, and a picture is no prompt.
func TestStdinIsReadInItsEncoding(t *testing.T) {
	for raw, want := range map[string]string{
		"caf\xe9 one":                     "café one",
		"caf\x80 \x93x\x94":               "caf€ “x”",
		"\xff\xfec\x00a\x00f\x00\xe9\x00": "café",
		"\xfe\xff\x00c\x00\xe9":           "cé",
		"\xef\xbb\xbfcafé":                "café",
		"caf\u00e9 na\u00efve \xe9":       "café naïve \uFFFD",
		"one\x00two\x00":                  "one\x00two\x00",
	} {
		got, err := input{raw: []byte(raw)}.text()
		if err != nil || got != want {
			t.Errorf("%q is read as %q, %v; want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "%PDF-1.7\n%\xe2\xe3\n"} {
		var told *usage.Error
		if got, err := (input{raw: []byte(raw)}).text(); !errors.As(err, &told) || !strings.Contains(told.Hint, "--attach") {
			t.Errorf("%.8q is taken as %q, %v", raw, got, err)
		}
	}
}

func TestAnAbortEndsTheWaitForStdin(t *testing.T) {
	a, _, _ := listener(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(session.ErrInterrupted)
	if _, err := a.Prompt(ctx, "", false); err != session.ErrInterrupted {
		t.Errorf("err = %v", err)
	}
}
