package wire_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"adze/internal/llm/wire"
)

// An answer that comes compressed though it was not asked to be is read all the same, and a cut one
// is a failure.
func TestAnswersThatComeCompressed(t *testing.T) {
	const said = "data: {\"a\":1}\n\ndata: [DONE]\n\n"
	zipped, deflated := new(bytes.Buffer), new(bytes.Buffer)
	for _, w := range []io.WriteCloser{gzip.NewWriter(zipped), zlib.NewWriter(deflated)} {
		_, _ = io.WriteString(w, said)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		encoding, body, want string
	}{
		"gzip":           {"gzip", zipped.String(), said},
		"gzip in part":   {"gzip", zipped.String()[:zipped.Len()-9], "cut"},
		"deflate":        {"deflate", deflated.String(), said},
		"plain as gzip":  {"GZIP", said, said},
		"empty as gzip":  {"gzip", "", ""},
		"one byte":       {"gzip", "x", "x"},
		"gzip, no label": {"", zipped.String(), zipped.String()},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Encoding"] = []string{c.encoding}
			_, _ = io.WriteString(w, c.body)
		}))
		client := wire.Client{Provider: "p", HTTP: wire.HTTP(nil), Idle: time.Minute}
		reply, err := client.Open(t.Context(), wire.Call{Method: http.MethodPost, URL: server.URL})
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := io.ReadAll(reply)
		if c.want == "cut" {
			if err == nil || !strings.Contains(err.Error(), "was cut") {
				t.Errorf("%s: %v", name, err)
			}
		} else if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		reply.Close()
		server.Close()
	}
}
