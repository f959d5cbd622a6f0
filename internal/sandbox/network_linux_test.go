package sandbox_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
	"adze/internal/testkit/proxytest"
)

// connected is a sandbox with a way out that leads every allowed host to one site.
func (b *bench) connected(to string, means sandbox.Technique) *sandbox.Sandbox {
	s := sandbox.New(sandbox.Options{Workspace: b.work, Home: b.home, State: b.state, OwnPaths: []string{b.state}, Techniques: []sandbox.Technique{means}, Network: &sandbox.Network{
		Canonical: func(host string) (string, error) { return strings.ToLower(host), nil },
		Dial: func(ctx context.Context, _ string, _ uint16) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", to)
		},
	}})
	b.t.Cleanup(s.Close)
	return s
}

func ofTheSite(_ context.Context, host string, port uint16) error {
	if !strings.HasSuffix(host, ".test") || port != 443 {
		return errors.New("nobody allowed it")
	}
	return nil
}

// Programs that fetch packages do so out of the sandbox through the proxy, as an ordinary user too;
// a host that nobody allowed, this machine's ports and the proxy's own are not reached, and what
// was refused is told.
func TestTheNetworkIsReachedThroughTheProxyAlone(t *testing.T) {
	for _, means := range withMeans(sandbox.Namespaces) {
		t.Run(string(means), func(t *testing.T) {
			need(t, "curl")
			b := newBench(t, means)
			site := proxytest.New(t, b.home)
			cage := b.connected(site.Address, means)
			run := func(script string, reach func(context.Context, string, uint16) error) proc.Result {
				t.Helper()
				r, err := proc.Supervisor{Cage: cage}.Run(t.Context(), proc.Command{
					Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: append(b.env(), site.Environment()...), Reach: reach})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			for _, f := range proxytest.Fetches() {
				if !installed(f.Program) || !effort.Is(effort.Short) && f.Program != "curl" && f.Program != "git" {
					continue
				}
				r := run("set -e; mkdir in && cd in && "+f.Command+" && test -s "+f.Made+"; cd .. && chmod -R u+w in && rm -rf in", ofTheSite)
				if r.Err() != nil || len(hostsDenied(r))+len(r.Messages) > 0 {
					t.Errorf("%s: %v %v\n%s", f.Command, r.Err(), r.Findings, text(r))
				}
				for _, c := range r.Traffic {
					if !strings.HasSuffix(c.Host, ".test:443") || c.Connections == 0 || c.Sent == 0 || c.Received == 0 {
						t.Errorf("%s carried %+v", f.Command, c)
					}
				}
				if len(r.Traffic) == 0 {
					t.Errorf("%s: nothing tells what it carried", f.Command)
				}
			}
			r := run("curl -sS https://elsewhere.example; curl -sS --noproxy '*' --connect-timeout 2 https://"+site.Address+" && echo reached", ofTheSite)
			if strings.Contains(text(r), "reached") || strings.Join(hostsDenied(r), " ") != "elsewhere.example:443" {
				t.Errorf("%s %v", text(r), r.Findings)
			}
			if r := run("curl -sS https://npm.test/hello; echo \"proxy=$HTTP_PROXY\"", nil); !strings.Contains(text(r), "proxy=") || strings.Contains(text(r), "3128") || strings.Contains(text(r), "integrity") {
				t.Errorf("a command that may not ask: %s", text(r))
			}
		})
	}
}

func TestTheNetworkOfAnOrdinaryUser(t *testing.T) {
	asOrdinaryUser(t, "TestTheNetworkIsReachedThroughTheProxyAlone")
}

// Servers of the command's own are reached without the proxy, and nothing of the way out is left in
// the command's hands.
func TestServersInsideAndNothingLeftOpen(t *testing.T) {
	need(t, "python3", "curl")
	b := newBench(t, sandbox.Namespaces)
	cage := b.connected("127.0.0.1:1", sandbox.Namespaces)
	r, err := proc.Supervisor{Cage: cage}.Run(t.Context(), proc.Command{Dir: b.work, Env: b.env(), Reach: ofTheSite, Argv: []string{"bash", "--noprofile", "--norc", "-c",
		`echo served > page; python3 -m http.server --bind 127.0.0.1 8099 >/dev/null 2>&1 & for i in $(seq 2000); do curl -s http://127.0.0.1:8099/page && break; sleep 0.05; done
for fd in /proc/self/fd/*; do readlink $fd; done | grep -c socket; kill %1`}})
	if err != nil || text(r) != "served\n0" {
		t.Errorf("%v %q", err, text(r))
	}
}

// A command that is ended while a user is asked leaves no question behind.
func TestAnAbortedCommandAsksNoMore(t *testing.T) {
	need(t, "curl")
	b := newBench(t, sandbox.Namespaces)
	cage := b.connected("127.0.0.1:1", sandbox.Namespaces)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	r, err := proc.Supervisor{Cage: cage}.Run(ctx, proc.Command{Dir: b.work, Env: b.env(), Argv: []string{"curl", "-s", "https://npm.test"},
		Reach: func(asked context.Context, _ string, _ uint16) error {
			cancel()
			<-asked.Done()
			close(over)
			return asked.Err()
		}})
	if err != nil || r.Killed != proc.Aborted || r.Survivors != 0 {
		t.Errorf("%v %+v", err, r)
	}
	<-over
}

// hostsDenied are the hosts that the proxy refused a command.
func hostsDenied(r proc.Result) (out []string) {
	for _, b := range r.Denied {
		if b.Kind == proc.BarredHost {
			out = append(out, b.Target)
		}
	}
	return out
}
