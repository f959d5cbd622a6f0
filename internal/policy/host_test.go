package policy

import (
	"strings"
	"testing"

	"adze/tool"
)

// TestHostsOfAnybodyAreNotAllowed: nobody knows who has the names that such a rule would allow. A
// deny or ask may have them.
func TestHostsOfAnybodyAreNotAllowed(t *testing.T) {
	for _, matcher := range []string{
		"*", "*:443", "*:8080", "https://*", "http://*:80", "*.", "*.:443", "[*]",
		"*.com", "*.COM", "*.com.", "*.com..", "https://*.com:443", "*.co.uk", "*.github.io", "*.GitHub.io:443", "*.kawasaki.jp", "*.foo.ck",
		"*.xn--p1ai", "*.s3.amazonaws.com", "*.nosuchtopleveldomain",
		"*.0.0.1", "*.1:80", "*.0.0.1.",
	} {
		if r, err := ParseRule(Allow, User, "network("+matcher+")"); err == nil {
			t.Errorf("%s is a rule", r)
		} else if !strings.Contains(err.Error(), "name the hosts") && !strings.Contains(err.Error(), "name the addresses") && !strings.Contains(err.Error(), "[scheme://]host[:port]") {
			t.Errorf("%s: no next move: %v", matcher, err)
		}
		for _, effect := range []Effect{Deny, Ask} {
			if _, err := ParseRule(effect, Managed, "network("+matcher+")"); err != nil && !strings.Contains(matcher, "[") {
				t.Errorf("%s: %v", effect, err)
			}
		}
	}
	for _, matcher := range []string{
		"com", "github.io", "*.example.com", "*.example.co.uk", "*.me.github.io", "https://*.go.dev", "*.example.com:8443", "*.internal", "*.home.arpa", "*.test", "*.city.kawasaki.jp",
		"*.xn--e1afmkfd.xn--p1ai", "127.0.0.1", "[::1]:80",
	} {
		if _, err := ParseRule(Allow, User, "network("+matcher+")"); err != nil {
			t.Errorf("%v", err)
		}
	}
	if _, err := ParseRule(Allow, User, string(tool.Network)); err != nil {
		t.Errorf("the bare permission: %v", err)
	}
}
