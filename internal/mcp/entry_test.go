package mcp

import (
	"slices"
	"strings"
	"testing"
)

// TestServersOfOtherAssistantsAreRead as their files name them.
func TestServersOfOtherAssistantsAreRead(t *testing.T) {
	for raw, want := range map[string]string{
		`{"command":"npx","args":["-y","x"],"env":{"A":"1"}}`:             "npx -y x",
		`{"type":"local","command":["bun","x"],"environment":{"A":"1"}}`:  "bun x",
		`{"type":"http","url":"https://a.example/mcp"}`:                   "https://a.example/mcp",
		`{"httpUrl":"https://b.example/mcp","headers":{"X":"y"}}`:         "https://b.example/mcp",
		`{"type":"remote","url":"https://c.example/mcp","enabled":false}`: "off",
		`{"command":"x","disabled":true}`:                                 "off",
		`{}`:                                                              "neither", `[]`: "no server that adze can read",
	} {
		s, off, err := Read("a", []byte(raw))
		got := strings.Join(s.Command, " ") + s.URL
		if off {
			got = "off"
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q", raw, got)
		}
	}
}

// The transport of 2024-11-05 is spoken by kind, or at the address that was the custom.
func TestServersOfTheOldTransport(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"url":"https://a.example/sse"}`:                         true,
		`{"url":"https://a.example/v1/sse/?key=1"}`:               true,
		`{"type":"sse","url":"https://a.example/mcp"}`:            true,
		`{"transport":"sse","url":"https://a.example/mcp"}`:       true,
		`{"type":"remote","url":"https://a.example/sse"}`:         true,
		`{"type":"http","url":"https://a.example/sse"}`:           false,
		`{"type":"streamableHttp","url":"https://a.example/sse"}`: false,
		`{"httpUrl":"https://a.example/sse"}`:                     false,
		`{"url":"https://a.example/mcp?at=/sse"}`:                 false,
		`{"type":"sse","command":"x"}`:                            false,
	} {
		if s, _, err := Read("a", []byte(raw)); err != nil || s.SSE != want {
			t.Errorf("%s: %t, %v", raw, s.SSE, err)
		}
	}
}

func TestVariablesAreExpandedButNoKeys(t *testing.T) {
	env := map[string]string{"TOKEN": "t", "OPENAI_API_KEY": "k", "EMPTY": ""}
	v := Variables{Getenv: func(n string) string { return env[n] }, Keys: []string{"OPENAI_API_KEY"}, Dir: "/w", Home: "/h"}
	for in, want := range map[string]string{
		"a ${TOKEN} b": "a t b", "${env:TOKEN}": "t", "${NONE:-d}": "d", "${EMPTY:-d}": "d", "$TOKEN ${open": "$TOKEN ${open",
		"${workspaceFolder}/x": "/w/x", "${userHome}": "/h",
		"${NONE}": "!NONE is not set", "${OPENAI_API_KEY}": "!no server is given", "${openai_api_key:-x}": "!no server is given", "${input:token}": "!is not set",
	} {
		s := Server{Command: []string{in}, Env: map[string]string{"A": in}, Headers: map[string]string{"H": in}, URL: in}
		got := s.Expand(v)
		if fault, bad := strings.CutPrefix(want, "!"); bad {
			if got.Err == nil || !strings.Contains(got.Err.Error(), fault) {
				t.Errorf("%s: %v", in, got.Err)
			}
			continue
		}
		if got.Err != nil || !slices.Equal(got.Command, []string{want}) || got.Env["A"] != want || got.Headers["H"] != want || got.URL != want || s.Env["A"] != in {
			t.Errorf("%s: %+v", in, got)
		}
	}
	if got := (Server{Dir: "sub"}).Expand(v); got.Dir != "/w/sub" {
		t.Error(got.Dir)
	}
}
