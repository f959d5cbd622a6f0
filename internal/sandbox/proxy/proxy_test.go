package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var errNotAllowed = errors.New("nobody allowed it")

// door is a server on a port of this machine that leads every allowed target to one address.
type door struct {
	server  *Server
	address string
	asked   atomic.Int32
	dialled atomic.Int32
}

// open makes a door: allow decides, to is where everything leads.
func open(t *testing.T, to string, allow func(Target) error) *door {
	t.Helper()
	d := &door{}
	d.server = New(Config{
		Canonical: func(host string) (string, error) {
			host = strings.TrimSuffix(strings.ToLower(host), ".")
			if a, err := netip.ParseAddr(host); err == nil {
				return a.String(), nil
			}
			if host == "" {
				return "", errors.New("no host")
			}
			return host, nil
		},
		Ask: func(_ context.Context, at Target) error { d.asked.Add(1); return allow(at) },
		Dial: func(ctx context.Context, _ Target) (net.Conn, error) {
			d.dialled.Add(1)
			return (&net.Dialer{}).DialContext(ctx, "tcp", to)
		},
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.address = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(l) }()
	t.Cleanup(func() {
		d.server.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return d
}

func only(host string) func(Target) error {
	return func(at Target) error {
		if at.Host != host {
			return errNotAllowed
		}
		return nil
	}
}

func (d *door) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// echo is a server that answers what it is told, and ends when its client has.
func echo(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(conn, conn); conn.Close() }()
		}
	}()
	return l.Addr().String()
}

func TestATunnelCarriesBothWaysAndIsCounted(t *testing.T) {
	d := open(t, echo(t), only("good.example"))
	conn := d.dial(t)
	fmt.Fprintf(conn, "CONNECT GOOD.example.:443 HTTP/1.1\r\nHost: other.example\r\n\r\nearly ")
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v %v", resp, err)
	}
	io.WriteString(conn, "late")
	conn.(*net.TCPConn).CloseWrite()
	if all, err := io.ReadAll(reader); err != nil || string(all) != "early late" {
		t.Fatalf("%q %v", all, err)
	}
	conn.Close()
	d.server.Close()
	want := Traffic{Target: Target{"good.example", 443}, Connections: 1, Sent: 10, Received: 10}
	if carried, _ := d.server.Report(); len(carried) != 1 || carried[0] != want {
		t.Errorf("carried %+v, want %+v", carried, want)
	}
}

// A host that is no host, in any spelling, reaches neither the user nor the dialler.
func TestHostsThatTwoParsersCouldReadInTwoWays(t *testing.T) {
	d := open(t, echo(t), func(Target) error { return nil })
	for _, host := range []string{
		"evil.example\x00.good.example", "evil.example%00.good.example", "good.example@evil.example", "good.example evil.example",
		"good.example/evil", "ünï.example", "evil.example\t", "[::1%25lo]", "", "*",
	} {
		conn := d.dial(t)
		fmt.Fprintf(conn, "CONNECT %s:443 HTTP/1.1\r\n\r\n", host)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && resp.StatusCode == 200 {
			t.Errorf("CONNECT to %q was carried", host)
		}
	}
	if d.asked.Load()+d.dialled.Load() != 0 {
		t.Errorf("%d were asked for, %d dialled", d.asked.Load(), d.dialled.Load())
	}
}

// What does not speak a protocol is answered or dropped, and never dialled.
func TestRubbishIsNotCarried(t *testing.T) {
	d := open(t, echo(t), func(Target) error { return nil })
	for _, bytes := range []string{
		"\x05", "\x05\x01\x02", "\x05\x01\x00\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50", "\x05\x01\x00\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x50",
		"\x05\x01\x00\x04\x01\x00\x01\x7f\x00\x00\x01\x00\x50", "\x05\x01\x00\x05\x01\x00\x09abc", "\x05\x01\x00\x05\x01\x00\x03\x00\x00\x50",
		"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x00", "\x04\x01\x00\x50\x7f\x00\x00\x01\x00", "\x16\x03\x01\x02\x00\x01\x00", "\x00\x00\x00",
		"GET / HTTP/1.1\r\nHost: good.example\r\n\r\n", "GET https://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n",
		"GET http://user:secret@good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n", "GET ftp://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n",
		"CONNECT good.example HTTP/1.1\r\n\r\n", "CONNECT good.example:0 HTTP/1.1\r\n\r\n", "CONNECT good.example:65536 HTTP/1.1\r\n\r\n",
		"CONNECT good.example:443 HTTP/1.1\r\nA: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		conn := d.dial(t)
		io.WriteString(conn, bytes)
		conn.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(io.LimitReader(conn, 1<<20))
		if strings.Contains(string(answer), "secret") {
			t.Errorf("the answer to %.40q repeats a password: %q", bytes, answer)
		}
	}
	if d.dialled.Load() != 0 {
		t.Errorf("%d were dialled", d.dialled.Load())
	}
}

// A plain request goes where its address says and not where its header says, without what belongs
// to the proxy.
func TestAPlainRequestIsWrittenAnew(t *testing.T) {
	seen := make(chan *http.Request, 1)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Clone(context.Background())
		io.WriteString(w, "body")
	}))
	defer site.Close()
	d := open(t, site.Listener.Addr().String(), only("good.example"))
	conn := d.dial(t)
	fmt.Fprintf(conn, "GET http://good.example/path?q=1 HTTP/1.1\r\nHost: bad.example\r\nProxy-Authorization: Basic eA==\r\nConnection: close\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v %v", resp, err)
	}
	r := <-seen
	if r.Host != "good.example" || r.URL.String() != "/path?q=1" || r.Header.Get("Proxy-Authorization")+r.Header.Get("X-Forwarded-For") != "" {
		t.Errorf("the site saw %s %s %v", r.Host, r.URL, r.Header)
	}
	conn = d.dial(t)
	fmt.Fprintf(conn, "GET http://bad.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n")
	resp, err = http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusForbidden || !strings.Contains(resp.Header.Get("Proxy-Status"), "http_request_denied") {
		t.Fatalf("%v %v", resp, err)
	}
	if text, _ := io.ReadAll(resp.Body); !strings.Contains(string(text), "may not reach bad.example:80: nobody allowed it") {
		t.Errorf("the answer is %q", text)
	}
}

// Forty connections to one host are one question, and a client that gives up does not end it.
func TestOneQuestionATarget(t *testing.T) {
	answer := make(chan struct{})
	d := open(t, echo(t), func(Target) error { <-answer; return nil })
	conns := make([]net.Conn, 40)
	for i := range conns {
		conns[i] = d.dial(t)
		fmt.Fprintf(conns[i], "CONNECT good.example:443 HTTP/1.1\r\n\r\n")
	}
	conns[0].Close()
	close(answer)
	for _, conn := range conns[1:] {
		if resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect}); err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v %v", resp, err)
		}
	}
	if d.asked.Load() != 1 {
		t.Errorf("asked %d times", d.asked.Load())
	}
}

// A client that leaves while a user is being asked frees its slot, and the question goes on for the
// next client. Close ends the question and waits for it.
func TestAClientLeavesAQuestion(t *testing.T) {
	asking, over := make(chan struct{}), false
	server := New(Config{
		Canonical: func(h string) (string, error) { return h, nil },
		Ask: func(ctx context.Context, _ Target) error {
			close(asking) // panics at a second question
			<-ctx.Done()
			over = true
			return ctx.Err()
		},
	})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	to := Target{"slow.example", 443}
	go func() { _, err := server.reach(ctx, to); left <- err }()
	<-asking
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	go func() { _, err := server.reach(server.ctx, to); left <- err }()
	server.Close()
	if err := <-left; !errors.Is(err, context.Canceled) || !over {
		t.Errorf("%v, the question has ended: %t", err, over)
	}
	if _, refused := server.Report(); len(refused) > 0 {
		t.Errorf("refused %+v", refused)
	}
}

// A target may respond while it still reads.
func TestAResponseBeginsBeforeTheRequestEnds(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.(http.Flusher).Flush()
		io.Copy(w, r.Body)
	}))
	defer target.Close()
	d := open(t, target.Listener.Addr().String(), only("good.example"))
	conn := d.dial(t)
	conn.SetDeadline(time.Now().Add(time.Minute)) // without the fix neither end goes on
	fmt.Fprintf(conn, "POST http://good.example/ HTTP/1.1\r\nHost: good.example\r\nContent-Length: 6\r\n\r\none")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, "two")
	if all, err := io.ReadAll(resp.Body); err != nil || string(all) != "onetwo" {
		t.Errorf("%q %v", all, err)
	}
}

// Close leaves nothing behind: no connection, no goroutine, not even while a user is being asked.
func TestCloseEndsEverything(t *testing.T) {
	to := echo(t)
	asking := make(chan struct{})
	server := New(Config{
		Canonical: func(h string) (string, error) { return h, nil },
		Ask: func(ctx context.Context, at Target) error {
			if at.Host == "slow.example" {
				close(asking)
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		},
		Dial: func(ctx context.Context, _ Target) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", to)
		},
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	var conns []net.Conn
	for _, host := range []string{"good.example", "slow.example", ""} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		if host != "" {
			fmt.Fprintf(conn, "CONNECT %s:443 HTTP/1.1\r\n\r\n", host)
		}
	}
	http.ReadResponse(bufio.NewReader(conns[0]), &http.Request{Method: http.MethodConnect})
	<-asking
	// Servers of other tests are none of ours.
	mine := regexp.MustCompile(fmt.Sprintf(`proxy\.\(\*Server\)\.\w+\(%p\b`, server))
	runs := func() bool {
		stacks := make([]byte, 1<<20)
		return mine.Match(stacks[:runtime.Stack(stacks, true)])
	}
	if !runs() {
		t.Fatal("a server that runs is not found")
	}
	server.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	for i, conn := range conns {
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("connection %d: %v", i, err)
		}
		conn.Close()
	}
	if server.Serve(l) != nil {
		t.Error("a closed server serves")
	}
	for deadline := time.Now().Add(time.Minute); runs() && time.Now().Before(deadline); {
		runtime.Gosched() // one that has said its last word may still be on its way out
	}
	if runs() {
		t.Error("something of the server still runs")
	}
}
