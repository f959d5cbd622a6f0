//go:build unix

package sandbox

import (
	"context"
	"net"
	"strconv"
	"strings"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
	"adze/internal/sandbox/proxy"
)

// through gives one command network access if it may ask for it: the shim binds a listener inside
// and passes it out, and a proxy in this process serves it until the command has ended.
func (n *Network) through(w *proc.Confinement, c proc.Command) error {
	if n == nil || c.Reach == nil || w.Box.Filter != namespace.OwnNet {
		return nil
	}
	near, far, err := socketPairOfDoor()
	if err != nil {
		return err
	}
	server := proxy.New(proxy.Config{
		Canonical: n.Canonical,
		Ask:       func(ctx context.Context, to proxy.Target) error { return c.Reach(ctx, to.Host, to.Port) },
		Dial:      func(ctx context.Context, to proxy.Target) (net.Conn, error) { return n.Dial(ctx, to.Host, to.Port) },
	})
	w.Box.Door = proc.FirstFile + len(w.Files)
	w.Files = append(w.Files, far)
	w.Env = led(w.Env)
	served := make(chan struct{})
	go func() {
		defer close(served)
		defer near.Close()
		if l, err := listenerFrom(near); err == nil {
			_ = server.Serve(l) // fails when the command's end closes the listener
		}
	}()
	done := w.Done
	w.Done = func() (found proc.Findings) {
		near.Close()
		far.Close()
		server.Close()
		<-served
		if done != nil {
			found = done()
		}
		carried, refused := server.Report() // without plain requests cut off by the end
		for _, c := range carried {
			found.Traffic = append(found.Traffic, proc.HostTraffic{Host: c.Target.String(), Connections: c.Connections, Sent: c.Sent, Received: c.Received})
		}
		for _, r := range refused {
			if r.DialRefused {
				found.Refused = append(found.Refused, proc.Denial{Kind: proc.BarredConnect, Target: r.Target.String(), Reason: "which the proxy of the sandbox carries nothing to"})
			} else {
				found.Deny(proc.Denial{Kind: proc.BarredHost, Target: r.Target.String(), Reason: r.Reason})
			}
		}
		return found
	}
	return nil
}

// led returns env with the proxy as the only way to hosts.
func led(env []string) []string {
	own := proxy.Environment("127.0.0.1:" + strconv.Itoa(namespace.DoorPort))
	set := map[string]bool{}
	for _, kv := range own {
		name, _, _ := strings.Cut(kv, "=")
		set[name] = true
	}
	var out []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !set[name] {
			out = append(out, kv)
		}
	}
	return append(out, own...)
}
