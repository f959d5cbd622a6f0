package uistream_test

import (
	_ "embed"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"adze/internal/editors/uistream"
	"adze/internal/testkit/nodetest"
	"adze/tool"
)

var update = flag.Bool("update", false, "write the goldens anew")

func encoder() *uistream.Encoder {
	return uistream.New(uistream.Options{Blocks: func(name string, metadata json.RawMessage) []tool.Block {
		return tool.Output(name, string(metadata))
	}})
}

// wired are the bytes of a tale.
func wired(t tale) (b []byte) {
	for _, p := range t.tells(encoder()) {
		b = uistream.Append(b, p, nil)
	}
	return append(b, uistream.Done...)
}

// TestGoldens: what is on the wire for each kind of event.
func TestGoldens(t *testing.T) {
	for _, c := range tales() {
		path := filepath.Join("testdata", c.name+".sse")
		got := wired(c)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || string(want) != string(got) {
			t.Errorf("%s: %v\n%s", path, err, got)
		}
	}
}

//go:embed testdata/decode.mjs
var decoders string

// decoded is what a decoder made of a stream.
type decoded struct {
	Text, Calls, End, ID string
	Failed               string
	Parts                []map[string]any // of ai only
	Streamed             []string         // inputs of calls while they came, of ai only
}

// TestRealDecodersRead: ai 6, ai 7 and assistant-stream read every tale, and make the same of it.
func TestRealDecodersRead(t *testing.T) {
	script := nodetest.Script(t, "decode.mjs", decoders, "ai", "ai7", "assistant-stream")
	in := t.TempDir()
	for _, c := range tales() {
		if err := os.WriteFile(filepath.Join(in, c.name+".sse"), wired(c), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", script, in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got map[string]map[string]decoded
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range tales() {
		for _, by := range []string{"ai6", "ai7", "assistant-stream"} {
			t.Run(c.name+"/"+by, func(t *testing.T) { c.judge(t, by, got[c.name][by]) })
		}
	}
}

// judge holds what a decoder made of a tale to what it tells.
func (c tale) judge(t *testing.T, by string, d decoded) {
	text, calls := c.text, c.calls
	if !strings.HasPrefix(by, "ai") {
		// assistant-stream knows no approval: such a call is open, and its part closes with the
		// stream.
		calls = strings.ReplaceAll(calls, "waits", "open")
	}
	wantFailed := ""
	if strings.HasPrefix(by, "ai") {
		if c.end == "error" {
			wantFailed = "failed"
		}
	}
	if d.Text != text || d.Calls != calls || (d.Failed != "") != (wantFailed != "") {
		t.Errorf("it reads text %q, calls %q, failed %q; want %q, %q, %q", d.Text, d.Calls, d.Failed, text, calls, wantFailed)
	}
	if want := c.streamed(); strings.HasPrefix(by, "ai") && want != "*" && strings.Join(d.Streamed, " ") != want {
		t.Errorf("it has the inputs %q while they come, want %q", d.Streamed, want)
	}
	if d.End != "" && d.End != c.end {
		t.Errorf("it ends with %q, want %q", d.End, c.end)
	}
	if by == "ai6" && d.Failed == "" {
		c.folds(t, d.Parts)
	}
}

// streamed are the inputs that a reader has while calls come.
func (c tale) streamed() string {
	if c.name == "call_that_breaks_off" {
		return `{} {"path":"b"}`
	}
	return "*"
}

// folds compares the parts that ai keeps with those of Fold, which history is made by.
func (c tale) folds(t *testing.T, theirs []map[string]any) {
	var m uistream.Message
	for _, p := range c.tells(encoder()) {
		m.Fold(p)
	}
	raw, err := json.Marshal(m.Parts)
	if err != nil {
		t.Fatal(err)
	}
	var ours []map[string]any
	if err := json.Unmarshal(raw, &ours); err != nil {
		t.Fatal(err)
	}
	var kept []map[string]any
	for _, p := range theirs {
		if kind, _ := p["type"].(string); strings.HasPrefix(kind, "data-") && kind != "data-end" {
			continue
		}
		delete(p, "preliminary")
		kept = append(kept, p)
	}
	if strings.Contains(c.calls, "waits") || strings.HasPrefix(c.name, "goes_on") || strings.HasPrefix(c.name, "follower") || strings.HasPrefix(c.name, "retry") || c.name == "call_that_breaks_off" {
		return // an approval is not kept: it is over when a history is read; nor is what a retry made void
	}
	if !reflect.DeepEqual(ours, kept) {
		t.Errorf("history has\n%v\nai has\n%v", ours, kept)
	}
}
