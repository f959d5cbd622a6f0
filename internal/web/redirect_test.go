package web

import (
	"net/http"
	"net/url"
	"testing"
)

// TestARedirectToAnotherSchemeIsAnotherPlace: a rule may follow it to https, and none from https.
func TestARedirectToAnotherSchemeIsAnotherPlace(t *testing.T) {
	_, host := localServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+r.Host+"/", http.StatusMovedPermanently)
	})
	page, err := localFetcher().Fetch(t.Context(), Request{URL: "http://" + host + "/", Approved: true})
	if err != nil || page.Redirect != "https://"+host+"/" {
		t.Errorf("%+v, %v", page, err)
	}
	for _, c := range []struct {
		from, to      string
		rule, follows bool
	}{
		{"http://a.example/", "https://a.example/", false, false},
		{"http://a.example/", "https://a.example/", true, true},
		{"https://a.example/", "http://a.example/", false, false},
		{"https://a.example/", "http://a.example/", true, false},
		{"https://a.example:8443/", "http://a.example:8443/", true, false},
		{"https://a.example/", "http://b.example/", true, false},
		{"https://a.example/", "https://b.example/", true, true},
		{"https://a.example/x", "https://a.example:443/y", false, true},
	} {
		f := New(Policy{AllowPort: func(string, uint16) bool { return true }, AllowRedirect: func(_, _ *url.URL) bool { return c.rule }})
		from, _ := url.Parse(c.from)
		res := &resource{url: from, redirect: c.to}
		next, fault := f.next(res)
		if fault != nil || (next != nil) != c.follows || !c.follows && res.redirect == "" {
			t.Errorf("%s to %s, rule %v: %v %v", c.from, c.to, c.rule, next, fault)
		}
	}
}
