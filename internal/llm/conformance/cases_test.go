package conformance_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"adze/session"
)

// cases runs the written streams of a format, testdata/stream/<provider>/*.txtar. A case opens with
// one sentence, and holds the files
//
//	response  what the server sends
//	head      optional: lines "status 429" and "header Retry-After: 3"
//	want      what the consumer gets, in the form of got.String
//
// Each is also read byte by byte, with CR LF, and cut at every byte. Update rewrites want.
func cases(t *testing.T, w Wire, folder string, update bool) {
	names, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases in %s (%v)", folder, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c := parseCase(t, w, archive)
			g := respond(t, c.canned(c.response))
			if update {
				c.want.Data = []byte(g.String())
				if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(c.want.Data), g.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			c.vary(t, g)
		})
	}
}

type written struct {
	wire     Wire
	status   int
	header   http.Header
	response string
	want     *txtar.File
}

func parseCase(t *testing.T, w Wire, archive *txtar.Archive) written {
	t.Helper()
	c := written{wire: w, status: http.StatusOK, header: http.Header{}}
	c.header.Set("Content-Type", w.Encode(Answer{}).ContentType)
	for i := range archive.Files {
		f := &archive.Files[i]
		switch f.Name {
		case "response":
			c.response = string(f.Data)
		case "want":
			c.want = f
		case "head":
			c.head(t, string(f.Data))
		default:
			t.Fatalf("unknown file %q", f.Name)
		}
	}
	if c.want == nil || len(archive.Comment) == 0 {
		t.Fatal("a case needs a sentence and the file want")
	}
	return c
}

func (c *written) head(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, value, _ := strings.Cut(rest, ": ")
		var err error
		switch word {
		case "status":
			c.status, err = strconv.Atoi(rest)
		case "header":
			c.header.Set(name, value)
		default:
			err = fmt.Errorf("unknown word %q", word)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (c written) canned(body string) canned {
	return canned{c.wire, c.status, c.header, func() io.Reader { return strings.NewReader(body) }}
}

// vary reads the same stream in other ways.
func (c written) vary(t *testing.T, whole got) {
	t.Helper()
	bytewise := c.canned("")
	bytewise.body = func() io.Reader { return iotest.OneByteReader(strings.NewReader(c.response)) }
	if diff := cmp.Diff(whole.String(), respond(t, bytewise).String()); diff != "" {
		t.Errorf("byte by byte (-whole +got)\n%s", diff)
	}
	crlf := strings.ReplaceAll(c.response, "\n", "\r\n")
	if diff := cmp.Diff(whole.String(), respond(t, c.canned(crlf)).String()); diff != "" {
		t.Errorf("with CR LF (-whole +got)\n%s", diff)
	}
	if c.status != http.StatusOK || whole.done.Err != nil {
		return // what fails as a whole says nothing about its parts
	}
	for n := 0; n < len(c.response); n += stride() {
		g := respond(t, c.canned(c.response[:n]))
		if len(g.calls) > 0 && cmp.Diff(whole.calls, g.calls) != "" {
			t.Fatalf("cut at byte %d, other calls are released:\n%s", n, g)
		}
		if g.done.Err == nil && (g.text != whole.text || whole.done.Stop == session.StopCalls && len(g.calls) == 0) {
			t.Fatalf("cut at byte %d, a part passes for the whole:\n%s", n, g)
		}
	}
}
