//go:build unix

package shim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/sandbox/proc/shim"
)

func FuzzSpecRoundTrip(f *testing.F) {
	f.Add("/bin/sh", "-c", "A=b", "/work", true)
	f.Add("", "", "", "", false)
	f.Add("a\nb", "é", "=", " ", true)
	f.Fuzz(func(t *testing.T, path, arg, env, dir string, linger bool) {
		in := shim.Spec{
			Path: path, Argv: []string{path, arg}, Env: []string{env}, Dir: dir, Linger: linger,
		}
		wire, err := in.Encode()
		if strings.Contains(path+arg+env+dir, "\x00") {
			if err == nil {
				t.Fatal("a NUL byte was sent")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := shim.Decode(wire[4:])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(in, out); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("p\x00d\x000\x001\x000\x00a\x00"))
	f.Add([]byte{})
	f.Add([]byte("p\x00d\x000\x00-1\x000\x00"))
	f.Fuzz(func(t *testing.T, p []byte) {
		if s, err := shim.Decode(p); err == nil && len(s.Argv) == 0 {
			t.Errorf("%q decoded to a spec without a program", p)
		}
	})
}

func TestParseEvent(t *testing.T) {
	for in, want := range map[string]shim.Event{
		"start 12 0": {Kind: shim.Started, PID: 12},
		"exit 3 0":   {Kind: shim.Exited, Code: 3},
		"exit -1 9":  {Kind: shim.Exited, Code: -1, Sig: 9},
		"gone 4 1":   {Kind: shim.Gone, Ended: 4, Survivors: 1},
		"fail 2 0":   {Kind: shim.Failed, Errno: 2},
	} {
		if got, ok := shim.ParseEvent(in); !ok || got != want {
			t.Errorf("%q: %+v %v", in, got, ok)
		}
	}
	for _, in := range []string{"", "start", "start x 0", "start 1 2 3", "begin 1 2"} {
		if _, ok := shim.ParseEvent(in); ok {
			t.Errorf("%q is an event", in)
		}
	}
}
