package config_test

import (
	"reflect"
	"strings"
	"testing"

	"adze/internal/config"
)

// The sandbox is a text, or an object that also says what commands see there.
func TestTheSandboxIsATextOrAnObject(t *testing.T) {
	for text, want := range map[string]config.Sandbox{
		`{"sandbox": "off"}`: {Use: "off"},
		`{"sandbox": {"use": "required", "read": ["~/data"], "write": ["/srv/out"]}}`: {Use: "required", Read: []string{"~/data"}, Write: []string{"/srv/out"}},
	} {
		c, err := config.Parse("config.json", []byte(text))
		if err != nil || !reflect.DeepEqual(c.Sandbox, want) {
			t.Errorf("%s is read as %+v, %v", text, c.Sandbox, err)
		}
	}
	for text, why := range map[string]string{
		`{"sandbox": {"reed": ["/x"]}}`: `unknown field "reed"`,
		`{"sandbox": {"read": ["x"]}}`:  "is not an absolute path",
		`{"sandbox": true}`:             "an object with use, read and write",
	} {
		if _, err := config.Parse("config.json", []byte(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got := (config.Sandbox{}).Places([]string{"~/data", "/a/../b"}, "/home/ada"); !reflect.DeepEqual(got, []string{"/home/ada/data", "/b"}) {
		t.Error(got)
	}
}
