package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

// loopbackSpellings are 127.0.0.1 and its like in every form that some resolver or parser accepts.
var loopbackSpellings = []string{
	"127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "017700000001", "0x7f000001", "0x7f.1", "0x7F.0x0.0x0.0x1",
	"0177.0.0.1", "127.000.000.001", "0177.0x0.0.1", "00000127.0.0.1", "127.255.255.254",
	"①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "0", "0.0.0.0", "0x0",
	"[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]",
	"[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
	"[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[fe80::1]", "[fe80::1%25lo]", "[::1%25lo]", "[fe80::5efe:127.0.0.1]",
	"[2400:cb00::5efe:7f00:1]",
}

// otherForbidden are addresses that are not on the public internet, or are no unicast ones.
var otherForbidden = []string{
	"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.255", "169.254.169.254",
	"169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "192.0.2.1", "198.51.100.1", "203.0.113.1",
	"198.18.0.1", "192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "0.1.2.3",
	"[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[100::1]", "[3fff::1]", "[5f00::1]",
	"[64:ff9b::8.8.8.8]", "[2002:808:808::1]", "[::ffff:8.8.8.8]", "[::8.8.8.8]",
}

// trap is a listener on loopback that counts what reaches it.
func trap(t *testing.T) (port string, connections *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback listener: ", err)
	}
	t.Cleanup(func() { l.Close() })
	connections = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			c.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, connections
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want code %s", err, code)
	}
	if e.ErrorCode() != code {
		t.Errorf("code %s (%v), want %s", e.Code, err, code)
	}
	if strings.TrimSpace(e.Error()) == "" {
		t.Error("an error without a message")
	}
}

// No spelling of a forbidden address may connect; ports are open by policy here, so that the
// address alone decides, and the resolver must not even be asked.
func TestForbiddenAddressesAreNotDialled(t *testing.T) {
	port, connections := trap(t)
	f := New(Policy{
		AllowPort: func(string, uint16) bool { return true },
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			t.Errorf("asked to resolve %q", host)
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	})
	for _, host := range append(append([]string{}, loopbackSpellings...), otherForbidden...) {
		_, err := f.Fetch(t.Context(), Request{URL: "http://" + host + ":" + port + "/"})
		var e *Error
		if !errors.As(err, &e) || e.Code != codeDenied && e.Code != codeInvalid {
			t.Errorf("%s: %v, want a refusal", host, err)
		}
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestPublicAddressesAreAllowed(t *testing.T) {
	for _, a := range []string{"8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::200e"} {
		if why := forbidden(netip.MustParseAddr(a)); why != "" {
			t.Errorf("%s is %s", a, why)
		}
	}
}

func TestRefusedURLs(t *testing.T) {
	tests := []struct{ url, code string }{
		{"", codeInvalid},
		{"example.com/page", codeInvalid},
		{"//example.com/", codeInvalid},
		{"https://", codeInvalid},
		{"https:///path", codeInvalid},
		{"file:///etc/passwd", codeDenied},
		{"ftp://example.com/", codeDenied},
		{"gopher://example.com/", codeDenied},
		{"javascript:alert(1)", codeDenied},
		{"data:text/html,hi", codeDenied},
		{"unix:///run/docker.sock", codeDenied},
		{"https://user@example.com/", codeDenied},
		{"https://user:pass@example.com/", codeDenied},
		{"https://public.example@127.0.0.1/", codeDenied},
		{"https://example.com:22/", codeDenied},
		{"http://example.com:8080/", codeDenied},
		{"http://example.com:0/", codeInvalid},
		{"http://example.com:99999/", codeInvalid},
		{"http://exa mple.com/", codeInvalid},
		{"http://exa\x00mple.com/", codeInvalid},
		{"http://example.com\\@127.0.0.1/", codeInvalid},
		{"http://a..b/", codeInvalid},
		{"http://[::1/", codeInvalid},
		{"http://" + strings.Repeat("a", 64) + ".com/", codeInvalid},
		{"https://example.com/" + strings.Repeat("a", MaxURL), codeInvalid},
	}
	f := New(Policy{Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		t.Errorf("asked to resolve %q", host)
		return nil, errors.New("not now")
	}})
	for _, tt := range tests {
		_, err := f.Fetch(t.Context(), Request{URL: tt.url})
		t.Run(clip(tt.url, 40), func(t *testing.T) { wantCode(t, err, tt.code) })
	}
}

func TestParseURLIsCanonical(t *testing.T) {
	for in, want := range map[string]string{
		" HTTPS://Example.COM ":         "https://example.com/",
		"http://example.com.:80/a#b":    "http://example.com/a",
		"https://bücher.example/ä?q=ä":  "https://xn--bcher-kva.example/%C3%A4?q=ä",
		"https://example.com:443":       "https://example.com/",
		"http://example.com:443/":       "http://example.com:443/",
		"http://[2606:4700:0::1111]:80": "http://[2606:4700::1111]/",
		"https://a_b.example/":          "https://a_b.example/",
	} {
		u, err := ParseURL(in)
		if err != nil {
			t.Errorf("ParseURL(%q): %v", in, err)
			continue
		}
		if u.String() != want {
			t.Errorf("ParseURL(%q) = %s, want %s", in, u, want)
		}
		again, err := ParseURL(u.String())
		if err != nil || again.String() != u.String() {
			t.Errorf("ParseURL is not stable on %s: %v, %v", u, again, err)
		}
	}
}

// A name is as bad as the worst of its addresses, and each connection asks anew.
func TestResolvedNames(t *testing.T) {
	port, connections := trap(t)
	public, private := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1")
	for name, answer := range map[string][]netip.Addr{
		"private":        {private},
		"mixed":          {public, private},
		"mapped private": {netip.MustParseAddr("::ffff:127.0.0.1")},
		"nat64":          {netip.MustParseAddr("64:ff9b::7f00:1")},
		"zone":           {netip.MustParseAddr("fe80::1%lo")},
	} {
		t.Run(name, func(t *testing.T) {
			f := New(Policy{
				AllowPort: func(string, uint16) bool { return true },
				Resolve:   func(context.Context, string) ([]netip.Addr, error) { return answer, nil },
			})
			_, err := f.Fetch(t.Context(), Request{URL: "http://rebind.example:" + port + "/"})
			wantCode(t, err, codeDenied)
		})
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// The dialer's own check refuses what got past all others: here the judge is asked about a public
// address and the connection goes to loopback.
func TestDialerJudgesTheConnectedAddress(t *testing.T) {
	port, connections := trap(t)
	f := New(Policy{AllowPort: func(string, uint16) bool { return true }})
	d := net.Dialer{Control: f.policy.control("public.example")}
	conn, err := d.DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
	if err == nil {
		conn.Close()
	}
	wantCode(t, err, codeDenied)
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestNameThatTurnsPrivate(t *testing.T) {
	_, connections := trap(t)
	server, host := localServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/next", http.StatusFound)
	})
	served := netip.MustParseAddrPort(server.Listener.Addr().String())
	asked := 0
	f := New(Policy{
		AllowPort: func(string, uint16) bool { return true },
		AllowAddr: func(_ string, at netip.AddrPort) bool { return at == served },
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			asked++
			if asked == 1 {
				return []netip.Addr{served.Addr()}, nil
			}
			return []netip.Addr{netip.MustParseAddr("10.0.0.7")}, nil
		},
	})
	_, err := f.Fetch(t.Context(), Request{URL: "http://rebind.example:" + strings.Split(host, ":")[1] + "/"})
	wantCode(t, err, codeDenied)
	if asked != 2 || connections.Load() != 0 {
		t.Errorf("resolved %d times, %d connections to the trap", asked, connections.Load())
	}
}

func TestEnvironmentProxyIsIgnored(t *testing.T) {
	port, connections := trap(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+port)
	}
	_, host := localServer(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("direct")) })
	page, err := localFetcher().Fetch(t.Context(), Request{URL: "http://" + host + "/"})
	if err != nil || page.Text != "direct" || connections.Load() != 0 {
		t.Errorf("page %q, error %v, %d connections to the proxy", page.Text, err, connections.Load())
	}
}

// localServer serves on loopback and returns its host:port.
func localServer(t testing.TB, h http.HandlerFunc) (*httptest.Server, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s, strings.TrimPrefix(s.URL, "http://")
}

// localFetcher may reach loopback, on any port.
func localFetcher() *Fetcher {
	return New(Policy{
		AllowPort: func(_ string, port uint16) bool { return port > 1023 },
		AllowAddr: func(_ string, at netip.AddrPort) bool { return at.Addr() == netip.MustParseAddr("127.0.0.1") },
	})
}

// A user's yes to an address opens this machine where the address says so, on the port that it
// names, and nothing else in any spelling.
func TestAYesOpensThisMachineAndNothingElse(t *testing.T) {
	served := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
			return
		}
		w.Write([]byte("dev"))
	}
	_, at := localServer(t, served)
	_, port, _ := net.SplitHostPort(at)
	loopback := []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	f := New(Policy{Resolve: func(context.Context, string) ([]netip.Addr, error) { return loopback, nil }})
	for _, host := range []string{"localhost", "LOCALHOST.", "app.localhost", "127.0.0.1"} {
		for _, yes := range []bool{true, false} {
			page, err := f.Fetch(t.Context(), Request{URL: "http://" + host + ":" + port + "/", Approved: yes})
			if (err == nil && page.Text == "dev") != yes {
				t.Errorf("%s, approved %v: %q, %v", host, yes, page.Text, err)
			}
			if !yes && (err == nil || !strings.Contains(err.Error(), "allow network(")) {
				t.Errorf("%s: the refusal names no way: %v", host, err)
			}
		}
	}
	refused := []string{"evil.example", "localhost.example", "xlocalhost"}
	for _, host := range append(append(refused, loopbackSpellings...), otherForbidden...) {
		// What ParseURL turns into a plain loopback address is what a user sees and says yes to.
		if u, err := ParseURL("http://" + host + "/"); err == nil && ownName(u.Hostname()) {
			continue
		}
		if _, err := f.Fetch(t.Context(), Request{URL: "http://" + host + ":" + port + "/", Approved: true}); err == nil {
			t.Errorf("%s was fetched", host)
		}
	}
	if _, err := f.Fetch(t.Context(), Request{URL: "http://localhost:" + port + "/away", Approved: true}); err == nil {
		t.Error("a redirect to another port of this machine was followed")
	}
}

func TestPagesOfThisMachineAreFetchedAnew(t *testing.T) {
	n := 0
	_, at := localServer(t, func(w http.ResponseWriter, _ *http.Request) { n++; fmt.Fprint(w, n) })
	f := New(Policy{})
	for want := 1; want < 3; want++ {
		page, err := f.Fetch(t.Context(), Request{URL: "http://" + at + "/", Approved: true, Session: "s"})
		if err != nil || page.Text != fmt.Sprint(want) {
			t.Errorf("fetch %d: %q, %v", want, page.Text, err)
		}
	}
}
